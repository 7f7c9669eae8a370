"""Matches an event: the spaces it is in, the segments of their nodes, 64 entries a step.

Masks of 64 entries are computed for many segments before any is looked at, so that nothing has to
be guessed; rows are written afterwards. Each row is written once: the nodes that hold a replica of
it exclude each other.
Cost: O(nodes that the event is in, and pairs of their spaces) and a few nanoseconds for 64 entries.
"""

from __future__ import annotations

import numpy as np

from tamis.index.buckets.bits import (
    count_bits,
    fetch_ahead,
    lowest_bit,
    portable_masks,
    vector_masks,
    write_chosen,
)  # fmt: skip
from tamis.index.buckets.cells import code_of
from tamis.index.buckets.hashing import find_node, find_space, pair_place, point
from tamis.index.buckets.opening import opened_store
from tamis.index.buckets.records import record_holds
from tamis.index.buckets.scratch import QUEUE, Scratch, opened_scratch
from tamis.index.buckets.segments import fetch_header
from tamis.index.buckets.signatures import next_run, sign_event
from tamis.index.buckets.store import CHUNK, NOWHERE, Store
from tamis.index.reading_kernels import opened_readings
from tamis.index.readings import Readings
from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Bytes, Ints, SmallInts

_AHEAD = 3
"""The segments to fetch ahead, and their headers twice as far."""
_BEGINNING = 8 * CHUNK
_ALL_COUNTED, _EVERY = 1_024, 8
"""Up to how many events all are counted, and then every which."""
_MOST_PER_LINE = 10
"""The spaces of one value: a point, a root and eight levels."""
_MANY = 8
"""The rows of 64 that are written faster together than one by one."""


@inlined
def _read_lines(store: Store, readings: Readings, event: int, to: Scratch) -> None:
    """Notes the codes and values of an event by dimension, and counts its cells."""
    counted = 1 if to.tested[1] < _ALL_COUNTED or to.tested[1] % _EVERY == 0 else 0
    to.tested[1] += 1
    to.tested[2] += counted
    for line in range(readings.line_start[event], readings.line_start[event + 1]):
        value = readings.value[line]
        if value == value:
            dimension = np.int64(readings.line[line])
            code = code_of(store, dimension, value)
            to.codes[dimension] = code
            if counted:
                to.seen[store.dimensions[dimension].cuts + code] += 1
            to.values[dimension] = value
    for bag in range(readings.bag_start[event], readings.bag_start[event + 1]):
        to.codes[readings.bag[bag]] = 0
        if counted:
            to.seen[store.dimensions[readings.bag[bag]].cuts] += 1
        to.bag[readings.bag[bag]] = bag


@inlined
def _forget_lines(readings: Readings, event: int, to: Scratch) -> None:
    for line in range(readings.line_start[event], readings.line_start[event + 1]):
        to.codes[readings.line[line]] = NOWHERE
    for bag in range(readings.bag_start[event], readings.bag_start[event + 1]):
        to.codes[readings.bag[bag]] = NOWHERE


@inlined
def _in_order(readings: Readings, event: int, sort: bool, order: Ints, keys: Ints) -> int:
    """Orders the event's lines and bags: their places, bags as `-1 - place`."""
    first, last = readings.line_start[event], readings.line_start[event + 1]
    first_bag, last_bag = readings.bag_start[event], readings.bag_start[event + 1]
    count = last - first + last_bag - first_bag
    at = 0
    for line in range(first, last):
        order[at], keys[at] = line, readings.line[line]
        at += 1
    for bag in range(first_bag, last_bag):
        order[at], keys[at] = -1 - bag, readings.bag[bag]
        at += 1
    step = 1 if sort else 0
    while sort and step < count // 9:
        step = 3 * step + 1
    while step:
        for place in range(step, count):
            at, key, what = place, keys[place], order[place]
            while at >= step and keys[at - step] > key:
                keys[at], order[at] = keys[at - step], order[at - step]
                at -= step
            keys[at], order[at] = key, what
        step //= 3
    return count


@inlined
def _add_point(store: Store, dimension: int, value: float, spaces: Ints, count: int) -> int:
    what, where = point(dimension, value)
    space = find_space(store, what, where)
    if space >= 0:
        spaces[count] = space
        count += 1
    return count


@inlined
def _is_paired(store: Store, space: int) -> bool:
    """Returns whether a node has a space beside another one."""
    node = store.space_node[space]
    return bool(store.space_deep[space] != 0 or (node >= 0 and store.children[node] > 0))


