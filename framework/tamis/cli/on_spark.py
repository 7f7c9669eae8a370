"""Works on Spark in a thread beside, so that Ctrl-C never cuts a talk with the JVM.

pyspark's own answer to the signal talks to the JVM from wherever it strikes, which may be the
middle of another talk. Here it is the waiting that ends; then jobs and streams are stopped.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from tamis.cli.progress import bar
from tamis.spark.session import session
from tamis.spark.working import is_connected
from tamis.words import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Found = TypeVar("Found")
_LOCAL = "local[*, 4]"
"""All cores, and four tries: a task is tried once unless told otherwise, and workers are killed."""
_POLL_SECONDS = 0.2
_ASK_SECONDS = 1.0
_STOPPING_SECONDS = 10.0


def on_spark(work: Callable[[SparkSession], Found], master: str | None, *, shows: bool) -> Found:
    """Runs work on a session, which is stopped where it is interrupted.

    `shows` says whether the progress of jobs is shown."""
    wanted = _LOCAL if master in (None, "local[*]") else master
    made: list[SparkSession] = []
    done: Future[Found] = Future()

    def run() -> None:
        try:
            made.append(session(wanted))
            done.set_result(work(made[0]))
        except BaseException as bad:  # it is raised where it is waited for
            done.set_exception(bad)

    thread = threading.Thread(target=run, name="tamis-spark", daemon=True)
    progress: JobProgress | None = None
    with _default_interrupts(), bar(shown=shows and sys.stderr.isatty()) as show:
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_POLL_SECONDS)
                if shows and made and progress is None:
                    progress = JobProgress(made[0])
                if progress is not None and progress.total:
                    show(str(progress), progress.done / progress.total)
        except KeyboardInterrupt:
            if made:
                _stop(made[0], thread)
            raise
        finally:
            if progress is not None:
                progress.end()
    return done.result()


class JobProgress:
    """Follows the jobs of a session, those of a classic one in a thread that no signal strikes."""

    def __init__(self, spark: SparkSession) -> None:
        self.done = self.total = 0
        self.ended = threading.Event()
        self._told_by: Any = None  # Spark names a class of handlers, and takes any function
        if is_connected(spark):
            self._told_by = spark
            self._told_by.registerProgressHandler(self._hear)
        else:
            threading.Thread(target=self._follow, args=[spark], daemon=True).start()

    def end(self) -> None:
        """Follows them no longer."""
        self.ended.set()
        if self._told_by is not None:
            self._told_by.removeProgressHandler(self._hear)
            self._told_by = None

    def _hear(self, *, stages: Any, **about: object) -> None:
        """Takes what Spark Connect tells of a job."""
        if not self.ended.is_set() and (known := list(stages or ())):
            self.done = sum(each.num_completed_tasks for each in known)
            self.total = sum(each.num_tasks for each in known)

    def _follow(self, spark: SparkSession) -> None:
        with suppress(Exception):  # a session that has ended does not tell
            tracker = spark.sparkContext.statusTracker()
            while not self.ended.wait(_ASK_SECONDS):
                stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
                if known := [each for each in stages if each is not None]:
                    self.done = sum(each.numCompletedTasks for each in known)
                    self.total = sum(each.numTasks for each in known)

    def __str__(self) -> str:
        return f"{self.done:,} of {counted(self.total, 'part')} done"


def _stop(spark: SparkSession, thread: threading.Thread) -> None:
    """Stops what a session does: its streams, which would wait for the end of their jobs, and jobs.

    A batch may be about to begin another job."""
    if is_connected(spark):
        spark.interruptAll()
        return
    spark.sparkContext.setLogLevel("OFF")
    queries = spark.streams.active
    stopping = [threading.Thread(target=query.stop, daemon=True) for query in queries]
    for each in stopping:
        each.start()
    end = time.monotonic() + _STOPPING_SECONDS
    while any(each.is_alive() for each in (thread, *stopping)) and time.monotonic() < end:
        spark.sparkContext.cancelAllJobs()
        thread.join(_POLL_SECONDS)


@contextmanager
def _default_interrupts() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
