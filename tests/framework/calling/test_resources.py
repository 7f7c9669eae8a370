"""Tests that what several operators share is not used too much by all of them together."""

from __future__ import annotations

import itertools
import threading
import time
import types
from typing import Any

import pytest

import tamis
from tamis import Resource, Transient
from tamis.calling.lanes import NoPlaceError
from tamis.calling.throttles import Throttle, Throttles
from tamis.testing import FakeClock

from .isolation.workers import reasons
from .patience import PATIENCE_SECONDS, in_thread, join


class Crowd:
    """Operators that note how many of them run at once, and when each began."""

    def __init__(self, *settings: dict[str, Any]) -> None:
        self.most = self._running = 0
        self.began: list[float] = []
        self.started = 0.0
        self._lock = threading.Lock()
        self.operators = [
            tamis.operator(name=f"crowds{at}", **each)(self._solve)
            for at, each in enumerate(settings)
        ]

    def _solve(self, event: Any) -> bool:
        with self._lock:
            self.began.append(time.monotonic())
            self._running += 1
            self.most = max(self.most, self._running)
        end = time.monotonic() + PATIENCE_SECONDS
        while self.most < event.get("at_once", 0) and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(event.get("seconds", 0))
        with self._lock:
            self._running -= 1
        if event.get("busy", 0) > len(self.began):
            raise Transient("busy", 0)
        return True

    def match(self, threads: int, times: int = 1, **event: Any) -> list[tamis.Result]:
        """Matches an event that asks all of them, in several threads at once."""
        matcher = tamis.Matcher(self.operators)
        for at in range(len(self.operators)):
            matcher.subscribe(f"crowds{at}()", id=str(at))
        results: list[tamis.Result] = []

        def several() -> None:
            results.extend(matcher.match(event) for _ in range(times))

        self.started = time.monotonic()
        join(*[in_thread(several) for _ in range(threads)])
        return results


def gaps(moments: list[float]) -> list[float]:
    return [after - before for before, after in itertools.pairwise(sorted(moments))]


def test_operators_share_the_places_of_a_resource() -> None:
    key = Resource("key", concurrency=2)
    crowd = Crowd({"resource": key}, {"resource": Resource("key", concurrency=2), "timeout": 60})
    results = crowd.match(6, seconds=0.01, at_once=2)
    assert crowd.most == 2
    assert [len(result.matches) for result in results] == [2] * 6


def test_operators_share_the_rate_of_a_resource() -> None:
    key = Resource("key", calls_per_second=100)
    crowd = Crowd({"resource": key}, {"resource": key}, {"resource": key, "calls_per_second": 500})
    crowd.match(3, times=4)
    assert len(crowd.began) == 36
    assert max(crowd.began) - crowd.started >= 35 / 100


def test_attempts_count_for_the_rate() -> None:
    crowd = Crowd({"resource": Resource("key", calls_per_second=100), "retries": 20})
    results = crowd.match(1, busy=20)
    assert (len(results[0].matches), results[0].account.attempts) == (1, 20)
    assert max(crowd.began) - crowd.started >= 19 / 100


def test_the_own_limits_of_operators_hold_beside_those_that_they_share() -> None:
    key = Resource("key", concurrency=3)
    crowd = Crowd({"resource": key, "concurrency": 1})
    crowd.match(5, seconds=0.01)
    assert crowd.most == 1
    crowd = Crowd({"resource": key, "concurrency": 9}, {"concurrency": 9, "resource": key})
    crowd.match(5, seconds=0.01)
    assert crowd.most <= 3


def test_several_resources_in_any_order_never_lock_each_other_out() -> None:
    one, other = Resource("one", concurrency=1), Resource("other", concurrency=1)
    crowd = Crowd({"resource": (one, other)}, {"resource": (other, one)}, {"resource": other})
    results = crowd.match(6, times=10)
    assert crowd.most == 1
    assert [len(result.matches) for result in results] == [3] * 60


