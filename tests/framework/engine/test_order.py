"""The answers do not depend on the order of calls: every permutation gives the same."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis import Limits, Problem, Run
from tamis.testing import TableOperator, conditions, events, pool_operators, truth_table


class InThisOrder:
    """Makes all calls in a given order, needed or not."""

    def __init__(self, order: Sequence[int]) -> None:
        self.order = order

    def begin(self, problem: Problem) -> Run:
        return _Rest([call for call in self.order if call < problem.calls])


class Shuffled:
    """Makes all calls in some order."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def begin(self, problem: Problem) -> Run:
        calls = list(range(problem.calls))
        random.Random(self.seed).shuffle(calls)
        return _Rest(calls)


class _Rest:
    def __init__(self, calls: list[int]) -> None:
        self.calls = calls

    def next(self, limit: int) -> Sequence[int]:
        return [self.calls.pop(0)] if self.calls else []

    def observe(self, tests: object, outcomes: object, decided: object) -> None:
        pass


WORLDS: list[tuple[dict[str, str], Limits]] = [
    (
        {
            "s1": "seen(yes) and seen(bad) or not seen(no) and seen(bad)",
            "s2": "not (seen(yes) and seen(bad))",
            "s3": "seen(bad) and seen(no) or seen(bad) and seen(yes)",
            "s4": "seen(bad) or seen(no)",
            "s5": "not seen(no) and (seen(yes) or seen(bad))",
        },
        Limits(),
    ),
    (
        {
            "s1": "count(k, ?x), count(m, ?y), ?x > ?y, seen(bad)",
            "s2": "(count(k, ?x), count(m, ?x)) or count(bad, ?x)",
            "s3": "count(bad, ?z), count(k, ?x), count(m, ?y), ?x + ?y > 30",
            "s4": "count(bad, ?z), count(k, ?x), count(m, ?y), ?x + ?y > 3",
            "s5": "count(k, 1) and not count(m, 1) or count(bad, ?n)",
        },
        Limits(),
    ),
    (
        {
            "s1": "count(k, ?x), count(m, ?y), ?x + ?y > 5, count(few, ?z), ?z > ?x",
            "s2": "count(k, ?x), count(m, ?y), count(few, ?z), ?x + ?y + ?z > 100",
            "s3": "count(k, ?x), count(few, ?x), count(m, ?y), ?y > ?x",
            "s4": "count(k, ?x), ?x > 9 or count(m, ?y), ?y > 2".replace(" or ", ") or (").join(
                "()"
            ),
        },
        Limits(join_steps=3, assignments=2, solutions=3),
    ),
]
EVENT: dict[str, Any] = {
    "seen": {"yes": True, "no": False, "bad": "no model"},
    "count": {"k": [1, 2, 3, 4, 5], "m": [9, 8, 2, 1], "few": [3, 4], "bad": "no model"},
}


def answers(result: tamis.Result) -> Any:
    """Everything but what it took, reasons included."""
    return (
        [
            (each.subscription, sorted(map(str, each.bindings)), each.incomplete, each.truncated)
            for each in result.matches
        ],
        [(each.subscription, each.reason) for each in result.undetermined],
    )


def matcher(subscriptions: dict[str, str], limits: Limits, planner: Any) -> tamis.Matcher:
    one = tamis.Matcher(
        operators=[truth_table("seen"), TableOperator("count", outputs=("n",))],
        planner=planner,
        limits=limits,
    )
    one.subscribe_many([{"id": id, "where": where} for id, where in subscriptions.items()])
    return one


@pytest.mark.parametrize(("subscriptions", "limits"), WORLDS)
def test_every_permutation_gives_the_same(subscriptions: dict[str, str], limits: Limits) -> None:
    planner = InThisOrder(range(9))
    one = matcher(subscriptions, limits, planner)
    count = len(one.match(EVENT).calls)
    assert count >= 3
    for id in subscriptions:
        alone = {id: subscriptions[id]}
        right = answers(matcher(alone, limits, InThisOrder(range(9))).match(EVENT))
        assert right == answers(matcher(alone, limits, "naive").match(EVENT))
    seen = set()
    for order in itertools.permutations(range(count)):
        planner.order = order
        seen.add(repr(answers(one.match(EVENT))))
    assert len(seen) == 1


@given(
    st.lists(conditions(attributes=False), min_size=1, max_size=3),
    events(),
    st.integers(0, 10**6),
    st.booleans(),
)
@pytest.mark.filterwarnings("ignore::tamis.SubscriptionWarning")
def test_any_order_gives_the_same(
    texts: list[str], event: dict[str, Any], seed: int, narrow: bool
) -> None:
    limits = Limits(join_steps=5, assignments=2, solutions=2) if narrow else Limits()

    def result(planner: Any) -> tamis.Result:
        one = tamis.Matcher(operators=pool_operators(), planner=planner, limits=limits)
        one.subscribe_many([{"id": f"s{at}", "where": text} for at, text in enumerate(texts)])
        return one.match({**event, "id": "e"})

    right = answers(result(Shuffled(0)))
    assert answers(result(Shuffled(seed))) == right
    lazy = answers(result("sequential"))
    assert lazy[0] == right[0]
    assert [id for id, _ in lazy[1]] == [id for id, _ in right[1]]
