"""A real PostgreSQL, started by the test: one index in it, restarts, errors, and its tables."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.testing import clauses, events, satisfies
from tests.framework.index.dbms.servers import postgresql, program

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        importlib.util.find_spec("psycopg") is None,
        reason="psycopg is not there: pip install 'tamis[database]'",
    ),
    pytest.mark.skipif(
        program("initdb") is None or program("postgres") is None,
        reason="PostgreSQL is not there: apt install postgresql",
    ),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with postgresql() as found:
        yield found


@pytest.fixture
def options(address: str) -> dict[str, Any]:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS tamis CASCADE")
    return {"database": "postgresql", "path": address}


def test_subscriptions_are_in_its_tables_and_there_again(options: dict[str, Any]) -> None:
    import psycopg

    with tamis.Matcher([], index="dbms", index_options=options) as matcher:
        matcher.subscribe("a > 9007199254740992 and name starts with 'é'", id="s1")
        matcher.subscribe("tags has none {fire} or b in {1, yes}", id="s2")
        matcher.subscribe("a = 1", id="gone")
        matcher.unsubscribe("gone")
        with pytest.raises(tamis.DatabaseError, match="is locked: another"):
            tamis.Matcher([], index="dbms", index_options=options)
        with psycopg.connect(options["path"]) as connection:
            found = connection.execute("SELECT id, document FROM tamis.subscriptions ORDER BY id")
            assert [id for id, _ in found] == ["s1", "s2"]
            owners = connection.execute("SELECT DISTINCT subscription FROM tamis.alternatives")
            assert {id for (id,) in owners} == {"s1", "s2"}
    with tamis.Matcher(
        [], index="dbms", index_options={**options, "method": "sequential"}
    ) as matcher:
        event = {"a": 9007199254740993, "name": "école", "tags": ["x"]}
        assert [each.subscription for each in matcher.match(event).matches] == ["s1", "s2"]
        event = {"a": 9007199254740992, "name": "école", "b": "yes"}
        assert [each.subscription for each in matcher.match(event).matches] == ["s2"]


def test_errors_are_sentences(options: dict[str, Any], address: str) -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA tamis")
        connection.execute("CREATE TABLE tamis.others (a TEXT)")
    with pytest.raises(tamis.DatabaseError, match="holds tables of something else \\(others\\)"):
        tamis.index.build("dbms", [], **options)
    with pytest.raises(tamis.DatabaseError, match="No such file or directory"):
        tamis.index.build("dbms", [], database="postgresql", path="postgresql:///x?host=/nowhere")
    with pytest.raises(tamis.WrongOption, match="the address of PostgreSQL"):
        tamis.index.build("dbms", [], database="postgresql")


@pytest.mark.parametrize("method", ["grouping", "sequential"])
def test_answers_are_exact(options: dict[str, Any], method: str) -> None:
    index = tamis.index.build("dbms", [], **options, method=method)

    @settings(max_examples=15)
    @given(
        st.lists(clauses(), min_size=4, max_size=20),
        st.lists(events(operators=False), min_size=2, max_size=4),
    )
    def check(asked: list[Any], documents: list[dict[str, Any]]) -> None:
        index.insert_many(enumerate(asked))
        for document in documents:
            right = {id for id, each in enumerate(asked) if satisfies(document, each)}
            assert set(index.match(document).tolist()) == right
        index.delete_many(range(len(asked)))

    check()
    index.close()
