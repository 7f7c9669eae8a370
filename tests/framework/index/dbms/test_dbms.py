"""Subscriptions in a database: its tables, restarts, transactions, exact answers, and errors."""

from __future__ import annotations

import math
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.index.dbms.keys import key_of, ranges_of, reversed_key_of
from tamis.language.comparison import Comparison
from tamis.testing import FakeClock

DATABASES = ("sqlite", "duckdb")
METHODS = ("grouping", "sequential")
Open = Callable[..., tamis.Matcher]
NUMBERS: list[int | float] = [
    *(-math.inf, -(10**999), -(2**53) - 1, -(2.0**53), -1.5, -1, -5e-324, 0, 5e-324, 0.1, 1, 1.25),
    *(127, 128, 2**53, 2**53 + 1, 2**64, 1.7976931348623157e308, 10**400, 10**999, math.inf),
]


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def opened(database: str, tmp_path: Path) -> Open:
    def matcher(**more: Any) -> tamis.Matcher:
        options = {"database": database, "path": tmp_path / "subscriptions.db"}
        chosen = {name: more.pop(name) for name in ("method", "path") if name in more}
        return tamis.Matcher([], index="dbms", index_options=options | chosen, **more)

    return matcher


def found(matcher: tamis.Matcher, **event: Any) -> list[str]:
    return [each.subscription for each in matcher.match(event).matches]


def test_keys_are_in_the_order_of_the_values() -> None:
    keys = [key_of(value) for value in NUMBERS]
    assert keys == sorted(set(keys))
    assert key_of(-0.0) == key_of(0)
    assert key_of(2.0**53) == key_of(2**53)
    texts = ["", "\0", "a", "a\0", "aa", "b", "é", "\ud800", "\uffff", "\U00010000", "\U0010ffff"]
    assert [key_of(text) for text in texts] == sorted(map(key_of, texts))
    assert key_of(False) < key_of(True) < key_of(-math.inf) < key_of(math.inf) < key_of("")
    assert reversed_key_of("ab") == key_of("ba")


@pytest.mark.parametrize("value", [*NUMBERS, "", "a", "é\0", "\ud800", True, False])
@pytest.mark.parametrize("op", ["=", "!=", "<", "<=", ">", ">=", "starts with", "not ends with"])
def test_ranges_hold_what_satisfies_a_comparison(op: str, value: Any) -> None:
    if isinstance(value, str) <= ("with" in op) and isinstance(value, bool) <= (op in ("=", "!=")):
        if "with" in op and not isinstance(value, str):
            return
        comparison = Comparison(op, value)
        reads, stretches = ranges_of(comparison)
        others: list[Any] = [*NUMBERS, "", "a", "ab", "é\0", "\0é\0", "\ud800", True, False]
        for other in others:
            if reads == "reversed" and not isinstance(other, str):
                continue
            key = reversed_key_of(str(other)) if reads == "reversed" else key_of(other)
            holds = any(low <= key < high for low, high in stretches)
            assert holds == comparison.compiled()(other), (op, value, other)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_subscribed_is_there_again(opened: Open, method: str) -> None:
    with opened(method=method) as matcher:
        matcher.subscribe("a = 3 and b < 4 or c > 2.5", id="s1", data={"color": "red"})
        matcher.subscribe_many([{"id": "s2", "where": "x has fire", "deliver": {"once": True}}])
        matcher.subscribe("exists(z)", id="gone")
        matcher.subscribe("a = 4", id="s1", replace=True, data={"color": "blue"})
        matcher.unsubscribe("gone")
        assert found(matcher, a=4, x=["fire"], z=1) == ["s1", "s2"]
    for other in METHODS:
        with opened(method=other) as matcher:
            assert list(matcher) == ["s2", "s1"]
            assert matcher.subscription("s1").data == {"color": "blue"}
            assert matcher.subscription("s2").deliver == {"once": True}
            assert found(matcher, a=3, b=1, z=1) == []
            assert found(matcher, a=4, x=["fire"]) == ["s1", "s2"]


def test_ends_are_kept(opened: Open) -> None:
    clock = FakeClock()
    with opened(clock=clock) as matcher:
        matcher.subscribe("a = 1", id="short", validity=10)
        matcher.subscribe("a = 1", id="long", validity=10)
        matcher.renew("long", validity=100)
    clock.advance(20)
    with opened(clock=clock) as matcher:
        assert found(matcher, a=1) == ["long"]
        matcher.renew("long", validity=None)
    clock.advance(1_000)
    with opened(clock=clock) as matcher:
        assert list(matcher) == ["long"]


