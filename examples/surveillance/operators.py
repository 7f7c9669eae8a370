"""The operators of the paper's subscriptions S1 to S5, small enough to read.

A frame carries what a detector saw: `people`, `cars` and `boats`, in metres on the ground around
the drone. The operators look for patterns in that; the bundled image operators look at pixels.
Run them with `tamis match --operators examples/surveillance/operators.py …`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import asin, cos, dist, hypot, radians, sin, sqrt
from typing import Any

import tamis

Frame = Mapping[str, Any]
Point = tuple[float, float]

# Coarse outlines, longitude before latitude.
REGIONS: dict[str, list[Point]] = {
    "Bronx": [
        (-73.933, 40.882), (-73.913, 40.915), (-73.838, 40.894), (-73.782, 40.878),
        (-73.790, 40.810), (-73.890, 40.797), (-73.930, 40.808),
    ],
    "Manhattan": [
        (-74.019, 40.704), (-73.972, 40.711), (-73.929, 40.797), (-73.934, 40.834),
        (-73.911, 40.872), (-73.929, 40.878), (-74.012, 40.757),
    ],
    "Brooklyn": [
        (-74.033, 40.604), (-73.968, 40.573), (-73.857, 40.583), (-73.869, 40.694),
        (-73.962, 40.738), (-74.001, 40.692),
    ],
    "Queens": [
        (-73.869, 40.694), (-73.857, 40.642), (-73.753, 40.591), (-73.701, 40.752),
        (-73.796, 40.795), (-73.936, 40.776), (-73.962, 40.738),
    ],
}  # fmt: skip
PLACES: dict[str, Point] = {
    "TimesSquare": (-73.9855, 40.7580),
    "StatueOfLiberty": (-74.0445, 40.6892),
    "YankeeStadium": (-73.9262, 40.8296),
}
EARTH_RADIUS_M = 6_371_008.8
CLUSTER_M = 4.0
CHASE_M = 60.0
CHASE_SPEED_M_S = 20.0
SLOW_M_S = 3.0
CONGESTED_CARS = 12
CRASH_M = 2.0


def known(what: str, names: Mapping[str, object]) -> Any:
    """A check that the first argument is one of the names."""

    def check(name: str, *rest: object) -> None:
        if name not in names:
            raise tamis.ArgumentError.unknown(what, name, names)

    return check


def distance_m(here: Point, there: Point) -> float:
    (lon1, lat1), (lon2, lat2) = ((radians(lon), radians(lat)) for lon, lat in (here, there))
    half = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS_M * asin(sqrt(half))


def inside(point: Point, outline: Sequence[Point]) -> bool:
    (x, y), within = point, False
    for (x1, y1), (x2, y2) in zip(outline, [*outline[1:], outline[0]], strict=True):
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            within = not within
    return within


@tamis.operator(inputs=("position",), check=known("region", REGIONS), cost_seconds=1e-5)
def locIn(event: Frame, region: str) -> bool:
    """Whether the drone is over a region."""
    return inside(event["position"], REGIONS[region])


@tamis.operator(inputs=("position",), check=known("place", PLACES), cost_seconds=1e-5)
def locWithin(event: Frame, place: str, metres: float) -> bool:
    """Whether the drone is within a distance of a place."""
    return distance_m(event["position"], PLACES[place]) <= metres


@tamis.operator(
    inputs=("position",), outputs=("metres",), check=known("place", PLACES), cost_seconds=1e-5
)
def distanceFrom(event: Frame, place: str, metres: object) -> list[float]:
    """How far the drone is from a place."""
    return [round(distance_m(event["position"], PLACES[place]), 1)]


@tamis.operator(inputs=("people",), outputs=("people",), cost_seconds=0.02)
def mobPattern(event: Frame, people: object) -> list[int]:
    """Dense clusters of people: the size of each that has ten or more."""
    return sorted({size for size in _clusters(event["people"]) if size >= 10}, reverse=True)


@tamis.operator(inputs=("people",), outputs=("count",), cost_seconds=0.01)
def pedestrianCount(event: Frame, count: object) -> list[int]:
    """How many people are in the frame."""
    return [len(event["people"])]


@tamis.operator(inputs=("cars",), cost_seconds=0.01)
def chasePattern(event: Frame, chaser: str, chased: str) -> bool:
    """Whether one kind of car follows another closely, both fast and the same way."""
    return any(
        one is not other
        and chaser in (one["kind"], "anyCar")
        and chased in (other["kind"], "anyCar")
        and dist(one["at"], other["at"]) < CHASE_M
        and min(hypot(*one["speed"]), hypot(*other["speed"])) > CHASE_SPEED_M_S
        and sum(a * b for a, b in zip(one["speed"], other["speed"], strict=True)) > 0
        for one in event["cars"]
        for other in event["cars"]
    )


@tamis.operator(inputs=("cars",), cost_seconds=0.01)
def trafficPattern(event: Frame, pattern: str) -> bool:
    """`congestion`: many slow cars; `accident`: two cars standing in each other."""
    slow = [car["at"] for car in event["cars"] if hypot(*car["speed"]) < SLOW_M_S]
    if pattern == "congestion":
        return len(slow) >= CONGESTED_CARS
    return any(dist(a, b) < CRASH_M for at, a in enumerate(slow) for b in slow[:at])


@tamis.operator(inputs=("cars",), outputs=("count",), cost_seconds=0.01)
def policeCarCount(event: Frame, count: object) -> list[int]:
    """How many police cars are in the frame."""
    return [sum(car["kind"] == "policeCar" for car in event["cars"])]


@tamis.operator(inputs=("boats",), outputs=("count",), cost_seconds=0.01)
def tourBoatCount(event: Frame, count: object) -> list[int]:
    """How many tour boats are in the frame."""
    return [list(event["boats"]).count("tourBoat")]


@tamis.operator(inputs=("boats",), outputs=("count",), cost_seconds=0.01)
def coastGuardBoatCount(event: Frame, count: object) -> list[int]:
    """How many boats of the coast guard are in the frame."""
    return [list(event["boats"]).count("coastGuardBoat")]


def _clusters(people: Sequence[Sequence[float]]) -> list[int]:
    """The sizes of the groups in which everybody is close to somebody."""
    leader = list(range(len(people)))

    def root(at: int) -> int:
        while leader[at] != at:
            leader[at] = at = leader[leader[at]]
        return at

    for at, here in enumerate(people):
        for before in range(at):
            if dist(here, people[before]) < CLUSTER_M:
                leader[root(at)] = root(before)
    return list(Counter(root(at) for at in range(len(people))).values())
