"""Interpreted and compiled planners ask for the same calls, also while a matcher grows.

The border between the two is a size; here it is set to what the test wants.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, stateful
from hypothesis import strategies as st

import tamis
from tamis.planning import FALSE, TRUE, UNKNOWN, Problem, Scenes
from tamis.testing import truth_table
from tamis_planners.suborder_kernels import Chains, ordered, saved_before
from tests.borders import borders

from .exact import World, made, random_problem

FEATURES = ("costs", "signs", "shared", "siblings", "failures", "groups", "batches")


def richer(problem: Problem, chance: np.random.Generator) -> Problem:
    """The problem with implications and scenes, whatever they say."""
    rows = chance.integers(0, problem.tests, (int(chance.integers(0, 4)), 4))
    rows[:, [1, 3]] = chance.integers(0, 2, (len(rows), 2))
    scenes = Scenes(chance.random(3), chance.random((3, problem.tests)))
    return replace(
        problem,
        implications=rows.astype(np.int64),
        scenes=scenes if chance.random() < 0.5 else None,
    )


def picks(problem: Problem, planner: str, limit: int, seed: int) -> list[list[int]]:
    """The calls that a planner asks for, as outcomes that are drawn by the call come in."""
    chance = random.Random(seed)
    drawn = [chance.choice((TRUE, FALSE, FALSE, UNKNOWN)) for _ in range(problem.tests)]
    world, known, decided = World(problem), dict[int, int](), set[int]()
    run = made(planner, problem).begin(problem)
    asked = []
    while calls := list(run.next(limit)):
        asked.append(calls)
        new = {test: drawn[test] for call in calls for test in world.tests[call]}
        known.update(new)
        now = world.decided(known)
        run.observe(list(new), list(new.values()), sorted(now - decided))
        decided = now
    return asked


@pytest.mark.parametrize("planner", ["savings", "greedy"])
@given(
    seed=st.integers(0, 2**32),
    calls=st.integers(2, 12),
    features=st.sets(st.sampled_from(FEATURES)),
    limit=st.sampled_from([1, 1, 3, 8]),
)
def test_the_compiled_planner_asks_for_the_calls_of_the_interpreted_one(
    planner: str, seed: int, calls: int, features: set[str], limit: int
) -> None:
    chance = np.random.default_rng(seed)
    problem = richer(random_problem(chance, calls, **dict.fromkeys(features, True)), chance)
    with borders(edges=10**9):
        interpreted = picks(problem, planner, limit, seed)
    with borders():
        assert picks(problem, planner, limit, seed) == interpreted


@given(seed=st.integers(0, 2**32))
def test_costs_beyond_reason_are_the_same_in_both_forms(seed: int) -> None:
    chance = np.random.default_rng(seed)
    problem = random_problem(chance, 8, signs=True, shared=True)
    dear = replace(problem, call_cost=10.0 ** chance.uniform(-300, 300, problem.calls))
    with borders(edges=10**9):
        interpreted = picks(dear, "savings", 1, seed)
    with borders():
        assert picks(dear, "savings", 1, seed) == interpreted


@given(seed=st.integers(0, 2**32), count=st.integers(1, 60))
def test_chains_are_ordered_alike_in_both_forms(seed: int, count: int) -> None:
    chance = np.random.default_rng(seed)
    length = chance.integers(1, 5, count)
    nodes = np.concatenate([chance.choice(8, each, replace=False) for each in length])
    start = np.cumsum(length) - length
    chains = Chains(start, length, nodes, chance.random(8), chance.random(8))
    others = np.arange(1, count)
    for is_large in (False, True):
        found = ordered(chains, 4, seed, is_large).tolist()
        saved = saved_before(chains, 0, others, is_large).tolist()
        if not is_large:
            expected = found, saved
    assert (found, saved) == expected


class Growing(stateful.RuleBasedStateMachine):
    """A matcher that grows over all borders, or gets kernels while it is small, beside one that is
    compiled from the first call on."""

    planner = "savings"

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.loaded = False
        with borders():
            self.large = self.made()
        with borders(edges=8, chains=4, rows=5, subscribed=7):
            self.growing = self.made()

    def made(self) -> tamis.Matcher:
        return tamis.Matcher(
            operators=[truth_table("seen")], planner=self.planner, timer=lambda: 0.0
        )

    @stateful.rule(
        names=st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True),
        other=st.integers(10, 12),
        low=st.integers(0, 3),
        either=st.booleans(),
    )
    def subscribe(self, names: list[int], other: int, low: int, either: bool) -> None:
        text = " and ".join(f"seen(p{name})" for name in names)
        text += f" {'or' if either else 'and'} not seen(p{other})"
        self.count += 1
        self.both("subscribe", f"altitude > {low} and ({text})", id=f"s{self.count}")

    @stateful.precondition(lambda self: not self.loaded)
    @stateful.rule()
    def load(self) -> None:
        self.loaded = True

    @stateful.precondition(lambda self: len(self.large) > 0)
    @stateful.rule(at=st.integers(0, 100))
    def unsubscribe(self, at: int) -> None:
        ids = list(self.large)
        self.both("unsubscribe", ids[at % len(ids)])

    @stateful.rule(
        truths=st.lists(st.sampled_from([True, False, None]), min_size=13, max_size=13),
        altitude=st.integers(0, 4),
    )
    def match(self, truths: list[bool | None], altitude: int) -> None:
        seen = {f"p{at}": "no" if truth is None else truth for at, truth in enumerate(truths)}
        event = {"id": "e", "altitude": altitude, "seen": seen}
        large, growing = self.both("match", event)
        assert [match.subscription for match in growing.matches] == [
            match.subscription for match in large.matches
        ]
        assert [call.predicate for call in growing.calls] == [
            call.predicate for call in large.calls
        ]
        assert without_effort(growing) == without_effort(large)

    def both(self, method: str, *arguments: Any, **named: Any) -> tuple[Any, Any]:
        with borders():
            large = getattr(self.large, method)(*arguments, **named)
        with borders(edges=8, chains=4, rows=5, subscribed=7, loaded=self.loaded):
            growing = getattr(self.growing, method)(*arguments, **named)
        return large, growing


def without_effort(result: tamis.Result) -> dict[str, Any]:
    """The account of a result but for what took how long, and how many rows an index checked."""
    account = result.account.as_dict()
    del account["seconds"], account["checked"]
    for each in account["operators"].values():
        del each["seconds"]
    return account


class GrowingSubOrder(Growing):
    planner = "suborder"


class GrowingGreedy(Growing):
    planner = "greedy"


TestGrowing = Growing.TestCase
TestGrowingSubOrder = GrowingSubOrder.TestCase
TestGrowingGreedy = GrowingGreedy.TestCase
