"""Says which rows have which predicates, in the three ways of the counting paper (section 3.3).

A byte or a bit for each pair of a predicate and a row, or a list of rows for each predicate. An
event's satisfied predicates are counted by row: bytes are added; bits are added 64 rows at a time,
as numbers that are spread over planes of bits; lists are counted one behind the other.
Invariant: a row is given when it has as many of the satisfied predicates as it needs.
Cost of a match: O(satisfied · rows) bytes, an eighth of that in bits, or O(length of the lists).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.indexing import Rows
from tamis.numeric.growing import GrowingArray
from tamis.numeric.types import Ints

BYTES, BITS, LISTS, BEST = "bytes", "bits", "lists", "best"
_AT_ONCE = 255
"""Rows of the byte matrix that are added before a byte could overflow."""
_MOST_BYTES = 1 << 27
"""A matrix that takes more memory than this is named, never chosen."""
_DENSE, _VERY_DENSE = 1 / 64, 1 / 16
"""The share of pairs from which bytes, and bits, take less time than lists."""


class Association(ABC):
    """Associates rows with predicates."""

    name: str

    @abstractmethod
    def add(self, rows: Ints, numbers: Ints) -> None:
        """Takes pairs of a row and a predicate."""

    @abstractmethod
    def remove(self, row: int, numbers: Ints) -> None:
        """Forgets the predicates of a row."""

    @abstractmethod
    def matching(self, satisfied: Ints, needed: NDArray[Any]) -> Rows:
        """Returns the rows that have as many of the satisfied predicates as they need."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """The memory it holds."""


class _Matrix(Association):
    """A line for each predicate, in which `width` rows are a cell."""

    width: int
    dtype: Any

    def __init__(self) -> None:
        self._cells = np.zeros((0, 0), self.dtype)

    def add(self, rows: Ints, numbers: Ints) -> None:
        """Takes pairs of a row and a predicate."""
        lines, cells = self._cells.shape
        wanted = int(numbers.max(initial=-1)) + 1, int(rows.max(initial=-1)) // self.width + 1
        if wanted[0] > lines or wanted[1] > cells:
            grown = [
                size if want <= size else max(want, size + size // 2)
                for want, size in zip(wanted, (lines, cells), strict=True)
            ]
            room = np.zeros(grown, self.dtype)
            room[:lines, :cells] = self._cells
            self._cells = room
        np.bitwise_or.at(self._cells, (numbers, rows // self.width), self._marks(rows))

    def remove(self, row: int, numbers: Ints) -> None:
        """Forgets the predicates of a row."""
        if len(numbers):
            self._cells[numbers, row // self.width] &= ~self._marks(np.array([row]))

    @abstractmethod
    def _marks(self, rows: Ints) -> NDArray[Any]:
        """Returns the marks of rows in their cells."""

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        return self._cells.nbytes


class ByteMatrix(_Matrix):
    """A byte for each pair."""

    name, width, dtype = BYTES, 1, np.uint8

    def _marks(self, rows: Ints) -> NDArray[Any]:
        return np.ones(len(rows), np.uint8)

    def matching(self, satisfied: Ints, needed: NDArray[Any]) -> Rows:
        """Returns the rows that have as many of the satisfied predicates as they need."""
        satisfied = satisfied[satisfied < len(self._cells)]
        cells = self._cells[:, : len(needed)]
        hits = np.zeros(len(needed), np.int32)
        for first in range(0, len(satisfied), _AT_ONCE):
            some = np.zeros(cells.shape[1], np.uint8)
            for number in satisfied[first : first + _AT_ONCE].tolist():
                some += cells[number]
            hits[: len(some)] += some
        return np.flatnonzero(hits == needed)


class BitMatrix(_Matrix):
    """A bit for each pair."""

    name, width, dtype = BITS, 64, np.uint64

    def _marks(self, rows: Ints) -> NDArray[Any]:
        return np.uint64(1) << (rows % 64).astype(np.uint64)

    def matching(self, satisfied: Ints, needed: NDArray[Any]) -> Rows:
        """Returns the rows that have as many of the satisfied predicates as they need.

        Each bit of the counts is a plane, to which a line is added with its carry."""
        planes: list[NDArray[np.uint64]] = []
        for number in satisfied[satisfied < len(self._cells)].tolist():
            carry = self._cells[number]
            for at, plane in enumerate(planes):
                planes[at], carry = plane ^ carry, plane & carry
                if not carry.any():
                    break
            else:
                planes.append(carry.copy())
        hits = np.zeros(len(needed), np.int32)
        for at, plane in enumerate(planes):
            bits = np.unpackbits(plane.view(np.uint8), bitorder="little")[: len(hits)]
            hits[: len(bits)] += bits.astype(np.int32) << at
        return np.flatnonzero(hits == needed)


class Lists(Association):
    """A list of rows for each predicate."""

    name = LISTS

    def __init__(self) -> None:
        self._rows: dict[int, GrowingArray] = {}

    def add(self, rows: Ints, numbers: Ints) -> None:
        """Takes pairs of a row and a predicate."""
        if not len(rows):
            return
        order = np.argsort(numbers, kind="stable")
        found, first = np.unique(numbers[order], return_index=True)
        for number, mine in zip(found.tolist(), np.split(rows[order], first[1:]), strict=True):
            held = self._rows.get(number)
            if held is None:
                held = self._rows[number] = GrowingArray(np.int32, mine[:0].astype(np.int32))
            held.extend(mine)

    def remove(self, row: int, numbers: Ints) -> None:
        """Forgets the predicates of a row."""
        for number in numbers.tolist():
            held = self._rows[number]
            held[int(np.flatnonzero(held.view == row)[0])] = held[held.size - 1]
            held.size -= 1
            if not held.size:
                del self._rows[number]

    def matching(self, satisfied: Ints, needed: NDArray[Any]) -> Rows:
        """Returns the rows that have as many of the satisfied predicates as they need."""
        lists = [self._rows[each].view for each in satisfied.tolist() if each in self._rows]
        nothing = np.zeros(0, np.int32)
        hits = np.bincount(np.concatenate([nothing, *lists]), minlength=len(needed))
        return np.flatnonzero(hits == needed)

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        return sum(100 + held.nbytes for held in self._rows.values())


FORMS: dict[str, type[Association]] = {BYTES: ByteMatrix, BITS: BitMatrix, LISTS: Lists}


def best_form(rows: int, predicates: int, pairs: int) -> str:
    """Returns the fastest way for so many pairs: by density, among those there is memory for."""
    cells = max(1, rows * predicates)
    if pairs >= _DENSE * cells and cells <= _MOST_BYTES:
        return BYTES
    return BITS if pairs >= _VERY_DENSE * cells and cells <= 8 * _MOST_BYTES else LISTS
