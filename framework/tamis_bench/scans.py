"""Scans to measure indexes against: every subscription is looked at, in several layouts of memory.

The compiled scan reads predicates one behind the other and leaves a subscription at its first
false one, the most selective first. The naive scan does the same with every subscription somewhere
else in memory and its predicates as they were written, as objects on a heap are. The column scan
tests 64 subscriptions at once. The NumPy scan compares whole columns and goes on with what is left.
DuckDB runs SQL. Invariant: a scan gives the positions of the matching subscriptions, ascending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from tamis_bench.boxes import Boxes
from tamis_bench.coded import CodedWorkload
from tamis_bench.kernels import (
    DIFFERENT,
    RANGE,
    Codes,
    Extra,
    Ints,
    Sets,
    holds,
    kernel,
    scanned,
)

Scan = Callable[[int], Ints]

COMPILED, DUCKDB = "compiled", "duckdb"
PROPAGATION, K_INDEX, BE_TREE = "propagation", "k-index", "be-tree"
MISSING = "DuckDB is not installed: pip install 'tamis[bench]'"
_MOST_CELLS = 10_000_000
"""Subscriptions times places up to which DuckDB is measured without being named."""
_MOST_WRITTEN_OUT = 1_000_000
"""The same for the k-index, which takes a place for each value of a range."""
_ATTRIBUTE, _LOW, _HIGH, _EXTRA = range(4)


def compiled_scan(codes: CodedWorkload) -> Scan:
    """Returns the flat loop."""
    found = np.empty(len(codes) + 1, np.int64)
    columns = (codes.start, codes.attribute, codes.low, codes.high, codes.extra, codes.sets)

    def scan(at: int) -> Ints:
        return found[: scanned(*columns, codes.events[at], codes.absent, None, found)].copy()

    return scan


@kernel
def _scattered(
    pointers: Ints,
    objects: Ints,
    records: NDArray[np.int32],
    sets: Sets,
    event: Codes,
    absent: int,
    found: Ints,
) -> int:
    count = 0
    for row in range(len(pointers)):
        matches = True
        length = objects[pointers[row]]
        for at in range(pointers[row] + 1, pointers[row] + 1 + length):
            record = records[objects[at]]
            if not holds(
                record[_LOW], record[_HIGH], record[_EXTRA], sets, event[record[_ATTRIBUTE]], absent
            ):
                matches = False
                break
        found[count] = row
        count += matches
    return count


def naive_scan(boxes: Boxes, codes: CodedWorkload) -> Scan:
    """Returns the loop over scattered objects: a pointer to each subscription, which has a pointer
    to each of its predicates, as they were written."""
    count, length = len(codes), np.diff(codes.start)
    chance = np.random.default_rng(boxes.seed)
    order, place = chance.permutation(count), chance.permutation(len(codes.attribute))
    pointers = np.empty(count, np.int64)
    pointers[order] = np.cumsum(length[order] + 1) - length[order] - 1
    objects = np.empty(len(place) + count, np.int64)
    objects[pointers] = length
    objects[np.repeat(pointers + 1 - codes.start[:-1], length) + np.arange(len(place))] = place
    written = np.lexsort((chance.random(len(place)), np.repeat(np.arange(count), length)))
    records = np.empty((len(place), 4), np.int32)
    records[place, _ATTRIBUTE] = codes.attribute[written]
    records[place, _LOW], records[place, _HIGH] = codes.low[written], codes.high[written]
    records[place, _EXTRA] = RANGE if codes.extra is None else codes.extra[written]
    events = codes.events.astype(np.int32)
    found = np.empty(count + 1, np.int64)

    def scan(at: int) -> Ints:
        used = _scattered(pointers, objects, records, codes.sets, events[at], codes.absent, found)
        return found[:used].copy()

    return scan


def numpy_scan(codes: CodedWorkload) -> Scan:
    """Returns a column compared as a whole, then what is left of subscriptions place by place."""
    length, columns = np.diff(codes.start), [codes.attribute, codes.low, codes.high]
    if codes.extra is not None:
        columns.append(codes.extra)
    first = [each[codes.start[:-1]] for each in columns]

    def scan(at: int) -> Ints:
        event = codes.events[at]
        rows = np.flatnonzero(_held(codes, event, *first))
        done: list[Ints] = []
        place = 0
        while len(rows):
            place += 1
            more = length[rows] > place
            done.append(rows[~more])
            rows = rows[more]
            here = codes.start[rows] + place
            rows = rows[_held(codes, event, *(each[here] for each in columns))]
        return np.sort(np.concatenate([rows, *done]))

    return scan


def _held(
    codes: CodedWorkload,
    event: Codes,
    attribute: Codes,
    low: Codes,
    high: Codes,
    extra: Extra | None = None,
) -> NDArray[np.bool_]:
    """Returns which predicates hold."""
    value = event[attribute]
    true: NDArray[np.bool_] = (low <= value) & (value <= high)
    if extra is not None:
        different = np.flatnonzero(extra == DIFFERENT)
        read = value[different]
        true[different] = (read != codes.absent) & (read != low[different])
        member = np.flatnonzero(true & (extra >= 0))
        bit = value[member].astype(np.uint64)
        words = codes.sets[extra[member], bit // np.uint64(64)]
        true[member] = (words >> (bit & np.uint64(63)) & np.uint64(1)).astype(np.bool_)
    return true


def _late(module: str, name: str) -> Callable[[Boxes, CodedWorkload], Scan]:
    """Returns a scan whose module is imported when it is made."""

    def made(boxes: Boxes, codes: CodedWorkload) -> Scan:
        scan: Scan = getattr(import_module(f"tamis_bench.{module}"), name)(codes)
        return scan

    return made


SCANS: dict[str, Callable[[Boxes, CodedWorkload], Scan]] = {
    COMPILED: lambda boxes, codes: compiled_scan(codes),
    "naive": naive_scan,
    "column": _late("column_scan", "column_scan"),
    "numpy": lambda boxes, codes: numpy_scan(codes),
    DUCKDB: _late("duck", "duckdb_scan"),
    PROPAGATION: _late("rivals", "propagation"),
    K_INDEX: _late("rivals", "k_index"),
    BE_TREE: _late("be_tree", "be_tree"),
}
"""Scans, and behind them rivals of other papers."""


def chosen_scans(boxes: Boxes, named: Sequence[str] | None) -> tuple[list[str], dict[str, str]]:
    """Returns the scans to measure, the compiled one always, and why others are left out."""
    names = [name for name in SCANS if named is None or name in (*named, COMPILED)]
    left_out: dict[str, str] = {}
    if DUCKDB in names and find_spec(DUCKDB) is None:
        left_out[DUCKDB] = MISSING
    elif named is None and len(boxes) * boxes.shape.longest > _MOST_CELLS:
        left_out[DUCKDB] = f"takes too long here; --scans {DUCKDB} measures it all the same"
    if K_INDEX in names and named is None and len(boxes) * boxes.shape.longest > _MOST_WRITTEN_OUT:
        left_out[K_INDEX] = f"takes much memory here; --scans {K_INDEX} measures it all the same"
    return [name for name in names if name not in left_out], left_out