@inlined
def _spaces_of(store: Store, readings: Readings, event: int, use: Scratch) -> tuple[int, int]:
    """Returns the spaces that an event is in, in the order of dimensions where that matters; how
    many, and how many roots with pairs, whose dimensions are in `keys`."""
    spaces, count, roots = use.spaces, 0, 0
    ordered = store.tops[0].ordered and not len(store.pairs)
    for at in range(_in_order(readings, event, ordered, use.order, use.keys)):
        line = use.order[at]
        if line < 0:
            bag = -1 - line
            dimension = np.int64(readings.bag[bag])
        else:
            dimension = np.int64(readings.line[line])
            if readings.value[line] != readings.value[line]:
                continue
        fields = store.dimensions[dimension]
        if fields.root >= 0:
            spaces[count], use.keys[roots] = fields.root, dimension
            count += 1
            roots += _is_paired(store, fields.root)
        if fields.points:
            if line < 0:
                for member in range(readings.member_start[bag], readings.member_start[bag + 1]):
                    value = readings.members[member]
                    count = _add_point(store, dimension, value, spaces, count)
            else:
                count = _add_point(store, dimension, readings.value[line], spaces, count)
        if fields.levels:
            code = np.int64(use.codes[dimension])
            for level in range(8):
                if (fields.levels >> level) & 1:
                    space = find_space(store, 2 * dimension, (256 + code) >> level)
                    if space >= 0:
                        spaces[count] = space
                        count += 1
    return count, roots


@inlined
def _nodes_of(store: Store, count: int, roots: int, use: Scratch) -> int:
    """Finds the nodes with rows that an event is in: of its spaces, and those that extend them."""
    spaces, deep, visits, stack, found = use.spaces, use.deep, use.visits, use.stack, 0
    if store.chains[0] >= 0:
        visits[0], found = store.chains[0], 1
    last_deep = 0
    for at in range(count):
        if store.space_deep[spaces[at]]:
            deep[last_deep] = at
            last_deep += 1
    after, paired = 0, len(store.pairs) > 0
    for at in range(count):
        node = np.int64(store.space_node[spaces[at]])
        while after < last_deep and deep[after] <= at:
            after += 1
        if node < 0:
            continue
        if store.chains[node] >= 0:
            visits[found] = store.chains[node]
            found += 1
        if paired or not store.children[node]:
            continue
        depth, stack[0, 0], stack[0, 1] = 0, node, after if store.tops[0].ordered else 0
        while depth >= 0:
            place = stack[depth, 1]
            if place == last_deep:
                depth -= 1
                continue
            stack[depth, 1] += 1
            child = find_node(store, stack[depth, 0], spaces[deep[place]])
            if child < 0:
                continue
            if store.chains[child] >= 0:
                visits[found] = store.chains[child]
                found += 1
            if store.children[child]:
                depth += 1
                stack[depth, 0] = child
                stack[depth, 1] = place + 1 if store.tops[0].ordered else 0
    return _add_pairs(store, roots, use, found) if paired else found


@inlined
def _add_pairs(store: Store, roots: int, use: Scratch, found: int) -> int:
    """Adds the nodes of pairs of roots; how many nodes there are."""
    keys, visits, count = use.keys, use.visits, np.uint64(found)
    for later in range(roots):
        key = keys[later]
        for sooner in range(np.uint64(later)):
            segment = store.pairs[np.uint64(pair_place(key, keys[sooner]))]
            visits[count] = segment
            count += np.uint64(segment >= 0)
    return np.int64(count)


@inlined
def _emit(
    store: Store, readings: Readings, vectors: bool, use: Scratch, queued: int, found: int
) -> int:
    """Writes the rows of the masks in the queue; how many there are now."""
    if store.tops[0].records:
        return _emit_checked(store, readings, vectors, use, queued, found)
    chosen = 0
    for place in range(queued):
        chosen += count_bits(use.masks[place])
    if not vectors or chosen < _MANY * queued:
        _emit_few(store.rows, use, found, found + chosen)
        return found + chosen
    for place in range(queued):
        found += _emit_together(store.rows, use, place, found)
    return found


@inlined
def _emit_together(rows: SmallInts, use: Scratch, place: int, found: int) -> int:
    source, to = rows.ctypes.data + 4 * use.queue[place, 0], use.out.ctypes.data + 4 * found
    return write_chosen(source, use.masks[place], to)


@inlined
def _emit_few(rows: SmallInts, use: Scratch, found: int, end: int) -> None:
    """Writes the rows one by one, so that nothing has to be guessed but the end."""
    masks, out, queue = use.masks, use.out, use.queue
    one, place, at, mask = np.uint64(1), np.uint64(0), np.uint64(queue[0, 0]), masks[0]
    for number in range(np.uint64(found), np.uint64(end)):
        out[number] = rows[at + np.uint64(lowest_bit(mask))]
        mask &= mask - one
        is_last = np.uint64(mask == 0)
        place += is_last
        mask |= masks[place] & (np.uint64(0) - is_last)
        at = np.uint64(queue[place, 0])


@inlined
def _emit_checked(
    store: Store, readings: Readings, vectors: bool, use: Scratch, queued: int, found: int
) -> int:
    """Writes the rows whose records hold, where there are any; how many there are now."""
    for place in range(queued):
        mask, at, behind = use.masks[place], use.queue[place, 0], use.queue[place, 1]
        if vectors and not behind:
            found += _emit_together(store.rows, use, place, found)
            continue
        while mask:
            entry = at + lowest_bit(mask)
            mask &= mask - np.uint64(1)
            use.out[found] = store.rows[entry]
            found += behind == 0 or record_holds(
                store.records, np.int64(store.rows[entry + behind]),
                use.values, use.bag, readings.member_start, readings.members,
            )  # fmt: skip
    return found


