"""Measures what it is worth to know that events come in sorts, each with its own selectivities.

The same events are matched four times: with overall selectivities (`independent`); with the mixture
that is fitted to a sample of fully observed events (`fitted`); with the mixture that the events are
drawn from, whose scene the planner must still find out (`mixture`); and with the scene told
beforehand (`told`). The gap is what being told spares, `recovered` the share of it that is spared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tamis import Statistics
from tamis.operators.asking import Test
from tamis.planning import Scenes
from tamis_bench.report import Row, progress
from tamis_bench.workloads import Answers, Effort, Ratio, Shape, Workload

SHAPES = tuple(
    Shape(5_000, 20_000, scenes=scenes, contrast=contrast)
    for scenes, contrast in ((4, 1.0), (8, 1.0), (4, 2.0), (8, 2.0), (8, 3.0))
)
OBSERVED = 300
_PART = 0.5
"""Of the events of other sections: each is matched four times."""
INDEPENDENT, FITTED, MIXTURE, TOLD = "independent", "fitted", "mixture", "told"


class _True(Statistics):
    """Overall selectivities, and the very mixture that events are drawn from."""

    def __init__(self, workload: Workload) -> None:
        super().__init__()
        self.predicates = workload.statistics().predicates
        self._workload = workload

    def scenes(self, tests: Sequence[Test]) -> Scenes:
        """Returns the true ones."""
        numbers = [int(test.text[2:-1]) for test in tests]
        count = self._workload.shape.scenes
        return Scenes(
            weight=np.full(count, 1 / count),
            selectivity=self._workload.scene_passes[:, numbers],
        )


def _fitted(workload: Workload) -> Statistics:
    """Returns overall selectivities, and events that were observed whole."""
    known = workload.statistics()
    chance = np.random.default_rng((workload.seed, 2))
    observed = []
    for _ in range(OBSERVED):
        workload.draw_event(chance)
        truths = enumerate(workload.truth)
        observed.append({f"p({number})": truth for number, truth in truths})
    known.add_observed(observed)
    return known


def measured(effort: Effort) -> Iterator[Row]:
    """Yields the cost of an event with each knowledge, a workload at a time."""
    for full in SHAPES:
        shape = full.scaled(effort.scale)
        cost: dict[str, list[int]] = {}
        for seed, events in effort.share(_PART).parts():
            progress(f"scenes: {shape}")
            for known, calls in _costs(Workload(shape, seed), events).items():
                cost.setdefault(known, []).extend(calls)
        mean = {known: float(np.mean(each)) for known, each in cost.items()}
        gap = mean[INDEPENDENT] - mean[TOLD]
        for known, calls in cost.items():
            over = Ratio.of(calls, cost[TOLD])
            yield {
                "workload": str(shape),
                "known": known,
                "cost": mean[known],
                "over_told": over.value,
                "error": over.error,
                "recovered": (mean[INDEPENDENT] - mean[known]) / gap if gap > 0 else None,
                "gap": gap / mean[INDEPENDENT],
                "events": len(calls),
            }


def _costs(workload: Workload, events: int) -> dict[str, list[int]]:
    """Returns the calls for each event with each knowledge; the answers must be the same."""
    matcher = workload.matcher()
    drawn = [(event, workload.scene, workload.truth) for event in workload.events(events)]
    answers = Answers(f"scenes of {workload.shape}")

    def calls(known: Statistics, places: Sequence[int]) -> dict[int, int]:
        matcher.statistics = known
        made = {}
        for at in places:
            event, workload.scene, workload.truth = drawn[at]
            result = matcher.match(event)
            answers.compare(event, result)
            made[at] = len(result.calls)
        return made

    everywhere = range(events)
    told: dict[int, int] = {}
    for scene in range(workload.shape.scenes):
        here = [at for at in everywhere if drawn[at][1] == scene]
        told |= calls(workload.statistics(scene), here)
    knowledge = {
        INDEPENDENT: workload.statistics(),
        FITTED: _fitted(workload),
        MIXTURE: _True(workload),
    }
    made = {name: list(calls(known, everywhere).values()) for name, known in knowledge.items()}
    return {**made, TOLD: [told[at] for at in everywhere]}
