"""Sub-Order: the paper's numbers by hand, the order under change, and `naive`'s answers always."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import tamis
from tamis.planning import Standing
from tamis.testing import FakeClock
from tamis_planners.suborder import SubOrder
from tamis_planners.suborder_kernels import Chains, ordered, saving
from tamis_planners.suborder_order import ChainOrder

Nodes = Sequence[tuple[int, float, float]]


def chains_as_arrays(
    chains: Sequence[Sequence[int]], passes: Sequence[float], costs: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    length = np.array([len(each) for each in chains], np.int64)
    return (
        np.cumsum(length) - length,
        length,
        np.array([node for each in chains for node in each], np.int64),
        np.array(passes, np.float64),
        np.array(costs, np.float64),
    )


def standing(chains: Iterable[tuple[int, Nodes]]) -> Standing:
    chains = list(chains)
    flat = [node for _, nodes in chains for node in nodes]
    return Standing(
        key=np.array([key for key, _ in chains], np.int64),
        start=np.cumsum([0, *(len(nodes) for _, nodes in chains)]).astype(np.int64),
        test=np.array([test for test, _, _ in flat], np.int64),
        sign=np.ones(len(flat), np.int8),
        selectivity=np.array([share for _, share, _ in flat], np.float64),
        cost=np.array([cost for _, _, cost in flat], np.float64),
    )


def expected_cost(
    first: Sequence[int], second: Sequence[int], passes: Sequence[float], costs: Sequence[float]
) -> float:
    """The expected cost of evaluating two chains one after the other, over all truths."""
    nodes = sorted({*first, *second})
    total = 0.0
    for bits in range(2 ** len(nodes)):
        truth = {node: bool(bits >> at & 1) for at, node in enumerate(nodes)}
        chance, cost = 1.0, 0.0
        known: dict[int, bool] = {}
        for node in nodes:
            chance *= passes[node] if truth[node] else 1 - passes[node]
        for chain in (first, second):
            if any(known.get(node) is False for node in chain):
                continue
            for node in chain:
                if node not in known:
                    known[node] = truth[node]
                    cost += costs[node]
                    if not truth[node]:
                        break
        total += chance * cost
    return total


def test_one_shared_node_by_hand() -> None:
    # s1 = a (p .2) above x (p .5); s2 = x above b (p .8). s1 first: 1.2 + .2·.5·1 + .8·1.5 = 2.5;
    # s2 first: 1.5 + .5·1 = 2.0. By §4.2.4: (1-.5)·(P2·C1 - P1·C2) = .5·(1·1 - .2·0) = .5.
    a, x, b = 0, 1, 2
    passes, costs = [0.2, 0.5, 0.8], [1.0, 1.0, 1.0]
    arrays = chains_as_arrays([[a, x], [x, b]], passes, costs)
    assert expected_cost([a, x], [x, b], passes, costs) == pytest.approx(2.5)
    assert expected_cost([x, b], [a, x], passes, costs) == pytest.approx(2.0)
    assert saving(*arrays, 1, 0) == pytest.approx(0.5)
    assert saving(*arrays, 0, 1) == pytest.approx(-0.5)
    for is_large in (False, True):
        assert ordered(Chains(*arrays), 16, 0, is_large).tolist() == [1, 0]


def test_no_difference_when_the_shared_node_is_first_in_both() -> None:
    arrays = chains_as_arrays([[0, 1], [0, 2]], [0.1, 0.5, 0.6], [1.0, 1.0, 1.0])
    assert saving(*arrays, 0, 1) == saving(*arrays, 1, 0) == 0.0


def test_with_costs_the_saving_is_the_difference_of_expected_costs() -> None:
    chance = random.Random(5)
    for _ in range(200):
        passes = [chance.random() for _ in range(6)]
        costs = [chance.expovariate(1) for _ in range(6)]

        effort = [cost / (1 - share) for cost, share in zip(costs, passes, strict=True)]
        first, second = (
            sorted({5, *chance.sample(own, chance.randrange(3))}, key=effort.__getitem__)
            for own in ([0, 1], [2, 3])
        )
        arrays = chains_as_arrays([first, second], passes, costs)
        costly = expected_cost(second, first, passes, costs)
        cheap = expected_cost(first, second, passes, costs)
        assert saving(*arrays, 0, 1) == pytest.approx(costly - cheap, abs=1e-12)


def test_figure_2_takes_the_shared_predicates_first() -> None:
    # S1 = P1 P2, S2 = P2 P3, S3 = P3 P4; P2 is false and P3 true, as in the figure. P2 decides S1
    # and S2 at once; S3 is left with P3 and P4. P1 is never needed.
    @tamis.operator
    def holds(event: object, name: str) -> bool:
        return name != "P2"

    known = {"holds(P1)": 0.9, "holds(P2)": 0.1, "holds(P3)": 0.5, "holds(P4)": 0.5}
    matcher = tamis.Matcher(
        [holds], planner="suborder", statistics=tamis.Statistics(selectivity=known)
    )
    for id, names in (("S1", "P1 P2"), ("S2", "P2 P3"), ("S3", "P3 P4")):
        matcher.subscribe(", ".join(f"holds({name})" for name in names.split()), id=id)
    result = matcher.match({})
    assert [match.subscription for match in result.matches] == ["S3"]
    made = sorted(call.predicate for call in result.calls)
    assert made == ["holds(P2)", "holds(P3)", "holds(P4)"]


def test_chains_are_in_increasing_order_of_cost_over_kill_probability() -> None:
    order = ChainOrder()
    order.reset(standing([(7, [(1, 0.5, 1.0), (2, 0.1, 1.0), (3, 0.5, 9.0)])]))
    nodes = order._chain.view.tolist()
    names = {number: test for (test, _), number in order._nodes.items()}
    assert [names[node] for node in nodes] == [2, 1, 3]


def check_order(order: ChainOrder, live: set[int]) -> None:
    """The list, the ranks and the score are what they say."""
    assert set(order._slots) == live
    slot, backwards = order._last, []
    while slot != -1:
        backwards.append(order._keys[slot])
        before = int(order._preceding[slot])
        assert before == -1 or int(order._following[before]) == slot
        slot = before
    assert sorted(backwards) == sorted(live)
    assert order.keys() == backwards[::-1]
    slots = [order._slots[key] for key in backwards[::-1]]
    total = sum(order._between(one, other) for one, other in pairwise(slots))
    assert order._neighborly == pytest.approx(total, abs=1e-9)


@pytest.mark.long
def test_the_order_stays_one_under_any_changes() -> None:
    for seed in range(12):
        chance = random.Random(seed)
        order, live, fresh = ChainOrder(), set[int](), iter(range(10_000))

        def some(
            count: int, chance: random.Random = chance, fresh: Iterable[int] = fresh
        ) -> Standing:
            keys = [key for key, _ in zip(fresh, range(count), strict=False)]
            return standing(
                (
                    key,
                    [
                        (test, 0.05 + 0.09 * test, 1.0 + test % 3)
                        for test in chance.sample(range(10), chance.randint(1, 4))
                    ],
                )
                for key in keys
            )

        for _ in range(60):
            if chance.random() < 0.55 or not live:
                new = some(chance.choice([1, 1, 1, 90]))
                order.add(new)
                live |= set(new.key.tolist())
            else:
                gone = chance.sample(sorted(live), min(len(live), chance.choice([1, 2, 40])))
                order.remove(gone)
                live -= set(gone)
            order.join()
            check_order(order, live)


def test_many_insertions_in_one_place_do_not_run_out_of_ranks() -> None:
    order = ChainOrder()
    order.reset(standing([(0, [(0, 0.1, 1.0), (1, 0.5, 1.0)]), (1, [(1, 0.5, 1.0)])]))
    for key in range(2, 200):
        order.add(standing([(key, [(0, 0.1, 1.0), (1, 0.5, 1.0), (key, 0.9, 1.0)])]))
    order.join()
    check_order(order, set(range(200)))


def test_an_aged_order_is_made_anew_in_the_background() -> None:
    chance = random.Random(3)
    order = ChainOrder()

    def chain(tests: Sequence[int]) -> Nodes:
        return [(test, 0.1 + 0.8 * test / 300, 1.0) for test in tests]

    order.reset(standing((key, chain(chance.sample(range(300), 4))) for key in range(2_000)))
    assert order.rebuilds == 1
    score = order.score
    for key in range(2_000, 2_600):
        order.add(standing([(key, chain([key]))]))
        order.remove([key - 2_000])
    order.join()
    assert order.rebuilds >= 2
    assert len(order) == 2_000
    assert order.score < score
    check_order(order, set(range(600, 2_600)))


def test_new_statistics_order_anew() -> None:
    @tamis.operator
    def holds(event: object, name: str) -> bool:
        return False

    matcher = tamis.Matcher([holds], planner="suborder")
    matcher.subscribe("holds(a), holds(x)", id="s1")
    matcher.subscribe("holds(x), holds(b)", id="s2")
    matcher.statistics = tamis.Statistics({"holds(a)": 0.2, "holds(x)": 0.5, "holds(b)": 0.8})
    assert [call.predicate for call in matcher.match({}).calls] == ["holds(x)"]
    matcher.statistics = tamis.Statistics({"holds(a)": 0.8, "holds(x)": 0.5, "holds(b)": 0.2})
    assert [call.predicate for call in matcher.match({}).calls] == ["holds(x)"]
    matcher.statistics = tamis.Statistics({"holds(a)": 0.1, "holds(x)": 0.5, "holds(b)": 0.1})
    assert len(matcher.match({}).calls) == 2
    assert isinstance(matcher.planner, SubOrder)
    assert matcher.planner.order.rebuilds >= 3


TESTS = [f"holds({name})" for name in "abcdefg"]


class SameAnswers(RuleBasedStateMachine):
    """Sub-Order and naive, told the same in any order, answer the same."""

    @initialize(shares=st.lists(st.floats(0, 1), min_size=7, max_size=7))
    def start(self, shares: list[float]) -> None:
        self.clock = FakeClock()
        self.live: dict[str, float] = {}

        @tamis.operator
        def holds(event: dict[str, str], name: str) -> bool:
            if name in event.get("broken", ""):
                raise RuntimeError("broken")
            return name in event["true"]

        @tamis.operator(outputs=("place",))
        def where(event: dict[str, str], name: str, place: object) -> list[int]:
            return [at for at, letter in enumerate(event["true"]) if letter >= name]

        known = tamis.Statistics(dict(zip(TESTS, shares, strict=True)))
        self.matchers = [
            tamis.Matcher([holds, where], planner=planner, statistics=known, clock=self.clock)
            for planner in ("naive", "suborder")
        ]

    conditions = st.lists(
        st.lists(
            st.one_of(
                st.sampled_from(TESTS),
                st.sampled_from([f"not {test}" for test in TESTS]),
                st.sampled_from(["where(c, ?x), ?x > 1", "where(d, ?y), ?y < 3"]),
            ),
            min_size=1,
            max_size=4,
        ).map(lambda tests: "(" + ", ".join(tests) + ")"),
        min_size=1,
        max_size=3,
    ).map(" or ".join)
    ids = st.sampled_from([f"s{number}" for number in range(8)])

    @rule(id=ids, where=conditions, validity=st.one_of(st.none(), st.integers(1, 20)))
    def subscribe(self, id: str, where: str, validity: int | None) -> None:
        for matcher in self.matchers:
            matcher.subscribe(where, id=id, replace=True, validity=validity)

    @rule(id=ids)
    def unsubscribe(self, id: str) -> None:
        for matcher in self.matchers:
            if id in matcher:
                matcher.unsubscribe(id)

    @rule(id=ids, validity=st.integers(1, 20))
    def renew(self, id: str, validity: int) -> None:
        for matcher in self.matchers:
            if id in matcher:
                matcher.renew(id, validity=validity)

    @rule(seconds=st.integers(1, 9))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule(true=st.sets(st.sampled_from("abcdefg")), broken=st.sets(st.sampled_from("abcdefg")))
    def match(self, true: set[str], broken: set[str]) -> None:
        event = {"id": "e", "true": "".join(sorted(true)), "broken": "".join(sorted(broken))}
        naive, suborder = (matcher.match(event).as_dict() for matcher in self.matchers)
        assert suborder == naive

    @invariant()
    def order_is_one(self) -> None:
        if hasattr(self, "matchers"):
            matcher = self.matchers[1]
            assert isinstance(matcher.planner, SubOrder)
            matcher.planner.order.join()
            check_order(matcher.planner.order, set(matcher._catalog.asking()))


TestSameAnswers = pytest.mark.filterwarnings("ignore::tamis.NeverMatches")(SameAnswers.TestCase)
TestSameAnswers.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
