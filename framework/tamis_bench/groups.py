"""Measures what it spares that one invocation answers many predicates.

The predicates of a workload are dealt at random into groups, an operator each. In one form the
operator needs a preparation of cost 1 and costs nothing itself, in the other it answers many
argument lists at once, the first at a cost of 1. Invocations are counted where they happen, beside
the calls of the same planner on the same events without groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from tamis import Matcher, Operator, Preparation, Statistics, operator
from tamis.advising.bounds import Requirements
from tamis_bench.report import Row, progress
from tamis_bench.workloads import Answers, Effort, Ratio, Shape, Workload

SHAPE = Shape(5_000, 20_000)
SIZES = (4, 16, 64)
ALONE, PREPARED, BATCHED = "alone", "preparation", "batch"
_FORMS = ((1, ALONE), *((size, form) for size in SIZES for form in (PREPARED, BATCHED)))


class _Dealt:
    """A workload whose predicates are dealt into groups of some size, in one form."""

    def __init__(self, workload: Workload, size: int, form: str) -> None:
        self.workload = workload
        self.form = form
        self.invocations = 0
        places = np.random.default_rng((workload.seed, size)).permutation(workload.shape.predicates)
        self.group = places // size
        self.groups = int(self.group.max()) + 1

    def matcher(self) -> Matcher:
        """Returns a matcher of everything, with what history would have taught."""
        texts = [f"g{group}({number})" for number, group in enumerate(self.group.tolist())]
        known = Statistics(
            selectivity=dict(zip(texts, self.workload.passes.tolist(), strict=True)),
            cost=dict.fromkeys(texts, 0.0 if self.form == PREPARED else 1.0),
        )
        operators = [self._operator(f"g{group}") for group in range(self.groups)]
        return self.workload.matcher(operators, texts, statistics=known)

    def _operator(self, name: str) -> Operator:
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
        """Returns the preparations that no method can do without on the event at hand."""
        problem = self.workload.problem()
        nothing = np.zeros(problem.calls)
        grouped = replace(
            problem,
            call_cost=nothing,
            call_marginal=nothing,
            call_group=self.group.astype(np.int64),
            group_price=np.ones(self.groups),
        )
        return Requirements(grouped, np.array(self.workload.truth, np.int64)).clairvoyant()


def measured(effort: Effort) -> Iterator[Row]:
    """Yields invocations an event by size of the groups, and form."""
    shape = SHAPE.scaled(effort.scale)
    counts: dict[tuple[int, str], list[int]] = {each: [] for each in _FORMS}
    bound: dict[int, list[float]] = {size: [] for size in SIZES}
    for seed, events in effort.parts():
        workload = Workload(shape, seed)
        answers = Answers(f"groups of {shape}")
        for size, form in _FORMS:
            progress(f"groups: {shape}, {size} predicates, {form}")
            dealt = _Dealt(workload, size, form)
            matcher = dealt.matcher()
            for event in workload.events(events):
                before = dealt.invocations
                answers.compare(event, matcher.match(event))
                counts[size, form].append(dealt.invocations - before)
                if form == PREPARED:
                    bound[size].append(dealt.at_least())
    for (size, form), made in counts.items():
        over = Ratio.of(made, counts[1, ALONE])
        yield {
            "workload": str(shape),
            "predicates": size,
            "form": form,
            "invocations": float(np.mean(made)),
            "over_alone": over.value,
            "error": over.error,
            "clairvoyant": float(np.mean(bound[size])) if form == PREPARED else None,
            "events": len(made),
        }
