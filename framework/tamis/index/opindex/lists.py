"""Puts rows under their pivots, and their predicates into the lists of their operators.

The pivot of a row is the dimension that fewest events have (paper, section 4.1); a row with bits
hangs under each dimension of the clause with fewest predicates (section 6.1), ties broken by how
many events have these. Entries are appended to their segment, which is sorted again when too many
came; its signature gets their bits (section 4.2).
Invariant: an entry is in the segment of its dimension; a signature has the bit of each entry.
Cost: O(1) amortized an entry, and O(log n) to sort it in.
"""

from __future__ import annotations

import numpy as np

from tamis.index.opindex.entries import (
    BREAKS,
    CLEARING,
    EQUAL,
    KINDS,
    PART,
    Entries,
)
from tamis.index.opindex.store import (
    ALWAYS,
    BIT_FIELDS,
    BIT_TOP,
    BITS,
    CAPACITY,
    COUNT,
    COUNTER_TOP,
    COUNTERS,
    DEAD,
    ENTRY_TOP,
    GONE,
    GROUP,
    GROUP_TOP,
    GROUPS,
    MOST,
    NEXT_PIVOT,
    NEXT_SLOT,
    PLAIN,
    ROW,
    SEGMENT_TOP,
    SIGNATURE,
    SORTED,
    START,
    STRETCHES,
    WORD,
    WORD_TOP,
    WORDS,
    OpIndexStore,
    opened,
)
from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Floats, Ints

_FEW, _PART = 16, 16
"""A segment is sorted again when more than so many came, and more than such a part of it."""
_ODD = np.uint64(0x9E37_79B9_7F4A_7C15)


@inlined
def is_equal(kind: int) -> bool:
    """Returns whether the entries of a list are satisfied by one value each."""
    return kind in (EQUAL, BREAKS, PART) or kind == CLEARING + EQUAL


@inlined
def signature_bit(kind: int, dimension: int, key: float) -> int:
    """Returns the bit of an entry, or of what is looked for, in a signature."""
    mixed = np.uint64(dimension + 1) * _ODD
    if is_equal(kind):
        mixed = (mixed ^ np.uint64(_bits_of(key))) * _ODD
    return np.int64(1) << np.int64(mixed >> np.uint64(58))


@inlined
def _bits_of(value: float) -> int:
    """Returns the bits of a double, of both zeros the same."""
    return np.float64(value + 0.0).view(np.int64)


@inlined
def code_of(value: float) -> int:
    """Returns 32 bits in the order of doubles; doubles that are near have the same."""
    bits = _bits_of(value)
    return (bits ^ ((bits >> 63) & 0x7FFF_FFFF_FFFF_FFFF)) >> 32


@inlined
def is_plain(value: float) -> bool:
    """Returns whether the code of a double is all there is to say of it."""
    return _bits_of(value) & 0xFFFF_FFFF == 0


@inlined
def _pivots(store: OpIndexStore, entries: Entries, row: int, use: Ints, sums: Floats) -> int:
    """Writes the pivots of a row to the front of `use`; how many there are."""
    first, last = entries.start[row], entries.start[row + 1]
    if entries.counted[row]:
        best = np.int64(entries.dimension[first])
        for at in range(first, last):
            if store.delta[entries.dimension[at]] < store.delta[best]:
                best = np.int64(entries.dimension[at])
        use[0] = best
        return 1
    clauses = np.int64(entries.clauses[row])
    for clause in range(clauses):
        use[clause], sums[clause] = 0, 0.0
    for at in range(first, last):
        if entries.kind[at] != BREAKS:
            use[entries.clause[at]] += 1
            sums[entries.clause[at]] += store.delta[entries.dimension[at]]
    chosen = 0
    for clause in range(1, clauses):
        if use[clause] < use[chosen] or (
            use[clause] == use[chosen] and sums[clause] < sums[chosen]
        ):
            chosen = clause
    count = 0
    for at in range(first, last):
        if entries.clause[at] == chosen:
            known = 0
            while known < count and use[known] != entries.dimension[at]:
                known += 1
            use[known] = entries.dimension[at]
            count = max(count, known + 1)
    return count