def test_anybody_reads_its_tables_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "subscriptions.db"
    with tamis.Matcher([], index="dbms", index_options={"path": path}) as matcher:
        matcher.subscribe("altitude < 400 and camera in {a, b} or not exists(c)", id="s1")
        matcher.subscribe("altitude < 400", id="s2")
        reader = sqlite3.connect(path)
        assert reader.execute(
            "SELECT a.subscription, p.attribute, p.operator, p.value FROM alternatives AS a"
            " JOIN alternative_predicates USING (alternative)"
            " JOIN predicates AS p USING (predicate) ORDER BY 1, 2"
        ).fetchall() == [
            ("s1", "altitude", "<", "400"),
            ("s1", "c", "not exists", "null"),
            ("s1", "camera", "in", '["a", "b"]'),
            ("s2", "altitude", "<", "400"),
        ]
        assert reader.execute("SELECT count(*) FROM predicates").fetchone() == (3,)
        matcher.unsubscribe("s1")
        assert reader.execute("SELECT operator FROM predicates").fetchall() == [("<",)]
        assert reader.execute("SELECT id FROM subscriptions").fetchall() == [("s2",)]
        reader.close()


def test_values_are_never_part_of_a_statement(opened: Open) -> None:
    wicked = "'); DROP TABLE subscriptions; --"
    with opened() as matcher:
        matcher.subscribe(f'`{wicked}` = "{wicked}"', id=wicked)
        assert found(matcher, **{wicked: wicked}) == [wicked]
    with opened() as matcher:
        assert found(matcher, **{wicked: wicked}) == [wicked]


def test_a_change_that_is_refused_changes_nothing(opened: Open) -> None:
    with opened() as matcher:
        matcher.subscribe("a = 1", id="s1")
        with pytest.raises(tamis.SubscriptionError):
            matcher.subscribe_many([{"id": "s2", "where": "a = 1"}, {"id": "s3", "where": "a ="}])
        with pytest.raises(KeyError):
            matcher.unsubscribe("s2")
        assert found(matcher, a=1) == ["s1"]
    with opened() as matcher:
        assert list(matcher) == ["s1"]


@pytest.mark.slow
def test_a_database_that_somebody_writes_into_is_locked(tmp_path: Path) -> None:
    path = tmp_path / "subscriptions.db"
    with tamis.Matcher([], index="dbms", index_options={"path": path}) as matcher:
        matcher.subscribe("a = 1", id="s1")
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(tamis.DatabaseError, match="database is locked"):
            matcher.subscribe("a = 1", id="s2")
        writer.execute("ROLLBACK")
        writer.close()
        matcher.subscribe("a = 1", id="s3")
        assert found(matcher, a=1) == ["s1", "s3"]


def test_a_change_that_fails_leaves_what_was_committed(opened: Open) -> None:
    matcher = opened()
    matcher.subscribe("a = 1", id="s1")
    table = matcher._sieve._all._database  # type: ignore[attr-defined]
    table.execute("ALTER TABLE subscriptions RENAME TO others")
    with pytest.raises(tamis.DatabaseError, match="subscriptions"):
        matcher.subscribe("a = 1", id="s2")
    for use in (lambda: matcher.match({"a": 1}), lambda: matcher.unsubscribe("s1")):
        with pytest.raises(tamis.DatabaseError, match="a change of it failed: open it again"):
            use()
    matcher.close()
    with pytest.raises(tamis.DatabaseError, match="subscriptions"):
        opened()


def test_what_cannot_be_opened_is_said(opened: Open, tmp_path: Path, database: str) -> None:
    with opened() as matcher:
        matcher.subscribe("a = 1", id="s1")
        with pytest.raises(tamis.DatabaseError, match="is locked: another matcher or index"):
            opened()
        with pytest.raises(tamis.DatabaseError, match="open it again by its path"):
            matcher.save(tmp_path / "saved")
    with pytest.raises(tamis.DatabaseError, match="is closed: open it again"):
        matcher.match({"a": 1})
    options: dict[str, Any] = {"database": database, "path": tmp_path / "subscriptions.db"}
    with pytest.raises(tamis.DatabaseError, match="holds subscriptions, not clauses"):
        tamis.index.build("dbms", [], **options)
    with pytest.raises(tamis.DatabaseError, match="there is no folder"):
        opened(path=tmp_path / "none" / "x.db")
    with pytest.raises(tamis.DatabaseError, match="is a folder"):
        opened(path=tmp_path)
    (tmp_path / "text.db").write_text("these are no tables" * 1_000)
    with pytest.raises(tamis.DatabaseError, match=r"text\.db"):
        opened(path=tmp_path / "text.db")


