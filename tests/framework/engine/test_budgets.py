"""Budgets and deadlines: what is certain is exact, and more money decides more."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis import Budget, Matcher, Preparation, Statistics, TamisError
from tamis.testing import FakeClock
from tests.borders import borders

NUMBERS = range(6)
PLANNERS = ("savings", "greedy", "naive", "sequential", "suborder")


def answer(event: Any, number: int) -> bool:
    if event["bits"] >> (number + 6) & 1:
        raise ValueError("out of order")
    return bool(event["bits"] >> number & 1)


warmed = Preparation("warmed", lambda event: True, inputs=("bits",), cost_seconds=3.0, cost=2.0)


@tamis.operator(name="op", inputs=("bits",), cost_seconds=2.0, cost=5.0)
def op(event: Any, number: int) -> bool:
    return answer(event, number)


@tamis.operator(name="warm", inputs=("bits",), cost_seconds=1.0, cost=1.0, preparation=warmed)
def warm(event: Any, number: int) -> bool:
    return answer(event, number)


@tamis.operator(
    name="both", inputs=("bits",), cost_seconds=4.0, marginal_cost_seconds=1.0, cost=3.0,
    marginal_cost=1.0, solve_many=lambda event, lists: [answer(event, each[0]) for each in lists],
)  # fmt: skip
def both(event: Any, number: int) -> bool:
    return answer(event, number)


predicates = st.builds(
    "{}{}({})".format,
    st.sampled_from(["", "", "not "]),
    st.sampled_from(["op", "warm", "both"]),
    st.sampled_from(NUMBERS),
)
texts = st.lists(
    st.lists(predicates, min_size=1, max_size=3).map(" and ".join), min_size=1, max_size=3
).map(lambda parts: " or ".join(f"({part})" for part in parts))


def certain(result: Any) -> tuple[set[str], set[str]]:
    """The subscriptions that match, and those that do not."""
    return (
        {each.subscription for each in result.matches},
        {each.subscription for each in result.rejections},
    )


def test_a_planner_that_asks_for_more_than_it_needs_is_not_asked_again() -> None:
    matcher = matcher_of("op(0) or (op(1) and op(0))", operators=[op], planner="naive")
    result = matcher.match({"bits": 0}, budget=Budget(seconds=2.0))
    assert [each.predicate for each in result.calls] == ["op(0)"]
    assert result.undetermined == []
    assert result.rejections[0].subscription == "s1"


@pytest.mark.filterwarnings("ignore::tamis.SubscriptionWarning")
@pytest.mark.filterwarnings("ignore::tamis.PluginWarning")
@settings(deadline=None)
@given(
    where=st.lists(texts, min_size=1, max_size=5),
    bits=st.integers(0, 2**12 - 1),
    shares=st.lists(st.floats(0, 1), min_size=18, max_size=18),
    planner=st.sampled_from(PLANNERS),
    seconds=st.lists(st.floats(0, 30), min_size=2, max_size=2).map(sorted),
    cost=st.lists(st.floats(0, 40), min_size=2, max_size=2).map(sorted),
    is_compiled=st.booleans(),
)
def test_more_money_decides_more_and_what_is_certain_is_exact(
    where: list[str],
    bits: int,
    shares: list[float],
    planner: str,
    seconds: list[float],
    cost: list[float],
    is_compiled: bool,
) -> None:
    names = [f"{name}({number})" for name in ("op", "warm", "both") for number in NUMBERS]
    known = Statistics(selectivity=dict(zip(names, shares, strict=True)))
    with borders() if is_compiled else borders(edges=10**9, chains=10**9, rows=10**9):
        matcher = Matcher([op, warm, both], planner=planner, statistics=known, learning=False)
        for at, text in enumerate(where):
            matcher.subscribe(text, id=f"s{at}")
        runs = []
        for budget in (
            Budget(seconds=seconds[0], cost=cost[0]),
            Budget(seconds=seconds[1], cost=cost[1]),
            None,
        ):
            result = matcher.match({"id": "e", "bits": bits}, budget=budget)
            runs.append((result, [each.predicate for each in result.calls]))
    (less, few), (more, many), (exact, every) = runs
    for one, other in ((less, more), (more, exact)):
        for mine, theirs in zip(certain(one), certain(other), strict=True):
            assert mine <= theirs
    assert many[: len(few)] == few
    assert every[: len(many)] == many
    for result in (less, more):
        left = {each.subscription: each.reason for each in result.undetermined}
        for possible in result.possible:
            assert 0.0 <= possible.probability <= 1.0
            assert "budget" in left[possible.subscription]
        if not result.possible:
            assert all("budget" not in reason for reason in left.values())


def matcher_of(*texts: str, operators: Any, **settings: Any) -> Matcher:
    matcher = Matcher(operators, learning=False, **settings)
    matcher.subscribe_many({"id": f"s{at}", "where": text} for at, text in enumerate(texts, 1))
    return matcher


def test_what_is_left_is_possible_with_its_probability() -> None:
    known = Statistics(selectivity={"op(0)": 0.9, "op(1)": 0.25, "op(2)": 0.5})
    matcher = matcher_of(
        "op(0) and op(1)", "op(1) or op(2)", "bits = 1", operators=[op], statistics=known
    )
    result = matcher.match({"id": "e", "bits": 1}, budget=Budget(seconds=0.0))
    assert [each.subscription for each in result.matches] == ["s3"]
    assert [each._asdict() for each in result.undetermined] == [
        {"subscription": "s1", "reason": "budget"},
        {"subscription": "s2", "reason": "budget"},
    ]
    found = {each.subscription: each.probability for each in result.possible}
    assert found == pytest.approx({"s1": 0.9 * 0.25, "s2": 1 - 0.75 * 0.5})
    assert result.calls == []


def test_a_preparation_is_paid_once_with_the_first_call_that_needs_it() -> None:
    matcher = matcher_of("warm(0)", "warm(1)", "warm(2)", operators=[warm])
    for money, calls in ((3.9, 0), (4.0, 1), (5.0, 2), (6.0, 3)):
        result = matcher.match({"bits": 0}, budget=Budget(seconds=money))
        assert len(result.calls) == calls
        result = matcher.match({"bits": 0}, budget=Budget(cost=money - 1))
        assert len(result.calls) == calls


def test_retries_are_paid_by_the_share_of_failures() -> None:
    @tamis.operator(inputs=("bits",), retries=2, cost=1.0)
    def flaky(event: Any) -> bool:
        return True

    known = Statistics()
    matcher = matcher_of("flaky()", operators=[flaky], statistics=known)
    assert matcher.match({"bits": 0}, budget=Budget(cost=1.0)).matches
    assert not matcher.match({"bits": 0}, budget=Budget(cost=0.9)).matches


def test_at_a_deadline_inline_calls_count_and_late_threads_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = FakeClock()
    monkeypatch.setattr("tamis.calling.event_calls.time", SimpleNamespace(monotonic=clock))

    @tamis.operator(inputs=("bits",), cost_seconds=0.001)
    def slow(event: Any, number: int) -> bool:
        clock.advance(0.6)
        return True

    matcher = matcher_of("slow(1) and slow(2) and slow(3)", "slow(1)", operators=[slow])
    result = matcher.match({"id": "e", "bits": 0}, deadline_seconds=0.5)
    assert len(result.calls) == 1
    assert [each.reason for each in result.undetermined] == ["deadline"]
    assert [each.subscription for each in result.matches] == ["s2"]
    monkeypatch.undo()

    @tamis.operator(inputs=("bits",), isolation="thread", timeout=30)
    def hanging(event: Any) -> bool:
        time.sleep(20)
        return True

    matcher = matcher_of("hanging()", operators=[hanging])
    began = time.monotonic()
    for _ in range(7):  # no breaker opens: it was not the operator that was late
        result = matcher.match({"bits": 0}, deadline_seconds=0.01)
        assert [each.reason for each in result.undetermined] == ["deadline"]
        assert [each.subscription for each in result.possible] == ["s1"]
    assert time.monotonic() - began < 15


def test_a_deadline_that_is_far_changes_nothing() -> None:
    matcher = matcher_of("op(0) and warm(1)", "both(2) or op(3)", operators=[op, warm, both])
    event = {"id": "e", "bits": 0b110111}
    plain = matcher.match(event)
    bounded = matcher.match(event, deadline_seconds=3600, budget=Budget())
    assert bounded.as_dict() == plain.as_dict()
    assert [each.predicate for each in bounded.calls] == [each.predicate for each in plain.calls]


@pytest.mark.parametrize("deadline", [-1, True, "1", float("nan")])
def test_a_deadline_is_a_number(deadline: Any) -> None:
    with pytest.raises(TamisError, match="deadline_seconds is a number from 0"):
        Matcher([]).match({}, deadline_seconds=deadline)


@pytest.mark.parametrize("bad", [{"seconds": -1}, {"cost": "1"}, {"seconds": float("nan")}])
def test_a_budget_has_numbers(bad: Any) -> None:
    with pytest.raises(TamisError, match="of a budget is a number from 0"):
        Budget(**bad)
    with pytest.raises(TamisError, match=r"budget is a tamis\.Budget"):
        Matcher([]).match({}, budget=3)  # type: ignore[arg-type]


def test_a_deadline_without_end_is_none() -> None:
    @tamis.operator(inputs=("bits",), isolation="thread")
    def threaded(event: Any) -> bool:
        return True

    matcher = matcher_of("threaded()", operators=[threaded])
    for seconds in (float("inf"), 1e12):
        assert matcher.match({"bits": 0}, deadline_seconds=seconds).matches


def test_a_chain_of_preparations_is_paid_once() -> None:
    first = Preparation("first", lambda event: 1, inputs=("bits",), cost=10.0)
    second = Preparation("second", lambda event: 1, inputs=("bits",), cost=1.0, after=first)

    @tamis.operator(inputs=("bits",), preparation=first, cost=1.0)
    def early(event: Any) -> bool:
        return True

    @tamis.operator(inputs=("bits",), preparation=second, cost=1.0)
    def late(event: Any) -> bool:
        return True

    matcher = matcher_of("early()", "late()", operators=[early, late])
    assert matcher.match({"bits": 0}, budget=Budget(cost=12.9)).possible
    assert len(matcher.match({"bits": 0}, budget=Budget(cost=13)).matches) == 2


def test_a_deadline_ends_a_preparation_in_a_thread() -> None:
    slow = Preparation("slow", lambda event: time.sleep(20), inputs=("bits",), timeout=30)

    @tamis.operator(inputs=("bits",), preparation=slow)
    def needy(event: Any) -> bool:
        return True

    began = time.monotonic()
    result = matcher_of("needy()", operators=[needy]).match({"bits": 0}, deadline_seconds=0.05)
    assert [each.reason for each in result.undetermined] == ["deadline"]
    assert time.monotonic() - began < 15


def test_another_thread_makes_the_call_that_a_deadline_ended() -> None:
    runs: list[int] = []
    released = threading.Event()

    @tamis.operator(inputs=("bits",), timeout=30, deterministic=True)
    def slowly(event: Any) -> bool:
        runs.append(1)
        return len(runs) > 1 or released.wait(30)

    matcher = matcher_of("slowly()", operators=[slowly])
    while not runs:  # the deadline may be over before it comes to the call
        hurried = threading.Thread(target=lambda: matcher.match({"bits": 0}, deadline_seconds=0.3))
        hurried.start()
        while not runs and hurried.is_alive():
            time.sleep(0.001)
    assert matcher.match({"bits": 0}).matches
    released.set()
    hurried.join()
    assert len(runs) == 2


def test_a_deadline_bounds_the_wait_for_a_call_of_another_thread() -> None:
    running, released = threading.Event(), threading.Event()

    @tamis.operator(inputs=("bits",), deterministic=True)
    def slow(event: Any) -> bool:
        running.set()
        return released.wait(30)

    matcher = matcher_of("slow()", operators=[slow])
    patient = threading.Thread(target=lambda: matcher.match({"bits": 0}))
    patient.start()
    running.wait(30)
    began = time.monotonic()
    result = matcher.match({"bits": 0}, deadline_seconds=0.05)
    waited = time.monotonic() - began
    released.set()
    patient.join()
    assert [each.reason for each in result.undetermined] == ["deadline"]
    assert (result.account.calls, waited < 20) == (0, True)
    assert matcher.match({"bits": 0}, deadline_seconds=30).matches
