"""What the arrays of PS-Trees hold, and how their parts are taken, given back and counted.

A boundary is the first value of a space, as a key: an integer that orders as doubles do, both zeros
being 0, so that the next double has the next key. Keys of a dimension ascend through its blocks,
which its directory lists in order. A leaf is the number of a space.
Invariant: what is free is linked from `heads`; the events of a leaf lie between its least and its
greatest. Nothing allocates: whoever calls these makes room. Cost: O(1).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.keys import MAGNITUDE
from tamis.numeric.types import Floats, Ints, SmallInts

INFINITY = 0x7FF0000000000000
"""The key of inf, and of -inf when negated."""

BLOCK = 128
SMALLEST = 4
"""A block has room for 4, 8, … 128 keys, a directory for 4 blocks, 8 …"""
_BLOCK_SIZES = 6
_DIRECTORY_SIZES = 28

PLACE, FILL, ROOM = range(3)
DIRECTORY, BLOCKS, DIRECTORY_ROOM, SPACES, FRACTIONAL = range(5)
BEGINNING, ENDING = range(2)
EVENTS, LEAST, GREATEST = range(3)
KEYS_END, BLOCKS_END, LEAVES_END, _FREE_LEAF, _FREE_KEYS = range(5)
_FREE_BLOCKS = _FREE_KEYS + _BLOCK_SIZES
HEADS = _FREE_BLOCKS + _DIRECTORY_SIZES


class Arrays(NamedTuple):
    """PS-Trees of many dimensions."""

    keys: Ints
    leaves: SmallInts
    """Beside each key, the leaf that begins there."""
    first: Ints
    """Directories: beside each block its first key."""
    blocks: SmallInts
    """Where the keys of each block are, how many, and how many have room."""
    held: Floats
    """The historical events of each block."""
    dimensions: SmallInts
    """Where the directory of each is, how many blocks it has, and how many have room; how many
    spaces there are; whether an event had a value that is no integer."""
    uses: SmallInts
    """Of each leaf, how many predicates begin with it, and how many end just before it."""
    history: Floats
    """Of each leaf its historical events and between which values they lie; no rows before any."""
    heads: Ints
    """Where each array ends, and what is free of it."""


@inlined
def key_of(value: float) -> int:
    """The key of a double; beyond those of the infinities for NaN."""
    bits: Any = np.float64(value).view(np.int64)
    return bits if bits >= 0 else -(bits & MAGNITUDE)


@inlined
def value_of(key: int) -> Any:
    """The double that has a key."""
    if key < 0:
        return -np.int64(-key).view(np.float64)
    return np.int64(key).view(np.float64)


@inlined
def _size(room: int) -> int:
    number = 0
    while SMALLEST << number < room:
        number += 1
    return number


@inlined
def _take(heads: Ints, free: int, links: Ints, end: int, room: int) -> Any:
    at = heads[free]
    if at >= 0:
        heads[free] = links[at]
        return at
    at = heads[end]
    heads[end] += room
    return at


@inlined
def take_keys(trees: Arrays, room: int) -> Any:
    """Where a block of so much room may be."""
    return _take(trees.heads, _FREE_KEYS + _size(room), trees.keys, KEYS_END, room)


@inlined
def give_keys(trees: Arrays, at: int, room: int) -> None:
    """Gives the place of a block back."""
    trees.keys[at] = trees.heads[_FREE_KEYS + _size(room)]
    trees.heads[_FREE_KEYS + _size(room)] = at


@inlined
def take_blocks(trees: Arrays, room: int) -> Any:
    """Where a directory of so much room may be."""
    return _take(trees.heads, _FREE_BLOCKS + _size(room), trees.first, BLOCKS_END, room)


@inlined
def give_blocks(trees: Arrays, at: int, room: int) -> None:
    """Gives the place of a directory back."""
    trees.first[at] = trees.heads[_FREE_BLOCKS + _size(room)]
    trees.heads[_FREE_BLOCKS + _size(room)] = at


@inlined
def take_leaf(trees: Arrays) -> Any:
    """A leaf that nobody uses; it has no events."""
    heads = trees.heads
    leaf = heads[_FREE_LEAF]
    if leaf >= 0:
        heads[_FREE_LEAF] = trees.uses[leaf, BEGINNING]
    else:
        leaf = heads[LEAVES_END]
        heads[LEAVES_END] += 1
    trees.uses[leaf, BEGINNING] = 0
    trees.uses[leaf, ENDING] = 0
    return leaf


@inlined
def give_leaf(trees: Arrays, leaf: int) -> None:
    """Gives a leaf back."""
    trees.uses[leaf, BEGINNING] = trees.heads[_FREE_LEAF]
    trees.heads[_FREE_LEAF] = leaf


@inlined
def free_blocks(trees: Arrays) -> int:
    """How many blocks of the largest room were given back."""
    count, at = 0, trees.heads[_FREE_KEYS + _size(BLOCK)]
    while at >= 0:
        count += 1
        at = trees.keys[at]
    return count


@inlined
def free_leaves(trees: Arrays) -> int:
    """How many leaves were given back."""
    count, leaf = 0, trees.heads[_FREE_LEAF]
    while leaf >= 0:
        count += 1
        leaf = np.int64(trees.uses[leaf, BEGINNING])
    return count


@inlined
def record(trees: Arrays, leaf: int, value: float, times: float) -> None:
    """Counts an event on a leaf, so often."""
    history = trees.history
    if history[leaf, EVENTS] == 0.0:
        history[leaf, LEAST] = value
        history[leaf, GREATEST] = value
    history[leaf, EVENTS] += times
    history[leaf, LEAST] = min(history[leaf, LEAST], value)
    history[leaf, GREATEST] = max(history[leaf, GREATEST], value)


@inlined
def share_below(trees: Arrays, dimension: int, leaf: int, key: int) -> float:
    """The share of a leaf's events that lie below a key: linear between the least and the
    greatest seen, in steps of 1 as long as all were integers; half when one of them is infinite."""
    least, greatest = trees.history[leaf, LEAST], trees.history[leaf, GREATEST]
    if key <= key_of(least):
        return 0.0
    if key > key_of(greatest):
        return 1.0
    if math.isinf(least) or math.isinf(greatest):
        return 0.5
    value, step = value_of(key), 0.0
    if not trees.dimensions[dimension, FRACTIONAL]:
        value, step = np.ceil(value), 1.0
    if math.isinf(greatest - least):
        value, least, greatest = value / 2, least / 2, greatest / 2
    return float((value - least) / (greatest - least + step))


@kernel
def share_out(trees: Arrays, dimension: int, leaf: int, new: int, key: int) -> None:
    """Moves to a new leaf the events from a key on."""
    history = trees.history
    if not len(history) or history[leaf, EVENTS] == 0.0:
        return
    below = share_below(trees, dimension, leaf, key)
    moved = history[leaf, EVENTS] * (1.0 - below)
    last, begin = value_of(key - 1), value_of(key)
    if not trees.dimensions[dimension, FRACTIONAL]:
        last, begin = np.floor(last), np.ceil(begin)
    history[new, EVENTS] = moved
    history[new, LEAST] = max(history[leaf, LEAST], begin)
    history[new, GREATEST] = history[leaf, GREATEST]
    history[leaf, EVENTS] -= moved
    history[leaf, GREATEST] = min(history[leaf, GREATEST], last)


@kernel
def add_up(trees: Arrays, kept: int, gone: int) -> None:
    """Moves the events of a leaf to another."""
    history = trees.history
    if not len(history) or history[gone, EVENTS] == 0.0:
        return
    if history[kept, EVENTS] == 0.0:
        history[kept] = history[gone]
        history[gone, EVENTS] = 0.0
        return
    history[kept, EVENTS] += history[gone, EVENTS]
    history[kept, LEAST] = min(history[kept, LEAST], history[gone, LEAST])
    history[kept, GREATEST] = max(history[kept, GREATEST], history[gone, GREATEST])
    history[gone, EVENTS] = 0.0


@kernel
def recount(trees: Arrays, block: int) -> None:
    """Adds up the events of a block again."""
    if not len(trees.history):
        return
    begin = trees.blocks[block, PLACE]
    events = 0.0
    for place in range(begin, begin + trees.blocks[block, FILL]):
        events += trees.history[trees.leaves[place], EVENTS]
    trees.held[block] = events
