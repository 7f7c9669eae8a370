"""Numbers spaces and nodes: open addressing over tables that are at most half full.

Cost: O(1) a look-up.
"""

from __future__ import annotations

import numpy as np

from tamis.index.buckets.store import Store
from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.views import bare

_MIX = np.uint64(0x9E3779B97F4A7C15)
_STIR = np.uint64(0xD6E8FEB86659FD93)
_WHOLE = 1
"""The stretch that is all of a dimension; stretch `256 >> level` and on are those of a level."""


@inlined
def hash_of(first: int, second: int) -> int:
    """Returns a number from which every bit of both has an influence on the low bits."""
    mixed = (np.uint64(first) * _STIR) ^ np.uint64(second)
    mixed ^= mixed >> np.uint64(32)
    mixed *= _MIX
    mixed ^= mixed >> np.uint64(29)
    return np.int64(mixed >> np.uint64(1))


@inlined
def _place_of_space(store: Store, what: int, where: int) -> int:
    """Returns the place of a space in the table, or where it would be."""
    mask = len(store.space_table) - 1
    place = hash_of(what, where) & mask
    space = store.space_table[place]
    while space >= 0 and (store.spaces[space, 0] != what or store.spaces[space, 1] != where):
        place = (place + 1) & mask
        space = store.space_table[place]
    return place


@inlined
def find_space(store: Store, what: int, where: int) -> int:
    """Returns the number of a space, -1 if there is none such."""
    return np.int64(store.space_table[_place_of_space(store, what, where)])


@inlined
def _place_of_node(store: Store, node: int, space: int) -> int:
    """Returns the place in the table of the node that adds a space to a node, or would be."""
    key, mask = (node << 32) | space, len(store.node_table) - 1
    place = hash_of(node, space) & mask
    found = store.node_table[place]
    while found >= 0 and store.nodes[found] != key:
        place = (place + 1) & mask
        found = store.node_table[place]
    return place


@inlined
def find_node(store: Store, node: int, space: int) -> int:
    """Returns the number of the node that adds a space to a node, -1 if there is none such."""
    return np.int64(store.node_table[_place_of_node(store, node, space)])


@inlined
def space_number(store: Store, what: int, where: int) -> int:
    """Returns the number of a space, a new one if it is new."""
    place = _place_of_space(store, what, where)
    if store.space_table[place] >= 0:
        return np.int64(store.space_table[place])
    space = store.tops[0].spaces
    store.space_table[place] = space
    store.tops[0].spaces += 1
    store.spaces[space, 0], store.spaces[space, 1] = what, where
    store.space_node[space] = -1
    store.space_deep[space] = 0
    dimension = what >> 1
    if what & 1:
        store.dimensions[dimension].points += 1
    elif where == _WHOLE:
        store.dimensions[dimension].root = space
    else:
        level = 0
        while where << level < 256:
            level += 1
        store.dimensions[dimension].levels |= 1 << level
    return space


@inlined
def node_number(store: Store, node: int, space: int) -> int:
    """Returns the number of a node, a new one if it is new."""
    found = store.space_node[space] if node == 0 else find_node(store, node, space)
    if found >= 0:
        return np.int64(found)
    found = store.tops[0].nodes
    store.tops[0].nodes += 1
    store.nodes[found] = (node << 32) | space
    store.chains[found] = -1
    store.children[found] = 0
    store.node_rows[found] = 0
    store.children[node] += 1
    if node == 0:
        store.space_node[space] = found
    else:
        store.space_deep[space] = 1
        store.node_table[_place_of_node(store, node, space)] = found
    return found


@inlined
def pair_place(one: int, other: int) -> int:
    """Returns the place of two dimensions among all pairs."""
    larger = max(one, other)
    return larger * (larger - 1) // 2 + min(one, other)


@inlined
def begin_chain(store: Store, node: int, segment: int) -> None:
    """Makes a segment the first one of a node."""
    store.segments[segment].next = store.chains[node]
    store.chains[node] = segment
    parent = store.nodes[node] >> 32
    if parent and len(store.pairs):
        one = store.spaces[store.nodes[parent] & 0xFFFFFFFF, 0] >> 1
        other = store.spaces[store.nodes[node] & 0xFFFFFFFF, 0] >> 1
        store.pairs[pair_place(one, other)] = segment


@inlined
def access_dimensions(store: Store, node: int) -> tuple[int, int]:
    """Returns a node's last dimensions, -1 for none: events in the node surely have them."""
    inner, outer = -1, -1
    if node:
        inner = store.spaces[store.nodes[node] & 0xFFFFFFFF, 0] >> 1
        parent = store.nodes[node] >> 32
        if parent:
            outer = store.spaces[store.nodes[parent] & 0xFFFFFFFF, 0] >> 1
    return inner, outer


@inlined
def point(dimension: int, value: float) -> tuple[int, int]:
    """Returns the space of one value."""
    return 2 * dimension + 1, np.float64(value + 0.0).view(np.int64)


@kernel
def enter_all(store: Store) -> None:
    """Fills tables that are empty, because they are new."""
    store = bare(store)
    for space in range(store.tops[0].spaces):
        place = _place_of_space(store, store.spaces[space, 0], store.spaces[space, 1])
        store.space_table[place] = space
    for node in range(1, store.tops[0].nodes):
        parent = store.nodes[node] >> 32
        if parent:
            place = _place_of_node(store, parent, store.nodes[node] & 0xFFFFFFFF)
            store.node_table[place] = node
