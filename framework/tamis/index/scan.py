"""Finds rows by looking at every distinct predicate: the reference index.

Each distinct predicate of an attribute is decided once (orderings and ranges in columns, equality
and sets through one table, the rest one by one), then disjunctions by their parts, and every row's
satisfied predicates are counted.
Invariant: a row matches exactly when it has as many satisfied entries as entries.
Cost of a match: O(distinct predicates on the event's attributes + entries).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.event import Event, is_itself
from tamis.index.clauses import read_written, written
from tamis.indexing import Entry, Index, Rows
from tamis.language.comparison import ARRAY, ORDERINGS, PRESENCE, RANGES, Comparison
from tamis.language.predicate import AttributePredicate, Disjunction, parts_of
from tamis.language.values import NUMBER, Scalar, kind_of
from tamis.numeric.growing import GrowingArray
from tamis.numeric.types import Flags, Ints

_NEVER = 0
_DEAD = -1
_WAITING = 64
_SMALL = 1_024
_OBJECT_BYTES = 300
_PREDICATES = "predicates.jsonl"

_RANGED = frozenset((*ORDERINGS, *RANGES))

Test = Callable[[Any], bool]


class Column:
    """The distinct predicates of one attribute."""

    def __init__(self) -> None:
        self.members: dict[tuple[bool, Scalar], list[int]] = {}
        self.scalars: dict[int, Test] = {}
        self.arrays: dict[int, Test] = {}
        self.presences: dict[int, Test] = {}
        self.ranges: dict[int, tuple[float, float, Comparison]] = {}
        self.waiting: set[int] = set()
        self.low = self.high = np.zeros(0)
        self.numbers: NDArray[Any] = np.zeros(0, np.int64)
        self.released: list[int] = []

    @property
    def asks_absent(self) -> bool:
        """True if a predicate may hold when the attribute is absent."""
        return bool(self.presences)

    def add(self, number: int, comparison: Comparison) -> None:
        """Takes a predicate by its number."""
        if comparison.op in ("=", "in"):
            for constant in comparison.constants:
                self.members.setdefault((type(constant) is bool, constant), []).append(number)
        elif comparison.reads == ARRAY:
            self.arrays[number] = comparison.compiled()
        elif comparison.reads == PRESENCE:
            self.presences[number] = comparison.compiled()
        else:
            bounds = _bounds(comparison)
            if bounds is None:
                self.scalars[number] = comparison.compiled()
                return
            self.ranges[number] = (*bounds, comparison)
            self.waiting.add(number)
            if len(self.waiting) > _WAITING + len(self.numbers) // 4:
                self.settle()

    def settle(self) -> None:
        """Brings ranges that wait into the columns, and releases the numbers of dropped ones."""
        self.released.extend(set(self.numbers.tolist()).difference(self.ranges))
        count = len(self.ranges)
        self.low = np.fromiter((low for low, _, _ in self.ranges.values()), np.float64, count)
        self.high = np.fromiter((high for _, high, _ in self.ranges.values()), np.float64, count)
        self.numbers = np.fromiter(self.ranges, np.int64, count)
        self.waiting = set()

    def drop(self, number: int, comparison: Comparison) -> None:
        """Forgets a predicate; its place in the columns stays until they are settled."""
        settled = number in self.ranges and number not in self.waiting
        if comparison.op in ("=", "in"):
            for constant in comparison.constants:
                key = (type(constant) is bool, constant)
                self.members[key].remove(number)
                if not self.members[key]:
                    del self.members[key]
        for table in (self.scalars, self.arrays, self.presences):
            table.pop(number, None)
        self.waiting.discard(number)
        self.ranges.pop(number, None)
        if not settled:
            self.released.append(number)
        if not self:
            self.settle()

    @property
    def nbytes(self) -> int:
        """The memory it holds beside the predicates."""
        return 0

    def __bool__(self) -> bool:
        return any((self.members, self.scalars, self.arrays, self.presences, self.ranges))

    def decide(self, event: Event, name: str, truth: Flags) -> None:
        """Marks the numbers of the predicates that the event satisfies."""
        value = event.scalar(name)
        if value is not None:
            self.decide_scalar(value, truth)
        if self.arrays:
            _mark(self.arrays, event.array(name), truth)
        if self.presences:
            _mark(self.presences, event.present(name), truth)

    def decide_scalar(self, value: Scalar, truth: Flags) -> None:
        """Marks those that a scalar satisfies."""
        for number in self.members.get((type(value) is bool, value), ()):
            truth[number] = True
        _mark(self.scalars, value, truth)
        if kind_of(value) == NUMBER:
            self._decide_ranges(value, truth)

    def _decide_ranges(self, value: Any, truth: Flags) -> None:
        if type(value) is int and not _is_double(value):
            _mark({at: each.compiled() for at, (_, _, each) in self.ranges.items()}, value, truth)
            return
        double = float(value)
        for number in self.waiting:
            low, high, _ = self.ranges[number]
            truth[number] = low <= double <= high
        truth[self.numbers[(self.low <= double) & (double <= self.high)]] = True


def _mark(tests: dict[int, Test], value: object, truth: Flags) -> None:
    for number, test in tests.items():
        if test(value):
            truth[number] = True


def _is_double(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def _bounds(comparison: Comparison) -> tuple[float, float] | None:
    """Returns the closed range of doubles that a comparison allows, `None` if it is none."""
    constants = comparison.constants
    op = comparison.op
    if op not in _RANGED:
        return None
    values = []
    for constant in constants:
        exact = type(constant)
        if exact is not float and not (exact is int and _is_double(int(constant))):
            return None
        values.append(float(constant))
    if op in RANGES:
        low_closed, high_closed = RANGES[op]
        return (
            values[0] if low_closed else _after(values[0]),
            values[1] if high_closed else -_after(-values[1]),
        )
    if op in ("<", "<="):
        return -np.inf, values[0] if op == "<=" else -_after(-values[0])
    return values[0] if op == ">=" else _after(values[0]), np.inf


def _after(value: float) -> float:
    return math.nextafter(value, math.inf) if value != math.inf else math.nan


class Scan(Index):
    """The reference index."""

    takes_disjunctions = True

    def __init__(self) -> None:
        self._parts: dict[int, NDArray[Any]] = {}
        """By disjunction, the numbers of its parts."""
        self._columns: dict[str, Column] = {}
        self._always: set[str] = set()
        self._numbers: dict[tuple[object, ...], int] = {}
        self._predicates: list[AttributePredicate | None] = [None]
        self._uses = GrowingArray(np.int64)
        self._uses.append(0)
        self._free: list[int] = []
        self._entry_row = GrowingArray(np.int64)
        self._entry_number = GrowingArray(np.int64)
        self._needed = GrowingArray(np.int32)
        self._first = GrowingArray(np.int64)
        self._dead_entries = 0
        self._rows = 0

    def build(self, entries: Iterable[Entry]) -> None:
        rows: list[int] = []
        counts: list[int] = []
        numbers: list[int] = []
        for row, predicates in entries:
            mine = {self._number(predicate) for predicate in predicates}
            rows.append(row)
            counts.append(len(mine))
            numbers.extend(mine)
        self._add(np.array(rows, np.int64), np.array(counts, np.int64), numbers)

    def _add(self, rows: NDArray[Any], counts: NDArray[Any], numbers: list[int]) -> None:
        """Takes rows, how many predicates each has, and the predicates' numbers in a row."""
        last = int(rows.max(initial=-1))
        if last >= len(self._needed):
            start = self._needed.reserve(last + 1 - len(self._needed))
            self._first.reserve(last + 1 - len(self._first))
            self._needed[start : last + 1] = _DEAD
        np.add.at(self._uses.view, numbers, 1)
        first = self._entry_number.extend(numbers)
        self._entry_row.extend(np.repeat(rows, counts))
        self._first[rows] = first + np.cumsum(counts) - counts
        self._needed[rows] = counts
        self._rows += len(rows)

    def delete(self, row: int) -> None:
        count, first = int(self._needed[row]), int(self._first[row])
        for place in range(first, first + count):
            number = int(self._entry_number[place])
            self._entry_number[place] = _NEVER
            self._leave(number)
        self._needed[row] = _DEAD
        self._rows -= 1
        self._dead_entries += count
        if self._dead_entries > _SMALL + len(self._entry_number) // 2:
            self._compact()

    def _number(self, predicate: AttributePredicate) -> int:
        """Returns the number of a predicate, a new one if it is new."""
        key = predicate.key
        number = self._numbers.get(key)
        if number is None:
            if self._free:
                number = self._free.pop()
                self._predicates[number] = predicate
            else:
                number = self._uses.append(0)
                self._predicates.append(predicate)
            self._numbers[key] = number
            if isinstance(predicate, Disjunction):
                parts = np.array([self._number(part) for part in predicate.parts])
                np.add.at(self._uses.view, parts, 1)
                self._parts[number] = parts
                return number
            column = self._columns.get(predicate.attribute)
            if column is None:
                column = self._new_column(predicate.attribute)
                self._columns[predicate.attribute] = column
            column.add(number, predicate.comparison)
            self._recycle(column)
            name = predicate.attribute
            if column.asks_absent or "." in name or is_itself(name):
                self._always.add(name)
        return number

    def _new_column(self, name: str) -> Column:
        """Makes the column that decides the predicates of an attribute."""
        return Column()

    def _leave(self, number: int) -> None:
        self._uses[number] -= 1
        if not self._uses[number]:
            self._forget(number)

    def _forget(self, number: int) -> None:
        predicate = self._predicates[number]
        assert predicate is not None
        self._predicates[number] = None
        del self._numbers[predicate.key]
        if number in self._parts:
            self._free.append(number)
            for part in self._parts.pop(number).tolist():
                self._leave(part)
            return
        column = self._columns[predicate.attribute]
        column.drop(number, predicate.comparison)
        self._recycle(column)
        if not column:
            del self._columns[predicate.attribute]
            self._always.discard(predicate.attribute)

    def _recycle(self, column: Column) -> None:
        self._free.extend(column.released)
        column.released.clear()

    def _compact(self) -> None:
        """Closes the holes that deleted rows left."""
        rows, numbers = self.pairs()
        self._entry_row = GrowingArray(np.int64, rows)
        self._entry_number = GrowingArray(np.int64, numbers)
        changes = np.flatnonzero(np.diff(rows, prepend=-1))
        self._first[rows[changes]] = changes
        self._dead_entries = 0
        for column in self._columns.values():
            column.settle()
            self._recycle(column)

    def match(self, event: Event) -> Rows:
        return np.flatnonzero(self._hits(event) == self._needed.view)

    def _hits(self, event: Event) -> Ints:
        """Counts the predicates of each row that an event satisfies."""
        truth = self._truth(event)
        satisfied = self._entry_row.view[truth[self._entry_number.view]]
        return np.bincount(satisfied, minlength=len(self._needed))

    def misses(self, event: Event) -> tuple[Rows, Ints]:
        """Returns all rows, and how many predicates of each do not hold."""
        rows = np.flatnonzero(self._needed.view >= 0)
        return rows, self._needed.view[rows] - self._hits(event)[rows]

    def _truth(self, event: Event) -> Flags:
        """Decides every predicate, by its number, for an event."""
        truth = np.zeros(len(self._uses), np.bool_)
        for name in self._names(event):
            self._columns[name].decide(event, name, truth)
        for number, parts in self._parts.items():
            truth[number] = truth[parts].any()
        return truth

    def pairs(self) -> tuple[Ints, Ints]:
        """Returns the rows and the predicates that they have, by their numbers."""
        alive = self._entry_number.view != _NEVER
        return self._entry_row.view[alive], self._entry_number.view[alive]

    def _names(self, event: Event) -> set[str]:
        """Returns the attributes on which the event may satisfy a predicate."""
        columns = self._columns.keys()
        return (columns & event.content.keys()) | (columns & event.derived) | self._always

    def __len__(self) -> int:
        return self._rows

    @property
    def nbytes(self) -> int:
        arrays = (self._entry_row, self._entry_number, self._needed, self._first, self._uses)
        return sum(array.nbytes for array in arrays) + _OBJECT_BYTES * len(self._numbers)

    def entries(self) -> Iterator[Entry]:
        """Yields all rows with their predicates, the rows in increasing order."""
        for row, numbers in self._numbers_by_row():
            predicates = (self._predicates[number] for number in numbers)
            yield row, [predicate for predicate in predicates if predicate is not None]

    def _numbers_by_row(self) -> Iterator[tuple[int, list[int]]]:
        for row in np.flatnonzero(self._needed.view >= 0).tolist():
            first = int(self._first[row])
            yield row, self._entry_number[first : first + int(self._needed[row])].tolist()

    def save(self, folder: Path) -> None:
        rows = list(self._numbers_by_row())
        np.save(folder / "rows.npy", np.array([row for row, _ in rows], np.int64))
        np.save(folder / "counts.npy", np.array([len(numbers) for _, numbers in rows], np.int64))
        entries = np.array([number for _, numbers in rows for number in numbers], np.int64)
        np.save(folder / "entries.npy", entries)
        with (folder / _PREDICATES).open("w", encoding="utf-8") as lines:
            for number, predicate in enumerate(self._predicates):
                if predicate is not None:
                    asked = [written(part) for part in parts_of(predicate)]
                    line = [number, *asked] if number in self._parts else [number, *asked[0]]
                    lines.write(json.dumps(line) + "\n")

    @staticmethod
    def is_saved_in(folder: Path) -> bool:
        """Returns whether what was saved to a folder is a scan."""
        return (folder / _PREDICATES).is_file()

    def load(self, folder: Path) -> None:
        predicates: dict[int, AttributePredicate] = {}
        with (folder / _PREDICATES).open(encoding="utf-8") as lines:
            for line in lines:
                number, *asked = json.loads(line)
                predicates[number] = (
                    Disjunction.of(tuple(read_written(*part) for part in asked))
                    if isinstance(asked[0], list)
                    else read_written(*asked)
                )
        rows, counts, entries = (
            np.load(folder / f"{name}.npy") for name in ("rows", "counts", "entries")
        )
        ends = np.cumsum(counts)
        self.build(
            (int(row), [predicates[int(number)] for number in entries[end - count : end]])
            for row, count, end in zip(rows, counts, ends, strict=True)
        )
