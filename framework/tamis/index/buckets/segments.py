"""Puts rows into segments and takes them out, one at a time and in place.

A segment that is full moves to a place with room for an eighth more; a row that leaves is
replaced by the last one. What is left behind counts as dead until segments are packed or laid out.
Kernels that may lack room say so and are called again once the caller has made some.
Cost: O(lanes) amortized to append; O(rows of the segment) to remove, read in one stretch.
"""

from __future__ import annotations

import numpy as np

from tamis.index.buckets.batch import Batch, dimension_of, lanes_end, low_of, width_of
from tamis.index.buckets.bits import copy, fetch_ahead
from tamis.index.buckets.hashing import access_dimensions, begin_chain
from tamis.index.buckets.opening import opened_store
from tamis.index.buckets.records import record_size, write_record
from tamis.index.buckets.signatures import move_signature, sign
from tamis.index.buckets.store import CHUNK, EVERYTHING, GONE, NEVER, SLOTS, Store
from tamis.index.terms import TermColumns
from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Bytes, Ints, SmallInts
from tamis.numeric.views import bare

_FIRST_CAPACITY = 8
_AHEAD, _SOON = 16, 8
"""The rows to prefetch ahead: headers of segments, and columns."""


@inlined
def slot_of(store: Store, segment: int, dimension: int) -> int:
    """Returns the slot of a dimension in a segment, whose dictionary has room for it."""
    if not store.tops[0].wide:
        return dimension
    at = store.segments[segment].dictionary_at
    count = store.segments[segment].dictionary_count
    for slot in range(count):
        if store.dictionary[at + slot] == dimension:
            return slot
    store.dictionary[at + count] = dimension
    store.segments[segment].dictionary_count = count + 1
    return np.int64(count)


@inlined
def line_after(place: int) -> int:
    """Returns the first place from this one on where a line of the caches begins."""
    return (place + CHUNK - 1) // CHUNK * CHUNK


@inlined
def numbers_of(store: Store, recorded: int, capacity: int) -> int:
    """Counts the numbers for so many entries: their rows, records and signatures."""
    return (1 + recorded) * capacity + store.tops[0].signed * ((capacity + CHUNK - 1) >> 6)


@inlined
def columns_of(fields: Ints, entry: int) -> tuple[int, int]:
    """Returns the place of an entry in the first column, and the step to the next column."""
    chunk = entry // CHUNK * CHUNK
    place = fields.lanes_at + 3 * fields.lanes * chunk + entry - chunk
    return place, min(np.int64(CHUNK), fields.capacity - chunk)


@inlined
def _sort_lanes(access: tuple[int, int], batch: Batch, row: int) -> int:
    """Sorts the codes of a row's lanes, what rules out most events first; how many there are.

    What being in the node nearly implies comes last."""
    codes, ordered = batch.codes, batch.sorted
    first, skipped, lanes = batch.about[row].first, batch.about[row].skipped, 0
    for term in range(first, lanes_end(batch, row)):
        if term - first < 63 and (skipped >> (term - first)) & 1:
            continue
        code = codes[term]
        code |= np.int64(dimension_of(code) in access) << 62
        at = lanes
        while at and ordered[at - 1] > code:
            ordered[at] = ordered[at - 1]
            at -= 1
        ordered[at] = code
        lanes += 1
    return lanes


@inlined
def write_entry(store: Store, segment: int, entry: int, batch: Batch, row: int) -> None:
    """Writes a row as an entry of a segment, what rules out most events first."""
    fields = store.segments[segment]
    place, stride = columns_of(fields, entry)
    access = access_dimensions(store, fields.node)
    lanes = _sort_lanes(access, batch, row)
    for lane in range(lanes):
        code = batch.sorted[lane]
        store.lanes[place] = slot_of(store, segment, dimension_of(code))
        store.lanes[place + stride] = low_of(code)
        store.lanes[place + 2 * stride] = width_of(code)
        place += 3 * stride
    _pad(store, segment, entry, lanes)
    store.rows[fields.rows_at + entry] = batch.about[row].row
    if fields.recorded:
        store.rows[fields.rows_at + fields.capacity + entry] = batch.about[row].record
    if store.tops[0].signed:
        sign(store, fields, entry, batch.sorted[:lanes], access)


