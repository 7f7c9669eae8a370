"""Answers of deterministic operators outlive their event: remembered, accounted, never stale."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import tamis
from tamis.testing import FakeClock, counting


def sized(**settings: Any) -> Any:
    @tamis.operator(inputs=("picture",), outputs=("n",), **settings)
    def size(event: Any, least: int, n: Any) -> list[int]:
        if event["picture"] == "broken":
            raise ValueError("no picture")
        return [len(event["picture"])] if len(event["picture"]) >= least else []

    return counting(size)


def matcher_of(operator: Any, **settings: Any) -> tamis.Matcher:
    matcher = tamis.Matcher([operator], **settings)
    matcher.subscribe_many([{"where": "size(2, ?n) and ?n > 3"}, {"where": "size(9, ?n)"}])
    return matcher


def hows(result: tamis.Result) -> list[str]:
    return [each.how for each in result.evaluations]


def test_equal_inputs_are_answered_from_memory_also_falsehoods() -> None:
    operator = sized(deterministic=True)
    matcher = matcher_of(operator)
    first = matcher.match({"id": "a", "picture": "abcd", "other": 1})
    again = matcher.match({"id": "b", "picture": "abcd", "other": 2})
    assert len(first.matches) == len(again.matches) == 1
    assert again.matches[0].bindings == [{"n": 4}]
    assert hows(first) == ["called", "called"]
    assert hows(again) == ["memo", "memo"]
    assert len(operator.calls) == 2
    account = again.account
    assert (account.calls, account.memoized, account.evaluations, account.spared) == (0, 2, 2, 2)
    assert account.needed_at_least == 0
    assert account.operators["size"].memoized == 2
    kept = matcher.memo.account()["size"]
    assert (kept.hits, kept.misses, kept.answers) == (2, 2, 2)
    subscription = again.matches[0].subscription
    assert "remembered from an earlier event: the call gave 4" in str(again.explain(subscription))
    assert len(matcher.match({"id": "c", "picture": "abcde"}).calls) == 2


@pytest.mark.parametrize("settings", [{}, {"deterministic": False}])
def test_nothing_is_kept_unless_it_is_declared(settings: dict[str, Any]) -> None:
    operator = sized(**settings)
    matcher = matcher_of(operator)
    for _ in range(2):
        assert hows(matcher.match({"picture": "abcd"})) == ["called", "called"]


def test_memory_can_be_switched_off_and_ages() -> None:
    event = {"picture": "abcd"}
    off = matcher_of(sized(deterministic=True), memo_bytes=0)
    assert [hows(off.match(event)) for _ in range(2)] == [["called"] * 2] * 2
    clock = FakeClock()
    aging = matcher_of(sized(deterministic=True), memo_seconds=60, clock=clock)
    assert hows(aging.match(event)) == ["called"] * 2
    clock.advance(59)
    assert hows(aging.match(event)) == ["memo"] * 2
    clock.advance(2)
    assert hows(aging.match(event)) == ["called"] * 2


def test_failures_are_tried_again() -> None:
    operator = sized(deterministic=True)
    matcher = matcher_of(operator)
    for _ in range(2):
        assert len(matcher.match({"picture": "broken"}).undetermined) == 2
    assert len(operator.calls) == 4


def test_threads_that_ask_the_same_at_once_share_one_call() -> None:
    calls = []
    begun, release = threading.Event(), threading.Event()

    @tamis.operator(inputs=("picture",), deterministic=True)
    def shows(event: Any, thing: str) -> bool:
        calls.append(thing)
        begun.set()
        release.wait(10)
        return True

    matcher = tamis.Matcher([shows])
    matcher.subscribe("shows(boat)", id="s")
    results: list[tamis.Result] = []
    threads = [
        threading.Thread(target=lambda: results.append(matcher.match({"picture": "p"})))
        for _ in range(4)
    ]
    threads[0].start()
    assert begun.wait(10)
    for thread in threads[1:]:
        thread.start()
    release.set()
    for thread in threads:
        thread.join()
    assert calls == ["boat"]
    assert [len(result.matches) for result in results] == [1] * 4
    assert sorted(how for result in results for how in hows(result)) == ["called"] + ["memo"] * 3
