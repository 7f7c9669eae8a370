"""How records are written, read back and checked, and which of their terms gives access.

Access is given by the most selective term (paper, §3.3 and §5): that which the fewest historical
events satisfy, where there are any; else by the rank of its operator, = before sets, intervals,
one-sided ranges and inequalities, then by how much of its dimension it covers.
Invariant: what is read back is what was written.
Cost: O(terms), and O(log members) for a set; O(blocks) for each term that is ranked by events.
"""

from __future__ import annotations

import numpy as np

from tamis.index.printed_bloom_store import (
    ALWAYS,
    COARSE,
    DEAD,
    GONE,
    LIVE,
    MIDDLE,
    NEVER,
    TERM,
    TOP_RECORDS,
    Store,
    described,
    dimension_of,
    header,
    is_cutting,
    op_of,
    range_of,
    ranges,
    term_at,
    terms_of,
    tree_of,
)
from tamis.index.ps_tree_arrays import INFINITY, SPACES, Floats, Ints, SmallInts
from tamis.index.ps_tree_bulk import events_below
from tamis.index.readings import Readings
from tamis.index.terms import ANY, IN, NONE, NOT_ALL, NOT_IN, OUTSIDE, RANGE, Terms
from tamis.numeric.kernels import inlined, kernel

COARSE_LEAF, MIDDLE_LEAF, FINE_LEAF, BAG, HERE_FIELDS = range(5)
"""Where an event is in a dimension: on which leaf of each tree, and which bag it is; else -1."""

LEAST, GREATEST, WEAKNESS, PRESENCE, DIMENSION_FIELDS = range(5)
"""Of a dimension: its least and greatest bound, the best rank that a term can have there, and the
share of historical events that have it, -1 where it is not known."""

EQUAL, SET, INTERVAL, HALF, UNEQUAL, IN_NONE, OF_ALL = range(7)
"""Ranks of operators, the most selective first."""
_FEW_MEMBERS = 8
_SHARES = np.array([0.01, 0.05, 0.3, 0.5, 0.95, 0.95, 0.95])
"""Which share of its dimension's events a term of each rank is taken to hold for, unless known."""


@kernel
def write_records(store: Store, about: Floats, terms: Terms) -> None:
    """Writes the records of rows, where there is room, and what is known of dimensions by them."""
    records, values, tops = store.records, store.values, store.tops
    for at in range(len(terms.rows)):
        row, begin, end = terms.rows[at], terms.start[at], terms.start[at + 1]
        tops[LIVE] += 1
        store.places[row] = ALWAYS if begin == end else tops[TOP_RECORDS]
        for term in range(begin, end):
            if terms.op[term] == RANGE and not terms.low[term] <= terms.high[term]:
                store.places[row] = NEVER
        if store.places[row] < 0:
            continue
        record = tops[TOP_RECORDS]
        records[record] = header(end - begin, 0)
        free = term_at(record, end - begin)
        for term in range(begin, end):
            to, op = term_at(record, term - begin), np.int64(terms.op[term])
            records[to] = described(np.int64(terms.dimension[term]), op, 0)
            if op <= OUTSIDE:
                values[to + 1], values[to + 2] = terms.low[term], terms.high[term]
                _widen(about, terms.dimension[term], terms.low[term])
                _widen(about, terms.dimension[term], terms.high[term])
                continue
            first, count = np.int64(terms.low[term]), np.int64(terms.high[term])
            records[to + 1], records[to + 2] = free - record, count
            for member in range(count):
                values[free] = terms.members[first + member]
                _widen(about, terms.dimension[term], values[free])
                free += 1
        tops[TOP_RECORDS] = free


@inlined
def _widen(about: Floats, dimension: int, bound: float) -> None:
    if np.isfinite(bound):
        about[dimension, LEAST] = min(about[dimension, LEAST], bound)
        about[dimension, GREATEST] = max(about[dimension, GREATEST], bound)


@inlined
def size_of(store: Store, record: int) -> int:
    """How many words a record has."""
    count, _ = terms_of(store, record)
    size = 1 + TERM * count
    for number in range(count):
        term = term_at(record, number)
        if op_of(store, term) > OUTSIDE:
            size += store.records[term + 2]
    return size


@kernel
def read_back(store: Store, terms: Terms, written: bool) -> tuple[int, int, int]:
    """Counts the rows that have records, their terms and the members of these; writes them too
    when there is room for them."""
    rows = count = members = 0
    for row in range(len(store.places)):
        record = store.places[row]
        if record < 0:
            continue
        mine, _ = terms_of(store, record)
        for number in range(mine):
            term = term_at(record, number)
            op = op_of(store, term)
            if written:
                terms.dimension[count], terms.op[count] = dimension_of(store, term), op
                terms.low[count], terms.high[count] = store.values[term + 1], store.values[term + 2]
                if op > OUTSIDE:
                    terms.low[count], terms.high[count] = members, store.records[term + 2]
            if op > OUTSIDE:
                for member in range(store.records[term + 2]):
                    if written:
                        place = record + store.records[term + 1] + member
                        terms.members[members] = store.values[place]
                    members += 1
            count += 1
        if written:
            terms.rows[rows], terms.start[rows + 1] = row, count
        rows += 1
    return rows, count, members


