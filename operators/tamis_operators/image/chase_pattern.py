"""Finds chases on one frame: one vehicle close behind another, in line and headed alike.

The chaser is behind the chased on one line (three meters aside, more when far), at most 45 m
apart, and their directions differ by 20 degrees at most. Where the detector sees light bars, a
police car chases with its lights on: without, it drives in traffic. Directions need a detector that
tells them; where it tells the axis and not the front, either end may be ahead. Without a scale, a
car's length stands for 4.6 m. Cost: O(chasers × chased), microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from tamis import Implication, Parameter
from tamis.kit import STRING
from tamis_operators.image.asking import DetectionOperator, check_told
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Detection, DetectionError, Detections
from tamis_operators.image.labels import FAMILIES, LIGHT_BAR, POLICE_CAR, labels_of

FARTHEST_M = 45.0
ASIDE_M, ASIDE_PER_METER = 3.0, 0.08
LARGEST_TURN = 20.0
CAR_M = 4.6


def chases(chaser: Detection, chased: Detection, meters_per_pixel: float) -> bool:
    """Returns whether the first is behind the second as in a chase."""
    if chaser.angle is None or chased.angle is None:
        raise DetectionError("a chase needs a detector that tells which way vehicles are headed")
    if _turn(chaser.angle, chased.angle, 180) > LARGEST_TURN:
        return False
    headings = [chaser.angle, chaser.angle + 180] if chaser.heading is None else [chaser.heading]
    if chased.heading is not None:
        headings = [each for each in headings if _turn(each, chased.heading, 360) <= LARGEST_TURN]
    dx = (chased.center[0] - chaser.center[0]) * meters_per_pixel
    dy = (chased.center[1] - chaser.center[1]) * meters_per_pixel
    for heading in headings:
        cos, sin = math.cos(math.radians(heading)), math.sin(math.radians(heading))
        ahead, aside = dx * cos + dy * sin, abs(dy * cos - dx * sin)
        if 0 < ahead <= FARTHEST_M and aside <= ASIDE_M + ASIDE_PER_METER * ahead:
            return True
    return False


def _turn(one: float, other: float, circle: float) -> float:
    """Returns the angle between two directions."""
    apart = abs(one - other) % circle
    return min(apart, circle - apart)


class ChasePattern(DetectionOperator):
    """`chasePattern(policeCar, anyCar)`: whether one of these chases one of those."""

    def __init__(self, configuration: DetectorConfiguration) -> None:
        text = frozenset({STRING})
        super().__init__(
            configuration,
            "chasePattern",
            "Whether a thing of one label chases one of another: close behind it, and headed "
            "alike.",
            FAMILIES["vehicle"],
            directions=True,
            parameters=(Parameter("chaser", text), Parameter("chased", text)),
        )

    def check(self, *arguments: Any) -> Sequence[object] | None:
        """Returns the labels that each name stands for; refuses what the detector cannot tell."""
        told = self.configuration.told
        meant = [labels_of(name, told, at) for at, name in enumerate(arguments)]
        for labels in meant:
            check_told(self.configuration, sorted(labels), directions=True)
        return [labels & told for labels in meant]

    def solve(self, event: Any, *arguments: Any) -> bool:
        """Returns whether there is such a pair."""
        chasers, chased = arguments
        found: Detections = event.prepared
        return any(
            one is not other and chases(one, other, _scale(found, one))
            for one in found.of(chasers)
            if LIGHT_BAR not in found.marks or one.label != POLICE_CAR or LIGHT_BAR in one.marks
            for other in found.of(chased)
        )

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[Implication]:
        """Implies for a chase of a car a chase of any car."""
        for place, other in enumerate(others):
            if all(mine <= its for mine, its in zip(arguments, other, strict=True)):
                yield Implication(True, place, True)


def _scale(found: Detections, thing: Detection) -> float:
    """Meters a pixel: the frame's, or that at which this is as long as a car."""
    if found.meters_per_pixel is not None:
        return found.meters_per_pixel
    return CAR_M / (thing.length or max(thing.box.width, thing.box.height))
