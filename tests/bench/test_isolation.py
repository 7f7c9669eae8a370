"""The figures of worker processes are there; how good they are is the machine's matter."""

from __future__ import annotations

import os
import sys

import pytest

from tamis_bench import isolation
from tamis_bench.goals import judged

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")


@pytest.mark.slow
def test_calls_and_kills_are_measured() -> None:
    rows = list(isolation.measured(calls=20, kills=3))
    assert len([row for row in rows if "over_inline_us" in row]) == 7
    assert {row["what"] for row in rows if "after_deadline_ms" in row} == {"median", "worst"}
    assert len(judged("isolation", rows)) == 7


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc: run it on Linux")
def test_abuse_is_counted_and_leaves_nothing() -> None:
    rows = list(isolation.measured(calls=20, kills=1, abuse=2))
    assert [row["left"] for row in rows if "left" in row] == [0, 0, 0]
    assert {row["what"]: row["events"] for row in rows if "events" in row}["hanging timed out"] == 2
