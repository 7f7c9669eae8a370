"""Matches an event: the lists of its pivots, counters and bits, one pivot after the other.

The counters of a pivot are copied, predicates that the event satisfies are subtracted, and rows
whose counter is 0 have all theirs (paper, section 5); bits of clauses are cleared likewise (section
6.1). A pivot is left as soon as none of its own predicates holds. Signatures come before look-ups.
Cost: O(m² log n) look-ups for m values of an event, and what they find.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamis.index.buckets.bits import fetch_ahead
from tamis.index.opindex.entries import (
    AT_LEAST,
    AT_MOST,
    BETWEEN,
    BEYOND,
    BREAKS,
    CLEARING,
    EQUAL,
    KINDS,
    PART,
    PRESENT,
)
from tamis.index.opindex.lists import code_of, is_equal, is_plain, signature_bit
from tamis.index.opindex.store import (
    BITS,
    COUNT,
    COUNTERS,
    GROUPS,
    PLAIN,
    ROW,
    SIGNATURE,
    SORTED,
    START,
    STRETCHES,
    WORD,
    WORDS,
    OpIndexStore,
    opened,
)
from tamis.index.reading_kernels import opened_readings
from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Bytes, Floats, Ints, SmallInts, Words
from tamis.numeric.views import opener

_AHEAD = 4
_FEW = 128
"""So many codes are looked through as soon as they are searched by halves."""
_ORDER = (BREAKS, PRESENT, PART, *range(CLEARING, BREAKS))


class OpIndexScratch(NamedTuple):
    """The arrays that one match at a time writes into."""

    counters: Bytes
    words: Words
    groups: SmallInts
    dimension: Ints
    value: Floats
    """The values of an event, and the members of its bags."""
    is_first: Bytes
    """Of those of one dimension."""
    equal_bit: Ints
    any_bit: Ints
    down: SmallInts
    up: SmallInts
    """The codes of plain doubles up to a value, and from it on."""
    queue: Ints
    """Segments to look into, each with an operator and the place of a value."""
    out: SmallInts
    counts: Ints
    """The numbers of rows found, of those found by bits, and of rows looked at."""


def new_scratch(counters: int, words: int, groups: int, values: int, rows: int) -> OpIndexScratch:
    """Returns scratch for as many of each."""
    return OpIndexScratch(
        np.zeros(counters, np.uint8),
        np.zeros(words, np.uint64),
        np.zeros(groups, np.int32),
        np.zeros(values, np.int64),
        np.zeros(values),
        np.zeros(values, np.uint8),
        np.zeros(values, np.int64),
        np.zeros(values, np.int64),
        np.zeros(values, np.int32),
        np.zeros(values, np.int32),
        np.zeros((values * CLEARING, 3), np.int64),
        np.zeros(rows, np.int32),
        np.zeros(3, np.int64),
    )


opened_scratch = opener(new_scratch(0, 0, 0, 0, 0))


@inlined
def _after(
    store: OpIndexStore, first: int, last: int, dimension: int, key: float, beyond: bool
) -> int:
    """Returns the first entry at or, with `beyond`, after a key in a sorted stretch."""
    while first < last:
        half = (first + last) >> 1
        here = store.dimension[half]
        if here < dimension or (
            here == dimension
            and (store.bounds[half, 0] < key or (beyond and store.bounds[half, 0] == key))
        ):
            first = half + 1
        else:
            last = half
    return first


@inlined
def _at_code(store: OpIndexStore, first: int, last: int, code: int) -> int:
    """Returns the first entry of a plain segment with this code or a higher one."""
    while last - first > _FEW:
        half = (first + last) >> 1
        if store.code[half] < code:
            first = half + 1
        else:
            last = half
    below = 0
    for entry in range(np.uint64(first), np.uint64(last)):
        below += np.int64(store.code[entry]) < code
    return first + below


@inlined
def _range(
    store: OpIndexStore, segment: int, kind: int, use: OpIndexScratch, at: int
) -> tuple[int, int]:
    """Returns the sorted entries that a value may satisfy: by their key, it does."""
    first = store.segments[segment, START]
    last = first + store.segments[segment, SORTED]
    lower = kind in (EQUAL, AT_MOST)
    upper = kind in (EQUAL, AT_LEAST, BETWEEN)
    if store.segments[segment, PLAIN] == use.dimension[at]:
        if lower:
            first = _at_code(store, first, last, np.int64(use.up[at]))
        if upper:
            last = _at_code(store, first, last, np.int64(use.down[at]) + 1)
        return first, last
    dimension, value = use.dimension[at], use.value[at]
    first = _after(store, first, last, dimension, value if lower else -np.inf, False)
    return first, _after(store, first, last, dimension, value if upper else np.inf, True)


@inlined
def _holds(kind: int, key: float, other: float, value: float) -> bool:
    """Returns whether a value satisfies an entry of its dimension."""
    if kind == EQUAL:
        return value == key
    if kind == AT_MOST:
        return value <= key
    if kind == AT_LEAST:
        return value >= key
    if kind == BETWEEN:
        return key <= value <= other
    return not key <= value <= other


@inlined
def _segment(store: OpIndexStore, pivot: int, kind: int, use: OpIndexScratch, at: int) -> int:
    """Returns the segment in which a value may find something, -1 if there is none."""
    line = KINDS * pivot + kind
    segment = np.int64(store.lists[line, 0])
    if segment < 0:
        return -1
    segment += use.dimension[at] & np.int64(store.lists[line, 1])
    bit = use.equal_bit[at] if is_equal(kind) else use.any_bit[at]
    return segment if store.segments[segment, SIGNATURE] & bit else -1


@inlined
def _count_down(store: OpIndexStore, segment: int, kind: int, use: OpIndexScratch, at: int) -> int:
    """Subtracts what a value satisfies from counters; how many entries it satisfies."""
    dimension, value = use.dimension[at], use.value[at]
    first, last = _range(store, segment, kind, use, at)
    hits = 0
    if kind < BETWEEN:
        hits = last - first
        for entry in range(np.uint64(first), np.uint64(last)):
            use.counters[np.uint32(store.at[entry])] -= np.uint8(1)
    elif kind == BETWEEN and store.segments[segment, PLAIN] == dimension:
        up = use.up[at]
        for entry in range(np.uint64(first), np.uint64(last)):
            inside = np.uint8(store.other_code[entry] >= up)
            use.counters[np.uint32(store.at[entry])] -= inside
            hits += inside
    else:
        for entry in range(first, last):
            inside = np.uint8(_holds(kind, store.bounds[entry, 0], store.bounds[entry, 1], value))
            use.counters[store.at[entry]] -= inside
            hits += inside
    begin = store.segments[segment, START]
    for entry in range(
        begin + store.segments[segment, SORTED], begin + store.segments[segment, COUNT]
    ):
        if store.dimension[entry] == dimension and _holds(
            kind, store.bounds[entry, 0], store.bounds[entry, 1], value
        ):
            use.counters[store.at[entry]] -= np.uint8(1)
            hits += 1
    return hits


@inlined
def _clear_one(store: OpIndexStore, entry: int, kind: int, use: OpIndexScratch) -> None:
    """Does what an entry that holds does to its row."""
    at = np.int64(store.at[entry])
    if kind >= BREAKS:
        group = np.int64(store.bounds[entry, 1])
        if kind == BREAKS:
            use.groups[group] = 1
            return
        if kind == PART:
            use.groups[group] -= 1
        if use.groups[group]:
            return
    use.words[at >> 6] &= ~(np.uint64(1) << np.uint64(at & 63))


@inlined
def _clear(store: OpIndexStore, segment: int, kind: int, use: OpIndexScratch, at: int) -> int:
    """Clears the bits of clauses that a value satisfies; how many entries it may satisfy."""
    dimension, value = use.dimension[at], use.value[at]
    begin = store.segments[segment, START]
    asked = kind - CLEARING
    if kind in (BREAKS, PART):
        asked = EQUAL
    elif kind == PRESENT:
        asked = BEYOND
    first, last = _range(store, segment, asked, use, at)
    hits = last - first
    for entry in range(first, last):
        if kind == PRESENT or _holds(asked, store.bounds[entry, 0], store.bounds[entry, 1], value):
            _clear_one(store, entry, kind, use)
    for entry in range(
        begin + store.segments[segment, SORTED], begin + store.segments[segment, COUNT]
    ):
        if store.dimension[entry] == dimension and (
            kind == PRESENT or _holds(asked, store.bounds[entry, 0], store.bounds[entry, 1], value)
        ):
            _clear_one(store, entry, kind, use)
            hits += 1
    return hits


@inlined
def _read(places: Any, readings: Ints, event: int, use: OpIndexScratch) -> int:
    """Writes down what an event has; how many values."""
    read, count = opened_readings(readings), 0
    for line in range(read.line_start[event], read.line_start[event + 1]):
        if read.value[line] == read.value[line]:
            use.dimension[count], use.value[count] = read.line[line], read.value[line]
            use.is_first[count] = 1
            count += 1
    for bag in range(read.bag_start[event], read.bag_start[event + 1]):
        first = count
        for member in range(read.member_start[bag], read.member_start[bag + 1]):
            use.dimension[count], use.value[count] = read.bag[bag], read.members[member]
            use.is_first[count] = count == first
            count += 1
        if count == first:
            use.dimension[count], use.value[count], use.is_first[count] = read.bag[bag], -1.0, 1
            count += 1
    for at in range(count):
        value = use.value[at]
        code, rest = code_of(value), not is_plain(value)
        use.down[at], use.up[at] = code - (rest and value < 0), code + (rest and value > 0)
        use.equal_bit[at] = signature_bit(EQUAL, use.dimension[at], use.value[at])
        use.any_bit[at] = signature_bit(AT_LEAST, use.dimension[at], use.value[at])
    return count


@inlined
def _queued(
    store: OpIndexStore, pivot: int, first: int, last: int, use: OpIndexScratch, queued: int
) -> int:
    """Queues the segments in which some values may find something; how many there are now."""
    for at in range(first, last):
        for kind in range(CLEARING if use.is_first[at] else EQUAL + 1):
            segment = _segment(store, pivot, kind, use, at)
            if segment >= 0:
                use.queue[queued, 0], use.queue[queued, 1] = segment, kind
                use.queue[queued, 2] = at
                queued += 1
    return queued


@inlined
def _count_queued(store: OpIndexStore, use: OpIndexScratch, queued: int) -> int:
    """Subtracts what is found in segments from counters; how many entries are satisfied."""
    hits = 0
    for place in range(queued):
        if place + _AHEAD < queued:
            begin = store.segments[use.queue[place + _AHEAD, 0], START]
            fetch_ahead(store.code.ctypes.data + 4 * begin)
            fetch_ahead(store.other_code.ctypes.data + 4 * begin)
            fetch_ahead(store.at.ctypes.data + 4 * begin)
        hits += _count_down(
            store, use.queue[place, 0], use.queue[place, 1], use, use.queue[place, 2]
        )
    return hits


@inlined
def _counted(
    store: OpIndexStore, pivot: int, first: int, last: int, count: int, use: OpIndexScratch
) -> None:
    """Finds the rows of a pivot whose predicates are counted."""
    stretch = store.stretches[STRETCHES * pivot + COUNTERS]
    begin, rows = stretch[START], stretch[COUNT]
    for slot in range(rows):
        use.counters[slot] = store.needed[begin + slot]
    if not _count_queued(store, use, _queued(store, pivot, first, last, use, 0)):
        return
    queued = _queued(store, pivot, 0, first, use, 0)
    _count_queued(store, use, _queued(store, pivot, last, count, use, queued))
    use.counts[2] += rows
    found = use.counts[0]
    for slot in range(rows):
        if not use.counters[slot]:
            use.out[found] = store.counted[begin + slot]
            found += 1
    use.counts[0] = found


@inlined
def _cleared(
    store: OpIndexStore, pivot: int, first: int, last: int, count: int, use: OpIndexScratch
) -> None:
    """Finds the rows of a pivot that have bits."""
    line, hits = STRETCHES * pivot, 0
    words, groups = store.stretches[line + WORDS], store.stretches[line + GROUPS]
    for place in range(words[COUNT]):
        use.words[place] = store.words[words[START] + place]
    for place in range(groups[COUNT]):
        use.groups[place] = store.groups[groups[START] + place]
    for own in (True, False):
        # a predicate is broken, if it is, before its presence is looked at
        for kind in _ORDER:
            for at in range(first if own else 0, last if own else count):
                if not own and first <= at < last:
                    continue
                if not use.is_first[at] and not is_equal(kind):
                    continue
                segment = _segment(store, pivot, kind, use, at)
                if segment >= 0:
                    hits += _clear(store, segment, kind, use, at)
        if not hits:
            return
    bits = store.stretches[line + BITS]
    use.counts[2] += bits[COUNT]
    for slot in range(bits[COUNT]):
        at = bits[START] + slot
        end = np.int64(store.bits[at + 1, WORD]) if slot + 1 < bits[COUNT] else words[COUNT]
        place = np.int64(store.bits[at, WORD])
        while place < end and not use.words[place]:
            place += 1
        if place == end and store.bits[at, ROW] >= 0:
            use.out[use.counts[0]] = store.bits[at, ROW]
            use.counts[0] += 1
            use.counts[1] += 1


@kernel
def match_event(places: Ints, scratch: Ints, readings: Ints, event: int) -> int:
    """Writes the rows that an event matches to the scratch's `out`; how many.

    A row with bits is there once for each of its pivots that has it."""
    store, use = opened(places), opened_scratch(scratch)
    count = _read(places, readings, event, use)
    use.counts[0] = use.counts[1] = use.counts[2] = 0
    first = 0
    while first < count:
        last = first + 1
        while last < count and use.dimension[last] == use.dimension[first]:
            last += 1
        pivot = use.dimension[first]
        if store.stretches[STRETCHES * pivot + COUNTERS, COUNT]:
            _counted(store, pivot, first, last, count, use)
        if store.stretches[STRETCHES * pivot + BITS, COUNT]:
            _cleared(store, pivot, first, last, count, use)
        first = last
    return use.counts[0]
