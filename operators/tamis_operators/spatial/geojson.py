"""Checks GeoJSON, as lists of numbers, before anything is built of it.

A position is a pair (or a triple, whose altitude is not used) of a longitude from -360 to 360 and a
latitude from -90 to 90. Geometries are those of RFC 7946, a Feature stands for its geometry, and a
ring ends where it starts. Numbers below 1e-30 are 0. Vertices are counted before they are read.
Cost: O(vertices) up to the limit, O(1) beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tamis_operators.spatial.errors import GeometryError

Vertex = tuple[float, float]
POINT, LINE, AREA = 0, 1, 2
DEEPEST = 16
_LEAST = 1e-30  # degrees: products of smaller ones vanish, and with them the side of an edge
_DIMENSION = {"Point": POINT, "LineString": LINE, "Polygon": AREA}
_MULTI = {f"Multi{name}": name for name in _DIMENSION}
_COLLECTION = "GeometryCollection"
TYPES = (*_DIMENSION, *_MULTI, _COLLECTION)


class Simple(NamedTuple):
    """A point, a line or an area: its rings, of which a point and a line have one."""

    dimension: int
    rings: list[list[Vertex]]


class Member(NamedTuple):
    """A geometry that is no collection: its type, and what it consists of."""

    type: str
    simple: list[Simple]


def members_of(value: object, most_vertices: int | None = None) -> list[Member]:
    """Returns the geometries that a value consists of; `GeometryError` where it is none."""
    return list(_members(value, _Budget(most_vertices), 0))


class _Budget:
    """Counts the vertices that may still come."""

    def __init__(self, most: int | None) -> None:
        self.most = most
        self._left = most

    def spend(self, vertices: int) -> None:
        if self._left is not None and self.most is not None:
            self._left -= vertices
            if self._left < 0:
                raise GeometryError(f"it has more than {self.most:,} vertices")


def _members(value: object, budget: _Budget, depth: int) -> Iterator[Member]:
    if not isinstance(value, Mapping):
        yield Member("Point", [Simple(POINT, [[vertex(value)]])])
        return
    type = value.get("type")
    if type == "Feature" and depth == 0:
        if not isinstance(value.get("geometry"), Mapping):
            raise GeometryError("the Feature has no geometry")
        yield from _members(value["geometry"], budget, 1)
    elif type == _COLLECTION:
        if depth > DEEPEST:
            raise GeometryError(f"collections are nested deeper than {DEEPEST}")
        for each in _filled(value.get("geometries"), "geometries of a GeometryCollection"):
            budget.spend(1)
            if not isinstance(each, Mapping):
                raise GeometryError("a member of a GeometryCollection is not a geometry")
            yield from _members(each, budget, depth + 1)
    elif isinstance(type, str) and type in _MULTI:
        parts = _filled(value.get("coordinates"), f"coordinates of a {type}")
        if type == "MultiPoint":
            budget.spend(len(parts))
        yield Member(type, [_simple(_MULTI[type], part, budget) for part in parts])
    elif isinstance(type, str) and type in _DIMENSION:
        yield Member(type, [_simple(type, value.get("coordinates"), budget)])
    elif type is None:
        raise GeometryError(
            "an object without a type is not a geometry: write [longitude, latitude], or "
            '{"type": "Point", "coordinates": [longitude, latitude]}'
        )
    else:
        raise GeometryError(f"{type!r:.80} is not a geometry: the types are {', '.join(TYPES)}")


def _simple(type: str, coordinates: object, budget: _Budget) -> Simple:
    if type == "Point":
        return Simple(POINT, [[vertex(coordinates)]])
    if type == "LineString":
        line = _vertices(coordinates, "a LineString", budget)
        if len(line) < 2:
            raise GeometryError("a LineString has one position: it needs two")
        return Simple(LINE, [line])
    rings = _filled(coordinates, "coordinates of a Polygon")
    return Simple(AREA, [_ring(ring, budget) for ring in rings])


def _ring(coordinates: object, budget: _Budget) -> list[Vertex]:
    ring = _vertices(coordinates, "a ring", budget)
    if len(ring) < 4:
        raise GeometryError(
            f"a ring has {len(ring)} positions: it needs four, the last is the first"
        )
    (x1, y1), (x2, y2) = ring[0], ring[-1]
    if y1 != y2 or (x1 - x2) % 360 != 0:
        raise GeometryError(
            f"a ring is not closed: it starts at {x1:g} {y1:g}, ends at {x2:g} {y2:g}"
        )
    return ring


def _vertices(coordinates: object, what: str, budget: _Budget) -> list[Vertex]:
    found = _filled(coordinates, f"coordinates of {what}")
    budget.spend(len(found))
    return [vertex(each) for each in found]


def _filled(value: object, what: str) -> Sequence[object]:
    """Returns a list that is not empty."""
    if hasattr(value, "tolist") and getattr(value, "ndim", None):
        value = _listed(value)
    if not isinstance(value, (list, tuple)):
        raise GeometryError(f"the {what} are not an array")
    if not value:
        raise GeometryError(f"the {what} are empty")
    return value


def _listed(array: object) -> object:
    """Returns an array of NumPy: rows are taken one by one, so that the limit comes first."""
    return list(array)  # type: ignore[call-overload]


def vertex(value: object) -> Vertex:
    """Returns a longitude and a latitude."""
    if type(value) is not list and hasattr(value, "tolist"):
        if getattr(value, "size", 0) > 3:
            raise GeometryError("a position has two or three numbers")
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        raise GeometryError(f"{value!r:.80} is not a position [longitude, latitude]")
    if not 2 <= len(value) <= 3:
        raise GeometryError(f"a position has two or three numbers, not {len(value)}")
    x, y = _number(value[0]), _number(value[1])
    if len(value) == 3:
        _number(value[2])
    if not -90 <= y <= 90:
        swapped = " (longitude comes first)" if -90 <= x <= 90 else ""
        raise GeometryError(f"the latitude {y:g} is not between -90 and 90{swapped}")
    if not -360 <= x <= 360:
        raise GeometryError(f"the longitude {x:g} is not between -360 and 360")
    return x, y


def home(x: float) -> float:
    """Returns the longitude from -180 to 180; never rounded."""
    if x > 180:
        return x - 360
    return x + 360 if x < -180 else x


def _number(value: object) -> float:
    if type(value) is float:
        number = value
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        if not hasattr(value, "__float__") or isinstance(value, bool):
            raise GeometryError(f"{value!r:.80} in a position is not a number")
        number = float(value)
    else:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        raise GeometryError(f"{number} in a position is not a finite number")
    return number if abs(number) >= _LEAST else 0.0
