"""Chooses gazetteer files: bundled ones, given ones, or those that `TAMIS_GAZETTEER` lists.

A configuration is plain and travels: with it goes a digest of what the files hold, which is part of
the operators' version, so that answers and statistics of two gazetteers never mix, and another
machine with other files says so.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tamis import OperatorError

INPUT = "position"
VARIABLE, CRS_VARIABLE = "TAMIS_GAZETTEER", "TAMIS_CRS"
DATA = Path(__file__).with_name("data")
GEOJSON, PARQUET = (".geojson", ".json"), (".parquet", ".geoparquet")
SUFFIXES = (*GEOJSON, *PARQUET, ".gpkg", ".shp", ".fgb")
MOST_VERTICES = 10_000
MOST_PLACES = 1_000_000
"""Rows of a table that are read."""
_MEANING = b"1"  # what the operators mean; a new one when answers change
_UNREADABLE = "unreadable"


@dataclass(frozen=True)
class PlaceSource:
    """A source of places: a file with a layer, or a query to a database.

    `name`, `kind` and `geometry` are its columns, `of_kind` is the kind of all that say none, and
    `crs` the coordinate system where it is not said. `connect` makes a connection of DB-API; a
    query without a column of geometries has `x` and `y`."""

    path: str = ""
    layer: str = ""
    query: str = ""
    connect: Callable[[], Any] | None = None
    name: str = "name"
    kind: str = "kind"
    of_kind: str = ""
    geometry: str = "geometry"
    crs: str = ""

    def __post_init__(self) -> None:
        if bool(self.path) == bool(self.query) or bool(self.query) != callable(self.connect):
            raise OperatorError(
                "a tamis_operators.spatial.PlaceSource has a path, or a query and a function "
                "`connect` that connects to the database"
            )
        if self.path:
            path = os.path.abspath(os.path.expanduser(os.fspath(self.path)))
            object.__setattr__(self, "path", path)

    def __str__(self) -> str:
        return f"{self.path}{self.layer and f', layer {self.layer}'}" or f"{self.query:.80}"


GazetteerSource = str | os.PathLike[str] | PlaceSource
_SOURCES = (str, os.PathLike, PlaceSource)


@dataclass(frozen=True)
class Configuration:
    """The sources of a gazetteer, the most vertices of a position, and the coordinate system of a
    pair."""

    sources: tuple[str | PlaceSource, ...]
    built_in: bool
    most_vertices: int
    digest: str
    crs: str = ""

    @property
    def files(self) -> list[Path | PlaceSource]:
        """All files, the bundled ones first, each once; `OSError` for a path that is not there."""
        return _files(self.sources, built_in=self.built_in)

    @property
    def is_boxed(self) -> bool:
        """True if the boxes of positions, which the environment sets up, are those of its pairs."""
        return self.crs == crs_of_pairs()


def crs_of_pairs() -> str:
    """Returns the coordinate system of a pair as the environment says it; none for degrees."""
    return os.environ.get(CRS_VARIABLE, "")


def configured(
    gazetteer: GazetteerSource | Iterable[GazetteerSource] | None = None,
    *,
    built_in: bool = True,
    max_vertices: int = MOST_VERTICES,
    crs: str | None = None,
) -> Configuration:
    """Returns the configuration of these settings; without sources, of the environment."""
    if gazetteer is None:
        gazetteer = [each for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]
    elif isinstance(gazetteer, _SOURCES) or not isinstance(gazetteer, Iterable):
        gazetteer = [gazetteer]
    given = tuple(gazetteer)
    for each in given:
        if not isinstance(each, _SOURCES):
            raise OperatorError(f"places are in files, folders or a PlaceSource, not {each!r:.80}")
    if isinstance(max_vertices, bool) or not isinstance(max_vertices, int) or max_vertices < 1:
        raise OperatorError(f"max_vertices is a whole number above 0, not {max_vertices!r}")
    crs = crs_of_pairs() if crs is None else crs
    if not isinstance(crs, str):
        raise OperatorError(f"crs is a name as EPSG:2263, not {crs!r:.80}")
    sources = tuple(
        each if isinstance(each, PlaceSource) else os.path.abspath(os.path.expanduser(each))
        for each in given
    )
    whole = Configuration(sources, built_in, max_vertices, "", crs)
    return replace(whole, digest=digest_of(whole))


def digest_of(configuration: Configuration) -> str:
    """Digests what sources hold now; unreadable ones are reported when they are needed."""
    whole = hashlib.sha256(_MEANING + str(configuration.most_vertices).encode())
    whole.update(configuration.crs.encode())
    try:
        for each in configuration.files:
            for part in _parts(each):
                whole.update(hashlib.sha256(part).digest())
    except Exception:  # a database has its own ways to say that it cannot be read
        return _UNREADABLE
    return whole.hexdigest()[:12]


def _parts(source: Path | PlaceSource) -> Iterator[bytes]:
    """Yields the content of a source, and how it is read."""
    if isinstance(source, PlaceSource):
        how = (source.layer, source.query, source.name, source.kind, source.of_kind)
        yield repr((*how, source.geometry, source.crs)).encode()
        if source.query:
            columns, rows = rows_of(source)
            yield repr(columns).encode()
            yield from sorted(repr(tuple(row)).encode() for row in rows)
            return
        source = Path(source.path)
    yield source.read_bytes()
    if source.suffix.lower() == ".shp":
        for other in sorted(source.parent.glob(f"{glob.escape(source.stem)}.*")):
            yield other.name.encode() + other.read_bytes()


def rows_of(source: PlaceSource) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Returns the columns and rows that a query gives now."""
    assert source.connect is not None
    with closing(source.connect()) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(source.query)
        columns = [str(each[0]) for each in cursor.description]
        rows = [tuple(row) for row in cursor.fetchmany(MOST_PLACES + 1)]
    if len(rows) > MOST_PLACES:
        raise OperatorError(f"{source} gives more than {MOST_PLACES:,} rows")
    return columns, rows


def _files(sources: Iterable[str | PlaceSource], *, built_in: bool) -> list[Path | PlaceSource]:
    found: dict[object, Path | PlaceSource] = {}
    for given in [*([str(DATA)] if built_in else []), *sources]:
        if isinstance(given, PlaceSource):
            if given.path and not os.path.isfile(given.path):
                raise FileNotFoundError(f"there is no file {given.path}")
            found[given] = given
            continue
        path = Path(given)
        if path.is_dir():
            inner = sorted(each for each in path.rglob("*") if each.suffix.lower() in SUFFIXES)
            if not inner:
                endings = ", ".join(SUFFIXES)
                raise FileNotFoundError(f"the folder {path} has no file of {endings}")
        elif path.is_file():
            inner = [path]
        else:
            raise FileNotFoundError(f"there is no file or folder {path}")
        found |= {os.path.realpath(each): each for each in inner if each.is_file()}
    return list(found.values())
