"""`savings` and `greedy`: what they ask is what their formula says, computed anew at every step."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.planning import FALSE, TRUE, UNKNOWN, Expectations, Problem, Run, Scenes
from tamis.plugins.loader import installed
from tamis.testing import truth_table

from .exact import Outcomes, World, made, problem_of, random_problem

ADAPTIVE = ("greedy", "savings")
PLANNERS = sorted(installed().planners)


def scores(world: World, known: Outcomes, weighted: bool) -> tuple[dict[int, float], set[int]]:
    """The score of each needed call by the formula, and the calls that everybody must make."""
    problem = world.problem
    decided = world.decided(known)
    found: dict[int, float] = {}
    certain: set[int] = set()
    for number, edges in enumerate(world.alternatives):
        if number in decided:
            continue
        passes: dict[int, float] = {}
        for test, sign in edges:
            if test not in known:
                share = float(problem.test_selectivity[test])
                call = int(problem.test_call[test])
                passes[call] = passes.get(call, 1.0) * (share if sign > 0 else 1.0 - share)
        ends = {c: (1.0 - p) * (1.0 - float(problem.call_failure[c])) for c, p in passes.items()}
        order = sorted(ends, key=lambda call: problem.call_cost[call] / (ends[call] + 1e-12))
        alone, reached = 0.0, 1.0
        for call in order:
            alone += reached * float(problem.call_cost[call])
            reached *= 1.0 - ends[call]
        weight = alone**1.6 * 0.75 ** (len(order) - 1) if weighted else 1.0
        for call in order:
            benefit = weight * ends[call] / float(problem.call_cost[call])
            found[call] = found.get(call, 0.0) + benefit
        if len(order) == 1:
            certain.add(order[0])
    return found, certain


def steps(
    planner: str, problem: Problem, chance: np.random.Generator
) -> Iterator[tuple[World, Outcomes, list[int]]]:
    """What is known before each call that a planner asks for, and the call."""
    world = World(problem)
    run, known = made(planner, problem).begin(problem), dict[int, int]()
    decided: set[int] = set()
    while calls := list(run.next(1)):
        yield world, dict(known), calls
        for call in calls:
            decided = tell(run, world, known, decided, drawn(world, call, chance))
    assert len(decided) == problem.alternatives


def drawn(world: World, call: int, chance: np.random.Generator) -> Outcomes:
    """What comes of a call."""
    outcomes = list(world.outcomes((call,)))
    shares = np.array([share for share, _ in outcomes])
    return outcomes[int(chance.choice(len(outcomes), p=shares / shares.sum()))][1]


def tell(run: Run, world: World, known: Outcomes, decided: set[int], new: Outcomes) -> set[int]:
    known.update(new)
    now = world.decided(known)
    run.observe(list(new), list(new.values()), sorted(now - decided))
    return now


@pytest.mark.parametrize("planner", ADAPTIVE)
@given(
    seed=st.integers(0, 2**32),
    calls=st.integers(2, 9),
    some=st.sets(st.sampled_from(("costs", "signs", "shared", "failures"))),
)
def test_it_asks_for_the_highest_score(planner: str, seed: int, calls: int, some: set[str]) -> None:
    chance = np.random.default_rng(seed)
    problem = random_problem(chance, calls, **dict.fromkeys(some, True))
    for world, known, (call,) in steps(planner, problem, chance):
        found, certain = scores(world, known, planner == "savings")
        if certain:
            assert call in certain
        else:
            assert found[call] >= max(found.values()) * (1.0 - 1e-9)


def test_scores_rise() -> None:
    """What was worth little becomes the best when another alternative has little left to ask."""
    rising = 0
    chance = np.random.default_rng(5)
    for _ in range(100):
        before: dict[int, float] = {}
        problem = random_problem(chance, 8, costs=True)
        for world, known, _calls in steps("savings", problem, chance):
            found, _certain = scores(world, known, True)
            rising += any(found[call] > before.get(call, np.inf) for call in found)
            before = found
    assert rising > 20


@pytest.mark.parametrize("planner", PLANNERS)
@given(seed=st.integers(0, 2**32), limit=st.integers(1, 4))
def test_what_is_known_without_a_call_is_not_asked(planner: str, seed: int, limit: int) -> None:
    """Outcomes may come of calls that were never made: implied, or remembered."""
    chance = np.random.default_rng(seed)
    problem = random_problem(chance, 6, shared=True, siblings=True, signs=True)
    world = World(problem)
    run, known = made(planner, problem).begin(problem), dict[int, int]()
    decided: set[int] = set()
    asked: set[int] = set()
    for _ in range(20):
        test = int(chance.integers(0, problem.tests))
        if (
            test not in known
            and int(problem.test_call[test]) not in asked
            and chance.random() < 0.5
        ):
            decided = tell(run, world, known, decided, {test: int(chance.integers(0, 3))})
        calls = list(run.next(limit))
        if not calls:
            break
        assert asked.isdisjoint(calls)
        asked.update(calls)
        needed = world.needed(known)
        if planner in (*ADAPTIVE, "optimal"):
            assert set(calls) & set(needed)
        assert not any(set(world.tests[call]) <= known.keys() for call in calls)
        for call in calls:
            new = {
                test: out for test, out in drawn(world, call, chance).items() if test not in known
            }
            decided = tell(run, world, known, decided, new)
    assert not world.needed(known)


@pytest.mark.parametrize("planner", PLANNERS)
def test_what_the_engine_settles_later_stops_nobody(planner: str) -> None:
    """An alternative may stay open although all its tests are known."""
    problem = problem_of([[(0, 1), (1, 1)], [(2, 1)]], [0.5] * 3, [1.0] * 3)
    run = made(planner, problem).begin(problem)
    asked: set[int] = set()
    for _ in range(4):
        for call in run.next(1):
            assert call not in asked
            asked.add(call)
            run.observe([call], [TRUE], [])
    assert asked == {0, 1, 2}
    assert not list(run.next(1))


@pytest.mark.parametrize("planner", ADAPTIVE)
@given(seed=st.integers(0, 2**32))
def test_other_expectations_of_the_same_shape(planner: str, seed: int) -> None:
    chance = np.random.default_rng(seed)
    problem = random_problem(chance, 6, costs=True, shared=True, groups=True)
    cost = np.exp(chance.normal(0.0, 1.0, problem.calls))
    other = problem.expecting(
        Expectations(
            chance.random(problem.tests),
            cost,
            np.zeros(problem.calls),
            cost,
            chance.random(len(problem.group_price)),
        )
    )
    used = made(planner, problem)
    used.begin(problem)
    assert list(used.begin(other).next(9)) == list(made(planner, other).begin(other).next(9))
    assert list(used.begin(problem).next(9)) == list(made(planner, problem).begin(problem).next(9))


def test_a_scene_is_recognized() -> None:
    """A test that tells the scenes apart decides which of the others is asked first."""
    scenes = Scenes(
        weight=np.array([0.5, 0.5]),
        selectivity=np.array([[0.01, 0.02, 0.9], [0.9, 0.9, 0.02]]),
    )
    alternatives = [[(0, 1)], [(1, 1), (2, 1)]]
    problem = problem_of(alternatives, [0.45, 0.46, 0.46], [1.0] * 3, scenes=scenes)
    for outcome, then in ((FALSE, 1), (TRUE, 2)):
        run = made("savings", problem).begin(problem)
        assert list(run.next(1)) == [0]
        run.observe([0], [outcome], [0])
        assert list(run.next(1)) == [then]
    first = made("savings", problem).begin(problem)
    first.next(1)
    first.observe([0], [UNKNOWN], [0])
    mixture = problem_of(alternatives[1:], [0.455, 0.46, 0.46], [1.0] * 3)
    assert list(first.next(1)) == list(made("savings", mixture).begin(mixture).next(1))


def test_a_preparation_is_paid_for_many() -> None:
    """Two cheap calls behind one preparation are worth more than one dear call."""
    alternatives = [[(0, 1), (1, 1)], [(0, 1), (2, 1)], [(0, 1), (3, 1)]]
    shares = [0.5, 0.1, 0.1, 0.1]
    apart = problem_of(alternatives, shares, [4.0, 3.0, 3.0, 3.0])
    grouped = problem_of(
        alternatives, shares, [4.0, 0.1, 0.1, 0.1], group=[-1, 0, 0, 0], price=[2.9]
    )
    assert list(made("savings", apart).begin(apart).next(1)) == [0]
    assert list(made("savings", grouped).begin(grouped).next(1)) != [0]


def test_what_an_outcome_implies_counts() -> None:
    """When `0` is false, so are `1` to `3`: asked first, it ends all at once."""
    alternatives = [[(0, 1), (4, 1)], [(1, 1), (4, 1)], [(2, 1), (4, 1)], [(3, 1), (4, 1)]]
    shares, cost = [0.1, 0.1, 0.1, 0.1, 0.5], [1.0] * 5
    apart = problem_of(alternatives, shares, cost)
    rows = [[0, FALSE, other, FALSE] for other in (1, 2, 3)]
    rows += [[other, TRUE, 0, TRUE] for other in (1, 2, 3)]
    implied = problem_of(alternatives, shares, cost, implications=np.array(rows, np.int64))
    assert list(made("savings", apart).begin(apart).next(1)) == [4]
    assert list(made("savings", implied).begin(implied).next(1)) == [0]


def test_a_batch_takes_along_what_is_likely_needed() -> None:
    alternatives = [[(0, 1)], [(1, 1)], [(3, 1), (2, 1)]]
    problem = problem_of(
        alternatives,
        [0.5, 0.5, 0.5, 0.01],
        [1.0] * 4,
        batch=[0, 0, 0, -1],
        marginal=[0.1] * 3 + [1.0],
    )
    run = made("savings", problem).begin(problem)
    first = list(run.next(1))
    if first == [3]:
        run.observe([3], [FALSE], [2])
        first = list(run.next(1))
    assert sorted(first) == [0, 1]


def test_threads_may_begin_at_once() -> None:
    matcher = tamis.Matcher(operators=[truth_table("seen")], planner="savings")
    chance = np.random.default_rng(3)
    for at in range(200):
        names = chance.choice(60, 3, replace=False)
        matcher.subscribe(" and ".join(f"seen(p{name})" for name in names), id=f"s{at}")
    events: list[dict[str, Any]] = [
        {"seen": {f"p{name}": bool(chance.random() < 0.5) for name in range(60)}} for _ in range(12)
    ]
    right = [[match.subscription for match in matcher.match(event).matches] for event in events]
    wrong: list[int] = []

    def match_all() -> None:
        for at, event in enumerate(events):
            if [match.subscription for match in matcher.match(event).matches] != right[at]:
                wrong.append(at)

    threads = [threading.Thread(target=match_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
