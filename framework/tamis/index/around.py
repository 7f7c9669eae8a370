"""Passes on what an index around another one leaves to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tamis.event import Event
from tamis.index.columns import Columns
from tamis.indexing import Entry, FoundRows, Index, Rows
from tamis.statistics import Statistics


class IndexAround(Index):
    """An index that has another one inside; it leaves to it what it does not do itself."""

    takes_disjunctions = True

    def __init__(self, index: Index) -> None:
        self._index = index

    def build(self, entries: Iterable[Entry]) -> None:
        """Inserts many rows at once."""
        self._index.build(entries)

    def build_columns(self, rows: Rows, columns: Columns) -> None:
        """Inserts boxes of numbers."""
        self._index.build_columns(rows, columns)

    def delete_many(self, rows: Rows) -> None:
        """Removes rows, which must be there."""
        self._index.delete_many(rows)

    def inform(self, statistics: Statistics) -> None:
        """Takes what is known of events; answers never change."""
        self._index.inform(statistics)

    def match(self, event: Event) -> Rows:
        """Returns the rows whose predicates the event satisfies, each once, in any order."""
        return self._index.match(event)

    def search(self, event: Event) -> FoundRows:
        """Returns the same, and how many rows were checked."""
        return self._index.search(event)

    def match_many(self, events: Sequence[Event]) -> list[Rows]:
        """Returns the same for several events."""
        return self._index.match_many(events)

    def reader(self, events: Sequence[Event]) -> Callable[[int], Rows]:
        """Returns what gives the answer to each of some events, until the index changes."""
        return self._index.reader(events)

    @property
    def answering(self) -> Index:
        """The index inside, as long as it answers alone."""
        return self._index.answering

    @property
    def choice(self) -> str:
        """The choice of the index inside, where it chooses among several."""
        return self._index.choice

    @property
    def is_restless(self) -> bool:
        """True if the index inside has something to adapt."""
        return self._index.is_restless

    def adapt(self) -> None:
        """Improves the index inside."""
        self._index.adapt()

    @property
    def folder(self) -> Path | None:
        """The folder of the index inside."""
        return self._index.folder

    def clear(self) -> None:
        """Removes what an earlier process left to the index inside."""
        self._index.clear()

    def close(self) -> None:
        """Lets the index inside go of its folder."""
        self._index.close()

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
        """Takes, when new, what `save` wrote."""
        self._index.load(folder)