@inlined
def _test(
    store: Store, fields: Ints, done: int, entries: int, vectors: bool, table: Bytes, use: Scratch,
    queued: int,
) -> int:  # fmt: skip
    """Queues the masks of a stretch of a segment, those with a bit set; how many there are now."""
    lanes, room = fields.lanes, fields.capacity - done
    at, rows_at, behind = (
        fields.lanes_at + 3 * lanes * done,
        fields.rows_at + done,
        fields.recorded * fields.capacity,
    )
    if vectors:
        vector_masks(table, store.lanes, at, room, entries, lanes, use.masks, queued)
    else:
        portable_masks(table, store.lanes, at, room, entries, lanes, use.masks, queued)
    chunks, rest = (entries + CHUNK - 1) // CHUNK, entries % CHUNK
    if rest:
        use.masks[queued + chunks - 1] &= (np.uint64(1) << np.uint64(rest)) - np.uint64(1)
    masks, queue, kept = use.masks, use.queue, np.uint64(queued)
    for place in range(np.uint64(queued), np.uint64(queued + chunks)):
        mask = masks[place]
        masks[kept] = mask
        queue[kept, 0], queue[kept, 1] = rows_at, behind
        rows_at += CHUNK
        kept += np.uint64(mask != np.uint64(0))
    return np.int64(kept)


@inlined
def _fetch_segment(store: Store, segment: int, is_wide: bool) -> None:
    """Asks for where a segment begins, and its dictionary; its header is there by now.

    What comes after that is fetched by itself, as it is read from first to last."""
    fields = store.segments[segment]
    for line in range(0, _BEGINNING, CHUNK):
        fetch_ahead(store.lanes.ctypes.data + fields.lanes_at + line)
    if is_wide:
        for place in range(0, fields.dictionary_count, 16):
            fetch_ahead(store.dictionary.ctypes.data + 4 * (fields.dictionary_at + place))


@inlined
def _match(
    store: Store, readings: Readings, event: int, vectors: bool, use: Scratch, found: int,
    signature: SmallInts | None,
) -> int:  # fmt: skip
    """Appends the rows that an event matches; how many there are now."""
    _read_lines(store, readings, event, use)
    count, roots = _spaces_of(store, readings, event, use)
    visits = _nodes_of(store, count, roots, use)
    queued, is_wide = 0, store.tops[0].wide
    table = use.table if is_wide else use.codes
    if signature is not None:
        sign_event(readings, event, signature)
    for visit in range(visits):
        if visit + 2 * _AHEAD < visits:
            fetch_header(store, use.visits[visit + 2 * _AHEAD])
        if visit + _AHEAD < visits:
            _fetch_segment(store, use.visits[visit + _AHEAD], is_wide)
        segment = use.visits[visit]
        while segment >= 0:
            fields = store.segments[segment]
            if is_wide:
                at = fields.dictionary_at
                for slot in range(fields.dictionary_count):
                    use.table[slot] = use.codes[store.dictionary[at + slot]]
            done, count = 0, fields.count
            while done < count:
                first, done = done, min(count, done + CHUNK * (QUEUE // 2))
                if signature is not None:
                    first, done = next_run(store, fields, first, done, signature)
                entries = done - first
                use.tested[0] += entries
                if queued + (entries + CHUNK - 1) // CHUNK > QUEUE:
                    found = _emit(store, readings, vectors, use, queued, found)
                    queued = 0
                queued = _test(store, fields, first, entries, vectors, table, use, queued)
            segment = fields.next
    _forget_lines(readings, event, use)
    return _emit(store, readings, vectors, use, queued, found)


@kernel
def match_events(
    store: Ints, vectors: bool, signed: bool | None, scratch: Ints, readings: Ints, first: int,
    ends: Ints,
) -> int:  # fmt: skip
    """Matches events from `first` on, as long as there is room; how many were matched.

    Store and scratch come as the places of their arrays, readings packed. Rows are in the scratch's
    `out`, up to `ends` for each. Where rows have signatures, `signed` is not `None`."""
    store, use, readings = opened_store(store), opened_scratch(scratch), opened_readings(readings)
    signature = None if signed is None else use.signature
    found, done = 0, 0
    for event in range(first, len(readings.line_start) - 1):
        if found + store.tops[0].live + 1 > len(use.out):
            break
        if not _has_room(store, readings, event, use):
            break
        found = _match(store, readings, event, vectors, use, found, signature)
        ends[done] = found
        done += 1
    return done


@inlined
def _has_room(store: Store, readings: Readings, event: int, use: Scratch) -> bool:
    lines = readings.line_start[event + 1] - readings.line_start[event]
    first_bag, last_bag = readings.bag_start[event], readings.bag_start[event + 1]
    members = readings.member_start[last_bag] - readings.member_start[first_bag]
    spaces = _MOST_PER_LINE * (lines + last_bag - first_bag) + members
    nodes = min(store.tops[0].nodes, spaces * spaces)
    return bool(
        spaces <= len(use.spaces)
        and lines + last_bag - first_bag <= len(use.order)
        and nodes < len(use.visits)
    )
