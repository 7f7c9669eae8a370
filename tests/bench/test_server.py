"""The bench of the match server measures commits, loads and explanations, and loses nothing."""

from __future__ import annotations

import pytest

from tamis_bench.goals import judged
from tamis_bench.server import BATCHES, measured


@pytest.mark.slow
@pytest.mark.long
def test_every_batch_and_every_load_has_a_row() -> None:
    rows = list(measured(subscriptions=50, seconds=1, loads=[50, 200], rows=100, passes=1))
    more, again, *commits, server, half, twice, one, first, closest = rows
    assert more["a_second"] > 0
    assert again["a_second"] > 0
    assert [row["batch"] for row in commits] == list(BATCHES)
    assert all(row["of_bare"] > 0 for row in commits)
    assert server["subscriptions"] == 50
    assert [row["load"] for row in (half, twice)] == ["50%", "200%"]
    assert half["p50_ms"] <= half["p99_ms"]
    assert twice["offered_a_second"] == pytest.approx(4 * half["offered_a_second"])
    assert [row["what"].split()[0] for row in (one, first, closest)] == ["one", "the", "the"]
    assert [goal["what"] for goal in judged("server", rows)] == ["of bare", "p99 ms", "p99 ms"]
