"""Measures planners on the workloads of the paper: exact counts of calls, on the same events.

Every planner answers every event through a whole matcher, and the answers are compared. The cost of
an event is the sum of the costs of the calls made for it. Two baselines are printed with them
(every distinct predicate, and `naive`), and the bounds of `tamis.advising.bounds`, which are
computed on the first events only where there are very many subscriptions.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import typer

from tamis.advising.bounds import Requirements
from tamis.plugins.loader import installed
from tamis_bench import budgets, groups, learning, rounds, scenes
from tamis_bench.goals import UNIFORM as UNIFORM_GOALS
from tamis_bench.goals import ZIPF
from tamis_bench.kernels import Floats
from tamis_bench.options import Quick, Scale, Seed, count, names
from tamis_bench.report import Row, progress
from tamis_bench.workloads import UNIFORM, Answers, Effort, Ratio, Shape, Workload

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
SECTIONS: dict[str, Callable[[Effort], Iterator[Row]]] = {
    "groups": groups.measured,
    "rounds": rounds.measured,
    "scenes": scenes.measured,
    "learning": learning.measured,
    "budgets": budgets.measured,
}
TITLES = {
    "4": "Figure 4, number of subscriptions, uniform popularity",
    "5": "Figure 5, number of subscriptions, Zipf popularity",
    "6": "Figure 6, number of predicates",
    "7": "Figure 7, longest subscription",
    "8": "Figure 8, popularity of predicates",
    "costs": "Section 4.3, heterogeneous costs",
    "guarded": "Variables that a constraint restricts, beside the same workload without",
    "groups": "One invocation answers many predicates",
    "rounds": "Calls made at once",
    "scenes": "Hidden scenes, after 300 observed events",
    "learning": "What is learned while events are matched",
    "budgets": "Decided with a part of the exact cost",
}
_ON_FIGURE_4 = (
    "The paper prints 7,761 (Sequential) and 7,037 (Sub-Order) at 40K/80K in Figure 4. On the "
    "workload as it prints it no method whatever can come so low, not even one that knows all "
    "answers beforehand: it makes all calls of the matched subscriptions, and one for each of the "
    "unmatched ones whose false predicates are pairwise disjoint ('packing', or 'clairvoyant' "
    "with a linear program)."
)
_ON_THE_BOUNDS = (
    "'over bound' is the cost over the non-anticipative bound on the same events: no method that "
    "does not know outcomes beforehand costs less on average. The cost is counted there as the "
    "bound counts it, so that it is at least 1 on every event. A clairvoyant's cost lies between "
    "'clairvoyant' and 'reached'."
)
BOUNDS = ("non-anticipative", "reached", "clairvoyant", "packing")

_LARGE = 20_000
"""From how many subscriptions events, workloads and bounds are fewer."""
_BOUNDED_WHERE_LARGE = 12
_REST = 0.1


@dataclass
class _Planner:
    """A planner on the events of a workload."""

    name: str
    cost: list[float] = field(default_factory=list)
    charged: list[float] = field(default_factory=list)
    """The bound's charges of its calls, of the events that have one."""
    calls: list[int] = field(default_factory=list)
    planner_seconds: float = 0.0
    seconds: float = 0.0
    subscribe_seconds: float = 0.0

    def row(self, bound: Sequence[float]) -> Row:
        """Returns the figures."""
        over, cost = Ratio.of(self.charged, bound), self.cost
        error = statistics.stdev(cost) / math.sqrt(len(cost)) if len(cost) > 1 else None
        return {
            "planner": self.name,
            "cost": statistics.fmean(cost),
            "cost_error": error,
            "over_bound": over.value,
            "over_bound_error": over.error,
            "calls": statistics.fmean(self.calls),
            "us_a_call": 1e6 * self.planner_seconds / max(1, sum(self.calls)),
            "ms_an_event": 1e3 * self.seconds / len(self.calls),
            "subscribe_seconds": self.subscribe_seconds,
        }


@dataclass
class _SharedFigures:
    """The figures that do not depend on the planner."""

    matches: list[int] = field(default_factory=list)
    bounds: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in BOUNDS})
    charges: list[Floats] = field(default_factory=list)
    """The bound's charges of calls, of the events of a workload that have one."""
    marked: list[int] = field(default_factory=list)
    distinct: list[float] = field(default_factory=list)

    def bound(self, required: Requirements) -> None:
        """Adds the bounds of an event."""
        figures = (
            required.non_anticipative(),
            required.clairvoyant_reached(),
            required.clairvoyant(),
            required.packing(),
        )
        for name, figure in zip(BOUNDS, figures, strict=True):
            self.bounds[name].append(figure)
        self.charges.append(required.charges)


def measured(
    *,
    figures: Annotated[
        list[str] | None, names("Figures and sections, all by default", TITLES)
    ] = None,
    planner: Annotated[list[str] | None, names("Planners of the figures, all by default")] = None,
    events: Annotated[int, count("Events a row that has a goal; others have fewer.")] = 100,
    workloads: Annotated[int, count("Workloads that share the events of a row.")] = 2,
    bounded: Annotated[int, count("Events of a row that get bounds.")] = 100,
    seed: Seed = 1,
    scale: Scale = 1.0,
    quick: Quick = False,
    plots: Annotated[
        str | None, typer.Option(metavar="DIR", help="Draw every figure into this folder (SVG).")
    ] = None,
) -> Iterator[Row]:
    """Yields the rows of what is chosen, figures first, and draws them where that is wanted."""
    effort = (
        Effort(seed, 0.05, 8, workloads)
        if quick
        else Effort(seed, scale, events, workloads, bounded)
    )
    chosen, compared = figures or list(TITLES), _compared(planner)
    rows = _rows(chosen, compared, effort)
    if plots is None:
        yield from rows
        return
    from tamis_bench.plots import draw, drawable

    drawable()
    drawn = []
    for row in rows:
        drawn.append(row)
        yield row
    for path in draw(drawn, TITLES, plots):
        progress(f"drew {path}")


