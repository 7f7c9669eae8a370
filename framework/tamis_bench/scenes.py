"""What it is worth to know that events come in hidden sorts, each with its own selectivities.

The same events are matched four times: with overall selectivities (`independent`); with the mixture
that is fitted to a sample of fully observed events (`fitted`); with the mixture that the events are
drawn from, whose scene the planner must still find out (`mixture`); and with the scene told
beforehand (`told`). The gap is what being told spares; `recovered` is the share of it that the
fitted mixture spares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tamis.matcher import Matcher
from tamis.operators.asking import Test
from tamis.planning import Scenes
from tamis.statistics import Statistics
from tamis_bench.effort import Effort
from tamis_bench.planner_goals import JUDGED, RECOVERED, SCENES_MATTER, Ratio, goal
from tamis_bench.workloads import Shape, Workload

SHAPES = tuple(
    Shape(5_000, 20_000, scenes=scenes, contrast=contrast)
    for scenes, contrast in ((4, 1.0), (8, 1.0), (4, 2.0), (8, 2.0), (8, 3.0))
)
OBSERVED = 300
_PART = 0.5
"""Of the events of other sections: each is matched four times."""
INDEPENDENT, FITTED, MIXTURE, TOLD = "independent", "fitted", "mixture", "told"
ARMS = (INDEPENDENT, FITTED, MIXTURE, TOLD)


class _True(Statistics):
    """Overall selectivities, and the very mixture that events are drawn from."""

    def __init__(self, workload: Workload) -> None:
        super().__init__()
        self.predicates = workload.statistics().predicates
        self._workload = workload

    def scenes(self, tests: Sequence[Test]) -> Scenes:
        """The true ones."""
        numbers = [int(test.text[2:-1]) for test in tests]
        count = self._workload.shape.scenes
        return Scenes(
            weight=np.full(count, 1 / count),
            selectivity=self._workload.scene_passes[:, numbers],
        )


def _fitted(workload: Workload) -> Statistics:
    """Overall selectivities, and events that were observed whole."""
    known = workload.statistics()
    chance = np.random.default_rng((workload.seed, 2))
    observed = []
    for _ in range(OBSERVED):
        workload.draw_event(chance)
        truths = enumerate(workload.truth)
        observed.append({f"p({number})": truth for number, truth in truths})
    known.add_observed(observed)
    return known


def run(effort: Effort) -> Iterator[dict[str, Any]]:
    """A row a workload: the cost an event with each knowledge."""
    for full in SHAPES:
        shape = full.scaled(effort.scale)
        cost: dict[str, list[int]] = {arm: [] for arm in ARMS}
        for seed, events in effort.share(_PART).parts():
            effort.progress(f"scenes: {shape}")
            for arm, mine in _costs(Workload(shape, seed), events).items():
                cost[arm] += mine
        yield _row(shape, cost)


def _costs(workload: Workload, events: int) -> dict[str, list[int]]:
    """The calls for each event with each knowledge; the answers must be the same."""
    matcher = Matcher(
        workload.operators(),
        planner=JUDGED,
        statistics=workload.statistics(),
        learning=False,
    )
    matcher.subscribe_many(workload.subscriptions())
    drawn = []
    chance = np.random.default_rng(workload.seed + 1)
    for _ in range(events):
        workload.draw_event(chance)
        drawn.append((workload.scene, workload.truth))
    answers: dict[int, list[str]] = {}

    def count(known: Statistics, places: Sequence[int]) -> dict[int, int]:
        matcher.statistics = known
        made = {}
        for at in places:
            workload.scene, workload.truth = drawn[at]
            result = matcher.match({"id": str(at)})
            made[at] = len(result.calls)
            matched = [match.subscription for match in result.matches]
            if answers.setdefault(at, matched) != matched:
                raise AssertionError(f"scenes change the matches of event {at}")
        return made

    everywhere = range(events)
    told: dict[int, int] = {}
    for scene in range(workload.shape.scenes):
        here = [at for at in everywhere if drawn[at][0] == scene]
        told |= count(workload.statistics(scene), here)
    return {
        INDEPENDENT: list(count(workload.statistics(), everywhere).values()),
        FITTED: list(count(_fitted(workload), everywhere).values()),
        MIXTURE: list(count(_True(workload), everywhere).values()),
        TOLD: [told[at] for at in everywhere],
    }


def _row(shape: Shape, cost: dict[str, list[int]]) -> dict[str, Any]:
    mean = {arm: float(np.mean(each)) for arm, each in cost.items()}
    gap = mean[INDEPENDENT] - mean[TOLD]
    table, goals = [], []
    for arm in ARMS:
        over = Ratio.of(cost[arm], cost[TOLD])
        table.append(
            {
                "known": arm,
                "cost": mean[arm],
                "over_told": over and over.value,
                "error": over and over.error,
                "recovered": (mean[INDEPENDENT] - mean[arm]) / gap if gap > 0 else None,
            }
        )
    recovered = table[ARMS.index(FITTED)]["recovered"]
    full_size = shape.predicates == SHAPES[0].predicates
    if full_size and isinstance(recovered, float) and gap >= SCENES_MATTER * mean[INDEPENDENT]:
        what = f"share of the gap recovered ({gap / mean[INDEPENDENT]:.1%})"
        goals.append(goal(str(shape), JUDGED, what, recovered, RECOVERED, more=True))
    return {
        "figure": "scenes",
        "workload": str(shape),
        "events": len(cost[TOLD]),
        "observed": OBSERVED,
        "planner": JUDGED,
        "table": table,
        "goals": goals,
    }
