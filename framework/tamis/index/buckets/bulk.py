"""Lays out all rows at once, and reads them back.

Replicas are sorted by node, then by whether they are recorded, then by lanes, the most first; a
segment takes as many as agree. Everything that codes and nodes say exactly is read back from them,
the rest from records: `read_back` gives the very terms that were put in, but for their order.
Cost: O(terms), with a pass to count and one to write.
"""

from __future__ import annotations

import numpy as np

from tamis.index.buckets.batch import Batch, lanes_end
from tamis.index.buckets.bits import copy, fetch_ahead
from tamis.index.buckets.cells import before
from tamis.index.buckets.hashing import begin_chain
from tamis.index.buckets.records import write_record
from tamis.index.buckets.segments import columns_of, line_after, numbers_of, write_entry
from tamis.index.buckets.store import CHUNK, EVERYTHING, MOST_LANES, SLOTS, Store
from tamis.index.terms import ANY, OUTSIDE, RANGE, TermColumns
from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Bytes, Ints
from tamis.numeric.views import bare

Part = tuple[int, int, int, int]
"""Segments from the first to before the second, of each the entries from the third on."""

_CLASSES = 128 * SLOTS
_AHEAD = 16


@kernel
def in_order(
    batch: Batch, row_of: Ints, node_of: Ints, nodes: int, keys: Ints
) -> tuple[Ints, Bytes]:
    """Returns the replicas sorted by node, recorded or not, lanes, and by keys if there are any.

    With them, in the same order, twice their lanes and whether they are recorded."""
    batch = bare(batch)
    by_class, ordered = np.empty(len(row_of), np.int64), np.empty(len(row_of), np.int64)
    kind_of, kinds = np.empty(len(row_of), np.uint8), np.empty(len(row_of), np.uint8)
    ends = np.zeros(nodes + 1 + _CLASSES, np.int64)
    for replica in range(len(row_of)):
        about = batch.about[row_of[replica]]
        kind_of[replica] = 2 * about.needed + (about.size > 0)
        ends[_class_of(kind_of, keys, replica) + 1] += 1
    for place in range(1, len(ends)):
        ends[place] += ends[place - 1]
    for replica in range(len(row_of)):
        place = _class_of(kind_of, keys, replica)
        by_class[ends[place]] = replica
        ends[place] += 1
    ends[:] = 0
    for replica in range(len(row_of)):
        ends[node_of[replica] + 1] += 1
    for place in range(1, len(ends)):
        ends[place] += ends[place - 1]
    for replica in by_class:  # which leaves the classes in order
        place = ends[node_of[replica]]
        ordered[place], kinds[place] = replica, kind_of[replica]
        ends[node_of[replica]] = place + 1
    return ordered, kinds


@inlined
def _class_of(kind_of: Bytes, keys: Ints, replica: int) -> int:
    kind = np.int64(kind_of[replica])
    place = MOST_LANES - (kind >> 1) + (MOST_LANES + 1) * (kind & 1)
    return place * SLOTS + keys[replica] if len(keys) else place


@kernel
def lay_out(
    store: Store, batch: Batch, rows: Ints, nodes: Ints, kinds: Bytes, segment_of: Ints, write: bool
) -> None:
    """Makes segments of sorted replicas; without `write`, only counts what they take."""
    store, batch = bare(store), bare(batch)
    stamp = np.full(len(store.dimensions), -1, np.int64)
    tops, first, terms, about = store.tops, 0, batch.terms, batch.about
    looks_at_rows = write or tops[0].wide != 0
    while first < len(rows):
        node, recorded, most = nodes[first], np.int64(kinds[first] & 1), np.int64(kinds[first] >> 1)
        last, slots = first, 0
        while last < len(rows):
            row = rows[last]
            if looks_at_rows:
                _fetch_rows(batch, rows, last)
            if nodes[last] != node or kinds[last] & 1 != recorded:
                break
            lanes = np.int64(kinds[last] >> 1)
            if last > first and (last - first) % CHUNK == 0 and 4 * lanes <= 3 * most:
                break
            if tops[0].wide:
                new = 0
                for term in range(about[row].first, lanes_end(batch, row)):
                    new += stamp[terms.dimension[term]] != first
                if slots + new > SLOTS:
                    break
                slots += new
                for term in range(about[row].first, lanes_end(batch, row)):
                    stamp[terms.dimension[term]] = first
            last += 1
        capacity = last - first
        if capacity >= CHUNK:
            tops[0].lanes = line_after(tops[0].lanes)
        if write:
            segment = tops[0].segments
            fields = store.segments[segment]
            fields.lanes_at, fields.rows_at = tops[0].lanes, tops[0].rows
            fields.capacity, fields.count, fields.lanes = capacity, capacity, most
            fields.recorded, fields.node = recorded, node
            fields.dictionary_at, fields.dictionary_count = tops[0].dictionary, 0
            fields.dictionary_capacity = slots
            begin_chain(store, node, segment)
            for entry in range(capacity):
                row = rows[first + entry]
                if recorded and batch.about[row].record < 0:
                    write_record(store, batch, row)
                write_entry(store, segment, entry, batch, row)
                segment_of[first + entry] = segment
        tops[0].segments += 1
        tops[0].lanes += 3 * most * capacity
        tops[0].rows += numbers_of(store, recorded, capacity)
        tops[0].dictionary += slots
        first = last


