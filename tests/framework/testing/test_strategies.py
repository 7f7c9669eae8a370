"""The strategies: what they make is valid, and meets everything that it should."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.testing import clauses, conditions, events, pool_operators, satisfies, subscriptions


def matcher() -> tamis.Matcher:
    return tamis.Matcher(operators=pool_operators())


@given(subscriptions(), events())
def test_subscriptions_are_taken_and_events_match(
    entries: list[dict[str, Any]], event: dict[str, Any]
) -> None:
    one = matcher()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.SubscriptionWarning)
        ids = one.subscribe_many(entries)
    assert ids == [entry["id"] for entry in entries]
    result = one.match(event)
    assert {match.subscription for match in result.matches} <= set(ids)
    for id in ids:
        assert result.explain(id).data["verdict"] in ("matched", "not matched", "undetermined")


@given(st.lists(clauses(), max_size=4), events(operators=False))
def test_clauses_are_taken(asked: list[list[Any]], event: dict[str, Any]) -> None:
    index = tamis.index.build("scan", enumerate(asked))
    found = set(index.match(event).tolist())
    assert found == {at for at, each in enumerate(asked) if satisfies(event, each)}


@pytest.mark.slow
def test_everything_comes_up() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=300, database=None)
    @given(subscriptions(), events())
    def draw(entries: list[dict[str, Any]], event: dict[str, Any]) -> None:
        one = matcher()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tamis.SubscriptionWarning)
            one.subscribe_many(entries)
        result = one.match(event)
        seen["matched"] += bool(result.matches)
        seen["undetermined"] += bool(result.undetermined)
        seen["bound"] += any(match.bindings != [{}] for match in result.matches)
        seen["incomplete"] += any(match.incomplete for match in result.matches)
        seen["shared"] += any(each.how == "shared" for each in result.evaluations)
        seen["failed"] += any(each.truth is None for each in result.evaluations)
        seen["spared"] += bool(result.account.spared)
        seen["several calls"] += len(result.calls) > 2
        for entry in entries:
            for word in (" or ", "not", "{", "starts with", "matches", "between", "has ", "?x"):
                seen[word] += word in entry["where"]

    for _ in range(10):
        draw()
        if all(seen.values()):
            break
    assert [name for name, count in seen.items() if not count] == []


def test_without_attributes_conditions_ask_operators() -> None:
    @given(conditions(attributes=False))
    def draw(text: str) -> None:
        assert "camera" not in text
        assert "`Camera ID`" not in text

    draw()


@pytest.mark.parametrize("kind", [bool, int, float, str, list, dict, type(None)])
def test_events_hold_values_of_every_kind(kind: type) -> None:
    found: list[bool] = []

    @settings(max_examples=200, database=None)
    @given(events(operators=False))
    def draw(event: dict[str, Any]) -> None:
        found.append(any(type(value) is kind for value in event.values()))

    draw()
    assert any(found)


def test_huge_numbers_come_up() -> None:
    found: set[Any] = set()

    @settings(max_examples=400, database=None)
    @given(events(operators=False))
    def draw(event: dict[str, Any]) -> None:
        found.update(value for value in event.values() if isinstance(value, (int, float)))

    draw()
    assert len([each for each in found if abs(each) >= 2**53]) >= 3
    assert any(isinstance(each, int) and abs(each) > 2**53 for each in found)
