"""Lines: counts before any cut are what counting one by one gives, in whatever parts they came."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.language.comparison import Comparison
from tamis.spaces.attribute import AttributeSpaces, Marks
from tamis.spaces.cuts import Cut, stretches_of
from tamis.spaces.line import ENDINGS, LARGE, NUMBERS, STRINGS, CountedLine, in_order, recut

floats = st.floats(-5, 5) | st.integers(-3, 3).map(float)
strings = st.text("ab", max_size=3)
large = st.sampled_from([2**53, 2**53 + 1, 2**60, -(2**53), -(10**30), 1e300, np.inf, -np.inf])
VALUES: dict[str, st.SearchStrategy[Any]] = {NUMBERS: floats, STRINGS: strings, LARGE: large}


def counted(name: str, marks: list[Any], values: list[Any]) -> CountedLine:
    line = CountedLine(name, sorted(set(marks)))
    times = Counter(0.0 + value if name == NUMBERS else value for value in values)
    ordered = sorted(times)
    line.count(in_order(name, ordered), np.array([times[each] for each in ordered], np.int64))
    return line


@pytest.mark.parametrize("name", VALUES)
@given(st.data())
def test_counts_before_cuts_are_exact(name: str, data: st.DataObject) -> None:
    some = st.lists(VALUES[name], max_size=12)
    marks, values = data.draw(some), data.draw(some)
    line = counted(name, marks, values)
    assert line.total == len(values)
    for mark in marks:
        assert line.before(Cut(mark)) == sum(value < mark for value in values)
        assert line.before(Cut(mark, True)) == sum(value <= mark for value in values)
    with pytest.raises(KeyError):
        line.before(Cut("zz" if name == STRINGS else 7.5 if name == NUMBERS else 2**70))


@pytest.mark.parametrize("name", VALUES)
@given(st.data())
def test_parts_add_up_to_the_whole(name: str, data: st.DataObject) -> None:
    some = st.lists(VALUES[name], max_size=12)
    marks, one, two = data.draw(some), data.draw(some), data.draw(some)
    both = counted(name, marks, one).plus(counted(name, marks, two))
    assert both.events.tolist() == counted(name, marks, one + two).events.tolist()


@given(st.lists(floats, max_size=9), st.lists(floats, max_size=9), st.lists(floats, max_size=20))
def test_where_marks_differ_those_of_both_stay_exact(
    mine: list[float], theirs: list[float], values: list[float]
) -> None:
    parts = []
    for marks in (mine, theirs):
        spaces = AttributeSpaces(Marks({NUMBERS: np.unique(np.array(marks, np.float64) + 0.0)}))
        spaces.lines[NUMBERS] = counted(NUMBERS, marks, values)
        spaces.kinds.number = len(values)
        parts.append(spaces)
    both = parts[0].merged(parts[1])
    for mark in {*mine} & {*theirs}:
        assert both.before(NUMBERS, Cut(mark)) == 2 * sum(value < mark for value in values)


@given(
    st.lists(floats, max_size=9, unique=True).map(sorted),
    st.lists(floats, max_size=9, unique=True).map(sorted),
    st.data(),
)
def test_cutting_anew_loses_no_event(
    old: list[float], new: list[float], data: st.DataObject
) -> None:
    size = len(old) + 1
    events = np.array(data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size)), float)
    bounds = np.array(old, np.float64)
    found = recut(bounds, events, np.array(new, np.float64))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(events.sum())
    for at, bound in enumerate(new):
        if bound in old:
            assert found[: at + 1].sum() == pytest.approx(events[: old.index(bound) + 1].sum())


@pytest.mark.parametrize(
    ("op", "value", "parts"),
    [
        ("<", 3, [(None, (3, False))]),
        ("<=", 3, [(None, (3, True))]),
        (">", 3, [((3, True), None)]),
        ("in (]", (1, 3), [((1, True), (3, True))]),
        ("not in", (1, 3), [((1, False), (1, True)), ((3, False), (3, True))]),
        ("starts with", "ab", [(("ab", False), ("ac", False))]),
        ("ends with", "ab", [(("ba", False), ("bb", False))]),
        ("not starts with", chr(0x10FFFF), [((chr(0x10FFFF), False), None)]),
    ],
)
def test_where_predicates_cut(op: str, value: Any, parts: list[Any]) -> None:
    found = stretches_of(Comparison(op, value))
    assert found is not None
    assert found.parts == parts
    assert found.is_inside == (op not in ("not in", "not starts with"))


def test_what_has_no_order_has_no_stretches() -> None:
    for op in ("contains", "not matches"):
        assert stretches_of(Comparison(op, "a")) is None
    assert CountedLine(ENDINGS).total == 0
