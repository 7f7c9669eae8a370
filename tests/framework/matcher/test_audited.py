"""What an audit of batches, implications, memory and threads found once, and stays mended."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
import tracemalloc
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import tamis
from tamis.catalog.implied import _chained
from tests.framework.calling.test_rounds import Rounds


def larger(
    arguments: Sequence[Any], others: Sequence[Sequence[Any]]
) -> Iterator[tamis.Implication]:
    """What is over a bound is over all lower ones."""
    for place, (other,) in enumerate(others):
        if other < arguments[0]:
            yield tamis.Implication(True, place, True)


def over(**settings: Any) -> Any:
    def over(event: Any, bound: float) -> bool:
        return bool(event["v"] > bound)

    return tamis.operator(inputs=("v",), **settings)(over)


def matcher_of(operator: object, bounds: Sequence[int], **settings: Any) -> tamis.Matcher:
    matcher = tamis.Matcher([operator], **settings)
    matcher.subscribe_many([{"id": f"s{each}", "where": f"over({each})"} for each in bounds])
    return matcher


def test_many_calls_in_one_chain_take_memory_by_their_pairs() -> None:
    """Chains were found by all triples of them: 400 took a gigabyte."""
    count = 300
    low, high = np.triu_indices(count, 1)
    one, zero = np.ones_like(low), np.zeros_like(low)
    rows = np.concatenate(
        [np.stack([high, one, low, one], axis=1), np.stack([low, zero, high, zero], axis=1)]
    )
    tracemalloc.start()
    found = _chained(rows, count)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == len(rows)
    assert peak < 25 * rows.nbytes


def test_what_follows_is_the_same_by_rows_and_by_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Implications that can be true: calls are sets of states, and some of what holds is said."""
    chance = random.Random(5)
    for _ in range(50):
        sets = [chance.sample(range(6), chance.randint(1, 5)) for _ in range(8)]
        outcomes = [
            (call, truth, {state for state in range(6) if (state in members) == truth})
            for call, members in enumerate(sets)
            for truth in (False, True)
        ]
        rows = np.array(
            [
                (one, truth, other, conclusion)
                for one, truth, states in outcomes
                for other, conclusion, more in outcomes
                if one != other and states <= more and chance.random() < 0.4
            ],
            np.int64,
        ).reshape(-1, 4)
        by_rows = _chained(rows, len(sets)).tolist()
        with monkeypatch.context() as patched:
            patched.setattr("tamis.catalog.implied._MANY", -1)
            assert sorted(_chained(rows, len(sets)).tolist()) == sorted(by_rows)


def test_a_thousand_calls_in_one_chain_have_a_bound_soon() -> None:
    matcher = matcher_of(over(implications=larger), range(250))
    account = matcher.match({"v": 100.5}).account
    assert 1 <= account.needed_at_least <= account.calls


def test_places_of_numpy_are_places() -> None:
    def lower(arguments: Sequence[Any], others: Sequence[Sequence[Any]]) -> Any:
        places = np.flatnonzero([other < arguments[0] for (other,) in others])
        return [(True, place, True) for place in places]

    assert (
        matcher_of(over(implications=lower), [2, 1, 0], planner="naive")
        .match({"v": 9})
        .account.calls
        == 1
    )


@pytest.mark.parametrize("place", [2, -1, "0", None])
def test_a_place_that_is_none_is_said_to_be(place: Any) -> None:
    matcher = matcher_of(over(implications=lambda mine, others: [(True, place, True)]), range(3))
    with pytest.warns(tamis.PluginWarning, match="by its place, 0 to 1, not"):
        assert len(matcher.match({"v": 9}).matches) == 3


def test_an_operator_that_fails_once_is_not_believed_what_it_said_before() -> None:
    def fails_later(arguments: Sequence[Any], others: Sequence[Sequence[Any]]) -> Any:
        if len(others) > 1:
            raise RuntimeError("no map")
        return larger(arguments, others)

    matcher = matcher_of(over(implications=fails_later), [1, 0], planner="naive")
    assert matcher.match({"v": 9}).account.calls == 1
    matcher.subscribe("over(2)", id="s2")
    with pytest.warns(tamis.PluginWarning, match="what it declares is not used"):
        assert matcher.match({"v": 9}).account.implied == 0


def test_no_more_is_kept_of_a_bulk_than_the_limit() -> None:
    said = 0

    def counts(arguments: Sequence[Any], others: Sequence[Sequence[Any]]) -> Any:
        nonlocal said
        for each in larger(arguments, others):
            said += 1
            yield each

    limits = tamis.Limits(implications=100)
    matcher = matcher_of(over(implications=counts), range(200), limits=limits)
    assert len(matcher.match({"v": 300}).matches) == 200
    assert said < 400


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("settings", [{"timeout": 20}, {"isolation": "thread"}])
def test_threads_of_operators_are_begun_anew_after_a_fork(settings: dict[str, Any]) -> None:
    matcher = matcher_of(over(**settings), [1])
    assert len(matcher.match({"v": 2}).matches) == 1
    child = os.fork()
    if not child:
        os._exit(7 if len(matcher.match({"v": 2}).matches) == 1 else 8)
    for _ in range(1_000):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert ended
    assert os.waitstatus_to_exitcode(status) == 7


def test_an_asynchronous_batch_needs_no_loop_of_the_caller() -> None:
    asked = []

    async def many(event: Any, lists: Sequence[Sequence[Any]]) -> list[bool]:
        asked.append(len(lists))
        return [event["v"] > bound for (bound,) in lists]

    matcher = tamis.Matcher([over(solve_many=many)], planner=Everything())
    matcher.subscribe("over(1) and over(2)", id="s")

    async def within() -> int:
        return len(matcher.match({"v": 9}).matches)

    assert asyncio.run(within()) == 1
    assert asked == [2]


