"""How soon a matcher that begins without statistics calls as if it had been given the true ones.

It learns from the events that it matches. A clock that the operators advance by their costs stands
for time, so that what is learned of costs is exact and the figures follow from the seed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from tamis.matcher import Matcher
from tamis.operators import FunctionOperator, operator
from tamis.statistics import Statistics
from tamis_bench.effort import Effort
from tamis_bench.planner_goals import JUDGED, Ratio
from tamis_bench.workloads import Shape, Workload

SHAPES = (Shape(5_000, 20_000), Shape(5_000, 20_000, spread=1.0))
AFTER = (0, 10, 30, 100, 300)
_STREAMS = 0.5
"""Streams for each workload of the other sections, rounded."""


class _Clock:
    """Time as the operators let it pass."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _timed(workload: Workload, clock: _Clock) -> FunctionOperator:
    costs = workload.costs.tolist()

    @operator(name="p")
    def holds(event: object, number: int) -> bool:
        clock.now += costs[number]
        return workload.truth[number]

    return holds


def run(effort: Effort) -> Iterator[dict[str, Any]]:
    """A row a workload: costs of stretches of the stream, learned over given."""
    streams = effort.share(_STREAMS).workloads
    ends = [*AFTER[1:], AFTER[-1] + max(1, effort.events)]
    for full in SHAPES:
        shape = full.scaled(effort.scale)
        learned, given = [], []
        for number in range(streams):
            effort.progress(f"learning: {shape}")
            workload = Workload(shape, effort.seed * 1_000 + number)
            learned.append(_costs(workload, ends[-1], None))
            given.append(_costs(workload, ends[-1], workload.statistics()))
        yield _row(shape, ends, np.array(learned), np.array(given))


def _costs(workload: Workload, events: int, known: Statistics | None) -> list[float]:
    """The cost of each event of a stream; without statistics, what is learned is used."""
    clock = _Clock()
    matcher = Matcher(
        [_timed(workload, clock)],
        planner=JUDGED,
        statistics=known,
        learning=known is None,
        timer=clock,
    )
    matcher.subscribe_many(workload.subscriptions())
    chance = np.random.default_rng(workload.seed + 1)
    costs = []
    for at in range(events):
        workload.draw_event(chance)
        before = clock.now
        matcher.match({"id": str(at)})
        costs.append(clock.now - before)
    return costs


def _row(shape: Shape, ends: list[int], learned: Any, given: Any) -> dict[str, Any]:
    table = []
    for start, end in itertools.pairwise([0, *ends]):
        mine, theirs = learned[:, start:end].ravel(), given[:, start:end].ravel()
        over = Ratio.of(mine, theirs)
        table.append(
            {
                "after": start,
                "events": len(mine),
                "learned": float(mine.mean()),
                "given": float(theirs.mean()),
                "over_given": over and over.value,
                "error": over and over.error,
            }
        )
    return {
        "figure": "learning",
        "workload": str(shape),
        "events": learned.size,
        "planner": JUDGED,
        "table": table,
        "goals": [],
    }
