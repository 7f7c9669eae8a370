"""The bench of the text operators runs, and both of its ways agree."""

from __future__ import annotations

import pytest

from tamis_bench import phrases


@pytest.mark.slow
def test_it_has_a_row_for_each_size() -> None:
    rows = list(phrases.measured(sizes=[10, 200], passes=1, seed=3))
    assert [row["phrases"] for row in rows] == [10, 200]
    assert rows[1]["found"] > 0
