"""Repeats work in a thread while something else runs: looking whether files or sources changed.

Cost: one thread, and the work.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tamis.log import log


@contextmanager
def repeated(work: Callable[[], object], seconds: float, what: str) -> Iterator[None]:
    """Does the work so many seconds after the last time, until what is within ends.

    A failure is logged: what is there serves on, and the next time may do better."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(seconds):
            try:
                work()
            except Exception as failure:
                log.warning("%s failed: %s: %s", what, type(failure).__name__, failure)

    thread = threading.Thread(target=repeat, name=f"tamis-{what}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
