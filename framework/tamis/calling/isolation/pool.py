"""Chooses the worker for a call: one of its class, of which each has so many, and a queue.

A class is the operators that share a first preparation, or one operator by itself, so that what
hangs in one class delays no other. Where there is a preparation, an event stays with the worker
that has begun to prepare it, until that ends; where there is none, any worker will do.
Invariant: a worker has one call at a time; one that waits for a worker holds none, so that no two
calls wait for each other.
Cost: a short lock a call; O(workers of the class).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from tamis.calling.answers import Failure
from tamis.calling.isolation import messages
from tamis.calling.isolation.processes import ForkServer, Imports, Worker
from tamis.calling.isolation.worker import Class
from tamis.operators import OperatorRecord
from tamis.operators.shipping import packed
from tamis.operators.specification import Specification

WORKERS = 2
"""Workers of a class whose operators say nothing of concurrency."""
_MOST_WORKERS = 64


class Reads:
    """The names that an operator and its preparations read of an event, or all of it."""

    __slots__ = ("names", "whole")

    def __init__(self, specification: Specification) -> None:
        seen = [specification.visible, *(each.inputs for each in specification.preparations)]
        self.whole = None in seen
        self.names = frozenset(name for inputs in seen for name in inputs or ())


class Stay:
    """Keeps an event whose preparations are made in a worker at that worker, until its end."""

    __slots__ = ("beginning", "failures", "number", "prepared", "worker")

    def __init__(self, number: int) -> None:
        self.number = number
        self.worker: Worker | None = None
        self.beginning = False
        self.failures: dict[int, Failure] = {}
        """The preparations that failed for this event: they are not tried again."""
        self.prepared: set[int] = set()
        """Those that did not."""

    def __del__(self) -> None:
        if self.worker is not None:
            self.worker.over.append(self.number)


class Pool:
    """The workers of a class."""

    def __init__(
        self, records: Sequence[OperatorRecord], server: ForkServer, solutions: int
    ) -> None:
        specifications = [each.specification for each in records]
        content = packed(records)
        limits = [each.memory_bytes for each in specifications if each.memory_bytes is not None]
        self.stays = bool(specifications[0].preparations)
        self.reads = {each.name: Reads(each) for each in specifications}
        self.size = min(_MOST_WORKERS, max(each.concurrency or WORKERS for each in specifications))
        self.memory_bytes = max(limits, default=None)
        self._class = Class(content, self.memory_bytes, solutions)
        self._server = server
        self._room = threading.Condition(threading.Lock())
        self._workers: list[Worker] = []
        self._starting = 0
        self._waiting = 0
        modules = dict.fromkeys(name for each in specifications for name in each.modules)
        server.expect(Imports(tuple(modules), content))

    def begin(self, name: str) -> None:
        """Has a worker make an operator, before anybody waits for it."""
        with self._room:
            if self._workers or self._starting:
                return
            self._starting += 1
        worker = self._started(None)
        with suppress(OSError):  # it has ended already, which is seen when it is asked
            worker.tell(name, messages.MADE)
            worker.made.add(name)
        self.release(worker)

    def take(self, number: int, stay: Stay | None, seconds: float) -> Worker | None:
        """Returns a worker for a call about an event; `None` when none was free for so long."""
        deadline = None
        with self._room:
            while True:
                worker = self._free(number, stay)
                if worker is not None:
                    worker.busy = True
                    if stay is not None:
                        stay.worker = worker
                    return worker
                if self._may_start(stay):
                    self._starting += 1
                    if stay is not None:
                        stay.beginning = True
                    break
                now = time.monotonic()
                deadline = now + seconds if deadline is None else deadline
                if now >= deadline:
                    return None
                self._waiting += 1
                try:
                    self._room.wait(deadline - now)
                finally:
                    self._waiting -= 1
        return self._started(stay)

    def _free(self, number: int, stay: Stay | None) -> Worker | None:
        """Returns an idle worker that may be asked about this event."""
        if any(worker.abandoned for worker in self._workers):
            for worker in self._workers:
                if worker.abandoned and not worker.busy:
                    worker.leave()
            self._workers = [worker for worker in self._workers if not worker.abandoned]
        if stay is None:
            found = None
            for worker in self._workers:
                if not worker.busy:
                    if worker.latest == number:
                        return worker
                    found = worker
            return found
        if stay.beginning:
            return None
        if stay.worker is not None and stay.worker in self._workers:
            return None if stay.worker.busy else stay.worker
        idle = [worker for worker in self._workers if not worker.busy]
        if not idle:
            return None
        least = min(idle, key=_load)
        return None if _load(least) > 0 and self._has_room else least

    def _may_start(self, stay: Stay | None) -> bool:
        if stay is not None and (stay.beginning or stay.worker in self._workers):
            return False
        return self._has_room

    @property
    def _has_room(self) -> bool:
        return len(self._workers) + self._starting < self.size

    def _started(self, stay: Stay | None) -> Worker:
        """Returns a worker that was begun for a call; it is told what it is, and not waited for."""
        worker = None
        try:
            worker = self._server.worker()
            with suppress(OSError):  # it has ended already, which is seen when it is asked
                worker.tell(self._class, messages.READY)
        except BaseException:
            if worker is not None:
                self._server.gone(worker, killed=True)
                worker = None
            raise
        finally:
            with self._room:
                self._starting -= 1
                if worker is not None:
                    self._workers.append(worker)
                if stay is not None:
                    stay.beginning = False
                    stay.worker = worker
                self._room.notify_all()
        return worker

    def release(self, worker: Worker) -> None:
        """Lets others have a worker."""
        with self._room:
            worker.busy = False
            if worker.abandoned:  # it answered, and then its server ended
                worker.leave()
            if self._waiting:
                self._room.notify_all()

    def drop(self, worker: Worker) -> None:
        """Drops a worker that is not there any more."""
        with self._room:
            if worker in self._workers:
                self._workers.remove(worker)
            self._room.notify_all()

    def clear(self) -> None:
        """Forgets all workers."""
        with self._room:
            self._workers.clear()
            self._room.notify_all()


def _load(worker: Worker) -> int:
    """Counts the events that stay with a worker."""
    return len(worker.events) - len(worker.over)
