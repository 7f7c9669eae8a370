"""Runs the command line: one command a file; what a command needs is imported when it runs.

Others may import what stands here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line, that of the process when none is given, and returns its exit status."""
    from tamis.cli.running import run

    return run(sys.argv[1:] if arguments is None else list(arguments))
