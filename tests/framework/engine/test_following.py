"""Planners that follow what is subscribed: told before they are asked, replaced when they fail."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

import tamis
from tamis.planning import Problem


@tamis.operator
def yes(event: object) -> bool:
    return True


def matched(result: tamis.Result) -> list[str]:
    return [match.subscription for match in result.matches]


class Everything:
    """Asks for every call in turn."""

    def begin(self, problem: Problem) -> Any:
        calls = list(range(problem.calls))

        class Run:
            def next(self, limit: int) -> Sequence[int]:
                return [calls.pop()] if calls else []

            def observe(self, *seen: object) -> None:
                pass

        return Run()


class Fails(Everything):
    """Follows, and fails when it hears of a change."""

    def reset(self, standing: object) -> None:
        raise RuntimeError("no reset")

    def subscribed(self, standing: object) -> None:
        raise RuntimeError("no news")

    def unsubscribed(self, keys: object) -> None:
        raise RuntimeError("no news")

    def in_order(self) -> Sequence[int]:
        return []


class FailsLater(Fails):
    """Is told of everything once."""

    told = False

    def reset(self, standing: object) -> None:
        if self.told:
            super().reset(standing)
        self.told = True


class Follows(Everything):
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

    def begin(self, problem: Problem) -> Any:
        assert self.is_ready
        return super().begin(problem)


def test_a_planner_that_cannot_follow_does_not_replace_another_one() -> None:
    matcher = tamis.Matcher([yes], planner="naive")
    matcher.subscribe("yes()", id="s")
    with pytest.raises(tamis.PlannerError, match="Fails failed in reset"):
        matcher.planner = Fails()
    assert type(matcher.planner).__name__ == "Naive"
    matcher.planner = tamis.PlannerRecord("mine", Everything)
    assert type(matcher.planner).__name__ == "Everything"
    matcher.planner = "suborder"
    assert matched(matcher.match({})) == ["s"]


def test_a_planner_that_fails_to_follow_leaves_nothing_half_done() -> None:
    matcher = tamis.Matcher([yes], planner=Fails())
    with pytest.warns(tamis.PluginWarning, match="Fails failed in subscribed"):
        matcher.subscribe("yes()", id="s")
    matcher.subscribe("yes() and a = 1", id="s", replace=True)
    assert list(matcher) == ["s"]
    assert matched(matcher.match({"a": 1})) == ["s"]


def test_a_planner_whose_warning_is_an_error_leaves_nothing_half_done() -> None:
    matcher = tamis.Matcher([yes])
    matcher.subscribe("yes()", id="s")
    matcher.planner = FailsLater()
    with pytest.raises(tamis.PluginWarning, match="takes its place"):
        matcher.subscribe("yes() and a = 1", id="s", replace=True)
    assert matched(matcher.match({"a": 1})) == ["s"]
    assert matched(matcher.match({"a": 2})) == []


@pytest.mark.long
def test_an_event_is_decided_by_the_planner_that_knows_its_subscriptions() -> None:
    """One that is put in place meanwhile is asked when it was told of everything."""
    resetting, go_on = threading.Event(), threading.Event()
    swaps: list[threading.Thread] = []
    times = iter(range(1_000))

    def timer() -> float:
        now = next(times)
        if now == 1:  # the event has its problem, and no planner yet
            swaps.append(threading.Thread(target=setattr, args=(matcher, "planner", planner)))
            swaps[0].start()
            resetting.wait(1)  # in vain where the planner waits for the event
        return float(now)

    planner = Follows(resetting, go_on)
    matcher = tamis.Matcher([yes], timer=timer, learning=False)
    matcher.subscribe("yes()", id="s")
    try:
        assert len(matcher.match({}).matches) == 1
    finally:
        go_on.set()
        swaps[0].join()
    assert planner.is_ready
