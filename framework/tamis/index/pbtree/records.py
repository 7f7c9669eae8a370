"""Keeps bytes by number in a tree whose lists are SidSets alone: in pieces, so that each fits.

Cost: O(log n) pages, and those of the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from tamis.index.pbtree.nodes import EQUAL, ListPlace, PlaceRun, run_of
from tamis.index.pbtree.store import PageTally
from tamis.index.pbtree.tree import Tree
from tamis.numeric.types import Ints

_PIECE = 2_000


class Records:
    """Bytes by number."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def get(self, number: int, tally: PageTally) -> bytes | None:
        """Returns what a number has."""
        pieces = [run.payload for run in self.tree.window(number, number, tally)]
        return b"".join(reversed(pieces)) if pieces else None

    def add(self, contents: Mapping[int, bytes]) -> None:
        """Takes bytes of new numbers, which ascend."""
        pieces = [
            (number, at, content[start : start + _PIECE])
            for number, content in contents.items()
            for at, start in enumerate(range(0, max(1, len(content)), _PIECE))
        ]
        if pieces:
            numbers, places, payloads = (list(column) for column in zip(*pieces, strict=True))
            self.tree.insert(EQUAL, run_of(numbers, places, [0] * len(places), payloads))

    def add_alike(self, numbers: Ints, contents: NDArray[np.void]) -> None:
        """Takes a row of an array for each of some new numbers, which ascend."""
        lengths = np.full(len(numbers), contents.itemsize, np.uint16)
        nothing = np.zeros(len(numbers), np.uint32)
        keys = numbers.astype(np.uint64)
        self.tree.insert(EQUAL, PlaceRun(keys, nothing, lengths, contents.tobytes()))

    def remove(self, number: int) -> None:
        """Removes what a number has."""
        piece = 0
        while self.tree.delete(EQUAL, ListPlace(number, piece)):
            piece += 1

    def items(self) -> Iterator[tuple[int, bytes]]:
        """Yields all numbers and their bytes."""
        last, content = -1, b""
        for run in self.tree.runs():
            for at, number in enumerate(run.keys.tolist()):
                if number != last:
                    if last >= 0:
                        yield last, content
                    last, content = number, b""
                content += run.content(at)
        if last >= 0:
            yield last, content
