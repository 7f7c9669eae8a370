"""The figures of calls made together are there; how good they are is the machine's matter."""

from __future__ import annotations

import pytest

from tamis_bench import calls
from tamis_bench.goals import judged


def test_calls_and_detectors_are_measured() -> None:
    pytest.importorskip("cv2", reason="it comes with an extra")
    rows = list(calls.measured(passes=1, events=16))
    operator, *detectors = rows
    assert operator["times"] > 0
    assert "made here" in {row["what"] for row in detectors}
    assert all(row["in_a_matcher"] > 0 for row in detectors)
    assert len(judged("calls", rows)) == len(rows)
