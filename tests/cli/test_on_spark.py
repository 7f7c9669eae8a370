"""Progress of jobs is told while they run, and the handler is taken back at their end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tamis.cli.on_spark import JobProgress


class Stage(NamedTuple):
    num_tasks: int
    num_completed_tasks: int


class Connected:
    """A session of Spark Connect, as far as it tells of its jobs."""

    __module__ = "pyspark.sql.connect.session"

    def __init__(self) -> None:
        self.handlers: list[Callable[..., None]] = []
        self.registerProgressHandler = self.handlers.append
        self.removeProgressHandler = self.handlers.remove


def test_a_session_tells_of_its_jobs_until_nobody_listens() -> None:
    session: Any = Connected()
    progress = JobProgress(session)
    (tell,) = session.handlers
    tell(stages=[Stage(3, 1), Stage(5, 0)], inflight_tasks=2, operation_id="one", done=False)
    assert str(progress) == "1 of 8 parts done"
    progress.end()
    assert session.handlers == []
    progress.end()
