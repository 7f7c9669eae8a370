"""Says what is being waited for, in one line on standard error, once it takes two seconds.

Who waits less than that reads nothing, and nobody reads the same words twice in a process.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

from tamis.log import log

PATIENCE_SECONDS = 2.0
COMPILING = (
    "compiling kernels, once on this machine, for a minute or so "
    "(tamis doctor --compile does it beforehand)"
)

_said: set[str] = set()


@contextlib.contextmanager
def waiting_for(words: str) -> Iterator[None]:
    """Says these words if what is done within takes longer than two seconds."""
    timer = threading.Timer(PATIENCE_SECONDS, _say, [words])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say(words: str) -> None:
    if words in _said:
        return
    _said.add(words)
    log.info("%s", words)
    with contextlib.suppress(AttributeError, OSError, ValueError):  # there may be no standard error
        sys.stderr.write(f"tamis is {words}\n")
        sys.stderr.flush()
