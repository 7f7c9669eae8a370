"""Waiting is told from computing, whatever else the machine does."""

from __future__ import annotations

import time

from tamis.advising.stopwatch import Stopwatch


def test_sleeping_is_waiting() -> None:
    stopwatch = Stopwatch()
    time.sleep(0.2)
    wall, waited = stopwatch.read()
    assert 0 < waited <= wall


def test_nothing_is_waited_for_more_than_there_was_time() -> None:
    stopwatch = Stopwatch()
    sum(range(100_000))
    wall, waited = stopwatch.read()
    assert 0 <= waited <= wall
