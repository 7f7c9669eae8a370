"""Lets Python look for garbage seldom while very much is made that stays.

Python looks through its objects whenever some hundred more were made than given up, which takes a
third of the time where everything that is made stays.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 100_000
"""Objects that are made between two looks."""
_lock = threading.Lock()
_users = 0
_before = (0, 0, 0)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Looks for garbage seldom, in all threads, until the last who asked for it has ended.

    What was set before holds again then; who looks for none, or more seldom, is left alone."""
    global _users, _before
    with _lock:
        if not _users:
            _before = gc.get_threshold()
            if 0 < _before[0] < SELDOM:
                gc.set_threshold(SELDOM, *_before[1:])
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                gc.set_threshold(*_before)
