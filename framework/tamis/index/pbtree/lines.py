"""Knows the lines of an index and their trees: which attributes are read, and how.

A line has a number, and a tree of the paper for single keys; intervals have trees by their width.
Cost: in memory, in proportion to the lines and not to the predicates.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from tamis.event import Event, is_itself
from tamis.index.pbtree.codes import ABSENT, ALWAYS, Line, readings_of
from tamis.index.pbtree.records import Records
from tamis.index.pbtree.store import PageStore
from tamis.index.pbtree.tree import Sizes, Tree
from tamis.numeric.types import Flags, Words

_Found = tuple[int, int, int]
"""The number of a line, and the keys that an event has on it."""


class LineReading:
    """The keys of an event on each line."""

    def __init__(self, count: int) -> None:
        self.low: Words = np.zeros(count, np.uint64)
        self.high = self.low
        self.there: Flags = np.zeros(count, np.bool_)
        self.found: list[_Found] = []

    def take(self, number: int, low: int, high: int) -> None:
        """Takes the keys of a line; those of an array are several."""
        if low != high and self.high is self.low:
            self.high = self.low.copy()
        self.low[number], self.high[number], self.there[number] = low, high, True
        self.found.append((number, low, high))


class TreeLines:
    """The lines of an index."""

    def __init__(self, store: PageStore, directory: Records, sizes: Sizes) -> None:
        self._store = store
        self._sizes = sizes
        self._directory = directory
        self._lines: list[Line] = []
        self._numbers: dict[Line, int] = {}
        self._trees: dict[int, dict[int, Tree]] = {}
        self._roots: dict[int, dict[int, int]] = {}
        """By line and width, as the directory has them."""
        self._holds: dict[str, dict[int, int]] = {}
        """By attribute, how it is read, and the lines."""
        self._always: set[str] = set()
        for number, content in directory.items():
            attribute, holds, roots = json.loads(content)
            self._take(Line(attribute, holds))
            self._roots[number] = {int(width): root for width, root in roots.items()}
            for width, root in self._roots[number].items():
                self._trees[number][width] = Tree(store, root, sizes)

    def __len__(self) -> int:
        return len(self._lines)

    def _take(self, line: Line) -> int:
        number = self._numbers[line] = len(self._lines)
        self._lines.append(line)
        self._trees[number], self._roots[number] = {}, {}
        if line.holds != ALWAYS:
            self._holds.setdefault(line.attribute, {})[line.holds] = number
            if line.holds == ABSENT or "." in line.attribute or is_itself(line.attribute):
                self._always.add(line.attribute)
        return number

    def number(self, line: Line) -> int:
        """Returns the number of a line, a new one if it is new."""
        number = self._numbers.get(line)
        if number is None:
            number = self._take(line)
            self._write(number)
        return number

    def _write(self, number: int) -> None:
        self._directory.remove(number)
        content = json.dumps([*self._lines[number], self._roots[number]]).encode()
        self._directory.add({number: content})

    def tree(self, number: int, width: int) -> Tree:
        """Returns a tree of a line, an empty one where there is none."""
        tree = self._trees[number].get(width)
        if tree is None:
            tree = self._trees[number][width] = Tree(self._store, 0, self._sizes)
        return tree

    def keep(self, number: int, width: int) -> None:
        """Notes where the root of a tree is, when it moved."""
        root = self._trees[number][width].root
        if self._roots[number].get(width, 0) != root:
            self._roots[number][width] = root
            if not root:
                del self._roots[number][width], self._trees[number][width]
            self._write(number)

    def trees(self, number: int) -> Iterator[tuple[int, Tree]]:
        """Yields the trees of a line by width."""
        yield from self._trees[number].items()

    def read(self, event: Event) -> LineReading:
        """Returns what an event has on all lines."""
        reading = LineReading(len(self._lines))
        if self._lines:
            everything = self._numbers.get(Line("", ALWAYS))
            if everything is not None:
                reading.take(everything, 0, 0)
        attributes = self._holds.keys()
        names = (attributes & event.content.keys()) | (attributes & event.derived) | self._always
        for name in names:
            holds = self._holds[name]
            for found in readings_of(event, name, holds):
                reading.take(holds[found.holds], found.low, found.high)
        return reading

    @property
    def nbytes(self) -> int:
        """About the memory it holds."""
        return 600 * len(self._lines)
