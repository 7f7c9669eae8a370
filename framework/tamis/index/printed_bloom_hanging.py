"""How rows are hung on leaves and taken off them (paper, Algorithm 4), and on leaves of which tree.

Invariant: the row of an access term is in the list of every leaf of its tree that the term covers,
the row of another term of a line in the signature of every such leaf; signatures may have bits of
rows that are gone. Kernels that lack room say where they stopped and what for, between two terms.
Cost: O(leaves) a term, of which there are few: many only on fine leaves, for each value of a set.
"""

from __future__ import annotations

import numpy as np

from tamis.index.printed_bloom_leaves import copy_leaf, is_signed, push, sign
from tamis.index.printed_bloom_records import choose_access, forget_record
from tamis.index.printed_bloom_store import (
    BITS,
    COARSE,
    COUNT,
    CUT,
    FINE,
    LIST,
    MIDDLE,
    SIGNED,
    STALE,
    TOP_LISTS,
    TOP_WORDS,
    WORDS,
    Store,
    described,
    dimension_of,
    is_cutting,
    op_of,
    range_of,
    ranges,
    term_at,
    terms_of,
    tree_of,
)
from tamis.index.ps_tree_arrays import SPACES, Arrays, Floats, Ints, SmallInts
from tamis.index.ps_tree_kernels import NOWHERE, drop, following, found, put, room_for
from tamis.index.terms import ANY, IN, NONE, NOT_IN, RANGE
from tamis.numeric.kernels import inlined, kernel

NARROW = 16
"""How many leaves a term may cover to hang there, and two more for each member of a set."""
MANY = 256
"""With more spaces, a dimension has a middle tree, and only single values cut the fine one."""
NEEDED_TERM, NEEDED_DIMENSION, NEEDED_RANGES, NEEDED_LISTS, NEEDED_WORDS, NEEDS = range(6)
"""Where a change stopped, and for what it lacks room."""


@inlined
def decide(store: Store, record: int, term: int) -> int:
    """The way of a term in trees as they are."""
    op, dimension = op_of(store, term), dimension_of(store, term)
    if op >= ANY:
        return FINE | CUT if op == ANY else COARSE
    middle = 2 * dimension + MIDDLE
    if store.fixed.dimensions[middle, SPACES] > 1:
        if op == IN or (op == RANGE and store.values[term + 1] == store.values[term + 2]):
            return FINE | CUT
        is_few = _covered(store, store.fixed, middle, record, term, NARROW) <= NARROW
        return MIDDLE if is_few else COARSE
    most = NARROW + (2 * store.records[term + 2] if op in (IN, NOT_IN) else 0)
    if _covered(store, store.fine, dimension, record, term, most) <= most:
        return FINE | CUT
    return COARSE | CUT if store.fine.dimensions[dimension, SPACES] <= MANY else COARSE


@inlined
def _covered(store: Store, trees: Arrays, dimension: int, record: int, term: int, most: int) -> int:
    """How many leaves of a tree a term covers, counted to one more than is of interest."""
    count = 0
    for number in range(ranges(store, term)):
        begin, end = range_of(store, record, term, number)
        if begin >= end:
            continue
        block, place = found(trees, dimension, begin)
        while place != NOWHERE and trees.keys[place] < end and count <= most:
            count += 1
            block, place = following(trees, dimension, block, place)
    return count


@kernel
def decide_all(store: Store, rows: Ints) -> bool:
    """Decides the ways of all terms of rows; whether every one cuts the fine tree."""
    all_cut = True
    for row in rows:
        record = store.places[row]
        if record < 0:
            continue
        for number in range(terms_of(store, record)[0]):
            term = term_at(record, number)
            way = decide(store, record, term)
            _mark(store, term, way)
            all_cut = all_cut and (is_cutting(store, term) or op_of(store, term) >= NONE)
    return all_cut


@inlined
def _mark(store: Store, term: int, way: int) -> None:
    store.records[term] = described(dimension_of(store, term), op_of(store, term), way)


HANG, COUNT_ONLY, TAKE_OFF, SURVEY = range(4)


@inlined
def _visit(
    store: Store,
    row: int,
    record: int,
    term: int,
    tree: int,
    access: bool,
    doing: int,
    needed: Ints,
) -> None:
    """Does something at each leaf of a tree that a term covers."""
    dimension = dimension_of(store, term)
    trees, leaves = store.fine, store.fine_leaves
    if tree != FINE:
        trees, leaves, dimension = store.fixed, store.fixed_leaves, 2 * dimension + tree
    last = NOWHERE
    for number in range(ranges(store, term)):
        begin, end = range_of(store, record, term, number)
        if begin >= end:
            continue
        block, place = found(trees, dimension, begin)
        while place != NOWHERE and trees.keys[place] < end:
            leaf = np.int64(trees.leaves[place])
            if leaf != last:
                _do(store, leaves, leaf, row, access, doing, needed)
            last = leaf
            block, place = following(trees, dimension, block, place)
        if doing == SURVEY and tree == FINE:
            # boundaries split the first leaf of a range and the last one
            for end_leaf in (leaf_of_key(trees, dimension, begin), last):
                needed[NEEDED_LISTS] += 2 * leaves[end_leaf, COUNT] + 8
                needed[NEEDED_WORDS] += 3 * leaves[end_leaf, WORDS] + 1


@inlined
def leaf_of_key(trees: Arrays, dimension: int, key: int) -> int:
    """The leaf whose space holds a key."""
    return np.int64(trees.leaves[found(trees, dimension, key)[1]])


