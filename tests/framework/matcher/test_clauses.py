"""Conditions on attributes alone that are kept as clauses: one entry each, exact on every index."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis import Matcher, NeverMatches
from tamis.indexing import IndexRecord
from tamis.language.predicate import Disjunction
from tamis.plugins.loader import installed
from tests.borders import borders
from tests.laws.test_indexes import Plain

INDEXES = sorted(installed().indexes)
LITERALS: list[tuple[str, Any]] = [
    ("a{0} = {1}", lambda found, at, value: found == value),
    ("a{0} < {1}", lambda found, at, value: found is not None and found < value),
    ("a{0} != {1}", lambda found, at, value: found is not None and found != value),
    ("a{0} not in {{{1}, 7}}", lambda found, at, value: found not in (None, value, 7)),
    ("not exists(a{0})", lambda found, at, value: found is None),
]


MORE = " and ".join(f"(m{at} = 1 or n{at} = 1)" for at in range(4))
"""Enough clauses for a condition to be kept as such; they hold of an event with these."""
MET = {f"m{at}": 1 for at in range(4)}


def drawn(chance: random.Random, clauses: int) -> list[list[tuple[str, Any, int, int]]]:
    """Clauses of two or three literals: text, test, attribute and value."""
    return [
        [
            (*chance.choice(LITERALS), chance.randrange(60), chance.randrange(4))
            for _ in range(chance.randint(2, 3))
        ]
        for _ in range(clauses)
    ]


def text_of(clauses: list[list[tuple[str, Any, int, int]]]) -> str:
    return " and ".join(
        "(" + " or ".join(text.format(at, value) for text, _, at, value in clause) + ")"
        for clause in clauses
    )


def holds(clauses: list[list[tuple[str, Any, int, int]]], event: dict[str, Any]) -> bool:
    return all(
        any(test(event.get(f"a{at}"), at, value) for _, test, at, value in clause)
        for clause in clauses
    )


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("rows", [0, 2_000])
def test_ten_and_fifty_clauses_are_one_entry_on_every_index(index: str, rows: int) -> None:
    chance = random.Random(8)
    asked = {f"s{at}": drawn(chance, size) for at, size in enumerate([5, 6, 10, 50] * 12)}
    with borders(rows=rows):
        matcher = Matcher(operators=[], index=index)
    matcher.subscribe_many([{"id": id, "where": text_of(each)} for id, each in asked.items()])
    matcher.subscribe("a1 = 1 and a2 = 2", id="plain")
    assert len(matcher._sieve._all) == len(asked) + 1
    gone: list[str] = []
    matched = 0
    for turn in range(40):
        event = {f"a{at}": chance.randrange(4) for at in range(60) if chance.random() < 0.6}
        right = sorted(
            id for id, each in asked.items() if id not in gone and holds(each, event)
        ) + ["plain"] * (event.get("a1") == 1 and event.get("a2") == 2)
        found = [match.subscription for match in matcher.match(event).matches]
        assert found == sorted(right)
        matched += len(right)
        if turn % 3 == 0:
            gone.append(chance.choice(sorted(set(asked).difference(gone))))
            matcher.unsubscribe(gone[-1])
    assert matched > 20


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("rows", [0, 2_000])
def test_clauses_are_saved(index: str, rows: int, tmp_path: Path) -> None:
    clauses = " and ".join(f'(a{at} = 1 or b{at} starts with "x")' for at in range(20))
    events: list[dict[str, Any]] = [
        {f"a{at}": 1 for at in range(20)},
        {f"b{at}": "xy" for at in range(20)},
        {**{f"a{at}": 1 for at in range(19)}, "b19": "y"},
    ]
    with borders(rows=rows):
        matcher = Matcher(operators=[], index=index)
        matcher.subscribe_many([{"id": "one", "where": clauses}, {"id": "two", "where": clauses}])
        matcher.save(tmp_path / "saved")
        opened = Matcher.open(tmp_path / "saved", operators=[])
    opened.unsubscribe("two")
    opened.subscribe("(a0 = 1 or b0 = 2) and (a1 = 1 or b1 = 2)", id="three")
    found = [[match.subscription for match in opened.match(event).matches] for event in events]
    assert found == [["one", "three"], ["one"], ["three"]]
    opened.unsubscribe("one")
    assert [len(opened.match(event).matches) for event in events] == [1, 0, 1]


def test_an_index_of_ones_own_that_knows_conjunctions_alone_is_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(installed().indexes, "plain", IndexRecord("plain", Plain))
    matcher = Matcher(operators=[], index="plain")
    matcher.subscribe(f"(a = 1 or b = 1) and (c = 1 or d = 1) and {MORE}", id="both")
    assert matcher.match({"b": 1, "c": 1, **MET}).matches
    assert not matcher.match({"b": 1, "a": 1, **MET}).matches


def test_no_key_of_an_event_is_the_array_of_disjunctions() -> None:
    text = f"(a = 1 or b = 1) and (c = 1 or d = 1) and {MORE}"
    for index in INDEXES:
        matcher = Matcher(operators=[], index=index)
        matcher.subscribe(text, id="both")
        words = ["(a = 1 or b = 1)", "(c = 1 or d = 1)"]
        name = Disjunction.of(()).attribute
        for key in (name, name.removeprefix("\0itself:")):
            assert not matcher.match({key: words}).matches
            assert not matcher.match({key: words, "a": 1}).matches


def test_the_explanation_shows_each_clause() -> None:
    matcher = Matcher(operators=[])
    matcher.subscribe(f"(a = 1 or b > 4) and (c = 1 or d = 1) and {MORE}", id="both")
    explained = matcher.match({"a": 2, "b": 5, "c": 2, **MET}).explain("both")
    [alternative] = json.loads(json.dumps(explained.data))["alternatives"]
    about = {each["predicate"]: each["truth"] for each in alternative["predicates"]}
    assert about.items() >= {"(a = 1 or b > 4)": True, "(c = 1 or d = 1)": False}.items()
    assert "(c = 1 or d = 1)" in str(explained)
    assert "c is 2, d is absent" in str(explained)


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("(a = 1 or a = 2) and (a = 3 or a = 4)", True),
        ("(a < 1 or b < 1) and (a > 1 or b > 1) and a = 1 and b = 1", True),
        ("(a < 1 or b < 1) and (a > 1 or b > 1)", False),
        ("(a = 1 or b = 1) and (a = 2 or b = 2) and (a = 3 or b = 3)", True),
        ("(a = 1 or b = 1) and (a = 2 or b = 2) and (a = 1 or c = 3)", False),
    ],
)
def test_clauses_that_exclude_each_other_are_warned_of(text: str, never: bool) -> None:
    matcher, text = Matcher(operators=[]), f"{text} and {MORE}"
    if never:
        with pytest.warns(NeverMatches, match="never matches"):
            matcher.subscribe(text)
    else:
        matcher.subscribe(text)


def test_statistics_count_the_parts_of_clauses(tmp_path: Path) -> None:
    subscriptions = [{"id": "both", "where": "(a = 1 or b = 1) and (c = 1 or d = 1)"}]
    known = tamis.Statistics.from_events([{"a": 1, "b": 2}, {"a": 2, "c": 1}])
    matcher = Matcher(operators=[], statistics=known)
    matcher.subscribe_many(subscriptions)
    forecast = matcher.forecast("(a = 1 or b = 1) and (c = 1 or d = 1)")
    assert forecast.calls_per_event == 0
    graph = matcher.graph()
    assert {"predicate a = 1", "predicate d = 1"} <= set(graph.nodes)
