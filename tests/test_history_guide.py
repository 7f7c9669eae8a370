"""The guide to history is right: its types, columns and queries are those of the code."""

from __future__ import annotations

import ast
import json
import re
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.event import Event
from tamis.files.reading import Events
from tamis.learning.chunks import chunks_of, counts_of
from tamis.learning.lesson import Lesson

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pandas = pytest.importorskip("pandas")

GUIDE = (Path(__file__).resolve().parents[1] / "framework" / "HISTORY.md").read_text("utf-8")
TYPES = re.findall(r"^\| (.+?) \| `(.+?)` \| `(.+?)` \| (.+?) \|$", GUIDE, re.MULTILINE)
COLUMNS = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", GUIDE, re.MULTILINE)
QUERIES = re.findall(r"```sql\n(.*?)```\n```python\n(.*?)```", GUIDE, re.DOTALL)
VALUES = {"UTC": UTC, "Decimal": Decimal, "date": date, "datetime": datetime, "time": time}
VALUES["timedelta"] = timedelta


@tamis.operator(inputs=("people",), outputs=("n",))
def count(event: Any, n: object) -> list[int]:
    return [event["people"]]


@pytest.mark.parametrize(("column", "kind", "value", "shown"), TYPES, ids=[row[0] for row in TYPES])
def test_types_become_what_the_guide_says(
    column: str, kind: str, value: str, shown: str, tmp_path: Path
) -> None:
    given = eval(value, dict(VALUES))
    type_ = eval(kind, vars(arrow).copy())
    table = arrow.table({"a": arrow.array([given], type_)})
    parquet.write_table(table, tmp_path / "t.parquet")
    [line] = Events([str(tmp_path / "t.parquet")])
    event = Event.of(line.document, str)
    if shown == "absent":
        assert not event.present("a")
    elif shown == "bytes":
        assert type(event.value("a")) is bytes
        assert event.scalar("a") is None
    else:
        expected = json.loads(shown.strip("`"))
        assert event.value("a") == expected
        assert type(event.value("a")) is type(expected)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learned")
    with (folder / "e.jsonl").open("w") as file:
        for at in range(50):
            event = {"a": at % 7, "people": at % 5, "flag": at % 2 == 0, "tags": ["x"], "b": "y"}
            event = {name: each for name, each in event.items() if at % (1 + len(name))}
            file.write(json.dumps({**event, "id": f"e{at}"}) + "\n")
    where = ["a > 3 and count(?n), ?n > 2", "a > 100", "b = y or count(7)", "flag = true"]
    lesson = Lesson(where, [count])
    statistics = lesson.statistics(
        counts_of(chunks_of([str(folder / "e.jsonl")], 999), lesson.task)
    )
    statistics.save(folder / "learned")
    return folder


def test_the_columns_are_those_of_the_tables(learned: Path) -> None:
    for table in ("predicates", "attributes", "answers"):
        names = parquet.read_table(learned / "learned" / table).column_names
        assert [column for name, column in COLUMNS if name == table] == names
    rest = {each.name for each in (learned / "learned").iterdir() if each.is_dir()}
    assert rest == {*dict(COLUMNS), "spaces", "cells", "sample", "events"}


@pytest.mark.parametrize(("sql", "python"), QUERIES)
def test_the_queries_agree(
    sql: str, python: str, learned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(learned)
    one = duckdb.sql(sql).df()
    names = {"pandas": pandas, "json": json, "Path": Path}
    *lines, last = ast.parse(python).body
    exec(compile(ast.Module(lines, []), "guide", "exec"), names)
    assert isinstance(last, ast.Expr)
    other = eval(compile(ast.Expression(last.value), "guide", "eval"), names)
    assert len(one) >= 2
    pandas.testing.assert_frame_equal(one, other.reset_index(drop=True), check_dtype=False)


def test_the_guide_shows_much() -> None:
    assert (len(TYPES), len(QUERIES)) >= (20, 4)
