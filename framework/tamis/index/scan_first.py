"""Keeps few rows in a scan, and more in an index that is fast with many.

An index that is fast with many rows is compiled, and few rows are not worth that. Which of the two
it is depends on how many rows there have been at once: an index that has grown stays grown.
Invariant: answers do not depend on it. Cost: that of the index inside; growing builds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path

from tamis.index.around import IndexAround
from tamis.index.columns import Columns
from tamis.index.scan import Scan
from tamis.indexing import Entry, Index, Rows
from tamis.statistics import Statistics


class ScanFirst(IndexAround):
    """A scan that becomes another index when it has too many rows."""

    def __init__(self, large: Callable[[], Index], most_scanned: int, choice: str = "") -> None:
        self._scan: Scan | None = Scan()
        super().__init__(self._scan)
        self._make_large = large
        self._most_scanned = most_scanned
        self._choice = choice
        self._statistics: Statistics | None = None

    def build(self, entries: Iterable[Entry]) -> None:
        """Inserts many rows at once."""
        entries = entries if self._scan is None else list(entries)
        if isinstance(entries, list) and not self._has_room(len(entries)):
            self._grow(entries)
        else:
            super().build(entries)

    def build_columns(self, rows: Rows, columns: Columns) -> None:
        """Inserts boxes of numbers."""
        if not self._has_room(len(rows)):
            self._grow(())
        super().build_columns(rows, columns)

    def inform(self, statistics: Statistics) -> None:
        """Takes what is known of events; answers never change."""
        super().inform(statistics)
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

    @property
    def choice(self) -> str:
        """The chosen index, and why, where the large one is one of several."""
        return self._choice if self._scan is not None else super().choice

    def load(self, folder: Path) -> None:
        """Takes, when new, what `save` wrote: a scan as a scan, a large index as that."""
        if not Scan.is_saved_in(folder):
            self._index, self._scan = self._make_large(), None
        super().load(folder)
