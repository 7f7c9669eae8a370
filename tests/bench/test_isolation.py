"""The figures of worker processes are there; how good they are is the machine's matter."""

from __future__ import annotations

import os

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