def _rows(chosen: Sequence[str], planners: Sequence[str], effort: Effort) -> Iterator[Row]:
    """Yields the rows of figures, a workload of several being measured once, then of sections."""
    known: dict[Shape, list[Row]] = {}
    for name in chosen:
        if name in FIGURES:
            yield from _figure(name, planners, effort, known)
    if known:
        yield {"part": "On the bounds", "note": _ON_THE_BOUNDS}
    if "4" in chosen:
        yield {"part": "On Figure 4", "note": _ON_FIGURE_4}
    for name in chosen:
        if name in SECTIONS:
            for row in SECTIONS[name](effort):
                yield {"part": f"{TITLES[name]}: {row['workload']}", "figure": name, **row}


def _figure(
    name: str, planners: Sequence[str], effort: Effort, known: dict[Shape, list[Row]]
) -> Iterator[Row]:
    """Yields the rows of a figure; those that no goal is about have a tenth of the events."""
    for full in FIGURES[name]:
        shape = full.scaled(effort.scale)
        if shape not in known:
            progress(f"{TITLES[name]}: {shape}")
            part = 1.0 if str(full) in (*ZIPF, *UNIFORM_GOALS) or name == "guarded" else _REST
            known[shape] = measure(shape, planners, effort.share(part))
        if shape.guarded:
            _beside_boolean(known[shape], known[shape.unguarded()])
        for row in known[shape]:
            title = f"{TITLES[name]}: {shape}, {row['about']['events']} events"
            yield {"part": title, "figure": name, **row}


def _beside_boolean(rows: list[Row], boolean: list[Row]) -> None:
    """Adds calls over those of the same events without variables: the truths are drawn alike."""
    for row, other in zip(rows, boolean, strict=True):
        if "calls" in row:
            row["over_boolean"] = row["calls"] / other["calls"]


def measure(shape: Shape, planners: Sequence[str], effort: Effort) -> list[Row]:
    """Returns the rows of a workload: all planners on the same events, then the bounds; where there
    are very many subscriptions, on fewer events."""
    measured = [_Planner(planner) for planner in planners]
    seen = _SharedFigures()
    fewer = max(1.0, shape.subscriptions / _LARGE)
    parts = effort.share(1 / fewer).parts()
    for seed, events in parts:
        most = effort.bounded if fewer == 1 else _BOUNDED_WHERE_LARGE
        bounded = min(events, math.ceil(most / len(parts)))
        _measure_one(Workload(shape, seed), measured, events, bounded, seen)
    rows: list[Row] = [{"planner": "(distinct)", "cost": statistics.fmean(seen.distinct)}]
    rows += [each.row(seen.bounds[BOUNDS[0]]) for each in measured]
    rows += [
        {"planner": f"({name})", "cost": statistics.fmean(each)}
        for name, each in seen.bounds.items()
    ]
    if seen.marked:
        rows.append({"planner": "(marked)", "cost": statistics.fmean(seen.marked)})
    about = {
        **vars(shape),
        "events": sum(events for _, events in parts),
        "bounded_events": len(seen.bounds[BOUNDS[0]]),
        "workloads": len(parts),
        "match_ratio": statistics.fmean(seen.matches) / shape.subscriptions,
    }
    return [{"workload": str(shape), **row, "about": about} for row in rows]


def _measure_one(
    workload: Workload, planners: list[_Planner], events: int, bounded: int, seen: _SharedFigures
) -> None:
    """Measures one workload with each planner in turn; the answers must be the same."""
    seen.distinct.append(float(workload.costs[workload.distinct()].sum()))
    problem, answers = workload.problem(), Answers(f"{workload.shape}, seed {workload.seed}")
    seen.charges.clear()
    for planner in planners:
        begun = time.perf_counter()
        matcher = workload.matcher(planner=planner.name)
        planner.subscribe_seconds += time.perf_counter() - begun
        gc.collect()
        for at, event in enumerate(workload.events(events)):
            if at == 0:
                matcher.match({"id": "warm"})
            begun = time.perf_counter()
            result = matcher.match(event)
            matches = answers.compare(event, result)
            planner.seconds += time.perf_counter() - begun
            planner.planner_seconds += result.account.seconds["planner"]
            made = [_number(call.predicate) for call in result.calls]
            planner.calls.append(len(made))
            planner.cost.append(float(workload.costs[made].sum()))
            if planner.name == "sequential":
                seen.marked.append(result.account.needed_at_least)
            if planner is planners[0]:
                seen.matches.append(matches)
                if at < bounded:
                    seen.bound(Requirements(problem, np.array(workload.truth, np.int64)))
            if at < bounded:
                planner.charged.append(float(seen.charges[at][made].sum()))


def _number(predicate: str) -> int:
    """Returns the number of the predicate of a call: `p(17)`, `q(17, ?1)`."""
    return int(predicate[2:-1].partition(",")[0])


def _compared(planners: Sequence[str] | None) -> list[str]:
    """Returns the planners to compare, `naive` first; all that take many predicates by default."""
    every = installed().planners
    if planners is None:
        planners = sorted(name for name, record in every.items() if not record.is_small)
    return sorted(
        (installed().planner(name).name for name in planners), key=lambda name: name != "naive"
    )
