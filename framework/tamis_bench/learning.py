"""Measures how soon a matcher without statistics calls as if it had been given the true ones.

It learns from the events that it matches. A clock that the operators advance by their costs stands
for time, so that what is learned of costs is exact and the figures follow from the seed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from tamis import Operator, Statistics, operator
from tamis.testing import FakeClock
from tamis_bench.report import Row, progress
from tamis_bench.workloads import Effort, Ratio, Shape, Workload

SHAPES = (Shape(5_000, 20_000), Shape(5_000, 20_000, spread=1.0))
AFTER = (0, 10, 30, 100, 300)
_STREAMS = 0.5
"""Streams for each workload of the other sections, rounded."""


def _timed(workload: Workload, clock: FakeClock) -> Operator:
    costs = workload.costs.tolist()

    @operator(name="p")
    def holds(event: object, number: int) -> bool:
        clock.advance(costs[number])
        return workload.truth[number]

    return holds


def measured(effort: Effort) -> Iterator[Row]:
    """Yields the costs of stretches of the stream, learned over given, a workload at a time."""
    streams = effort.share(_STREAMS).workloads
    ends = [*AFTER, AFTER[-1] + max(1, effort.events)]
    for full in SHAPES:
        shape = full.scaled(effort.scale)
        learned, given = [], []
        for number in range(streams):
            progress(f"learning: {shape}")
            workload = Workload(shape, effort.seed * 1_000 + number)
            learned.append(_costs(workload, ends[-1], None))
            given.append(_costs(workload, ends[-1], workload.statistics()))
        for start, end in itertools.pairwise(ends):
            mine, theirs = (np.array(each)[:, start:end].ravel() for each in (learned, given))
            over = Ratio.of(mine, theirs)
            yield {
                "workload": str(shape),
                "after": start,
                "events": len(mine),
                "learned": float(mine.mean()),
                "given": float(theirs.mean()),
                "over_given": over.value,
                "error": over.error,
            }


def _costs(workload: Workload, events: int, known: Statistics | None) -> list[float]:
    """Returns the cost of each event of a stream; without statistics, what is learned is used."""
    clock = FakeClock()
    matcher = workload.matcher(
        [_timed(workload, clock)], statistics=known, learning=known is None, timer=clock
    )
    costs = []
    for event in workload.events(events):
        before = clock.now
        matcher.match(event)
        costs.append(clock.now - before)
    return costs
