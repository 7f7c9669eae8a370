"""Nothing answered is lost when a process is killed; by command, `python -m tests.server.kills` and
`python -m tests.server.server_kills` do it as often as one wants."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.server import kills, server_kills


@pytest.mark.long
def test_nothing_acknowledged_by_the_log_is_lost() -> None:
    counts = kills.kill(3, seed=21)
    assert counts["publish"] > 3


@pytest.mark.long
def test_nothing_answered_by_the_server_is_lost() -> None:
    counts: Counter[str] = Counter()
    for seed in range(5, 15):  # where everything is slow, little happens before a kill
        counts.update(server_kills.kill(2, seed=seed))
        if counts["publish"] > 10 and counts["deliveries"] > 10 and counts["webhooks"] > 0:
            return
    pytest.fail(f"hardly anything happened before the kills: {dict(counts)}")
