"""Which rows events satisfy: lists, then signatures, then records (paper, Algorithm 5).

Invariant: each row is written once: an event is on one leaf of each tree of a line, and a row that
several members of a bag lead to is taken at the first of them.
Cost: of an event, a look-up each reading, a word a term of each row in the lists that it leads to,
and the check of what is left.
"""

from __future__ import annotations

import numpy as np

from tamis.index.printed_bloom_leaves import is_signed, may_have
from tamis.index.printed_bloom_records import (
    BAG,
    COARSE_LEAF,
    FINE_LEAF,
    MIDDLE_LEAF,
    holds,
    is_among,
)
from tamis.index.printed_bloom_store import (
    COARSE,
    COUNT,
    FINE,
    LIST,
    LIVE,
    MIDDLE,
    Store,
    dimension_of,
    op_of,
    term_at,
    terms_of,
    tree_of,
)
from tamis.index.ps_tree_arrays import Floats, Ints, SmallInts
from tamis.index.ps_tree_kernels import NOWHERE, leaf_at
from tamis.index.reading_kernels import opened_readings
from tamis.index.readings import Readings
from tamis.index.terms import ANY
from tamis.numeric.kernels import inlined, kernel


@kernel
def match_events(
    store: Store,
    packed: Ints,
    event: int,
    here: SmallInts,
    value: Floats,
    out: SmallInts,
    ends: Ints,
    tested: Ints,
) -> int:
    """Writes the rows that events satisfy, from one event on while there is room for all rows, and
    where the rows of each end; the first event that is left (Algorithm 5)."""
    readings = opened_readings(packed)
    written = 0
    begun = event
    while event < len(readings.line_start) - 1 and written + store.tops[LIVE] <= len(out):
        lines = readings.line_start[event], readings.line_start[event + 1]
        bags = readings.bag_start[event], readings.bag_start[event + 1]
        _enter(store, readings, event, here, value)
        for at in range(3 * lines[0], 3 * lines[1]):
            leaves = store.fine_leaves if at % 3 == FINE else store.fixed_leaves
            leaf = here[readings.line[at // 3], at % 3]
            written = _take(
                store, leaves, leaf, here, value, readings, np.nan, out, written, tested
            )
        for bag in range(bags[0], bags[1]):
            dimension = readings.bag[bag]
            first = readings.member_start[bag]
            for at in range(first - 1, readings.member_start[bag + 1]):
                leaves, leaf = store.fixed_leaves, np.int64(here[dimension, COARSE_LEAF])
                member = np.nan
                if at >= first:
                    member = readings.members[at]
                    leaves, leaf = store.fine_leaves, leaf_at(store.fine, dimension, member)
                written = _take(
                    store, leaves, leaf, here, value, readings, member, out, written, tested
                )
        for at in range(lines[0], lines[1]):
            here[readings.line[at], :] = NOWHERE
        for at in range(bags[0], bags[1]):
            here[readings.bag[at], :] = NOWHERE
        ends[event - begun] = written
        event += 1
    return event


@inlined
def _enter(store: Store, readings: Readings, event: int, here: SmallInts, value: Floats) -> None:
    """Finds the leaves of an event's readings."""
    for at in range(readings.line_start[event], readings.line_start[event + 1]):
        dimension, its = readings.line[at], readings.value[at]
        value[dimension] = its
        here[dimension, FINE_LEAF] = leaf_at(store.fine, dimension, its)
        here[dimension, COARSE_LEAF] = leaf_at(store.fixed, 2 * dimension + COARSE, its)
        here[dimension, MIDDLE_LEAF] = leaf_at(store.fixed, 2 * dimension + MIDDLE, its)
    for bag in range(readings.bag_start[event], readings.bag_start[event + 1]):
        dimension = readings.bag[bag]
        here[dimension, BAG] = bag
        here[dimension, COARSE_LEAF] = leaf_at(store.fixed, 2 * dimension + COARSE, 0.0)


@inlined
def _take(
    store: Store,
    leaves: SmallInts,
    leaf: int,
    here: SmallInts,
    value: Floats,
    readings: Readings,
    member: float,
    out: SmallInts,
    written: int,
    tested: Ints,
) -> int:
    """Writes those rows of a leaf's list that an event satisfies; a member of a bag led there, or
    NaN."""
    if leaf < 0:
        return written
    tested[0] += leaves[leaf, COUNT]
    begin = np.int64(leaves[leaf, LIST])
    for at in range(begin, begin + leaves[leaf, COUNT]):
        row = store.lists[at]
        record = store.places[row]
        if _is_candidate(store, here, row, record) and _is_match(
            store, here, value, readings, record, member
        ):
            out[written] = row
            written += 1
    return written


@inlined
def _is_candidate(store: Store, here: SmallInts, row: int, record: int) -> bool:
    """Whether signatures say that an event may satisfy all other terms."""
    count, access = terms_of(store, record)
    for number in range(count):
        if number == access:
            continue
        term = term_at(record, number)
        its = here[dimension_of(store, term)]
        if not is_signed(store, term):
            if its[BAG] < 0:
                return False
            continue
        if its[FINE_LEAF] < 0:
            return False
        tree = tree_of(store, term)
        leaves = store.fine_leaves if tree == FINE else store.fixed_leaves
        if not may_have(store, leaves, np.int64(its[tree]), row):
            return False
    return True


@inlined
def _is_match(
    store: Store, here: SmallInts, value: Floats, readings: Readings, record: int, member: float
) -> bool:
    """Whether an event satisfies a row, to whose access term a member of a bag led, or NaN."""
    count, access = terms_of(store, record)
    for number in range(count):
        term = term_at(record, number)
        if number == access and tree_of(store, term) == FINE:
            if not _is_first(store, readings, here, record, term, member):
                return False
        elif not holds(store, here, value, readings, record, term):
            return False
    return True


@inlined
def _is_first(
    store: Store, readings: Readings, here: SmallInts, record: int, term: int, member: float
) -> bool:
    """Whether no other member of the event's bag leads to the row before this one."""
    if op_of(store, term) != ANY:
        return True
    bag = here[dimension_of(store, term), BAG]
    begin = readings.member_start[bag]
    count = readings.member_start[bag + 1] - begin
    members = record + store.records[term + 1]
    for at in range(members, members + store.records[term + 2]):
        if store.values[at] >= member:
            return True
        if is_among(readings.members, begin, count, store.values[at]):
            return False
    return True
