"""Reads places from tables: layers of GeoPackage and Shapefile, GeoParquet, queries to databases.

Each row with a name becomes a feature as GeoJSON has them, in longitudes and latitudes, so that
the same is checked of all. Invariant: the order of a query's rows changes nothing that is known of
them.
Cost: 50 µs a row.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import shapely

from tamis import OperatorError
from tamis_operators.spatial.configuration import (
    MOST_PLACES,
    PARQUET,
    SUFFIXES,
    PlaceSource,
    rows_of,
)
from tamis_operators.spatial.crs import brought, code_of
from tamis_operators.spatial.errors import GazetteerError, GeometryError

_OPENINGS = {".gpkg": b"SQLite format 3\0", ".shp": b"\0\0\x27\x0a", ".fgb": b"fgb"}
"""The first bytes of files, by their endings."""
_WRONG = (GeometryError, NotImplementedError, TypeError, ValueError)  # the second of curves
_SAID = ("names", "aliases", "replaces", "union")
_INSTALL = "pip install 'tamis[places]'"

Row = tuple[str, dict[str, Any]]
"""Its origin, and the feature."""


def features_of(source: PlaceSource) -> Iterator[Row]:
    """Yields the features of a source; `GazetteerError` names what cannot be read."""
    table = _queried(source) if source.query else _read(source)
    name, kind = table.column(source.name), table.column(source.kind)
    if name is None:
        known = ", ".join(table.columns)
        raise GazetteerError(f"{source} has no column {source.name!r}: it has {known or 'none'}")
    others = {key: at for key in _SAID if (at := table.column(key)) is not None}
    for number, (row, geometry) in enumerate(zip(table.rows, table.geometries, strict=True), 1):
        if not isinstance(row[name], str) or not row[name].strip():
            continue
        where = f"{source}, row {number}"
        said: dict[str, Any] = {"name": row[name], "kind": source.of_kind or None}
        if kind is not None and row[kind]:
            said["kind"] = str(row[kind])
        said |= {key: row[at] for key, at in others.items() if row[at]}
        try:
            yield where, _feature(said, geometry, source.crs or table.crs)
        except (*_WRONG, shapely.errors.ShapelyError) as failure:
            raise GazetteerError(f"{where} ({row[name]}): {failure}") from failure


def _feature(said: dict[str, Any], raw: object, crs: str) -> dict[str, Any]:
    geometry = None if raw is None else _geometry(raw)
    if geometry is not None:
        own = int(shapely.get_srid(geometry))
        system = f"EPSG:{own}" if own else crs
        geometry = shapely.force_2d(geometry)
        if system:
            geometry = shapely.transform(geometry, lambda at: brought(at, system))
        geometry = json.loads(shapely.to_geojson(geometry))
    return {"type": "Feature", "properties": said, "geometry": geometry}


def _geometry(raw: Any) -> Any:
    """Returns a geometry as WKB, as its hexadecimal digits, as WKT, as GeoJSON, or as x and y."""
    if isinstance(raw, tuple):
        return shapely.Point(*map(float, raw))
    if isinstance(raw, (bytes, bytearray, memoryview)):
        return shapely.from_wkb(bytes(raw))
    if not isinstance(raw, str):
        raise GeometryError(f"a geometry is WKB, WKT or GeoJSON, not {raw!r:.80}")
    if raw.lstrip().startswith("{"):
        return shapely.from_geojson(raw)
    is_hexadecimal = raw[:2] in ("00", "01")
    return shapely.from_wkb(raw) if is_hexadecimal else shapely.from_wkt(raw)


class _Table:
    """Rows, their geometries, and the coordinate system of these."""

    def __init__(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        geometries: Iterable[object],
        crs: str,
    ) -> None:
        self.columns = list(columns)
        self.rows = rows
        self.geometries = geometries
        self.crs = crs

    def column(self, name: str) -> int | None:
        """Returns the place of a column: of that very name, else of that name but for its case."""
        if name in self.columns:
            return self.columns.index(name)
        lower = [each.lower() for each in self.columns]
        return lower.index(name.lower()) if name.lower() in lower else None


def _queried(source: PlaceSource) -> _Table:
    try:
        columns, rows = rows_of(source)
    except OperatorError:
        raise
    except Exception as failure:  # each database has exceptions of its own
        words = f"{type(failure).__name__}: {failure}"
        raise GazetteerError(f"{source} cannot be asked: {words}") from failure
    table = _Table(columns, rows, (), "")
    at = table.column(source.geometry)
    if at is not None:
        table.geometries = [row[at] for row in rows]
        return table
    x, y = table.column("x"), table.column("y")
    if x is None or y is None:
        raise GazetteerError(
            f"{source} has neither a column {source.geometry!r} nor x and y: it has "
            + ", ".join(columns)
        )
    table.geometries = [
        None if row[x] is None or row[y] is None else (row[x], row[y]) for row in rows
    ]
    return table


def _read(source: PlaceSource) -> _Table:
    try:
        return _parquet(source) if Path(source.path).suffix.lower() in PARQUET else _layer(source)
    except ImportError as missing:
        raise GazetteerError(f"{source} needs {missing.name}: {_INSTALL}") from missing
    except GazetteerError:
        raise
    except Exception as failure:  # GDAL and Arrow have many ways to say that a file is none
        why = " ".join(str(failure).split())
        raise GazetteerError(f"{source} cannot be read: {why}") from failure


def _layer(source: PlaceSource) -> _Table:
    from pyogrio import list_layers, raw, read_info

    _check_opening(source)
    layers = [str(name) for name, kind in list_layers(source.path) if kind is not None]
    if not layers:
        raise GazetteerError(f"{source} has no layer with geometries")
    if source.layer and source.layer not in layers:
        raise GazetteerError(f"{source}: its layers are {', '.join(layers)}")
    if not source.layer and len(layers) > 1:
        raise GazetteerError(
            f"{source} has the layers {', '.join(layers)}: name one, "
            'spatial.PlaceSource("…", layer="…")'
        )
    layer = source.layer or layers[0]
    there = int(read_info(source.path, layer=layer)["features"])
    _check_count(source, there)
    meta, _, geometries, fields = raw.read(
        source.path, layer=layer, force_2d=True, max_features=MOST_PLACES + 1
    )
    _check_count(source, len(geometries))
    if len(geometries) < there:  # a file that is cut short is read without a word
        raise GazetteerError(
            f"{source} says that it has {there:,} rows, and gives {len(geometries):,}: it is cut "
            "short or damaged"
        )
    rows = zip(*(each.tolist() for each in fields), strict=True) if fields else ()
    return _Table([str(each) for each in meta["fields"]], rows, geometries, meta["crs"] or "")


def _check_opening(source: PlaceSource) -> None:
    """Refuses a file that is not what its name says: GDAL goes by what a file holds, and some
    formats name other files and addresses, which it opens."""
    ending = Path(source.path).suffix.lower()
    if ending not in SUFFIXES:
        raise GazetteerError(f"{source}: files of places end with {', '.join(SUFFIXES)}")
    with open(source.path, "rb") as file:
        first = file.read(1_000)
    is_it = (
        first.startswith(_OPENINGS[ending])
        if ending in _OPENINGS
        else first.removeprefix(BOM_UTF8).lstrip().startswith(b"{")
    )
    if not is_it:
        raise GazetteerError(f"{source} does not begin as files that end with {ending} do")


def _parquet(source: PlaceSource) -> _Table:
    from pyarrow import parquet

    with closing(parquet.ParquetFile(source.path)) as file:
        told = (file.schema_arrow.metadata or {}).get(b"geo")
        if told is None:
            raise GazetteerError(f"{source} is not GeoParquet: it says nothing of geometries")
        _check_count(source, file.metadata.num_rows)
        geo = json.loads(told)
        primary = geo["primary_column"]
        about = geo["columns"][primary]
        if about.get("encoding") != "WKB":
            raise GazetteerError(f"{source}: its geometries are {about.get('encoding')}, not WKB")
        plain = [
            each.name
            for each in file.schema_arrow
            if each.name in geo["columns"] or not _is_nested(each.type)
        ]
        table = file.read(columns=plain)
    columns = [each for each in table.column_names if each not in geo["columns"]]
    rows = zip(*(table.column(each).to_pylist() for each in columns), strict=True)
    crs = about.get("crs", "")
    system = json.dumps(crs) if isinstance(crs, dict) else str(crs or "")
    return _Table(columns, rows, table.column(primary).to_pylist(), system)


def _is_nested(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_nested(kind)) and not types.is_list(kind)


def _check_count(source: PlaceSource, count: int) -> None:
    if count > MOST_PLACES:
        raise GazetteerError(f"{source} has more than {MOST_PLACES:,} rows")


def system_of(document: Any) -> str:
    """Returns the coordinate system that a GeoJSON document names, as it once could."""
    said = document.get("crs")
    return "" if said is None else code_of(said)
