"""Places from where people keep them: layers, tables and queries, in any coordinate system."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import shapely
from pyproj import Transformer

import tamis
from tamis.errors import OperatorError
from tamis_operators import spatial
from tamis_operators.spatial import PlaceSource
from tamis_operators.spatial.configuration import configured
from tamis_operators.spatial.errors import GazetteerError
from tamis_operators.spatial.gazetteer import Gazetteer, gazetteer_of
from tests.operators.spatial.oracle import at, box, collection, feature, line

FEET = "EPSG:2263"  # New York's, in US survey feet
SQUARE = shapely.box(-74.0, 40.70, -73.98, 40.72)
NAMES = np.array(["Square", "Broadway", "Broadway", None], object)
KINDS = np.array(["block", "street", "street", "street"], object)
SHAPES = [
    SQUARE,
    shapely.LineString([(-74.0, 40.7), (-73.99, 40.72)]),
    shapely.LineString([(-73.99, 40.72), (-73.98, 40.75)]),
    shapely.LineString([(-73.9, 40.7), (-73.9, 40.8)]),
]


def in_feet(geometry: Any) -> Any:
    over = Transformer.from_crs("OGC:CRS84", FEET, always_xy=True)
    return shapely.transform(geometry, lambda at: np.column_stack(over.transform(*at.T.tolist())))


def layer(path: Path, rows: Sequence[int] = (0, 1, 2, 3), crs: str = FEET, **options: Any) -> Path:
    raw = pytest.importorskip("pyogrio.raw", reason="pip install 'tamis[places]'")
    shapes = [SHAPES[at] if crs == "EPSG:4326" else in_feet(SHAPES[at]) for at in rows]
    raw.write(
        path,
        np.array([shapely.to_wkb(each) for each in shapes], object),
        [NAMES[list(rows)], KINDS[list(rows)]],
        ["NAME", "kind"],
        geometry_type="Unknown" if path.suffix in (".fgb", ".gpkg") else shapes[0].geom_type,
        crs=crs,
        **options,
    )
    return path


def parquet(path: Path, crs: object = None) -> Path:
    import pyarrow
    from pyarrow import parquet as writing
    from pyproj import CRS

    system = CRS.from_user_input(FEET).to_json_dict() if crs is None else crs
    table = pyarrow.table(
        {
            "name": list(NAMES),
            "kind": list(KINDS),
            "geom": [shapely.to_wkb(in_feet(each)) for each in SHAPES],
        }
    )
    geo = {
        "version": "1.1.0",
        "primary_column": "geom",
        "columns": {"geom": {"encoding": "WKB", "geometry_types": [], "crs": system}},
    }
    writing.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), path)
    return path


def loaded(*sources: Path | PlaceSource) -> Gazetteer:
    return gazetteer_of(configured(sources, built_in=False))


def check(places: Gazetteer) -> None:
    """The square and the street of two lines, to a centimetre; a line without name is none."""
    assert [(each.name, each.kind) for each in places.places] == [
        ("Square", "block"),
        ("Broadway", "street"),
    ]
    square, street = (each.geometry for each in places.places)
    assert shapely.hausdorff_distance(square, SQUARE) < 1e-7
    assert shapely.get_num_geometries(street) == 2
    far = places.distance_m(at([-73.99, 40.72]), 1)
    assert far < 0.02


def test_geopackage(tmp_path: Path) -> None:
    check(loaded(layer(tmp_path / "city.gpkg", layer="places")))


def test_geoparquet(tmp_path: Path) -> None:
    check(loaded(parquet(tmp_path / "city.parquet")))


def test_shapefiles_in_a_folder(tmp_path: Path) -> None:
    layer(tmp_path / "blocks.shp", [0])
    layer(tmp_path / "streets.shp", [1, 2, 3])
    check(loaded(tmp_path))
    before = configured(tmp_path).digest
    (tmp_path / "streets.cpg").write_text("UTF-8")
    (tmp_path / "blocks.prj").write_text("")
    assert configured(tmp_path).digest != before


def test_geojson_that_names_its_system(tmp_path: Path) -> None:
    features = [
        feature(name, json.loads(shapely.to_geojson(in_feet(shape))), kind=kind)
        for name, kind, shape in zip(NAMES[:3], KINDS[:3], SHAPES[:3], strict=True)
    ]
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::2263"}}
    file = tmp_path / "city.geojson"
    file.write_text(json.dumps({**collection(*features), "crs": crs}))
    check(loaded(file))
    file.write_text(json.dumps({**collection(*features), "crs": "the moon"}))
    with pytest.raises(GazetteerError, match="names no coordinate system"):
        loaded(file)


def table(path: Path, form: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table places (name text, kind text, geometry blob)")
        written = {
            "wkb": shapely.to_wkb,
            "ewkb": lambda each: shapely.to_wkb(shapely.set_srid(each, 2263), include_srid=True),
            "hex": lambda each: shapely.to_wkb(each, hex=True),
            "wkt": lambda each: shapely.to_wkt(each, rounding_precision=9),
            "geojson": shapely.to_geojson,
        }[form]
        for name, kind, shape in zip(NAMES.tolist(), KINDS.tolist(), SHAPES, strict=True):
            connection.execute(
                "insert into places values (?, ?, ?)", (name, kind, written(in_feet(shape)))
            )


def queried(path: Path, query: str = "select * from places", **said: str) -> PlaceSource:
    return PlaceSource(query=query, connect=functools.partial(sqlite3.connect, path), **said)


@pytest.mark.parametrize("form", ["wkb", "ewkb", "hex", "wkt", "geojson"])
def test_a_query(form: str, tmp_path: Path) -> None:
    table(tmp_path / "city.db", form)
    said = {} if form == "ewkb" else {"crs": FEET}
    check(loaded(queried(tmp_path / "city.db", **said)))


def test_a_query_of_duckdb_with_x_and_y() -> None:
    duckdb = pytest.importorskip("duckdb")
    query = "select 'Pier' as title, -74.01 as x, 40.70 as y union all select null, 1, 2"
    source = PlaceSource(query=query, connect=duckdb.connect, name="title", of_kind="pier")
    (pier,) = loaded(source).places
    assert (pier.name, pier.kind, pier.point) == ("Pier", "pier", (-74.01, 40.70))


def test_what_is_asked_of_a_database_travels_and_is_digested(tmp_path: Path) -> None:
    table(tmp_path / "city.db", "wkb")
    source = queried(tmp_path / "city.db", crs=FEET)
    before = configured(source).digest
    backwards = queried(tmp_path / "city.db", crs=FEET)
    assert configured(backwards).digest == before
    with contextlib.closing(sqlite3.connect(tmp_path / "city.db")) as connection, connection:
        connection.execute("delete from places where name = 'Square'")
    assert configured(source).digest != before
    matcher = tamis.Matcher(spatial.operators(source, built_in=False))
    matcher.subscribe("intersects(Broadway)", id="on")
    assert matcher.match({"position": box(-74.0, 40.7, -73.9, 40.8)}).matches


WRONG = [
    (queried(Path(":memory:")), "cannot be asked: OperationalError: no such table"),
    (
        queried(Path(":memory:"), "select 1 as a, 2 as geometry"),
        "no column 'name': it has a, geometry",
    ),
    (queried(Path(":memory:"), "select 'A' as name, 2 as b"), "neither a column 'geometry' nor x"),
    (
        queried(Path(":memory:"), "select 'A' as name, 'POINT (1 99)' as geometry"),
        r"row 1 \(A\).*latitude 99",
    ),
    (
        queried(Path(":memory:"), "select 'A' as name, 'POINT (1' as geometry"),
        r"row 1 \(A\): ParseException",
    ),
    (
        queried(Path(":memory:"), "select 'A' as name, 7 as geometry"),
        r"row 1 \(A\): a geometry is WKB, WKT or GeoJSON, not 7",
    ),
    (
        queried(Path(":memory:"), "select 'A' as name, 'west' as x, 2 as y"),
        r"row 1 \(A\): could not convert string to float: 'west'",
    ),
    (
        queried(
            Path(":memory:"), "select 'A' as name, 'CIRCULARSTRING (0 0, 1 1, 2 0)' as geometry"
        ),
        r"row 1 \(A\): ",
    ),
    (
        queried(Path(":memory:"), "select 'A' as name, 'POINT (1 2)' as geometry", crs="EPSG:0"),
        "EPSG:0 is not a known coordinate system",
    ),
    (
        queried(Path(":memory:"), "select 'A' as name, 'POINT (1e30 2)' as geometry", crs=FEET),
        "is not defined",
    ),
]


@pytest.mark.parametrize(("source", "reason"), WRONG)
def test_what_is_wrong_is_named(source: PlaceSource, reason: str) -> None:
    with pytest.raises(GazetteerError, match=reason):
        loaded(source)


def test_files_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "places.gpkg"
    file.write_bytes(b"nothing")
    with pytest.raises(GazetteerError, match=r"places.gpkg (does not begin|needs pyogrio: pip)"):
        loaded(file)
    other = tmp_path / "places.parquet"
    other.write_bytes(b"PAR1 nothing")
    with pytest.raises(GazetteerError, match=r"places\.parquet cannot be read"):
        loaded(other)


@pytest.mark.parametrize("ending", [".gpkg", ".fgb", ".shp"])
def test_no_file_names_another_one(tmp_path: Path, ending: str) -> None:
    pytest.importorskip("pyogrio", reason="pip install 'tamis[places]'")
    real = layer(tmp_path / "real.gpkg", layer="places")
    file = tmp_path / f"places{ending}"
    file.write_text(
        '<OGRVRTDataSource><OGRVRTLayer name="places">'
        f"<SrcDataSource>{real}</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>"
    )
    with pytest.raises(GazetteerError, match=f"does not begin as files that end with {ending}"):
        loaded(file)
    with pytest.raises(GazetteerError, match=r"files of places end with \.geojson"):
        loaded(PlaceSource(str(file.rename(tmp_path / "places.vrt"))))


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    content = layer(tmp_path / "city.fgb", SPATIAL_INDEX="NO").read_bytes()
    file = tmp_path / "cut.fgb"
    said = set()
    for length in (*range(0, len(content) // 2, 101), *range(len(content) // 2, len(content), 4)):
        file.write_bytes(content[:length])
        with pytest.raises(GazetteerError, match=re.escape(f"{file} ")) as refused:
            loaded(file)
        said.add(str(refused.value).removeprefix(f"{file} "))
    short = "says that it has 4 rows, and gives {}: it is cut short or damaged"
    assert {short.format(rows) for rows in range(4)} <= said


@pytest.mark.filterwarnings("ignore", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("ending", [".fgb", ".gpkg", ".parquet", ".shp"])
def test_damaged_files_are_read_or_refused(tmp_path: Path, ending: str) -> None:
    base = tmp_path / f"city{ending}"
    if ending == ".parquet":
        parquet(base)
    else:
        layer(base, [0] if ending == ".shp" else (0, 1, 2, 3))
    parts = {each: each.read_bytes() for each in tmp_path.iterdir()}
    random = Random(7)
    for _ in range(60):
        for part, content in parts.items():
            damaged = bytearray(content)
            for _ in range(random.choice([1, 2, 8])):
                at = random.randrange(min(len(damaged), random.choice([300, 1 << 20])))
                size = random.choice([1, 4, 8])
                edge = random.choice([0, 2 ** (8 * size) - 1, random.randrange(2 ** (8 * size))])
                damaged[at : at + size] = edge.to_bytes(size, "little")
            part.write_bytes(damaged)
        with contextlib.suppress(GazetteerError):
            loaded(base)


@pytest.mark.parametrize("said", [{"gazetteer": 5}, {"gazetteer": [None]}, {"crs": 5}])
def test_settings_of_other_kinds_are_refused(said: dict[str, Any]) -> None:
    with pytest.raises(OperatorError, match=r"files, folders or a PlaceSource, not|crs is a name"):
        spatial.operators(**said)


def test_layers_are_named(tmp_path: Path) -> None:
    file = layer(tmp_path / "city.gpkg", [0], layer="blocks")
    layer(file, [1, 2, 3], layer="streets", append=True)
    with pytest.raises(GazetteerError, match="has the layers blocks, streets: name one"):
        loaded(file)
    with pytest.raises(GazetteerError, match="its layers are blocks, streets"):
        loaded(PlaceSource(str(file), layer="parks"))
    check(loaded(PlaceSource(str(file), layer="blocks"), PlaceSource(str(file), layer="streets")))


@pytest.mark.parametrize(
    "said", [{}, {"path": "a", "query": "b"}, {"query": "b"}, {"path": "a", "connect": len}]
)
def test_a_source_is_a_file_or_a_query(said: dict[str, Any]) -> None:
    with pytest.raises(OperatorError, match="has a path, or a query"):
        PlaceSource(**said)


# positions


def feet(longitude: float, latitude: float) -> list[float]:
    (found,) = shapely.get_coordinates(in_feet(shapely.Point(longitude, latitude))).tolist()
    return [float(each) for each in found]


SAID = [
    {"type": "Point", "coordinates": feet(-73.897, 40.8448), "crs": "EPSG:2263"},
    {
        "type": "Feature",
        "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::2263"}},
        "geometry": {"type": "Point", "coordinates": feet(-73.897, 40.8448)},
    },
    {
        "type": "GeometryCollection",
        "crs": FEET,
        "geometries": [
            {"type": "Point", "coordinates": feet(-73.897, 40.8448)},
            line(feet(-73.897, 40.8448), feet(-73.89, 40.85)),
        ],
    },
    {"type": "Point", "coordinates": [-73.897, 40.8448], "crs": "EPSG:4326"},
]


@pytest.mark.parametrize("position", SAID)
def test_a_position_says_its_system(position: dict[str, Any]) -> None:
    matcher = tamis.Matcher(spatial.operators())
    matcher.subscribe("locIn(Bronx)", id="in")
    matcher.subscribe("locIn(Queens)", id="out")
    matcher.subscribe("position.north > 40.8 and position.north < 40.9", id="north")
    result = matcher.match({"position": position})
    assert [each.subscription for each in result.matches] == ["in", "north"]


def test_pairs_are_of_the_system_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    event = {"position": feet(-73.897, 40.8448)}
    for records in (spatial.operators(crs=FEET), None):
        if records is None:
            monkeypatch.setenv("TAMIS_CRS", FEET)
            records = spatial.operators()
        matcher = tamis.Matcher(records)
        matcher.subscribe("locIn(Bronx)", id="in")
        matcher.subscribe("locIn(?r)", id="all")
        matcher.subscribe("not locIn(Queens)", id="out")
        result = matcher.match(event)
        assert [each.subscription for each in result.matches] == ["all", "in", "out"]
        geometry = {"position": {"type": "Point", "coordinates": [-73.897, 40.8448]}}
        assert len(matcher.match(geometry).matches) == 3
    assert result.account.excluded == 1
    # a pair of small numbers is far away, and not where it would be in degrees
    small = {"position": [-73.897, 40.8448]}
    assert [each.subscription for each in matcher.match(small).matches] == ["out"]


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        ({"type": "Point", "coordinates": [1, 2], "crs": "the moon"}, "names no coordinate system"),
        ({"type": "Point", "coordinates": [1, 2], "crs": 7}, "names no coordinate system"),
        (
            {"type": "Point", "coordinates": [1, 2], "crs": "EPSG:1"},
            "not a known coordinate system",
        ),
        ({"type": "Point", "coordinates": [1e300, 2], "crs": FEET}, "is not defined"),
        ({"type": "Point", "coordinates": ["a", 2], "crs": FEET}, "is not a position"),
        ({"type": "Point", "coordinates": [[]], "crs": FEET}, "two or three numbers, not 1"),
        ({"type": "Point", "crs": FEET}, "is not a position"),
        (
            {"type": "LineString", "coordinates": [[0, 0]] * 20_000, "crs": FEET},
            "more than 10,000 vertices",
        ),
        ({"type": "Point", "coordinates": eval("[" * 40 + "]" * 40), "crs": FEET}, "nested deeper"),
        ({"type": "Point", "coordinates": [1, 2], "crs": "+proj=pipeline"}, "names no coordinate"),
    ],
)
def test_bad_positions_are_unknown(position: object, reason: str) -> None:
    matcher = tamis.Matcher(spatial.operators())
    matcher.subscribe("locIn(Bronx)", id="in")
    (found,) = matcher.match({"position": position}).undetermined
    assert reason in found.reason


def test_a_setting_that_names_no_system_is_refused() -> None:
    with pytest.raises(tamis.SubscriptionError, match="names no coordinate system"):
        tamis.Matcher(spatial.operators(crs="feet")).subscribe("locIn(Bronx)")
