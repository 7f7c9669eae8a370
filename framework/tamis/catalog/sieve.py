"""Leaves the alternatives of an event: those whose attribute predicates hold, written or declared.

An alternative that wants an operator's predicate true is in the index with what the operator
declares necessary of it. A derived attribute that cannot be made although what it is made of is
there decides nothing, but no index can tell it from an absent one. So alternatives with
declarations are in a second index too, with their written predicates alone. It is looked into where
a derived attribute is undecided, and its rows are checked against their declarations.
Invariant: the candidates are the alternatives without a false predicate or declaration, exactly,
whatever the index. Cost: that of the index; of a second one for such an event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from tamis.catalog.catalog import DECLARES, Catalog, stretches
from tamis.catalog.resolve import ResolvedAlternative
from tamis.event import Event
from tamis.index.scan import Scan
from tamis.indexing import FoundRows, Index, Keeper, Rows
from tamis.numeric.types import Flags, Ints
from tamis.operators.asking import Test
from tamis.statistics import Statistics

_ALL, _WRITTEN = "index", "written"


class Sieve:
    """The indexes of a catalog. One writer at a time, and no reader beside it."""

    def __init__(self, make: Callable[[], Index], catalog: Catalog) -> None:
        self._make = make
        self._catalog = catalog
        self._all = make()
        self._all.clear()
        self._written: Index | None = None
        """Alternatives with declarations, without these."""
        self._counted: Scan | None = None
        """All alternatives without declarations, where misses are counted."""
        self._statistics = Statistics()
        self._notice()

    def _notice(self) -> None:
        """Looks which index answers, after each change: shells around it cost time every event."""
        self._answering = self._all.answering
        self.watched = tuple(each.answering for each in self._indexes())
        """The indexes that see events, and may want to improve by these."""
        self.choice = self._all.choice
        """The chosen index, and why, where one is chosen among several."""

    @property
    def index(self) -> Index:
        """The index of all alternatives."""
        return self._all

    def add(self, added: Sequence[tuple[int, ResolvedAlternative]]) -> None:
        """Takes alternatives that the catalog has taken."""
        entries, written = [], []
        for row, asked in added:
            entries.append((row, asked.indexed))
            if asked.necessary:
                written.append((row, asked.predicates))
        try:
            if entries:
                self._all.build(entries)
            if written:
                if self._written is None:
                    self._written = self._new()
                self._written.build(written)
        finally:
            self._notice()
        if self._counted is not None:
            self._counted.build((row, asked.predicates) for row, asked in added)

    def count_misses(self) -> None:
        """Keeps from now on, while nothing is subscribed, what `misses` needs."""
        self._counted = Scan()

    def misses(self, event: Event) -> tuple[Rows, Ints]:
        """Returns all alternatives, and how many attribute predicates of each, as written, do not
        hold."""
        assert self._counted is not None
        return self._counted.misses(event)

    def _new(self) -> Index:
        beside = self._all.beside()
        index = self._make() if beside is None else beside
        index.inform(self._statistics)
        return index

    @property
    def keeper(self) -> Keeper | None:
        """The keeper of subscriptions, where the index outlives the program."""
        return self._all.keeper

    def remove(self, rows: Iterable[int]) -> None:
        """Removes alternatives that the catalog has removed."""
        for row in rows:
            self._all.delete(row)
            if self._written is not None and self._catalog.alternative_flags[row] & DECLARES:
                self._written.delete(row)
            if self._counted is not None:
                self._counted.delete(row)
        self._notice()

    def inform(self, statistics: Statistics) -> None:
        """Takes what is known of events; answers never change."""
        self._statistics = statistics
        for index in self._indexes():
            index.inform(statistics)
        self._notice()

    def search(self, event: Event) -> FoundRows:
        """Returns the alternatives that an event leaves, each once, in any order."""
        found = self._answering.search(event)
        if self._written is None:
            return found
        if not any(map(event.is_undecided, self._catalog.declared_names)):
            return found
        other = self._written.search(event)
        rows = other.rows[~self._dropped(other.rows, event)[0]]
        both = FoundRows(np.union1d(found.rows, rows), found.checked + other.checked)
        return both.with_reads(found.reads + other.reads)

    def adapt(self) -> None:
        """Lets the indexes improve a little by the events that they saw."""
        for index in self._indexes():
            if index.is_restless:
                index.adapt()
        self._notice()

    def _indexes(self) -> tuple[Index, ...]:
        return (self._all,) if self._written is None else (self._all, self._written)

    def dropped(self, event: Event) -> list[Test]:
        """Returns the tests whose declarations keep alternatives from being left, each once."""
        if self._written is None:
            return []
        return self._dropped(self._written.match(event), event)[1]

    def _dropped(self, rows: Rows, event: Event) -> tuple[Flags, list[Test]]:
        """Returns the rows that want a test true that its declaration excludes, and these tests."""
        catalog = self._catalog
        counts = catalog.edge_count[rows]
        places = stretches(catalog.edge_start[rows], counts)
        wanted = catalog.edge_sign[places] > 0
        numbers, at = np.unique(catalog.edge_test[places][wanted], return_inverse=True)
        tests = [catalog.tests.thing(number) for number in numbers.tolist()]
        broken = np.array([test.necessary.broken(event) is not None for test in tests], np.bool_)
        of = np.repeat(np.arange(len(rows)), counts)[wanted]
        dropped = np.bincount(of[broken[at]], minlength=len(rows)) > 0
        return dropped, [tests[each] for each in np.flatnonzero(broken).tolist()]

    def close(self) -> None:
        """Lets another process have the folder of an index."""
        if self._all.folder is not None:
            self._all.close()

    def save(self, folder: Path) -> None:
        """Writes the indexes into folders of an existing one."""
        for name, index in zip((_ALL, _WRITTEN), self._indexes(), strict=False):
            (folder / name).mkdir()
            index.save(folder / name)

    def load(self, folder: Path) -> None:
        """Takes, when new, what `save` wrote."""
        self._all.load(folder / _ALL)
        if (folder / _WRITTEN).is_dir():
            self._written = self._new()
            self._written.load(folder / _WRITTEN)
        self._notice()
