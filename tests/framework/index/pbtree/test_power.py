"""Nothing committed is lost by a power cut, or by a kill; by command, `python -m` with `power` and
`kills` of this folder, as often as one wants."""

from __future__ import annotations

import pytest

from tests.framework.index.pbtree import kills, power


def test_power_cuts_lose_nothing() -> None:
    counts = power.cut(300, seed=7)
    assert min(counts["with"], counts["without"]) > 20


def test_without_syncs_something_is_lost() -> None:
    with pytest.raises(power.Lost):
        power.cut(100, seed=7, is_synced=False)


@pytest.mark.long
def test_kills_lose_nothing() -> None:
    assert kills.kill(20, seed=11) > 20
