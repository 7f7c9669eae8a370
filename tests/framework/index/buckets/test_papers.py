"""The examples of the PS-Tree paper, on what a matcher really runs."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tamis
from tamis import Matcher
from tamis.index.buckets.access import BLOOM
from tamis.index.buckets.index import BucketIndex
from tamis.index.clauses import Clause, predicate_of
from tests.borders import borders

FIGURE_1 = {"S1": "price in [0, 4]", "S2": "price in [2, 4]"}
FIGURE_2 = {"S1": "attr in [-5, -1]", "S2": "attr in [1, 5]"}
FIGURE_3 = {
    "S1": "attr1 < -5 and attr2 in [1, 5]",
    "S2": "attr1 in [-5, -1] and attr2 < 1",
    "S3": "attr1 in [-5, -1] and attr2 > 5",
}
FIGURE_4 = {
    "S1": "attr1 = 1 and attr2 = -1 and attr3 < 0",
    "S2": "attr1 = 1 and attr2 = -1 and attr3 > 0",
    "S3": "attr1 = 1 and attr2 < -1 and attr3 = 0",
    "S4": "attr1 < 1 and attr2 = -1 and attr3 = 0",
}


def matcher_of(subscriptions: dict[str, str], index: str) -> Matcher:
    with borders():
        matcher = Matcher(operators=[], index=index, learning=False)
    matcher.subscribe_many([{"id": id, "where": text} for id, text in subscriptions.items()])
    return matcher


def found(matcher: Matcher, event: dict[str, Any]) -> tuple[list[str], int]:
    """What matched, and how many subscriptions were checked for it."""
    result = matcher.match(event)
    return [each.subscription for each in result.matches], result.account.checked


@pytest.mark.parametrize(
    ("price", "expected"), [(-1, []), (0, ["S1"]), (1, ["S1"]), (3, ["S1", "S2"]), (4.5, [])]
)
def test_figure_1_a_space_leads_to_the_subscriptions_that_cover_it(
    price: float, expected: list[str]
) -> None:
    matcher = matcher_of(FIGURE_1, "pstbloom")
    assert found(matcher, {"price": price})[0] == expected
    assert begins_of((0, 4), (2, 4)) == [0, 2, after(4)]


@pytest.mark.parametrize(
    ("value", "expected"), [(-5, ["S1"]), (-1, ["S1"]), (0, []), (1, ["S2"]), (6, [])]
)
def test_figure_2_gaps_between_predicates_are_spaces_too(value: int, expected: list[str]) -> None:
    matcher = matcher_of(FIGURE_2, "pstbloom")
    assert found(matcher, {"attr": value})[0] == expected
    assert begins_of((-5, -1), (1, 5)) == [-5, after(-1), 1, after(5)]


def test_figure_3_access_predicates_are_the_intervals() -> None:
    matcher = matcher_of(FIGURE_3, "pstbloom")
    assert found(matcher, {"attr1": -3, "attr2": 9}) == (["S3"], 2)
    assert found(matcher, {"attr1": -9, "attr2": 3}) == (["S1"], 1)
    assert found(matcher, {"attr1": -9, "attr2": 0}) == ([], 0)


def test_figure_4_two_spaces_lead_to_two_candidates() -> None:
    event = {"attr1": 1, "attr2": -1, "attr3": 2}
    paired = matcher_of(FIGURE_4, "psthash:look_up_rows=0")
    assert found(paired, event) == (["S2"], 2)
    assert found(paired, {"attr1": 1, "attr2": -2, "attr3": 0}) == (["S3"], 1)
    assert found(paired, {"attr1": 0, "attr2": -1, "attr3": 0}) == (["S4"], 1)
    assert found(matcher_of(FIGURE_4, "pstbloom"), event)[0] == ["S2"]


def spaces_of(index: BucketIndex) -> list[tuple[float, float]]:
    """The spaces of the first dimension: where each begins, and where the next one does."""
    first, cells = index._store.dimensions[["cuts", "cells"]][0].tolist()
    cuts = index._store.cuts[first : first + cells - 1].tolist()
    return list(zip([float("-inf"), *cuts], [*cuts, float("inf")], strict=True))


def begins_of(*intervals: tuple[int, int]) -> list[float]:
    """Where the spaces of some intervals of one attribute begin, but for the first."""
    index = BucketIndex(BLOOM)
    index.build((row, [aged(*interval)]) for row, interval in enumerate(intervals))
    return [begin for begin, _ in spaces_of(index)[1:]]


def after(value: float) -> float:
    return math.nextafter(value, math.inf)


def test_the_ages_of_section_4_4() -> None:
    index = BucketIndex(BLOOM)
    index.build([(1, [aged(20, 60)]), (2, [aged(30, 80)])])
    begins = [round(begin, 9) for begin, _ in spaces_of(index)[1:]]
    assert begins == [20, 30, 60, 80]
    index.delete(2)
    index._lay_out(index._read_back())
    assert [round(begin, 9) for begin, _ in spaces_of(index)[1:]] == [20, 60]


def aged(low: int, high: int) -> Any:
    return predicate_of(("age", "between", (low, high)))


RANKED: list[Clause] = [
    ("a", "=", 5),
    ("b", "in", [5, 6, 7, 8, 9]),
    ("c", "between", (5, 9)),
    ("d", "<", 9),
    ("e", "!=", 5),
]
"""By the ranks of section 3.3, the most selective first."""


@pytest.mark.parametrize("place", range(len(RANKED) - 1))
def test_operators_rank_as_in_section_3_3(place: int) -> None:
    better, worse = RANKED[place], RANKED[place + 1]
    index = tamis.index.build("pstbloom", [("s", [worse, better])], scan_up_to=0)
    inside: Any = index._index
    absent = {worse[0]: 6}
    before = inside.checked
    index.match(absent)
    assert inside.checked == before, "it hangs by the better one, which this event lacks"
    index.match({better[0]: 6 if better[1] != "=" else 5})
    assert inside.checked == before + 1


def test_of_equal_operators_the_narrower_one_is_taken() -> None:
    rows = [("s", [("a", "between", (1, 10)), ("b", "between", (1, 5))])]
    spread = [
        (f"{name}{at}", [(name, "between", (at, at))]) for name in "ab" for at in range(1, 12)
    ]
    index = tamis.index.build("pstbloom", [*rows, *spread], scan_up_to=0)
    inside: Any = index._index
    before = inside.checked
    index.match({"a": 9.5})
    assert inside.checked == before
