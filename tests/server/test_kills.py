"""Nothing answered is lost when a process is killed; by command, `python -m tests.server.kills` and
`python -m tests.server.server_kills` do it as often as one wants."""

from __future__ import annotations

import pytest

from tests.server import kills, server_kills


@pytest.mark.long
def test_nothing_acknowledged_by_the_log_is_lost() -> None:
    counts = kills.kill(3, seed=21)
    assert counts["publish"] > 20


@pytest.mark.long
def test_nothing_answered_by_the_server_is_lost() -> None:
    counts = server_kills.kill(2, seed=5)
    assert counts["publish"] > 10
    assert counts["deliveries"] > 10
    assert counts["webhooks"] > 0
