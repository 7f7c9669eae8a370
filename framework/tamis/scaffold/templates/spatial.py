"""Decides whether the position of an event lies within a distance of a place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import tamis

RADIUS_M = 6_371_008.8
MANHATTAN = {"position": [-74.01, 40.71]}
FIJI = {"position": {"type": "Point", "coordinates": [-179.99, -17]}}
SAMPLES = [
    tamis.Sample("newOperator(-74, 40.7, 5km)", MANHATTAN, True),
    tamis.Sample("newOperator(-74, 40.7, 100)", MANHATTAN, False),
    tamis.Sample("newOperator(179.99, -17, 5km)", FIJI, True),
]


def on_earth(longitude: Any, latitude: Any, distance_m: Any) -> None:
    """Refuses what is no place, or no distance, when a subscription comes in."""
    if not -180 <= longitude <= 180:
        raise tamis.ArgumentError("a longitude lies between -180 and 180", 0)
    if not -90 <= latitude <= 90:
        raise tamis.ArgumentError("a latitude lies between -90 and 90", 1)
    if distance_m < 0:
        raise tamis.ArgumentError("a distance is 0 or more", 2)


def between_latitudes(arguments: Sequence[Any]) -> list[tuple[str, str, float]]:
    """Returns what holds whenever a position is so near: the index checks it before any call."""
    _, latitude, distance_m = arguments
    reach = math.degrees(distance_m / RADIUS_M) + 1e-6  # outwards: what is declared is believed
    return [("position.north", ">=", latitude - reach), ("position.south", "<=", latitude + reach)]


@tamis.operator(
    inputs=("position",),
    deterministic=True,
    cost_seconds=5e-6,
    check=on_earth,
    necessary=between_latitudes,
    samples=SAMPLES,
)
def newOperator(
    event: Mapping[str, Any],
    longitude: float,
    latitude: float,
    distance_m: float,
) -> bool:
    """Returns whether the position of the event is within a distance of a place, on a sphere."""
    position = event["position"]
    if isinstance(position, Mapping):  # a GeoJSON point
        position = position.get("coordinates")
    if not isinstance(position, (list, tuple)) or len(position) < 2:
        raise ValueError(f"position is [longitude, latitude], not {position!r:.40}")
    east, north = math.radians(position[0]), math.radians(position[1])
    there_east, there_north = math.radians(longitude), math.radians(latitude)
    half = (
        math.sin((there_north - north) / 2) ** 2
        + math.cos(north) * math.cos(there_north) * math.sin((there_east - east) / 2) ** 2
    )
    return 2 * RADIUS_M * math.asin(min(1.0, math.sqrt(half))) <= distance_m
