"""Scans to measure indexes against: every subscription looked at, in four layouts of memory.

The compiled scan reads predicates one behind the other and leaves a subscription at its first
false one, the most selective first. The naive scan does the same with every subscription somewhere
else in memory and its predicates as they were written, as objects on a heap are. The column scan
is in `column_scan`. The NumPy scan compares whole columns and goes on with what is left.
Invariant: a scan gives the positions of the matching subscriptions in ascending order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.numeric.kernels import kernel
from tamis_bench.boxes import DIFFERENT, RANGE, Boxes, Extra, Sets
from tamis_bench.coded import Coded, Codes
from tamis_bench.draws import Ints

Scan = Callable[[int], Ints]
Starts = NDArray[np.int32]
Records = NDArray[np.int32]

_ATTRIBUTE, _LOW, _HIGH, _EXTRA = range(4)
_WORD, _LAST = np.uint64(64), np.uint64(63)


@kernel
def holds(low: int, high: int, extra: int, sets: Sets, value: int, absent: int) -> bool:
    """Whether a predicate of any kind holds."""
    if extra == RANGE:
        return low <= value <= high
    if value == absent:
        return False
    if extra == DIFFERENT:
        return value != low
    bit = np.uint64(value)
    return bool(sets[extra, bit // _WORD] >> (bit & _LAST) & np.uint64(1))


@kernel
def _flat_scan(
    start: Starts,
    attribute: Codes,
    low: Codes,
    high: Codes,
    extra: Extra | None,
    sets: Sets,
    event: Codes,
    absent: int,
    found: Ints,
) -> int:
    count = 0
    end = start[0]
    for row in range(len(start) - 1):
        at, end = end, start[row + 1]
        true = True
        while at < end:
            value = event[attribute[at]]
            if extra is None:
                true = (low[at] <= value) & (value <= high[at])
            else:
                true = holds(low[at], high[at], extra[at], sets, value, absent)
            if not true:
                break
            at += 1
        found[count] = row
        count += true
    return count


def compiled_scan(codes: Coded) -> Scan:
    """The flat loop."""
    found = np.empty(len(codes) + 1, np.int64)
    columns = (codes.start, codes.attribute, codes.low, codes.high, codes.extra, codes.sets)

    def scan(at: int) -> Ints:
        return found[: _flat_scan(*columns, codes.events[at], codes.absent, found)].copy()

    return scan


@kernel
def _scattered_scan(
    pointers: Ints,
    objects: Ints,
    records: Records,
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


def naive_scan(boxes: Boxes, codes: Coded) -> Scan:
    """The loop over scattered objects: a pointer to each subscription, which has a pointer to each
    of its predicates, as they were written."""
    count, length = len(codes), np.diff(codes.start)
    chance = np.random.default_rng(boxes.seed)
    order, place = chance.permutation(count), chance.permutation(len(codes.attribute))
    pointers = np.empty(count, np.int64)
    pointers[order] = np.cumsum(length[order] + 1) - length[order] - 1
    objects = np.empty(len(place) + count, np.int64)
    objects[pointers] = length
    written = _shuffled(codes.start, chance.random(len(place)))
    objects[np.repeat(pointers + 1 - codes.start[:-1], length) + np.arange(len(place))] = place
    records = np.empty((len(place), 4), np.int32)
    records[place, _ATTRIBUTE] = codes.attribute[written]
    records[place, _LOW], records[place, _HIGH] = codes.low[written], codes.high[written]
    records[place, _EXTRA] = RANGE if codes.extra is None else codes.extra[written]
    events = codes.events.astype(np.int32)
    found = np.empty(count + 1, np.int64)

    def scan(at: int) -> Ints:
        used = _scattered_scan(
            pointers, objects, records, codes.sets, events[at], codes.absent, found
        )
        return found[:used].copy()

    return scan


@kernel
def _shuffled(start: Starts, chance: NDArray[np.float64]) -> Ints:
    """Places of predicates with those of each row in any order."""
    order = np.arange(len(chance))
    for row in range(len(start) - 1):
        for at in range(start[row] + 1, start[row + 1]):
            other = start[row] + int(chance[at] * (at + 1 - start[row]))
            order[at], order[other] = order[other], order[at]
    return order


def numpy_scan(codes: Coded) -> Scan:
    """A column compared as a whole, then what is left of the subscriptions place by place."""
    length = np.diff(codes.start)
    first = _at(codes, codes.start[:-1])

    def scan(at: int) -> Ints:
        event = codes.events[at]
        rows = np.flatnonzero(_hold(codes, event, first))
        done: list[Ints] = []
        place = 0
        while len(rows):
            place += 1
            more = length[rows] > place
            done.append(rows[~more])
            rows = rows[more]
            rows = rows[_hold(codes, event, _at(codes, codes.start[rows] + place))]
        return np.sort(np.concatenate([rows, *done]))

    return scan


class _Places(NamedTuple):
    """Predicates at some places."""

    attribute: Codes
    low: Codes
    high: Codes
    extra: Extra | None


def _at(codes: Coded, places: NDArray[Any]) -> _Places:
    extra = None if codes.extra is None else codes.extra[places]
    return _Places(codes.attribute[places], codes.low[places], codes.high[places], extra)


def _hold(codes: Coded, event: Codes, places: _Places) -> NDArray[np.bool_]:
    """Which predicates hold."""
    value, extra = event[places.attribute], places.extra
    true: NDArray[np.bool_] = (places.low <= value) & (value <= places.high)
    if extra is not None:
        different = np.flatnonzero(extra == DIFFERENT)
        read = value[different]
        true[different] = (read != codes.absent) & (read != places.low[different])
        member = np.flatnonzero(true & (extra >= 0))
        bit = value[member].astype(np.uint64)
        words = codes.sets[extra[member], bit // _WORD]
        true[member] = (words >> (bit & _LAST) & np.uint64(1)).astype(np.bool_)
    return true