@inlined
def _workspace(entries: Entries) -> tuple[Ints, Floats]:
    longest = 0
    for row in range(len(entries.rows)):
        longest = max(longest, entries.start[row + 1] - entries.start[row])
    return np.zeros(longest, np.int64), np.zeros(longest)


@inlined
def _words(entries: Entries, row: int) -> int:
    return (np.int64(entries.clauses[row]) + 63) >> 6


@kernel
def measure(places: Ints, entries: Entries, lists: Ints, stretches: Ints, segments: Ints) -> None:
    """Counts what rows take: entries by list or, where lists have segments, by segment; and what
    each pivot has of the rest."""
    store, by_segment = opened(places), len(segments) > 0
    use, sums = _workspace(entries)
    for row in range(len(entries.rows)):
        if not entries.clauses[row]:
            continue
        for place in range(_pivots(store, entries, row, use, sums)):
            pivot = use[place]
            if entries.counted[row]:
                stretches[STRETCHES * pivot + COUNTERS] += 1
            else:
                stretches[STRETCHES * pivot + BITS] += 1
                stretches[STRETCHES * pivot + WORDS] += _words(entries, row)
                stretches[STRETCHES * pivot + GROUPS] += entries.groups[row]
            for at in range(entries.start[row], entries.start[row + 1]):
                line = KINDS * pivot + entries.kind[at]
                if by_segment:
                    segments[
                        store.lists[line, 0] + (entries.dimension[at] & store.lists[line, 1])
                    ] += 1
                else:
                    lists[line] += 1


@inlined
def _room(table: Ints, line: int, more: int, tops: Ints, top: int, length: int) -> int:
    """Makes room in a stretch: where it began if it moves, -1 if it stays, -2 without room."""
    if table[line, COUNT] + more <= table[line, CAPACITY]:
        return -1
    capacity = table[line, COUNT] + more + table[line, COUNT] // 2 + (table[line, COUNT] > 0) * 4
    if tops[top] + capacity > length:
        return -2
    before = table[line, START]
    table[line, START], table[line, CAPACITY] = tops[top], capacity
    tops[top] += capacity
    return before


@kernel
def _settle(places: Ints, segment: int) -> None:
    """Sorts what was appended to a segment in between the rest."""
    store = opened(places)
    begin, count = store.segments[segment, START], store.segments[segment, COUNT]
    done = store.segments[segment, SORTED]
    store.segments[segment, SORTED] = count
    dimension, at = (
        store.dimension[begin : begin + count].copy(),
        store.at[begin : begin + count].copy(),
    )
    bounds = store.bounds[begin : begin + count].copy()
    order = np.argsort(bounds[done:, 0], kind="mergesort")
    order = done + order[np.argsort(dimension[done:][order], kind="mergesort")]
    old, new = 0, 0
    for place in range(begin, begin + count):
        take = new < len(order)
        if take and old < done:
            fresh = order[new]
            take = dimension[fresh] < dimension[old] or (
                dimension[fresh] == dimension[old] and bounds[fresh, 0] < bounds[old, 0]
            )
        if take:
            source = order[new]
            new += 1
        else:
            source = old
            old += 1
        store.dimension[place], store.at[place] = dimension[source], at[source]
        store.bounds[place, 0], store.bounds[place, 1] = bounds[source, 0], bounds[source, 1]
        store.code[place] = code_of(bounds[source, 0])
        store.other_code[place] = code_of(bounds[source, 1])


@kernel
def append(places: Ints, entries: Entries, first: int, sorting: bool) -> int:
    """Puts rows in, from the first one on; the row for which room is lacking.

    What that row has already is dead: it is put in from the beginning when there is room."""
    store = opened(places)
    use, sums = _workspace(entries)
    for row in range(first, len(entries.rows)):
        number = entries.rows[row]
        if not entries.clauses[row]:
            store.pivot[number] = ALWAYS
            continue
        count = _pivots(store, entries, row, use, sums)
        store.pivot[number] = GONE
        for place in range(count):
            pivot = use[place]
            if entries.counted[row]:
                slot = _counter(store, pivot, np.int64(entries.clauses[row]), number)
            else:
                slot = _bits(store, entries, row, pivot, number)
            done = slot >= 0
            if done:
                if not entries.counted[row]:
                    before = store.stretches[STRETCHES * pivot + BITS, START] + slot
                    store.bits[before, NEXT_PIVOT] = store.pivot[number]
                    store.bits[before, NEXT_SLOT] = -1 - store.slot[number]
                store.pivot[number] = pivot
                store.slot[number] = slot if entries.counted[row] else -1 - slot
                done = _put_all(places, store, entries, row, pivot, slot, sorting)
            if not done:
                forget(store, number)
                return row
    return len(entries.rows)


