"""Holds predicates in a red-black tree, a node a constant (Chandrasekaran and Franklin 2002).

A node has the rows of each operator: `<`, `<=`, `=`, `>=` and `>`. A value takes `>` and `>=` of
every smaller constant and `<` and `<=` of every greater one, and so every node is looked at: O(n) a
match, O(log n) an insertion or deletion.
"""

from __future__ import annotations

from collections.abc import Iterator

from tamis_bench.one_dimension import OPERATORS, Asked


class _RedBlackNode:
    __slots__ = ("is_red", "key", "left", "parent", "right", "rows")

    def __init__(self, key: float, nothing: _RedBlackNode | None) -> None:
        self.key = key
        self.left = self.right = self.parent = nothing or self
        self.is_red = nothing is not None
        self.rows: dict[str, list[int]] = {op: [] for op in OPERATORS}

    def child(self, right: bool) -> _RedBlackNode:
        """Returns the child of a side."""
        return self.right if right else self.left

    def take(self, child: _RedBlackNode, right: bool) -> None:
        """Takes a child at a side."""
        if right:
            self.right = child
        else:
            self.left = child


class RedBlackTree:
    """Single comparisons on one attribute; an interval is none."""

    def __init__(self) -> None:
        self.steps = 0
        self._nothing = _RedBlackNode(0.0, None)
        self._root = self._nothing
        self._nodes: dict[int, tuple[float, str]] = {}
        self._count = 0

    @property
    def cells(self) -> int:
        """Counts nodes and rows."""
        return self._count + len(self._nodes)

    def insert(self, row: int, op: str, asked: Asked) -> None:
        """Adds a predicate to the node of its constant."""
        if isinstance(asked, tuple):
            raise TypeError("a red-black tree has single comparisons, no intervals")
        parent, node = self._nothing, self._root
        while node is not self._nothing and node.key != asked:
            self.steps += 1
            parent, node = node, node.child(asked > node.key)
        if node is self._nothing:
            node = _RedBlackNode(asked, self._nothing)
            self._count += 1
            node.parent = parent
            if parent is self._nothing:
                self._root = node
            else:
                parent.take(node, asked > parent.key)
            self._balance(node)
        node.rows[op].append(row)
        self._nodes[row] = asked, op

    def delete(self, row: int) -> None:
        """Removes a predicate, and its node where that was the last one."""
        key, op = self._nodes.pop(row)
        node = self._root
        while node.key != key:
            self.steps += 1
            node = node.child(key > node.key)
        node.rows[op].remove(row)
        if not any(node.rows.values()):
            self._count -= 1
            self._remove(node)

    def match(self, value: float) -> list[int]:
        """Returns the rows of a value, in the order of the constants."""
        found: list[int] = []
        for node in self._walk():
            if node.key < value:
                ops: tuple[str, ...] = (">", ">=")
            else:
                ops = ("<", "<=") if node.key > value else ("<=", "=", ">=")
            for op in ops:
                found += node.rows[op]
        return found

    def _walk(self) -> Iterator[_RedBlackNode]:
        node = self._root
        above: list[_RedBlackNode] = []
        while above or node is not self._nothing:
            while node is not self._nothing:
                above.append(node)
                node = node.left
            node = above.pop()
            self.steps += 1
            yield node
            node = node.right

    def _rotate(self, node: _RedBlackNode, right: bool) -> None:
        """Lets a node sink to a side; its child of the other side takes its place."""
        child = node.child(not right)
        node.take(child.child(right), not right)
        if child.child(right) is not self._nothing:
            child.child(right).parent = node
        self._replace(node, child)
        child.take(node, right)
        node.parent = child

    def _replace(self, node: _RedBlackNode, other: _RedBlackNode) -> None:
        """Puts another node in the place of one."""
        other.parent = node.parent
        if node.parent is self._nothing:
            self._root = other
        else:
            node.parent.take(other, node.parent.right is node)

    def _balance(self, node: _RedBlackNode) -> None:
        """Sees to it that no red node has a red child."""
        while node.parent.is_red:
            self.steps += 1
            parent, above = node.parent, node.parent.parent
            right = above.right is parent
            uncle = above.child(not right)
            if uncle.is_red:
                parent.is_red = uncle.is_red = False
                above.is_red = True
                node = above
                continue
            if parent.child(not right) is node:
                self._rotate(parent, right)
                parent = node
            parent.is_red, above.is_red = False, True
            self._rotate(above, not right)
            break
        self._root.is_red = False

    def _remove(self, node: _RedBlackNode) -> None:
        lost_black, below = not node.is_red, node.right
        if node.left is self._nothing:
            self._replace(node, node.right)
        elif node.right is self._nothing:
            below = node.left
            self._replace(node, node.left)
        else:
            after = node.right
            while after.left is not self._nothing:
                self.steps += 1
                after = after.left
            lost_black, below = not after.is_red, after.right
            if after.parent is node:
                below.parent = after
            else:
                self._replace(after, after.right)
                after.right = node.right
                after.right.parent = after
            self._replace(node, after)
            after.left, after.is_red = node.left, node.is_red
            after.left.parent = after
        if lost_black:
            self._blacken(below)

    def _blacken(self, node: _RedBlackNode) -> None:
        """Gives the ways through a node back the black one that they lost."""
        while node is not self._root and not node.is_red:
            self.steps += 1
            parent = node.parent
            right = parent.right is node
            sibling = parent.child(not right)
            if sibling.is_red:
                sibling.is_red, parent.is_red = False, True
                self._rotate(parent, right)
                sibling = parent.child(not right)
            if not (sibling.left.is_red or sibling.right.is_red):
                sibling.is_red = True
                node = parent
                continue
            if not sibling.child(not right).is_red:
                sibling.child(right).is_red, sibling.is_red = False, True
                self._rotate(sibling, not right)
                sibling = parent.child(not right)
            sibling.is_red, parent.is_red = parent.is_red, False
            sibling.child(not right).is_red = False
            self._rotate(parent, right)
            node = self._root
        node.is_red = False
