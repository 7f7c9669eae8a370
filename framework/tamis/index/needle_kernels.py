"""Finds needles in a text in one pass over its bytes (Aho and Corasick, 1975).

A trie of the needles, its nodes in breadth-first order so that children are consecutive; a row of
`nodes` is: the first child, the node of the longest suffix that is in the trie, the longest needle
that ends here, the byte that leads here. Needles have ranks from 1 in the order of their bytes;
`shorter[rank]` is the longest needle that ends where this one ends. Node 0 is the root, whose
children are in `root` by their byte; a rank or child of 0 is none.
Cost: O(bytes of the needles) to build, O(bytes of the text + needles found) to search.
"""

from __future__ import annotations

import numpy as np

from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Ints, SmallInts
from tamis.numeric.views import bare

FIRST, SUFFIX, LONGEST, LABEL = 0, 1, 2, 3
_FEW = 8


@inlined
def following(nodes: SmallInts, root: SmallInts, node: int, label: int) -> int:
    """Returns the node after a byte: a child of the node, or of its suffixes, or the root."""
    while node:
        low, high = nodes[node, FIRST], nodes[node + 1, FIRST]
        while high - low > _FEW:
            middle = (low + high) >> 1
            if nodes[middle, LABEL] <= label:
                low = middle
            else:
                high = middle
        for child in range(low, high):
            if nodes[child, LABEL] == label:
                return child
        node = nodes[node, SUFFIX]
    return int(root[label])


@kernel
def automaton(text: bytes, start: Ints) -> tuple[SmallInts, SmallInts, SmallInts]:
    """Returns `nodes`, `root` and `shorter` of needles that follow each other in `text`, sorted.

    They must be distinct."""
    size = len(text) + 1
    nodes = np.zeros((size + 1, 4), np.int32)
    root = np.zeros(256, np.int32)
    shorter = np.zeros(len(start), np.int32)
    # the needles below a node are those from `low` until `high`, all longer than its depth
    low, high = np.zeros(size, np.int32), np.zeros(size, np.int32)
    high[0] = len(start) - 1
    if len(start) > 1 and start[1] == start[0]:
        nodes[0, LONGEST] = 1
        low[0] = 1
    node, made, level_end, depth = 0, 1, 1, 0
    while node < made:
        if node == level_end:
            level_end = made
            depth += 1
        nodes[node, FIRST] = made
        at = low[node]
        while at < high[node]:
            label = text[start[at] + depth]
            begin = at
            while at < high[node] and text[start[at] + depth] == label:
                at += 1
            suffix = 0
            if node == 0:
                root[label] = made
            else:
                suffix = following(nodes, root, nodes[node, SUFFIX], label)
            longest = nodes[suffix, LONGEST]
            if start[begin + 1] - start[begin] == depth + 1:
                begin += 1
                shorter[begin] = longest
                longest = begin
            nodes[made, SUFFIX] = suffix
            nodes[made, LONGEST] = longest
            nodes[made, LABEL] = label
            low[made], high[made] = begin, at
            made += 1
        node += 1
    nodes[made, FIRST] = made
    return nodes[: made + 1].copy(), root, shorter


@kernel
def contained(
    text: bytes, nodes: SmallInts, root: SmallInts, shorter: SmallInts, numbers: Ints
) -> Ints:
    """Returns the numbers of the needles in a text, each once."""
    ends = np.empty(len(text) + 1, np.int32)
    ends[0] = nodes[0, LONGEST]
    ended = 1 if ends[0] else 0
    node = 0
    all_nodes, first = bare(nodes), bare(root)
    for at in range(len(text)):
        node = following(all_nodes, first, node, text[at])
        ends[ended] = nodes[node, LONGEST]
        if ends[ended]:
            ended += 1
    if not ended:
        return numbers[:0]
    # where a needle was seen, so were the shorter ones that end with it
    seen = np.zeros((len(shorter) >> 3) + 1, np.uint8)
    count = 0
    for at in range(ended):
        rank = ends[at]
        while rank and not seen[rank >> 3] >> (rank & 7) & 1:
            seen[rank >> 3] |= 1 << (rank & 7)
            rank = shorter[rank]
            count += 1
    found = np.empty(count, np.int64)
    for at in range(ended):
        rank = ends[at]
        while rank and seen[rank >> 3] >> (rank & 7) & 1:
            seen[rank >> 3] &= ~(1 << (rank & 7))
            count -= 1
            found[count] = numbers[rank - 1]
            rank = shorter[rank]
    return found