class Everything:
    """Asks for everything at once."""

    def begin(self, problem: tamis.Problem) -> Any:
        run = Rounds().begin(problem)
        ask = run.next
        run.next = lambda limit: ask(problem.calls)
        return run


def test_remembered_answers_come_in_the_order_of_their_calls() -> None:
    """They came in the order in which threads had made them."""
    slow_first = True

    @tamis.operator(inputs=("v",), deterministic=True)
    def over(event: Any, bound: int) -> bool:
        time.sleep(0.05 if (bound == 1) == slow_first else 0)
        return bool(event["v"] > bound)

    def again() -> list[str]:
        matcher = tamis.Matcher([over], planner=Rounds(), workers=2)
        matcher.subscribe("over(1) and over(2)", id="s")
        matcher.match({"v": 9})
        matcher.subscribe("over(3)", id="t")
        return [each.predicate for each in matcher.match({"v": 9}).evaluations]

    before = again()
    slow_first = False
    assert again() == before


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"memo_bytes": 1e6}, "memo_bytes is a whole number"),
        ({"memo_seconds": "5"}, "memo_seconds is a number above 0"),
        ({"memo_seconds": True}, "memo_seconds is a number above 0"),
        ({"learning": "no"}, "learning is True or False"),
    ],
)
def test_settings_of_a_matcher_say_what_they_are(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(tamis.TamisError, match=words):
        tamis.Matcher([], **settings)


def test_statistics_that_are_none_leave_the_others() -> None:
    matcher = matcher_of(over(), [1])
    wrong: Any = {}
    with pytest.raises(tamis.StatisticsError, match="statistics are a"):
        matcher.statistics = wrong
    assert isinstance(matcher.statistics, tamis.Statistics)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"solve_many": 5}, "solve_many of over is a function"),
        ({"implications": {}}, "implications of over is a function"),
        ({"check": 3}, "check of over is a function"),
        ({"concurrency": 1.5}, "concurrency of over is a whole number"),
        ({"deterministic": "no"}, "deterministic of over is True or False"),
    ],
)
def test_settings_of_an_operator_say_what_they_are(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(tamis.OperatorError, match=words):
        over(**settings)


def test_warnings_do_not_come_from_a_sound_operator() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert matcher_of(over(implications=larger), range(5)).match({"v": 3}).account.calls <= 5


class Follows(Rounds):
    """Takes its time until it knows what is subscribed."""

    def __init__(self, resetting: threading.Event, go_on: threading.Event) -> None:
        self.resetting, self.go_on = resetting, go_on
        self.is_ready = False

    def reset(self, standing: object) -> None:
        self.resetting.set()
        self.go_on.wait(10)
        self.is_ready = True

    def subscribed(self, standing: object) -> None:
        pass

    def unsubscribed(self, keys: object) -> None:
        pass

    def in_order(self) -> Sequence[int]:
        return []

    def begin(self, problem: tamis.Problem) -> Any:
        assert self.is_ready
        return super().begin(problem)


@pytest.mark.long
def test_an_event_is_decided_by_the_planner_that_knows_its_subscriptions() -> None:
    """A planner put in place meanwhile was asked before it was told of anything."""
    resetting, go_on = threading.Event(), threading.Event()
    swaps: list[threading.Thread] = []
    times = iter(range(1_000))

    def timer() -> float:
        now = next(times)
        if now == 1:  # the event has its problem, and no planner yet
            swaps.append(threading.Thread(target=setattr, args=(matcher, "planner", planner)))
            swaps[0].start()
            resetting.wait(10)
        return float(now)

    planner = Follows(resetting, go_on)
    matcher = tamis.Matcher([over()], timer=timer, learning=False)
    matcher.subscribe("over(1)", id="s")
    try:
        assert len(matcher.match({"v": 2}).matches) == 1
    finally:
        go_on.set()
        swaps[0].join()
    assert planner.is_ready


def test_every_event_knows_what_is_declared_whichever_thread_asks() -> None:
    """A second event went on without it, and its failed call stayed unknown."""
    asking, go_on = threading.Event(), threading.Event()

    def slow(arguments: Sequence[Any], others: Sequence[Sequence[Any]]) -> Any:
        asking.set()
        go_on.wait(10)
        return larger(arguments, others)

    @tamis.operator(inputs=("v",), implications=slow)
    def over(event: Any, bound: float) -> bool:
        if bound == 1:
            raise RuntimeError("no map")
        return bool(event["v"] > bound)

    matcher = matcher_of(over, [1, 2])
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(len(matcher.match({"v": 9}).matches)))
        for _ in range(2)
    ]
    threads[0].start()
    assert asking.wait(10)
    threads[1].start()
    threads[1].join(0.2)
    go_on.set()
    for thread in threads:
        thread.join()
    assert found == [2, 2]


def test_an_interrupted_question_is_asked_again() -> None:
    interrupts = True

    def asked(arguments: Sequence[Any], others: Sequence[Sequence[Any]]) -> Any:
        nonlocal interrupts
        if interrupts:
            interrupts = False
            raise KeyboardInterrupt
        return larger(arguments, others)

    matcher = matcher_of(over(implications=asked), [2, 1], planner="naive")
    with pytest.raises(KeyboardInterrupt):
        matcher.match({"v": 9})
    assert matcher.match({"v": 9}).account.calls == 1
