"""Lets an index that knows conjunctions alone take disjunctions.

The index inside holds a row without its disjunctions. What these are made of is decided once an
event, each distinct predicate by a scan; then each disjunction, and each row that has some, on
arrays. So a condition of fifty clauses is one row.
Invariant: answers are those of the rows inside of which every disjunction holds.
Cost: that of the index inside; O(predicates of all disjunctions) an event where there are any, a
nanosecond or two each beside the scan.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from tamis.event import Event
from tamis.index.around import IndexAround
from tamis.index.scan import Scan
from tamis.indexing import Entry, FoundRows, Index, Rows
from tamis.language.predicate import AttributePredicate, Disjunction
from tamis.numeric.growing import GrowingArray

_SCAN, _TEXTS = "disjunctions", "disjunctions.json"
_DEAD = -1
_SMALL = 1_024


def taking_disjunctions(index: Index) -> Index:
    """Returns an index, one around it where it knows conjunctions alone."""
    return index if index.takes_disjunctions else DisjunctionIndex(index)


class DisjunctionIndex(IndexAround):
    """An index around one that knows conjunctions alone."""

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._scan = Scan()
        """A row for each distinct predicate of a disjunction."""
        self._numbers: dict[str, int] = {}
        """The rows of predicates in the scan, by their texts."""
        self._texts: dict[int, str] = {}
        self._free: list[int] = []
        self._users: Counter[int] = Counter()
        self._places: dict[int, int] = {}
        """Of each row that has disjunctions, its place among those that have."""
        self._parts = GrowingArray(np.int32)
        """The predicates of all disjunctions, one disjunction after the other."""
        self._first_part = GrowingArray(np.int64)
        """By disjunction."""
        self._first_disjunction = GrowingArray(np.int64)
        """By place of a row."""
        self._row = GrowingArray(np.int64)
        """By place, or that it is dead."""

    def build(self, entries: Iterable[Entry]) -> None:
        """Inserts many rows at once."""
        taken = len(self._row)
        try:
            self._index.build(self._without(entries))
        except BaseException:
            self._forget(self._row.view[taken:].tolist())
            raise

    def _without(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yields entries without their disjunctions, which are taken."""
        for row, predicates in entries:
            several = [each for each in predicates if isinstance(each, Disjunction)]
            if several:
                self._take(row, several)
                predicates = [each for each in predicates if not isinstance(each, Disjunction)]
            yield row, predicates

    def _take(self, row: int, disjunctions: Sequence[Disjunction]) -> None:
        self._places[row] = self._row.append(row)
        self._first_disjunction.append(len(self._first_part))
        for disjunction in disjunctions:
            self._first_part.append(len(self._parts))
            self._parts.extend([self._number(part) for part in disjunction.parts])

    def _number(self, part: AttributePredicate) -> int:
        """Returns the row of a predicate in the scan, counted for one user more."""
        text = part.text()
        number = self._numbers.get(text)
        if number is None:
            number = self._free.pop() if self._free else len(self._numbers)
            self._numbers[text], self._texts[number] = number, text
            self._scan.insert(number, [part])
        self._users[number] += 1
        return number

    def delete_many(self, rows: Rows) -> None:
        """Removes rows, which must be there."""
        self._index.delete_many(rows)
        self._forget(rows.tolist())

    def _forget(self, rows: Iterable[int]) -> None:
        for row in rows if self._places else ():
            place = self._places.pop(row, _DEAD)
            if place != _DEAD:
                self._row[place] = _DEAD
                self._leave(self._parts_at(place))
        if len(self._row) > _SMALL + 2 * len(self._places):
            self._close_holes()

    def _parts_at(self, place: int) -> list[int]:
        """Returns the predicates of the row at a place."""
        first, end = _stretch(self._first_disjunction, place, len(self._first_part))
        parts = _stretch(self._first_part, first, len(self._parts))[0]
        found: list[int] = self._parts.view[
            parts : _stretch(self._first_part, end - 1, len(self._parts))[1]
        ].tolist()
        return found

    def _leave(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._users[number] -= 1
            if not self._users[number]:
                del self._users[number], self._numbers[self._texts.pop(number)]
                self._scan.delete(number)
                self._free.append(number)

    def _close_holes(self) -> None:
        """Takes out what rows held that are gone."""
        is_live = self._row.view != _DEAD
        disjunctions = np.diff(self._first_disjunction.view, append=len(self._first_part))
        parts = np.diff(self._first_part.view, append=len(self._parts))
        is_kept = np.repeat(is_live, disjunctions)
        self._parts = GrowingArray(np.int32, self._parts.view[np.repeat(is_kept, parts)])
        self._first_part = GrowingArray(np.int64, _starts(parts[is_kept]))
        self._first_disjunction = GrowingArray(np.int64, _starts(disjunctions[is_live]))
        self._row = GrowingArray(np.int64, self._row.view[is_live])
        self._places = {row: place for place, row in enumerate(self._row.view.tolist())}

    def _decided(self, event: Event, rows: Rows) -> Rows:
        """Returns those of some rows all disjunctions of which hold."""
        if not self._places or not len(rows):
            return rows
        holds = np.zeros(len(self._numbers) + len(self._free), np.bool_)
        holds[self._scan.match(event)] = True
        disjunctions = np.logical_or.reduceat(holds[self._parts.view], self._first_part.view)
        places = np.logical_and.reduceat(disjunctions, self._first_disjunction.view)
        failed = self._row.view[~places]
        is_wrong = np.zeros(int(max(rows.max(), failed.max(initial=0))) + 1, np.bool_)
        is_wrong[failed[failed != _DEAD]] = True
        return rows[~is_wrong[rows]]

    def beside(self) -> Index | None:
        """Returns an empty index for other rows, where the one inside says which."""
        beside = self._index.beside()
        return None if beside is None else DisjunctionIndex(beside)

    def match(self, event: Event) -> Rows:
        """Returns the rows whose predicates the event satisfies, each once, in any order."""
        return self._decided(event, self._index.match(event))

    def search(self, event: Event) -> FoundRows:
        """Returns the same, and how many rows were checked."""
        found = self._index.search(event)
        rows = self._decided(event, found.rows)
        return FoundRows(rows, found.checked).with_reads(found.reads)

    @property
    def answering(self) -> Index:
        """The index inside as long as no row has a disjunction."""
        return self if self._places else self._index.answering

    def match_many(self, events: Sequence[Event]) -> list[Rows]:
        """Returns the same for several events."""
        return [*map(self._decided, events, self._index.match_many(events))]

    def reader(self, events: Sequence[Event]) -> Callable[[int], Rows]:
        """Returns what gives the answer to each of some events, until the index changes."""
        inside = self._index.reader(events)
        if not self._places:
            return inside
        return lambda place: self._decided(events[place], inside(place))

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        arrays = self._arrays().values()
        return super().nbytes + self._scan.nbytes + sum(each.nbytes for each in arrays)

    def _arrays(self) -> dict[str, GrowingArray]:
        return {
            "parts": self._parts,
            "first_part": self._first_part,
            "first_disjunction": self._first_disjunction,
            "row": self._row,
        }

    def save(self, folder: Path) -> None:
        """Writes the index inside, and the disjunctions, into an existing folder."""
        super().save(folder)
        if self._places:
            (folder / _SCAN).mkdir()
            self._scan.save(folder / _SCAN)
            for name, array in self._arrays().items():
                np.save(folder / f"{_SCAN}-{name}.npy", array.view)
            (folder / _TEXTS).write_text(json.dumps(self._numbers), encoding="utf-8")

    def load(self, folder: Path) -> None:
        """Takes, when new, what `save` wrote."""
        super().load(folder)
        if not (folder / _TEXTS).is_file():
            return
        self._scan.load(folder / _SCAN)
        self._numbers = json.loads((folder / _TEXTS).read_text(encoding="utf-8"))
        self._texts = {number: text for text, number in self._numbers.items()}
        for name in self._arrays():
            array = np.load(folder / f"{_SCAN}-{name}.npy")
            setattr(self, f"_{name}", GrowingArray(array.dtype, array))
        count = int(self._parts.view.max()) + 1  # rows that are gone may have the highest ones
        self._free = [each for each in range(count) if each not in self._texts]
        places = enumerate(self._row.view.tolist())
        self._places = {row: place for place, row in places if row != _DEAD}
        for place in self._places.values():
            self._users.update(self._parts_at(place))


def _stretch(starts: GrowingArray, at: int, end: int) -> tuple[int, int]:
    """Returns where the stretch of a number begins and ends; the last one ends at the end."""
    return int(starts[at]), int(starts[at + 1]) if at + 1 < len(starts) else end


def _starts(counts: Rows) -> Rows:
    """Returns where stretches of these lengths begin."""
    starts: Rows = np.cumsum(counts) - counts
    return starts
