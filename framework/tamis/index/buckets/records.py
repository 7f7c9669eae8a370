"""Checks exactly what codes cannot decide, by the record of a row.

A record is how many terms it has, how many of them (the first) are to be checked, and the terms:
eight times the dimension plus the operator, then the bounds, or how many members and the members.
Cost: O(terms to be checked), and O(log members) for each member of a bag.
"""

from __future__ import annotations

import numpy as np

from tamis.index.buckets.batch import Batch, is_exact, is_point, is_skipped
from tamis.index.buckets.bits import copy
from tamis.index.buckets.store import MOST_LANES, Store
from tamis.index.terms import ANY, IN, NONE, NOT_ALL, NOT_IN, OUTSIDE, RANGE
from tamis.numeric.kernels import inlined
from tamis.numeric.types import Floats, Ints, SmallInts


@inlined
def describe(batch: Batch, row: int) -> None:
    """Counts the lanes of a row, and the size of its record, which it does not have yet."""
    terms, lanes, recorded, size = batch.terms, 0, False, 2
    for term in range(terms.start[row], terms.start[row + 1]):
        size += 3 if terms.op[term] <= OUTSIDE else 2 + np.int64(terms.high[term])
        if is_skipped(batch, row, term):
            recorded |= not is_point(terms, term)
        elif lanes < MOST_LANES:
            lanes += 1
            recorded |= not is_exact(batch.codes[term])
        else:
            recorded = True
    batch.about[row].needed = lanes
    batch.about[row].size = size if recorded else 0
    batch.about[row].record, batch.about[row].row = -1, terms.rows[row]


@inlined
def write_record(store: Store, batch: Batch, row: int) -> None:
    """Writes the record of a row at the top, where there is room."""
    terms = batch.terms
    begin = store.tops[0].records
    at, checked = begin + 2, 0
    for wanted in (True, False):
        lanes = 0
        for term in range(terms.start[row], terms.start[row + 1]):
            check = False
            if not is_skipped(batch, row, term):
                check = lanes >= MOST_LANES or not is_exact(batch.codes[term])
                lanes += 1
            if check != wanted:
                continue
            checked += check
            op = terms.op[term]
            store.records[at] = 8 * terms.dimension[term] + op
            if op <= OUTSIDE:
                store.records[at + 1], store.records[at + 2] = terms.low[term], terms.high[term]
                at += 3
            else:
                members = np.int64(terms.high[term])
                store.records[at + 1] = members
                copy(store.records, at + 2, terms.members, np.int64(terms.low[term]), members)
                at += 2 + members
    store.records[begin] = terms.start[row + 1] - terms.start[row]
    store.records[begin + 1] = checked
    store.tops[0].records = at
    batch.about[row].record = begin


@inlined
def record_size(store: Store, begin: int) -> int:
    """Counts the places of a record."""
    at = begin + 2
    for _ in range(np.int64(store.records[begin])):
        op = np.int64(store.records[at]) & 7
        at += 3 if op <= OUTSIDE else 2 + np.int64(store.records[at + 1])
    return at - begin


@inlined
def _held(members: Floats, first: int, last: int, wanted: float) -> bool:
    """Returns whether a sorted stretch of members has one."""
    while first < last:
        half = (first + last) >> 1
        if members[half] < wanted:
            first = half + 1
        elif members[half] > wanted:
            last = half
        else:
            return True
    return False


@inlined
def record_holds(
    records: Floats,
    begin: int,
    values: Floats,
    bag: SmallInts,
    member_start: Ints,
    members: Floats,
) -> bool:
    """Returns whether the terms of a record hold for an event, by its lines and bags by dimension.

    The event has a value, or a bag, on every dimension of these terms."""
    at = begin + 2
    for _ in range(np.int64(records[begin + 1])):
        head = np.int64(records[at])
        dimension, op = head >> 3, head & 7
        if op <= OUTSIDE:
            inside = records[at + 1] <= values[dimension] <= records[at + 2]
            if inside != (op == RANGE):
                return False
            at += 3
            continue
        count, at = np.int64(records[at + 1]), at + 2
        if op <= NOT_IN:
            if _held(records, at, at + count, values[dimension]) != (op == IN):
                return False
        else:
            mine = bag[dimension]
            found_any, found_all = False, True
            for member in range(at, at + count):
                there = _held(members, member_start[mine], member_start[mine + 1], records[member])
                found_any |= there
                found_all &= there
            if (op == ANY and not found_any) or (op == NONE and found_any):
                return False
            if op == NOT_ALL and found_all:
                return False
        at += count
    return True
