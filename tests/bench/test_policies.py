"""The bench of delivery policies measures each kind, and one subscription of many."""

from __future__ import annotations

import pytest

from tamis_bench.policies import POLICIES, measured


@pytest.mark.slow
def test_every_policy_and_every_number_of_subscriptions_has_a_row() -> None:
    *kinds, alone, many = measured(keys=200, subscriptions=50, passes=1)
    assert len(kinds) == len(POLICIES)
    assert [row["delivered"] for row in kinds] == [200, 200, 0, 0, 200, 200, 0]
    assert all(row["new_us"] > 0 and row["keys"] == 200 for row in kinds)
    assert [row["subscriptions"] for row in (alone, many)] == [1, 50]
    assert alone["over_one"] == 1
