"""Finds where people stand close together: each dense cluster, by the number of its people.

Two people are neighbors within 1.6 m of ground; where the scale is not known, within nine tenths of
their height on the frame, of which depth takes half. Who has three neighbors or more belongs to a
mob, with all neighbors (the clusters of DBSCAN); five people make one. Every mob is a solution:
`mobPattern(?people), ?people > 50` holds when any of them is that large, however many people stroll
around. Cost: O(people²), microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tamis import Parameter
from tamis_operators.image.asking import DetectionOperator
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Detection, Detections
from tamis_operators.image.labels import PERSON

NEAR_M = 1.6
NEAR_HEIGHTS = 0.9
NEIGHBORS = 3
LEAST = 5
_MOST_UNLIKE = 1.6


def mobs(people: Sequence[Detection], meters_per_pixel: float | None) -> list[list[int]]:
    """Returns the dense clusters, largest first, as places in the list."""
    near = _near(people, meters_per_pixel)
    core = [len(each) >= NEIGHBORS for each in near]
    cluster: dict[int, int] = {}
    found: list[list[int]] = []
    for start in range(len(people)):
        if not core[start] or start in cluster:
            continue
        members = [start]
        cluster[start] = len(found)
        for member in members:  # grows while it is walked
            if core[member]:
                for other in near[member]:
                    if other not in cluster:
                        cluster[other] = len(found)
                        members.append(other)
        found.append(members)
    return sorted((each for each in found if len(each) >= LEAST), key=lambda each: -len(each))


def _near(people: Sequence[Detection], meters_per_pixel: float | None) -> list[list[int]]:
    """Returns the neighbors of each."""
    import numpy as np

    x, y = np.array([each.center for each in people]).reshape(-1, 2).T
    dx, dy = x - x[:, None], y - y[:, None]
    if meters_per_pixel is not None:
        near = np.hypot(dx, dy) * meters_per_pixel <= NEAR_M
    else:
        heights = np.array([each.box.height for each in people])
        feet = y + heights / 2
        near = np.hypot(dx, 2 * (feet - feet[:, None])) <= NEAR_HEIGHTS * (
            (heights + heights[:, None]) / 2
        )
        near &= heights <= _MOST_UNLIKE * heights[:, None]
        near &= near.T
    np.fill_diagonal(near, False)
    return [np.flatnonzero(row).tolist() for row in near]


class MobPattern(DetectionOperator):
    """`mobPattern(?people)`: a solution for every mob."""

    def __init__(self, configuration: DetectorConfiguration) -> None:
        super().__init__(
            configuration,
            "mobPattern",
            "How many people stand in a dense cluster: a solution for every cluster of five or "
            "more.",
            (PERSON,),
            parameters=(Parameter("people"),),
            outputs=("people",),
            empty=("mobPattern(?people)", []),
        )

    def solve(self, event: Any, *arguments: Any) -> list[int]:
        """Counts the people of each mob."""
        found: Detections = event.prepared
        people = found.of((PERSON,))
        sizes = {len(each) for each in mobs(people, found.meters_per_pixel)}
        return sorted(sizes, reverse=True)
