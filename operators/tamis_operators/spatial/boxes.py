"""Says in which box a position lies: cheap, before any call.

An event's box is `position.west`, `.east`, `.south` and `.north`, on the plane of longitudes from
-180 to 180. What touches its edge, a pole or the antimeridian, has none: there one place has many
longitudes.
Cost: 2 µs for a point; what reading a position costs for others. Nothing heavy is imported for
points.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tamis import DerivedAttribute, Event
from tamis_operators.spatial.common import INPUT
from tamis_operators.spatial.configuration import MOST_VERTICES
from tamis_operators.spatial.errors import GeometryError
from tamis_operators.spatial.geojson import home, vertex


class Box(NamedTuple):
    """Bounds in degrees, in the order of shapely."""

    west: float
    south: float
    east: float
    north: float


def position_box(event: Event) -> Box | None:
    """The box of an event's position; `None` where that is absent, bad or at the plane's edge."""
    value = event.value(INPUT)
    if value is None:
        return None
    try:
        box = _geometry_box(value) if isinstance(value, Mapping) else _point_box(value)
    except GeometryError:
        return None
    is_within = box.west > -180 and box.east < 180 and box.south > -90 and box.north < 90
    return box if is_within else None


def _point_box(value: object) -> Box:
    x, y = vertex(value)
    x = home(x)
    return Box(x, y, x, y)


def _geometry_box(value: Mapping[str, object]) -> Box:
    from tamis_operators.spatial.position import position_of

    west, south, east, north = zip(
        *(part.bounds for part in position_of(value, MOST_VERTICES).parts), strict=True
    )
    return Box(min(west), min(south), max(east), max(north))


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
