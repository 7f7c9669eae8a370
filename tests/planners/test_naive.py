"""The naive planner: subscriptions one by one, as written, results remembered."""

from __future__ import annotations

from hypothesis import given

import tamis
from tamis import Statistics
from tamis.testing import TableOperator, truth_table

from .worlds import Booleans, booleans, calls, matched, naive


@given(booleans())
def test_it_calls_what_one_by_one_evaluation_calls(world: Booleans) -> None:
    assert calls(matched(world, "naive")) == naive(world)


@given(booleans())
def test_statistics_do_not_move_it(world: Booleans) -> None:
    known = Statistics(selectivity={f"seen(p{at})": at / 10 for at in range(6)})
    assert calls(matched(world, "naive", statistics=known)) == naive(world)


def test_an_unknown_predicate_does_not_stop_it() -> None:
    world = Booleans((((((0, 1)), (1, 1)),), (((2, 1),),)), (None, False, True, True, True, True))
    assert calls(matched(world, "naive")) == [0, 1, 2]


def test_a_true_sibling_stops_it() -> None:
    matcher = tamis.Matcher(operators=[truth_table("seen")], planner="naive")
    matcher.subscribe("seen(a) or seen(b) or seen(c)", id="s1")
    result = matcher.match({"seen": {"a": False, "b": True}})
    assert [call.predicate for call in result.calls] == ["seen(a)", "seen(b)"]


def test_guards_end_an_alternative_at_once() -> None:
    matcher = tamis.Matcher(
        operators=[truth_table("seen"), TableOperator("count", outputs=("n",))], planner="naive"
    )
    matcher.subscribe("count(k, ?n) and seen(a) and ?n > 5", id="s1")
    result = matcher.match({"seen": {"a": True}, "count": {"k": [3]}})
    assert [call.predicate for call in result.calls] == ["count(k, ?1)"]