@inlined
def forget(store: OpIndexStore, number: int) -> None:
    """Takes a row out: its counter or bits say that it is gone."""
    pivot, slot = np.int64(store.pivot[number]), np.int64(store.slot[number])
    store.pivot[number] = GONE
    if pivot >= 0 and slot >= 0:
        store.needed[store.stretches[STRETCHES * pivot + COUNTERS, START] + slot] = DEAD
        return
    slot = -1 - slot
    while pivot >= 0:
        at = store.stretches[STRETCHES * pivot + BITS, START] + slot
        store.bits[at, ROW] = -1
        pivot, slot = np.int64(store.bits[at, NEXT_PIVOT]), np.int64(store.bits[at, NEXT_SLOT])


@kernel
def remove(places: Ints, rows: Ints) -> None:
    """Takes rows out."""
    store = opened(places)
    for number in rows:
        forget(store, number)


@inlined
def _counter(store: OpIndexStore, pivot: int, needed: int, number: int) -> int:
    """Returns a counter for a row; -1 without room."""
    line = STRETCHES * pivot + COUNTERS
    before = _room(store.stretches, line, 1, store.tops, COUNTER_TOP, len(store.needed))
    if before == -2:
        return -1
    begin, slot = store.stretches[line, START], store.stretches[line, COUNT]
    if before >= 0:
        for place in range(slot):
            store.needed[begin + place] = store.needed[before + place]
            store.counted[begin + place] = store.counted[before + place]
    store.needed[begin + slot], store.counted[begin + slot] = needed, number
    store.stretches[line, COUNT] += 1
    store.tops[MOST + COUNTERS] = max(store.tops[MOST + COUNTERS], slot + 1)
    return slot


@inlined
def _bits(store: OpIndexStore, entries: Entries, row: int, pivot: int, number: int) -> int:
    """Bits for a row; -1 without room."""
    line, words, groups = STRETCHES * pivot, _words(entries, row), np.int64(entries.groups[row])
    before = _room(store.stretches, line + BITS, 1, store.tops, BIT_TOP, len(store.bits))
    if before == -2:
        return -1
    begin, slot = store.stretches[line + BITS, START], store.stretches[line + BITS, COUNT]
    if before >= 0:
        for place in range(slot):
            for field in range(BIT_FIELDS):
                store.bits[begin + place, field] = store.bits[before + place, field]
    before = _room(store.stretches, line + WORDS, words, store.tops, WORD_TOP, len(store.words))
    if before == -2:
        return -1
    word, at = store.stretches[line + WORDS, COUNT], store.stretches[line + WORDS, START]
    if before >= 0:
        for place in range(word):
            store.words[at + place] = store.words[before + place]
    before = _room(store.stretches, line + GROUPS, groups, store.tops, GROUP_TOP, len(store.groups))
    if before == -2:
        return -1
    group, to = store.stretches[line + GROUPS, COUNT], store.stretches[line + GROUPS, START]
    if before >= 0:
        for place in range(group):
            store.groups[to + place] = store.groups[before + place]
    for place in range(words):
        left = np.int64(entries.clauses[row]) - 64 * place
        store.words[at + word + place] = (
            ~np.uint64(0) if left >= 64 else (np.uint64(1) << np.uint64(left)) - np.uint64(1)
        )
    for place in range(groups):
        store.groups[to + group + place] = 0
    for entry in range(entries.start[row], entries.start[row + 1]):
        if entries.kind[entry] == PART:
            store.groups[to + group + entries.group[entry]] += 1
    store.bits[begin + slot, ROW] = number
    store.bits[begin + slot, WORD], store.bits[begin + slot, GROUP] = word, group
    store.bits[begin + slot, NEXT_PIVOT] = GONE
    store.stretches[line + BITS, COUNT] += 1
    store.stretches[line + WORDS, COUNT] += words
    store.stretches[line + GROUPS, COUNT] += groups
    for which in range(BITS, STRETCHES):
        most = store.stretches[line + which, COUNT]
        store.tops[MOST + which] = max(store.tops[MOST + which], most)
    return slot


