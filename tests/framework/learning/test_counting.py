"""Checks that counts of attributes are exact, in whatever parts the events came."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.event import DerivedAttribute, Event
from tamis.index.clauses import Clause, predicate_of
from tamis.language.values import KIND_NAMES, as_scalar, canonical_number, kind_of
from tamis.learning.counts import Counts, merged
from tamis.learning.learner import Learner, Task
from tamis.learning.predicates import Questions
from tamis.plugins.loader import installed
from tamis.spaces.cells import Element
from tamis.statistics import Statistics
from tamis.statistics.attributes import rows_of
from tamis.testing import clauses, events, satisfies

Document = dict[str, Any]
some_events = st.lists(events(operators=False), max_size=12)
some_clauses = st.lists(clauses(most=2), max_size=8).map(
    lambda several: [clause for each in several for clause in each]
)


def counted(documents: Sequence[Document], questions: Questions) -> Counts:
    learner = Learner(Task(marks=questions.marks))
    for document in documents:
        learner.document(document)
    return Counts.unpacked(learner.finish().packed(questions.marks), questions.marks)


def shown(counts: Counts) -> list[Any]:
    """Everything that was counted, to compare."""
    found = []
    for name, spaces in sorted(counts.attributes.items()):
        lines = spaces.lines.values()
        cells = spaces.number_cells
        found.append(
            [
                *(name, spaces.kinds, [(x.bounds.tolist(), x.events.tolist()) for x in lines]),
                *(spaces.things.tolist(), cells.level, cells.keys.tolist(), cells.events.tolist()),
                *(cells.first.tolist(), cells.last.tolist(), cells.hashes.tolist()),
                *(sorted(spaces.string_cells.events.items()), spaces.string_cells.letters),
                *(spaces.string_cells.is_whole, spaces.string_cells.hashes.tolist()),
                *(sorted(map(_element, spaces.elements.events.items())), spaces.elements.is_whole),
            ]
        )
    return found


def _element(counted: tuple[Element, int]) -> str:
    (is_bool, value), events = counted
    return repr((is_bool, value if isinstance(value, str) else canonical_number(value), events))


@given(some_events, some_clauses)
def test_counts_are_exact_for_every_predicate(
    documents: list[Document], asked: list[Clause]
) -> None:
    questions = Questions([predicate_of(clause) for clause in asked])
    counts = counted(documents, questions)
    exact = [sum(satisfies(each, [clause]) for each in documents) for clause in asked]
    assert counts.events == len(documents)
    assert questions.answers(counts.attributes, counts.events).tolist() == exact


@given(some_events, some_clauses, st.integers(0, 12), st.integers(0, 12))
def test_parts_add_up_to_the_whole(
    documents: list[Document], asked: list[Clause], first: int, second: int
) -> None:
    questions = Questions([predicate_of(clause) for clause in asked])
    low, high = sorted((first, second))
    parts = (documents[high:], documents[:low], documents[low:high])
    added = merged(counted(part, questions) for part in parts)
    assert shown(added) == shown(counted(documents, questions))


@given(some_events)
def test_attributes_are_those_of_statistics_from_events(documents: list[Document]) -> None:
    known = Statistics.from_events(documents)
    assert known.events == len(documents)
    assert known.attributes == rows_of(counted(documents, Questions([])).attributes)


@given(some_events)
def test_attributes_hold_every_value(documents: list[Document]) -> None:
    # who has both a key and a path of one name has it twice, unless a predicate asks
    documents = [each for each in documents if "meta.speed" not in each or "meta" not in each]
    documents = [{key: each[key] for key in each.keys() - {"time"}} for each in documents]
    values: dict[tuple[str, str], list[Any]] = {}
    for document in documents:
        for name, kind, value in walked(Event.of(document, str), document, ""):
            values.setdefault((name, kind), []).append(value)
    found = {
        (row["attribute"], row["kind"]): row for row in Statistics.from_events(documents).attributes
    }
    assert found.keys() == values.keys()
    for (name, kind), row in found.items():
        held = values[name, kind]
        assert row["events"] == len(held)
        if kind in ("string", "number", "boolean"):
            column = row["strings" if kind == "string" else "quantiles"]
            assert column == sorted(held if kind == "string" else map(double, held))
            assert row["distinct"] == len(set(column))


def walked(event: Event, content: Document, path: str) -> Iterator[tuple[str, str, Any]]:
    """Name, kind and value of everything that an event holds."""
    for key, value in content.items():
        scalar = as_scalar(value)
        if scalar is not None:
            yield path + key, KIND_NAMES[kind_of(scalar)], scalar
        elif isinstance(value, dict):
            yield path + key, "other", None
            yield from walked(event, value, f"{path}{key}.")
        elif value is not None and value == value:
            yield path + key, "array" if event.array(path + key) is not None else "other", None


def double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def test_attributes_of_plugins_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    tenfold = DerivedAttribute("tenfold", lambda event: 10 * cast(int, event.value("a")))
    derived = {**installed().attributes, "tenfold": tenfold}
    monkeypatch.setattr(installed(), "attributes", derived)
    known = Statistics.from_events([{"a": 1}, {"a": 2, "time": "2026-01-02T03:04:05Z"}])
    quantiles = {row["attribute"]: row["quantiles"] for row in known.attributes}
    assert quantiles["tenfold"] == [10.0, 20.0]
    assert quantiles["time.hour"] == [3.0]


@pytest.mark.parametrize(
    ("document", "name", "kind"),
    [
        ({"a": float("nan")}, "a", None),
        ({"a": None}, "a", None),
        ({"a": 10**400}, "a", "number"),
        ({"a": 10**4000}, "a", "number"),
        ({"a": {"b": {"c": 1}}}, "a.b.c", "number"),
        ({"a": [1, None, "x"]}, "a", "array"),
        ({"a": [[1]]}, "a", "other"),
        ({"time": "2026-01-02T03:04:05Z"}, "time.hour", "number"),
    ],
)
def test_what_a_value_counts_as(document: Document, name: str, kind: str | None) -> None:
    rows = rows_of(counted([document], Questions([])).attributes)
    assert [row["kind"] for row in rows if row["attribute"] == name] == [kind] * (kind is not None)


def test_a_row_can_be_written_as_json() -> None:
    counts = counted([{"a": 1, "b": "x", "c": True}], Questions([]))
    assert len(json.loads(json.dumps(rows_of(counts.attributes)))) == 3
