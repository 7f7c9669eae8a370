"""What planners cost on the workloads of the paper, counted exactly on the same events.

Every planner answers every event through the whole matcher, and the answers are compared. The cost
of an event is the sum of the costs of the calls that were made for it. Two baselines stand beside
the planners: every distinct predicate, and `naive`.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tamis.bench.workloads import UNIFORM, Shape, Workload
from tamis.matcher import Matcher
from tamis.plugins import installed

FIGURES: dict[str, list[Shape]] = {
    "4": [Shape(40_000, each, zipf=UNIFORM) for each in (2_000, 20_000, 40_000, 80_000)],
    "5": [Shape(40_000, each) for each in (2_000, 20_000, 40_000, 80_000)],
    "6": [Shape(each, 20_000) for each in (2_000, 5_000, 10_000, 30_000)],
    "7": [Shape(5_000, 20_000, longest=each) for each in (5, 7, 9, 11)],
    "8": [Shape(5_000, 20_000, zipf=each) for each in (UNIFORM, 0.8, 1.0, 1.2)],
    "costs": [
        Shape(5_000, 20_000, spread=1.0),
        Shape(30_000, 20_000, spread=1.0),
        Shape(40_000, 80_000, zipf=UNIFORM, spread=1.0),
    ],
    "guarded": [Shape(2_000, 8_000, guarded=each) for each in (0.0, 0.4)],
}
TITLES = {
    "4": "Figure 4: number of subscriptions, uniform popularity",
    "5": "Figure 5: number of subscriptions, Zipf popularity",
    "6": "Figure 6: number of predicates",
    "7": "Figure 7: longest subscription",
    "8": "Figure 8: popularity of predicates",
    "costs": "Section 4.3: heterogeneous costs",
    "guarded": "Variables that a constraint restricts, beside the same workload without",
}
ON_THE_UNIFORM_FIGURES = """\
The paper prints 7,761 (Sequential) and 7,037 (Sub-Order) at 40K/80K in Figure 4. On the workload as
it prints it, no method whatever can come so low, not even one that knows all answers beforehand: it
makes all calls of the matched subscriptions, and one for each of the unmatched ones whose false
predicates are pairwise disjoint. That is the column 'at least'. The figures above were measured
again for every planner; compare those."""


@dataclass
class Measured:
    """One planner on one workload."""

    planner: str
    cost: list[float] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    planner_seconds: float = 0.0
    seconds: float = 0.0
    subscribe_seconds: float = 0.0

    def row(self) -> dict[str, Any]:
        """The figures."""
        return {
            "cost": statistics.fmean(self.cost),
            "error": statistics.stdev(self.cost) / math.sqrt(len(self.cost))
            if len(self.cost) > 1
            else None,
            "calls": statistics.fmean(self.calls),
            "planner_us_a_call": 1e6 * self.planner_seconds / max(1, sum(self.calls)),
            "event_ms": 1e3 * self.seconds / len(self.calls),
            "subscribe_seconds": self.subscribe_seconds,
        }


def measure(
    shape: Shape, planners: Sequence[str], *, events: int, seed: int, workloads: int
) -> dict[str, Any]:
    """All planners on the same events; the events are shared out among several workloads."""
    measured = {planner: Measured(planner) for planner in planners}
    seen = _Seen()
    workloads = min(workloads, events)
    for number in range(workloads):
        workload = Workload(shape, seed * 1_000 + number)
        mine = events // workloads + (number < events % workloads)
        _measure_one(workload, list(measured.values()), mine, seen)
    return {
        "workload": str(shape),
        "events": events,
        "workloads": workloads,
        "seed": seed,
        "match_ratio": statistics.fmean(seen.matches) / shape.subscriptions,
        "every_distinct": statistics.fmean(seen.every_distinct),
        "distinct": statistics.fmean(seen.distinct),
        "at_least": statistics.fmean(seen.at_least),
        "marked_by_sequential": statistics.fmean(seen.marked) if seen.marked else None,
        "planners": {planner: each.row() for planner, each in measured.items()},
    }


@dataclass
class _Seen:
    """What does not depend on the planner."""

    matches: list[int] = field(default_factory=list)
    at_least: list[int] = field(default_factory=list)
    marked: list[int] = field(default_factory=list)
    distinct: list[int] = field(default_factory=list)
    every_distinct: list[float] = field(default_factory=list)


def _measure_one(workload: Workload, planners: list[Measured], events: int, seen: _Seen) -> None:
    """One workload with each planner in turn; the answers must be the same."""
    distinct = workload.distinct()
    seen.distinct.append(len(distinct))
    seen.every_distinct.append(float(workload.costs[distinct].sum()))
    entries, known = list(workload.subscriptions()), workload.statistics()
    answers: list[list[str]] = []
    for measured in planners:
        matcher = Matcher(
            workload.operators(), planner=measured.planner, statistics=known, learning=False
        )
        begun = time.perf_counter()
        matcher.subscribe_many(entries)
        measured.subscribe_seconds += time.perf_counter() - begun
        chance = np.random.default_rng(workload.seed + 1)
        gc.collect()
        for at in range(events):
            workload.draw_event(chance)
            if at == 0:
                matcher.match({"id": "warm"})
            begun = time.perf_counter()
            result = matcher.match({"id": str(at)})
            matched = [match.subscription for match in result.matches]
            measured.seconds += time.perf_counter() - begun
            measured.planner_seconds += result.account.seconds["planner"]
            made = [_number(call.predicate) for call in result.calls]
            measured.calls.append(len(made))
            measured.cost.append(float(workload.costs[made].sum()))
            if measured.planner == "sequential":
                seen.marked.append(result.account.needed_at_least)
            if measured is planners[0]:
                answers.append(matched)
                seen.matches.append(len(matched))
                seen.at_least.append(workload.at_least())
            elif matched != answers[at]:
                raise AssertionError(
                    f"{measured.planner} and {planners[0].planner} differ on event {at} "
                    f"of {workload.shape}, seed {workload.seed}"
                )


def _number(predicate: str) -> int:
    """The number of the predicate of a call: `p(17)`, `q(17, ?1)`."""
    return int(predicate[2:-1].partition(",")[0])


def run(
    figures: Sequence[str],
    *,
    seed: int,
    scale: float,
    events: int,
    workloads: int,
    planners: Sequence[str] | None = None,
    progress: Callable[[str], None] = lambda words: None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of the figures, one after the other."""
    # `optimal` is exact, and for small problems only
    every = sorted(set(installed().planners) - {"optimal"})
    chosen = every if planners is None else list(planners)
    chosen.sort(key=lambda name: name != "naive")
    for figure in figures:
        for shape in FIGURES[figure]:
            progress(f"{TITLES[figure]}: {shape.scaled(scale)}")
            row = measure(
                shape.scaled(scale), chosen, events=events, seed=seed, workloads=workloads
            )
            yield figure, row
