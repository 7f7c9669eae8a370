"""Many at once: boundaries merged into PS-Trees in order, historical events counted on the leaves.

Invariant: blocks that are packed are as full as leaves room for some inserts.
Cost: O(n) for n boundaries in order; O(log n) an event; O(blocks) for the events of a range.
"""

from __future__ import annotations

import numpy as np

from tamis.index.ps_tree_arrays import (
    BEGINNING,
    BLOCK,
    BLOCKS,
    DIRECTORY,
    DIRECTORY_ROOM,
    ENDING,
    EVENTS,
    FRACTIONAL,
    INFINITY,
    PLACE,
    SMALLEST,
    SPACES,
    Arrays,
    free_blocks,
    free_leaves,
    give_blocks,
    key_of,
    record,
    recount,
    share_below,
    share_out,
    take_blocks,
    take_keys,
    take_leaf,
)
from tamis.index.ps_tree_kernels import (
    NOWHERE,
    close,
    describe,
    drop,
    enlist,
    found,
    listed,
    put,
    room_for,
)
from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Flags, Floats, Ints, SmallInts

_SNUG = BLOCK * 7 // 8
"""How many keys a block is packed with, so that some inserts find room."""


@kernel
def grouped(dimension: SmallInts, keys: Ints, dimensions: int) -> tuple[Ints, Ints]:
    """The keys that are none beyond infinity, by dimension, and where each dimension begins."""
    start = np.zeros(dimensions + 1, np.int64)
    for at in range(len(keys)):
        if keys[at] <= INFINITY:
            start[dimension[at] + 1] += 1
    for each in range(dimensions):
        start[each + 1] += start[each]
    next_ = start[:-1].copy()
    result = np.empty(start[-1], np.int64)
    for at in range(len(keys)):
        if keys[at] <= INFINITY:
            result[next_[dimension[at]]] = keys[at]
            next_[dimension[at]] += 1
    return start, result


@inlined
def distinct(beginning: Ints, ending: Ints) -> int:
    """How many boundaries two ascending rows have, beside that of -inf."""
    begun = ended = count = 0
    last = -INFINITY
    while begun < len(beginning) or ended < len(ending):
        if ended == len(ending) or (begun < len(beginning) and beginning[begun] <= ending[ended]):
            key = beginning[begun]
            begun += 1
        else:
            key = ending[ended]
            ended += 1
        count += key != last
        last = key
    return count


@kernel
def insert_ranges(
    trees: Arrays, dimension: SmallInts, begin: Ints, end: Ints, outside: Flags, done: int
) -> int:
    """Inserts predicates from the one at `done` on, while there is room; where it stops."""
    splits = np.empty((2, 2), np.int32)
    while done < len(begin) and room_for(trees, dimension[done], 1):
        put(trees, dimension[done], begin[done], end[done], outside[done], splits)
        done += 1
    return done


@kernel
def delete_ranges(
    trees: Arrays, dimension: SmallInts, begin: Ints, end: Ints, outside: Flags, done: int
) -> int:
    """Deletes predicates likewise, up to one that is not there."""
    merges = np.empty((2, 2), np.int32)
    while done < len(begin) and room_for(trees, dimension[done], 1):
        at = dimension[done]
        if drop(trees, at, begin[done], end[done], outside[done], merges) == NOWHERE:
            break
        done += 1
    return done


@kernel
def merge(trees: Arrays, dimension: int, beginning: Ints, ending: Ints) -> None:
    """Uses many boundaries at once, given in ascending order, and packs the blocks anew."""
    uses, counted = trees.uses, len(trees.history) > 0
    old = trees.dimensions[dimension, SPACES]
    old_keys, old_leaves = np.empty(old, np.int64), np.empty(old, np.int32)
    listed(trees, dimension, old_keys, old_leaves)
    most = old + len(beginning) + len(ending)
    keys, leaves = np.empty(most, np.int64), np.empty(most, np.int32)
    here = begun = ended = count = 0
    while here < old or begun < len(beginning) or ended < len(ending):
        key = old_keys[here] if here < old else INFINITY
        if begun < len(beginning):
            key = min(key, beginning[begun])
        if ended < len(ending):
            key = min(key, ending[ended])
        if here < old and old_keys[here] == key:
            leaf = np.int64(old_leaves[here])
            here += 1
        else:
            leaf = np.int64(take_leaf(trees))
            if counted:
                share_out(trees, dimension, leaves[count - 1], leaf, key)
        while begun < len(beginning) and beginning[begun] == key:
            uses[leaf, BEGINNING] += 1
            begun += 1
        while ended < len(ending) and ending[ended] == key:
            uses[leaf, ENDING] += 1
            ended += 1
        keys[count], leaves[count] = key, leaf
        count += 1
    _pack(trees, dimension, keys[:count], leaves[:count])


