"""Rules out chunks of rows before they are tested, by signatures of what their rows need.

A row needs the dimensions of its lanes: an event that lacks one of them does not match. The event's
signature is a bit for each dimension that it has, one of 128.

- `OF_ROWS` (PSTBloom, paper 5): a row has 64 bits, one for each dimension that it needs; a chunk is
  tested when the event has all bits of one of its rows.
- `OF_BLOCKS`: a chunk has 128 bits, which have for each row one dimension that it needs, beside
  those of its node; it is tested when the event has one of them. Rows that are laid out are sorted
  by their rarest dimension, so that a chunk has few.

Signatures lie behind the rows of a segment, in words of 32 bits, chunk by chunk, and are written
with each entry; what a row that left needed stays with its chunk until rows are laid out anew.
Invariant: a signature lets every event pass that a row of it matches.
Cost: O(lanes) a row to sign it; O(1) a chunk to ask.
"""

from __future__ import annotations

import numpy as np

from tamis.index.buckets.batch import Batch, dimension_of, lanes_end
from tamis.index.buckets.hashing import access_dimensions
from tamis.index.buckets.store import CHUNK, OF_BLOCKS, OF_ROWS, SLOTS, WORDS, Store
from tamis.index.readings import Readings
from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Ints, SmallInts
from tamis.numeric.views import bare

_EVERY = SLOTS - 1
"""The bit that every event has, for rows that need nothing more."""


@inlined
def _words_at(store: Store, fields: Ints, entry: int) -> int:
    """Returns where the signatures of an entry's chunk begin."""
    behind = fields.rows_at + (1 + fields.recorded) * fields.capacity
    return behind + store.tops[0].signed * (entry // CHUNK)


@kernel
def sort_keys(store: Store, batch: Batch, row_of: Ints, node_of: Ints) -> Ints:
    """Ranks each replica's rarest dimension beside those of its node, by `SLOTS` ranks."""
    keys, ranks = np.zeros(len(row_of), np.int64), np.zeros(len(store.presence), np.int64)
    ranks[np.argsort(store.presence)] = np.arange(len(ranks)) * SLOTS // len(ranks)
    store, batch = bare(store), bare(batch)
    for replica in range(len(row_of)):
        keys[replica] = _rarest(store, batch, row_of[replica], node_of[replica], ranks)
    return keys


@inlined
def _rarest(store: Store, batch: Batch, row: int, node: int, ranks: Ints) -> int:
    inner, outer = access_dimensions(store, node)
    rarest = np.int64(SLOTS - 1)
    for term in range(batch.about[row].first, lanes_end(batch, row)):
        dimension = batch.terms.dimension[term]
        if dimension not in (inner, outer):
            rarest = min(rarest, ranks[dimension])
    return rarest


@inlined
def sign(store: Store, fields: Ints, entry: int, codes: Ints, access: tuple[int, int]) -> None:
    """Signs an entry that has lanes of these codes, in a node of these dimensions."""
    rows, words = store.rows, _words_at(store, fields, entry)
    if store.tops[0].signed == OF_ROWS:
        own = words + entry % CHUNK
        rows[own], rows[own + CHUNK] = 0, 0
        for code in codes:
            dimension = dimension_of(code)
            rows[own + CHUNK * (dimension >> 5 & 1)] |= 1 << (dimension & 31)
        return
    if entry % CHUNK == 0:
        rows[words : words + WORDS] = 0
    rarest = -1
    for code in codes:
        dimension = dimension_of(code)
        if dimension not in access:
            if rows[words + (dimension >> 5 & 3)] >> (dimension & 31) & 1:
                return
            if rarest < 0 or store.presence[dimension] < store.presence[rarest]:
                rarest = dimension
    needed = rarest if rarest >= 0 else _EVERY
    rows[words + (needed >> 5 & 3)] |= 1 << (needed & 31)


@inlined
def move_signature(store: Store, fields: Ints, source: int, entry: int) -> None:
    """Signs an entry that becomes what another one was."""
    words, to, rows = _words_at(store, fields, source), _words_at(store, fields, entry), store.rows
    if store.tops[0].signed == OF_BLOCKS:
        for word in range(WORDS):
            rows[to + word] |= rows[words + word]
    else:
        for half in range(0, OF_ROWS, CHUNK):
            rows[to + half + entry % CHUNK] = rows[words + half + source % CHUNK]


@inlined
def _is_ruled_out(store: Store, fields: Ints, first: int, event: SmallInts) -> bool:
    """Returns whether no row of the chunk from `first` on matches an event of this signature."""
    rows, words, met = store.rows, _words_at(store, fields, first), np.int32(0)
    if store.tops[0].signed == OF_BLOCKS:
        for word in range(WORDS):
            met |= rows[words + word] & event[word]
        return bool(met == 0)
    low, high = ~(event[0] | event[2]), ~(event[1] | event[3])
    lows, highs = rows[words : words + CHUNK], rows[words + CHUNK : words + 2 * CHUNK]
    for entry in range(CHUNK):
        met |= np.int32(((lows[entry] & low) | (highs[entry] & high)) == 0)
    return bool(met == 0)


@inlined
def next_run(store: Store, fields: Ints, first: int, end: int, event: SmallInts) -> tuple[int, int]:
    """Returns the next entries to test, from `first` to before `end`: whole chunks."""
    while first < end and _is_ruled_out(store, fields, first, event):
        first += CHUNK
    last = first + CHUNK
    while last < end and not _is_ruled_out(store, fields, last, event):
        last += CHUNK
    return min(first, end), min(last, end)


@inlined
def sign_event(readings: Readings, event: int, signature: SmallInts) -> None:
    """Notes the dimensions that an event has."""
    signature[:] = 0
    signature[_EVERY >> 5] = 1 << (_EVERY & 31)
    for line in range(readings.line_start[event], readings.line_start[event + 1]):
        dimension = np.int64(readings.line[line])
        if readings.value[line] == readings.value[line]:
            signature[dimension >> 5 & 3] |= 1 << (dimension & 31)
    for bag in range(readings.bag_start[event], readings.bag_start[event + 1]):
        dimension = np.int64(readings.bag[bag])
        signature[dimension >> 5 & 3] |= 1 << (dimension & 31)