@inlined
def _put_all(
    places: Ints,
    store: OpIndexStore,
    entries: Entries,
    row: int,
    pivot: int,
    slot: int,
    sorting: bool,
) -> bool:
    """Puts the entries of a row into the lists of a pivot; whether there was room."""
    bit, group = 0, 0
    if not entries.counted[row]:
        at = store.stretches[STRETCHES * pivot + BITS, START] + slot
        bit, group = 64 * np.int64(store.bits[at, WORD]), np.int64(store.bits[at, GROUP])
    for entry in range(entries.start[row], entries.start[row + 1]):
        kind = np.int64(entries.kind[entry])
        segment = _segment(store, pivot, kind, np.int64(entries.dimension[entry]))
        if segment < 0 or not _has_room(store, segment):
            return False
        at = store.segments[segment, START] + store.segments[segment, COUNT]
        store.dimension[at] = entries.dimension[entry]
        store.bounds[at, 0], store.bounds[at, 1] = entries.key[entry], entries.other[entry]
        if kind < CLEARING:
            store.at[at] = slot
        else:
            store.at[at] = bit + entries.clause[entry]
            if kind >= BREAKS:
                store.bounds[at, 1] = group + entries.group[entry]
        store.code[at] = code_of(store.bounds[at, 0])
        store.other_code[at] = code_of(store.bounds[at, 1])
        if not is_plain(store.bounds[at, 0]) or not is_plain(store.bounds[at, 1]):
            store.segments[segment, PLAIN] = -1
        elif not store.segments[segment, COUNT]:
            store.segments[segment, PLAIN] = entries.dimension[entry]
        elif store.segments[segment, PLAIN] != entries.dimension[entry]:
            store.segments[segment, PLAIN] = -1
        store.segments[segment, COUNT] += 1
        store.segments[segment, SIGNATURE] |= signature_bit(
            kind, np.int64(entries.dimension[entry]), entries.key[entry]
        )
        waiting = store.segments[segment, COUNT] - store.segments[segment, SORTED]
        if sorting and waiting > _FEW + store.segments[segment, SORTED] // _PART:
            _settle(places, segment)
    return True


@inlined
def _segment(store: OpIndexStore, pivot: int, kind: int, dimension: int) -> int:
    """Returns the segment where an entry belongs, -1 where there is no room for a new list."""
    line = KINDS * pivot + kind
    if store.lists[line, 0] < 0:
        segment = store.tops[SEGMENT_TOP]
        if segment == len(store.segments):
            return -1
        store.tops[SEGMENT_TOP] += 1
        store.lists[line, 0], store.lists[line, 1] = segment, 0
    return np.int64(store.lists[line, 0]) + (dimension & np.int64(store.lists[line, 1]))


@inlined
def _has_room(store: OpIndexStore, segment: int) -> bool:
    """Makes room for an entry, if there is any."""
    before = _room(store.segments, segment, 1, store.tops, ENTRY_TOP, len(store.at))
    if before == -2:
        return False
    if before >= 0:
        begin = store.segments[segment, START]
        for place in range(store.segments[segment, COUNT]):
            store.dimension[begin + place] = store.dimension[before + place]
            store.bounds[begin + place, 0] = store.bounds[before + place, 0]
            store.bounds[begin + place, 1] = store.bounds[before + place, 1]
            store.code[begin + place] = store.code[before + place]
            store.other_code[begin + place] = store.other_code[before + place]
            store.at[begin + place] = store.at[before + place]
    return True


@kernel
def settle_all(places: Ints) -> None:
    """Sorts all segments."""
    store = opened(places)
    for segment in range(store.tops[SEGMENT_TOP]):
        if store.segments[segment, SORTED] < store.segments[segment, COUNT]:
            _settle(places, segment)
