"""Lays geometries on the plane of longitudes from -180 to 180, on which all are compared.

Edges are straight in longitude and latitude (RFC 7946). An edge whose longitudes differ by more
than 180 goes the short way, across the antimeridian; one by exactly 360 is as drawn (along a pole,
or around the Earth). What crosses the antimeridian is cut there, as RFC 7946 has it. A ring that
goes once around the Earth holds the pole of its hemisphere.
Invariant: longitudes from -180 to 180 are never touched, and others are brought there without
rounding, but for what crosses the antimeridian (5e-14 degrees).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely

from tamis_operators.spatial.errors import GeometryError
from tamis_operators.spatial.geojson import AREA, LINE, POINT, Member, Simple, Vertex, home

_TURNS = 10


def placed(member: Member) -> list[Any]:
    """Returns points, lines and areas on the plane; `GeometryError` where it is invalid."""
    parts: list[Any] = []
    for simple in member.simple:
        parts += _placed(simple)
    if member.type == "MultiPolygon" and len(member.simple) > 1:
        _check(shapely.multipolygons(parts))
    return parts


def _placed(simple: Simple) -> list[Any]:
    if simple.dimension == POINT:
        ((x, y),) = simple.rings[0]
        return [shapely.Point(home(x), y)]
    if simple.dimension == LINE:
        line = shapely.LineString(_homed(unwrapped(simple.rings[0])))
        _check(line)
        return _cut(line, LINE)
    return _area(simple.rings)


def unwrapped(vertices: Sequence[Vertex]) -> list[Vertex]:
    """Returns the vertices with longitudes that do not jump at the antimeridian."""
    found = [vertices[0]]
    shift, before = 0.0, vertices[0][0]
    for x, y in vertices[1:]:
        step = x - before
        if abs(step) > 180 and step % 360 != 0:
            shift -= 360 * round(step / 360)
        before = x
        found.append((x + shift, y))
    return found


def _homed(vertices: list[Vertex]) -> list[Vertex]:
    """Moves it a whole number of turns, if that brings all of it home without rounding."""
    low, high = _extent(vertices)
    for turn in (-360.0, 360.0):
        if not (low >= -180 and high <= 180) and low + turn >= -180 and high + turn <= 180:
            return [(x + turn, y) for x, y in vertices]
    return vertices


def _extent(vertices: Sequence[Vertex]) -> Vertex:
    xs = [x for x, _ in vertices]
    return min(xs), max(xs)


def _area(rings: list[list[Vertex]]) -> list[Any]:
    shell = unwrapped(rings[0])
    holes = [unwrapped(ring) for ring in rings[1:]]
    around = shell[0] != shell[-1]
    shell = _around_pole(shell) if around else _homed(shell)
    low, high = _extent(shell)
    if not around and high - low > 360:
        raise GeometryError("an area spans more than 360 degrees of longitude")
    inner = [_beside(hole, low) for hole in holes if hole[0] == hole[-1]]
    area = shapely.Polygon(shell, inner)
    _check(area)
    for hole in holes:
        if hole[0] != hole[-1]:
            cap = shapely.Polygon(_around_pole(hole))
            _check(cap)
            if not shapely.covers(area, cap):
                raise GeometryError("a hole around a pole lies outside of its ring")
            area = shapely.difference(area, cap)
    parts = _cut(area, AREA)
    if around:
        _check(shapely.multipolygons(parts))
    return parts


def _beside(hole: list[Vertex], low: float) -> list[Vertex]:
    """Returns the hole as many turns away as bring it into the shell that starts at a longitude."""
    least = min(x for x, _ in hole)
    shift = 360.0 * math.ceil((low - least) / 360)
    return hole if shift == 0 else [(x + shift, y) for x, y in hole]


def _around_pole(ring: list[Vertex]) -> list[Vertex]:
    """Returns a ring that goes around the Earth, closed along the pole that it holds.

    It starts at the antimeridian, at its place nearest to the pole, so that no edge lies elsewhere
    that was not drawn."""
    turns = (ring[-1][0] - ring[0][0]) / 360
    if abs(turns) != 1:
        raise GeometryError("a ring goes around the Earth more than once")
    low, high = min(y for _, y in ring), max(y for _, y in ring)
    if low < 0 < high or low == high == 0:
        raise GeometryError(
            "a ring around the Earth lies on both sides of the equator: close it along the pole"
        )
    pole = 90.0 if high > 0 else -90.0
    _, at, seam, latitude = min(_crossings(ring, pole))
    start = (math.copysign(180.0, -turns), latitude)
    drawn = [*ring[at + 1 :], *((x + 360 * turns, y) for x, y in ring[1 : at + 1])]
    body = [(x + (start[0] - seam), y) for x, y in drawn]
    end = (-start[0], latitude)
    ends = [start, *(each for each in body if each not in (start, end)), end]
    return [*ends, (end[0], pole), (start[0], pole), start]


def _crossings(ring: list[Vertex], pole: float) -> list[tuple[float, int, float, float]]:
    """Finds where a ring meets the antimeridian: distance from the pole, vertex before, place."""
    found = []
    for at, ((x1, y1), (x2, y2)) in enumerate(itertools.pairwise(ring)):
        low, high = min(x1, x2), max(x1, x2)
        seam = 360.0 * math.ceil((low - 180) / 360) + 180
        if seam <= high and low < high:
            y = y1 + (y2 - y1) * ((seam - x1) / (x2 - x1))
            found.append((abs(pole - y), at, seam, y))
    return found


def _cut(geometry: Any, dimension: int) -> list[Any]:
    """Returns the parts of a geometry, cut where the antimeridian is and brought home."""
    low, _, high, _ = shapely.bounds(geometry).tolist()
    if low >= -180 and high <= 180:
        return _of_dimension(geometry, dimension)
    first, last = math.floor((low + 180) / 360), math.ceil((high - 180) / 360)
    if last - first > _TURNS:
        raise GeometryError(f"it goes around the Earth more than {_TURNS} times")
    parts: list[Any] = []
    for turn in range(first, last + 1):
        window = shapely.box(360 * turn - 180, -90, 360 * turn + 180, 90)
        inside = shapely.intersection(geometry, window)
        moved = shapely.transform(inside, lambda at, turn=turn: at - [360 * turn, 0])
        parts += _of_dimension(moved, dimension)
    return parts


def _of_dimension(geometry: Any, dimension: int) -> list[Any]:
    """Returns its parts, without those of less dimension."""
    return [
        part for part in shapely.get_parts(geometry) if shapely.get_dimensions(part) == dimension
    ]


def shifted(geometry: Any) -> Any:
    """Moves it to longitudes from 0 to 360, in one piece at the antimeridian."""

    def moved(at: Any) -> Any:
        return np.column_stack([at[:, 0] + 360, at[:, 1]])

    west = shapely.intersection(geometry, shapely.box(-180, -90, 0, 90))
    east = shapely.intersection(geometry, shapely.box(0, -90, 180, 90))
    dimension = shapely.get_dimensions(geometry)
    parts = _of_dimension(shapely.transform(west, moved), dimension)
    return shapely.union_all([*parts, *_of_dimension(east, dimension)])


def _check(geometry: Any) -> None:
    """Refuses what crosses itself, and other nonsense."""
    if not shapely.is_valid(geometry):
        raise GeometryError(f"it is invalid: {shapely.is_valid_reason(geometry)}")
