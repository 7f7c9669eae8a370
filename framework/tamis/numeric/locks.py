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
        self._left = threading.Condition(threading.Lock())
        self._readers: list[None] = []
        """As many as there are readers: to append and to pop is one step each."""
        self._is_awaited = False
        self.reading = ReaderSide(self)
        """The side that readers enter, beside other readers."""

    def enter(self) -> None:
        """Counts one reader more."""
        with self._gate:
            self._readers.append(None)

    def leave(self) -> None:
        """Counts one reader less, and tells a writer that waits.

        A writer says that it waits before it looks whether readers are left: it misses none."""
        self._readers.pop()
        if self._is_awaited:
            with self._left:
                self._left.notify()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Enters as the only one."""
        with self._gate:
            if self._readers:
                self._wait()
            yield

    def _wait(self) -> None:
        """Waits until the last reader has left."""
        with self._left:
            self._is_awaited = True
            try:
                while self._readers:
                    self._left.wait()
            finally:
                self._is_awaited = False


class OwnedLock:
    """A lock that knows whether this very thread has it: `with lock: …`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None

    @property
    def is_mine(self) -> bool:
        """True if this thread has it, so that it would wait for itself."""
        return self._owner == threading.get_ident()

    def acquire(self, blocking: bool = True) -> bool:
        """Returns whether it is had now; with `blocking` it waits until it is.

        Raises `RuntimeError` where it would wait for this very thread."""
        if blocking and self.is_mine:
            raise RuntimeError(
                "what is called while subscriptions change (an operator's check, implications or "
                "necessary conditions) cannot change subscriptions itself: do so afterwards"
            )
        is_had = self._lock.acquire(blocking)
        if is_had:
            self._owner = threading.get_ident()
        return is_had

    def release(self) -> None:
        """Gives it up."""
        self._owner = None
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *failure: object) -> None:
        self.release()


class ReaderSide:
    """Lets readers in; the same for all of them, for it keeps nothing."""

    __slots__ = ("_lock",)

    def __init__(self, lock: ReaderWriterLock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        self._lock.enter()

    def __exit__(self, *failure: object) -> None:
        self._lock.leave()
