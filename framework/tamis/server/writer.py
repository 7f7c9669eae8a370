"""Commits changes, one transaction for all that wait: the only thread that writes.

A change is answered when it is on disk and the witness knows of it, never before. Events are first
written as if their ids were new, and each is asked for only where that is found wrong. A full disk
refuses what waits and is left behind; after any other failure of the database, and after a failed
sync above all, nobody knows what is on disk: the writer is broken, and says so until a restart.
"""

from __future__ import annotations

import contextlib
import errno
import threading
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from tamis.log import log
from tamis.server.batches import CommitBatch, PendingChange
from tamis.server.changes import (
    Attempt,
    Change,
    Decide,
    EventRun,
    Expire,
    Outcome,
    Publish,
    Retain,
)
from tamis.server.entries import EventsKnown, LogState
from tamis.server.errors import LogError, NoRoom, Overload
from tamis.server.ledger import LogTransaction, read_state
from tamis.server.payloads import Payloads
from tamis.server.witness import Mark, Witness

if TYPE_CHECKING:
    import apsw

MOST_WAITING = 10_000
MOST_TOGETHER = 1_024
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
"""Seconds of a flush that are told apart."""
_PASSING = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
}
"""Failures before anything is written, which pass."""
_UNWRITABLE = (ValueError, TypeError, RecursionError)
"""What is raised for what cannot be written as text."""
_OWN = (Attempt, Decide, Expire, Retain)
"""Changes of the server itself, which always find room."""


class LogWriter:
    """The thread that commits, and what waits for it."""

    def __init__(
        self,
        database: apsw.Connection,
        payloads: Payloads,
        witness: Witness,
        clock: Callable[[], float],
        state: LogState,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._database = database
        self._payloads = payloads
        self._witness = witness
        self._clock = clock
        self._most_waiting = most_waiting
        self.most_together = MOST_TOGETHER
        self.state = state
        self._before: LogState | None = state
        """That of the database, where it is known."""
        self.broken: str | None = None
        self.commits = 0
        self.changes = 0
        self.commit_seconds = 0.0
        self._flushes = [0] * (len(BOUNDS) + 1)
        """Flushes by the first bound that they kept."""
        self._queue: deque[CommitBatch] = deque()
        self.waiting = 0
        """How many changes wait."""
        self._wakened = threading.Condition()
        self._followers = threading.Condition()
        self._following = 0
        """How many wait, or are about to: then they see what is new."""
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="tamis log writer", daemon=True)
        self._thread.start()

    def submit(self, change: Change[Outcome]) -> PendingChange[Outcome]:
        """Hands in a change; what became of it is known when it is on disk, or refused.

        `Overload` where too much waits already."""
        if isinstance(change, Publish):
            change.prepare()  # while the commit before is flushed
        with self._wakened:
            if self.broken is not None:
                raise LogError(self.broken)
            if self._closing:
                raise LogError("the log is being closed")
            if self.waiting >= self._most_waiting and not isinstance(change, _OWN):
                raise Overload(f"{self.waiting:,} changes wait for the disk: try again")
            if not self._queue or self._queue[-1].changes >= self.most_together:
                self._queue.append(CommitBatch())
            self.waiting += 1
            self._wakened.notify()
            return self._queue[-1].append(change)

    @contextlib.contextmanager
    def gathering(self) -> Iterator[None]:
        """Lets what is handed in meanwhile wait, so that it is committed together."""
        with self._wakened:
            yield

    def wait_beyond(self, position: int, seconds: float) -> None:
        """Waits until the log goes beyond a position, for so long at most."""
        with self._followers:
            self._following += 1
            try:
                if self.state.position <= position:
                    self._followers.wait(seconds)
            finally:
                self._following -= 1

    def waken_followers(self) -> None:
        """Ends the waiting of who follows the log."""
        with self._followers:
            self._followers.notify_all()

    def close(self) -> None:
        """Commits what waits, and ends."""
        with self._wakened:
            self._closing = True
            self._wakened.notify()
        self._thread.join()
        self.waken_followers()

    def _run(self) -> None:
        while True:
            with self._wakened:
                while not self._queue and not self._closing:
                    self._wakened.wait()
                if not self._queue:
                    return
                batch = self._queue.popleft()
                self.waiting -= batch.changes
            batch.end(self._written(batch.parts, batch.changes))
            if self._following:
                self.waken_followers()

    def _written(self, together: list[Change[Any] | EventRun], number: int) -> Sequence[object]:
        """Commits parts of so many changes; what became of each."""
        try:
            if self.broken is not None:
                raise LogError(self.broken)
            try:
                ledger = self._commit(together, asks=False)
            except EventsKnown:
                ledger = self._commit(together, asks=True)
            state = ledger.state
            self._witness.write(Mark(state.commits, state.position, state.hash))
        except _UNWRITABLE as failure:
            if number == 1:
                return [LogError(f"this cannot be written: {failure}")]
            # one that cannot be written is nothing to the others
            return [self._written_alone(each) for each in together]
        except Exception as failure:
            told = self._told(failure)
            return [told for _ in together]
        self.state = self._before = state
        self.commits += 1
        self.changes += number
        if ledger.removed_payloads:
            self._payloads.remove(ledger.removed_payloads)
        return ledger.outcomes

    def _written_alone(self, part: Change[Any] | EventRun) -> object:
        """Commits a change by itself, or each one of a run."""
        if isinstance(part, EventRun):
            return [self._written([each], 1)[0] for each in part.changes()]
        return self._written([part], 1)[0]

    def _commit(self, together: list[Change[Any] | EventRun], *, asks: bool) -> LogTransaction:
        database = self._database
        database.execute("BEGIN IMMEDIATE")
        try:
            before, self._before = self._before or read_state(database), None
            now = self._clock()
            ledger = LogTransaction(database, self._payloads, before, now, asks=asks)
            ledger.write(together)
            began = time.perf_counter()
            database.execute("COMMIT")
            self._count_flush(time.perf_counter() - began)
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        return ledger

    def _count_flush(self, seconds: float) -> None:
        self.commit_seconds += seconds
        self._flushes[bisect_left(BOUNDS, seconds)] += 1

    @property
    def commits_within(self) -> dict[float, int]:
        """Returns how many flushes took so many seconds at most."""
        return dict(zip(BOUNDS, accumulate(self._flushes), strict=False))

    def _told(self, failure: Exception) -> LogError:
        """Says why nothing was written; after most failures nothing more is."""
        import apsw

        if isinstance(failure, apsw.FullError):
            return NoRoom("the log cannot be written: the disk is full")
        if isinstance(failure, OSError) and failure.errno in _PASSING:
            return NoRoom(f"the log cannot be written: {_PASSING[failure.errno]}")
        words = f"the log cannot be written: {failure}"
        if self.broken is None:
            words += "; restart the server when that is mended"
            self.broken = words
            log.exception("the log is broken")
        return LogError(words)
