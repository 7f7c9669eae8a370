"""Holds changes that are committed together, and tells who handed them in what became of each.

Whoever waits does so for the commit: nothing is made, locked or woken for a change alone, and an
event loop is woken once for all of its changes. Cost: O(1) a change, without a lock of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any, Generic, cast

from tamis.server.changes import Change, EventRun, Outcome, Publish


class CommitBatch:
    """Changes in the order in which they came; plain events among them are kept as runs."""

    def __init__(self) -> None:
        self.parts: list[Change[Any] | EventRun] = []
        self.changes = 0
        """How many there are, those of runs among them."""
        self._outcomes: Sequence[object] = ()
        self._is_ended = False
        self._ended: threading.Event | None = None
        """Made for the first thread that waits."""
        self._lock = threading.Lock()
        self._awaited: list[tuple[asyncio.Future[Any], int, int]] = []

    def append(self, change: Change[Outcome]) -> PendingChange[Outcome]:
        """Appends a change."""
        self.changes += 1
        if not isinstance(change, Publish) or not change.is_plain:
            self.parts.append(change)
            return PendingChange(self, len(self.parts) - 1)
        run = self.parts[-1] if self.parts else None
        if not isinstance(run, EventRun):
            run = EventRun()
            self.parts.append(run)
        return PendingChange(self, len(self.parts) - 1, run.append(change))

    def end(self, outcomes: Sequence[object]) -> None:
        """Tells what became of each part: a result or an error; of a run, where its entries begin
        or what became of each of its changes."""
        with self._lock:
            self._outcomes = outcomes
            self._is_ended = True
            awaited, self._awaited = self._awaited, []
        if self._ended is not None:
            self._ended.set()
        if not awaited:
            return
        loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], int, int]]] = {}
        for each in awaited:
            loops.setdefault(each[0].get_loop(), []).append(each)
        for loop, those in loops.items():
            try:
                loop.call_soon_threadsafe(self._tell, those)
            except RuntimeError:  # the loop has ended, and nobody waits
                continue

    def _tell(self, those: list[tuple[asyncio.Future[Any], int, int]]) -> None:
        for future, at, number in those:
            if future.cancelled():
                continue
            found = self.outcome(at, number)
            if isinstance(found, BaseException):
                future.set_exception(found)
            else:
                future.set_result(found)

    def wait(self, seconds: float | None) -> None:
        """Waits until its changes are written or refused; `TimeoutError` when that takes longer."""
        with self._lock:
            if self._is_ended:
                return
            if self._ended is None:
                self._ended = threading.Event()
        if not self._ended.wait(seconds):
            raise TimeoutError("the log has not written this yet")

    def awaited(self, at: int, number: int) -> asyncio.Future[Any]:
        """Returns what becomes of a change, in the running event loop."""
        future = asyncio.get_running_loop().create_future()
        with self._lock:
            if not self._is_ended:
                self._awaited.append((future, at, number))
                return future
        self._tell([(future, at, number)])
        return future

    def outcome(self, at: int, number: int) -> object:
        """Returns what became of a part, or of a change of a run, once that is known."""
        part, found = self.parts[at], self._outcomes[at]
        if isinstance(part, EventRun):
            if isinstance(found, int):
                return part.published(number, found)
            if isinstance(found, list):
                return found[number]
        return found


class PendingChange(Generic[Outcome]):
    """A change that was handed in, until it is on disk or refused."""

    __slots__ = ("_at", "_batch", "_number")

    def __init__(self, batch: CommitBatch, at: int, number: int = 0) -> None:
        self._batch = batch
        self._at = at
        self._number = number

    def result(self, timeout: float | None = None) -> Outcome:
        """Waits for what became of it, which is raised where it is a refusal."""
        self._batch.wait(timeout)
        found = self._batch.outcome(self._at, self._number)
        if isinstance(found, BaseException):
            raise found
        return cast(Outcome, found)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Waits for why it was not written; `None` where it was."""
        self._batch.wait(timeout)
        found = self._batch.outcome(self._at, self._number)
        return found if isinstance(found, BaseException) else None

    async def outcome(self) -> Outcome:
        """Awaits what became of it, which is raised where it is a refusal."""
        return cast(Outcome, await self._batch.awaited(self._at, self._number))
