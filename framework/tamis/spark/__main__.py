"""Runs `tamis learn`, for `spark-submit` and `python -m tamis.spark`."""

import sys

if __name__ == "__main__":
    from tamis.cli import main

    sys.exit(main(["learn", *sys.argv[1:]]))
