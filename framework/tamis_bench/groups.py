"""What it spares that one invocation answers many predicates: by a preparation, and in a batch.

The predicates of a workload are dealt at random into groups, an operator each. In one form the
operator needs a preparation of cost 1 and costs nothing itself, in the other it answers many
argument lists at once, the first at a cost of 1. Invocations are counted where they happen, beside
the calls of the same planner on the same events without groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tamis.advising.bounds import Requirements
from tamis.matcher import Matcher
from tamis.operators import FunctionOperator, operator
from tamis.operators.specification import Preparation
from tamis.statistics import Statistics
from tamis_bench.effort import Effort
from tamis_bench.planner_goals import GROUPED, JUDGED, ONE_AT_A_TIME, OVER_UNGROUPED, Ratio, goal
from tamis_bench.workloads import Shape, Workload

SHAPE = Shape(5_000, 20_000)
SIZES = (4, 16, 64)
ALONE, PREPARED, BATCHED = "alone", "preparation", "batch"


class _Dealt:
    """A workload whose predicates are dealt into groups of some size, in one form."""

    def __init__(self, workload: Workload, size: int, form: str) -> None:
        self.workload = workload
        self.form = form
        self.invocations = 0
        places = np.random.default_rng((workload.seed, size)).permutation(workload.shape.predicates)
        self.group = places // size
        self.texts = [f"g{group}({number})" for number, group in enumerate(self.group.tolist())]

    def matcher(self) -> Matcher:
        """Everything subscribed, with what history would have taught."""
        cost = 0.0 if self.form == PREPARED else 1.0
        known = Statistics(
            selectivity=dict(zip(self.texts, self.workload.passes.tolist(), strict=True)),
            cost=dict.fromkeys(self.texts, cost),
        )
        groups = range(int(self.group.max()) + 1)
        made = Matcher(
            [self._operator(f"g{group}") for group in groups],
            planner=JUDGED,
            statistics=known,
            learning=False,
        )
        made.subscribe_many(self.workload.subscriptions(self.texts))
        return made

    def _operator(self, name: str) -> FunctionOperator:
        def holds(event: object, number: int) -> bool:
            self.invocations += self.form != PREPARED
            return self.workload.truth[number]

        def hold(event: object, lists: Sequence[Sequence[int]]) -> list[bool]:
            self.invocations += 1
            return [self.workload.truth[number] for (number,) in lists]

        def prepare(event: object) -> None:
            self.invocations += 1

        if self.form == PREPARED:
            preparation = Preparation(name, prepare, cost_seconds=1.0)
            return operator(name=name, cost_seconds=0.0, preparation=preparation)(holds)
        if self.form == BATCHED:
            return operator(
                name=name, cost_seconds=1.0, marginal_cost_seconds=0.0, solve_many=hold
            )(holds)
        return operator(name=name, cost_seconds=1.0)(holds)

    def at_least(self) -> float:
        """Preparations that no method can do without on the event at hand."""
        problem = self.workload.problem()
        nothing = np.zeros(problem.calls)
        grouped = replace(
            problem,
            call_cost=nothing,
            call_marginal=nothing,
            call_group=self.group.astype(np.int64),
            group_price=np.ones(int(self.group.max()) + 1),
        )
        return Requirements(grouped, np.array(self.workload.truth, np.int64)).clairvoyant()


def run(effort: Effort) -> Iterator[dict[str, Any]]:
    """The row of the workload: invocations an event by size of the groups, and form."""
    shape = SHAPE.scaled(effort.scale)
    counts: dict[tuple[int, str], list[int]] = {}
    bound: dict[int, list[float]] = {size: [] for size in SIZES}
    for seed, events in effort.parts():
        workload = Workload(shape, seed)
        answers: list[list[str]] = []
        for size, form in [(1, ALONE), *((s, f) for s in SIZES for f in (PREPARED, BATCHED))]:
            effort.progress(f"groups: {shape}, {size} predicates, {form}")
            dealt = _Dealt(workload, size, form)
            matcher = dealt.matcher()
            chance = np.random.default_rng(seed + 1)
            for at in range(events):
                workload.draw_event(chance)
                before = dealt.invocations
                result = matcher.match({"id": str(at)})
                counts.setdefault((size, form), []).append(dealt.invocations - before)
                matched = [match.subscription for match in result.matches]
                if form == ALONE:
                    answers.append(matched)
                elif matched != answers[at]:
                    raise AssertionError(f"groups change the matches of event {at} of {shape}")
                if form == PREPARED:
                    bound[size].append(dealt.at_least())
    yield _row(shape, counts, bound)


def _row(
    shape: Shape, counts: dict[tuple[int, str], list[int]], bound: dict[int, list[float]]
) -> dict[str, Any]:
    alone = counts[1, ALONE]
    table, goals = [], []
    for (size, form), made in counts.items():
        ratio = Ratio.of(made, alone)
        table.append(
            {
                "predicates": size,
                "form": form,
                "invocations": float(np.mean(made)),
                "over_alone": ratio and ratio.value,
                "error": ratio and ratio.error,
                "clairvoyant": float(np.mean(bound[size])) if form == PREPARED else None,
            }
        )
        if ratio and size == GROUPED and str(shape) == ONE_AT_A_TIME:
            what = f"{size} predicates an invocation, {form}: over the ungrouped"
            goals.append(goal(str(shape), JUDGED, what, ratio.value, OVER_UNGROUPED))
    return {
        "figure": "groups",
        "workload": str(shape),
        "events": len(alone),
        "planner": JUDGED,
        "table": table,
        "goals": goals,
    }
