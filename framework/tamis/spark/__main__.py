"""Runs `tamis learn`, for `spark-submit` and `python -m tamis.spark`."""

import sys
from importlib import import_module

if __name__ == "__main__":
    sys.exit(import_module("tamis.cli").main(["learn", *sys.argv[1:]]))
