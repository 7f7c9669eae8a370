"""Who may touch the shared structures when: many readers at once, or one writer.

A waiting writer goes before new readers, so that neither starves. Neither side is reentrant.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReaderWriterLock:
    """`with lock.reading(): …` and `with lock.writing(): …`."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._count = threading.Lock()
        self._empty = threading.Condition(self._count)
        self._readers = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Shared with other readers."""
        with self._gate, self._count:
            self._readers += 1
        try:
            yield
        finally:
            with self._count:
                self._readers -= 1
                if not self._readers:
                    self._empty.notify()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Alone."""
        with self._gate:
            with self._count:
                while self._readers:
                    self._empty.wait()
            yield
