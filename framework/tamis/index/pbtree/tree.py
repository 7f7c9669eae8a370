"""Finds, inserts and deletes predicates in one B+tree (sections 4.3 to 4.5).

Leaves hold items, and items point at nodes of four lists: SidSets, GreaterThan, LessThan and
Inequality. A pointer to a node has a flag for each list that has an item below it, so that each
list is entered along a path of its own, which leaves the equality path at a branch node.
Invariants: items are ordered by place; the nodes of a list are chained in the order of their
places; a flag is set exactly where a list has an item below.
Cost: O(log n) pages to an entry item, and a page for every node of a list that is read from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tamis.index.pbtree.nodes import (
    EQUAL,
    GREATER,
    INNER_ITEMS,
    LAST_ROW,
    LEAF_ITEMS,
    LESS,
    LISTS,
    RUN_BYTES,
    Inner,
    LeafPage,
    ListPlace,
    Node,
    PlaceRun,
)
from tamis.index.pbtree.store import PageStore, PageTally

_OFTEN = 256
_Step = tuple[Inner, int]
"""A nonleaf node on a path, and which of its children is next."""


@dataclass(frozen=True)
class Sizes:
    """The capacity of pages; smaller ones make trees that fit on paper."""

    inner: int = INNER_ITEMS
    leaf: int = LEAF_ITEMS
    run: int = RUN_BYTES


@dataclass
class Path:
    """The path by which a list was entered (Figure 7)."""

    pages: list[int] = field(default_factory=list)
    branch: int | None = None
    """The page where it left the equality path; `None` where it is the same."""
    leaf: int | None = None
    item: ListPlace | None = None
    """The entry item."""
    run: int = 0
    """The node of the list to begin at: the last one that is not above the key, if there is any."""
    is_above: bool = False
    """True if the entry item, and so the whole list, is above the key."""


class Tree:
    """The predicates of one attribute and kind of value; `root` is 0 while there are none."""

    def __init__(self, store: PageStore, root: int = 0, sizes: Sizes | None = None) -> None:
        self._store = store
        self._sizes = sizes or Sizes()
        self.root = root

    # finding (section 4.3)

    def paths(self, key: int, tally: PageTally) -> dict[int, Path]:
        """Returns the search paths of the lists that there are (Figures 8 to 13)."""
        if not self.root:
            return {}
        node = self._store.page(self.root, tally)
        assert isinstance(node, Inner | LeafPage)
        mask = node.mask
        found = {each: Path() for each in range(LISTS) if mask >> each & 1}
        trail: list[int] = []
        branches: dict[int, Inner] = {}
        while True:
            trail.append(node.number)
            for each, path in found.items():
                if each not in branches:
                    path.pages.append(node.number)
            if isinstance(node, LeafPage):
                break
            at = node.child_of(key, LAST_ROW)
            for each in found:
                if each not in branches and not node.flags[at] >> each & 1:
                    branches[each] = node
            node = self._store.page(int(node.children[at]), tally)
            assert isinstance(node, Inner | LeafPage)
        for each, path in found.items():
            leaf = node
            if each in branches:
                path.branch = branches[each].number
                leaf = self._flagged_leaf(branches[each], each, key, path, tally)
            self._enter(leaf, each, key, path, tally)
        return found

    def _flagged_leaf(
        self, node: Node, kind: int, key: int, path: Path, tally: PageTally
    ) -> LeafPage:
        """Goes down from a branch node, along pointers that have a bit (Figure 13)."""
        while isinstance(node, Inner):
            at = node.flagged(kind, key, LAST_ROW)
            node = self._store.page(int(node.children[at]), tally)
            path.pages.append(node.number)
        assert isinstance(node, LeafPage)
        return node

    def _enter(self, leaf: LeafPage, kind: int, key: int, path: Path, tally: PageTally) -> None:
        """Finds the entry item on a leaf (Figure 12)."""
        at, path.is_above = leaf.entry(kind, key)
        path.leaf, path.item = leaf.number, leaf.place(at)
        path.run = int(leaf.pointers[kind, at])
        if path.is_above:
            before = self._run(path.run, tally).before
            path.run, path.is_above = before or path.run, not before

    def _run(self, number: int, tally: PageTally) -> PlaceRun:
        node = self._store.page(number, tally)
        assert isinstance(node, PlaceRun)
        return node

    def search(self, low: int, high: int, tally: PageTally) -> Iterator[PlaceRun]:
        """Yields the entries that hold for a value between two keys, in most cases equal ones."""
        paths = self.paths(high, tally)
        for kind, path in paths.items():
            if kind == EQUAL:
                yield from self._equal(path, low, high, tally)
            elif kind == GREATER:
                yield from self._greater(path, high, tally)
            elif kind == LESS:
                if low != high:
                    path = self.paths(low, tally)[LESS]
                yield from self._less(path, low, tally)
            else:
                yield from self._unequal(path, low, high, tally)

    def window(self, low: int, high: int, tally: PageTally) -> Iterator[PlaceRun]:
        """Yields the entries of the first list with keys between two."""
        path = self.paths(high, tally).get(EQUAL)
        if path is not None:
            yield from self._equal(path, low, high, tally)

    def runs(self) -> Iterator[PlaceRun]:
        """Yields all entries of the first list in order."""
        path = self.paths(0, PageTally()).get(EQUAL)
        number = path.run if path is not None else 0
        while before := self._run(number, PageTally()).before if number else 0:
            number = before
        while number:
            run = self._run(number, PageTally())
            yield run
            number = run.after

    def _equal(self, path: Path, low: int, high: int, tally: PageTally) -> Iterator[PlaceRun]:
        number = 0 if path.is_above else path.run
        while number:
            run = self._run(number, tally)
            start = int(run.keys.searchsorted(np.uint64(low)))
            end = int(run.keys.searchsorted(np.uint64(high), "right"))
            if start < end:
                yield run.of(start, end)
            number = 0 if start else run.before

    def _greater(self, path: Path, high: int, tally: PageTally) -> Iterator[PlaceRun]:
        """Yields what is between the head and the entry item (Figure 11)."""
        number = 0 if path.is_above else path.run
        while number:
            run = self._run(number, tally)
            end = int(run.keys.searchsorted(np.uint64(high)))
            if end:
                yield run.of(0, end)
            number = run.before

    def _less(self, path: Path, low: int, tally: PageTally) -> Iterator[PlaceRun]:
        """Yields what is between the entry item and the tail."""
        number = path.run
        while number:
            run = self._run(number, tally)
            start = int(run.keys.searchsorted(np.uint64(low), "right"))
            if start < len(run):
                yield run.of(start, len(run))
            number = run.after

    def _unequal(self, path: Path, low: int, high: int, tally: PageTally) -> Iterator[PlaceRun]:
        """Yields the whole list but for one key (Figure 10); all of it for a value between keys."""
        for step in ("before", "after"):
            number = path.run if step == "before" else self._run(path.run, tally).after
            while number:
                run = self._run(number, tally)
                start, end = len(run), len(run)
                if low == high:
                    start = int(run.keys.searchsorted(np.uint64(low)))
                    end = int(run.keys.searchsorted(np.uint64(low), "right"))
                for first, last in ((0, start), (end, len(run))):
                    if first < last:
                        yield run.of(first, last)
                number = getattr(run, step)

    def weight(self, kind: int, key: int) -> int:
        """Returns about how many entries of a list have a key."""
        path = self.paths(key, PageTally()).get(kind)
        if path is None or path.is_above:
            return 0
        run = self._run(path.run, PageTally())
        found = run.keys == np.uint64(key)
        return int(found.sum()) * (len(run) if found.all() else 1)

    # changing (sections 4.4 and 4.5)

    def insert(self, kind: int, run: PlaceRun) -> None:
        """Inserts entries, which are in order, into a list."""
        start = 0
        while start < len(run):
            start = self._insert_some(kind, run, start)
            self._store.settle()

    def _insert_some(self, kind: int, run: PlaceRun, start: int) -> int:
        """Inserts the entries that belong to one node; returns where the others begin."""
        place = run.place(start)
        found = self._owner(kind, place)
        if found is None:
            node, end = PlaceRun(run.keys[:0], run.rows[:0], run.marks[:0], b""), len(run)
            self._store.add(node)
            node.item = place
            self._point(kind, place, node.number)
        else:
            node, end = found, len(run)
            if node.after:
                bound = self._run(node.after, PageTally()).item
                last = run.floor(*bound)
                end = last if run.has(last, *bound) else last + 1
            if place < node.item:
                self._point(kind, node.item, 0)
                self._point(kind, place, node.number)
                node.item = place
        part = run.of(start, end) if (start, end) != (0, len(run)) else run
        goes_on = not node.after and (not len(node) or node.place(len(node) - 1) < place)
        self._store.change(node)
        whole = node.merged(part)
        if whole.used <= self._sizes.run:
            node.take(whole)
        else:
            self._spread(kind, node, whole.cut(self._sizes.run, filled=goes_on))
        return end

    def _spread(self, kind: int, node: PlaceRun, parts: list[PlaceRun]) -> None:
        """Puts entries into a node and new ones after it."""
        node.take(parts[0])
        after = node.after
        for at, part in enumerate(parts[1:]):
            if at % _OFTEN == 0:
                self._store.settle()
            part.item, part.before = part.place(0), node.number
            node.after = self._store.add(part)
            self._store.change(node)
            self._point(kind, part.item, part.number)
            node = part
        node.after = after
        if after:
            last = self._run(after, PageTally())
            last.before = node.number
            self._store.change(last)

    def _owner(self, kind: int, place: ListPlace) -> PlaceRun | None:
        """Returns the node of a list that a place belongs to; `None` where there is no list."""
        if not self.root:
            return None
        tally = PageTally()
        node = self._store.page(self.root, tally)
        assert isinstance(node, Inner | LeafPage)
        if not node.mask >> kind & 1:
            return None
        while isinstance(node, Inner):
            node = self._store.page(int(node.children[node.flagged(kind, *place)]), tally)
        assert isinstance(node, LeafPage)
        at, is_above = node.entry_at(kind, place)
        run = self._run(int(node.pointers[kind, at]), tally)
        return self._run(run.before, tally) if is_above and run.before else run

    def delete(self, kind: int, place: ListPlace) -> bool:
        """Deletes an entry; returns whether it was there."""
        node = self._owner(kind, place)
        at = -1 if node is None else node.floor(*place)
        if node is None or not node.has(at, *place):
            return False
        node.take(node.without(at))
        self._store.change(node)
        if not len(node):
            self._unchain(kind, node)
        elif node.used < self._sizes.run // 4 and node.after:
            after = self._run(node.after, PageTally())
            if node.used + after.used < self._sizes.run * 3 // 4:
                node.take(node.merged(after))
                self._unchain(kind, after)
        self._store.settle()
        return True

    def _unchain(self, kind: int, node: PlaceRun) -> None:
        """Removes a node from its list."""
        for number, name, value in (
            (node.before, "after", node.after),
            (node.after, "before", node.before),
        ):
            if number:
                neighbor = self._run(number, PageTally())
                setattr(neighbor, name, value)
                self._store.change(neighbor)
        self._point(kind, node.item, 0)
        self._store.drop(node)

    def _point(self, kind: int, place: ListPlace, number: int) -> None:
        """Lets the item at a place point at a node of a list, or at none."""
        if not self.root:
            nothing = np.zeros(0, np.uint64), np.zeros(0, np.uint32)
            self.root = self._store.add(LeafPage(*nothing, np.zeros((LISTS, 0), np.uint32)))
        path, leaf = self._path(place)
        at = leaf.floor(*place)
        pointers = leaf.pointers
        if leaf.has(at, *place):
            pointers = pointers.copy()
            pointers[kind, at] = number
            if pointers[:, at].any():
                leaf.pointers = pointers
            else:
                leaf.keys, leaf.rows = np.delete(leaf.keys, at), np.delete(leaf.rows, at)
                leaf.pointers = np.delete(pointers, at, 1)
        else:
            leaf.keys = np.insert(leaf.keys, at + 1, np.uint64(place.key))
            leaf.rows = np.insert(leaf.rows, at + 1, np.uint32(place.row))
            leaf.pointers = np.insert(pointers, at + 1, 0, 1)
            leaf.pointers[kind, at + 1] = number
        self._store.change(leaf)
        self._mend(path, leaf)

    def _path(self, place: ListPlace) -> tuple[list[_Step], LeafPage]:
        """Returns the way from the root to the leaf of a place."""
        path: list[_Step] = []
        node = self._store.page(self.root, PageTally())
        while isinstance(node, Inner):
            at = node.child_of(*place)
            path.append((node, at))
            node = self._store.page(int(node.children[at]), PageTally())
        assert isinstance(node, LeafPage)
        return path, node

    def _mend(self, path: list[_Step], node: LeafPage | Inner) -> None:
        """Brings what is above a changed node in order: flags, splits, and what became small."""
        most = self._sizes.leaf if isinstance(node, LeafPage) else self._sizes.inner
        if not path:
            if len(node) > most:
                self._split_root(node)
            elif isinstance(node, Inner) and len(node) == 1:
                self.root = int(node.children[0])
                self._store.drop(node)
            elif not len(node):
                self.root = 0
                self._store.drop(node)
            return
        above, at = path[-1]
        if len(node) > most:
            self._split(above, at, node)
        elif not len(node):
            self._leave(node)
            self._remove_child(above, at)
        elif len(node) < most // 4 and self._join(above, at, node):
            pass
        elif node.mask == above.flags[at]:
            return
        else:
            above.flags = above.flags.copy()
            above.flags[at] = node.mask
        self._store.change(above)
        self._mend(path[:-1], above.with_head())

    def _leave(self, node: LeafPage | Inner) -> None:
        """Takes a node out of the chain of leaves, and frees it."""
        for number, name, value in (
            (node.before, "after", node.after),
            (node.after, "before", node.before),
        ):
            if number:
                neighbor = self._store.page(number, PageTally())
                setattr(neighbor, name, value)
                self._store.change(neighbor)
        self._store.drop(node)

    def _remove_child(self, above: Inner, at: int) -> None:
        for name in ("keys", "rows", "children", "flags"):
            setattr(above, name, np.delete(getattr(above, name), at))
        if at == 0 and len(above):
            above.keys, above.rows = above.keys.copy(), above.rows.copy()
            above.keys[0] = above.rows[0] = 0

    def _join(self, above: Inner, at: int, node: LeafPage | Inner) -> bool:
        """Joins a node that became small with a neighbor under the same node, if there is room."""
        left = at if at + 1 < len(above) else at - 1
        if left < 0:
            return False
        first, second = (
            self._store.page(int(above.children[each]), PageTally()) for each in (left, left + 1)
        )
        most = self._sizes.leaf if isinstance(node, LeafPage) else self._sizes.inner
        if len(first) + len(second) > most * 3 // 4:
            return False
        if isinstance(first, LeafPage) and isinstance(second, LeafPage):
            first.keys = np.concatenate([first.keys, second.keys])
            first.rows = np.concatenate([first.rows, second.rows])
            first.pointers = np.concatenate([first.pointers, second.pointers], 1)
        else:
            assert isinstance(first, Inner)
            assert isinstance(second, Inner)
            keys, rows = second.keys.copy(), second.rows.copy()
            keys[0], rows[0] = above.keys[left + 1], above.rows[left + 1]
            first.keys = np.concatenate([first.keys, keys])
            first.rows = np.concatenate([first.rows, rows])
            first.children = np.concatenate([first.children, second.children])
            first.flags = np.concatenate([first.flags, second.flags])
            first.with_head()
        self._store.change(first)
        self._leave(second)
        self._remove_child(above, left + 1)
        above.flags = above.flags.copy()
        above.flags[left] = first.mask
        return True

    def _halves(self, node: LeafPage | Inner) -> tuple[LeafPage | Inner, ListPlace]:
        """Moves the upper half of a node to a new one; returns it and where it begins."""
        # items that come in order fill the leaves that they leave behind
        middle = len(node) // 2 if node.after or isinstance(node, Inner) else len(node) * 9 // 10
        place = node.place(middle)
        half: LeafPage | Inner
        if isinstance(node, LeafPage):
            half = LeafPage(
                node.keys[middle:], node.rows[middle:], node.pointers[:, middle:].copy()
            )
            node.pointers = node.pointers[:, :middle].copy()
        else:
            keys, rows = node.keys[middle:].copy(), node.rows[middle:].copy()
            keys[0] = rows[0] = 0
            half = Inner(keys, rows, node.children[middle:], node.flags[middle:]).with_head()
            node.children, node.flags = node.children[:middle], node.flags[:middle]
        node.keys, node.rows = node.keys[:middle], node.rows[:middle]
        if isinstance(node, Inner):
            node.with_head()
        self._store.add(half)
        if isinstance(node, LeafPage):
            half.before, half.after, node.after = node.number, node.after, half.number
            if half.after:
                neighbor = self._store.page(half.after, PageTally())
                neighbor.before = half.number
                self._store.change(neighbor)
        self._store.change(node)
        return half, place

    def _split(self, above: Inner, at: int, node: LeafPage | Inner) -> None:
        half, place = self._halves(node)
        above.keys = np.insert(above.keys, at + 1, np.uint64(place.key))
        above.rows = np.insert(above.rows, at + 1, np.uint32(place.row))
        above.children = np.insert(above.children, at + 1, half.number)
        above.flags = np.insert(above.flags, at + 1, half.mask)
        above.flags[at] = node.mask

    def _split_root(self, node: LeafPage | Inner) -> None:
        half, place = self._halves(node)
        root = Inner(
            np.array([0, place.key], np.uint64),
            np.array([0, place.row], np.uint32),
            np.array([node.number, half.number], np.uint32),
            np.array([node.mask, half.mask], np.uint8),
        )
        self.root = self._store.add(root.with_head())
