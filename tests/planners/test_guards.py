"""Guards come first: a variable that a constraint restricts costs no more calls than a boolean."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

import tamis
from tamis.plugins.loader import installed
from tamis.testing import TableOperator

from .worlds import Booleans, booleans, calls, matched

PLANNERS = sorted(installed().planners)


def guarded(world: Booleans, planner: str) -> list[int]:
    """The calls when every predicate is a count that a constraint restricts."""
    matcher = tamis.Matcher(operators=[TableOperator("count", outputs=("n",))], planner=planner)
    for at, ((*alternative,),) in enumerate(world.subscriptions):
        parts = [f"count(p{number}, ?n{number}) and ?n{number} > 50" for number, _ in alternative]
        matcher.subscribe(" and ".join(parts), id=f"s{at}")
    event: dict[str, Any] = {
        "count": {
            f"p{at}": "no model" if truth is None else [10, 70] if truth else [10, 20]
            for at, truth in enumerate(world.truths)
        }
    }
    result = matcher.match(event)
    return [int(call.predicate[7 : call.predicate.index(",")]) for call in result.calls]


@pytest.mark.parametrize("planner", PLANNERS)
@given(world=booleans(negated=False, unknown=True))
def test_guarded_tests_cost_the_calls_of_booleans(planner: str, world: Booleans) -> None:
    assert guarded(world, planner) == calls(matched(world, planner))


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_guard_kills_at_once_wherever_it_is_written(planner: str) -> None:
    matcher = tamis.Matcher(operators=[TableOperator("count", outputs=("n",))], planner=planner)
    matcher.subscribe("count(a, ?x) and count(b, ?y) and ?x > 5 and ?y > 5", id="s1")
    matcher.subscribe("?z > $limit and count(a, ?z) and count(c, ?w)", id="s2")
    result = matcher.match({"limit": 7, "count": {"a": [3], "b": [9], "c": [1]}})
    assert [call.predicate for call in result.calls] == ["count(a, ?1)"]


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_false_constraint_over_two_calls_ends_the_alternative(planner: str) -> None:
    matcher = tamis.Matcher(operators=[TableOperator("count", outputs=("n",))], planner=planner)
    matcher.subscribe("count(a, ?x) and count(b, ?y) and ?x > ?y and count(c, ?z)", id="s1")
    result = matcher.match({"count": {"a": [3], "b": [9], "c": [1]}})
    assert not result.matches
    if planner in ("naive", "sequential"):
        assert [call.predicate for call in result.calls] == ["count(a, ?1)", "count(b, ?1)"]
