"""What indexes cost beside scans of the same subscriptions, in alternating passes over one set of
events; every answer is compared with the scan's.

Kernels are compiled and caches warm before anything is timed. A time is that of one event; the
figure is the median over events of the fastest of the passes.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis import index as attribute_indexes
from tamis.bench.boxes import SHAPES, Boxes
from tamis.bench.scans import column_scan, columns, flat_scan, padded, scattered, scattered_scan
from tamis.plugins import installed

Matching = Callable[[int], NDArray[np.int64]]
SCANS = ("compiled scan", "naive scan", "column scan")


def scans(boxes: Boxes) -> dict[str, Matching]:
    """The scans as functions of an event's number."""
    place, attribute, low, high = scattered(boxes.attribute, boxes.low, boxes.high, boxes.seed)
    wide = columns(boxes.start, boxes.attribute, boxes.low, boxes.high)
    events = boxes.events
    padded_events = [padded(event) for event in events]

    def compiled(at: int) -> NDArray[np.int64]:
        found = flat_scan(boxes.start, boxes.attribute, boxes.low, boxes.high, events[at])
        return np.flatnonzero(found)

    def naive(at: int) -> NDArray[np.int64]:
        found = scattered_scan(boxes.start, place, attribute, low, high, events[at])
        return np.flatnonzero(found)

    def column(at: int) -> NDArray[np.int64]:
        return np.flatnonzero(column_scan(*wide, padded_events[at]))

    return dict(zip(SCANS, (compiled, naive, column), strict=True))


def measure(
    workload: str, names: Sequence[str], *, seed: int, scale: float, events: int, passes: int
) -> dict[str, Any]:
    """Scans and indexes on one workload."""
    shape = SHAPES[workload]
    shape = replace(shape, subscriptions=max(1, round(shape.subscriptions * scale)))
    boxes = Boxes(shape, seed, events)
    methods = scans(boxes)
    rows: dict[str, dict[str, Any]] = {name: {} for name in methods}
    dicts = boxes.event_dicts()
    for name in names:
        methods[name], rows[name] = _built(name, boxes, dicts)
    expected = [np.sort(methods[SCANS[0]](at)) for at in range(events)]
    for name, matching in methods.items():
        for at in range(events):
            if not np.array_equal(np.sort(matching(at)), expected[at]):
                raise AssertionError(f"{name} is wrong on event {at} of {workload}, seed {seed}")
    seconds = _timed(methods, events, passes)
    for name, row in rows.items():
        best = seconds[name].min(axis=0)
        row["us"] = 1e6 * float(np.median(best))
        row["mean_us"] = 1e6 * float(best.mean())
        row["p99_over_mean"] = float(np.quantile(best, 0.99) / best.mean())
    for row in rows.values():
        row["times"] = {scan: rows[scan]["us"] / row["us"] for scan in SCANS}
    return {
        "workload": workload,
        "subscriptions": shape.subscriptions,
        "predicates": len(boxes.attribute) / shape.subscriptions,
        "events": events,
        "seed": seed,
        "match_ratio": float(np.mean([len(each) for each in expected])) / shape.subscriptions,
        "methods": rows,
    }


def _built(
    name: str, boxes: Boxes, events: list[dict[str, float]]
) -> tuple[Matching, dict[str, Any]]:
    """An index of the workload, as a function of an event's number, and what it took."""
    attribute_indexes.build(name, [(0, [("a0", "<", 1)])]).match({"a0": 0.0})
    clauses = list(boxes.clauses())
    gc.collect()
    begun = time.perf_counter()
    index = attribute_indexes.build(name, clauses)
    built = time.perf_counter() - begun
    count = len(clauses)
    changed = clauses[:: max(1, count // 1_000)]
    begun = time.perf_counter()
    for id, _ in changed:
        index.delete(id)
    deleted = time.perf_counter() - begun
    begun = time.perf_counter()
    for id, predicates in changed:
        index.insert(id, predicates)
    inserted = time.perf_counter() - begun
    figures = {
        "build_us": 1e6 * built / count,
        "insert_us": 1e6 * inserted / len(changed),
        "delete_us": 1e6 * deleted / len(changed),
        "bytes": index.nbytes / count,
    }
    return lambda at: index.match(events[at]), figures


def _timed(
    methods: dict[str, Matching], events: int, passes: int
) -> dict[str, NDArray[np.float64]]:
    """Seconds by pass and event, the methods taking turns."""
    seconds = {name: np.empty((passes, events)) for name in methods}
    for number in range(passes):
        for name, matching in methods.items():
            for at in range(events):
                begun = time.perf_counter()
                matching(at)
                seconds[name][number, at] = time.perf_counter() - begun
    return seconds


def run(
    workloads: Sequence[str],
    *,
    seed: int,
    scale: float,
    events: int,
    passes: int,
    indexes: Sequence[str] | None = None,
    progress: Callable[[str], None] = lambda words: None,
) -> Iterator[dict[str, Any]]:
    """The workloads, one after the other."""
    names = sorted(installed().indexes) if indexes is None else list(indexes)
    for workload in workloads:
        progress(f"{workload}: drawing, building and matching")
        yield measure(workload, names, seed=seed, scale=scale, events=events, passes=passes)
