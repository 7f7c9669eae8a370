"""Tells when a freed row may be used again: when no result that could read it is alive.

A lease is taken with the rows it may read; a row retired later waits until the lease ends. Ending
one is a single append and takes no lock, safe wherever the garbage collector chooses to do it.
Cost: O(1) a lease, amortized; O(live epochs) when rows are taken back.
"""

from __future__ import annotations

import threading
from collections import Counter, deque

_MANY = 256


class Lease:
    """Keeps the rows of its epoch readable for as long as it lives."""

    __slots__ = ("_ended", "epoch")

    def __init__(self, epoch: int, ended: deque[int]) -> None:
        self.epoch = epoch
        self._ended = ended

    def __del__(self) -> None:
        self._ended.append(self.epoch)


class Epochs:
    """Leases, and the rows that wait for them."""

    def __init__(self) -> None:
        self._epoch = 0
        self._lock = threading.Lock()
        self._ended: deque[int] = deque()
        self._live: Counter[int] = Counter()
        self._waiting: deque[tuple[int, int]] = deque()

    def lease(self) -> Lease:
        """Returns a lease on all rows that are in use now; many threads may take one at once."""
        with self._lock:
            epoch = self._epoch
            self._live[epoch] += 1
            if len(self._ended) > _MANY:
                self._settle()
        return Lease(epoch, self._ended)

    def retire(self, row: int) -> None:
        """Retires a row that nothing will lead to any more."""
        with self._lock:
            self._waiting.append((self._epoch, row))
            self._epoch += 1

    def retired_since(self, lease: Lease) -> list[int]:
        """Returns the rows that were retired while this lease was alive."""
        with self._lock:
            return [row for epoch, row in self._waiting if epoch >= lease.epoch]

    def reclaimed(self) -> list[int]:
        """Returns rows that no live lease can read; each is given once."""
        rows: list[int] = []
        with self._lock:
            if self._waiting:
                self._settle()
                oldest = min(self._live, default=self._epoch)
                while self._waiting and self._waiting[0][0] < oldest:
                    rows.append(self._waiting.popleft()[1])
        return rows

    def _settle(self) -> None:
        """Counts off the leases that have ended."""
        for _ in range(len(self._ended)):
            epoch = self._ended.popleft()
            self._live[epoch] -= 1
            if not self._live[epoch]:
                del self._live[epoch]
