"""Learns of tests, calls and preparations, one event after the other."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis import Statistics
from tamis.calling.answers import Answer, Failure
from tamis.engine.decision import Decision
from tamis.engine.learned import OnlineStatistics
from tamis.operators import record_of
from tamis.operators.asking import Call, Operators, SolutionSlot, Test
from tamis.planning import FALSE, TRUE, UNKNOWN, Progress, Standing
from tamis.plugins.loader import installed
from tamis.statistics import PredicateStatistics
from tamis.statistics.costs import add_cost, add_invocation, batch_line
from tamis.statistics.shares import credible_shares, is_surprised
from tamis.testing import FakeClock, TableOperator, truth_table

FAILED = Answer(failure=Failure("raised", "no model"), seconds=0.5)


def call_of(name: str, key: object, *, width: int = 0, **settings: Any) -> Call:
    @tamis.operator(name=name, **settings)
    def holds(event: object, *constants: object) -> bool:
        return True

    operator = Operators([record_of(holds)]).operator(name)
    text = f"{name}({key}{', ?1' * width})"
    return Call((name, key, width), operator, operator.specification, (key,), width, text)


def plain(call: Call) -> Test:
    return Test((call.key,), call, tuple(map(SolutionSlot, range(call.width))), (), call.text)


def decided(*evaluated: tuple[Test, int, str, Answer | None]) -> Decision:
    """An event in which tests came out so, and what their calls gave."""
    tests = [test for test, _, _, _ in evaluated]
    calls = list(dict.fromkeys(test.call for test in tests))
    skeleton = SimpleNamespace(
        tests=tests,
        calls=calls,
        problem=SimpleNamespace(is_large=False),
    )
    decision = SimpleNamespace(
        skeleton=skeleton,
        excluded={},
        outcomes={at: how for at, (_, _, how, _) in enumerate(evaluated)},
        outcome=[truth for _, truth, _, _ in evaluated],
        progress=progress_of(range(len(tests)), [truth for _, truth, _, _ in evaluated]),
        made=[calls.index(test.call) for test, _, how, _ in evaluated if how == "called"],
        answers={
            calls.index(test.call): answer for test, _, _, answer in evaluated if answer is not None
        },
    )
    return cast(Decision, decision)


def progress_of(known: Sequence[int], outcome: Sequence[int]) -> Progress:
    """What planners read of an event in which these tests are known."""
    tests, outcomes = np.array(known, np.int32), np.array(outcome, np.int32)
    return Progress(tests, outcomes, tests[:0], np.array([len(known), 0]))


def called(test: Test, truth: int, seconds: float = 0.25) -> tuple[Test, int, str, Answer]:
    return test, truth, "called", Answer(truth == TRUE, seconds=seconds)


SEEN = plain(call_of("seen", "a", cost_seconds=0.25))
OTHER = plain(call_of("seen", "b", cost_seconds=0.25))


def selectivity(learned: OnlineStatistics, test: Test = SEEN) -> float:
    return float(learned.selectivities([test])[0])


def cost(learned: OnlineStatistics, test: Test = SEEN) -> float:
    return float(learned.costs([test.call])[0])


def failure(learned: OnlineStatistics, test: Test = SEEN) -> float:
    return float(learned.failures([test.call])[0])


@given(
    st.dictionaries(st.sampled_from(["seen(a)", "seen(b)"]), st.floats(0, 1)),
    st.dictionaries(st.sampled_from(["seen(a)", "seen(b)"]), st.floats(0, 10)),
)
def test_before_the_first_event_it_says_what_history_says(
    shares: dict[str, float], costs: dict[str, float]
) -> None:
    history = Statistics(selectivity=shares, cost=costs)
    learned, tests = OnlineStatistics(history), [SEEN, OTHER]
    calls = [test.call for test in tests]
    assert learned.selectivities(tests).tolist() == history.selectivities(tests).tolist()
    assert learned.costs(calls).tolist() == history.costs(calls).tolist()
    assert learned.marginal_costs(calls).tolist() == history.marginal_costs(calls).tolist()
    assert learned.failures(calls).tolist() == history.failures(calls).tolist()
    assert learned.stamp == 0


@given(st.lists(st.sampled_from([FALSE, TRUE, UNKNOWN]), max_size=80))
def test_unknown_outcomes_never_change_a_selectivity(truths: list[int]) -> None:
    with_failures, without = OnlineStatistics(), OnlineStatistics()
    for truth in truths:
        answer = FAILED if truth == UNKNOWN else Answer(truth == TRUE)
        with_failures.observe(decided((SEEN, truth, "called", answer)))
        if truth != UNKNOWN:
            without.observe(decided(called(SEEN, truth)))
    count = truths.count(UNKNOWN)
    if count < len(truths) <= 32:
        assert selectivity(with_failures) == selectivity(without)
    counted = with_failures.statistics().predicates.get("seen(a)")
    if truths:
        assert counted is not None
        assert (counted.tested, counted.satisfied, counted.failed) == (
            *(len(truths), truths.count(TRUE), count),
        )


def test_a_share_is_learned_and_forgotten() -> None:
    learned = OnlineStatistics(Statistics(selectivity={"seen(a)": 0.9}))
    for at in range(400):
        learned.observe(decided(called(SEEN, at % 4 == 0)))
    assert selectivity(learned) == pytest.approx(0.25, abs=0.05)
    for _ in range(20):
        learned.observe(decided(called(SEEN, TRUE)))
    assert selectivity(learned) > 0.7


def test_what_is_shared_implied_or_remembered_counts_for_selectivity_alone() -> None:
    for how in ("shared", "implied", "memo"):
        learned = OnlineStatistics()
        for _ in range(50):
            learned.observe(decided((SEEN, FALSE, how, Answer(False, seconds=9.0))))
        assert selectivity(learned) < 0.02
        assert cost(learned) == 0.25
        assert learned.statistics().cost("seen(a)") is None


def test_what_is_new_starts_from_its_operator() -> None:
    learned = OnlineStatistics()
    for _ in range(30):
        learned.observe(decided(called(SEEN, FALSE, seconds=4.0)))
    assert selectivity(learned, OTHER) < 0.05
    assert cost(learned, OTHER) == pytest.approx(4.0, rel=0.01)
    stranger = plain(call_of("heard", "a"))
    assert selectivity(learned, stranger) == 0.5
    assert cost(learned, stranger) == 0.001
    for _ in range(10):
        learned.observe(decided((SEEN, UNKNOWN, "called", FAILED)))
    assert failure(learned) > 0.7
    assert failure(learned, OTHER) > 0.5
    assert failure(learned, stranger) == 0.0


def test_what_failed_long_ago_is_worth_trying() -> None:
    learned = OnlineStatistics()
    for _ in range(50):
        learned.observe(decided((SEEN, UNKNOWN, "called", FAILED)))
    assert failure(learned) > 0.9
    stranger = plain(call_of("heard", "a"))
    for _ in range(3000):
        learned.observe(decided(called(stranger, TRUE)))
    assert failure(learned) < 0.1
    assert failure(learned, OTHER) < 0.1


def guarded(call: Call, limit: int) -> Test:
    matcher = tamis.Matcher([TableOperator("count", outputs=("n",))])
    matcher.subscribe(f"count(a, ?n), ?n > {limit}", id="s")
    result = matcher.match({"count": {}})
    decision = result._seen.decision
    assert decision is not None
    (test,) = decision.skeleton.tests
    return test


def test_a_new_guard_starts_with_the_answers_that_it_accepts() -> None:
    learned = OnlineStatistics()
    call = call_of("count", "a", width=1)
    for count in range(16):
        answer = Answer(solutions=[(count,)])
        learned.observe(decided((plain(call), TRUE, "called", answer)))
    for limit, expected in ((-1, 1.0), (3, 0.75), (11, 0.25), (99, 0.0)):
        share = selectivity(learned, guarded(call, limit))
        assert share == pytest.approx(expected, abs=0.06)
        assert 0.0 < share < 1.0


def test_a_guard_that_reads_the_event_is_not_guessed_from_answers() -> None:
    matcher = tamis.Matcher([TableOperator("count", outputs=("n",))])
    matcher.subscribe("count(a, ?n)")
    for _ in range(20):
        matcher.match({"count": {"a": [5]}, "limit": 3})
    matcher.subscribe("count(a, ?m), ?m > $limit")
    result = matcher.match({"count": {"a": [5]}, "limit": 3})
    assert len(result.matches) == 2


def test_history_that_is_counted_weighs_more_than_an_opinion() -> None:
    counted = Statistics()
    counted.predicates["seen(a)"] = PredicateStatistics(tested=5000, satisfied=1000)
    sure, unsure = (
        OnlineStatistics(counted),
        OnlineStatistics(Statistics(selectivity={"seen(a)": 0.2})),
    )
    for at in range(20):
        for learned in (sure, unsure):
            learned.observe(decided(called(SEEN, at % 2)))
    assert 0.2 < selectivity(sure) < selectivity(unsure) < 0.5
    assert sure.statistics().predicates["seen(a)"].tested == 5020


def test_the_stamp_moves_at_first_and_then_seldom() -> None:
    learned = OnlineStatistics()
    moved = []
    for event in range(1, 201):
        before = learned.stamp
        learned.observe(decided(called(SEEN, event % 2)))
        if learned.stamp != before:
            moved.append(event)
    assert moved == [1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192]
    learned.observe(decided((SEEN, UNKNOWN, "called", FAILED)))
    learned.observe(decided(called(SEEN, TRUE, seconds=25.0)))
    assert learned.stamp == len(moved) + 2


def test_an_event_without_outcomes_teaches_nothing() -> None:
    learned = OnlineStatistics()
    learned.observe(decided())
    assert (learned.events, learned.stamp) == (0, 0)


def test_state_is_bounded() -> None:
    learned = OnlineStatistics(capacity=100)
    tests = [plain(call_of("seen", at)) for at in range(250)]
    for test in tests:
        learned.observe(decided(called(test, FALSE)))
    assert len(learned._tests.places) <= 101
    assert len(learned._calls.places) <= 101
    assert "seen(249)" in learned.statistics().predicates
    assert "seen(0)" not in learned.statistics().predicates


# costs


def test_a_pause_doubles_a_cost_at_most_and_passes() -> None:
    cost = np.zeros(2)
    for _ in range(100):
        add_cost(cost, 0, 0.001)
    add_cost(cost, 0, 60.0)
    assert cost[1] <= 0.002
    for _ in range(200):
        add_cost(cost, 0, 0.001)
    assert cost[1] == pytest.approx(0.001, rel=0.1)


def test_what_stays_slower_is_known_soon() -> None:
    cost = np.zeros(2)
    for _ in range(1000):
        add_cost(cost, 0, 0.001)
    for _ in range(10):
        add_cost(cost, 0, 0.1)
    assert cost[1] > 0.01
    for _ in range(300):
        add_cost(cost, 0, 0.1)
    assert cost[1] == pytest.approx(0.1, rel=0.02)


def test_a_first_call_that_loads_something_is_forgotten() -> None:
    cost = np.zeros(2)
    for seconds in (3.0, 0.001, 0.001):
        add_cost(cost, 0, seconds)
    assert cost[1] == pytest.approx(0.001)


@given(
    st.floats(0.001, 1.0),
    st.floats(0.0, 0.1),
    st.lists(st.integers(1, 64), min_size=8, max_size=10),
)
def test_invocations_lie_on_the_line_that_they_are_on(
    fixed: float, slope: float, sizes: list[int]
) -> None:
    batch = np.zeros(5)
    for size in sizes * 6:
        for _ in range(size):
            add_invocation(batch, 0, size, fixed + slope * size, 1 / size)
    alone, marginal = batch_line(batch, 0, 0.001, 0.0005)
    assert 0 <= marginal <= alone
    usual = sum(sizes) / len(sizes)
    mean = alone + marginal * (usual - 1)
    assert mean == pytest.approx(fixed + slope * usual, rel=0.1)
    if max(sizes) > 4 * min(sizes):
        assert marginal == pytest.approx(slope, abs=0.3 * (fixed + slope * usual) / usual + 1e-9)


def test_sizes_that_never_differ_leave_the_declared_proportion() -> None:
    batch = np.zeros(5)
    for _ in range(20):
        add_invocation(batch, 0, 1, 5.0, 1.0)
    alone, marginal = batch_line(batch, 0, 1.0, 0.1)
    assert alone == pytest.approx(5.0)
    assert marginal == pytest.approx(0.5)


def test_preparations_have_prices_of_their_own() -> None:
    clock = FakeClock()

    def prepare(event: object) -> int:
        clock.advance(2.0)
        return 7

    shared = tamis.Preparation("decode", prepare, cost_seconds=0.01)

    @tamis.operator(preparation=shared)
    def bright(event: Any, level: int) -> bool:
        clock.advance(0.5)
        return bool(event.prepared > level)

    matcher = tamis.Matcher([bright], timer=clock)
    matcher.subscribe("bright(3), bright(4)", id="s")
    for _ in range(40):
        matcher.match({})
    learned = matcher._learned
    assert learned is not None
    assert learned.prices([shared])[0] == pytest.approx(2.0, rel=0.01)
    known = matcher.learned()
    assert known.cost("bright(3)") == 0.5
    assert known.predicates["bright(3)"].measured == 40


# with the matcher


def test_what_was_learned_can_be_saved_and_used_again(tmp_path: Any) -> None:
    def run(events: Iterable[bool], statistics: Statistics | None = None) -> Statistics:
        matcher = tamis.Matcher([truth_table("seen")], statistics=statistics)
        matcher.subscribe("seen(a)")
        for truth in events:
            matcher.match({"seen": {"a": truth}})
        return matcher.learned()

    first = run([True] * 5 + [False] * 15)
    assert first.predicates["seen(a)"].interval is not None
    first.save(tmp_path / "learned")
    again = run([True] * 10, Statistics.load(tmp_path / "learned"))
    found = again.predicates["seen(a)"]
    assert (found.tested, found.satisfied, found.failed, found.measured) == (30, 15, 0, 30)


def test_threads_learn_together() -> None:
    matcher = tamis.Matcher([truth_table("seen")])
    for at in range(20):
        matcher.subscribe(f"seen(k{at}) and seen(common)")
    truths = {f"k{at}": at % 2 == 0 for at in range(20)}

    def work() -> None:
        for _ in range(50):
            matcher.match({"seen": truths | {"common": True}})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = Counter(found.tested for found in matcher.learned().predicates.values())
    assert counts == {200: 21}


def test_an_alarm_needs_a_cause() -> None:
    chance, credible = np.random.default_rng(0), credible_shares()
    alarms = 0
    for share in (0.01, 0.1, 0.5, 0.9):
        drifting = np.zeros(5)
        for truth in chance.random(5_000) < share:
            alarms += is_surprised(drifting, int(truth), share, 16.0, credible)
    assert alarms <= 2


def test_what_was_only_asked_for_is_forgotten_first() -> None:
    learned = OnlineStatistics(capacity=100)
    learned.observe(decided(called(SEEN, TRUE)))
    tests: Sequence[Test] = [plain(call_of("seen", at)) for at in range(100)]
    learned.selectivities(tests)
    learned.costs([test.call for test in tests])
    assert [*learned.statistics().predicates] == ["seen(a)"]
    learned.observe(decided(called(OTHER, TRUE)))
    assert [*learned._tests.places] == [*learned._calls.places] == ["seen(a)", "seen(b)"]


class Following:
    """A planner that follows what is subscribed, and asks as it is written."""

    def __init__(self) -> None:
        self.heard: list[tuple[int, list[float]]] = []
        self.events = 0

    def begin(self, problem: tamis.Problem) -> tamis.Run:
        self.events += 1
        return installed().planner("naive").factory().begin(problem)

    def reset(self, standing: Standing) -> None:
        self.heard.append((self.events, standing.selectivity.tolist()))

    def subscribed(self, standing: Standing) -> None:
        self.heard.append((self.events, standing.selectivity.tolist()))

    def unsubscribed(self, keys: Sequence[int]) -> None:
        pass

    def in_order(self) -> Sequence[int]:
        return []


def test_a_planner_that_follows_hears_seldom_what_was_learned() -> None:
    planner = Following()
    matcher = tamis.Matcher([truth_table("seen")], planner=planner)
    matcher.subscribe("seen(a)", id="a")
    for _ in range(600):
        matcher.match({"seen": {}})
    assert [event for event, _ in planner.heard] == [0, 64, 512]
    shares = [share for _, (share,) in planner.heard]
    assert shares[0] == 0.5
    assert 0.02 > shares[1] > shares[2] > 0.0
    matcher.subscribe("not seen(a)", id="b")
    assert planner.heard[-1][1] == [shares[2]]
