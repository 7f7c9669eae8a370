"""Checks that a tree is in order, page by page."""

from __future__ import annotations

from itertools import pairwise

from tamis.index.pbtree.index import PBTree
from tamis.index.pbtree.nodes import LISTS, Inner, LeafPage, ListPlace, PlaceRun
from tamis.index.pbtree.store import PageTally
from tamis.index.pbtree.tree import Tree

Items = dict[int, list[tuple[ListPlace, int]]]


def check_index_order(index: PBTree) -> None:
    """Fails where any tree of an index is not in order."""
    lines = index._lines
    trees = [tree for number in range(len(lines)) for _, tree in lines.trees(number)]
    for tree in (*trees, index._directory.tree, index._records.tree, index.names.tree):
        if tree.root:
            check_order(tree)


def check_order(tree: Tree) -> None:
    """Fails where a tree is not in order."""
    items: Items = {kind: [] for kind in range(LISTS)}
    leaves: list[LeafPage] = []
    _walk(tree, tree.root, ListPlace(0, 0), None, items, leaves)
    for before, after in pairwise(leaves):
        assert (before.after, after.before) == (after.number, before.number)
    assert (leaves[0].before, leaves[-1].after) == (0, 0)
    for there in items.values():
        last = 0
        for at, (place, number) in enumerate(there):
            run = tree._store.page(number, PageTally())
            assert isinstance(run, PlaceRun)
            places = [run.place(each) for each in range(len(run))]
            following = there[at + 1] if at + 1 < len(there) else (None, 0)
            assert (run.item, run.before, run.after) == (place, last, following[1])
            assert places == sorted(set(places))
            assert places[0] >= place
            assert following[0] is None or places[-1] < following[0]
            last = number


def _walk(
    tree: Tree,
    number: int,
    low: ListPlace,
    high: ListPlace | None,
    items: Items,
    leaves: list[LeafPage],
) -> int:
    """Returns the flag that the pointer to a node is to have."""
    node = tree._store.page(number, PageTally())
    assert isinstance(node, Inner | LeafPage)
    places = [node.place(at) for at in range(len(node))]
    assert places == sorted(set(places))
    if isinstance(node, Inner):
        assert 0 < len(node) <= tree._sizes.inner
        assert places[0] == (0, 0)
        head = node.counters, node.first, node.last
        node.with_head()
        assert head == (node.counters, node.first, node.last)
        for at, child in enumerate(node.children.tolist()):
            first = places[at] if at else low
            end = places[at + 1] if at + 1 < len(places) else high
            assert node.flags[at] == _walk(tree, child, first, end, items, leaves)
        return node.mask
    leaves.append(node)
    assert 0 < len(node) <= tree._sizes.leaf
    for at, place in enumerate(places):
        assert low <= place
        assert high is None or place < high
        assert node.pointers[:, at].any()
        for kind in range(LISTS):
            if node.pointers[kind, at]:
                items[kind].append((place, int(node.pointers[kind, at])))
    return node.mask
