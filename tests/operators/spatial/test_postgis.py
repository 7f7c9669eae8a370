"""Places from PostGIS: geometries in all its forms, in their own systems, and what changes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

import tamis
from tamis_operators import spatial
from tamis_operators.spatial import PlaceSource
from tests.framework.index.dbms.servers import postgresql, program

psycopg = pytest.importorskip("psycopg", reason="pip install 'tamis[database]'")
pytestmark = pytest.mark.skipif(
    program("initdb") is None or program("postgres") is None,
    reason="PostgreSQL is not there: apt install postgresql",
)
BLOCK = "POLYGON ((-74 40.7, -73.98 40.7, -73.98 40.72, -74 40.72, -74 40.7))"
STREETS = ("LINESTRING (-74 40.7, -73.99 40.72)", "LINESTRING (-73.99 40.72, -73.98 40.75)")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server with a block and a street, in feet of New York."""
    with postgresql() as found:
        with psycopg.connect(found, autocommit=True) as connection:
            try:
                connection.execute("create extension postgis")
            except psycopg.Error:
                pytest.skip("PostGIS is not there: apt install postgresql-15-postgis-3")
            connection.execute("create table places (name text, kind text, shape geometry)")
            for row in (("Block", "block", BLOCK), *(("Broadway", "street", s) for s in STREETS)):
                connection.execute(
                    "insert into places values "
                    "(%s, %s, st_transform(st_geomfromtext(%s, 4326), 2263))",
                    row,
                )
        yield found


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("shape", {}),
        ("st_transform(shape, 4326)::geography", {}),
        ("st_asbinary(shape)", {"crs": "EPSG:2263"}),
        ("st_astext(shape)", {"crs": "EPSG:2263"}),
        ("st_asgeojson(st_transform(shape, 4326))", {}),
    ],
)
def test_geometries_in_every_form(address: str, shape: str, said: dict[str, Any]) -> None:
    source = PlaceSource(
        query=f"select name, kind, {shape} as geometry from places",
        connect=partial(psycopg.connect, address),
        **said,
    )
    matcher = tamis.Matcher(spatial.operators(source, built_in=False))
    matcher.subscribe("locIn(Block)", id="in")
    matcher.subscribe("locIn(?region)", id="which")
    matcher.subscribe("locWithin(Broadway, 30m)", id="near")
    result = matcher.match({"position": [-73.99501, 40.71001]})
    assert [each.subscription for each in result.matches] == ["in", "near", "which"]
    assert result.matches[2].bindings == [{"region": "Block"}]
    (end,) = matcher.match({"position": [-73.9801, 40.75]}).matches
    assert end.subscription == "near"


def test_what_changes_in_the_database_is_taken(address: str) -> None:
    source = PlaceSource(
        query="select * from places", connect=partial(psycopg.connect, address), geometry="shape"
    )
    matcher = tamis.Matcher(spatial.operators(source, built_in=False))
    matcher.subscribe("locIn(Block)", id="in")
    here = {"position": [-73.99, 40.71]}
    assert len(matcher.match(here).matches) == 1
    with psycopg.connect(address) as connection:
        connection.execute("update places set name = 'Square' where name = 'Block'")
    assert "locIn" in matcher.refresh()
    (lost,) = matcher.match(here).undetermined
    assert "unknown region 'Block'" in lost.reason
    with psycopg.connect(address) as connection:
        connection.execute("update places set name = 'Block' where name = 'Square'")
    matcher.refresh()
    assert len(matcher.match(here).matches) == 1