@inlined
def _pad(store: Store, segment: int, entry: int, lane: int) -> None:
    """Lanes that hold always, from `lane` on."""
    fields = store.segments[segment]
    place, stride = columns_of(fields, entry)
    for padded in range(place + 3 * lane * stride, place + 3 * fields.lanes * stride, 3 * stride):
        store.lanes[padded], store.lanes[padded + stride] = 0, 0
        store.lanes[padded + 2 * stride] = EVERYTHING


@inlined
def _resize(store: Store, segment: int, capacity: int, lanes: int) -> bool:
    """Moves a segment to where it has this room; whether there was space for that."""
    fields = store.segments[segment]
    old_lanes, old_capacity, count = fields.lanes, fields.capacity, fields.count
    lanes_at, rows_at = line_after(store.tops[0].lanes), store.tops[0].rows
    numbers = numbers_of(store, fields.recorded, capacity)
    if lanes_at + 3 * capacity * lanes + CHUNK > len(store.lanes):
        return False
    if rows_at + numbers > len(store.rows):
        return False
    store.tops[0].lanes = lanes_at + 3 * capacity * lanes
    store.tops[0].rows += numbers
    dead = numbers_of(store, fields.recorded, old_capacity)
    store.tops[0].dead_lanes += 3 * old_capacity * old_lanes + 4 * dead
    _move(store, segment, capacity, lanes, store.lanes, lanes_at, store.rows, rows_at)
    for entry in range(count if lanes > old_lanes else 0):
        _pad(store, segment, entry, old_lanes)
    return True


