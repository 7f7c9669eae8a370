"""Checks the lines of the log, and that none is shown to those who did not ask."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading

import pytest

import tamis
from tamis.testing import FakeClock


def test_a_slow_event_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    timer = FakeClock()

    @tamis.operator
    def busy(event: tamis.Event, name: str) -> bool:
        timer.advance(2.5 if name == "long" else 0.1)
        return True

    matcher = tamis.Matcher(operators=[busy], timer=timer)
    matcher.subscribe("busy(short)")
    with caplog.at_level(logging.INFO, logger="tamis"):
        matcher.match({"id": "quick"})
        assert not caplog.messages
        matcher.subscribe("busy(long)")
        matcher.match({"id": "slow"})
    assert caplog.messages == [
        "event slow took 2.6 s: 2.6 s in the stage operators, of it 2.5 s for busy(long)"
    ]


def test_an_open_breaker_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    released = threading.Event()

    @tamis.operator(timeout=0.01)
    def late(event: tamis.Event) -> bool:
        return released.wait(30)

    limits = tamis.Limits(failures_in_a_row=2)
    with tamis.Matcher(operators=[late], limits=limits) as matcher:
        matcher.subscribe("late()")
        with caplog.at_level(logging.WARNING, logger="tamis"):
            for _ in range(2):
                matcher.match({})
    released.set()
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("late is not called for 1 s: the last 2 calls were late")


def test_nothing_is_logged_unless_asked() -> None:
    program = "from tamis.log import log; log.warning('loud')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert not done.stdout
    assert not done.stderr
