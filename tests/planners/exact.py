"""Small problems, and what planners expect to pay for them: exactly, by all that may come out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from tamis.planning import FALSE, TRUE, UNKNOWN, Planner, Problem, Standing
from tamis.plugins.loader import installed

Outcomes = dict[int, int]


def problem_of(
    alternatives: list[list[tuple[int, int]]],
    selectivity: list[float],
    cost: list[float],
    *,
    owner: list[int] | None = None,
    binds: list[bool] | None = None,
    test_call: list[int] | None = None,
    failure: list[float] | None = None,
    group: list[int] | None = None,
    price: list[float] | None = None,
    batch: list[int] | None = None,
    marginal: list[float] | None = None,
    **more: Any,
) -> Problem:
    """A problem of alternatives of signed tests."""
    calls = len(cost)
    edges = [edge for each in alternatives for edge in each]
    return Problem(
        alternative_key=np.arange(len(alternatives)),
        alternative_subscription=np.array(
            range(len(alternatives)) if owner is None else owner, np.int64
        ),
        alternative_binds=np.array(binds or [False] * len(alternatives), np.bool_),
        alternative_start=np.cumsum([0, *map(len, alternatives)]),
        edge_test=np.array([test for test, _ in edges], np.int64),
        edge_sign=np.array([sign for _, sign in edges], np.int8),
        test_call=np.array(range(calls) if test_call is None else test_call, np.int64),
        test_selectivity=np.array(selectivity, np.float64),
        call_cost=np.array(cost, np.float64),
        call_failure=np.array(failure or [0.0] * calls),
        call_group=np.array(group or [-1] * calls, np.int64),
        group_price=np.array(price or [], np.float64),
        call_batch=np.array(batch or [-1] * calls, np.int64),
        call_marginal=np.array(cost if marginal is None else marginal, np.float64),
        implications=more.pop("implications", np.zeros((0, 4), np.int64)),
        **more,
    )


def random_problem(chance: np.random.Generator, calls: int, **features: bool) -> Problem:
    """A small problem; features: `costs`, `signs`, `shared`, `siblings`, `failures`, `groups`,
    `batches`."""
    tests = list(range(calls))
    if features.get("shared"):
        tests += chance.integers(0, calls, 2).tolist()
    alternatives = []
    for _ in range(int(chance.integers(1, 5))):
        size = int(chance.integers(1, min(4, len(tests)) + 1))
        held = chance.choice(len(tests), size, replace=False).tolist()
        signs = chance.choice([1, -1] if features.get("signs") else [1], size).tolist()
        alternatives.append(list(zip(held, signs, strict=True)))
    count = len(alternatives)
    owner = sorted(chance.integers(0, count, count).tolist())
    cost = np.exp(chance.normal(0.0, 1.0, calls)) if features.get("costs") else np.ones(calls)
    together = float(chance.exponential(1.0)) if features.get("batches") else 0.0
    batch = chance.integers(-1, 1, calls) if features.get("batches") else np.full(calls, -1)
    return problem_of(
        alternatives,
        chance.random(len(tests)).tolist(),
        np.where(batch >= 0, cost + together, cost).tolist(),
        test_call=tests[:calls] + tests[calls:],
        owner=owner if features.get("siblings") else None,
        binds=chance.choice([True, False, False], count).tolist(),
        failure=(chance.random(calls) * 0.3).tolist() if features.get("failures") else None,
        group=chance.integers(-1, 2, calls).tolist() if features.get("groups") else None,
        price=chance.exponential(2.0, 2).tolist() if features.get("groups") else None,
        batch=batch.tolist(),
        marginal=cost.tolist(),
    )


class World:
    """A problem as the engine decides it, by the words of the contract."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        starts = problem.alternative_start.tolist()
        edges = list(zip(problem.edge_test.tolist(), problem.edge_sign.tolist(), strict=True))
        self.alternatives = [edges[start:end] for start, end in itertools.pairwise(starts)]
        self.owner: list[int] = problem.alternative_subscription.tolist()
        self.binds: list[bool] = problem.alternative_binds.tolist()
        self.tests: list[list[int]] = [[] for _ in range(problem.calls)]
        for test, call in enumerate(problem.test_call.tolist()):
            self.tests[call].append(test)

    def decided(self, known: Outcomes) -> set[int]:
        """The alternatives that these outcomes decide, or make needless."""
        false, done, true = set(), set(), set()
        for number, edges in enumerate(self.alternatives):
            outcomes = [(known.get(test), TRUE if sign > 0 else FALSE) for test, sign in edges]
            if any(outcome in (TRUE, FALSE) and outcome != wanted for outcome, wanted in outcomes):
                false.add(number)
            elif all(outcome is not None for outcome, _ in outcomes):
                done.add(number)
                if all(outcome == wanted for outcome, wanted in outcomes):
                    true.add(self.owner[number])
        spared = {
            number
            for number, owner in enumerate(self.owner)
            if owner in true and not self.binds[number]
        }
        return false | done | spared

    def needed(self, known: Outcomes) -> list[int]:
        """The calls that alternatives which are open have left."""
        decided = self.decided(known)
        return sorted(
            {
                int(self.problem.test_call[test])
                for number, edges in enumerate(self.alternatives)
                if number not in decided
                for test, _ in edges
                if test not in known
            }
        )

    def cost(self, calls: tuple[int, ...], asked: set[int]) -> float:
        """What a round costs after others; calls of a batch are made together."""
        problem = self.problem
        group, batch = problem.call_group.tolist(), problem.call_batch.tolist()
        paid = {group[call] for call in asked}
        total = sum(problem.group_price[each] for each in {group[c] for c in calls} - paid - {-1})
        together: dict[object, list[int]] = {}
        for call in calls:
            together.setdefault(batch[call] if batch[call] >= 0 else ("alone", call), []).append(
                call
            )
        for members in together.values():
            if len(members) > 1:
                total += sum(problem.call_marginal[call] for call in members)
                total += min(problem.call_cost[c] - problem.call_marginal[c] for c in members)
            else:
                total += problem.call_cost[members[0]]
        return float(total)

    def outcomes(self, calls: tuple[int, ...]) -> Iterator[tuple[float, Outcomes]]:
        """All that may come of calls, with its chance."""
        if not calls:
            yield 1.0, {}
            return
        call, *rest = calls
        failure = float(self.problem.call_failure[call])
        mine: list[tuple[float, Outcomes]] = [(failure, dict.fromkeys(self.tests[call], UNKNOWN))]
        for truths in itertools.product([TRUE, FALSE], repeat=len(self.tests[call])):
            chance = 1.0 - failure
            for test, truth in zip(self.tests[call], truths, strict=True):
                share = float(self.problem.test_selectivity[test])
                chance *= share if truth == TRUE else 1.0 - share
            mine.append((chance, dict(zip(self.tests[call], truths, strict=True))))
        for chance, others in self.outcomes(tuple(rest)):
            for my_chance, my_outcomes in mine:
                if my_chance * chance > 0.0:
                    yield my_chance * chance, my_outcomes | others


