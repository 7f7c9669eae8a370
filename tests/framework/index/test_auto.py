"""`auto` becomes the index that is fast with what is subscribed, says why, and answers exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import call, patch

import numpy as np
import pytest

import tamis
from tamis.index import Columns
from tamis.index.auto import AutoIndex
from tamis.plugins.loader import installed
from tamis.testing import check_index


def boxes(rows: int, attributes: int, values: int, each: int = 4, first: int = 0) -> Columns:
    """Rows that ask `each` attributes for one of some values, at random."""
    chance = np.random.default_rng(first)
    asked = np.argsort(chance.random((rows, min(attributes, 40))), axis=1)[:, :each]
    asked = (asked + chance.integers(0, attributes, (rows, 1))) % attributes
    low = chance.integers(0, values, rows * each).astype(np.float64)
    names = [f"a{number}" for number in range(attributes)]
    start = np.arange(rows + 1) * each
    return Columns(first + np.arange(rows), names, start, asked.ravel(), low, low)


def name_of(index: Any) -> str:
    return str(index._index.choice.partition(":")[0])


def built(columns: Columns, **more: Any) -> tamis.index.AttributeIndex:
    return tamis.index.build("auto", columns, **more)


@pytest.mark.parametrize(
    ("columns", "name", "why"),
    [
        ((500, 10, 100), "scan", "scan: 2,000 rows at most"),
        ((5_000, 10, 100), "lanes", "lanes: 5,000 rows, 10,000 at most"),
        ((20_000, 10_000, 100), "lanes", "share their rarest attribute, few of 20,000"),
        ((30_000, 130, 100), "lanes", "share their rarest attribute, few of 30,000"),
        ((20_000, 40, 100), "pstbloom", "pstbloom: 20,000 rows, 1,9"),
        ((60_000, 2, 3, 2), "psthash", "psthash: 20,000 rows share a value"),
    ],
)
def test_it_is_chosen_by_what_is_subscribed(columns: Any, name: str, why: str) -> None:
    index = built(boxes(*columns))
    assert name_of(index) == name
    assert why in index._index.choice
    plain = tamis.index.build("scan", boxes(*columns))
    for event in ({"a0": 1, "a1": 2, "a2": 3, "a3": 4}, {"a0": 0, "a1": 1}, {}):
        assert np.array_equal(np.sort(index.match(event)), np.sort(plain.match(event)))


def test_it_is_chosen_anew_when_rows_come_and_go() -> None:
    index = built(boxes(3_000, 40, 100))
    assert name_of(index) == "lanes"
    index.insert_many(boxes(20_000, 40, 100, first=3_000))
    assert name_of(index) == "pstbloom"
    index.delete_many(np.arange(3_000, 22_000))
    assert name_of(index) == "lanes"
    plain = tamis.index.build("scan", boxes(3_000, 40, 100))
    for event in ({"a0": 1, "a1": 2, "a2": 3, "a3": 4}, {"a5": 7}):
        right = np.sort(plain.match(event))
        found = np.sort(index.match(event))
        assert np.array_equal(found[found < 3_000], right)


def test_statistics_say_which_attributes_are_rare() -> None:
    columns = boxes(20_000, 20, 1_000)
    events = [{f"a{number}": 1 for number in range(20) if number % 4} for _ in range(100)]
    index = built(columns)
    assert name_of(index) == "pstbloom"
    with patch("tamis.index.auto.SHORT_LIST", 3_000):
        index.inform(tamis.Statistics.from_events(events))
        assert name_of(index) == "lanes"
    index.inform(tamis.Statistics())
    assert name_of(index) == "pstbloom"


def test_a_matcher_says_which_it_is_and_follows_its_events() -> None:
    with patch("tamis.index.auto.FEW_ROWS", 10), patch("tamis.index.auto.SHORT_LIST", 60):
        matcher = tamis.Matcher([], index="auto", index_options={"scan_up_to": 0})
        matcher.subscribe_many(
            {"id": f"s{n}", "where": f"a = {n} and b = {n % 7} and c = 1"} for n in range(120)
        )
        account = matcher.match({"a": 3, "b": 3}).account
        assert account.chosen_index.startswith("pstbloom: 120 rows")
        for n in range(300):
            account = matcher.match({"a": n, "b": 3, **({"c": 1} if n == 3 else {})}).account
        assert account.chosen_index.startswith("lanes: ")
        found = matcher.match({"a": 3, "b": 3, "c": 1})
        assert [each.subscription for each in found.matches] == ["s3"]
        assert found.account["chosen_index"] == found.account.chosen_index
    assert tamis.Matcher([]).match({}).account.chosen_index == ""


def test_the_same_changes_lead_to_the_same_index() -> None:
    choices = []
    for _ in range(2):
        index = built(boxes(9_000, 30, 50))
        for first in range(9_000, 30_000, 3_000):
            index.insert_many(boxes(3_000, 30, 50, first=first))
            index.match({"a0": 1, "a1": 2})
            choices.append(index._index.choice)
    assert choices[: len(choices) // 2] == choices[len(choices) // 2 :]


def test_what_was_chosen_is_saved(tmp_path: Path) -> None:
    index = built(boxes(20_000, 40, 100))
    index.save(tmp_path)
    again = tamis.index.open(tmp_path)
    assert again._index.choice == index._index.choice
    event = {f"a{number}": number for number in range(40)}
    assert np.array_equal(np.sort(again.match(event)), np.sort(index.match(event)))


def test_a_look_at_events_reads_no_rows_back_twice(tmp_path: Path) -> None:
    index = built(boxes(20_000, 40, 100))
    index.save(tmp_path)
    for each, expected in ((index, 0), (tamis.index.open(tmp_path), 1)):
        inside: Any = each._index
        while not isinstance(inside, AutoIndex):
            inside = inside._index
        with patch.object(inside, "_read_back", wraps=inside._read_back) as read:
            for _ in range(3):
                inside._next_look = 0
                inside.adapt()
        assert read.call_args_list.count(call()) == expected
        assert inside.choice.startswith("pstbloom: 20,000 rows")


@pytest.mark.parametrize(
    ("few", "short", "pair"),
    [
        pytest.param(0, 0, 1e-3, marks=pytest.mark.slow),
        pytest.param(3, 0, 10**9, marks=pytest.mark.slow),
        (2, 1, 0.5),
    ],
    ids=["hash", "bloom", "all"],
)
def test_it_obeys_the_law_whatever_it_becomes(few: int, short: int, pair: float) -> None:
    with (
        patch("tamis.index.auto.FEW_ROWS", few),
        patch("tamis.index.auto.SHORT_LIST", short),
        patch("tamis.index.auto.PAIR_ROWS", pair),
    ):
        check_index(lambda: installed().index("auto").made({"scan_up_to": 0}), examples=15)


def test_advice_says_what_it_became() -> None:
    from tamis.advising.advice import advise

    found = advise([{"a": n} for n in range(30)], [{"id": "s1", "where": "a < 9"}])
    (cost,) = [each for each in found.indexes if each.index == "auto"]
    assert cost.choice == "scan: 2,000 rows at most"
    assert cost.wrong == 0
