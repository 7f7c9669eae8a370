"""Indexes rows in lists of predicates, and decides when everything is laid out anew.

Rows are put into the lists that are there, in place. When rows came to be twice as many, or more
are gone than there are, everything is laid out anew: pivots and segments are chosen again.
Cost: O(entries) amortized to insert, O(1) to delete.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tamis.event import Event
from tamis.index.columns import Columns
from tamis.index.dimensions import Dimensions
from tamis.index.known import knowledge_from
from tamis.index.labels import ChangedLabels
from tamis.index.opindex import store as stores
from tamis.index.opindex.entries import (
    KINDS,
    Entries,
    NewEntries,
    conjunctions,
    entries_of,
    joined_entries,
    relabeled_entries,
    used_terms,
    wanted_of,
)
from tamis.index.opindex.lists import append, measure, remove, settle_all
from tamis.index.opindex.matching import OpIndexScratch, match_event, new_scratch
from tamis.index.opindex.reading_back import read_back
from tamis.index.opindex.store import (
    ALWAYS,
    ARENAS,
    BIT_TOP,
    BITS,
    CAPACITY,
    COUNT,
    COUNTER_TOP,
    COUNTERS,
    GROUPS,
    MOST,
    START,
    STRETCHES,
    WORDS,
    OpIndexStore,
)
from tamis.index.readings import event_count, most_at_once
from tamis.indexing import Entry, FoundRows, Index, Rows
from tamis.numeric.types import Floats, Ints
from tamis.numeric.views import places_of
from tamis.statistics import Statistics

_SMALL, _ROOM = 1_024, 64
_ENTRIES_A_SEGMENT = 16
_Lent = tuple[OpIndexScratch, Ints]


class OpIndex(Index):
    """OpIndex: predicates by pivot attribute and operator; a list has up to `segments` segments."""

    takes_disjunctions = True

    def __init__(self, *, segments: int = 128) -> None:
        self._segments = segments
        self._dimensions = Dimensions()
        self._store = stores.empty_store(0, 0)
        self._places = places_of(self._store)
        self._always: Rows = np.zeros(0, np.int64)
        self._free: list[_Lent] = []
        self._rows = self._laid_out = self._gone = 0
        self._statistics: Statistics | None = None
        self._known = False

    # changing

    def build(self, entries: Iterable[Entry]) -> None:
        """Inserts many rows at once."""
        disjunction: dict[int, int] = {}
        terms, moved = self._dimensions.terms(conjunctions(entries, disjunction))
        self._take(wanted_of(terms, disjunction), moved)

    def build_columns(self, rows: Ints, columns: Columns) -> None:
        """Builds from boxes of numbers."""
        terms, moved = self._dimensions.box_terms(rows, columns)
        self._take(wanted_of(terms, {}), moved)

    def _take(self, wanted: NewEntries, moved: dict[int, ChangedLabels]) -> None:
        """Takes new rows, and what became of labels to make room for them."""
        fresh = entries_of(wanted)
        if not moved and len(fresh.rows) <= max(self._rows, 1):
            self._append(fresh)
            return
        there = read_back(self._store)
        for number, move in moved.items():
            relabeled_entries(there, number, move)
        self._lay_out(joined_entries(there, fresh))

    def delete_many(self, rows: Rows) -> None:
        """Removes rows, which must be there."""
        self._always = np.setdiff1d(self._always, rows)
        remove(self._places, np.ascontiguousarray(rows, np.int64))
        self._rows -= len(rows)
        self._gone += len(rows)
        if self._gone > _SMALL + self._rows:
            self._lay_out(read_back(self._store))

    def inform(self, statistics: Statistics) -> None:
        """Chooses pivots by what is known of events, from now on and for all rows there are."""
        before, self._statistics = self._statistics, statistics
        try:
            self._lay_out(read_back(self._store))
        except BaseException:
            self._statistics = before
            raise

    def _append(self, entries: Entries) -> None:
        """Puts rows where there is room, beside those that are there."""
        count = len(self._dimensions)
        self._store = stores.with_room(
            self._store,
            {
                "lists": count * KINDS,
                "stretches": count * STRETCHES,
                "delta": count,
                **_row_room(self._store, entries),
            },
        )
        if not self._known:
            self._store.delta[:] += np.bincount(entries.dimension, minlength=count)
        done = 0
        while True:
            done = append(places_of(self._store), entries, done, True)
            if done == len(entries.rows):
                break
            self._store = _roomier(self._store, entries)
        self._rows += len(entries.rows)
        self._always = np.append(self._always, entries.rows[entries.clauses == 0])
        self._keep(self._store)
        if self._rows > _SMALL + 2 * self._laid_out:
            self._lay_out(read_back(self._store))

    def _lay_out(self, entries: Entries) -> None:
        """Puts these rows, all there are, into new arrays; forgets what only others asked for.

        When that fails, everything stays as it was."""
        before = self._store, self._dimensions
        try:
            self._lay_out_anew(entries)
        except BaseException:
            self._store, self._dimensions = before
            raise
        finally:
            self._keep(self._store)

    def _lay_out_anew(self, entries: Entries) -> None:
        if self._gone > len(entries.rows) // 2:
            terms = used_terms(entries, self._dimensions)
            self._dimensions, terms = self._dimensions.kept(terms)
            entries = entries._replace(dimension=terms.dimension)
        count = len(self._dimensions)
        store = stores.empty_store(count, int(entries.rows.max(initial=-1)) + 1)
        store.delta[:] = self._delta(entries)
        lists, stretches = np.zeros(count * KINDS, np.int64), np.zeros(count * STRETCHES, np.int64)
        measure(places_of(store), entries, lists, stretches, np.zeros(0, np.int64))
        wanted = np.maximum(1, lists // _ENTRIES_A_SEGMENT)
        segments = np.minimum(1 << np.log2(wanted).astype(np.int64), self._segments)
        segments[lists == 0] = 0
        store.lists[:, 0] = np.where(lists > 0, np.cumsum(segments) - segments, -1)
        store.lists[:, 1] = segments - 1
        sizes = np.zeros(int(segments.sum()), np.int64)
        measure(places_of(store), entries, lists, np.zeros_like(stretches), sizes)
        roomy = _roomy(sizes)
        arenas = {"entries": int(roomy.sum()), "segments": len(sizes)}
        store = _with_stretches(store, _roomy(stretches), arenas)
        store.segments[:, CAPACITY] = roomy
        store.segments[:, START] = np.cumsum(roomy) - roomy
        done = append(places_of(store), entries, 0, False)
        assert done == len(entries.rows)
        settle_all(places_of(store))
        self._store, self._always = store, entries.rows[entries.clauses == 0]
        self._rows = self._laid_out = len(entries.rows)
        self._gone = 0

    def _delta(self, entries: Entries) -> Floats:
        """Returns how many events have each dimension, by statistics, or else how many entries."""
        uses = np.bincount(entries.dimension, minlength=len(self._dimensions)).astype(np.float64)
        known = None
        if self._statistics is not None:
            known = knowledge_from(self._statistics, self._dimensions)
        self._known = known is not None
        if known is None:
            return uses
        shares = uses / max(1.0, uses.max(initial=0.0))
        return np.where(np.isnan(known.presence), shares, known.presence)

    def _keep(self, store: OpIndexStore) -> None:
        self._store = store
        self._places = places_of(store)

    # matching

    def match(self, event: Event) -> Rows:
        """Returns the rows whose predicates the event satisfies, each once, in any order."""
        return self._match(self._dimensions.read((event,)), 0).rows

    def search(self, event: Event) -> FoundRows:
        """Returns the same, and how many rows hang where something was found."""
        return self._match(self._dimensions.read((event,)), 0)

    def match_many(self, events: Sequence[Event]) -> list[Rows]:
        """Returns the same for several events."""
        readings = self._dimensions.read(events)
        return [self._match(readings, at).rows for at in range(event_count(readings))]

    def reader(self, events: Sequence[Event]) -> Callable[[int], Rows]:
        """Returns the answer to each of some events by its place, until the index changes."""
        readings = [self._dimensions.read((event,)) for event in events]
        return lambda place: self._match(readings[place], 0).rows

    def _match(self, readings: Ints, event: int) -> FoundRows:
        scratch, places = self._scratch(sum(most_at_once(readings)))
        try:
            count = match_event(self._places, places, readings, event)
            rows = scratch.out[:count].astype(np.int64)
            by_bits, checked = scratch.counts[1:].tolist()
        finally:
            self._free.append((scratch, places))
        if by_bits:
            rows = np.unique(rows)
        if len(self._always):
            rows = np.concatenate([rows, self._always])
        return FoundRows(rows, checked + len(self._always))

    def _scratch(self, values: int) -> _Lent:
        """Returns scratch for one match at a time, of events with so many values."""
        tops = self._store.tops
        most, rows = tops[MOST:], tops[COUNTER_TOP] + tops[BIT_TOP]
        sizes = most[COUNTERS], most[WORDS], most[GROUPS], values, rows
        try:
            lent = self._free.pop()
        except IndexError:
            pass
        else:
            has = lent[0].counters, lent[0].words, lent[0].groups, lent[0].value, lent[0].out
            if all(len(array) >= size for array, size in zip(has, sizes, strict=True)):
                return lent
        scratch = new_scratch(*(_ROOM + int(size) * 9 // 8 for size in sizes))
        return scratch, places_of(scratch)

    def __len__(self) -> int:
        return self._rows

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        return stores.nbytes(self._store) + self._dimensions.nbytes

    # folders

    def save(self, folder: Path) -> None:
        """Writes its arrays into an existing folder."""
        for name, array in self._store._asdict().items():
            np.save(folder / f"{name}.npy", array)
        self._dimensions.save(folder / "dimensions.json")
        about = {"rows": self._rows, "gone": self._gone, "known": self._known}
        (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")

    def load(self, folder: Path) -> None:
        """Takes, when new, what `save` wrote, mapping arrays rather than reading them."""
        self._dimensions.load(folder / "dimensions.json")
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        self._rows = self._laid_out = about["rows"]
        self._gone, self._known = about["gone"], about["known"]
        self._keep(
            OpIndexStore(*(_mapped(folder / f"{name}.npy") for name in OpIndexStore._fields))
        )
        self._always = np.flatnonzero(self._store.pivot == ALWAYS)


def _mapped(path: Path) -> Any:
    """Returns a saved array, mapped into memory where it can be, copied where it is changed."""
    try:
        return np.asarray(np.load(path, mmap_mode="c"))
    except ValueError:  # an empty array cannot be mapped
        return np.load(path)


def _row_room(store: OpIndexStore, entries: Entries) -> dict[str, int]:
    """Returns how long the arrays by row are to be."""
    rows = int(entries.rows.max(initial=-1)) + 1
    if rows <= len(store.pivot):
        return {}
    return dict.fromkeys(("pivot", "slot"), max(rows, len(store.pivot) * 9 // 8, 64))


def _roomy(counts: Ints) -> Ints:
    """Returns the capacities of stretches of which a few more are expected."""
    return counts + counts // 8


def _roomier(store: OpIndexStore, entries: Entries) -> OpIndexStore:
    """Returns the store with room for any stretch of an arena to move, and for a row more."""
    row = int(entries.clauses.max(initial=0) + entries.groups.max(initial=0))
    longest = store.segments[:, COUNT].max(initial=0), store.stretches[:, COUNT].max(initial=0)
    sizes = {}
    for name, top in ARENAS.items():
        used = int(store.tops[top])
        sizes[name] = used + used // 4 + 2 * int(max(longest)) + row + _SMALL
    return stores.with_room(store, sizes)


def _with_stretches(store: OpIndexStore, counts: Ints, arenas: dict[str, int]) -> OpIndexStore:
    """Returns an empty store with arenas of these sizes, and stretches of these capacities."""
    by_pivot = counts.reshape(-1, STRETCHES)
    store.stretches[:, CAPACITY] = counts
    store.stretches[:, START] = (np.cumsum(by_pivot, axis=0) - by_pivot).ravel()
    totals = by_pivot.sum(axis=0)
    arenas |= {
        "counters": int(totals[COUNTERS]), "bits": int(totals[BITS]),
        "words": int(totals[WORDS]), "groups": int(totals[GROUPS]),
    }  # fmt: skip
    sizes = [
        ("segments", "segments"), ("dimension", "entries"), ("bounds", "entries"),
        ("at", "entries"), ("code", "entries"),
        ("other_code", "entries"), ("needed", "counters"), ("counted", "counters"),
        ("bits", "bits"), ("words", "words"), ("groups", "groups"),
    ]  # fmt: skip
    store = stores.with_room(store, {name: arenas[size] for name, size in sizes})
    for name, size in sizes:
        store.tops[ARENAS[name]] = arenas[size]
    return store
