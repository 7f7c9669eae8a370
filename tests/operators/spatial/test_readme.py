"""Checks that the README of the spatial operators names all of them, and its bench."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis_bench import places
from tamis_operators import spatial
from tamis_operators.spatial.configuration import configured
from tamis_operators.spatial.gazetteer import gazetteer_of

README = Path(spatial.__file__).with_name("README.md").read_text(encoding="utf-8")


def test_it_names_operators_and_kinds() -> None:
    for record in spatial.operators(()):
        assert f"`{record.specification.signature}`" in README
    for place in gazetteer_of(configured(())).places:
        assert place.kind in ("airports", "city") or f"`{place.kind}`" in README


@pytest.mark.slow
def test_the_bench_has_its_figures() -> None:
    sizes = {"points": 5, "regions": 50, "subscriptions": 300}
    *rows, districts = places.measured(**sizes, passes=1, seed=2)
    assert len(rows) == 7
    assert all(row["median_us"] > 0 for row in rows)
    assert rows[-2]["over_one_query"] == 1
    assert 0 < districts["candidates"] <= 101
    assert districts["calls"] == districts["needed"] <= 1
