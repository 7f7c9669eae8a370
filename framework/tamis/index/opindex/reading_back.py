"""Reads the rows of a store back as entries, without those that are gone. Cost: O(entries)."""

from __future__ import annotations

import numpy as np

from tamis.index.opindex.entries import BREAKS, CLEARING, KINDS, NO_GROUP, Entries
from tamis.index.opindex.store import (
    ALWAYS,
    BITS,
    COUNT,
    COUNTERS,
    DEAD,
    GROUP,
    ROW,
    START,
    STRETCHES,
    WORD,
    WORDS,
    OpIndexStore,
)
from tamis.numeric.types import Ints


def read_back(store: OpIndexStore) -> Entries:
    """Returns all rows that are there, in ascending order."""
    pivot_of, kind_of, place = _places(store)
    counted = kind_of < CLEARING
    row = np.full(len(place), -1, np.int64)
    clause, group = np.zeros(len(place), np.int32), np.full(len(place), NO_GROUP, np.int32)
    at = store.at[place].astype(np.int64)
    starts = store.stretches[:, START].reshape(-1, STRETCHES)[pivot_of]
    counters = (starts[:, COUNTERS] + at)[counted]
    row[counted] = np.where(store.needed[counters] == DEAD, -1, store.counted[counters])
    others = ~counted
    slot_of = _slots_of_words(store)
    slots = slot_of[(starts[:, WORDS] + (at >> 6))[others]]
    row[others] = store.bits[slots, ROW]
    # a row with bits is read where it hangs last
    last = -1 - store.slot[row[others]] == slots - starts[others, BITS]
    last &= store.pivot[row[others]] == pivot_of[others]
    row[others] = np.where(last, row[others], -1)
    clause[others] = at[others] - 64 * store.bits[slots, WORD].astype(np.int64)
    grouped = kind_of[others] >= BREAKS
    group[np.flatnonzero(others)[grouped]] = (
        store.bounds[place[others], 1] - store.bits[slots, GROUP]
    )[grouped]
    kept = np.flatnonzero(row >= 0)
    kept = kept[np.argsort(row[kept], kind="stable")]
    return _entries(store, row[kept], kind_of[kept], place[kept], clause[kept], group[kept])


def _places(store: OpIndexStore) -> tuple[Ints, Ints, Ints]:
    """Finds of each entry its pivot, its kind and where it is."""
    lines = np.flatnonzero(store.lists[:, 0] >= 0)
    counts = store.lists[lines, 1].astype(np.int64) + 1
    line = np.repeat(lines, counts)
    within = np.arange(len(line)) - np.repeat(np.cumsum(counts) - counts, counts)
    segment = store.lists[line, 0] + within
    sizes = store.segments[segment, COUNT]
    line, start = np.repeat(line, sizes), np.repeat(store.segments[segment, START], sizes)
    place = start + np.arange(len(line)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return line // KINDS, line % KINDS, place


def _slots_of_words(store: OpIndexStore) -> Ints:
    """Finds of each word in use the slot that it belongs to."""
    stretches = store.stretches.reshape(-1, STRETCHES, store.stretches.shape[1])
    slot_of = np.zeros(len(store.words), np.int64)
    for pivot in np.flatnonzero(stretches[:, BITS, COUNT]).tolist():
        begin, count = stretches[pivot, BITS, START], stretches[pivot, BITS, COUNT]
        words, size = stretches[pivot, WORDS, START], stretches[pivot, WORDS, COUNT]
        first = store.bits[begin : begin + count, WORD]
        slots = np.searchsorted(first, np.arange(size), side="right") - 1
        slot_of[words : words + size] = begin + slots
    return slot_of


def _entries(
    store: OpIndexStore, row: Ints, kind: Ints, place: Ints, clause: Ints, group: Ints
) -> Entries:
    """Returns entries, sorted by row, as rows; and rows without any."""
    rows = np.flatnonzero((store.pivot >= 0) | (store.pivot == ALWAYS))
    counts = np.bincount(row, minlength=len(store.pivot))[rows]
    counted = store.slot[rows] >= 0
    hanging = store.pivot[rows] >= 0
    counted |= ~hanging
    clauses, groups = np.zeros(len(rows), np.int32), np.zeros(len(rows), np.int32)
    stretches = store.stretches[:, START].reshape(-1, STRETCHES)
    at = np.flatnonzero(hanging & counted)
    clauses[at] = store.needed[stretches[store.pivot[rows[at]], COUNTERS] + store.slot[rows[at]]]
    number = np.searchsorted(rows, row)
    np.maximum.at(clauses, number, np.where(counted[number], 0, clause + 1))
    np.maximum.at(groups, number, group + 1)
    kinds = kind.astype(np.uint8)
    key, other = store.bounds[place].T.copy()
    grouped = kind >= BREAKS
    other[grouped] = key[grouped]
    return Entries(
        rows,
        np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
        clauses,
        groups,
        counted,
        kinds,
        store.dimension[place],
        key,
        other,
        clause,
        group,
    )
