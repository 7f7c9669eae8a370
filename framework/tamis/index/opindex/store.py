"""Holds predicate lists, counters and bitmaps in plain arrays, which kernels share.

A row hangs under its *pivot*, a dimension that it needs (a row with bits under each dimension of
one clause), and has a *slot* there: a counter, or bits. The predicates of the rows under a pivot
are in a list for each operator. A list is divided into *segments* by dimension; a segment is a
stretch of entries, sorted by dimension and key but for a few at its end, with 64 bits that tell
what is not in it. Segments, and what a pivot has of slots and bits, are stretches with room to
grow; one that is full moves to the end of its arena. What a row that is gone left behind stays
until everything is laid out anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamis.index.opindex.entries import KINDS
from tamis.numeric.types import Bytes, Floats, Ints, SmallInts, Words
from tamis.numeric.views import opener

# columns of a stretch
START, COUNT, CAPACITY, SORTED, SIGNATURE, PLAIN, SEGMENT_FIELDS = range(7)
"""The dimension of a segment where it is plain, else -1."""
STRETCH_FIELDS = 3
# the stretches of a pivot: counters, slots with bits, words of bits, predicates broken or whole
COUNTERS, BITS, WORDS, GROUPS, STRETCHES = range(5)
# columns of slots with bits
ROW, WORD, GROUP, NEXT_PIVOT, NEXT_SLOT, BIT_FIELDS = range(6)
# places of `tops`: how much of each arena is in use
ENTRY_TOP, SEGMENT_TOP, COUNTER_TOP, BIT_TOP, WORD_TOP, GROUP_TOP = range(6)
# and how much of the last four a pivot has at most
MOST, TOPS = 6, 10

GONE, ALWAYS = -1, -2
"""Pivots of rows that are not there, and of rows without a clause."""
DEAD = 255
"""The counter of a row that is gone."""


class OpIndexStore(NamedTuple):
    """The arrays; what is in use of arenas is in `tops`."""

    lists: SmallInts
    """By pivot and kind: the first segment (-1: there is none), and how many there are less one."""
    segments: Ints
    """Columns of stretches by segment."""
    dimension: SmallInts
    bounds: Floats
    at: SmallInts
    """Of an entry: its dimension, its key and the other bound, and what it changes."""
    code: SmallInts
    other_code: SmallInts
    """The upper halves of its bounds. A *plain* segment has entries of one dimension whose lower
    halves are nothing, as those of small integers are: its bounds need not be read."""
    stretches: Ints
    """By pivot, the stretches above."""
    needed: Bytes
    counted: SmallInts
    """Of a counter: how many predicates its row has, and the row."""
    bits: SmallInts
    """Columns of slots with bits."""
    words: Words
    """A bit for each clause that has to be satisfied."""
    groups: SmallInts
    """The number of parts of a whole predicate, else 0."""
    pivot: SmallInts
    slot: SmallInts
    """By row: where it hangs; a slot with bits as `-1 - slot`, that of one of its pivots."""
    delta: Floats
    """The number of events, or rows, with each dimension."""
    tops: Ints


def empty_store(dimensions: int, rows: int) -> OpIndexStore:
    """Returns a store without rows, with room for so many dimensions and row numbers."""
    lists = np.zeros((dimensions * KINDS, 2), np.int32)
    lists[:, 0] = -1
    return OpIndexStore(
        lists,
        np.zeros((0, SEGMENT_FIELDS), np.int64),
        np.zeros(0, np.int32),
        np.zeros((0, 2)),
        *(np.zeros(0, np.int32) for _ in range(3)),
        np.zeros((dimensions * STRETCHES, STRETCH_FIELDS), np.int64),
        np.zeros(0, np.uint8),
        np.zeros(0, np.int32),
        np.zeros((0, BIT_FIELDS), np.int32),
        np.zeros(0, np.uint64),
        np.zeros(0, np.int32),
        np.full(rows, GONE, np.int32),
        np.zeros(rows, np.int32),
        np.zeros(dimensions),
        np.zeros(TOPS, np.int64),
    )


opened = opener(empty_store(0, 0))
"""Opens a store in kernels, from the places of its arrays (`places_of`)."""

ARENAS = {
    "segments": SEGMENT_TOP,
    "dimension": ENTRY_TOP,
    "bounds": ENTRY_TOP,
    "at": ENTRY_TOP,
    "code": ENTRY_TOP,
    "other_code": ENTRY_TOP,
    "needed": COUNTER_TOP,
    "counted": COUNTER_TOP,
    "bits": BIT_TOP,
    "words": WORD_TOP,
    "groups": GROUP_TOP,
}


def with_room(store: OpIndexStore, sizes: dict[str, int]) -> OpIndexStore:
    """Returns the store with arrays of at least these lengths."""
    return store._replace(
        **{
            name: _grown(name, getattr(store, name), size)
            for name, size in sizes.items()
            if size > len(getattr(store, name))
        }
    )


def _grown(name: str, array: Any, size: int) -> Any:
    grown = np.zeros((size, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    if name == "pivot":
        grown[len(array) :] = GONE
    if name == "lists":
        grown[len(array) :, 0] = -1
    return grown


def nbytes(store: OpIndexStore) -> int:
    """Returns the memory of all arrays."""
    return sum(array.nbytes for array in store)
