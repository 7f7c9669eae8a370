"""Lets an index that knows conjunctions alone take disjunctions.

A disjunction is an attribute predicate: an array of the event, of all disjunctions that hold, has
it. This index decides each distinct one once an event, by a scan of their predicates, and hands
that array to the index inside. So a condition of fifty clauses is one row, which an index finds by
whichever of its clauses is rarest.
Invariant: answers are those of the index inside for an event that has that array.
Cost: that of the index inside; of a scan of the disjunctions' predicates where there are any.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from tamis.event import DerivedAttribute, Event, plain_name
from tamis.index.columns import Columns
from tamis.index.scan import Scan
from tamis.indexing import Entry, Found, Index, Rows
from tamis.language.predicate import DISJUNCTIONS, AttributePredicate, Disjunction
from tamis.statistics import Statistics

_NAME = plain_name(DISJUNCTIONS)
_SCAN, _ROWS = "disjunctions", "disjunctions.json"


def taking_disjunctions(index: Index) -> Index:
    """Returns an index, one around it where it knows conjunctions alone."""
    return index if index.takes_disjunctions else DisjunctionIndex(index)


class DisjunctionIndex(Index):
    """An index around one that knows conjunctions alone."""

    takes_disjunctions = True

    def __init__(self, index: Index) -> None:
        self._index = index
        self._scan = Scan()
        self._texts: dict[int, str] = {}
        """The disjunctions by their rows in the scan."""
        self._numbers: dict[str, int] = {}
        self._free: list[int] = []
        self._users: Counter[str] = Counter()
        self._held: dict[int, list[str]] = {}
        """Of each row that has some, its disjunctions."""

    def build(self, entries: Iterable[Entry]) -> None:
        """Inserts many rows at once."""
        self._index.build(self._noted(entries))

    def _noted(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yields entries, and takes what disjunctions they have."""
        for row, predicates in entries:
            for predicate in predicates:
                if isinstance(predicate, Disjunction):
                    self._take(row, predicate)
            yield row, predicates

    def _take(self, row: int, disjunction: Disjunction) -> None:
        text = disjunction.text()
        self._held.setdefault(row, []).append(text)
        self._users[text] += 1
        if text not in self._numbers:
            number = self._free.pop() if self._free else len(self._numbers)
            self._numbers[text], self._texts[number] = number, text
            self._scan.insert(number, [disjunction])

    def build_columns(self, rows: Rows, columns: Columns) -> None:
        """Inserts boxes of numbers."""
        self._index.build_columns(rows, columns)

    def insert(self, row: int, predicates: Sequence[AttributePredicate]) -> None:
        """Adds a row, which must not be there."""
        for entry in self._noted([(row, predicates)]):
            self._index.insert(*entry)

    def delete(self, row: int) -> None:
        """Removes a row, which must be there."""
        self._index.delete(row)
        self._forget(row)

    def delete_many(self, rows: Rows) -> None:
        """Removes rows, which must be there."""
        self._index.delete_many(rows)
        if self._held:
            for row in rows.tolist():
                self._forget(row)

    def _forget(self, row: int) -> None:
        for text in self._held.pop(row, ()):
            self._users[text] -= 1
            if not self._users[text]:
                del self._users[text]
                number = self._numbers.pop(text)
                del self._texts[number]
                self._scan.delete(number)
                self._free.append(number)

    def inform(self, statistics: Statistics) -> None:
        """Takes what is known of events; answers never change."""
        self._index.inform(statistics)

    def _with_array(self, event: Event) -> Event:
        """Returns the event with the array of the disjunctions that hold."""
        if not self._held:
            return event
        found = tuple(self._texts[number] for number in self._scan.match(event).tolist())
        array = DerivedAttribute(_NAME, lambda event: found)  # type: ignore[arg-type, return-value]
        return Event(event.content, event.id, {**event.derived, _NAME: array}, event.folder)

    def match(self, event: Event) -> Rows:
        """Returns the rows whose predicates the event satisfies, each once, in any order."""
        return self._index.match(self._with_array(event))

    def search(self, event: Event) -> Found:
        """Returns the same, and how many rows were checked."""
        return self._index.search(self._with_array(event))

    @property
    def is_restless(self) -> bool:
        """Whether the index inside is."""
        return self._index.is_restless

    def adapt(self) -> None:
        """Improves the index inside."""
        self._index.adapt()

    def match_many(self, events: Sequence[Event]) -> list[Rows]:
        """Returns the same for several events."""
        return self._index.match_many([self._with_array(event) for event in events])

    def reader(self, events: Sequence[Event]) -> Callable[[int], Rows]:
        """Returns what gives the answer to each of some events, until the index changes."""
        return self._index.reader([self._with_array(event) for event in events])

    def __len__(self) -> int:
        return len(self._index)

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        return self._index.nbytes + self._scan.nbytes

    def save(self, folder: Path) -> None:
        """Writes the index inside, and the disjunctions, into an existing folder."""
        self._index.save(folder)
        if self._held:
            (folder / _SCAN).mkdir()
            self._scan.save(folder / _SCAN)
            held = [list(self._numbers.items()), list(self._held.items())]
            (folder / _ROWS).write_text(json.dumps(held), encoding="utf-8")

    def load(self, folder: Path) -> None:
        """Takes, when new, what `save` wrote."""
        self._index.load(folder)
        if (folder / _ROWS).is_file():
            self._scan.load(folder / _SCAN)
            numbers, held = json.loads((folder / _ROWS).read_text(encoding="utf-8"))
            self._numbers, self._held = dict(numbers), dict(held)
            self._texts = {number: text for text, number in numbers}
            self._free = [each for each in range(max(self._texts)) if each not in self._texts]
            self._users.update(text for texts in self._held.values() for text in texts)
