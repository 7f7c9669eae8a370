"""What PSTBloom as printed keeps of rows: records, lists and signatures, in arrays.

A leaf has a list of rows and a signature, a Bloom filter of rows: stretches of two arenas. A
dimension has three trees. The *fine* one is the paper's; rows of terms that cover few of its leaves
hang there. Those of others hang on a tree that stays as it is until everything is laid out anew:
the *middle* one of a dimension with many boundaries, if they cover few leaves there, else the
*coarse* one, which has only a few leaves.
A record is how many terms a row has and which of them gives access, three words a term, and the
members of its sets. The first word of a term is its dimension, its operator and its way; the
others are its bounds, or where its members begin in the record and how many there are.
Invariant: a term's way says on which tree its row hangs, and whether its bounds cut the fine one.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.errors import IndexFolderError
from tamis.index.ps_tree_arrays import INFINITY, Arrays, Floats, Ints, SmallInts, key_of
from tamis.index.terms import ANY, IN, NONE, NOT_IN, OUTSIDE, RANGE
from tamis.numeric.kernels import inlined

Words = NDArray[np.uint64]

LIST, COUNT, ROOM, SIGNATURE, WORDS, SIGNED = range(6)
"""Of a leaf: where its list is, how many rows it has and how many have room; where its signature
is, how many words it has, and for how many rows."""
LEAF_FIELDS = 6

TOP_LISTS, TOP_WORDS, TOP_RECORDS, LIVE, BITS, STALE, DEAD = range(7)
LAID_OUT, LAID_OUT_ROWS, TOPS = 7, 8, 9
"""Where arenas end; how many rows there are; how many bits were set for rows, and how many of
these are gone; how many words of records are; sizes when everything was laid out last."""

GONE, NEVER, ALWAYS = -1, -2, -3
"""Instead of the place of a record: no row, a row that nothing satisfies, one that all do."""

COARSE, MIDDLE, FINE = range(3)
"""On which tree a row hangs."""
CUT = 4
"""Beside it in a way: the bounds are boundaries of the fine tree."""
TERM = 3
_TREE = 3
_OP_SHIFT, _DIMENSION_SHIFT, _COUNT_SHIFT = 3, 6, 32


class Store(NamedTuple):
    """The arrays; `values` is `records` read as doubles."""

    fine: Arrays
    fixed: Arrays
    """The coarse and the middle tree of each dimension, in turn."""
    fine_leaves: SmallInts
    fixed_leaves: SmallInts
    lists: SmallInts
    words: Words
    places: Ints
    """Of each row its record."""
    records: Ints
    values: Floats
    tops: Ints


@inlined
def header(terms: int, access: int) -> int:
    """The first word of a record."""
    return (terms << _COUNT_SHIFT) | access


@inlined
def terms_of(store: Store, record: int) -> tuple[int, int]:
    """How many terms a record has, and which one gives access."""
    word = store.records[record]
    return word >> _COUNT_SHIFT, word & 0xFFFFFFFF


@inlined
def term_at(record: int, number: int) -> int:
    """Where a term of a record is."""
    return record + 1 + TERM * number


@inlined
def described(dimension: int, op: int, way: int) -> int:
    """The first word of a term."""
    return (dimension << _DIMENSION_SHIFT) | (op << _OP_SHIFT) | way


@inlined
def dimension_of(store: Store, term: int) -> int:
    """The dimension of a term."""
    return store.records[term] >> _DIMENSION_SHIFT


@inlined
def op_of(store: Store, term: int) -> int:
    """The operator of a term."""
    return (store.records[term] >> _OP_SHIFT) & 7


@inlined
def tree_of(store: Store, term: int) -> int:
    """On which tree the row of a term hangs."""
    return store.records[term] & _TREE


@inlined
def is_cutting(store: Store, term: int) -> bool:
    """Whether the bounds of a term are boundaries of the fine tree."""
    return bool(store.records[term] & CUT)


@inlined
def ranges(store: Store, term: int) -> int:
    """How many ranges a term consists of; some may be empty."""
    op = op_of(store, term)
    if op == RANGE or op >= NONE:
        return 1
    if op == OUTSIDE:
        return 2
    return store.records[term + 2] + (op == NOT_IN)


@inlined
def range_of(store: Store, record: int, term: int, number: int) -> tuple[int, int]:
    """The first key of a range of a term, and the one behind its last; in ascending order.

    What is said of no single member of a bag is a range over everything."""
    op = op_of(store, term)
    if op == RANGE:
        return key_of(store.values[term + 1]), key_of(store.values[term + 2]) + 1
    if op == OUTSIDE:
        if number == 0:
            return -INFINITY, key_of(store.values[term + 1])
        return key_of(store.values[term + 2]) + 1, INFINITY + 1
    if op in (IN, ANY):
        key = key_of(store.values[record + store.records[term + 1] + number])
        return key, key + 1
    if op == NOT_IN:
        members, count = record + store.records[term + 1], store.records[term + 2]
        begin = key_of(store.values[members + number - 1]) + 1 if number > 0 else -INFINITY
        end = key_of(store.values[members + number]) if number < count else INFINITY + 1
        return begin, end
    return -INFINITY, INFINITY + 1


_CHECKSUMS = "checksums.json"


def save_arrays(folder: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes a file an array, and what to know them by."""
    known = {}
    for name, array in arrays.items():
        written = np.ascontiguousarray(array)
        np.save(folder / f"{name}.npy", written)
        known[name] = [str(written.dtype), list(written.shape), _checksum(written)]
    (folder / _CHECKSUMS).write_text(json.dumps(known), encoding="utf-8")


def load_arrays(folder: Path) -> dict[str, NDArray[Any]]:
    """The arrays that were written, mapped; a change stays in memory."""
    known = json.loads((folder / _CHECKSUMS).read_text(encoding="utf-8"))
    arrays = {}
    for name, written in known.items():
        path = folder / f"{name}.npy"
        try:
            array = np.asarray(np.load(path, mmap_mode="c"))
        except ValueError:  # an empty file cannot be mapped
            array = np.load(path)
        if [str(array.dtype), list(array.shape), _checksum(array)] != written:
            raise IndexFolderError(f"{path} is damaged: build the index again")
        arrays[name] = array
    return arrays


def _checksum(array: NDArray[Any]) -> int:
    return zlib.crc32(array.data.cast("B") if array.size else b"")
