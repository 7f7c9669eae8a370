"""Sets the sizes up to which matchers compile nothing: for tests of both forms, and of growing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

from tamis.indexing import IndexRecord
from tamis.plugins.loader import installed

COMPILED = ("pstbloom", "psthash", "lanes", "opindex", "auto")


@contextmanager
def borders(
    *,
    edges: int = -1,
    chains: int = 0,
    rows: int = 0,
    subscribed: int = 10**9,
    loaded: bool = False,
) -> Iterator[None]:
    """Interprets planners up to so many edges, chains and subscribed alternatives, and scans up
    to so many rows; unless kernels were loaded.

    Without arguments everything is compiled, also what is small."""
    indexes = installed().indexes
    records = {
        name: IndexRecord(name, partial(indexes[name].factory, scan_up_to=rows))
        for name in COMPILED
    }
    with (
        patch("tamis.planning.MOST_INTERPRETED", edges),
        patch("tamis.planning.MOST_SUBSCRIBED", subscribed),
        patch("tamis.planning.kernels_are_loaded", lambda: loaded),
        patch("tamis.engine.problem.kernels_are_loaded", lambda: loaded),
        patch("tamis_planners.suborder_order.MOST_INTERPRETED", chains),
        patch.dict(indexes, records),
    ):
        yield