def test_who_waits_for_a_turn_holds_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is slow by its own rate leaves the places of what it shares to others."""
    key = Resource("key", concurrency=1)

    @tamis.operator(resource=key, calls_per_second=4)
    def slow(event: Any) -> bool:
        return True

    @tamis.operator(resource=key, timeout=10)
    def quick(event: Any) -> bool:
        return True

    matcher = tamis.Matcher([slow, quick])
    matcher.subscribe("slow() and kind = a", id="slow")
    matcher.subscribe("quick() and kind = b", id="quick")
    meanwhile: list[tamis.Result] = []
    clock = FakeClock()

    def pause(seconds: float) -> None:
        meanwhile.append(matcher.match({"kind": "b"}))
        clock.advance(seconds)

    monkeypatch.setattr("tamis.calling.throttles.time", types.SimpleNamespace(monotonic=clock))
    monkeypatch.setattr("tamis.calling.throttles.pause", pause)
    assert all(matcher.match({"kind": "a"}).matches for _ in range(2))
    assert meanwhile
    assert all(result.matches for result in meanwhile)


def test_calls_that_oversleep_begin_no_closer_than_the_rate_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gap = 0.02
    throttle, began, lock = (
        Throttle(Resource("key", calls_per_second=1 / gap)),
        [],
        threading.Lock(),
    )
    late = iter([0.07, 0.0, 0.03, 0.0, 0.05] + [0.0] * 1_000)

    def pause(seconds: float) -> None:
        time.sleep(seconds + next(late))

    monkeypatch.setattr("tamis.calling.throttles.pause", pause)
    # moments as the throttle sees them: a thread may be kept waiting between it and this test
    begun = Throttle._begun

    def noted(self: Throttle) -> float:
        with lock:
            turn = begun(self)
            if not turn:
                began.append(self._paces[0].begun)
        return turn

    monkeypatch.setattr(Throttle, "_begun", noted)

    def several() -> None:
        for _ in range(3):
            throttle.enter(None)

    join(*[in_thread(several) for _ in range(5)])
    assert len(began) == 15
    assert min(gaps(began)) >= gap - 1e-9


def test_a_place_is_not_waited_for_longer_than_a_call_may_take() -> None:
    key = Resource("key", concurrency=1)
    released, running = threading.Event(), threading.Event()

    @tamis.operator(resource=key)
    def holds(event: Any) -> bool:
        running.set()
        return released.wait(30)

    @tamis.operator(resource=key, timeout=0.05)
    def waits(event: Any) -> bool:
        return True

    @tamis.operator(resource=key, timeout=30)
    def later(event: Any) -> bool:
        return True

    matcher = tamis.Matcher([holds, waits, later])
    matcher.subscribe("holds()", id="holds")
    holding = in_thread(lambda: matcher.match({}))
    running.wait(30)
    matcher.subscribe("waits()", id="waits")
    matcher.unsubscribe("holds")
    said = "timed out: concurrency: no other call ended within 0.05 s"
    late = matcher.match({})
    assert reasons(late) == {"waits": f"waits(): {said}"}
    assert (late.account.calls, late.account.attempts, late.account.spared) == (0, 0, 1)
    released.set()
    join(holding)
    matcher.unsubscribe("waits")
    matcher.subscribe("later()", id="later")
    assert len(matcher.match({}).matches) == 1


def test_a_turn_that_would_come_too_late_is_not_waited_for() -> None:
    throttle = Throttle(Resource("key", concurrency=1, calls_per_second=0.001))
    throttle.enter(None)
    with pytest.raises(NoPlaceError, match="no turn"):
        throttle.enter(None, 5)
    throttle.leave()


def test_an_attempt_that_finds_no_place_in_time_says_what_the_one_before_did() -> None:
    @tamis.operator(retries=5, timeout=60, calls_per_second=0.01)
    def busily(event: Any) -> bool:
        raise Transient("busy", 0)

    matcher = tamis.Matcher([busily])
    matcher.subscribe("busily()", id="s")
    result = matcher.match({})
    assert reasons(result) == {"s": "busily(): raised: Transient: busy"}
    assert result.account.attempts == 1


def test_places_are_given_back_when_another_one_is_not_to_be_had() -> None:
    throttles = Throttles()
    one, other = Resource("a", concurrency=1), Resource("b", concurrency=1)
    both = throttles.of(tamis.Specification("both", resource=(other, one)))
    first = throttles.of(tamis.Specification("first", resource=one))
    second = throttles.of(tamis.Specification("second", resource=other))
    second.enter(0)
    with pytest.raises(NoPlaceError):
        both.enter(0.01)
    first.enter(0)
    with pytest.raises(NoPlaceError):
        first.enter(0)
    first.leave()
    second.leave()
    both.enter(0)
    for each in (first, second):
        with pytest.raises(NoPlaceError):
            each.enter(0)


# what is refused


def test_resources_of_one_name_have_one_kind_of_limits() -> None:
    def named(name: str, resource: Resource) -> tamis.Operator:
        return tamis.operator(name=name, resource=resource)(lambda event: True)

    one = named("one", Resource("key", calls_per_second=2))
    tamis.Matcher([one, named("other", Resource("key", calls_per_second=2))])
    with pytest.raises(tamis.PluginError) as refused:
        tamis.Matcher([one, named("other", Resource("key", calls_per_second=3))])
    assert str(refused.value) == (
        "the resource key has other limits for other (Resource(name='key', concurrency=None, "
        "calls_per_second=3)) than for one (Resource(name='key', concurrency=None, "
        "calls_per_second=2)): give both the same tamis.Resource"
    )


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"name": ""}, "the name of a resource is a non-empty string, not ''"),
        ({"name": 3}, "the name of a resource is a non-empty string, not 3"),
        ({"concurrency": 0}, "concurrency of the resource key is a number above 0, not 0"),
        ({"concurrency": 1.5}, "concurrency of the resource key is a whole number above 0"),
        ({"calls_per_second": True}, "calls_per_second of the resource key is a number above 0"),
    ],
)
def test_a_resource_that_cannot_be_is_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(tamis.OperatorError, match=says):
        Resource(**{"name": "key", **settings})


def test_a_call_that_finds_no_thread_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.calling.lanes._MOST_LATE", 1)
    key = Resource("key", concurrency=2)
    released = threading.Event()

    @tamis.operator(resource=key, timeout=0.05)
    def late(event: Any) -> bool:
        return released.wait(30)

    @tamis.operator(resource=key, timeout=10)
    def other(event: Any) -> bool:
        return True

    matcher = tamis.Matcher([late, other])
    matcher.subscribe("late()", id="late")
    for _ in range(4):
        said = reasons(matcher.match({}))["late"]
    assert said == "late(): timed out: 1 earlier calls of late have not ended yet"
    matcher.subscribe("other()", id="other")
    assert [match.subscription for match in matcher.match({}).matches] == ["other"]
    released.set()
