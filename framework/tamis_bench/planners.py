"""What planners cost on the workloads of the paper, counted exactly on the same events.

Every planner answers every event through the whole matcher, and the answers are compared. The cost
of an event is the sum of the costs of the calls that were made for it. Beside the planners stand
two baselines, every distinct predicate and `naive`, and the bounds of `tamis.advising.bounds`, on
the first events where there are very many subscriptions.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tamis.advising.bounds import Requirements
from tamis.matcher import Matcher
from tamis.numeric.types import Floats
from tamis.plugins.loader import installed
from tamis_bench.effort import Effort
from tamis_bench.planner_goals import JUDGED, Ratio, has_goal, judged
from tamis_bench.workloads import UNIFORM, Shape, Workload

FIGURES: dict[str, list[Shape]] = {
    "4": [Shape(40_000, each, zipf=UNIFORM) for each in (2_000, 20_000, 40_000, 80_000)],
    "5": [Shape(40_000, each) for each in (2_000, 20_000, 40_000, 80_000)],
    "6": [Shape(each, 20_000) for each in (2_000, 5_000, 10_000, 30_000)],
    "7": [Shape(5_000, 20_000, longest=each) for each in (5, 7, 9, 11)],
    "8": [Shape(5_000, 20_000, zipf=each) for each in (UNIFORM, 0.8, 1.0, 1.2)],
    "costs": [
        Shape(5_000, 20_000, spread=1.0),
        Shape(30_000, 20_000, spread=1.0),
        Shape(5_000, 20_000, longest=11, spread=1.0),
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
predicates are pairwise disjoint. That is the row 'packing'; 'clairvoyant' is the same with a linear
program. The figures above were measured again for every planner; compare those."""
ON_THE_BOUNDS = """\
'over' is the cost over the non-anticipative bound on the same events: no method that does not know
outcomes beforehand costs less than that bound on average. The cost is counted there as the bound
counts it (the same on average, with less chance in it), so that it is at least 1 on every event.
A clairvoyant's cost lies between 'clairvoyant' and 'reached'."""

_LARGE = 20_000
"""From how many subscriptions events, workloads and bounds are fewer."""
_BOUNDED_WHERE_LARGE = 12
_REST = 0.1


@dataclass
class Measured:
    """One planner on one workload."""

    planner: str
    cost: list[float] = field(default_factory=list)
    charged: list[float] = field(default_factory=list)
    """What the bound charges its calls, of the events that have one."""
    calls: list[int] = field(default_factory=list)
    planner_seconds: float = 0.0
    seconds: float = 0.0
    subscribe_seconds: float = 0.0

    def row(self, seen: _Seen) -> dict[str, Any]:
        """The figures."""
        over = Ratio.of(self.charged, seen.bounds["non-anticipative"])
        return {
            "cost": statistics.fmean(self.cost),
            "error": statistics.stdev(self.cost) / math.sqrt(len(self.cost))
            if len(self.cost) > 1
            else None,
            "over_bound": over and over.value,
            "over_bound_error": over and over.error,
            "over_boolean": None,
            "calls": statistics.fmean(self.calls),
            "planner_us_a_call": 1e6 * self.planner_seconds / max(1, sum(self.calls)),
            "event_ms": 1e3 * self.seconds / len(self.calls),
            "subscribe_seconds": self.subscribe_seconds,
        }


def measure(shape: Shape, planners: Sequence[str], effort: Effort) -> dict[str, Any]:
    """All planners on the same events; where there are very many subscriptions, on fewer."""
    measured = {planner: Measured(planner) for planner in planners}
    seen = _Seen()
    fewer = max(1.0, shape.subscriptions / _LARGE)
    parts = effort.share(1 / fewer).parts()
    for seed, events in parts:
        bounded = events if fewer == 1 else math.ceil(_BOUNDED_WHERE_LARGE / len(parts))
        workload = Workload(shape, seed)
        _measure_one(workload, list(measured.values()), events, bounded, seen)
    return {
        "workload": str(shape),
        "shape": vars(shape),
        "events": sum(events for _, events in parts),
        "workloads": len(parts),
        "seed": effort.seed,
        "match_ratio": statistics.fmean(seen.matches) / shape.subscriptions,
        "every_distinct": statistics.fmean(seen.every_distinct),
        "distinct": statistics.fmean(seen.distinct),
        "bounded_events": len(seen.bounded),
        "bounds": {name: statistics.fmean(each) for name, each in seen.bounds.items()},
        "marked_by_sequential": statistics.fmean(seen.marked) if seen.marked else None,
        "planners": {planner: each.row(seen) for planner, each in measured.items()},
    }


