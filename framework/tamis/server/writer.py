"""Commits changes, one transaction for all that wait: the only thread that writes.

A future is done when its change is on disk and the witness knows of it, never before. A full disk
refuses what waits and is left behind; after any other failure of the database, and after a failed
sync above all, nobody knows what is on disk: the writer is broken, and says so until a restart.
"""

from __future__ import annotations

import contextlib
import errno
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.log import log
from tamis.server.changes import Attempt, Change, Decide, Expire, RemovedEntries, Retain
from tamis.server.errors import LogError, Overload, Refusal
from tamis.server.ledger import LogState, LogTransaction
from tamis.server.payloads import Payloads
from tamis.server.witness import Mark, Witness

if TYPE_CHECKING:
    import apsw

MOST_WAITING = 10_000
MOST_TOGETHER = 1_024
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
"""Seconds of a flush that are told apart."""
_OWN = (Attempt, Decide, Expire, Retain)
"""Changes of the server itself, which always find room."""


class _WaitingCommit(NamedTuple):
    change: Change
    future: Future[Any]


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
        self.state = state
        self.broken: str | None = None
        self.commits = 0
        self.changes = 0
        self.commit_seconds = 0.0
        self.commits_within = dict.fromkeys(BOUNDS, 0)
        self._queue: deque[_WaitingCommit] = deque()
        self._wakened = threading.Condition()
        self._followers = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="tamis log writer", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        """How many changes wait."""
        return len(self._queue)

    def submit(self, change: Change) -> Future[Any]:
        """Hands in a change; its future is done when it is on disk, or refused.

        `Overload` where too much waits already."""
        with self._wakened:
            if self.broken is not None:
                raise LogError(self.broken)
            if self._closing:
                raise LogError("the log is being closed")
            if len(self._queue) >= self._most_waiting and not isinstance(change, _OWN):
                raise Overload(f"{len(self._queue):,} changes wait for the disk: try again")
            future: Future[Any] = Future()
            self._queue.append(_WaitingCommit(change, future))
            self._wakened.notify()
        return future

    @contextlib.contextmanager
    def gathering(self) -> Iterator[None]:
        """Lets what is handed in meanwhile wait, so that it is committed together."""
        with self._wakened:
            yield

    def wait_beyond(self, position: int, seconds: float) -> None:
        """Waits until the log goes beyond a position, for so long at most."""
        with self._followers:
            if self.state.position <= position:
                self._followers.wait(seconds)

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
                count = min(len(self._queue), MOST_TOGETHER)
                together = [self._queue.popleft() for _ in range(count)]
            self._commit(together)

    def _commit(self, together: list[_WaitingCommit]) -> None:
        done: list[tuple[Future[Any], object]] = []
        try:
            if self.broken is not None:
                raise LogError(self.broken)
            with self._transaction():
                ledger = LogTransaction(self._database, self._payloads, self._clock())
                ledger.expire()
                for change, future in together:
                    try:
                        done.append((future, ledger.write(change)))
                    except Refusal as refusal:
                        done.append((future, refusal))
                state = ledger.end()
            self._witness.write(Mark(state.commits, state.position, state.hash))
        except (ValueError, TypeError) as failure:
            if len(together) == 1:
                together[0].future.set_exception(LogError(f"this cannot be written: {failure}"))
            for each in together if len(together) > 1 else ():
                self._commit([each])  # one that cannot be written is nothing to the others
            return
        except Exception as failure:
            self._fail(together, failure)
            return
        self.state = state
        self.commits += 1
        self.changes += len(together)
        self._remove_payloads([result for _, result in done])
        for future, result in done:
            if isinstance(result, Refusal):
                future.set_exception(result)
            else:
                future.set_result(result)
        self.waken_followers()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            began = time.perf_counter()
            self._database.execute("COMMIT")
            self._count_flush(time.perf_counter() - began)
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    def _count_flush(self, seconds: float) -> None:
        self.commit_seconds += seconds
        for bound in BOUNDS:
            self.commits_within[bound] += seconds <= bound

    def _fail(self, together: list[_WaitingCommit], failure: Exception) -> None:
        """Tells everybody who waits that nothing of it is written."""
        import apsw

        is_full = isinstance(failure, OSError) and failure.errno == errno.ENOSPC
        is_full = is_full or isinstance(failure, apsw.FullError)
        words = f"the log cannot be written: {failure}"
        if is_full:
            words = "the log cannot be written: the disk is full"
        elif self.broken is None:
            words += "; restart the server when that is mended"
            self.broken = words
            log.exception("the log is broken")
        for _, future in together:
            future.set_exception(LogError(words))
        self.waken_followers()

    def _remove_payloads(self, results: list[object]) -> None:
        """Removes the files that the commit names no longer."""
        for result in results:
            if isinstance(result, RemovedEntries) and result.payloads:
                self._payloads.remove(result.payloads)