@inlined
def rooms(spaces: int) -> tuple[int, int, int]:
    """How many blocks a dimension of so many spaces is packed into, the room of each, and that
    of the directory."""
    count, room = 1, SMALLEST
    if spaces > BLOCK:
        count, room = -(-spaces // _SNUG), BLOCK
    while room < spaces and room < BLOCK:
        room *= 2
    directory = SMALLEST
    while directory < count:
        directory *= 2
    return count, room, directory


@kernel
def _pack(trees: Arrays, dimension: int, keys: Ints, leaves: SmallInts) -> None:
    """Puts all boundaries of a dimension into new blocks."""
    for _ in range(trees.dimensions[dimension, BLOCKS]):
        last = trees.dimensions[dimension, DIRECTORY] + trees.dimensions[dimension, BLOCKS] - 1
        close(trees, dimension, last)
    of = trees.dimensions[dimension]
    give_blocks(trees, of[DIRECTORY], of[DIRECTORY_ROOM])
    count, room, directory_room = rooms(len(keys))
    directory = take_blocks(trees, directory_room)
    enlist(trees, dimension, directory, count, directory_room)
    of[SPACES] = len(keys)
    for number in range(count):
        begin, end = number * len(keys) // count, (number + 1) * len(keys) // count
        place = take_keys(trees, room)
        trees.keys[place : place + end - begin] = keys[begin:end]
        trees.leaves[place : place + end - begin] = leaves[begin:end]
        trees.first[directory + number] = keys[begin]
        describe(trees, directory + number, place, end - begin, room)
        recount(trees, directory + number)


@kernel
def room_to_merge(
    trees: Arrays, begun: Ints, beginning: Ints, ended: Ints, ending: Ints
) -> tuple[int, int, int]:
    """How many keys, blocks and leaves `merge_all` needs at most at the ends of the arrays."""
    keys = full = blocks = leaves = 0
    for dimension in range(len(begun) - 1):
        first = beginning[begun[dimension] : begun[dimension + 1]]
        second = ending[ended[dimension] : ended[dimension + 1]]
        if len(first) or len(second):
            new = distinct(first, second)
            count, room, directory = rooms(trees.dimensions[dimension, SPACES] + new)
            if room == BLOCK:
                full += count
            else:
                keys += room
            blocks += directory
            leaves += new
    full = max(0, full - free_blocks(trees))
    return keys + full * BLOCK, blocks, max(0, leaves - free_leaves(trees))


@kernel
def merge_all(trees: Arrays, begun: Ints, beginning: Ints, ended: Ints, ending: Ints) -> None:
    """Merges the boundaries of each dimension, ascending within it."""
    for dimension in range(len(begun) - 1):
        first = beginning[begun[dimension] : begun[dimension + 1]]
        second = ending[ended[dimension] : ended[dimension + 1]]
        if len(first) or len(second):
            merge(trees, dimension, first, second)


@kernel
def count_events(trees: Arrays, dimension: SmallInts, value: Floats, times: Floats) -> None:
    """Counts historical events, each in its dimension and so often; NaN is no event."""
    for at in range(len(value)):
        key = key_of(value[at])
        if -INFINITY <= key <= INFINITY:
            if value[at] != np.floor(value[at]):
                trees.dimensions[dimension[at], FRACTIONAL] = 1
            block, place = found(trees, dimension[at], key)
            trees.held[block] += times[at]
            record(trees, trees.leaves[place], value[at], times[at])


@inlined
def events_below(trees: Arrays, dimension: int, key: int) -> float:
    """How many historical events have a value below that of a key."""
    events = 0.0
    if not len(trees.history):
        return events
    directory, count = trees.dimensions[dimension, DIRECTORY], trees.dimensions[dimension, BLOCKS]
    if key > INFINITY:
        for block in range(directory, directory + count):
            events += trees.held[block]
        return events
    last, place = found(trees, dimension, key)
    for block in range(directory, last):
        events += trees.held[block]
    for before in range(trees.blocks[last, PLACE], place):
        events += trees.history[trees.leaves[before], EVENTS]
    leaf = trees.leaves[place]
    if trees.history[leaf, EVENTS] > 0.0:
        events += trees.history[leaf, EVENTS] * share_below(trees, dimension, leaf, key)
    return events


@kernel
def events_of(
    trees: Arrays, dimension: SmallInts, begin: Ints, end: Ints, outside: Flags
) -> Floats:
    """How many historical events have values with keys from one to before another, or others."""
    events = np.zeros(len(begin))
    for at in range(len(begin)):
        if begin[at] < end[at]:
            below = events_below(trees, dimension[at], begin[at])
            events[at] = max(0.0, events_below(trees, dimension[at], end[at]) - below)
        if outside[at]:
            total = events_below(trees, dimension[at], INFINITY + 1)
            events[at] = max(0.0, total - events[at])
    return events