def _altered(database: str, path: Path, *statements: str) -> None:
    if database == "sqlite":
        connection: Any = sqlite3.connect(path, isolation_level=None)
    else:
        import duckdb

        connection = duckdb.connect(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_a_database_of_something_else_or_of_later_is_refused(
    opened: Open, tmp_path: Path, database: str
) -> None:
    _altered(database, tmp_path / "other.db", "CREATE TABLE invoices (a TEXT)")
    with pytest.raises(tamis.DatabaseError, match=r"something else \(invoices\)"):
        opened(path=tmp_path / "other.db")
    opened().close()
    later = "UPDATE about SET value = '99' WHERE name = 'format_version'"
    _altered(database, tmp_path / "subscriptions.db", later)
    with pytest.raises(tamis.DatabaseError, match="is of format 99, and this tamis reads 1"):
        opened()


def test_what_cannot_be_taken_any_more_is_said(opened: Open) -> None:
    @tamis.operator
    def loud(event: Any) -> bool:
        return bool(event["loud"])

    with opened(also=[loud]) as matcher:
        matcher.subscribe("loud() and a = 1", id="s1")
    with pytest.raises(tamis.DatabaseError, match=r"keeps what cannot be taken: .*s1.*loud"):
        opened()
    with opened(also=[loud]) as matcher:
        assert found(matcher, a=1, loud=True) == ["s1"]


@pytest.mark.parametrize("document", ["nonsense", "[3]", None])
def test_a_damaged_document_is_said(tmp_path: Path, document: str | None) -> None:
    options: dict[str, Any] = {"path": tmp_path / "x.db"}
    alone: dict[str, Any] = {"path": tmp_path / "y.db"}
    with tamis.Matcher([], index="dbms", index_options=options) as matcher:
        matcher.subscribe("a = 1", id="s1")
    tamis.index.build("dbms", [("s1", [("a", "=", 1)])], **alone).close()
    for each in (options, alone):
        with closing(sqlite3.connect(each["path"])) as database, database:
            database.execute("UPDATE subscriptions SET document = ?", (document,))
    with pytest.raises(tamis.DatabaseError, match=r"x\.db keeps what cannot be taken: "):
        tamis.Matcher([], index="dbms", index_options=options)
    with pytest.raises(tamis.DatabaseError, match=r"y\.db keeps what cannot be taken: "):
        tamis.index.build("dbms", [], **alone)


def test_declarations_are_beside_what_is_kept(opened: Open) -> None:
    def near(event: Any, arguments: Any) -> bool:
        return bool(event["near"])

    declared = tamis.operator(
        inputs=("near",), necessary=lambda arguments: [("position.west", "<", 10)]
    )(near)
    with opened(also=[declared]) as matcher:
        matcher.subscribe("near(1) and a = 1", id="s1")
        inside = {"a": 1, "near": True, "position": [3, 4]}
        assert found(matcher, **inside) == ["s1"]
        assert found(matcher, **{**inside, "position": [13, 4]}) == []


@pytest.mark.parametrize("method", METHODS)
def test_an_index_alone_is_there_again(database: str, method: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"database": database, "path": tmp_path / "x.db", "method": method}
    index = tamis.index.build(
        "dbms", [("3", [("x", "=", 3)]), (3, [("x", "in", [3, "a"])])], **options
    )
    index.insert_many([(-5, []), ("\ud800\0", [("x", "exists", None)]), ("#3", [])])
    with pytest.raises(KeyError):
        index.delete("unknown")
    with pytest.raises(ValueError, match="taken"):
        index.insert(3, [])
    index.delete(-5)
    index.close()
    index = tamis.index.build("dbms", [("new", [])], **options)
    assert set(index.match({"x": 3}).tolist()) == {"3", 3, "\ud800\0", "#3", "new"}
    index.close()


@pytest.mark.parametrize("clauses", [10, 50])
@pytest.mark.parametrize("method", METHODS)
def test_many_clauses_are_one_alternative(opened: Open, method: str, clauses: int) -> None:
    text = " and ".join(f"(a{n} = 1 or b{n} in [2, 5))" for n in range(clauses))
    with opened(method=method) as matcher:
        matcher.subscribe(text, id="s1")
        (rows,) = matcher._sieve._all._database.execute(  # type: ignore[attr-defined]
            "SELECT count(*), sum(clauses) FROM alternatives"
        )
        assert rows == (1, clauses)
        event = {f"{'ab'[n % 2]}{n}": 1 + 2 * (n % 2) for n in range(clauses)}
        assert found(matcher, **event) == ["s1"]
        assert found(matcher, **{**event, "a4": 2}) == []


def test_events_of_very_many_values(opened: Open) -> None:
    with opened() as matcher:
        matcher.subscribe("tags has 40000 and tags has none {x} and b > 3", id="s1")
        event: dict[str, Any] = {"tags": [*range(60_000)], "b": 4}
        assert found(matcher, **event) == ["s1"]
        assert found(matcher, **{**event, "tags": [*range(30_000)]}) == []


def test_many_threads(database: str) -> None:
    matcher = tamis.Matcher([], index="dbms", index_options={"database": database})
    matcher.subscribe_many({"id": f"s{n}", "where": f"a >= {n}"} for n in range(20))
    wrong: list[object] = []

    def work(number: int) -> None:
        for each in range(10):
            matcher.subscribe("a = -1", id=f"more {number} {each}")
            event = {"a": (number * 7 + each) % 20}
            right = sorted(f"s{n}" for n in range(event["a"] + 1))
            if found(matcher, **event) != right:
                wrong.append(event)
            matcher.unsubscribe(f"more {number} {each}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"database": "oracle"}, "database is one of sqlite, duckdb, postgresql, not 'oracle'"),
        ({"method": "guess"}, "method is one of sequential, grouping, not 'guess'"),
        ({"path": 3}, "path is that of a file, or an address, not 3"),
        ({"path": ""}, "path is that of a file"),
    ],
)
def test_what_is_no_option_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(tamis.WrongOption, match=words):
        tamis.Matcher([], index="dbms", index_options=options)
