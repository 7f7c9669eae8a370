"""Lets many readers at once, or one writer, touch shared structures.

A waiting writer goes before new readers, so that neither starves. Neither side is reentrant.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReaderWriterLock:
    """`with lock.reading: …` and `with lock.writing(): …`."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._count = threading.Lock()
        self._empty = threading.Condition(self._count)
        self._readers = 0
        self.reading = ReaderSide(self)
        """The side that readers enter, beside other readers."""

    def enter(self) -> None:
        """Counts one reader more."""
        with self._gate, self._count:
            self._readers += 1

    def leave(self) -> None:
        """Counts one reader less."""
        with self._count:
            self._readers -= 1
            if not self._readers:
                self._empty.notify()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Enters as the only one."""
        with self._gate:
            with self._count:
                while self._readers:
                    self._empty.wait()
            yield


class ReaderSide:
    """Lets readers in; the same for all of them, for it keeps nothing."""

    __slots__ = ("_lock",)

    def __init__(self, lock: ReaderWriterLock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        self._lock.enter()

    def __exit__(self, *failure: object) -> None:
        self._lock.leave()
