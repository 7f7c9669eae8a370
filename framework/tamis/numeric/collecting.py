"""Lets Python look for garbage seldom while very much is made that stays.

Python looks through its objects whenever some hundred more were made than given up, which takes a
third of the time where everything that is made stays. Who made very much looks through it at the
end: else the next event would, and be late by that.
Cost: O(objects that stay) at the end, and O(all objects) whenever memory has grown by a quarter.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 200_000
"""Objects that are made between two looks."""
_MANY = 10_000
"""Objects that are worth a look of their own."""
_GROWN = 4
_lock = threading.Lock()
_users = 0
_before = (0, 0, 0)
_looks = 0
"""Looks for garbage up to the first user."""
_looked_through = 0
"""Blocks of memory that were there when all objects were looked through."""


@contextmanager
def seldom_collected() -> Iterator[list[object]]:
    """Looks for garbage seldom, in all threads, until the last who asked for it has ended.

    What was set before holds again then; who looks for none, or more seldom, is left alone. What is
    in the list by then is given up before anything is looked through."""
    global _users, _before, _looks
    with _lock:
        if not _users:
            _before = gc.get_threshold()
            _looks = _looks_so_far()
            if 0 < _before[0] < SELDOM:
                gc.set_threshold(SELDOM, *_before[1:])
        _users += 1
    waste: list[object] = []
    try:
        yield waste
    finally:
        made = 0
        with _lock:
            _users -= 1
            if not _users:
                if 0 < _before[0] < SELDOM and gc.isenabled():
                    made = (_looks_so_far() - _looks) * SELDOM + gc.get_count()[0]
                gc.set_threshold(*_before)
        waste.clear()
        _look(made)  # outside of the lock: what is given up then may subscribe


def _looks_so_far() -> int:
    looks: int = gc.get_stats()[0]["collections"]
    return looks


def _look(made: int) -> None:
    """Looks through the objects that were made, or through all where memory has grown."""
    global _looked_through
    if made < _MANY:
        return
    blocks = sys.getallocatedblocks()
    _looked_through = min(_looked_through or blocks, blocks)
    if _GROWN * (blocks - _looked_through) < blocks:
        gc.collect(1)
        return
    gc.collect()
    _looked_through = blocks