def made(name: str, problem: Problem) -> Planner:
    """A planner that knows of the problem what it would have been told."""
    planner = installed().planner(name).factory()
    if hasattr(planner, "reset"):
        planner.reset(
            Standing(
                key=problem.alternative_key,
                start=problem.alternative_start,
                test=problem.edge_test,
                sign=problem.edge_sign,
                selectivity=problem.test_selectivity[problem.edge_test],
                cost=problem.call_cost[problem.test_call[problem.edge_test]],
            )
        )
    return planner


def expected_cost(name: str, problem: Problem, limit: int = 1) -> float:
    """What a planner expects to pay: it is run anew for every way that things may come out."""
    world, planner = World(problem), made(name, problem)

    def rest(told: list[tuple[tuple[int, ...], Outcomes]]) -> float:
        run = planner.begin(problem)
        known: Outcomes = {}
        asked: set[int] = set()
        decided: set[int] = set()
        for calls, outcomes in told:
            again = tuple(run.next(limit))
            assert again == calls, "a planner does the same again"
            known |= outcomes
            asked.update(calls)
            new = world.decided(known) - decided
            decided |= new
            run.observe(list(outcomes), list(outcomes.values()), sorted(new))
        calls = tuple(run.next(limit))
        if not calls:
            assert len(decided) == problem.alternatives, "a planner stopped early"
            return 0.0
        assert asked.isdisjoint(calls), "a planner asks twice"
        if limit == 1 and name != "naive":
            assert not set(calls).isdisjoint(world.needed(known)), "nobody needs these calls"
            batches = {int(problem.call_batch[call]) for call in calls}
            assert len(calls) == 1 or (len(batches) == 1 and batches != {-1})
        return world.cost(calls, asked) + sum(
            chance * rest([*told, (calls, outcomes)]) for chance, outcomes in world.outcomes(calls)
        )

    return rest([])


def least_expected_cost(problem: Problem) -> float:
    """The optimum, by trying everything after everything that may come out; for few calls."""
    world = World(problem)
    batch = problem.call_batch.tolist()

    @cache
    def rest(known: frozenset[tuple[int, int]]) -> float:
        outcomes = dict(known)
        needed = world.needed(outcomes)
        asked = {int(problem.test_call[test]) for test in outcomes}
        best = np.inf if needed else 0.0
        together = [
            calls
            for count in range(1, len(needed) + 1)
            for calls in itertools.combinations(needed, count)
            if count == 1 or (len({batch[call] for call in calls}) == 1 and batch[calls[0]] >= 0)
        ]
        for calls in together:
            mine = world.cost(calls, asked) + sum(
                chance * rest(frozenset({**outcomes, **new}.items()))
                for chance, new in world.outcomes(calls)
            )
            best = min(best, mine)
        return float(best)

    return rest(frozenset())