@inlined
def _fetch_rows(batch: Batch, rows: Ints, place: int) -> None:
    """Asks for what is known of rows that come soon: they are anywhere in memory."""
    if place + _AHEAD < len(rows):
        fetch_ahead(batch.about.ctypes.data + batch.about.itemsize * rows[place + _AHEAD])
        row = rows[place + _AHEAD // 2]
        fetch_ahead(batch.codes.ctypes.data + 8 * batch.about[row].first)


@kernel
def read_back(store: Store, terms: TermColumns, part: Part, write: bool) -> tuple[int, int, int]:
    """Writes the rows of a part that have terms, or counts them: rows, terms and members."""
    store, terms = bare(store), bare(terms)
    rows, count, members = 0, 0, 0
    for segment in range(part[0], part[1]):
        fields = store.segments[segment]
        for entry in range(part[2], min(fields.count, part[3])):
            row = np.int64(store.rows[fields.rows_at + entry])
            place = np.int64(store.places[row])
            if segment != (place if place >= 0 else store.more[-1 - place]):
                continue  # it is not the first of those where the row is
            if write:
                terms.rows[rows] = row
            if fields.recorded:
                record = np.int64(store.rows[fields.rows_at + fields.capacity + entry])
                count, members = _read_record(store, record, terms, count, members, write)
            else:
                count, members = _read_node(store, fields.node, terms, count, members, write)
                count = _read_lanes(store, segment, entry, terms, count, write)
            rows += 1
            if write:
                terms.start[rows] = count
    return rows, count, members


@inlined
def _read_record(
    store: Store, at: int, terms: TermColumns, count: int, members: int, write: bool
) -> tuple[int, int]:
    left, at = np.int64(store.records[at]), at + 2
    for _ in range(left):
        head = np.int64(store.records[at])
        op = head & 7
        if write:
            terms.dimension[count], terms.op[count] = head >> 3, op
        if op <= OUTSIDE:
            if write:
                terms.low[count], terms.high[count] = store.records[at + 1], store.records[at + 2]
            at += 3
        else:
            many = np.int64(store.records[at + 1])
            if write:
                terms.low[count], terms.high[count] = members, many
                copy(terms.members, members, store.records, at + 2, many)
            members += many
            at += 2 + many
        count += 1
    return count, members


@inlined
def _read_node(
    store: Store, node: int, terms: TermColumns, count: int, members: int, write: bool
) -> tuple[int, int]:
    """Returns the terms that a node implies: its points."""
    while node:
        space = store.nodes[node] & 0xFFFFFFFF
        if store.spaces[space, 0] & 1:
            dimension = store.spaces[space, 0] >> 1
            value = np.int64(store.spaces[space, 1]).view(np.float64)
            bag = store.dimensions[dimension].bag
            if write:
                terms.dimension[count] = dimension
                if bag:
                    terms.op[count], terms.low[count], terms.high[count] = ANY, members, 1
                    terms.members[members] = value
                else:
                    terms.op[count], terms.low[count], terms.high[count] = RANGE, value, value
            members += 1 if bag else 0
            count += 1
        node = store.nodes[node] >> 32
    return count, members


@inlined
def _read_lanes(
    store: Store, segment: int, entry: int, terms: TermColumns, count: int, write: bool
) -> int:
    """Returns the terms that codes decide."""
    fields = store.segments[segment]
    place, stride = columns_of(fields, entry)
    for _ in range(fields.lanes):
        low = np.int64(store.lanes[place + stride])
        width = np.int64(store.lanes[place + 2 * stride])
        if width == EVERYTHING:
            break
        if write:
            dimension = np.int64(store.lanes[place])
            if store.tops[0].wide:
                dimension = np.int64(store.dictionary[fields.dictionary_at + dimension])
            first = store.dimensions[dimension].cuts
            last = store.dimensions[dimension].cells - 1
            terms.dimension[count], terms.op[count] = dimension, RANGE
            terms.low[count] = store.cuts[first + low - 1] if low else -np.inf
            terms.high[count] = (
                np.inf if low + width >= last else before(store.cuts[first + low + width])
            )
        place += 3 * stride
        count += 1
    return count
