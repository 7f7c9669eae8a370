"""What a leaf carries: a list of rows, and the signature of those that are elsewhere in lists.

A signature is a Bloom filter of rows in words: a row has two bits, of one word. It is made as long
as it needs to be when everything is laid out; if it grows later, rows that were in a word are in
both words that come of it.
Invariant: a row that was signed for is never denied. Nothing allocates: who calls these made room.
Cost: O(1) amortized, but for copies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.index.printed_bloom_store import (
    COUNT,
    LIST,
    ROOM,
    SIGNATURE,
    SIGNED,
    TOP_LISTS,
    TOP_WORDS,
    WORDS,
    Store,
    op_of,
)
from tamis.index.ps_tree_arrays import SmallInts
from tamis.index.terms import ANY
from tamis.numeric.kernels import inlined

PER_WORD = 8
"""How many rows of a signature share one of its words."""


@inlined
def is_signed(store: Store, term: int) -> bool:
    """Whether a row is in the signatures of a term's leaves: where an event is on one of them."""
    return op_of(store, term) < ANY


@inlined
def _hash(row: int) -> Any:
    mixed = np.uint64(row) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@inlined
def _bits(mixed: Any) -> Any:
    """Two bits of a word, at times one."""
    one, low = np.uint64(1), np.uint64(63)
    return (one << (mixed & low)) | (one << ((mixed >> np.uint64(6)) & low))


@inlined
def _word(mixed: Any, words: int) -> int:
    return np.int64((mixed >> np.uint64(12)) & np.uint64(words - 1))


@inlined
def push(store: Store, leaves: SmallInts, leaf: int, row: int) -> None:
    """Puts a row into the list of a leaf."""
    count, at = leaves[leaf, COUNT], leaves[leaf, LIST]
    if count == leaves[leaf, ROOM]:
        to, room = store.tops[TOP_LISTS], count + count // 2 + 4
        store.tops[TOP_LISTS] += room
        for each in range(count):
            store.lists[to + each] = store.lists[at + each]
        leaves[leaf, LIST], leaves[leaf, ROOM] = to, room
        at = to
    store.lists[at + count] = row
    leaves[leaf, COUNT] = count + 1


@inlined
def sign(store: Store, leaves: SmallInts, leaf: int, row: int) -> None:
    """Puts a row into the signature of a leaf."""
    words, at = np.int64(leaves[leaf, WORDS]), np.int64(leaves[leaf, SIGNATURE])
    if leaves[leaf, SIGNED] >= PER_WORD * words:
        to, more = store.tops[TOP_WORDS], max(1, 2 * words)
        store.tops[TOP_WORDS] += more
        for each in range(more):
            # a row that was in a word is in both that it may be in now
            store.words[to + each] = store.words[at + each % words] if words else np.uint64(0)
        leaves[leaf, SIGNATURE], leaves[leaf, WORDS] = to, more
        at, words = to, more
    mixed = _hash(row)
    store.words[at + _word(mixed, words)] |= _bits(mixed)
    leaves[leaf, SIGNED] += 1


@inlined
def may_have(store: Store, leaves: SmallInts, leaf: int, row: int) -> bool:
    """Whether a row may be in the signature of a leaf."""
    words = np.int64(leaves[leaf, WORDS])
    if words == 0:
        return False
    mixed = _hash(row)
    bits = _bits(mixed)
    return bool(store.words[leaves[leaf, SIGNATURE] + _word(mixed, words)] & bits == bits)


@inlined
def copy_leaf(store: Store, leaves: SmallInts, leaf: int, new: int) -> None:
    """Gives a leaf that was split from another what that has."""
    count, at, to = leaves[leaf, COUNT], leaves[leaf, LIST], store.tops[TOP_LISTS]
    store.tops[TOP_LISTS] += count + 2
    for each in range(count):
        store.lists[to + each] = store.lists[at + each]
    leaves[new, LIST], leaves[new, COUNT], leaves[new, ROOM] = to, count, count + 2
    words, at, to = leaves[leaf, WORDS], leaves[leaf, SIGNATURE], store.tops[TOP_WORDS]
    store.tops[TOP_WORDS] += words
    for each in range(words):
        store.words[to + each] = store.words[at + each]
    leaves[new, SIGNATURE], leaves[new, WORDS] = to, words
    leaves[new, SIGNED] = leaves[leaf, SIGNED]
