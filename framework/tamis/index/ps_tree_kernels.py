"""How boundaries of predicate spaces are found, added and removed in the arrays of PS-Trees.

Invariant: the first key of a block is beside it in its directory; the first of a dimension is that
of -inf and stays; any other is used by a predicate that begins there or ends just before it.
Kernels never allocate: who calls `cut`, `uncut` or `merge` makes room first.
Cost: O(log n) to find, and 128 keys moved at most to change; a directory moves once in 64 changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.index.ps_tree_arrays import (
    BEGINNING,
    BLOCK,
    BLOCKS,
    BLOCKS_END,
    DIRECTORY,
    DIRECTORY_ROOM,
    ENDING,
    FILL,
    FRACTIONAL,
    INFINITY,
    KEYS_END,
    LEAVES_END,
    PLACE,
    ROOM,
    SMALLEST,
    SPACES,
    Arrays,
    add_up,
    give_blocks,
    give_keys,
    give_leaf,
    key_of,
    recount,
    share_out,
    take_blocks,
    take_keys,
    take_leaf,
)
from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Floats, Ints, SmallInts

NOWHERE = -1
_TOGETHER = BLOCK * 3 // 4
"""How many keys two neighbors have at most when they become one: later inserts find room."""


@kernel
def open_dimensions(trees: Arrays, begin: int, end: int) -> None:
    """Gives new dimensions their one space, from -inf to inf."""
    for dimension in range(begin, end):
        at, directory = take_keys(trees, SMALLEST), take_blocks(trees, SMALLEST)
        trees.keys[at] = trees.first[directory] = -INFINITY
        trees.leaves[at] = take_leaf(trees)
        trees.held[directory] = 0.0
        describe(trees, directory, at, 1, SMALLEST)
        enlist(trees, dimension, directory, 1, SMALLEST)
        trees.dimensions[dimension, SPACES] = 1
        trees.dimensions[dimension, FRACTIONAL] = 0


@inlined
def describe(trees: Arrays, block: int, place: int, fill: int, room: int) -> None:
    """Says where the keys of a block are."""
    trees.blocks[block, PLACE] = place
    trees.blocks[block, FILL] = fill
    trees.blocks[block, ROOM] = room


@inlined
def enlist(trees: Arrays, dimension: int, directory: int, count: int, room: int) -> None:
    """Says where the directory of a dimension is."""
    trees.dimensions[dimension, DIRECTORY] = directory
    trees.dimensions[dimension, BLOCKS] = count
    trees.dimensions[dimension, DIRECTORY_ROOM] = room


@inlined
def _last_at_most(keys: Ints, at: int, count: int, key: int) -> int:
    """Where the last key is that is not greater; the first one is not."""
    while count > 1:
        half = count >> 1
        at = at + half if keys[at + half] <= key else at
        count -= half
    return at


@inlined
def found(trees: Arrays, dimension: int, key: int) -> tuple[int, int]:
    """The block in whose stretch of the line a key lies, and where its space begins."""
    of = trees.dimensions[dimension]
    block = _last_at_most(trees.first, np.int64(of[DIRECTORY]), np.int64(of[BLOCKS]), key)
    begin, fill = np.int64(trees.blocks[block, PLACE]), np.int64(trees.blocks[block, FILL])
    return block, _last_at_most(trees.keys, begin, fill, key)


@inlined
def leaf_at(trees: Arrays, dimension: int, value: float) -> int:
    """The leaf whose space holds a value (Algorithm 3); `NOWHERE` for NaN."""
    key = key_of(value)
    if not -INFINITY <= key <= INFINITY:
        return NOWHERE
    return np.int64(trees.leaves[found(trees, dimension, key)[1]])


@kernel
def leaves_of(trees: Arrays, dimension: SmallInts, value: Floats) -> SmallInts:
    """The leaves of many values, each in its dimension."""
    result = np.empty(len(value), np.int32)
    for at in range(len(value)):
        result[at] = leaf_at(trees, dimension[at], value[at])
    return result


@inlined
def following(trees: Arrays, dimension: int, block: int, place: int) -> tuple[int, int]:
    """The block and the place of the next space; `NOWHERE` for the place behind the last."""
    if place + 1 < trees.blocks[block, PLACE] + trees.blocks[block, FILL]:
        return block, place + 1
    block += 1
    if block == trees.dimensions[dimension, DIRECTORY] + trees.dimensions[dimension, BLOCKS]:
        return block, NOWHERE
    return block, np.int64(trees.blocks[block, PLACE])


@kernel
def walk(trees: Arrays, dimension: int, begin: int, end: int, into: SmallInts) -> int:
    """Writes the leaves of the spaces that hold keys from one to before another; how many."""
    count = 0
    if begin < end:
        block, place = found(trees, dimension, begin)
        while place != NOWHERE and trees.keys[place] < end:
            into[count] = trees.leaves[place]
            count += 1
            block, place = following(trees, dimension, block, place)
    return count


@kernel
def listed(trees: Arrays, dimension: int, keys: Ints, leaves: SmallInts) -> None:
    """Writes all boundaries of a dimension and their leaves."""
    directory, count = trees.dimensions[dimension, DIRECTORY], trees.dimensions[dimension, BLOCKS]
    done = 0
    for block in range(directory, directory + count):
        place, fill = trees.blocks[block, PLACE], trees.blocks[block, FILL]
        keys[done : done + fill] = trees.keys[place : place + fill]
        leaves[done : done + fill] = trees.leaves[place : place + fill]
        done += fill


@inlined
def room_for(trees: Arrays, dimension: int, predicates: int) -> bool:
    """Whether so many predicates of a dimension can come or go without making room."""
    heads, boundaries = trees.heads, 2 * predicates
    directory = 2 * (trees.dimensions[dimension, DIRECTORY_ROOM] + boundaries)
    return bool(
        heads[KEYS_END] + boundaries * BLOCK <= len(trees.keys)
        and heads[BLOCKS_END] + directory <= len(trees.first)
        and heads[LEAVES_END] + boundaries <= len(trees.uses)
    )


@kernel
def has_room(trees: Arrays, dimension: int, predicates: int) -> bool:
    """The same for who makes room."""
    return room_for(trees, dimension, predicates)


@inlined
def put(
    trees: Arrays, dimension: int, begin: int, end: int, outside: bool, splits: SmallInts
) -> int:
    """Inserts a predicate over keys from `begin` to before `end`, or over all others (Algorithm
    2); writes which leaf was split and which came of it, and gives how often."""
    keys, leaves, blocks, uses = trees.keys, trees.leaves, trees.blocks, trees.uses
    count = 0
    opens, closes = (end, begin) if outside else (begin, end)
    if outside:
        uses[leaves[blocks[trees.dimensions[dimension, DIRECTORY], PLACE]], BEGINNING] += 1
    for use in (BEGINNING, ENDING):
        key = opens if use == BEGINNING else closes
        if key > INFINITY:
            continue
        block, place = found(trees, dimension, key)
        leaf = np.int64(leaves[place])
        if keys[place] == key:
            uses[leaf, use] += 1
            continue
        if blocks[block, FILL] == blocks[block, ROOM]:
            block, place = _widen(trees, dimension, block, place, key)
        new = take_leaf(trees)
        uses[new, use] = 1
        trees.dimensions[dimension, SPACES] += 1
        for each in range(blocks[block, PLACE] + blocks[block, FILL], place + 1, -1):
            keys[each] = keys[each - 1]
            leaves[each] = leaves[each - 1]
        keys[place + 1] = key
        leaves[place + 1] = new
        blocks[block, FILL] += 1
        if len(trees.history):
            share_out(trees, dimension, leaf, new, key)
            if blocks[block, FILL] == 1:
                recount(trees, block - 1)
                recount(trees, block)
        splits[count, 0], splits[count, 1] = leaf, new
        count += 1
    return count


@kernel
def insert_range(
    trees: Arrays, dimension: int, begin: int, end: int, outside: bool, splits: SmallInts
) -> int:
    """`put` for one."""
    return put(trees, dimension, begin, end, outside, splits)


@kernel
def _widen(trees: Arrays, dimension: int, block: int, place: int, key: int) -> tuple[int, int]:
    """Makes room in a full block for a key behind a place; the block and place to go behind."""
    kept = np.int64(trees.blocks[block, FILL])
    offset = place - trees.blocks[block, PLACE]
    if kept < BLOCK:
        _move(trees, block, 2 * kept)
    else:
        # an ascending row of inserts leaves full blocks behind it
        kept = kept if offset == kept - 1 else kept >> 1
        block = _split(trees, dimension, block, kept)
        if offset >= kept or kept == BLOCK:
            block += 1
            offset -= kept
        if kept == BLOCK:
            trees.first[block] = key
    return block, trees.blocks[block, PLACE] + offset


@kernel
def _copy_keys(trees: Arrays, source: int, count: int, target: int) -> None:
    trees.keys[target : target + count] = trees.keys[source : source + count]
    trees.leaves[target : target + count] = trees.leaves[source : source + count]


@kernel
def _move(trees: Arrays, block: int, room: int) -> None:
    """Gives a block another room."""
    source, fill = trees.blocks[block, PLACE], trees.blocks[block, FILL]
    target = take_keys(trees, room)
    _copy_keys(trees, source, fill, target)
    give_keys(trees, source, trees.blocks[block, ROOM])
    describe(trees, block, target, fill, room)


@kernel
def _copy_block(trees: Arrays, source: int, target: int) -> None:
    trees.first[target] = trees.first[source]
    trees.held[target] = trees.held[source]
    for column in range(ROOM + 1):
        trees.blocks[target, column] = trees.blocks[source, column]


@kernel
def _split(trees: Arrays, dimension: int, block: int, kept: int) -> Any:
    """Moves what a block does not keep to a new one behind it; where the block is now."""
    directory, count = trees.dimensions[dimension, DIRECTORY], trees.dimensions[dimension, BLOCKS]
    room = trees.dimensions[dimension, DIRECTORY_ROOM]
    if count == room:
        moved = take_blocks(trees, 2 * room)
        for each in range(count):
            _copy_block(trees, directory + each, moved + each)
        give_blocks(trees, directory, room)
        enlist(trees, dimension, moved, count, 2 * room)
        block += moved - directory
        directory = moved
    for each in range(directory + count, block + 1, -1):
        _copy_block(trees, each - 1, each)
    trees.dimensions[dimension, BLOCKS] += 1
    begin, more = trees.blocks[block, PLACE] + kept, trees.blocks[block, FILL] - kept
    place = take_keys(trees, BLOCK)
    _copy_keys(trees, begin, more, place)
    describe(trees, block + 1, place, more, BLOCK)
    trees.blocks[block, FILL] = kept
    trees.first[block + 1] = trees.keys[place]
    recount(trees, block)
    recount(trees, block + 1)
    return block


@inlined
def _is(trees: Arrays, place: int, key: int, use: int) -> bool:
    """Whether the space at a place begins with a boundary that is used so, or one is needless."""
    used = trees.uses[trees.leaves[place], use] > 0
    return bool(key > INFINITY or (trees.keys[place] == key and used))


@inlined
def drop(
    trees: Arrays, dimension: int, begin: int, end: int, outside: bool, merges: SmallInts
) -> int:
    """The reverse: which leaf stays and which was merged into it, and how often; `NOWHERE` when
    there is no predicate with these boundaries."""
    keys, leaves, blocks, uses = trees.keys, trees.leaves, trees.blocks, trees.uses
    opens, closes = (end, begin) if outside else (begin, end)
    opened, first_place = found(trees, dimension, opens)
    closed, last_place = found(trees, dimension, closes)
    lowest = leaves[blocks[trees.dimensions[dimension, DIRECTORY], PLACE]]
    if not (
        _is(trees, first_place, opens, BEGINNING)
        and _is(trees, last_place, closes, ENDING)
        and uses[lowest, BEGINNING] >= outside
    ):
        return NOWHERE
    uses[lowest, BEGINNING] -= outside
    count = 0
    for use in (BEGINNING, ENDING):
        key = opens if use == BEGINNING else closes
        if key > INFINITY:
            continue
        block, place = (opened, first_place) if use == BEGINNING else (closed, last_place)
        if count:
            block, place = found(trees, dimension, key)
        leaf = np.int64(leaves[place])
        uses[leaf, use] -= 1
        if uses[leaf, BEGINNING] or uses[leaf, ENDING] or key == -INFINITY:
            continue
        merges[count, 0], merges[count, 1] = _left_of(trees, block, place), leaf
        blocks[block, FILL] -= 1
        trees.dimensions[dimension, SPACES] -= 1
        for each in range(place, blocks[block, PLACE] + blocks[block, FILL]):
            keys[each] = keys[each + 1]
            leaves[each] = leaves[each + 1]
        trees.first[block] = keys[blocks[block, PLACE]]
        if len(trees.history):
            add_up(trees, merges[count, 0], leaf)
            if place == blocks[block, PLACE]:
                recount(trees, block - 1)
                recount(trees, block)
        if 4 * blocks[block, FILL] <= blocks[block, ROOM]:
            _tidy(trees, dimension, block)
        give_leaf(trees, leaf)
        count += 1
    return count


@inlined
def _left_of(trees: Arrays, block: int, place: int) -> int:
    """The leaf before the one at a place."""
    if place == trees.blocks[block, PLACE]:
        place = trees.blocks[block - 1, PLACE] + trees.blocks[block - 1, FILL]
    return np.int64(trees.leaves[place - 1])


@kernel
def delete_range(
    trees: Arrays, dimension: int, begin: int, end: int, outside: bool, merges: SmallInts
) -> int:
    """`drop` for one."""
    return drop(trees, dimension, begin, end, outside, merges)


@kernel
def _tidy(trees: Arrays, dimension: int, block: int) -> None:
    """Keeps blocks from being many and nearly empty."""
    directory, count = trees.dimensions[dimension, DIRECTORY], trees.dimensions[dimension, BLOCKS]
    if trees.blocks[block, FILL] == 0:
        close(trees, dimension, block)
        return
    if count == 1:
        if trees.blocks[block, ROOM] > SMALLEST:
            _move(trees, block, trees.blocks[block, ROOM] >> 1)
        return
    left = block if block + 1 < directory + count else block - 1
    if trees.blocks[left, FILL] + trees.blocks[left + 1, FILL] <= _TOGETHER:
        _join(trees, dimension, left)


@kernel
def _join(trees: Arrays, dimension: int, block: int) -> None:
    """Moves the keys of the next block behind those of a block."""
    fill, more = trees.blocks[block, FILL], trees.blocks[block + 1, FILL]
    if fill + more > trees.blocks[block, ROOM]:
        _move(trees, block, BLOCK)
    _copy_keys(trees, trees.blocks[block + 1, PLACE], more, trees.blocks[block, PLACE] + fill)
    trees.blocks[block, FILL] = fill + more
    recount(trees, block)
    close(trees, dimension, block + 1)


@kernel
def close(trees: Arrays, dimension: int, block: int) -> None:
    """Takes a block out of its directory."""
    give_keys(trees, trees.blocks[block, PLACE], trees.blocks[block, ROOM])
    last = trees.dimensions[dimension, DIRECTORY] + trees.dimensions[dimension, BLOCKS] - 1
    for each in range(block, last):
        _copy_block(trees, each + 1, each)
    trees.dimensions[dimension, BLOCKS] -= 1
