"""Tells what the vehicles on a frame are up to: standing in congestion, or in an accident.

*Congestion*: eight vehicles or more along one direction (15 degrees), each within 6 m of the next
in its lane or beside one in the lane next to it, and most of them with another one close before or
behind them; a queue that keeps a crossing free goes on behind it, 24 m farther at most. *Accident*:
two vehicles that touch (half a meter) at an angle between 25 and 155 degrees, both whole on the
frame. A parking lot looks like a congestion, and nobody can tell from pixels alone. Without a
scale, a car's length stands for 4.6 m; an accident needs a detector that tells directions. Cost:
O(vehicles²), microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

from tamis import ArgumentError, Parameter
from tamis.kit import STRING
from tamis_operators.image.asking import DetectionOperator, check_told
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Detection, DetectionError, Detections
from tamis_operators.image.labels import FAMILIES

VEHICLES = FAMILIES["vehicle"]
PATTERNS = ("accident", "congestion")
CAR_M = 4.6
LEAST, ALIKE = 8, 15.0
GAP_M, LANE_M, NEXT_LANE_M = 6.0, 1.8, 4.8
CROSSING_M = 24.0
QUEUED = 0.6
TOUCHING_M, LEAST_TURN = 0.5, 25.0
SUREST = 0.6


def is_congestion(vehicles: Sequence[Detection], meters_per_pixel: float) -> bool:
    """Returns whether enough vehicles are packed along one direction."""
    near: list[list[int]] = [[] for _ in vehicles]
    queued = [False] * len(vehicles)
    for (at, one), (to, other) in combinations(enumerate(vehicles), 2):
        linked, in_lane = _linked(one, other, meters_per_pixel)
        if linked:
            near[at].append(to)
            near[to].append(at)
        if in_lane:
            queued[at] = queued[to] = True
    for at, to in combinations([at for at, each in enumerate(queued) if each], 2):
        behind = _linked(vehicles[at], vehicles[to], meters_per_pixel, CROSSING_M)[1]
        if behind and to not in near[at]:
            near[at].append(to)
            near[to].append(at)
    seen: set[int] = set()
    for start in range(len(vehicles)):
        if start in seen:
            continue
        group = [start]
        seen.add(start)
        for one_at in group:  # grows while it is walked
            fresh = [each for each in near[one_at] if each not in seen]
            seen.update(fresh)
            group += fresh
        if len(group) >= LEAST and sum(queued[each] for each in group) >= QUEUED * len(group):
            return True
    return False


def _linked(
    one: Detection, other: Detection, meters_per_pixel: float, gap_m: float = GAP_M
) -> tuple[bool, bool]:
    """Returns whether two vehicles are next to one another, and whether one is behind the other."""
    dx = (other.center[0] - one.center[0]) * meters_per_pixel
    dy = (other.center[1] - one.center[1]) * meters_per_pixel
    if one.angle is None or other.angle is None:
        sizes = max(one.box.width, one.box.height), max(other.box.width, other.box.height)
        near = math.hypot(dx, dy) <= 0.75 * sum(sizes) * meters_per_pixel
        return near, near
    apart = abs(one.angle - other.angle) % 180
    if min(apart, 180 - apart) > ALIKE:
        return False, False
    turn = math.radians(one.angle)
    along = abs(dx * math.cos(turn) + dy * math.sin(turn))
    aside = abs(dy * math.cos(turn) - dx * math.sin(turn))
    lengths = ((one.length or 0.0) + (other.length or 0.0)) / 2 * meters_per_pixel
    close = along - lengths <= gap_m
    in_lane = close and aside <= LANE_M
    return in_lane or (along <= lengths and aside <= NEXT_LANE_M), in_lane


def is_accident(
    vehicles: Sequence[Detection], width: int, height: int, meters_per_pixel: float
) -> bool:
    """Returns whether two vehicles touch at an angle."""
    whole = [each for each in vehicles if each.score >= SUREST and _is_whole(each, width, height)]
    margin = TOUCHING_M / 2 / meters_per_pixel
    for one, other in combinations(whole, 2):
        if one.angle is None or other.angle is None:
            raise DetectionError(
                "an accident needs a detector that tells which way vehicles are headed"
            )
        apart = abs(one.angle - other.angle) % 180
        if min(apart, 180 - apart) >= LEAST_TURN and _meet(
            one.corners(margin), other.corners(margin)
        ):
            return True
    return False


def _is_whole(thing: Detection, width: int, height: int) -> bool:
    return all(0 <= x <= width and 0 <= y <= height for x, y in thing.corners())


def _meet(one: list[tuple[float, float]], other: list[tuple[float, float]]) -> bool:
    """Returns whether two rectangles have a point in common: no side of either separates them."""
    for corners in (one, other):
        for (a, b), (c, d) in pairwise(corners):
            across = d - b, a - c
            mine = [x * across[0] + y * across[1] for x, y in one]
            its = [x * across[0] + y * across[1] for x, y in other]
            if max(mine) < min(its) or max(its) < min(mine):
                return False
    return True


class TrafficPattern(DetectionOperator):
    """`trafficPattern(congestion)` and `trafficPattern(accident)`."""

    def __init__(self, configuration: DetectorConfiguration) -> None:
        super().__init__(
            configuration,
            "trafficPattern",
            "Whether the vehicles on the frame stand in a congestion, or in an accident.",
            VEHICLES,
            parameters=(Parameter("pattern", frozenset({STRING})),),
            empty=("trafficPattern(congestion)", False),
        )

    def check(self, *arguments: Any) -> Sequence[object] | None:
        """Refuses other patterns, and a detector that tells no vehicles."""
        if arguments[0] not in PATTERNS:
            raise ArgumentError.unknown("traffic pattern", arguments[0], PATTERNS)
        accident = arguments[0] == "accident"
        check_told(self.configuration, VEHICLES, directions=accident)
        return None

    def solve(self, event: Any, *arguments: Any) -> bool:
        """Returns whether the frame shows the pattern."""
        found: Detections = event.prepared
        vehicles = found.of(VEHICLES)
        if len(vehicles) < 2:
            return False
        scale = found.meters_per_pixel or _scale(vehicles)
        if arguments[0] == "congestion":
            return is_congestion(vehicles, scale)
        return is_accident(vehicles, found.width, found.height, scale)


def _scale(vehicles: Sequence[Detection]) -> float:
    """Meters a pixel at which the median vehicle is as long as a car."""
    lengths = sorted(each.length or max(each.box.width, each.box.height) for each in vehicles)
    return CAR_M / lengths[len(lengths) // 2]
