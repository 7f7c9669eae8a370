"""Reads where an event is: the points, lines and areas of its `position` on the plane.

A single point, the usual case, is two numbers until a geometry is needed.
Cost: 2 µs for a point; O(vertices · log vertices) for others, which are checked to be valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import shapely

from tamis_operators.spatial.errors import GeometryError
from tamis_operators.spatial.geojson import POINT, home, members_of, vertex
from tamis_operators.spatial.plane import placed, shifted


class PositionPart:
    """Points, a line or areas on the plane: of a position, or a place."""

    __slots__ = (
        *("_shifted", "bounds", "dimension", "geometry", "north", "seam", "south", "x", "y"),
    )

    def __init__(self, geometry: Any) -> None:
        self.geometry = geometry
        self.dimension = int(shapely.get_dimensions(geometry))
        self.bounds: tuple[float, float, float, float] = tuple(shapely.bounds(geometry).tolist())
        low_x, low_y, high_x, high_y = self.bounds
        self.x, self.y = low_x, low_y
        self.seam = low_x == -180 or high_x == 180
        self.south, self.north = low_y == -90, high_y == 90
        self._shifted: Any = None

    @property
    def shifted(self) -> Any:
        """The same on the plane from 0 to 360."""
        if self._shifted is None:
            self._shifted = shifted(self.geometry)
        return self._shifted


class Position:
    """The position of an event, and what was found out about it."""

    __slots__ = ("_parts", "_pieces", "distances", "point")

    def __init__(self, point: tuple[float, float] | None, parts: list[PositionPart] | None) -> None:
        self.point = point
        self.distances: dict[int, float] = {}
        """From places, by their numbers: several operators ask for the same."""
        self._parts = parts
        self._pieces: Any = None

    @property
    def parts(self) -> list[PositionPart]:
        """The parts that it consists of."""
        if self._parts is None:
            assert self.point is not None
            self._parts = [PositionPart(shapely.Point(self.point))]
        return self._parts

    @property
    def pieces(self) -> Any:
        """Its points and edges, for distances."""
        if self._pieces is None:
            from tamis_operators.spatial.distance import pieces_of

            self._pieces = pieces_of([part.geometry for part in self.parts])
        return self._pieces


def position_of(value: object, most_vertices: int, crs: str = "") -> Position:
    """Returns the position of a GeoJSON geometry, or of a pair in a coordinate system;
    `GeometryError` says what is wrong with it."""
    try:
        if crs or (isinstance(value, Mapping) and _names_system(value)):
            from tamis_operators.spatial.crs import geographic_value

            value = geographic_value(value, crs, most_vertices)
        if not isinstance(value, Mapping):
            x, y = vertex(value)
            return Position((home(x), y), None)
        members = members_of(value, most_vertices)
        parts = [PositionPart(part) for member in members for part in placed(member)]
    except GeometryError as wrong:
        raise GeometryError(f"the position cannot be used: {wrong}") from None
    if len(parts) == 1 and parts[0].dimension == POINT:
        return Position((parts[0].x, parts[0].y), parts)
    return Position(None, parts)


def _names_system(value: Mapping[str, Any]) -> bool:
    geometry = value.get("geometry") if value.get("type") == "Feature" else None
    return "crs" in value or (isinstance(geometry, Mapping) and "crs" in geometry)
