"""Holds predicates in a Time Index (Elmasri, Wuu and Kim 1990).

A B+tree has the points where an interval begins, or has just ended; each has a bucket of all
intervals that cover it and what lies behind it, up to the next point. A value finds the last point
that is not behind it, in O(log n), and its bucket is the answer. Buckets repeat what they have in
common: O(n²) places, and an interval goes into every bucket between its ends.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator

from tamis_bench.one_dimension import Asked, closed

_MOST = 64
"""Points of a leaf, and children of a node."""


class _TimeNode:
    __slots__ = ("children", "following", "keys")

    def __init__(self, keys: list[float], children: list[_TimeNode] | None) -> None:
        self.keys = keys
        """Of a node the first ones of its children, of a leaf its points."""
        self.children = children
        self.following: _TimeNode | None = None


class TimeIndex:
    """Intervals of one attribute, single comparisons being intervals without an end."""

    def __init__(self) -> None:
        self.steps = 0
        self._root = _TimeNode([-math.inf], None)
        self._buckets: dict[float, set[int]] = {-math.inf: set()}
        self._uses: dict[float, int] = {-math.inf: 1}
        self._intervals: dict[int, tuple[float, float]] = {}

    @property
    def cells(self) -> int:
        """Counts points, and what their buckets hold."""
        return len(self._buckets) + sum(len(bucket) for bucket in self._buckets.values())

    def insert(self, row: int, op: str, asked: Asked) -> None:
        """Adds the points of a predicate, then writes it into the buckets between them."""
        low, high = closed(op, asked)
        interval = self._intervals[row] = low, math.nextafter(high, math.inf)
        for point in interval:
            self._add(point)
        for bucket in self._between(interval):
            bucket.add(row)

    def delete(self, row: int) -> None:
        """Takes a predicate out of the buckets, and its points where no other one has them."""
        interval = self._intervals.pop(row)
        for bucket in self._between(interval):
            bucket.remove(row)
        for point in interval:
            self._uses[point] -= 1
            if not self._uses[point] and self._is_removed(self._root, point):
                del self._uses[point], self._buckets[point]

    def match(self, value: float) -> list[int]:
        """Returns the bucket of a value."""
        leaf = self._leaf(value)
        return list(self._buckets[leaf.keys[bisect_right(leaf.keys, value) - 1]])

    def _leaf(self, value: float) -> _TimeNode:
        node = self._root
        self.steps += 1
        while node.children is not None:
            self.steps += 1
            node = node.children[bisect_right(node.keys, value) - 1]
        return node

    def _between(self, interval: tuple[float, float]) -> Iterator[set[int]]:
        """Yields the buckets from where an interval begins until it has ended."""
        leaf: _TimeNode | None = self._leaf(interval[0])
        at = bisect_left(leaf.keys, interval[0]) if leaf is not None else 0
        while leaf is not None:
            for point in leaf.keys[at:]:
                if point >= interval[1]:
                    return
                self.steps += 1
                yield self._buckets[point]
            leaf, at = leaf.following, 0

    def _add(self, point: float) -> None:
        """Adds a point, whose bucket is the one before it."""
        if point in self._uses:
            self._uses[point] += 1
            return
        leaf = self._leaf(point)
        before = leaf.keys[bisect_right(leaf.keys, point) - 1]
        self._buckets[point], self._uses[point] = set(self._buckets[before]), 1
        self.steps += len(self._buckets[before])
        if (more := self._put(self._root, point)) is not None:
            old = self._root
            self._root = _TimeNode([old.keys[0], more.keys[0]], [old, more])

    def _put(self, node: _TimeNode, point: float) -> _TimeNode | None:
        """Writes a point into a tree; returns what had to be cut off."""
        if node.children is None:
            insort(node.keys, point)
        else:
            at = bisect_right(node.keys, point) - 1
            more = self._put(node.children[at], point)
            if more is not None:
                node.keys.insert(at + 1, more.keys[0])
                node.children.insert(at + 1, more)
        if len(node.keys) <= _MOST:
            return None
        half = len(node.keys) // 2
        children = None if node.children is None else node.children[half:]
        other = _TimeNode(node.keys[half:], children)
        del node.keys[half:]
        if node.children is not None:
            del node.children[half:]
        else:
            other.following, node.following = node.following, other
        return other

    def _is_removed(self, node: _TimeNode, point: float) -> bool:
        """Takes a point out of its leaf, but the first one, which parts the leaf from others: where
        nothing begins or ends any more, a bucket is still right."""
        while node.children is not None:
            self.steps += 1
            node = node.children[bisect_right(node.keys, point) - 1]
        if node.keys[0] == point:
            return False
        node.keys.remove(point)
        return True
