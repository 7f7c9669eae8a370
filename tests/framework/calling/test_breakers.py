"""Checks that an operator whose process fails again and again is paused, then tried again."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import pytest

import tamis
from tamis import Limits, Preparation
from tamis.testing import FakeClock

from .isolation.workers import isolated, matcher_with, reasons
from .patience import PATIENCE_SECONDS
from .trying import Hurry

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")


@isolated(inputs=("how",), timeout=PATIENCE_SECONDS)
def moody(event: Any, number: int) -> bool:
    if event["how"] == "exits":
        os._exit(1)
    if event["how"] == "hangs":
        time.sleep(1_000)
    if event["how"] == "raises":
        raise ValueError("no")
    return True


def test_a_breaker_opens_says_until_when_and_probes_after_pauses_that_double(
    hurry: Hurry,
) -> None:
    clock = FakeClock(1_000_000_000.0)
    limits = Limits(failures_in_a_row=3, pause_seconds=10, longest_pause_seconds=25)
    with matcher_with(moody, clock=clock, limits=limits) as matcher:
        matcher.subscribe("moody(1)", id="s")

        def said(how: str) -> str:
            hurry.seconds = 0.05 if how == "hangs" else None
            result = matcher.match({"how": how})
            return reasons(result).get("s", "matched")

        for how in ("exits", "raises", "hangs", "exits"):
            said(how)
        assert "crashed" in said("exits")
        assert "crashed" in said("exits")  # the third in a row: one raised in between
        opened = "moody(1): not called: the last {} calls crashed; it is tried again at {}"
        for failures, pause in ((3, 10), (4, 20), (5, 25), (6, 25)):
            until = clock.now + pause
            moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(until))
            assert said("well") == opened.format(failures, moment)
            assert matcher.match({"how": "well"}).account.calls == 0
            clock.advance(pause - 0.5)
            assert "not called" in said("well")
            clock.advance(0.5)
            assert "crashed" in said("exits")
        clock.advance(25)
        assert said("well") == "matched"
        for how in ("exits", "exits"):
            assert "crashed" in said(how)
        assert said("well") == "matched"


def test_exceptions_of_single_events_open_no_breaker() -> None:
    with matcher_with(moody, limits=Limits(failures_in_a_row=1)) as matcher:
        matcher.subscribe("moody(1)", id="s")
        for _ in range(5):
            assert "ValueError" in reasons(matcher.match({"how": "raises"}))["s"]
        assert matcher.match({"how": "well"}).matches


def test_a_breaker_opens_for_late_threads_too(hurry: Hurry) -> None:
    clock, released = FakeClock(), threading.Event()

    @tamis.operator(timeout=PATIENCE_SECONDS)
    def late(event: Any) -> bool:
        return released.wait(PATIENCE_SECONDS)

    hurry.seconds = 0.01
    with matcher_with(late, clock=clock, limits=Limits(failures_in_a_row=2)) as matcher:
        matcher.subscribe("late()", id="s")
        said = [reasons(matcher.match({}))["s"] for _ in range(3)]
        assert said[1] == "late(): timed out: no answer within 0.01 s"
        opened = "the last 2 calls were late; it is tried again at 1970-01-01T00:00:01.000Z"
        assert said[2] == f"late(): not called: {opened}"
        released.set()
        hurry.seconds = None
        clock.advance(1)
        assert matcher.match({}).matches


@pytest.mark.parametrize("isolation", ["inline", "process"])
def test_the_breaker_of_a_preparation_spares_who_does_without_it(isolation: str) -> None:
    def one(event: Any) -> int:
        return 1

    def never(event: Any) -> int:
        time.sleep(PATIENCE_SECONDS)
        return 2

    first = Preparation("first", one, inputs=())
    second = Preparation("second", never, inputs=(), after=first, timeout=0.02)

    @tamis.operator(preparation=second, inputs=(), isolation=isolation)
    def needs(event: Any) -> bool:
        return True

    @tamis.operator(preparation=first, inputs=(), isolation=isolation)
    def does_not(event: Any) -> bool:
        return True

    clock = FakeClock()
    limits = Limits(failures_in_a_row=2)
    with matcher_with(needs, does_not, clock=clock, limits=limits) as matcher:
        matcher.subscribe("needs()", id="s1")
        matcher.subscribe("does_not()", id="s2")
        said = []
        for _ in range(4):
            result = matcher.match({})
            said.append(reasons(result)["s1"].split(": ")[1])
            assert [each.subscription for each in result.matches] == ["s2"]
        assert said == ["timed out", "timed out", "not called", "not called"]
