"""Which scans an index is measured against, and which are left out because they would take long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from tamis_bench.boxes import Boxes
from tamis_bench.coded import Coded
from tamis_bench.column_scan import column_scan
from tamis_bench.duck import MISSING, duckdb_scan
from tamis_bench.goals import COMPILED
from tamis_bench.scans import Scan, compiled_scan, naive_scan, numpy_scan

DUCKDB = "duckdb"
SCANS: dict[str, Callable[[Boxes, Coded], Scan]] = {
    COMPILED: lambda boxes, codes: compiled_scan(codes),
    "naive": naive_scan,
    "column": lambda boxes, codes: column_scan(codes),
    "numpy": lambda boxes, codes: numpy_scan(codes),
    DUCKDB: lambda boxes, codes: duckdb_scan(codes),
}
_MOST_CELLS = 10_000_000
"""Subscriptions times places up to which DuckDB is measured without being named."""
SLOW_INDEXES = ("scan",)
_MOST_FOR_SLOW = 100_000
"""Subscriptions up to which the slow indexes are measured without being named."""


def shown(name: str) -> str:
    """A scan as a method among others."""
    return f"{name} scan"


def chosen_scans(boxes: Boxes, named: Sequence[str] | None) -> tuple[list[str], dict[str, str]]:
    """The scans to measure, the compiled one always, and why others are left out."""
    names, left_out = [], {}
    for name in SCANS:
        if named is not None and name not in (*named, COMPILED):
            continue
        if name == DUCKDB:
            cells = len(boxes) * boxes.shape.longest
            if find_spec("duckdb") is None:
                left_out[shown(name)] = MISSING
                continue
            if named is None and cells > _MOST_CELLS:
                left_out[shown(name)] = (
                    f"takes too long here; --scans {name} measures it all the same"
                )
                continue
        names.append(name)
    return names, left_out


def chosen_indexes(
    boxes: Boxes, named: Sequence[str] | None, registered: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """The indexes to measure, and why others are left out."""
    if named is not None:
        return list(named), {}
    names, left_out = [], {}
    for name in registered:
        if name in SLOW_INDEXES and boxes.count > _MOST_FOR_SLOW:
            left_out[name] = f"takes too long here; --index {name} measures it all the same"
        else:
            names.append(name)
    return names, left_out