@inlined
def _more_than(count: int) -> int:
    """Returns the capacity of a segment for more than so many entries: vacant ones are read."""
    return max(count + _FIRST_CAPACITY, count + count // 8)


@kernel
def pack(store: Store, lanes: Bytes, rows: SmallInts, write: bool) -> tuple[int, int]:
    """Moves all segments to where they lie one behind the other; only counts without `write`."""
    store = bare(store)
    lanes_at, rows_at = 0, 0
    for segment in range(store.tops[0].segments):
        fields = store.segments[segment]
        count = fields.count
        capacity = min(max(fields.capacity, count + count // 8 + 1), _more_than(count))
        if capacity >= CHUNK:
            lanes_at = line_after(lanes_at)
        if write:
            _move(store, segment, capacity, fields.lanes, lanes, lanes_at, rows, rows_at)
        lanes_at += 3 * fields.lanes * capacity
        rows_at += numbers_of(store, fields.recorded, capacity)
    return lanes_at, rows_at


@inlined
def _move(
    store: Store, segment: int, capacity: int, lanes: int, to: Bytes, lanes_at: int,
    rows: SmallInts, rows_at: int,
) -> None:  # fmt: skip
    """Moves a segment to where it has this room for entries and lanes."""
    fields = store.segments[segment]
    count, old_lanes = fields.count, fields.lanes
    for column in range(1 + fields.recorded):
        old = fields.rows_at + column * fields.capacity
        copy(rows, rows_at + column * capacity, store.rows, old, count)
    if store.tops[0].signed:
        behind, old = (1 + fields.recorded) * capacity, (1 + fields.recorded) * fields.capacity
        words = numbers_of(store, 0, count) - count
        copy(rows, rows_at + behind, store.rows, fields.rows_at + old, words)
    for chunk in range(0, count, CHUNK):
        old, old_stride = columns_of(fields, chunk)
        place, stride = lanes_at + 3 * lanes * chunk, min(CHUNK, capacity - chunk)
        if stride == old_stride:
            copy(to, place, store.lanes, old, 3 * old_lanes * stride)
            continue
        for column in range(3 * old_lanes):
            entries = min(CHUNK, count - chunk)
            copy(to, place + column * stride, store.lanes, old + column * old_stride, entries)
    fields.lanes_at, fields.rows_at = lanes_at, rows_at
    fields.lanes, fields.capacity = lanes, capacity


@inlined
def _has_slots(store: Store, segment: int, batch: Batch, row: int) -> bool:
    """Returns whether a dictionary has room, or can be given room, for all dimensions of a row."""
    if not store.tops[0].wide:
        return True
    fields = store.segments[segment]
    at, count = fields.dictionary_at, fields.dictionary_count
    new = 0
    for term in range(batch.about[row].first, lanes_end(batch, row)):
        known = False
        for slot in range(count):
            known |= store.dictionary[at + slot] == batch.terms.dimension[term]
        new += not known
    return bool(count + new <= SLOTS)


@inlined
def _widen_dictionary(store: Store, segment: int, more: int) -> bool:
    """Makes room for more dimensions in a dictionary; whether there was space for that."""
    fields = store.segments[segment]
    count = fields.dictionary_count
    room = fields.dictionary_capacity
    if not store.tops[0].wide or count + more <= room or room == SLOTS:
        return True
    capacity = min(SLOTS, count + more + count // 2)
    at = store.tops[0].dictionary
    if at + capacity > len(store.dictionary):
        return False
    copy(store.dictionary, at, store.dictionary, fields.dictionary_at, count)
    store.tops[0].dictionary += capacity
    store.tops[0].dead_lanes += 4 * room
    fields.dictionary_at, fields.dictionary_capacity = at, capacity
    return True


@inlined
def _segment_for(store: Store, node: int, batch: Batch, row: int, recorded: int) -> int:
    """Returns a segment of the node with a free entry for the row, -1 when space is lacking."""
    best, widened, lanes = -1, -1, batch.about[row].needed
    segment = np.int64(store.chains[node])
    while segment >= 0:
        fields = store.segments[segment]
        if fields.recorded == recorded and _has_slots(store, segment, batch, row):
            if fields.lanes >= lanes:
                if best < 0 or fields.lanes < store.segments[best].lanes:
                    best = segment
            elif fields.count < CHUNK:
                widened = segment
        segment = fields.next
    if best < 0:
        best = widened
    if best < 0:
        if store.tops[0].segments == len(store.segments):
            return -1
        best = store.tops[0].segments
        fields = store.segments[best]
        fields.capacity, fields.count, fields.lanes = 0, 0, 0
        fields.dictionary_count, fields.dictionary_capacity = 0, 0
        fields.recorded, fields.node = recorded, node
        if not _resize(store, best, _FIRST_CAPACITY, lanes):
            return -1
        store.tops[0].segments += 1
        begin_chain(store, node, best)
    fields = store.segments[best]
    if not _widen_dictionary(store, best, lanes):
        return -1
    if fields.count == fields.capacity or fields.lanes < lanes:
        capacity = fields.capacity
        if fields.count == capacity:
            capacity = _more_than(capacity)
        if not _resize(store, best, capacity, max(lanes, fields.lanes)):
            return -1
    return np.int64(best)


@inlined
def fetch_header(store: Store, segment: int) -> None:
    """Asks for what is known of a segment, if it is one."""
    if segment >= 0:
        fetch_ahead(store.segments.ctypes.data + store.segments.itemsize * segment)


@inlined
def _fetch_entry(store: Store, segment: int) -> None:
    """Asks for the columns of the last entry of a segment, if it is one."""
    if segment >= 0:
        fields = store.segments[segment]
        fetch_ahead(store.rows.ctypes.data + 4 * (fields.rows_at + fields.count))
        place, stride = columns_of(fields, fields.count)
        for column in range(3 * fields.lanes):
            fetch_ahead(store.lanes.ctypes.data + place + column * stride)


@kernel
def append(
    places: Ints, batch: Batch, first: int, row_of: Ints, node_of: Ints, segment_of: Ints
) -> int:
    """Puts rows into nodes, from replica `first` on; the first for which space is lacking."""
    store, batch = opened_store(places), bare(batch)
    for replica in range(first, len(row_of)):
        if replica + _AHEAD < len(row_of):
            fetch_header(store, np.int64(store.chains[node_of[replica + _AHEAD]]))
            _fetch_entry(store, np.int64(store.chains[node_of[replica + _SOON]]))
        segment_of[replica] = _append(store, batch, row_of[replica], node_of[replica])
        if segment_of[replica] < 0:
            return replica
    return len(row_of)


@inlined
def _append(store: Store, batch: Batch, row: int, node: int) -> int:
    """Puts a row into a node; the segment, -1 when space is lacking."""
    recorded = np.int64(batch.about[row].size > 0)
    if recorded and batch.about[row].record < 0:
        if store.tops[0].records + batch.about[row].size > len(store.records):
            return -1
        write_record(store, batch, row)
    segment = _segment_for(store, node, batch, row, recorded)
    if segment >= 0:
        write_entry(store, segment, store.segments[segment].count, batch, row)
        store.segments[segment].count += 1
    return segment


@kernel
def write_places(places: Ints, terms: TermColumns, row_of: Ints, segment_of: Ints) -> None:
    """Notes where rows are; `more` has room for a place a replica and a row."""
    store, terms, replica, count = opened_store(places), bare(terms), 0, len(row_of)
    while replica < count:
        row, first = row_of[replica], replica
        while replica < count and row_of[replica] == row:
            replica += 1
        if replica == first + 1:
            store.places[terms.rows[row]] = segment_of[first]
        else:
            at = store.tops[0].more
            store.places[terms.rows[row]] = -2 - at
            store.more[at] = replica - first
            for place in range(replica - first):
                store.more[at + 1 + place] = segment_of[first + place]
            store.tops[0].more = at + 1 + replica - first
        store.tops[0].live += 1


@inlined
def _leave(store: Store, segment: int, row: int) -> int:
    """Takes a row out of a segment, the last entry into its place; its record, -1 if none."""
    fields = store.segments[segment]
    entry, capacity, last, record = 0, fields.capacity, fields.count - 1, -1
    while entry < last and store.rows[fields.rows_at + entry] != row:
        entry += 1
    if fields.recorded:
        at = fields.rows_at + capacity
        record = np.int64(store.rows[at + entry])
        store.rows[at + entry] = store.rows[at + last]
    store.rows[fields.rows_at + entry] = store.rows[fields.rows_at + last]
    to, stride = columns_of(fields, entry)
    place, last_stride = columns_of(fields, last)
    for column in range(3 * fields.lanes):
        store.lanes[to + column * stride] = store.lanes[place + column * last_stride]
    if store.tops[0].signed:
        move_signature(store, fields, last, entry)
    fields.count = last
    return record


@inlined
def _fetch_rows(store: Store, segment: int) -> None:
    """Asks for the rows of a segment, if it is one."""
    if segment >= 0:
        fields = store.segments[segment]
        for row in range(fields.rows_at, fields.rows_at + fields.count, 16):
            fetch_ahead(store.rows.ctypes.data + 4 * row)


@kernel
def remove(places: Ints, rows: Ints) -> None:
    """Takes rows out that are there."""
    store = opened_store(places)
    for number, row in enumerate(rows):
        if number + 2 * _AHEAD < len(rows):
            fetch_ahead(store.places.ctypes.data + 4 * rows[number + 2 * _AHEAD])
            fetch_header(store, np.int64(store.places[rows[number + _AHEAD]]))
            soon = np.int64(store.places[rows[number + _SOON]])
            _fetch_entry(store, soon)
            _fetch_rows(store, soon)
        place = np.int64(store.places[row])
        store.places[row] = GONE
        store.tops[0].live -= 1
        if place == NEVER:
            continue
        record = -1
        if place >= 0:
            record = _leave(store, place, row)
            store.tops[0].dead_lanes += 3 * store.segments[place].lanes + 4
        else:
            at = -2 - place
            for replica in range(np.int64(store.more[at])):
                segment = np.int64(store.more[at + 1 + replica])
                record = _leave(store, segment, row)
                store.tops[0].dead_lanes += 3 * store.segments[segment].lanes + 8
        if record >= 0:
            store.tops[0].dead_records += record_size(store, record)
