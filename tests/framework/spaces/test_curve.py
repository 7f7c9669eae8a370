"""Curves: exact at bounds, never falling, and the same for kernels as for Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.language.comparison import Comparison
from tamis.language.predicate import AttributePredicate
from tamis.spaces.attribute import AttributeSpaces, Marks
from tamis.spaces.cells import NumberCells, StringCells
from tamis.spaces.curve import Curve, curve_of, share_before
from tamis.spaces.line import NUMBERS, STRINGS, CountedLine, in_order
from tamis.spaces.opinions import EVENTS, spaces_of_opinions

floats = st.floats(-5, 5) | st.integers(-3, 3).map(float)
INF = np.array([-np.inf, np.inf])


def numbers(marks: list[float], values: list[float]) -> AttributeSpaces:
    found, times = np.unique(np.array(values, np.float64) + 0.0, return_counts=True)
    spaces = AttributeSpaces(Marks({NUMBERS: np.unique(np.array(marks, np.float64) + 0.0)}))
    spaces.kinds.number = len(values)
    spaces.lines[NUMBERS].count(found, times)
    spaces.number_cells = NumberCells.of(found, times)
    return spaces


@given(st.lists(floats, max_size=8), st.lists(floats, min_size=1, max_size=20), st.lists(floats))
def test_numbers(marks: list[float], values: list[float], asked: list[float]) -> None:
    curve = curve_of(numbers(marks, values), NUMBERS)
    assert (np.diff(curve.at) > 0).all()
    assert (np.diff(curve.before) >= 0).all()
    places = np.concatenate([np.array([*asked, *marks], np.float64), curve.at, INF])
    found = curve.shares_before(places)
    for place, share in zip(places.tolist(), found.tolist(), strict=True):
        kernel = share_before(curve.at, curve.before, 0, len(curve.at), place)
        assert kernel == pytest.approx(share)
    for mark in marks:
        exact = sum(value < mark for value in values) / len(values)
        assert curve.share_before(mark) == pytest.approx(exact)


@given(st.lists(st.tuples(floats, st.floats(0, 1)), max_size=6), st.lists(floats))
@example([(-1.0, 1 / 9), (4.0, 2 / 3)], [])
def test_shares_never_fall_where_they_are_rounded(
    places: list[tuple[float, float]], asked: list[float]
) -> None:
    at = np.unique([place for place, _ in places])
    before = np.sort([share for _, share in places])[: len(at)]
    several = np.sort(np.concatenate([asked, at, np.nextafter(at, -np.inf), INF]))
    kernel = [share_before(at, before, 0, len(at), each) for each in several.tolist()]
    for found in (Curve(at, before).shares_before(several), np.array(kernel)):
        assert (np.diff(found) >= 0).all()


@given(st.lists(st.text("ab", max_size=3), max_size=5), st.lists(st.text("ab", max_size=3)))
def test_strings(marks: list[str], values: list[str]) -> None:
    spaces = AttributeSpaces(Marks({STRINGS: sorted(set(marks))}))
    spaces.string_cells = StringCells({each: values.count(each) for each in values})
    spaces.kinds.string = len(values)
    ordered = sorted(set(values))
    times = np.array([values.count(each) for each in ordered], np.int64)
    spaces.lines[STRINGS].count(in_order(STRINGS, ordered), times)
    curve = curve_of(spaces, STRINGS)
    for asked in [*marks, *values]:
        exact = sum(value < asked for value in values) / max(1, len(values))
        assert not values or curve.share_before(asked) == pytest.approx(exact)


def test_nothing_was_counted() -> None:
    assert len(curve_of(AttributeSpaces(), NUMBERS).at) == 0
    assert CountedLine(NUMBERS).total == 0


def said(**shares: float) -> AttributeSpaces:
    given = {
        AttributePredicate("a", Comparison("<" if at.startswith("below") else "=", int(at[5:]))): s
        for at, s in shares.items()
    }
    return spaces_of_opinions(given)["a"]


def test_what_was_said_of_points_and_of_nested_stretches_is_kept() -> None:
    spaces = said(equal1=0.2, below5=0.5, below9=0.9, equal7=0.1)
    for op, value, share in (("=", 1, 0.2), ("<", 5, 0.5), ("<", 9, 0.9), ("=", 7, 0.1)):
        assert spaces.exactly(Comparison(op, value), EVENTS) == pytest.approx(share * EVENTS)
    assert spaces.kinds.number == EVENTS


def test_what_was_said_may_contradict_itself() -> None:
    spaces = said(equal1=0.9, equal2=0.8)
    assert spaces.kinds.number <= EVENTS + 2
    assert spaces.lines[NUMBERS].events.min() >= 0


def test_opinions_of_other_kinds() -> None:
    shares = {
        Comparison("exists"): 0.3,
        Comparison("=", True): 0.1,
        Comparison("has", "fire"): 0.01,
        Comparison("contains", "x"): 0.02,
        Comparison("!=", "north"): 0.6,
    }
    given = {AttributePredicate(f"a{at}", each): s for at, (each, s) in enumerate(shares.items())}
    found = spaces_of_opinions(given)
    for predicate, share in given.items():
        spaces = found[predicate.attribute]
        assert spaces.exactly(predicate.comparison, EVENTS) == pytest.approx(share * EVENTS)
