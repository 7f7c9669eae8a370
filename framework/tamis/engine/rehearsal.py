"""Rehearses the calls about an event without making any, as if each answer were the likelier one.

Joins are not looked at: an alternative with variables counts as true with its last predicate.
Cost: that of the planner, and O(edges) a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tamis.engine.decision import Decision
from tamis.engine.guarded import GuardedRun
from tamis.engine.state import OPEN
from tamis.numeric.types import Flags, Ints
from tamis.planning import FALSE, TRUE, Planner


@dataclass(frozen=True)
class Step:
    """A call as it would be made."""

    call: int
    score: float | None
    """The planner's score, if it gives one."""
    selectivity: float
    """The expected share of events for which its predicates are true; of several the mean."""
    cost_seconds: float
    """Expected, with the preparation where this call is the first that needs it."""
    subscriptions: list[int]
    """Those with alternatives that it may decide."""
    rejected_if_false: int
    """Subscriptions that it leaves without an open alternative."""
    rejected_if_true: int
    matched_if_true: int
    """Subscriptions that need nothing else then."""
    matched_if_false: int


class Rehearsal:
    """Plays the calls that would decide an event, without making them."""

    def __init__(self, planner: Planner, decision: Decision) -> None:
        self.decision = decision
        self._problem = problem = decision.problem
        self._outcome = np.array(decision.outcome, np.int64)
        self._open = np.array(decision.verdict) == OPEN
        self._wanted = problem.edge_sign > 0
        self._paid: set[int] = set()
        self._run = GuardedRun(planner, problem)
        if any(news := decision.news()):
            self._run.observe(*news)

    @property
    def open(self) -> int:
        """The number of open alternatives."""
        return int(self._open.sum())

    def steps(self) -> Iterator[Step]:
        """Yields the calls in their order."""
        problem = self._problem
        asked: set[int] = set()
        while self._open.any():
            calls = [call for call in self._run.next(1) if call not in asked]
            if not calls:
                return
            for call in calls:
                asked.add(call)
                tests = np.flatnonzero(problem.test_call == call)
                if (self._outcome[tests] == OPEN).any():
                    yield self._step(call, tests)
                outcomes = np.where(problem.test_selectivity[tests] >= 0.5, TRUE, FALSE)
                before = self._open
                self._open, _ = self._after(tests, outcomes)
                self._outcome[tests] = outcomes
                decided = np.flatnonzero(before & ~self._open).tolist()
                self._run.observe(tests.tolist(), outcomes.tolist(), decided)

    def _step(self, call: int, tests: Ints) -> Step:
        problem = self._problem
        held = np.isin(problem.edge_test, tests) & self._open[problem.edge_alternative]
        owners = problem.alternative_subscription[problem.edge_alternative[held]]
        group = int(problem.call_group[call])
        cost = float(problem.call_cost[call])
        if group >= 0 and group not in self._paid:
            self._paid.add(group)
            cost += float(problem.group_price[group])
        rejected, matched = zip(
            *(self._decided(tests, np.full(len(tests), each)) for each in (FALSE, TRUE)),
            strict=True,
        )
        return Step(
            call,
            self._run.score(call),
            float(problem.test_selectivity[tests].mean()),
            cost,
            np.unique(owners).tolist(),
            rejected[FALSE],
            rejected[TRUE],
            matched[TRUE],
            matched[FALSE],
        )

    def _decided(self, tests: Ints, outcomes: Ints) -> tuple[int, int]:
        """Counts the subscriptions that these outcomes reject and match."""
        left, true = self._after(tests, outcomes)
        owner = self._problem.alternative_subscription
        matched = set(owner[true].tolist())
        before, after = set(owner[self._open].tolist()), set(owner[left].tolist())
        return len(before - after - matched), len(matched)

    def _after(self, tests: Ints, outcomes: Ints) -> tuple[Flags, Flags]:
        """Returns the alternatives that are open after these outcomes, and those that are true."""
        problem = self._problem
        outcome = self._outcome.copy()
        outcome[tests] = outcomes
        of_edge = outcome[problem.edge_test]
        is_known = of_edge < OPEN
        ended = np.zeros(problem.alternatives, np.bool_)
        ended[problem.edge_alternative[is_known & (of_edge != self._wanted)]] = True
        unknown = np.bincount(problem.edge_alternative[~is_known], minlength=problem.alternatives)
        true = self._open & ~ended & (unknown == 0)
        free = ~problem.alternative_binds
        matched = np.isin(problem.alternative_subscription, problem.alternative_subscription[true])
        return self._open & ~ended & ~true & ~(matched & free), true
