"""A killed process leaves what was committed last; as often as one wants, by command, with
`python -m tests.framework.index.dbms.kills`."""

from __future__ import annotations

import pytest

from tests.framework.index.dbms import kills


@pytest.mark.long
def test_what_was_committed_is_there_after_a_kill() -> None:
    counts = kills.kill(8, seed=11)
    assert counts["subscribe"] > 8
    assert counts["unsubscribe"] > 0
    assert counts["read"] > 0
