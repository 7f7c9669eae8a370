"""Makes and runs planners: what fails in one is a `PlannerError` that names it."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from tamis.engine.decision import Decision
from tamis.errors import PlannerError
from tamis.planning import Planner, PlannerRecord, Problem
from tamis.plugins.loader import Plugins


def made_planner(plugins: Plugins, planner: str | Planner | PlannerRecord) -> Planner:
    """Returns the planner of a name or of a record, or the given one."""
    if not isinstance(planner, (str, PlannerRecord)):
        if not hasattr(planner, "begin"):
            raise PlannerError(f"a planner is a name or has begin(problem), not {planner!r:.80}")
        return planner
    record = plugins.planner(planner) if isinstance(planner, str) else planner
    try:
        made = record.factory()
    except Exception as failure:
        raise PlannerError(
            f"planner {record.name} cannot be made: {type(failure).__name__}: {failure}"
        ) from failure
    return made_planner(plugins, made)


class GuardedRun:
    """The run of a planner, its failures named as such.

    It knows what is known of an event that is given; one that reads, also what comes later."""

    def __init__(
        self, planner: Planner, problem: Problem, decision: Decision | None = None
    ) -> None:
        self._name, self.calls = type(planner).__name__, len(problem.call_cost)
        try:
            self._run = planner.begin(problem)
            self.unguarded_next, self._observe = self._run.next, self._run.observe
        except Exception as failure:
            raise self.error("begin", failure) from failure
        self._read = getattr(self._run, "read", None)
        self.is_told = self._read is None
        """True if it is told what is known, and does not read it."""
        if decision is not None:
            self._inform(decision)

    def _inform(self, decision: Decision) -> None:
        if self._read is None:
            if any(news := decision.news()):
                self.observe(*news)
            return
        try:
            self._read(decision.progress)
        except Exception as failure:
            raise self.error("read", failure) from failure

    def next(self, limit: int) -> list[int]:
        """Returns the calls that the planner asks for."""
        try:
            return list(map(operator.index, self.unguarded_next(limit)))
        except Exception as failure:
            raise self.error("next", failure) from failure

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None:
        """Tells the planner."""
        try:
            self._observe(tests, outcomes, decided)
        except Exception as failure:
            raise self.error("observe", failure) from failure

    def score(self, call: int) -> float | None:
        """Returns the planner's score of a call now, if it gives one."""
        score = getattr(self._run, "score", None)
        try:
            return None if score is None else float(score(call))
        except Exception as failure:
            raise self.error("score", failure) from failure

    def error(self, where: str, failure: Exception) -> PlannerError:
        """Names the planner and the method that failed."""
        return PlannerError(
            f"planner {self._name} failed in {where}: {type(failure).__name__}: {failure}"
        )
