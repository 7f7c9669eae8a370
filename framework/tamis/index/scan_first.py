"""Keeps few rows in a scan, and more in an index that is fast with many.

An index that is fast with many rows is compiled, and few rows are not worth that. Which of the two
it is depends on how many rows there have been at once: an index that has grown stays grown.
Invariant: answers do not depend on it. Cost: that of the index inside; growing builds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from tamis.event import Event
from tamis.index.columns import Columns
from tamis.index.scan import Scan
from tamis.indexing import Entry, FoundRows, Index, Rows
from tamis.language.predicate import AttributePredicate
from tamis.statistics import Statistics


class ScanFirst(Index):
    """A scan that becomes another index when it has too many rows."""

    takes_disjunctions = True
    """As the scan, and the other one, do."""

    def __init__(self, large: Callable[[], Index], most_scanned: int, choice: str = "") -> None:
        self._make_large = large
        self._most_scanned = most_scanned
        self._choice = choice
        self._scan: Scan | None = Scan()
        self._index: Index = self._scan
        self._statistics: Statistics | None = None

    def build(self, entries: Iterable[Entry]) -> None:
        """Inserts many rows at once."""
        if self._scan is None:
            self._index.build(entries)
            return
        entries = list(entries)
        if self._has_room(len(entries)):
            self._index.build(entries)
        else:
            self._grow(entries)

    def build_columns(self, rows: Rows, columns: Columns) -> None:
        """Inserts boxes of numbers."""
        if self._scan is not None and not self._has_room(len(rows)):
            self._grow(())
        self._index.build_columns(rows, columns)

    def insert(self, row: int, predicates: Sequence[AttributePredicate]) -> None:
        """Adds a row, which must not be there."""
        if self._has_room(1):
            self._index.insert(row, predicates)
        else:
            self._grow([(row, predicates)])

    def delete(self, row: int) -> None:
        """Removes a row, which must be there."""
        self._index.delete(row)

    def delete_many(self, rows: Rows) -> None:
        """Removes rows, which must be there."""
        self._index.delete_many(rows)

    def inform(self, statistics: Statistics) -> None:
        """Takes what is known of events; answers never change."""
        self._index.inform(statistics)
        self._statistics = statistics

    def _has_room(self, rows: int) -> bool:
        return self._scan is None or len(self._scan) + rows <= self._most_scanned

    def _grow(self, entries: Iterable[Entry]) -> None:
        """Moves all rows, and some new ones, to the large index; changes nothing if that fails."""
        assert self._scan is not None
        large = self._make_large()
        if self._statistics is not None:
            large.inform(self._statistics)
        large.build(chain(self._scan.entries(), entries))
        self._index, self._scan = large, None

    def match(self, event: Event) -> Rows:
        """Returns the rows whose predicates the event satisfies, each once, in any order."""
        return self._index.match(event)

    def search(self, event: Event) -> FoundRows:
        """Returns the same, and how many rows were checked."""
        return self._index.search(event)

    @property
    def answering(self) -> Index:
        """The index inside, until there are too many rows for it."""
        return self._index.answering

    @property
    def choice(self) -> str:
        """The chosen index, and why, where the large one is one of several."""
        return self._choice if self._scan is not None else self._index.choice

    @property
    def is_restless(self) -> bool:
        """True if the index inside has something to adapt."""
        return self._index.is_restless

    def adapt(self) -> None:
        """Improves the index inside."""
        self._index.adapt()

    def match_many(self, events: Sequence[Event]) -> list[Rows]:
        """Returns the same for several events."""
        return self._index.match_many(events)

    def reader(self, events: Sequence[Event]) -> Callable[[int], Rows]:
        """Returns what gives the answer to each of some events, until the index changes."""
        return self._index.reader(events)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        return self._index.nbytes

    def save(self, folder: Path) -> None:
        """Writes the index inside into an existing folder."""
        self._index.save(folder)

    def load(self, folder: Path) -> None:
        """Takes, when new, what `save` wrote: a scan as a scan, a large index as that."""
        if not Scan.is_saved_in(folder):
            self._index, self._scan = self._make_large(), None
        self._index.load(folder)
