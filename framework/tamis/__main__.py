"""What `python -m tamis` is: the command line."""

import sys

from tamis.cli import main

if __name__ == "__main__":
    sys.exit(main())
