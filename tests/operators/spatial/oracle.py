"""Answers worked out another way: ray casting in fractions, and geodesics to dense samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from pyproj import Geod

from tamis_operators.spatial.gazetteer import Gazetteer
from tamis_operators.spatial.places import Place
from tamis_operators.spatial.position import Position, position_of
from tamis_operators.spatial.reading import geometry_of

GEOD = Geod(ellps="WGS84")
Vertex = tuple[float, float]


def point_in_rings(point: Vertex, rings: Iterable[Sequence[Sequence[float]]]) -> bool:
    """Whether a point lies in a polygon or on its border, by ray casting in fractions."""
    x, y = Fraction(point[0]), Fraction(point[1])
    odd = False
    for ring in rings:
        for a, b in itertools.pairwise(ring):
            x1, y1, x2, y2 = (Fraction(float(each)) for each in (*a, *b))
            side = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)
            if side == 0 and min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2):
                return True
            if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
                odd = not odd
    return odd


def sampled_distance(
    point: Vertex, lines: Iterable[Sequence[Sequence[float]]], steps: int
) -> float:
    """The least geodesic distance from a point to samples of lines."""
    xs: list[float] = []
    ys: list[float] = []
    for line in lines:
        for (x1, y1), (x2, y2) in itertools.pairwise(line):
            for step in range(steps + 1):
                xs.append(x1 + (x2 - x1) * step / steps)
                ys.append(y1 + (y2 - y1) * step / steps)
    distances = GEOD.inv([point[0]] * len(xs), [point[1]] * len(xs), xs, ys)[2]
    return float(min(distances))


def polygon(*ring: Sequence[float]) -> dict[str, Any]:
    """A polygon of a ring that is closed here."""
    return {"type": "Polygon", "coordinates": [[*map(list, ring), list(ring[0])]]}


def box(x1: float, y1: float, x2: float, y2: float) -> dict[str, Any]:
    return polygon((x1, y1), (x2, y1), (x2, y2), (x1, y2))


def line(*vertices: Sequence[float]) -> dict[str, Any]:
    return {"type": "LineString", "coordinates": [list(each) for each in vertices]}


def gazetteer(geometries: Mapping[str, Mapping[str, Any]], kind: str | None = None) -> Gazetteer:
    """A gazetteer of places by name."""
    return Gazetteer(
        [
            Place(number, name, (), kind, geometry_of(geometry), name)
            for number, (name, geometry) in enumerate(geometries.items())
        ]
    )


def place(geometry: Mapping[str, Any]) -> Place:
    return gazetteer({"there": geometry}).places[0]


def at(value: object) -> Position:
    return position_of(value, 10_000)


def feature(name: object, geometry: object, **properties: object) -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": {"name": name, **properties},
        "geometry": geometry,
    }


def collection(*features: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": list(features)}
