"""The PS-Tree as its paper draws it (§4, Algorithms 1 to 3): a trie of digits, to be measured.

A value is 16 digits of 4 bits: three of sign and exponent, thirteen of mantissa, of an image that
orders as doubles do. An inner node links to 16 others; one at the end of a value links to the
leaves below it, at it and above it (`l`, `e`, `g`). Leaves know the next one.
Invariant: a node at the end of a value is there while the value bounds a predicate.
Cost: 16 steps a value and as many back; `insert_predicate` passes over all leaves it covers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.index.ps_tree_arrays import key_of
from tamis.numeric.kernels import inlined, kernel

Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]

DIGITS = 16
L, E, G, BEFORE, AFTER = range(5)
NEXT, COUNTER = range(2)
NODES, ENDS, LEAVES, FREE_NODE, FREE_END, FREE_LEAF = range(6)
NONE = -1
ROOT = 0
"""The node that all values begin at, and the end whose `g` is the first leaf and `l` the last."""


class Trie(NamedTuple):
    """One dimension."""

    links: SmallInts
    """Of each inner node the nodes of its digits; of the last ones, ends of values."""
    ends: SmallInts
    """Of each end its leaves l, e, g, and how many predicates divide before it and behind it."""
    leaves: SmallInts
    heads: Ints


def new_trie(values: int) -> Trie:
    """A trie with room for so many values."""
    trie = Trie(
        np.empty((values * DIGITS + DIGITS, DIGITS), np.int32),
        np.zeros((values + 1, 5), np.int32),
        np.zeros((2 * values + 1, 2), np.int32),
        np.array([1, 1, 1, NONE, NONE, NONE]),
    )
    trie.links[ROOT] = NONE
    trie.leaves[0, NEXT] = NONE
    return trie


def bytes_of(trie: Trie) -> int:
    """What its nodes and leaves take, without room that is unused."""
    parts = zip((trie.links, trie.ends, trie.leaves), trie.heads[: LEAVES + 1], strict=True)
    return sum(int(count) * part[0].nbytes for part, count in parts)


@inlined
def _digit(key: int, depth: int) -> int:
    return ((key >> (4 * (DIGITS - 1 - depth))) & 15) ^ (8 if depth == 0 else 0)


@inlined
def _taken(heads: Ints, table: SmallInts, end: int, free: int) -> Any:
    at = heads[free]
    if at >= 0:
        heads[free] = table[at, 0]
        return at
    at = heads[end]
    heads[end] += 1
    return at


@inlined
def _given(heads: Ints, table: SmallInts, free: int, at: int) -> None:
    table[at, 0] = heads[free]
    heads[free] = at


@inlined
def get_right_node(links: SmallInts, path: Ints, key: int, depth: int) -> tuple[Any, int]:
    """GetRNode: the node next to the right of a path that goes to a depth, and its depth; depth 0
    when there is none but the root."""
    while depth >= 0:
        node = path[depth]
        for digit in range(_digit(key, depth) + 1, DIGITS):
            if links[node, digit] >= 0:
                return np.int64(links[node, digit]), depth + 1
        depth -= 1
    return ROOT, 0


@inlined
def get_left_node(links: SmallInts, node: Any, depth: int) -> Any:
    """GetLNode: the end of the least value below a node."""
    if depth == 0:
        return ROOT
    while depth < DIGITS:
        digit = 0
        while links[node, digit] < 0:
            digit += 1
        node = np.int64(links[node, digit])
        depth += 1
    return node


@inlined
def match_pair(links: SmallInts, ends: SmallInts, key: int, path: Ints) -> Any:
    """Algorithm 3: the leaf of a value."""
    node: Any = ROOT
    for depth in range(DIGITS):
        path[depth] = node
        below = links[node, _digit(key, depth)]
        if below < 0:
            right, at = get_right_node(links, path, key, depth)
            return ends[get_left_node(links, right, at), L]
        node = np.int64(below)
    return ends[node, E]


@inlined
def _split(ends: SmallInts, leaves: SmallInts, heads: Ints, leaf: int, right: int) -> Any:
    """A new leaf behind one; it goes on to the end to the right, where they were one."""
    new = _taken(heads, leaves, LEAVES, FREE_LEAF)
    leaves[new, NEXT] = leaves[leaf, NEXT]
    leaves[new, COUNTER] = leaves[leaf, COUNTER]
    leaves[leaf, NEXT] = new
    ends[right, L] = new
    if ends[right, E] == leaf:
        ends[right, E] = new
    return new


@inlined
def partition(
    links: SmallInts,
    ends: SmallInts,
    leaves: SmallInts,
    heads: Ints,
    key: int,
    use: int,
    path: Ints,
) -> Any:
    """Algorithm 2: divides the line before a value or behind it; the leaf of the value."""
    node: Any = ROOT
    found = True
    for depth in range(DIGITS):
        path[depth] = node
        digit = _digit(key, depth)
        if links[node, digit] < 0:
            found = False
            if depth == DIGITS - 1:
                links[node, digit] = _taken(heads, ends, ENDS, FREE_END)
            else:
                below = _taken(heads, links, NODES, FREE_NODE)
                links[below, :] = NONE
                links[node, digit] = below
        node = np.int64(links[node, digit])
    if not found:
        ends[node, BEFORE] = ends[node, AFTER] = 0
    ends[node, use] += 1
    if found and ends[node, use] > 1:
        return ends[node, E]
    right, at = get_right_node(links, path, key, DIGITS - 1)
    successor = get_left_node(links, right, at)
    if not found:
        ends[node, L] = ends[node, E] = ends[node, G] = ends[successor, L]
    if use == BEFORE:
        # l | e, and g goes with e where nothing divides them
        below, joint = ends[node, L], ends[node, G] == ends[node, L]
        new = _split(ends, leaves, heads, below, successor if joint else node)
        ends[node, L] = below
        ends[node, E] = new
        if joint:
            ends[node, G] = new
    else:
        ends[node, G] = _split(ends, leaves, heads, ends[node, E], successor)
    return ends[node, E]


@kernel
def insert_predicate(
    links: SmallInts,
    ends: SmallInts,
    leaves: SmallInts,
    heads: Ints,
    begin: int,
    last: int,
    counting: bool,
    path: Ints,
) -> None:
    """Algorithm 1 for a closed range."""
    leaf: Any = partition(links, ends, leaves, heads, begin, BEFORE, path)
    end = partition(links, ends, leaves, heads, last, AFTER, path)
    if begin == last:
        leaf = end
    while counting:
        leaves[leaf, COUNTER] += 1
        if leaf == end:
            break
        leaf = np.int64(leaves[leaf, NEXT])


@inlined
def unify(
    links: SmallInts,
    ends: SmallInts,
    leaves: SmallInts,
    heads: Ints,
    key: int,
    use: int,
    path: Ints,
) -> None:
    """The reverse of `partition`, of which the paper says that it is elsewhere."""
    node: Any = ROOT
    for depth in range(DIGITS):
        path[depth] = node
        node = np.int64(links[node, _digit(key, depth)])
    ends[node, use] -= 1
    if ends[node, use]:
        return
    right, at = get_right_node(links, path, key, DIGITS - 1)
    successor = get_left_node(links, right, at)
    kept, gone = ends[node, L], ends[node, E]
    if use == AFTER:
        kept, gone = gone, ends[node, G]
    leaves[kept, NEXT] = leaves[gone, NEXT]
    for link in (L, E, G):
        if ends[node, link] == gone:
            ends[node, link] = kept
        if link < G and ends[successor, link] == gone:
            ends[successor, link] = kept
    _given(heads, leaves, FREE_LEAF, gone)
    if ends[node, BEFORE] or ends[node, AFTER]:
        return
    _given(heads, ends, FREE_END, node)
    for depth in range(DIGITS - 1, -1, -1):
        links[path[depth], _digit(key, depth)] = NONE
        for digit in range(DIGITS):
            if links[path[depth], digit] >= 0:
                return
        if depth:
            _given(heads, links, FREE_NODE, path[depth])


@kernel
def insert_all(trie: Trie, low: Ints, high: Ints, counting: bool) -> None:
    """Inserts predicates one by one."""
    links, ends, leaves, heads = trie
    path = np.empty(DIGITS, np.int64)
    for at in range(len(low)):
        insert_predicate(links, ends, leaves, heads, low[at], high[at], counting, path)


@kernel
def delete_all(trie: Trie, low: Ints, high: Ints) -> None:
    """Deletes predicates one by one, without counters."""
    links, ends, leaves, heads = trie
    path = np.empty(DIGITS, np.int64)
    for at in range(len(low)):
        unify(links, ends, leaves, heads, low[at], BEFORE, path)
        unify(links, ends, leaves, heads, high[at], AFTER, path)


@kernel
def locate_all(trie: Trie, values: NDArray[np.float64]) -> SmallInts:
    """The leaves of values."""
    links, ends = trie.links, trie.ends
    path = np.empty(DIGITS, np.int64)
    found = np.empty(len(values), np.int32)
    for at in range(len(values)):
        found[at] = match_pair(links, ends, key_of(values[at]), path)
    return found


@kernel
def listed(trie: Trie) -> SmallInts:
    """The leaves in order."""
    leaves = trie.leaves
    found = np.empty(trie.heads[LEAVES], np.int32)
    leaf: Any = np.int64(trie.ends[ROOT, G])
    count = 0
    while leaf >= 0:
        found[count] = leaf
        count += 1
        leaf = np.int64(leaves[leaf, NEXT])
    return found[:count]
