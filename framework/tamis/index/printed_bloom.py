"""PSTBloom as printed (Ji and Jacobsen, §5): which rows are looked at, and which signatures spare.

A row is in the list of each leaf of its access term, and in the signatures of the leaves of its
other terms; what passes all of them is checked exactly. Three things are not as printed. Terms that
cover many leaves hang on wider ones, of which a dimension has few, so that lists and signatures
stay in proportion. Signatures forget rows only when everything is laid out anew. Terms about bags
are in no signature: an event is on several leaves of a bag, which together would deny little.
Invariant: answers are those of the records; leaves and signatures only spare looking at them.
Cost: to match, see `printed_bloom_matching`; a change costs some leaves, and everything is laid out
anew when arenas or rows have doubled, or when half of the bits or records are those of rows gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.event import Event
from tamis.index import printed_bloom_hanging as hanging
from tamis.index import printed_bloom_records as records
from tamis.index.columns import Columns
from tamis.index.dimensions import (
    ABSENT,
    BOOLEANS,
    LARGE,
    NUMBERS,
    PRESENT,
    REVERSED,
    STRINGS,
    Dimensions,
)  # fmt: skip
from tamis.index.known import Known
from tamis.index.labels import Moved, relabeled
from tamis.index.printed_bloom_leaves import PER_WORD
from tamis.index.printed_bloom_matching import match_events
from tamis.index.printed_bloom_store import (
    ALWAYS,
    BITS,
    COARSE,
    COUNT,
    DEAD,
    GONE,
    LAID_OUT,
    LAID_OUT_ROWS,
    LEAF_FIELDS,
    LIST,
    LIVE,
    MIDDLE,
    ROOM,
    SIGNATURE,
    SIGNED,
    STALE,
    TERM,
    TOP_LISTS,
    TOP_RECORDS,
    TOP_WORDS,
    TOPS,
    WORDS,
    Store,
    load_arrays,
    save_arrays,
)
from tamis.index.ps_tree import PSTrees, values_of
from tamis.index.ps_tree_arrays import SPACES, Floats, Ints, SmallInts
from tamis.index.readings import event_count
from tamis.index.terms import OUTSIDE, Terms, joined
from tamis.indexing import Entry, Rows
from tamis.language.predicate import AttributePredicate
from tamis.statistics import Statistics

COARSE_SPACES, MIDDLE_SPACES = 32, 1_024
"""How many leaves the fixed trees of a dimension have at most."""
_WEAKNESS = {BOOLEANS: records.INTERVAL, PRESENT: records.UNEQUAL, ABSENT: records.UNEQUAL}
"""The best ranks of terms where = leaves many events."""
_KINDS = {
    NUMBERS: "number", LARGE: "number", STRINGS: "string", REVERSED: "string", BOOLEANS: "boolean",
}  # fmt: skip
"""Of which values of an attribute a line is."""
_SMALL = 1_024
_SMALL_ARENA = 1 << 16

_FINE, _FIXED = "fine_tree_", "fixed_tree_"

Scratch = tuple[SmallInts, Floats, SmallInts]


class PrintedBloom:
    """PSTBloom with Bloom signatures on the leaves of PS-Trees."""

    def __init__(self) -> None:
        self._dimensions = Dimensions()
        self._fine, self._fixed = PSTrees(), PSTrees()
        self._fine_leaves = self._fixed_leaves = np.zeros((0, LEAF_FIELDS), np.int32)
        self._lists = np.zeros(0, np.int32)
        self._words = np.zeros(0, np.uint64)
        self._places = np.zeros(0, np.int64)
        self._records = np.zeros(0, np.int64)
        self._tops = np.zeros(TOPS, np.int64)
        self._about = np.zeros((0, records.DIMENSION_FIELDS))
        self._always: set[int] = set()
        self._always_rows: Rows | None = None
        self._known: Known | None = None
        self._quantiles: dict[tuple[str, str], Sequence[Any]] = {}
        self._scratch: list[Scratch] = []
        self.tested = np.zeros(1, np.int64)
        """How many rows of lists were looked at, for benches."""

    # changing

    def build(self, entries: Iterable[Entry]) -> None:
        """Inserts many rows at once."""
        self._take(*self._dimensions.terms(entries))

    def _take(self, terms: Terms, moved: dict[int, Moved]) -> None:
        """Takes new rows, and what became of labels to make room for them."""
        if moved:
            self._lay_out(joined(relabeled(self._read_back(), moved), terms))
        else:
            self._add(terms)

    def build_columns(self, rows: Rows, columns: Columns) -> None:
        """The same for closed ranges of numbers."""
        self._take(*self._dimensions.box_terms(rows, columns))

    def insert(self, row: int, predicates: Sequence[AttributePredicate]) -> None:
        """Adds a row, which must not be there."""
        self.build([(row, predicates)])

    def delete(self, row: int) -> None:
        """Removes a row, which must be there."""
        self.delete_many(np.array([row], np.int64))

    def delete_many(self, rows: Rows) -> None:
        """Removes rows, which must be there."""
        self._change(lambda at, needed: hanging.delete_rows(self._store, rows, at, needed), rows)
        self._note_always(rows, False)
        self._keep_in_proportion()

    def inform(self, statistics: Statistics) -> None:
        """Takes which attributes events have, and their quantiles as events on the leaves."""
        self._known, self._quantiles = Known(statistics), {}
        for row in statistics.attributes:
            quantiles = row.get("quantiles") or row.get("strings") or ()
            self._quantiles[row["attribute"], row["kind"]] = quantiles
        if len(self):
            self._lay_out(self._read_back())

    def _add(self, terms: Terms) -> None:
        if len(terms.rows) > len(self) + 1:
            self._lay_out(joined(self._read_back(), terms))
            return
        self._open()
        self._write(terms)
        rows, about = terms.rows, self._about
        self._change(
            lambda at, needed: hanging.insert_rows(self._store, about, rows, at, needed), rows
        )
        self._note_always(rows[self._places[rows] == ALWAYS], True)
        self._keep_in_proportion()

    def _change(self, change: Callable[[int, Ints], int], rows: Rows) -> None:
        """Goes through rows with a kernel that stops where it needs room."""
        needed = np.zeros(hanging.NEEDS, np.int64)
        done = change(0, needed)
        while done < len(rows):
            _, dimension, ranges, lists, words = needed.tolist()
            self._fine.make_room(dimension, ranges)
            self._fine_leaves = _longer(self._fine_leaves, len(self._fine.arrays.uses))
            self._lists = _longer(self._lists, int(self._tops[TOP_LISTS]) + lists)
            self._words = _longer(self._words, int(self._tops[TOP_WORDS]) + words)
            done = change(done, needed)

    def _note_always(self, rows: Rows, come: bool) -> None:
        """Rows without terms come, or go."""
        before = len(self._always)
        change = self._always.update if come else self._always.difference_update
        change(rows.tolist())
        if len(self._always) != before:
            self._always_rows = None

    def _keep_in_proportion(self) -> None:
        """Lays everything out anew when it has grown, or is worth nothing, by the half."""
        tops = self._tops
        size = tops[TOP_LISTS] + tops[TOP_WORDS]
        if (
            len(self) > 2 * tops[LAID_OUT_ROWS] + _SMALL
            or size > 2 * tops[LAID_OUT] + _SMALL_ARENA
            or 2 * tops[STALE] > tops[BITS] + _SMALL
            or 2 * tops[DEAD] > tops[TOP_RECORDS] + _SMALL_ARENA
        ):
            self._lay_out(self._read_back(), forget=True)

    # all at once

    def _lay_out(self, terms: Terms, *, forget: bool = False) -> None:
        """Puts rows, all but those that have no records, into new arrays."""
        if forget:
            self._dimensions, terms = self._dimensions.kept(terms)
        kept = self._places < 0
        self._places[~kept] = GONE
        self._tops = np.zeros(TOPS, np.int64)
        self._tops[LIVE] = np.count_nonzero(kept & (self._places != GONE))
        self._records = np.zeros(0, np.int64)
        self._about = np.zeros((0, records.DIMENSION_FIELDS))
        self._fine, self._fixed = PSTrees(), PSTrees()
        self._lists, self._words = np.zeros(0, np.int32), np.zeros(0, np.uint64)
        self._open()
        self._write(terms)
        self._cut(terms.rows)
        self._count_events()
        records.choose_all(self._store, self._about, terms.rows)
        self._arrange(terms.rows)
        always = np.flatnonzero(self._places == ALWAYS)
        self._always, self._always_rows = set(always.tolist()), always
        self._tops[LAID_OUT] = self._tops[TOP_LISTS] + self._tops[TOP_WORDS]
        self._tops[LAID_OUT_ROWS] = len(self)

    def _open(self) -> None:
        """Sees to it that all dimensions have trees."""
        known, count = len(self._about), len(self._dimensions)
        if known == count:
            return
        self._fine.open(count)
        self._fixed.open(2 * count)
        self._fine_leaves = _longer(self._fine_leaves, len(self._fine.arrays.uses))
        self._fixed_leaves = _longer(self._fixed_leaves, len(self._fixed.arrays.uses))
        about = np.zeros((count, records.DIMENSION_FIELDS))
        about[:known] = self._about
        about[known:] = np.inf, -np.inf, 0, -1
        for number in range(known, count):
            about[number, records.WEAKNESS] = _WEAKNESS.get(self._dimensions.keys[number][1], 0)
        if self._known:
            presence = self._known.presence(self._dimensions)
            about[known:, records.PRESENCE] = presence[known:]
        self._about = about

    def _write(self, terms: Terms) -> None:
        """Writes the records of rows."""
        last = int(terms.rows.max(initial=-1))
        if last >= len(self._places):
            places = np.full(last + 1 + last // 8, GONE, np.int64)
            places[: len(self._places)] = self._places
            self._places = places
        members = int(terms.high[terms.op > OUTSIDE].sum())
        needed = len(terms.rows) + TERM * len(terms.op) + members
        self._records = _longer(self._records, int(self._tops[TOP_RECORDS]) + needed)
        records.write_records(self._store, self._about, terms)

    def _cut(self, rows: Rows) -> None:
        """Cuts the trees, and decides on which of them terms hang."""
        dimension, low, high = self._ranges(rows, records.EVERY)
        self._fine.build(dimension, low, high)
        many = self._fine.arrays.dimensions[:, SPACES] > hanging.MANY
        self._cut_evenly(dimension, low, high, MIDDLE, np.where(many, MIDDLE_SPACES, 1))
        if not hanging.decide_all(self._store, rows):
            self._fine = PSTrees(len(self._dimensions))
            self._fine.build(*self._ranges(rows, records.CUTTING))
        coarse = np.full(len(many), COARSE_SPACES)
        self._cut_evenly(*self._ranges(rows, records.HUNG_COARSELY), COARSE, coarse)
        self._fine_leaves = np.zeros((len(self._fine.arrays.uses), LEAF_FIELDS), np.int32)
        self._fixed_leaves = np.zeros((len(self._fixed.arrays.uses), LEAF_FIELDS), np.int32)

    def _cut_evenly(
        self, dimension: SmallInts, low: Floats, high: Floats, tree: int, spaces: Ints
    ) -> None:
        """Cuts fixed trees into so many spaces where there are as many bounds between two cuts."""
        dimension, bounds = np.concatenate([dimension] * 2), np.concatenate([low, high])
        wanted = np.isfinite(bounds) & (spaces[dimension] > 1)
        dimension, bounds = dimension[wanted], bounds[wanted]
        order = np.lexsort((bounds, dimension))
        used, first, count = np.unique(dimension[order], return_index=True, return_counts=True)
        places = [
            begin + many * np.arange(1, spaces[number]) // spaces[number]
            for number, begin, many in zip(used, first, count, strict=True)
        ]
        at = np.repeat(2 * used + tree, [len(each) for each in places])
        cuts = bounds[order[np.concatenate([np.zeros(0, np.int64), *places])]]
        self._fixed.build(at, cuts, np.full(len(cuts), np.inf))

    def _ranges(self, rows: Rows, which: int) -> tuple[SmallInts, Floats, Floats]:
        """The dimensions, the first and the last values of ranges."""
        store, none = self._store, np.zeros(0, np.int64)
        count = records.ranges_of(store, rows, which, none.astype(np.int32), none, none)
        dimension = np.empty(count, np.int32)
        begin, end = np.empty(count, np.int64), np.empty(count, np.int64)
        records.ranges_of(store, rows, which, dimension, begin, end)
        return dimension, values_of(begin), values_of(end - 1)

    def _count_events(self) -> None:
        """Counts historical events on the leaves: one at each quantile."""
        for number, (attribute, holds) in enumerate(self._dimensions.keys):
            quantiles = self._quantiles.get((attribute, _KINDS.get(holds, "")), ())
            if len(quantiles):
                places = [self._dimensions.place(number, each) for each in quantiles]
                self._fine.count(number, places)
                self._fixed.count(2 * number + MIDDLE, places)

    def _arrange(self, rows: Rows) -> None:
        """Hangs rows on leaves, in arenas that are as long as they need to be."""
        hanging.hang_all(self._store, rows, hanging.COUNT_ONLY)
        lists = words = 0
        for leaves in (self._fine_leaves, self._fixed_leaves):
            room = leaves[:, COUNT].astype(np.int64)
            size = _powers_of_two(-(-leaves[:, SIGNED].astype(np.int64) // PER_WORD))
            leaves[:, LIST] = lists + np.cumsum(room) - room
            leaves[:, SIGNATURE] = words + np.cumsum(size) - size
            leaves[:, ROOM], leaves[:, WORDS] = room, size
            leaves[:, COUNT] = leaves[:, SIGNED] = 0
            lists, words = lists + int(room.sum()), words + int(size.sum())
        self._lists, self._words = np.zeros(lists, np.int32), np.zeros(words, np.uint64)
        self._tops[TOP_LISTS], self._tops[TOP_WORDS] = lists, words
        hanging.hang_all(self._store, rows, hanging.HANG)

    def _read_back(self) -> Terms:
        """All rows that have records, as terms."""
        store = self._store
        rows, count, members = records.read_back(store, _new_terms(0, 0, 0), False)
        terms = _new_terms(rows, count, members)
        records.read_back(store, terms, True)
        return terms

    @property
    def _store(self) -> Store:
        return Store(
            self._fine.arrays,
            self._fixed.arrays,
            self._fine_leaves,
            self._fixed_leaves,
            self._lists,
            self._words,
            self._places,
            self._records,
            self._records.view(np.float64),
            self._tops,
        )

    # matching

    def match(self, event: Event) -> Rows:
        """The rows whose predicates the event satisfies, each once, in any order."""
        return self._match(self._dimensions.read((event,)))[0]

    def match_many(self, events: Sequence[Event]) -> list[Rows]:
        """The same for several events."""
        return self._match(self._dimensions.read(events))

    def reader(self, events: Sequence[Event]) -> Callable[[int], Rows]:
        """The answer to each of some events by its place, until the index changes."""
        readings = [self._dimensions.read((event,)) for event in events]
        return lambda place: self._match(readings[place])[0]

    def _match(self, readings: Ints) -> list[Rows]:
        store, count = self._store, event_count(readings)
        here, value, out = self._taken_scratch()
        ends = np.zeros(count, np.int64)
        found: list[Rows] = []
        always = self._always_rows
        if always is None:
            always = self._always_rows = np.fromiter(self._always, np.int64, len(self._always))
        try:
            while len(found) < count:
                done = match_events(
                    store, readings, len(found), here, value, out, ends, self.tested
                )
                first = 0
                for end in ends[: done - len(found)].tolist():
                    found.append(np.concatenate([out[first:end], always]))
                    first = end
        finally:
            self._scratch.append((here, value, out))
        return found

    def _taken_scratch(self) -> Scratch:
        """Scratch that no other thread uses."""
        dimensions, rows = len(self._about), len(self)
        try:
            here, value, out = self._scratch.pop()
        except IndexError:
            here, value, out = np.zeros((0, 0), np.int32), np.zeros(0), np.zeros(0, np.int32)
        if len(value) < dimensions:
            here = np.full((dimensions, records.HERE_FIELDS), -1, np.int32)
            value = np.zeros(dimensions)
        if len(out) < rows:
            out = np.empty(rows + rows // 4, np.int32)
        return here, value, out

    def __len__(self) -> int:
        return int(self._tops[LIVE])

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        arrays = (*self._store[2:], self._about)
        trees = self._fine.nbytes + self._fixed.nbytes
        own = sum(array.nbytes for array in arrays) - self._records.nbytes
        return own + trees + self._dimensions.nbytes

    # folders

    def save(self, folder: Path) -> None:
        """Writes its arrays into an existing folder."""
        tops = self._tops
        arrays = {
            **{f"{_FINE}{name}": array for name, array in self._fine.used().items()},
            **{f"{_FIXED}{name}": array for name, array in self._fixed.used().items()},
            "fine_leaves": self._fine_leaves,
            "fixed_leaves": self._fixed_leaves,
            "lists": self._lists[: tops[TOP_LISTS]],
            "words": self._words[: tops[TOP_WORDS]],
            "places": self._places,
            "records": self._records[: tops[TOP_RECORDS]],
            "tops": tops,
            "about": self._about,
        }
        save_arrays(folder, arrays)
        self._dimensions.save(folder / "dimensions.json")

    def load(self, folder: Path) -> None:
        """Takes, when new, what `save` wrote, mapping arrays rather than reading them."""
        self._dimensions.load(folder / "dimensions.json")
        arrays = load_arrays(folder)
        self._fine.adopt({name.removeprefix(_FINE): each for name, each in arrays.items()})
        self._fixed.adopt({name.removeprefix(_FIXED): each for name, each in arrays.items()})
        self._fine_leaves, self._fixed_leaves = arrays["fine_leaves"], arrays["fixed_leaves"]
        self._lists, self._words = arrays["lists"], arrays["words"]
        self._places, self._records = arrays["places"], arrays["records"]
        self._tops, self._about = arrays["tops"], arrays["about"]
        self._note_always(np.flatnonzero(self._places == ALWAYS), True)


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    """An array of such a length at least, by half as long again."""
    if len(array) >= length:
        return array
    longer = np.zeros((max(length, len(array) + len(array) // 2), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def _powers_of_two(numbers: Ints) -> Ints:
    """The least that are not below; 0 for 0."""
    powers = np.exp2(np.ceil(np.log2(np.maximum(numbers, 1)))).astype(np.int64)
    return np.where(numbers > 0, powers, 0)


def _new_terms(rows: int, count: int, members: int) -> Terms:
    return Terms(
        np.zeros(rows, np.int64),
        np.zeros(rows + 1, np.int64),
        np.zeros(count, np.int32),
        np.zeros(count, np.uint8),
        np.zeros(count),
        np.zeros(count),
        np.zeros(members),
    )
