"""Cells: cut alike in whatever parts values came, exact while they are few, close when many."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.numeric.keys import keys_of
from tamis.spaces import cells
from tamis.spaces.attribute import AttributeSpaces
from tamis.spaces.cells import ElementCounts, NumberCells, StringCells
from tamis.spaces.cuts import Cut
from tamis.spaces.estimates import expected_before
from tamis.spaces.line import NUMBERS, STRINGS

numbers = st.lists(st.floats(allow_nan=False) | st.integers(-20, 20).map(float), max_size=60)
strings = st.lists(st.text("abc", max_size=6), max_size=60)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "MOST_CELLS", 8)
    monkeypatch.setattr(cells, "MOST_HASHES", 5)
    monkeypatch.setattr(cells, "LONGEST_LETTERS", 4)


def of(values: list[float], level: int = 0) -> NumberCells:
    found, counts = np.unique(np.array(values, np.float64) + 0.0, return_counts=True)
    return NumberCells.of(found, counts.astype(np.int64), level)


def below(cells: NumberCells | StringCells, value: Any, included: bool) -> float:
    """How many values lie below one, by cells alone."""
    spaces = AttributeSpaces()
    if isinstance(cells, NumberCells):
        spaces.number_cells, name = cells, NUMBERS
        spaces.kinds.number = int(cells.events.sum())
    else:
        spaces.string_cells, name = cells, STRINGS
        spaces.kinds.string = sum(cells.events.values())
    return expected_before(spaces, name, Cut(value, included))


def shown(found: NumberCells) -> list[object]:
    arrays = (found.keys, found.events, found.first, found.last, found.hashes)
    return [found.level, *(each.tolist() for each in arrays)]


@given(numbers, numbers, numbers)
def test_numbers_in_parts_are_the_whole(
    one: list[float], two: list[float], three: list[float]
) -> None:
    whole = of([*one, *two, *three])
    assert len(whole.keys) <= 8
    assert shown(of(one).merged(of(two)).merged(of(three))) == shown(whole)
    first = of(three)
    again = first.merged(of(two, first.level))
    assert shown(again.merged(of(one, again.level))) == shown(whole)


@given(numbers)
@example([5.0587566405621776e296, -1.7976931348572573e308])
def test_numbers_are_counted(values: list[float]) -> None:
    found = of(values)
    assert found.events.sum() == len(values)
    assert found.is_whole == (len(set(values)) <= 8)
    if found.is_whole:
        assert found.distinct == len(set(values))
        for value in values:
            assert below(found, value, True) == sum(each <= value for each in values)
            assert below(found, value, False) == sum(each < value for each in values)


@given(numbers)
def test_as_fine_as_the_cells_allow(values: list[float]) -> None:
    found = of(values)
    if found.level:
        keys = keys_of(np.array(values) + 0.0)
        assert len(np.unique(keys >> (found.level - 1))) > 8
        assert len(np.unique(keys >> found.level)) == len(found.keys)


@given(strings, strings)
def test_strings_in_parts_are_the_whole(one: list[str], two: list[str]) -> None:
    whole = StringCells(Counter([*one, *two]), cells.LONGEST_LETTERS)
    parts = [StringCells(Counter(part), cells.LONGEST_LETTERS) for part in (one, two)]
    both = parts[0].merged(parts[1])
    for name in ("events", "letters", "is_whole"):
        assert getattr(both, name) == getattr(whole, name), name
    assert both.hashes.tolist() == whole.hashes.tolist()
    assert sum(whole.events.values()) == len(one) + len(two)


@given(st.lists(st.lists(st.integers(0, 30) | st.booleans() | st.text("ab", max_size=2))))
def test_elements_in_parts_are_the_whole(arrays: list[list[int | bool | str]]) -> None:
    keys = [{(type(each) is bool, each) for each in array} for array in arrays]
    whole, parts = ElementCounts(), [ElementCounts(), ElementCounts()]
    for at, array in enumerate(keys):
        whole.add(array)
        parts[at % 2].add(array)
    both = parts[1].settle().merged(parts[0].settle())
    assert both.events == whole.settle().events
    assert both.is_whole == whole.is_whole


def test_many_values_are_estimated_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    chance = random.Random(7)
    values = sorted(chance.gauss(1.7e9, 40_000.0) for _ in range(100_000))
    found = of(values)
    assert not found.is_whole
    assert abs(found.distinct / len(values) - 1) < 0.1
    for share, quantile in zip(np.linspace(0, 1, 11), found.quantiles(11), strict=True):
        at = np.searchsorted(values, quantile) / len(values)
        assert abs(at - share) < 0.01
    for value in values[::5_000]:
        exact = np.searchsorted(values, value) / len(values)
        assert abs(below(found, value, False) / len(values) - exact) < 0.01


def test_many_strings_are_estimated_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    chance = random.Random(7)
    values = sorted(f"https://example.org/{chance.getrandbits(40):010x}" for _ in range(50_000))
    found = StringCells(Counter(values))
    assert not found.is_whole
    assert abs(found.distinct / len(set(values)) - 1) < 0.1
    for value in values[::5_000]:
        exact = np.searchsorted(values, value) / len(values)
        assert abs(below(found, value, False) / len(values) - exact) < 0.01
