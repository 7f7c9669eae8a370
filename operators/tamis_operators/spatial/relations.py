"""Decides whether one region lies in another, or two have no point in common.

Both are declared as implications: *yes* is said only where it is certain for every position and its
floats.

Regions apart by less than a millionth of a degree are not disjoint here. A region that keeps as far
from the other's border is inside when it is so at all; where borders touch, as those of a borough
and its city, every edge is compared with rational arithmetic.
Cost: O(vertices · log vertices) a pair; exact work only for edges that touch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np
import shapely

from tamis.kit import Floats
from tamis_operators.spatial.geojson import AREA
from tamis_operators.spatial.places import Place

MARGIN_DEGREES = 1e-6
_ROUNDING = 1e-15

Point = tuple[float, float]
Exact = tuple[Fraction, Fraction]


def disjoint(one: Place, other: Place) -> bool:
    """Returns whether no position lies in both."""
    if (one.north and other.north) or (one.south and other.south):
        return False
    if _near(one.geometry, other.geometry):
        return False
    return not (one.seam and other.seam and _near(one.shifted, other.shifted))


def _near(one: Any, other: Any) -> bool:
    return bool(shapely.dwithin(one, other, MARGIN_DEGREES))


def inside(inner: Place, outer: Place) -> bool:
    """Returns whether every position in one lies in the other."""
    if inner.number == outer.number:
        return True
    if outer.dimension != AREA or not _contains(outer.bounds, inner.bounds):
        return False
    if not _inside(inner.geometry, outer.geometry):
        return False
    return not inner.seam or _inside(inner.shifted, outer.shifted)


def _contains(outer: Sequence[float], inner: Sequence[float]) -> bool:
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and outer[2] >= inner[2]
        and outer[3] >= inner[3]
    )


def _inside(inner: Any, outer: Any) -> bool:
    if shapely.equals_exact(inner, outer, 0.0):
        return True
    if not shapely.covers(outer, inner):
        return False
    if not shapely.dwithin(shapely.boundary(outer), inner, MARGIN_DEGREES):
        return True
    return shapely.get_dimensions(inner) == AREA and _exactly_inside(inner, outer)


def _exactly_inside(inner: Any, outer: Any) -> bool:
    """Returns the same for borders that touch.

    No edges cross; the edges of the inner one, cut where they touch the outer border, lie in the
    outer one; those of the outer border do not lie within the inner one; and a point within each
    part of the inner one is in the outer one. Then the complement of the outer one, which would
    have to meet a border of the inner one or fill a part of it, has no point in the inner one."""
    mine, theirs = _Edges(inner), _Edges(outer)
    touches = _touches(mine, theirs)
    if touches is None:
        return False
    on_mine, on_theirs = touches
    free = np.setdiff1d(np.arange(len(mine)), list(on_mine))
    if not np.all(shapely.intersects_xy(outer, mine.starts[free])):
        return False
    free = np.setdiff1d(np.arange(len(theirs)), list(on_theirs))
    if np.any(shapely.contains_xy(inner, theirs.starts[free])):
        return False
    if any(theirs.side(middle) < 0 for middle in _middles(mine, on_mine)):
        return False
    if any(mine.side(middle) > 0 for middle in _middles(theirs, on_theirs)):
        return False
    within = shapely.get_coordinates(shapely.point_on_surface(shapely.get_parts(inner)))
    return bool(np.all(shapely.intersects_xy(outer, within)))


class _Edges:
    """The edges of an area."""

    def __init__(self, area: Any) -> None:
        rings = shapely.get_rings(shapely.get_parts(area))
        coordinates = [shapely.get_coordinates(ring) for ring in rings]
        self.starts: Floats = np.concatenate([each[:-1] for each in coordinates])
        self.ends: Floats = np.concatenate([each[1:] for each in coordinates])
        self.low = np.minimum(self.starts[:, 1], self.ends[:, 1])
        self.high = np.maximum(self.starts[:, 1], self.ends[:, 1])

    def __len__(self) -> int:
        return len(self.starts)

    def edge(self, number: int) -> tuple[Point, Point]:
        """Returns both ends of one."""
        (x1, y1), (x2, y2) = self.starts[number].tolist(), self.ends[number].tolist()
        return (x1, y1), (x2, y2)

    def _beside(self, y: float, slack: float) -> list[int]:
        """Returns those whose latitudes hold one."""
        found: list[int] = np.flatnonzero(
            (self.low <= y + slack) & (self.high >= y - slack)
        ).tolist()
        return found

    def side(self, point: Exact) -> int:
        """Returns 1 within the area, 0 on its border, -1 outside, exactly."""
        x, y = point
        near = float(y)
        slack = abs(near) * _ROUNDING + 1e-300
        odd = False
        for number in self._beside(near, slack):
            (x1, y1), (x2, y2) = self.edge(number)
            turn = _turn((Fraction(x1), Fraction(y1)), (Fraction(x2), Fraction(y2)), point)
            if turn == 0 and min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2):
                return 0
            if (y1 > y) != (y2 > y) and (turn > 0) == (y2 > y1):
                odd = not odd
        return 1 if odd else -1


def _turn(a: Exact, b: Exact, c: Exact) -> int:
    value = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return (value > 0) - (value < 0)


def _orientation(a: Point, b: Point, c: Point) -> int:
    """Tells on which side of a line through two points a third one is, exactly: 1 left, 0 on it."""
    if c in (a, b):
        return 0
    left = (b[0] - a[0]) * (c[1] - a[1])
    right = (b[1] - a[1]) * (c[0] - a[0])
    if abs(left - right) > 4e-16 * (abs(left) + abs(right)):
        return 1 if left > right else -1
    fraction = [(Fraction(x), Fraction(y)) for x, y in (a, b, c)]
    return _turn(*fraction)


def _touches(
    mine: _Edges, theirs: _Edges
) -> tuple[dict[int, set[Point]], dict[int, set[Point]]] | None:
    """Finds the edges of two areas that touch, and where (at ends); `None` if two edges cross."""
    tree = shapely.STRtree(shapely.linestrings(np.stack([theirs.starts, theirs.ends], axis=1)))
    lines = shapely.linestrings(np.stack([mine.starts, mine.ends], axis=1))
    on_mine: dict[int, set[Point]] = {}
    on_theirs: dict[int, set[Point]] = {}
    for one, other in tree.query(lines).T.tolist():
        p, q = mine.edge(one)
        r, s = theirs.edge(other)
        sides = (
            _orientation(p, q, r),
            _orientation(p, q, s),
            _orientation(r, s, p),
            _orientation(r, s, q),
        )
        if sides[0] * sides[1] < 0 and sides[2] * sides[3] < 0:
            return None
        met = [r] * (sides[0] == 0 and _between(r, p, q))
        met += [s] * (sides[1] == 0 and _between(s, p, q))
        met += [p] * (sides[2] == 0 and _between(p, r, s))
        met += [q] * (sides[3] == 0 and _between(q, r, s))
        if met:
            on_mine.setdefault(one, {p, q}).update(met)
            on_theirs.setdefault(other, {r, s}).update(met)
    return on_mine, on_theirs


def _between(c: Point, a: Point, b: Point) -> bool:
    return min(a[0], b[0]) <= c[0] <= max(a[0], b[0]) and min(a[1], b[1]) <= c[1] <= max(a[1], b[1])


def _middles(edges: _Edges, touched: dict[int, set[Point]]) -> Iterable[Exact]:
    """Yields a point within each stretch of the edges that are touched."""
    for number, points in touched.items():
        (x1, y1), (x2, y2) = edges.edge(number)
        major = 0 if abs(x2 - x1) >= abs(y2 - y1) else 1
        ordered = sorted(points, key=itemgetter(major))
        for (ax, ay), (bx, by) in itertools.pairwise(ordered):
            yield (Fraction(ax) + Fraction(bx)) / 2, (Fraction(ay) + Fraction(by)) / 2
