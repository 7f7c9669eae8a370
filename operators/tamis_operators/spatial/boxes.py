"""Says in which box a position lies, and in which ones operators want it: cheap, before any call.

An event's box is `position.west`, `.east`, `.south` and `.north`, on the plane of longitudes from
-180 to 180. What touches its edge, a pole or the antimeridian, has none: there one place has many
longitudes, and no declaration decides. What is declared is rounded outwards.
Cost: 2 µs for a point; what reading a position costs for others. Nothing heavy is imported for
points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tamis import DerivedAttribute, Event
from tamis_operators.spatial.configuration import INPUT, MOST_VERTICES, crs_of_pairs
from tamis_operators.spatial.errors import GeometryError
from tamis_operators.spatial.geojson import home, vertex

_STEPS = 1e6
"""Declared degrees are whole millionths, a decimetre."""
_LEAST_RADIUS_M = 6_335_439.0
"""The least radius of curvature of a meridian: no degree of latitude is shorter."""
_EQUATOR_M = 6_378_137.0
"""No parallel at a latitude is shorter than one of a sphere of this radius."""
_SLACK_M = 1.0

Declaration = tuple[str | DerivedAttribute, str, object]


class DegreeBox(NamedTuple):
    """Bounds in degrees, in the order of shapely."""

    west: float
    south: float
    east: float
    north: float


def position_box(event: Event) -> DegreeBox | None:
    """Returns the position's box; `None` if that is absent, bad or at the plane's edge."""
    value = event.value(INPUT)
    if value is None:
        return None
    try:
        crs = crs_of_pairs()
        is_plain = not isinstance(value, Mapping) and not crs
        box = _point_box(value) if is_plain else _geometry_box(value, crs)
    except GeometryError:
        return None
    is_within = box.west > -180 and box.east < 180 and box.south > -90 and box.north < 90
    return box if is_within else None


def _point_box(value: object) -> DegreeBox:
    x, y = vertex(value)
    x = home(x)
    return DegreeBox(x, y, x, y)


def _geometry_box(value: object, crs: str) -> DegreeBox:
    from tamis_operators.spatial.position import position_of

    west, south, east, north = zip(
        *(part.bounds for part in position_of(value, MOST_VERTICES, crs).parts), strict=True
    )
    return DegreeBox(min(west), min(south), max(east), max(north))


def _side(name: str, says: str) -> DerivedAttribute:
    def derive(event: Event) -> float | None:
        box = event.made(position_box)
        return None if box is None else float(getattr(box, name))

    return DerivedAttribute(f"{INPUT}.{name}", derive, says, inputs=(INPUT,))


_SAYS = "none where it touches 180 degrees or a pole"
WEST = _side("west", f"the least longitude of the position, -180 to 180; {_SAYS}")
EAST = _side("east", f"the largest longitude of the position, -180 to 180; {_SAYS}")
SOUTH = _side("south", f"the least latitude of the position; {_SAYS}")
NORTH = _side("north", f"the largest latitude of the position; {_SAYS}")
POSITION_ATTRIBUTES = (WEST, EAST, SOUTH, NORTH)


def lying_in(bounds: tuple[float, float, float, float]) -> list[Declaration]:
    """Returns what holds of a position all of which lies within bounds."""
    west, south, east, north = _outwards(bounds)
    across, along = ("between", (west, east)), ("between", (south, north))
    return [(WEST, *across), (EAST, *across), (SOUTH, *along), (NORTH, *along)]


def meeting(bounds: tuple[float, float, float, float]) -> list[Declaration]:
    """Returns what holds of a position some of which lies within bounds; nothing where they are
    beyond the plane's edge."""
    west, south, east, north = _outwards(bounds)
    found: list[Declaration] = []
    if west > -180 and east < 180:
        found += [(WEST, "<=", east), (EAST, ">=", west)]
    if north < 90:
        found.append((SOUTH, "<=", north))
    if south > -90:
        found.append((NORTH, ">=", south))
    return found


def united(several: Iterable[tuple[float, ...]]) -> tuple[float, float, float, float]:
    """Bounds that hold several; of none, a point."""
    west, south, east, north = zip(*(tuple(several) or ((0.0, 0.0, 0.0, 0.0),)), strict=True)
    return min(west), min(south), max(east), max(north)


def near(bounds: tuple[float, float, float, float], metres: float) -> list[Declaration]:
    """Returns what holds of a position some of which is so near to what lies within bounds."""
    around = _around(bounds, metres)
    return [] if around is None else meeting(around)


def _outwards(bounds: tuple[float, float, float, float]) -> DegreeBox:
    west, south, east, north = bounds
    return DegreeBox(*map(_below, (west, south)), *map(_above, (east, north)))


def _below(degrees: float) -> float:
    return (math.floor(degrees * _STEPS) - 1) / _STEPS


def _above(degrees: float) -> float:
    return (math.ceil(degrees * _STEPS) + 1) / _STEPS


def _around(
    bounds: tuple[float, float, float, float], metres: float
) -> tuple[float, float, float, float] | None:
    """Bounds that hold all points so near to what lies within bounds; `None` for the whole Earth.

    Along a geodesic latitude changes by less than a radian in `_LEAST_RADIUS_M`, longitude by less
    than one in `_EQUATOR_M` times the cosine of the highest latitude that is reached."""
    west, south, east, north = bounds
    reach = max(metres, 0.0) + _SLACK_M
    if not reach < math.pi * _LEAST_RADIUS_M:
        return None
    along = math.degrees(reach / _LEAST_RADIUS_M)
    south, north = south - along, north + along
    highest = max(abs(south), abs(north))
    across = 360.0
    if highest < 90:
        across = math.degrees(reach / (_EQUATOR_M * math.cos(math.radians(highest))))
    return west - across, south, east + across, north
