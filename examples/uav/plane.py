"""Places things in meters: x to the east and y to the south, as a map lies and a frame is drawn.

Headings are degrees clockwise from the east; a compass starts in the north. The plane touches WGS84
in the middle of the city, where it is right to a part in a thousand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
"""Rows of x and y."""

LONGITUDE, LATITUDE = -73.95, 40.75
_A, _E2 = 6378137.0, 0.00669437999014
_SIN2 = math.sin(math.radians(LATITUDE)) ** 2
_NORMAL = _A / math.sqrt(1 - _E2 * _SIN2)
_MERIDIAN = _A * (1 - _E2) / (1 - _E2 * _SIN2) ** 1.5
EAST_M = math.radians(1) * _NORMAL * math.cos(math.radians(LATITUDE))
"""Meters a degree of longitude."""
NORTH_M = math.radians(1) * _MERIDIAN
"""Meters a degree of latitude."""


def local(degrees: Iterable[Sequence[float]]) -> Points:
    """Pairs of longitude and latitude in meters."""
    pairs = np.asarray(list(degrees), float).reshape(-1, 2)
    return (pairs - (LONGITUDE, LATITUDE)) * (EAST_M, -NORTH_M)


def degrees(x: float, y: float) -> tuple[float, float]:
    """The longitude and latitude of a point, to a centimeter."""
    return round(LONGITUDE + x / EAST_M, 7), round(LATITUDE - y / NORTH_M, 7)


def distance_m(one: Sequence[float], other: Sequence[float]) -> float:
    """The distance of two pairs of longitude and latitude, on the ellipsoid's curvature between."""
    sine2 = math.sin(math.radians((one[1] + other[1]) / 2)) ** 2
    normal = _A / math.sqrt(1 - _E2 * sine2)
    meridian = _A * (1 - _E2) / (1 - _E2 * sine2) ** 1.5
    east = math.radians(other[0] - one[0]) * normal * math.sqrt(1 - sine2)
    return math.hypot(east, math.radians(other[1] - one[1]) * meridian)


def turned(points: Points, angle: float) -> Points:
    """Points turned clockwise around the origin."""
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    moved: Points = points @ np.array([[cos, sin], [-sin, cos]])
    return moved


def ahead(x: float, y: float, heading: float, along: float, aside: float = 0.0) -> Points:
    """The point so far ahead of another, and so far to its right."""
    moved: Points = turned(np.array([[along, aside]]), heading)[0] + (x, y)
    return moved


def rectangle(x: float, y: float, heading: float, length: float, breadth: float) -> Points:
    """A rectangle around a point, its length along the heading."""
    half = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (length / 2, breadth / 2)
    moved: Points = turned(half, heading) + np.array([x, y])
    return moved


def inside(polygon: Points, points: Points) -> NDArray[np.bool_]:
    """Which points lie in a polygon, by crossings of a ray."""
    x, y = points[:, 0, None], points[:, 1, None]
    (x0, y0), (x1, y1) = polygon.T, np.roll(polygon, -1, axis=0).T
    crosses = (y0 > y) != (y1 > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = x0 + (y - y0) * (x1 - x0) / (y1 - y0)
    odd: NDArray[np.bool_] = (crosses & (x < at)).sum(axis=1) % 2 == 1
    return odd


def clipped(polygon: Points, reach: float, x: float, y: float) -> Points:
    """What of a polygon is within reach of a point, east and west, north and south."""
    points = polygon
    for axis, limit, sign in ((0, x - reach, 1), (0, x + reach, -1), (1, y - reach, 1),
                              (1, y + reach, -1)):  # fmt: skip
        if not len(points):
            break
        depth = (points[:, axis] - limit) * sign
        kept: list[Points] = []
        for at in range(len(points)):
            here, there = depth[at - 1], depth[at]
            if (here >= 0) != (there >= 0):
                share = here / (here - there)
                kept.append(points[at - 1] + share * (points[at] - points[at - 1]))
            if there >= 0:
                kept.append(points[at])
        points = np.array(kept).reshape(-1, 2)
    return points


def smooth(points: Points, step: float = 12.0) -> Points:
    """A line through points, without corners, in steps of a length."""
    for _ in range(4):
        near = points[:-1] * 0.75 + points[1:] * 0.25
        far = points[:-1] * 0.25 + points[1:] * 0.75
        inner = np.stack([near, far], axis=1).reshape(-1, 2)
        points = np.vstack([points[:1], inner, points[-1:]])
    lengths = np.r_[0, np.cumsum(np.hypot(*np.diff(points, axis=0).T))]
    at = np.linspace(0, lengths[-1], max(2, round(float(lengths[-1]) / step)))
    return np.stack([np.interp(at, lengths, points[:, axis]) for axis in (0, 1)], axis=1)