@inlined
def forget_record(store: Store, row: int) -> None:
    """Takes a row out, whose terms hang nowhere any more."""
    record = store.places[row]
    if record >= 0:
        store.tops[DEAD] += size_of(store, record)
    store.places[row] = GONE
    store.tops[LIVE] -= 1


EVERY, CUTTING, HUNG_COARSELY = range(3)


@kernel
def ranges_of(
    store: Store, rows: Ints, which: int, dimension: SmallInts, begin: Ints, end: Ints
) -> int:
    """Counts the ranges of every term, of those that cut the fine tree, or of those that hang on
    coarse leaves; writes them too when there is room for them."""
    count = 0
    for row in rows:
        record = store.places[row]
        if record < 0:
            continue
        for number in range(terms_of(store, record)[0]):
            term = term_at(record, number)
            if op_of(store, term) >= NONE or (which == CUTTING and not is_cutting(store, term)):
                continue
            if which == HUNG_COARSELY and tree_of(store, term) != COARSE:
                continue
            for each in range(ranges(store, term)):
                first, behind = range_of(store, record, term, each)
                if first < behind:
                    if len(begin):
                        dimension[count] = dimension_of(store, term)
                        begin[count], end[count] = first, behind
                    count += 1
    return count


@inlined
def choose_access(store: Store, about: Floats, record: int) -> None:
    """Chooses the term of a record that gives access."""
    count, best, least = terms_of(store, record)[0], 0, np.inf
    for number in range(count):
        share = _share(store, about, record, term_at(record, number))
        if share < least:
            best, least = number, share
    store.records[record] = header(count, best)


@kernel
def choose_all(store: Store, about: Floats, rows: Ints) -> None:
    """Chooses the terms of rows that give access."""
    for row in rows:
        if store.places[row] >= 0:
            choose_access(store, about, store.places[row])


@inlined
def _share(store: Store, about: Floats, record: int, term: int) -> float:
    """The share of historical events that satisfy a term, or its rank and width."""
    dimension = dimension_of(store, term)
    of = about[dimension]
    rank, width = _rank(store, record, term, of)
    if of[PRESENCE] < 0:
        return max(rank, of[WEAKNESS]) + width
    trees, of_tree = store.fine, dimension
    if store.fixed.dimensions[2 * dimension + MIDDLE, SPACES] > 1:
        trees, of_tree = store.fixed, 2 * dimension + MIDDLE
    total = events_below(trees, of_tree, INFINITY + 1)
    if total == 0.0:
        return of[PRESENCE] * _SHARES[int(max(rank, of[WEAKNESS]))]
    events = 0.0
    for number in range(ranges(store, term)):
        begin, end = range_of(store, record, term, number)
        if begin < end:
            below = events_below(trees, of_tree, begin)
            events += events_below(trees, of_tree, end) - below
    return of[PRESENCE] * max(0.0, events) / total


@inlined
def _rank(store: Store, record: int, term: int, of: Floats) -> tuple[float, float]:
    """The rank of an operator, and how wide its values are, less than 1."""
    op = op_of(store, term)
    if op in (ANY, IN, NOT_IN):
        count = float(store.records[term + 2])
        return float(IN_NONE if op == NOT_IN else SET), count / (count + _FEW_MEMBERS)
    if op >= NONE:
        return float(OF_ALL), 0.0
    if op == OUTSIDE:
        return float(UNEQUAL), 0.0
    low, high = store.values[term + 1], store.values[term + 2]
    if low == high:
        return float(EQUAL), 0.0
    rank = HALF if np.isinf(low) or np.isinf(high) else INTERVAL
    # halves, because the width of a wide range is no double
    extent = of[GREATEST] / 2 - of[LEAST] / 2
    width = min(high, of[GREATEST]) / 2 - max(low, of[LEAST]) / 2
    return float(rank), 0.999 * width / extent if extent > 0 else 0.0


@inlined
def holds(
    store: Store, here: SmallInts, value: Floats, readings: Readings, record: int, term: int
) -> bool:
    """Whether an event satisfies a term."""
    dimension, op = dimension_of(store, term), op_of(store, term)
    if op >= ANY:
        return _bag_holds(store, readings, record, term, here[dimension, BAG], op)
    if here[dimension, FINE_LEAF] < 0:
        return False
    its = value[dimension]
    if op <= OUTSIDE:
        within = store.values[term + 1] <= its <= store.values[term + 2]
        return within == (op == RANGE)
    members = record + store.records[term + 1]
    return is_among(store.values, members, store.records[term + 2], its) == (op == IN)


@inlined
def is_among(values: Floats, begin: int, count: int, value: float) -> bool:
    """Whether a value is among some that ascend."""
    while count > 0:
        half = count >> 1
        if values[begin + half] < value:
            begin += half + 1
            count -= half + 1
        else:
            count = half
            if values[begin + half] == value:
                return True
    return False


@inlined
def _bag_holds(store: Store, readings: Readings, record: int, term: int, bag: int, op: int) -> bool:
    if bag < 0:
        return False
    members, begin = record + store.records[term + 1], readings.member_start[bag]
    count = readings.member_start[bag + 1] - begin
    found = 0
    for at in range(members, members + store.records[term + 2]):
        found += is_among(readings.members, begin, count, store.values[at])
    if op == NOT_ALL:
        return found < store.records[term + 2]
    return (found > 0) == (op == ANY)
