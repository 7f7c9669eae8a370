"""Every scan gives the answers of plain Python, whatever the layout and the kind of predicate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tamis.index.buckets.bits import has_vectors
from tamis.testing import satisfies
from tamis_bench import mixed
from tamis_bench.boxes import Boxes, BoxShape
from tamis_bench.coded import CodedWorkload, coded
from tamis_bench.column_scan import column_scan
from tamis_bench.duck import duckdb_scan
from tamis_bench.scans import SCANS, Scan

EVENTS = 8
SHAPES = {
    "bytes": BoxShape(700, attributes=20, pairs=12, shortest=1, longest=4),
    "one place": BoxShape(700, attributes=5, pairs=3, shortest=1, longest=1),
    "more places than columns": BoxShape(
        700, attributes=20, pairs=18, shortest=6, longest=14, equality=0, narrowest=0.8
    ),
    "more attributes than slots": BoxShape(
        700, attributes=400, pairs=120, shortest=2, longest=4, prototype_size=60, match_ratio=0.02
    ),
    "more values than codes": BoxShape(700, attributes=20, values=1_000, pairs=15),
    "floats": BoxShape(700, attributes=10, values=None, pairs=9, equality=0.1),
    mixed.NAME: BoxShape(700, attributes=20, pairs=15, shortest=1, longest=4),
}


def workload(name: str) -> Boxes:
    shape = SHAPES[name]
    if name == mixed.NAME:
        return mixed.MixedWorkload(shape, 4, EVENTS)
    return Boxes(name, shape, 4, EVENTS)


def scans() -> dict[str, Callable[[Boxes, CodedWorkload], Scan]]:
    everything = dict(SCANS)
    everything["column, portable"] = lambda boxes, codes: column_scan(codes, vectors=False)
    return everything


@pytest.mark.parametrize("scan", scans())
@pytest.mark.parametrize("name", SHAPES)
def test_scans_say_what_plain_python_says(name: str, scan: str) -> None:
    if scan == "duckdb":
        pytest.importorskip("duckdb")
    boxes = workload(name)
    rows = np.arange(0, len(boxes), 2)
    asked = [clauses for _, clauses in boxes.clauses(rows)]
    answer = scans()[scan](boxes, coded(boxes, rows))
    found = 0
    for at, event in enumerate(boxes.event_dicts()):
        expected = [row for row, clauses in enumerate(asked) if satisfies(event, clauses)]
        assert answer(at).tolist() == expected
        found += len(expected)
    assert found > EVENTS


def test_the_shapes_reach_what_they_are_named_for() -> None:
    codes = {name: coded(each, np.arange(len(each))) for name in SHAPES if (each := workload(name))}
    assert codes["bytes"].low.dtype == np.uint8
    assert codes["more values than codes"].low.dtype == np.uint16
    assert codes["floats"].spaces.max() > 255
    many = codes["more attributes than slots"]
    slots = [np.flatnonzero(event != many.absent) % 127 for event in many.events]
    assert all(len(np.unique(each)) < len(each) for each in slots)


def test_a_subscription_begins_with_its_most_selective_predicate() -> None:
    boxes = workload("bytes")
    codes = coded(boxes, np.arange(len(boxes)))
    width = codes.high.astype(int) - codes.low
    several = np.flatnonzero(np.diff(codes.start) > 1)
    first, second = width[codes.start[several]], width[codes.start[several] + 1]
    assert (first <= second).mean() > 0.9


@pytest.mark.skipif(not has_vectors(), reason="this processor looks up no bytes in registers")
def test_without_vectors_the_column_scan_is_another_kernel() -> None:
    boxes = workload("bytes")
    codes = coded(boxes, np.arange(len(boxes)))
    fast, slow = column_scan(codes), column_scan(codes, vectors=False)
    assert fast(0).tolist() == slow(0).tolist()


def test_duckdb_is_imported_when_it_is_measured_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "duckdb", None)
    boxes = workload("bytes")
    with pytest.raises(ModuleNotFoundError):
        duckdb_scan(coded(boxes, np.arange(len(boxes))))