@inlined
def _do(
    store: Store, leaves: SmallInts, leaf: int, row: int, access: bool, doing: int, needed: Ints
) -> None:
    if doing == HANG:
        if access:
            push(store, leaves, leaf, row)
        else:
            sign(store, leaves, leaf, row)
    elif doing == COUNT_ONLY:
        leaves[leaf, COUNT if access else SIGNED] += 1
    elif doing == TAKE_OFF:
        at, last = leaves[leaf, LIST], leaves[leaf, LIST] + leaves[leaf, COUNT] - 1
        while store.lists[at] != row:
            at += 1
        store.lists[at] = store.lists[last]
        leaves[leaf, COUNT] -= 1
    elif access:
        needed[NEEDED_LISTS] += leaves[leaf, COUNT] + leaves[leaf, COUNT] // 2 + 4
    else:
        needed[NEEDED_WORDS] += 2 * leaves[leaf, WORDS] + 1


@kernel
def hang_all(store: Store, rows: Ints, doing: int) -> None:
    """Hangs rows on leaves that are there, and in arenas where there is room; or counts what they
    take."""
    needed = np.zeros(NEEDS, np.int64)
    for row in rows:
        record = store.places[row]
        if record < 0:
            continue
        count, access = terms_of(store, record)
        for number in range(count):
            term = term_at(record, number)
            if number == access or is_signed(store, term):
                store.tops[BITS] += doing == HANG and number != access
                tree = tree_of(store, term)
                _visit(store, row, record, term, tree, number == access, doing, needed)


@kernel
def insert_rows(store: Store, about: Floats, rows: Ints, place: int, needed: Ints) -> int:
    """Hangs rows from one on, whose records are written (Algorithm 4), while there is room; the
    place of the first that is not done, of which `needed` says how many terms are."""
    splits = np.empty((2, 2), np.int32)
    while place < len(rows):
        row = rows[place]
        record = store.places[row]
        count = 0
        if record >= 0:
            if needed[NEEDED_TERM] == 0:
                choose_access(store, about, record)
            count = terms_of(store, record)[0]
        while needed[NEEDED_TERM] < count:
            if not _insert_term(store, row, record, needed, splits):
                return place
            needed[NEEDED_TERM] += 1
        needed[NEEDED_TERM] = 0
        place += 1
    return place


@inlined
def _insert_term(store: Store, row: int, record: int, needed: Ints, splits: SmallInts) -> bool:
    """Hangs a term of a row, and cuts the fine tree for it; or does nothing, for lack of room."""
    number = needed[NEEDED_TERM]
    term = term_at(record, number)
    dimension, is_access = dimension_of(store, term), number == terms_of(store, record)[1]
    hung = is_access or is_signed(store, term)
    way = decide(store, record, term)
    needed[NEEDED_DIMENSION], needed[NEEDED_RANGES] = dimension, ranges(store, term)
    needed[NEEDED_LISTS] = needed[NEEDED_WORDS] = 0
    _mark(store, term, way)
    tree = tree_of(store, term)
    if way & CUT:
        # boundaries copy what fine leaves have, whether the term hangs there or not
        _visit(store, row, record, term, FINE, is_access, SURVEY, needed)
    if hung and tree != FINE:
        _visit(store, row, record, term, tree, is_access, SURVEY, needed)
    if (
        store.tops[TOP_LISTS] + needed[NEEDED_LISTS] > len(store.lists)
        or store.tops[TOP_WORDS] + needed[NEEDED_WORDS] > len(store.words)
        or not room_for(store.fine, dimension, needed[NEEDED_RANGES])
    ):
        return False
    if way & CUT:
        for each in range(ranges(store, term)):
            begin, end = range_of(store, record, term, each)
            if begin < end:
                for split in range(put(store.fine, dimension, begin, end, False, splits)):
                    copy_leaf(store, store.fine_leaves, splits[split, 0], splits[split, 1])
    if hung:
        store.tops[BITS] += not is_access
        _visit(store, row, record, term, tree, is_access, HANG, needed)
    return True


@kernel
def delete_rows(store: Store, rows: Ints, place: int, needed: Ints) -> int:
    """Takes rows off, and their boundaries out of the trees, while these have room to move; like
    `insert_rows`. Bits of signatures stay."""
    merges = np.empty((2, 2), np.int32)
    while place < len(rows):
        row = rows[place]
        record = store.places[row]
        count = terms_of(store, record)[0] if record >= 0 else 0
        while needed[NEEDED_TERM] < count:
            if not _delete_term(store, row, record, needed, merges):
                return place
            needed[NEEDED_TERM] += 1
        needed[NEEDED_TERM] = 0
        forget_record(store, row)
        place += 1
    return place


@inlined
def _delete_term(store: Store, row: int, record: int, needed: Ints, merges: SmallInts) -> bool:
    """Takes a term of a row off, or does nothing, for lack of room."""
    number = needed[NEEDED_TERM]
    term = term_at(record, number)
    dimension = dimension_of(store, term)
    needed[NEEDED_DIMENSION], needed[NEEDED_RANGES] = dimension, ranges(store, term)
    needed[NEEDED_LISTS] = needed[NEEDED_WORDS] = 0
    if not room_for(store.fine, dimension, needed[NEEDED_RANGES]):
        return False
    if number == terms_of(store, record)[1]:
        _visit(store, row, record, term, tree_of(store, term), True, TAKE_OFF, needed)
    elif is_signed(store, term):
        store.tops[STALE] += 1
    if is_cutting(store, term):
        for each in range(ranges(store, term)):
            begin, end = range_of(store, record, term, each)
            if begin < end:
                for merged in range(drop(store.fine, dimension, begin, end, False, merges)):
                    store.fine_leaves[merges[merged, 1], :] = 0
    return True
