"""Brings coordinates of other coordinate systems to longitudes and latitudes.

A system is named by an authority's code (`EPSG:2263`) or, in files, described as they have it. X
comes before Y whatever the authority's order. Vertices are brought over one by one: edges are
straight between them in longitude and latitude. Nothing is fetched for a system that needs a grid.
Cost: 30 µs a position, 0.2 µs a further vertex; some milliseconds for the first of a system.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from pyproj import CRS, Transformer
from pyproj.exceptions import ProjError

from tamis import OperatorError
from tamis_operators.spatial.errors import GeometryError
from tamis_operators.spatial.geojson import DEEPEST

_GEOGRAPHIC = "OGC:CRS84"
_CODE = re.compile(
    r"(?:urn:ogc:def:crs:)?(EPSG|ESRI|OGC|IAU_2015):(?:[\w.]*:)?(\w{1,16})", re.ASCII
)
_ROUNDING = 1e-3
"""By how much a coordinate may miss itself on its way there and back: beyond its system's area
formulas give numbers that mean nothing."""


def code_of(said: object) -> str:
    """Returns the code that a system is named by, as text or as GeoJSON once had it."""
    if isinstance(said, Mapping):
        properties = said.get("properties")
        said = properties.get("name") if isinstance(properties, Mapping) else None
    found = _CODE.fullmatch(said) if isinstance(said, str) else None
    if found is None:
        raise GeometryError(f"{said!r:.80} names no coordinate system, as EPSG:2263 does")
    return f"{found[1]}:{found[2]}"


def checked_code(crs: str) -> None:
    """Refuses a setting that names no coordinate system."""
    try:
        transformer(code_of(crs))
    except GeometryError as wrong:
        raise OperatorError(f"the coordinate system of positions: {wrong}") from None


@functools.lru_cache(maxsize=64)
def transformer(crs: str) -> Transformer | None:
    """Makes the transformer of coordinates; `None` for longitudes and latitudes."""
    try:
        system, geographic = CRS.from_user_input(crs), CRS.from_user_input(_GEOGRAPHIC)
        if system.equals(geographic, ignore_axis_order=True):
            return None
        return Transformer.from_crs(system, geographic, always_xy=True)
    except ProjError as failure:
        raise GeometryError(f"{crs[:80]} is not a known coordinate system: {failure}") from None


def brought(vertices: Any, crs: str) -> Any:
    """Vertices of a system, a row each, as longitudes and latitudes."""
    over = transformer(crs)
    if over is None:
        return vertices
    # pyproj would take arrays of one element for numbers
    x, y = over.transform(*(vertices.T if len(vertices) > 1 else vertices.T.tolist()))
    back = np.column_stack(over.transform(x, y, direction="INVERSE"))
    room = _ROUNDING * np.maximum(1.0, np.abs(vertices))
    if not (np.isfinite(x) & np.isfinite(y)).all() or not (np.abs(back - vertices) <= room).all():
        raise GeometryError(f"it lies where {crs[:80]} is not defined")
    return np.column_stack([x, y])


def geographic_value(value: object, pairs: str, most_vertices: int | None) -> object:
    """Returns a position or a geometry with longitudes and latitudes: a pair is of the system
    `pairs`, a geometry of the one that its `crs` names."""
    if not isinstance(value, Mapping):
        return _moved(value, pairs, most_vertices) if pairs else value
    geometry = value.get("geometry") if value.get("type") == "Feature" else value
    said = value.get("crs", geometry.get("crs") if isinstance(geometry, Mapping) else None)
    return value if said is None else _moved(geometry, code_of(said), most_vertices)


def _moved(value: object, crs: str, most_vertices: int | None) -> Any:
    if transformer(crs) is None:
        return value
    found: list[tuple[float, float]] = []
    for x, y in _vertices(value, 0):
        found.append((x, y))
        if most_vertices is not None and len(found) > most_vertices:
            raise GeometryError(f"it has more than {most_vertices:,} vertices")
    if not found:
        return value
    moved = iter(brought(np.array(found, np.float64), crs).tolist())
    return _rebuilt(value, moved)


def _is_vertex(value: Sequence[Any]) -> bool:
    return len(value) > 0 and not isinstance(value[0], (list, tuple, np.ndarray))


def _vertices(value: object, depth: int) -> Iterator[tuple[float, float]]:
    """Yields the vertices of a geometry, of its coordinates, or of a pair."""
    if depth > DEEPEST:
        raise GeometryError(f"it is nested deeper than {DEEPEST}")
    if isinstance(value, Mapping):
        for inner in value.get("geometries") or (value.get("coordinates"),):
            yield from _vertices(inner, depth + 1)
        return
    if isinstance(value, np.ndarray) and value.ndim:
        value = list(value)
    if not isinstance(value, (list, tuple)):
        raise GeometryError(f"{value!r:.80} is not a position [x, y]")
    if not _is_vertex(value):
        for inner in value:
            yield from _vertices(inner, depth + 1)
        return
    try:
        if len(value) > 3 or isinstance(value[0], (bool, str)) or isinstance(value[1], (bool, str)):
            raise ValueError
        yield float(value[0]), float(value[1])
    except (IndexError, OverflowError, TypeError, ValueError):
        raise GeometryError(f"{value!r:.80} is not a position [x, y]") from None


def _rebuilt(value: Any, moved: Iterator[list[float]]) -> Any:
    """Returns the same with other vertices, in their order."""
    if isinstance(value, Mapping):
        if value.get("geometries"):
            inner = [_rebuilt(each, moved) for each in value["geometries"]]
            return {"type": value.get("type"), "geometries": inner}
        coordinates = _rebuilt(value.get("coordinates"), moved)
        return {"type": value.get("type"), "coordinates": coordinates}
    return next(moved) if _is_vertex(value) else [_rebuilt(each, moved) for each in value]
