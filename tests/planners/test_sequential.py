"""Algorithm 1 of the paper: what it calls, its marks, and how far from the optimum it may be."""

from __future__ import annotations

from hypothesis import given

import tamis
from tamis.planning import FALSE, TRUE, Problem
from tamis.testing import truth_table

from .worlds import Booleans, booleans, calls, fewest_calls, matched, sequential


@given(booleans())
def test_it_is_algorithm_1(world: Booleans) -> None:
    evaluated, marks = sequential(world)
    result = matched(world, "sequential")
    assert calls(result) == evaluated
    assert result.account.needed_at_least == marks


@given(booleans())
def test_theorem_2(world: Booleans) -> None:
    result = matched(world, "sequential")
    best = fewest_calls(world)
    made, marks = len(result.calls), result.account.needed_at_least
    assert marks <= best <= made
    assert made <= world.widest * marks
    assert made <= world.widest * best


def test_the_bound_is_met() -> None:
    """One wide subscription whose last predicate is false: d calls where one would do."""
    world = Booleans(((((0, 1), (1, 1), (2, 1), (3, 1)),),), (True, True, True, False, True, True))
    result = matched(world, "sequential")
    assert (len(result.calls), fewest_calls(world), result.account.needed_at_least) == (4, 1, 1)


def test_it_asks_for_rounds() -> None:
    """Two disjoint alternatives: the calls of the first come in one round."""
    problems: list[Problem] = []

    class Listening:
        def begin(self, problem: Problem) -> tamis.Run:
            problems.append(problem)
            return tamis.plugins.loader.installed().planner("naive").factory().begin(problem)

    matcher = tamis.Matcher(operators=[truth_table("seen")], planner=Listening())
    matcher.subscribe("seen(a) and seen(b) and seen(c)")
    matcher.subscribe("seen(d) and seen(e)")
    matcher.match({"seen": {}})
    run = tamis.plugins.loader.installed().planner("sequential").factory().begin(problems[0])
    first = list(run.next(8))
    assert first == [0, 1, 2]
    run.observe([0, 1, 2], [TRUE, FALSE, TRUE], [0])
    assert list(run.next(1)) == [3]
    assert list(run.next(8)) == [4]
    run.observe([3, 4], [TRUE, TRUE], [1])
    assert list(run.next(8)) == []
