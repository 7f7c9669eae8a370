"""Measures what is decided of an event when less may be spent than deciding all of it costs.

The exact cost of an event is that of the judged planner without a budget; each planner then has
parts of it. Beside the planners stands a random order. Verdicts that are given are compared with
the exact ones. Figures follow from the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tamis import Budget, Planner, Problem
from tamis.plugins.loader import installed
from tamis_bench.goals import JUDGED
from tamis_bench.report import Row, progress
from tamis_bench.workloads import Effort, OrderedRun, Shape, Workload

SHAPES = (Shape(5_000, 20_000), Shape(5_000, 20_000, spread=1.0))
PARTS = (0.1, 0.25, 0.5)
_PLANNERS = (JUDGED, "greedy", "suborder", "sequential", "naive")
RANDOM = "random order"
_NO_ROUNDING = 1e-9


class _RandomOrder:
    """A planner that asks for calls in an order that it draws for each event."""

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)

    def begin(self, problem: Problem) -> OrderedRun:
        """Starts on the problem of one event."""
        return OrderedRun(self._chance.permutation(problem.calls).tolist())


def measured(effort: Effort) -> Iterator[Row]:
    """Yields the share of subscriptions that is decided, by planner and part of the exact cost."""
    for full in SHAPES:
        shape = full.scaled(effort.scale)
        decided: dict[str, dict[float, list[float]]] = {}
        for seed, events in effort.parts():
            workload = Workload(shape, seed)
            exact = _exact(workload, events)
            planners: dict[str, str | Planner] = {RANDOM: _RandomOrder(seed)}
            planners |= {name: installed().planner(name).factory() for name in _PLANNERS}
            for name, planner in planners.items():
                progress(f"budgets: {shape}, {name}")
                of_part = decided.setdefault(name, {part: [] for part in PARTS})
                for part in PARTS:
                    of_part[part] += _shares(workload, planner, part, exact)
        random = {part: float(np.mean(each)) for part, each in decided[RANDOM].items()}
        for name, of_part in decided.items():
            share = {part: float(np.mean(each)) for part, each in of_part.items()}
            yield {
                "workload": str(shape),
                "planner": name,
                **{f"decided_at_{part:.0%}": share[part] for part in PARTS},
                "left_over_random": (1 - share[0.25]) / (1 - random[0.25]),
                "events": len(of_part[PARTS[0]]),
            }


def _exact(workload: Workload, events: int) -> list[tuple[float, set[str]]]:
    """Returns what deciding all of each event costs, and what matches."""
    matcher, found = workload.matcher(), []
    for event in workload.events(events):
        result = matcher.match(event)
        made = [int(call.predicate[2:-1]) for call in result.calls]
        cost = float(workload.costs[made].sum())
        found.append((cost, {match.subscription for match in result.matches}))
    return found


def _shares(
    workload: Workload,
    planner: str | Planner,
    part: float,
    exact: Sequence[tuple[float, set[str]]],
) -> list[float]:
    """Returns the share of subscriptions decided with a part of the cost, of each event."""
    matcher, shares = workload.matcher(planner=planner), []
    for event, (cost, matching) in zip(workload.events(len(exact)), exact, strict=True):
        result = matcher.match(event, budget=Budget(seconds=part * cost + _NO_ROUNDING))
        left = {each.subscription for each in result.undetermined}
        if {match.subscription for match in result.matches} != matching - left:
            raise AssertionError(f"{workload.shape}: a certain verdict is not the exact one")
        shares.append(1 - len(left) / workload.shape.subscriptions)
    return shares
