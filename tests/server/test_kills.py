"""Nothing acknowledged is lost when the process is killed; `python -m tests.server.kills` more."""

from __future__ import annotations

import pytest

from tests.server.kills import kill


@pytest.mark.long
def test_nothing_acknowledged_is_lost() -> None:
    counts = kill(3, seed=21)
    assert counts["publish"] > 20