@dataclass
class _Seen:
    """What does not depend on the planner."""

    matches: list[int] = field(default_factory=list)
    bounded: list[int] = field(default_factory=list)
    """The events that have bounds, by place."""
    bounds: dict[str, list[float]] = field(
        default_factory=lambda: {
            "non-anticipative": [], "reached": [], "clairvoyant": [], "packing": [],
        }
    )  # fmt: skip
    marked: list[int] = field(default_factory=list)
    distinct: list[int] = field(default_factory=list)
    every_distinct: list[float] = field(default_factory=list)

    def bound(self, requirements: Requirements) -> None:
        """Adds the bounds of an event."""
        self.bounds["non-anticipative"].append(requirements.non_anticipative())
        self.bounds["reached"].append(requirements.clairvoyant_reached())
        self.bounds["clairvoyant"].append(requirements.clairvoyant())
        self.bounds["packing"].append(requirements.packing())


def _measure_one(
    workload: Workload, planners: list[Measured], events: int, bounded: int, seen: _Seen
) -> None:
    """One workload with each planner in turn; the answers must be the same."""
    distinct = workload.distinct()
    seen.distinct.append(len(distinct))
    seen.every_distinct.append(float(workload.costs[distinct].sum()))
    entries, known = list(workload.subscriptions()), workload.statistics()
    problem = workload.problem()
    answers: list[list[str]] = []
    charges: list[Floats] = []
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
                if at < bounded:
                    required = Requirements(problem, np.array(workload.truth, np.int64))
                    seen.bounded.append(len(measured.cost) - 1)
                    seen.bound(required)
                    charges.append(required.charges)
            elif matched != answers[at]:
                raise AssertionError(
                    f"{measured.planner} and {planners[0].planner} differ on event {at} "
                    f"of {workload.shape}, seed {workload.seed}"
                )
            if at < bounded:
                measured.charged.append(float(charges[at][made].sum()))


def _number(predicate: str) -> int:
    """The number of the predicate of a call: `p(17)`, `q(17, ?1)`."""
    return int(predicate[2:-1].partition(",")[0])


def compared(planners: Sequence[str] | None) -> list[str]:
    """The planners to compare, `naive` first; all that can take many predicates by default."""
    chosen = (
        sorted(name for name, record in installed().planners.items() if not record.is_small)
        if planners is None
        else list(planners)
    )
    chosen.sort(key=lambda name: name != "naive")
    return chosen


def run(
    figures: Sequence[str], effort: Effort, planners: Sequence[str] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of the figures, one after the other; a workload of several is measured once.

    Rows that no goal is about have a tenth of the events."""
    chosen = compared(planners)
    known: dict[Shape, dict[str, Any]] = {}
    for figure in figures:
        for full in FIGURES[figure]:
            shape = full.scaled(effort.scale)
            if shape not in known:
                effort.progress(f"{TITLES[figure]}: {shape}")
                part = 1.0 if has_goal(full) or figure == "guarded" else _REST
                known[shape] = measure(shape, chosen, effort.share(part))
            row = known[shape]
            if shape.guarded:
                _beside_boolean(row, known.get(shape.unguarded()))
            yield {"figure": figure, **row, "goals": list(judged(row, JUDGED))}


def _beside_boolean(row: dict[str, Any], boolean: dict[str, Any] | None) -> None:
    """Calls over those of the same events without variables: the truths are drawn alike."""
    if boolean is not None:
        for planner, each in row["planners"].items():
            each["over_boolean"] = each["calls"] / boolean["planners"][planner]["calls"]
