"""A ticket that is none opens nothing; a command tries as many as one wants."""

from __future__ import annotations

import pytest

from tests.server.forged_tickets import attack


@pytest.mark.long
def test_no_forged_ticket_is_accepted() -> None:
    statuses = attack(2_000, seed=21)
    assert statuses[403] > 1_000
