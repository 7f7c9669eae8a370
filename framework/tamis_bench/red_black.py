"""Holds predicates in a red-black tree, a node a constant (Chandrasekaran and Franklin 2002).

A node has the rows of each operator: `<`, `<=`, `=`, `>=` and `>`. A value takes `>` and `>=` of
every smaller constant and `<` and `<=` of every greater one, and so every node is looked at: O(n) a
match, O(log n) an insertion or deletion.

Invariant: the tree leans to the left (Sedgewick 2008): red nodes are left children, none has a red
child, and every way down has as many black ones.
"""

from __future__ import annotations

from tamis_bench.one_dimension import OPERATORS, Asked


class _RedBlackNode:
    __slots__ = ("is_red", "key", "left", "right", "rows")

    def __init__(self, key: float, nothing: _RedBlackNode | None) -> None:
        self.key = key
        self.left = self.right = nothing or self
        self.is_red = nothing is not None
        self.rows: dict[str, list[int]] = {op: [] for op in OPERATORS}


class RedBlackTree:
    """Single comparisons on one attribute; an interval is none."""

    def __init__(self) -> None:
        self.steps = 0
        self._root = self._nothing = _RedBlackNode(0.0, None)
        self._predicates: dict[int, tuple[float, str]] = {}
        self._count = 0

    @property
    def cells(self) -> int:
        """Counts nodes and rows."""
        return self._count + len(self._predicates)

    def insert(self, row: int, op: str, asked: Asked) -> None:
        """Adds a predicate to the node of its constant."""
        if isinstance(asked, tuple):
            raise TypeError("a red-black tree has single comparisons, no intervals")
        self._root = self._with(self._root, asked, op, row)
        self._root.is_red = False
        self._predicates[row] = asked, op

    def delete(self, row: int) -> None:
        """Removes a predicate, and its node where that was the last one."""
        key, op = self._predicates.pop(row)
        node = self._root
        while node.key != key:
            self.steps += 1
            node = node.left if key < node.key else node.right
        node.rows[op].remove(row)
        if not any(node.rows.values()):
            self._count -= 1
            self._root.is_red = not self._root.left.is_red
            self._root = self._without(self._root, key)
            self._root.is_red = False

    def match(self, value: float) -> list[int]:
        """Returns the rows of a value."""
        found: list[int] = []
        waiting = [self._root]
        while waiting:
            node = waiting.pop()
            if node is self._nothing:
                continue
            self.steps += 1
            if node.key < value:
                ops: tuple[str, ...] = (">", ">=")
            else:
                ops = ("<", "<=") if node.key > value else ("<=", "=", ">=")
            for op in ops:
                found += node.rows[op]
            waiting += node.left, node.right
        return found

    def _with(self, node: _RedBlackNode, key: float, op: str, row: int) -> _RedBlackNode:
        if node is self._nothing:
            node = _RedBlackNode(key, self._nothing)
            self._count += 1
        self.steps += 1
        if key < node.key:
            node.left = self._with(node.left, key, op, row)
        elif key > node.key:
            node.right = self._with(node.right, key, op, row)
        else:
            node.rows[op].append(row)
        return _balanced(node)

    def _without(self, node: _RedBlackNode, key: float | None) -> _RedBlackNode:
        """Returns a tree without a constant, or without its least one; where it goes down, the node
        or the child is red, so that what goes in the end is."""
        self.steps += 1
        if key is None or key < node.key:
            if node.left is self._nothing:
                return self._nothing
            if not node.left.is_red and not node.left.left.is_red:
                node = _reddened_left(node)
            node.left = self._without(node.left, key)
            return _balanced(node)
        if node.left.is_red:
            node = _raised_left(node)
        if key == node.key and node.right is self._nothing:
            return self._nothing
        if not node.right.is_red and not node.right.left.is_red:
            node = _reddened_right(node)
        if key == node.key:
            least = node.right
            while least.left is not self._nothing:
                self.steps += 1
                least = least.left
            node.key, node.rows, key = least.key, least.rows, None
        node.right = self._without(node.right, key)
        return _balanced(node)


def _raised_left(node: _RedBlackNode) -> _RedBlackNode:
    top = node.left
    node.left, top.right = top.right, node
    top.is_red, node.is_red = node.is_red, True
    return top


def _raised_right(node: _RedBlackNode) -> _RedBlackNode:
    top = node.right
    node.right, top.left = top.left, node
    top.is_red, node.is_red = node.is_red, True
    return top


def _flip(node: _RedBlackNode) -> None:
    """Moves red from a node to both children, or from both to it."""
    for each in (node, node.left, node.right):
        each.is_red = not each.is_red


def _reddened_left(node: _RedBlackNode) -> _RedBlackNode:
    """Makes the left child of a red node, or one of that child's, red."""
    _flip(node)
    if node.right.left.is_red:
        node.right = _raised_left(node.right)
        node = _raised_right(node)
        _flip(node)
    return node


def _reddened_right(node: _RedBlackNode) -> _RedBlackNode:
    _flip(node)
    if node.left.left.is_red:
        node = _raised_left(node)
        _flip(node)
    return node


def _balanced(node: _RedBlackNode) -> _RedBlackNode:
    """Sees to it that red nodes are left children without red ones of their own."""
    if node.right.is_red and not node.left.is_red:
        node = _raised_right(node)
    if node.left.is_red and node.left.left.is_red:
        node = _raised_left(node)
    if node.left.is_red and node.right.is_red:
        _flip(node)
    return node
