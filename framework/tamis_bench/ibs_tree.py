"""Holds predicates in an interval binary search tree (Hanson and others 1990).

A node is an end of an interval, with three sets of marks: of the intervals that cover it, and of
those that cover all that can hang left or right of it. An interval is marked as high as possible,
O(log n) times. A value takes the marks on its way. The tree is kept in balance by rotations, which
move marks by the paper's rules; here by random priorities, so that an end that goes sinks
by rotations as well.

Invariant: an interval is marked at a side of a node where it covers all that can hang there, and
not all that can hang below the node's parent.
"""

from __future__ import annotations

import math
import random

from tamis_bench.one_dimension import Asked, closed

Interval = tuple[float, float]


class _IbsNode:
    __slots__ = ("at", "key", "left", "marks", "priority", "right", "uses")

    def __init__(self, key: float, priority: float) -> None:
        self.key, self.priority, self.uses = key, priority, 0
        self.left: _IbsNode | None = None
        self.right: _IbsNode | None = None
        self.at: set[int] = set()
        self.marks: tuple[set[int], set[int]] = (set(), set())
        """Of the intervals that cover all that is left of it, and right."""


class IbsTree:
    """Intervals of one attribute, single comparisons being intervals without an end."""

    def __init__(self, seed: int = 1) -> None:
        self.steps = 0
        self._chance = random.Random(seed)
        self._root: _IbsNode | None = None
        self._everywhere: set[int] = set()
        self._intervals: dict[int, Interval] = {}
        self._count = self._marks = 0

    @property
    def cells(self) -> int:
        """Counts nodes and marks."""
        return self._count + self._marks + len(self._everywhere)

    def insert(self, row: int, op: str, asked: Asked) -> None:
        """Adds the ends of a predicate, then its marks."""
        interval = self._intervals[row] = closed(op, asked)
        for key in _ends(interval):
            self._root = self._with(self._root, key)
        self._mark(row, interval, True)

    def delete(self, row: int) -> None:
        """Removes the marks of a predicate, then its ends."""
        interval = self._intervals.pop(row)
        self._mark(row, interval, False)
        for key in _ends(interval):
            self._root = self._without(self._root, key)

    def match(self, value: float) -> list[int]:
        """Returns the marks on the way of a value."""
        found, node = list(self._everywhere), self._root
        while node is not None:
            self.steps += 1
            if value == node.key:
                found += node.at
                break
            right = value > node.key
            found += node.marks[right]
            node = node.right if right else node.left
        return found

    def _with(self, node: _IbsNode | None, key: float) -> _IbsNode:
        self.steps += 1
        if node is None:
            node = _IbsNode(key, self._chance.random())
            self._count += 1
        if key == node.key:
            node.uses += 1
        elif key < node.key:
            node.left = self._with(node.left, key)
            if node.left.priority > node.priority:
                return self._raised_left(node)
        else:
            node.right = self._with(node.right, key)
            if node.right.priority > node.priority:
                return self._raised_right(node)
        return node

    def _without(self, node: _IbsNode | None, key: float) -> _IbsNode | None:
        """Returns a tree with one use of an end less; one without uses sinks to a leaf."""
        assert node is not None
        self.steps += 1
        if key < node.key:
            node.left = self._without(node.left, key)
        elif key > node.key:
            node.right = self._without(node.right, key)
        else:
            node.uses -= 1
            return self._sunk(node) if not node.uses else node
        return node

    def _sunk(self, node: _IbsNode) -> _IbsNode | None:
        self.steps += 1
        left, right = node.left, node.right
        if left is None and right is None:
            self._count -= 1
            return None
        if right is None or (left is not None and left.priority > right.priority):
            top = self._raised_left(node)
            top.right = self._sunk(node)
        else:
            top = self._raised_right(node)
            top.left = self._sunk(node)
        return top

    def _raised_left(self, node: _IbsNode) -> _IbsNode:
        top = node.left
        assert top is not None
        node.left, top.right = top.right, node
        self._moved(node, top, 0)
        return top

    def _raised_right(self, node: _IbsNode) -> _IbsNode:
        top = node.right
        assert top is not None
        node.right, top.left = top.left, node
        self._moved(node, top, 1)
        return top

    def _moved(self, node: _IbsNode, top: _IbsNode, side: int) -> None:
        """Moves marks after a node's child of a side took its place.

        What covered that whole side is marked at the child now, on both sides of it and at itself;
        what lies between the two and all that is beyond the node goes up to the child."""
        held = self._held(node, top)
        outer, inner = node.marks[side], top.marks[1 - side] | node.marks[side]
        top.marks[side].update(outer)
        top.at.update(outer)
        beyond = inner & node.at & node.marks[1 - side]
        node.at -= beyond
        node.marks[1 - side].difference_update(beyond)
        node.marks[side].clear()
        node.marks[side].update(inner - beyond)
        top.marks[1 - side].clear()
        top.marks[1 - side].update(beyond)
        self._marks += self._held(node, top) - held

    @staticmethod
    def _held(*nodes: _IbsNode) -> int:
        return sum(len(each.at) + len(each.marks[0]) + len(each.marks[1]) for each in nodes)

    def _mark(self, row: int, interval: Interval, adds: bool) -> None:
        """Marks an interval from the root down, or removes its marks."""
        low, high = interval
        if (low, high) == (-math.inf, math.inf) or low > high:
            if low <= high:
                (self._everywhere.add if adds else self._everywhere.discard)(row)
            return
        waiting = [(self._root, -math.inf, math.inf)]
        while waiting:
            node, first, last = waiting.pop()
            if node is None:
                continue
            self.steps += 1
            if low <= node.key <= high:
                self._marked(node.at, row, adds)
            sides = (first, node.key, node.left), (node.key, last, node.right)
            for side, (begin, end, child) in enumerate(sides):
                if low <= begin and end <= high:
                    self._marked(node.marks[side], row, adds)
                elif low < end and begin < high:
                    waiting.append((child, begin, end))

    def _marked(self, marks: set[int], row: int, adds: bool) -> None:
        self._marks += 1 if adds else -1
        if adds:
            marks.add(row)
        else:
            marks.remove(row)


def _ends(interval: Interval) -> set[float]:
    return {key for key in interval if math.isfinite(key)}
