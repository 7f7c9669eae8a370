"""The history of the bench is matched as in one process, and small jobs learn from all of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tamis import Matcher
from tamis.files.reading import Events
from tamis_bench import spark_history

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")


def events_of(place: str) -> list[dict[str, Any]]:
    return [line.document for line in Events([place]) if isinstance(line.document, dict)]


@pytest.mark.slow
def test_a_history_is_matched_by_the_command(tmp_path: Path) -> None:
    [row] = spark_history.measured(cores=1, events=40, passes=1, seed=3)
    place = spark_history.write_history(tmp_path / "h", 40, 3)
    matcher = Matcher([spark_history.louderHere, spark_history.peopleHere])
    matcher.subscribe_many(spark_history.subscriptions_of(spark_history.SUBSCRIPTIONS, 3))
    found = [matcher.match(event) for event in events_of(place)]
    matches = sum(len(result.matches) for result in found)
    assert (row["events"], row["subscriptions"], row["matches"]) == (40, 5_000, matches)
    assert matches > 40 * 80
    assert row["seconds"] > 0
    json.dumps(row)


def test_a_history_has_columns_of_all_kinds(tmp_path: Path) -> None:
    place = spark_history.write_history(tmp_path / "h", 40, 3)
    events = events_of(place)
    assert len(events) == 40
    first = events[0]
    assert len(first) == 40
    assert first["time"] == "2026-01-01T00:00:00+00:00"
    assert {type(first[name]) for name in ("meta", "tags")} == {dict, list}
    assert any(event["n00"] is None for event in events)
