"""Checks the paper's parts of `opindex`: pivots, lists in place, and the rows that they spare."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import tamis
from tamis.event import Event
from tamis.index.clauses import Clause, predicate_of
from tamis.index.opindex.index import OpIndex
from tamis.indexing import Index
from tamis.testing import check_index, satisfies

TABLE_1: dict[int, list[Clause]] = {
    1: [("A", "=", 2), ("B", "in", [3, 6, 9])],
    2: [("A", "<=", 8), ("C", ">=", 2)],
    3: [("C", "=", 6), ("B", "<=", 4), ("E", "between", (3, 12))],
    4: [("A", "=", 2)],
    5: [("D", ">=", 12), ("E", "<=", 9)],
    6: [("B", "in", [3, 6]), ("C", "<=", 4), ("D", ">=", 10), ("E", "<=", 7)],
}


def filled(index: Index, rows: dict[int, list[Clause]], one_by_one: bool = False) -> Index:
    entries = [(row, [predicate_of(each) for each in asked]) for row, asked in rows.items()]
    if one_by_one:
        for row, predicates in entries:
            index.insert(row, predicates)
    else:
        index.build(entries)
    return index


def found(index: Index, **event: Any) -> tuple[list[int], int]:
    """What matches, and how many rows hang where something was found."""
    rows, checked = index.search(Event.of(event, str, {}))
    return sorted(rows.tolist()), checked


@pytest.mark.parametrize("one_by_one", [False, True])
def test_example_2_only_the_list_of_a_pivot_is_looked_into(one_by_one: bool) -> None:
    """Figure 4: A has the first, second and fourth, C the third, D the others."""
    index = filled(OpIndex(), TABLE_1, one_by_one)
    if one_by_one:
        index.inform(tamis.Statistics())  # pivots are those of the first rows until it is laid out
    assert found(index, A=2, B=6) == ([1, 4], 3)
    assert found(index, B=6, C=3, E=9) == ([], 0), "example 5: a pivot without a hit is left"
    assert found(index, B=4, C=6, E=9) == ([3], 1)
    assert found(index, B=3, C=4, D=12, E=7) == ([5, 6], 2)


def test_pivots_are_the_attributes_that_fewest_events_have() -> None:
    rows: dict[int, list[Clause]] = {row: [("a", "<", 9), ("b", "<", 9)] for row in range(10)}
    for often, seldom in (("a", "b"), ("b", "a")):
        index = filled(OpIndex(), rows)
        index.inform(tamis.Statistics.from_events([{often: 1, seldom: 1}, *[{often: 1}] * 20]))
        assert found(index, **{often: 1}) == ([], 0)
        assert found(index, **{often: 1, seldom: 1}) == (list(range(10)), 10)


@pytest.mark.parametrize("segments", [1, 128])
def test_rows_put_in_one_by_one_are_found_between_matches(segments: int) -> None:
    chance, index = random.Random(3), OpIndex(segments=segments)
    rows: dict[int, list[Clause]] = {}
    for row in range(3_000):
        name, low = f"a{chance.randrange(6)}", chance.randrange(1_000)
        op, value = chance.choice([("=", low), ("between", (low, low + 90)), (">", low)])
        rows[row] = [(name, op, value), ("b", "!=", chance.randrange(3))]
        filled(index, {row: rows[row]})
        if row % 100 == 0:
            gone = chance.choice(list(rows))
            index.delete(gone)
            del rows[gone]
            event = {"b": chance.randrange(3), name: low + 40}
            right = [row for row, asked in rows.items() if satisfies(event, asked)]
            assert found(index, **event)[0] == right
    assert len(index) == len(rows)


def test_bounds_that_half_a_double_cannot_tell() -> None:
    near = [1.0, 1.0 + 2**-40, 1.0 - 2**-40, 1.5, -1.0, -1.0 - 2**-40, -1.0 + 2**-40, 0.0, -0.0]
    for bounds in (near, [1.0, 1.5, -1.0, 0.0]):
        rows: dict[int, list[Clause]] = {}
        for bound in bounds:
            for op in ("=", "<", "<=", ">", ">=", "!="):
                rows[len(rows)] = [("x", op, bound)]
            rows[len(rows)] = [("x", "between", (bound, 1.5))]
        index = filled(OpIndex(), rows)
        for value in [*near, np.inf, -np.inf, 2.0]:
            right = [row for row, asked in rows.items() if satisfies({"x": value}, asked)]
            assert found(index, x=value)[0] == right


def test_prefixes_suffixes_and_patterns_have_lists() -> None:
    rows: dict[int, list[Clause]] = {
        1: [("s", "starts with", "uav-")],
        2: [("s", "ends with", "-1")],
        3: [("s", "matches", "^u.*1$"), ("s", "contains", "av")],
        4: [("s", "not starts with", "uav-")],
        5: [("s", "not matches", "1")],
        6: [("s", "in", ["uav-1", "uav-2"])],
    }
    index = filled(OpIndex(), rows)
    for value in ("uav-1", "uav-2", "car-1", "", "uav"):
        right = [row for row, asked in rows.items() if satisfies({"s": value}, asked)]
        assert found(index, s=value)[0] == right


def test_a_row_with_more_predicates_than_a_byte_counts() -> None:
    long: list[Clause] = [(f"a{at}", ">=", at) for at in range(600)]
    index = filled(OpIndex(), {1: long, 2: [("a3", "=", 3)]})
    event: dict[str, Any] = {f"a{at}": at for at in range(600)}
    assert found(index, **event)[0] == [1, 2]
    assert found(index, **{**event, "a599": 1})[0] == [2]
    index.delete(1)
    assert found(index, **event)[0] == [2]


@pytest.mark.parametrize("segments", [1, 2])
def test_the_law_holds_with_few_segments(segments: int) -> None:
    check_index(lambda: OpIndex(segments=segments), examples=settings().max_examples // 3)


def test_segments_are_a_number() -> None:
    with pytest.raises(ValueError, match="segments is from 1 to"):
        tamis.index.build("opindex", [], segments=0)
