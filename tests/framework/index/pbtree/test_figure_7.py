"""The search paths of the paper's Figure 7, in a tree with nodes as small as it draws them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.files.disk import ScratchDisk
from tamis.index.pbtree.nodes import (
    ENTRY_BYTES,
    EQUAL,
    GREATER,
    LESS,
    UNEQUAL,
    Inner,
    LeafPage,
    run_of,
)
from tamis.index.pbtree.store import PageStore, PageTally
from tamis.index.pbtree.tree import Sizes, Tree

SAMPLE = [
    (GREATER, 1, 1), (LESS, 2, 6), (GREATER, 2, 2), (EQUAL, 5, 9), (GREATER, 5, 3),
    (GREATER, 6, 4), (UNEQUAL, 6, 11), (LESS, 8, 7), (EQUAL, 9, 10), (LESS, 11, 8),
    (UNEQUAL, 12, 12),
]  # fmt: skip
"""List, key and subscription."""


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    store = PageStore(tmp_path, ScratchDisk(), 0)
    tree = Tree(store, 0, Sizes(inner=3, leaf=2, run=ENTRY_BYTES))
    for kind, key, sid in SAMPLE:
        tree.insert(kind, run_of([key], [0], [0], [bytes([sid])]))
    yield tree
    store.close()


def nodes(tree: Tree) -> dict[str, int]:
    """The pages of the figure's nodes by their names."""
    page = tree._store.page
    root = page(tree.root, PageTally())
    assert isinstance(root, Inner)
    found = {"Root": root.number}
    for number, below in enumerate(root.children.tolist(), 1):
        found[f"Nonleaf {number}"] = below
        inner = page(below, PageTally())
        assert isinstance(inner, Inner)
        for leaf in inner.children.tolist():
            assert isinstance(page(leaf, PageTally()), LeafPage)
            found[f"Leaf {sum(name.startswith('Leaf') for name in found) + 1}"] = leaf
    return found


def sids(tree: Tree, key: int) -> set[int]:
    return {sid for run in tree.search(key, key, PageTally()) for sid in run.payload}


def test_the_tree_is_that_of_the_figure(tree: Tree) -> None:
    there = nodes(tree)
    assert set(there) == {
        *("Root", "Nonleaf 1", "Nonleaf 2", "Leaf 1", "Leaf 2", "Leaf 3", "Leaf 4")
    }
    leaf = tree._store.page(there["Leaf 2"], PageTally())
    assert isinstance(leaf, LeafPage)
    assert leaf.keys.tolist() == [5, 6]
    assert not leaf.pointers[UNEQUAL, 0], "the INEQPointer of 5 is Null"
    assert not leaf.pointers[LESS].any(), "no LessThan predicate is on leaf 2"


def test_the_four_paths_for_5_are_those_of_the_paper(tree: Tree) -> None:
    there = nodes(tree)
    paths = tree.paths(5, PageTally())
    equality = [there[name] for name in ("Root", "Nonleaf 1", "Leaf 2")]
    for kind in (EQUAL, UNEQUAL, GREATER):
        assert (paths[kind].pages, paths[kind].branch) == (equality, None)
    less = paths[LESS]
    assert less.pages == [there[name] for name in ("Root", "Nonleaf 1", "Leaf 1")]
    assert less.branch == there["Nonleaf 1"]
    items = {kind: path.item.key for kind, path in paths.items() if path.item is not None}
    assert (items[EQUAL], items[GREATER], items[LESS]) == (5, 5, 2)


def test_results_are_those_of_the_paper(tree: Tree) -> None:
    greater, unequal = {1, 2}, {11, 12}
    assert sids(tree, 5) == greater | {9} | unequal | {7, 8}, "from Head to S3, from S6 to Tail"
    item = tree.paths(7, PageTally())[GREATER].item
    assert item is not None
    assert item.key == 6, "the largest item, where the key is greater"
    assert sids(tree, 7) == {1, 2, 3, 4} | unequal | {7, 8}
    assert sids(tree, 12) == {1, 2, 3, 4, 11}
    assert sids(tree, 0) == {6, 7, 8} | unequal


def test_heads_count_flags_and_know_the_first_and_the_last(tree: Tree) -> None:
    there = nodes(tree)
    first, second = (tree._store.page(there[f"Nonleaf {at}"], PageTally()) for at in (1, 2))
    assert isinstance(first, Inner)
    assert isinstance(second, Inner)
    assert (first.counters[GREATER], first.first[GREATER], first.last[GREATER]) == (2, 0, 1)
    assert (first.counters[LESS], first.first[LESS], first.last[LESS]) == (1, 0, 0)
    assert (second.counters[GREATER], second.counters[LESS], second.counters[UNEQUAL]) == (0, 2, 1)
