"""The lower bound of the report: it holds for every planner, and for somebody who knows it all."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.plugins.loader import installed
from tamis.testing import conditions, events, pool_operators

from .worlds import Booleans, booleans, calls, fewest_calls, matched

PLANNERS = sorted(installed().planners.keys() - {"optimal"})


class Shuffled:
    """Makes needed and needless calls in an order of its own."""

    def __init__(self, order: list[int]) -> None:
        self.order = order

    def begin(self, problem: tamis.Problem) -> Any:
        self.left = [call for call in self.order if call < problem.calls]
        return self

    def next(self, limit: int) -> list[int]:
        now, self.left = self.left[:limit], self.left[limit:]
        return now

    def observe(self, tests: object, outcomes: object, decided: object) -> None:
        pass


@pytest.mark.parametrize("planner", PLANNERS)
@given(world=booleans(siblings=True, unknown=True))
def test_it_holds_for_whoever_knows_all_answers(planner: str, world: Booleans) -> None:
    result = matched(world, planner)
    best = fewest_calls(world)
    assert result.account.needed_at_least <= best <= len(result.calls)


@given(booleans(siblings=True, unknown=True), st.permutations(range(6)))
def test_it_holds_whatever_was_called(world: Booleans, order: list[int]) -> None:
    result = matched(world, Shuffled(order))
    assert result.account.needed_at_least <= fewest_calls(world)


@given(booleans(siblings=True, unknown=True))
def test_no_planner_calls_a_predicate_twice_or_one_that_nobody_holds(world: Booleans) -> None:
    held = {number for each in world.subscriptions for part in each for number, _ in part}
    for planner in PLANNERS:
        made = calls(matched(world, planner))
        assert len(set(made)) == len(made)
        assert set(made) <= held


@pytest.mark.filterwarnings("ignore::tamis.SubscriptionWarning")
@given(st.lists(conditions(attributes=False), min_size=1, max_size=5), events())
def test_it_never_exceeds_the_calls_of_any_planner(texts: list[str], event: dict[str, Any]) -> None:
    bounds, made = [], []
    for planner in PLANNERS:
        matcher = tamis.Matcher(operators=pool_operators(), planner=planner)
        matcher.subscribe_many([{"id": f"s{at}", "where": text} for at, text in enumerate(texts)])
        result = matcher.match(event)
        bounds.append(result.account.needed_at_least)
        made.append(len(result.calls))
    assert max(bounds) <= min(made)


def test_naive_calls_are_expected_as_they_are_on_average() -> None:
    """Over all truths of independent predicates, each held by one alternative."""
    subscriptions = ((((0, 1), (1, -1), (2, 1)),), (((3, 1), (4, 1)),), (((5, 1),),))
    known = tamis.Statistics(selectivity={f"seen(p{at})": 0.5 for at in range(6)})
    made, expected = 0, []
    for truths in itertools.product([True, False], repeat=6):
        result = matched(Booleans(subscriptions, truths), "naive", statistics=known)
        made += len(result.calls)
        expected.append(result.account.naive_expected)
    assert expected == [pytest.approx(made / 64)] * 64
