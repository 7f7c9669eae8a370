"""Indexes rows in buckets, and decides when everything is laid out anew.

Few rows are appended in place; many at once, or too many that were put in since cuts and accesses
were chosen, have everything laid out anew. Answers never depend on which it was.
Cost: O(terms) amortized to insert; to lay out, about as much as to build.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from tamis.event import Event
from tamis.index.buckets import access, arrays, bulk, rehanging, segments, signatures
from tamis.index.buckets.batch import Batch, new_batch
from tamis.index.buckets.bits import has_vectors
from tamis.index.buckets.bulk import Part
from tamis.index.buckets.cells import NO_CUTS, Cuts, find_cuts
from tamis.index.buckets.matching import match_events
from tamis.index.buckets.scratch import ScratchPool, roomier
from tamis.index.buckets.seen import FEWEST_EVENTS, SeenEvents
from tamis.index.buckets.store import CHUNK, NEVER, SLOTS, UNSIGNED, Store
from tamis.index.columns import Columns
from tamis.index.dimensions import Dimensions
from tamis.index.known import knowledge_from
from tamis.index.labels import ChangedLabels, relabeled
from tamis.index.readings import event_count
from tamis.index.terms import RANGE, TermColumns, joined, room_for
from tamis.indexing import Entry, FoundRows, Index, Rows
from tamis.numeric.types import Floats, Ints
from tamis.numeric.views import places_of
from tamis.statistics import Statistics

_SMALL = 1_024
_ROOM = 1 << 12
_DEAD = 1 << 16
_SELDOM = 1 << 16
"""Events after which is looked again what they were like; the first times sooner."""
_LITTLE = 1e-12


class BucketIndex(Index):
    """Rows in buckets, under a rule for which predicates give access."""

    def __init__(
        self, rule: int, accesses: int = 1, look: float = 0.0, *, signed: int = UNSIGNED,
        vector: bool | None = None,
    ) -> None:  # fmt: skip
        self._rule = rule
        self._accesses = accesses
        self._look = look
        self._signed = signed
        self._vector = has_vectors() if vector is None else vector
        self._dimensions = Dimensions()
        self._placed: Store | None = None
        """The store that `_match_events` knows."""
        self._keep(arrays.empty_store())
        self._laid_out = self._gone = 0
        self._spaces, self._met = 0, 0.0  # how many there were, and how many an event was in
        self._statistics: Statistics | None = None
        self._seen = SeenEvents()
        self._rehanging = rehanging.RehangingQueue()
        self._matched, self._next_look = 0, FEWEST_EVENTS
        self._scratch = ScratchPool()

    # changing

    def build(self, entries: Iterable[Entry]) -> None:
        """Inserts many rows at once."""
        self._take(*self._dimensions.terms(entries))

    def build_columns(self, rows: Ints, columns: Columns) -> None:
        """Builds from boxes of numbers."""
        self._take(*self._dimensions.box_terms(rows, columns))

    def _take(self, terms: TermColumns, moved: dict[int, ChangedLabels]) -> None:
        """Takes new rows, and what became of labels to make room for them."""
        if moved:
            self._settle_seen()
            self._seen.forget(self._dimensions.keys[number] for number in moved)
            self._lay_out(joined(relabeled(self._read_back(), moved), terms))
        else:
            self._add(terms)

    def delete_many(self, rows: Ints) -> None:
        """Removes rows, which must be there."""
        self._remove(rows)
        self._gone += len(rows)
        tops = self._store.tops[0]
        lanes, records = int(tops["lanes"] + 4 * tops["rows"]), int(tops["records"])
        if (
            tops["dead_lanes"] > _DEAD + lanes // 2
            or tops["dead_records"] > _DEAD + records // 2
            or self._gone > _SMALL + 4 * len(self)
        ):
            self._lay_out(self._read_back())

    def inform(self, statistics: Statistics) -> None:
        """Chooses accesses by what is known of events, from now on and for all rows there are."""
        before, self._statistics = self._statistics, statistics
        try:
            if len(self):
                self._lay_out(self._read_back())
        except BaseException:
            self._statistics = before
            raise

    # what was seen

    @property
    def is_restless(self) -> bool:
        """True if it is time to look what events were like, or rows are being hung anew."""
        return bool(self._rehanging.segments) or self._matched >= self._next_look

    def adapt(self) -> None:
        """Looks whether rows should hang by other predicates, or hangs some of them anew."""
        if self._rehanging.segments:
            self._hang_some_anew()
            return
        self._next_look = 2 * self._matched if self._matched < _SELDOM else self._matched + _SELDOM
        if not len(self):
            return
        self._settle_seen()
        self._keep(self._informed(self._store))
        costs = np.zeros(int(self._store.tops[0]["segments"]))
        rehanging.node_costs(self._store, costs)
        dearest = np.argsort(-costs)
        now = then = sampled = 0.0
        for segment in dearest.tolist():
            compared = self._chosen_anew((segment, segment + 1, 0, rehanging.ROWS))[-1]
            at_last = compared[:, 0].copy()
            moves = rehanging.are_worth_moving(compared, self._seen.certainty)
            at_last[moves] = compared[moves, 1]
            now += costs[segment]
            then += costs[segment] * at_last.sum() / max(_LITTLE, compared[:, 0].sum())
            sampled += min(rehanging.ROWS, int(self._store.segments[segment]["count"]))
            if sampled >= rehanging.SAMPLE:
                break
        self._keep(self._store)
        if then < rehanging.FEWER * now and now - then > rehanging.LEAST_CHECKS:
            is_dear = costs[dearest] > costs.mean() / 20
            self._rehanging.begin(dearest[is_dear], self._store)

    def _settle_seen(self) -> None:
        self._seen.take(self._scratch, self._store, self._dimensions)

    def _informed(self, store: Store) -> Store:
        """Returns a store with what is known of events now."""
        self._spaces, self._met = 0, 0.0
        known = None
        if self._statistics is not None:
            known = knowledge_from(self._statistics, self._dimensions)
        known = self._seen.knowledge(store, self._dimensions, known)
        if known is None:
            return store
        presence = store.presence[: len(known.presence)]
        presence[:] = np.where(np.isnan(known.presence), presence, known.presence)
        store.tops[0]["known"] = 1
        return store._replace(known_start=known.start, known_at=known.at, known_before=known.before)

    def _chosen_anew(self, part: Part) -> tuple[Batch, Ints, Ints, Floats]:
        """Returns some rows, the nodes that they would be in now, and what they cost in both."""
        terms = self._read_back(part)
        batch = new_batch(terms)
        row_of, node_of = self._assign(batch, NO_CUTS, self._accesses)
        costs = np.zeros((len(terms.rows), 2))
        rehanging.compare(self._store, batch, row_of, node_of, costs)
        return batch, row_of, node_of, costs

    def _hang_some_anew(self) -> None:
        """Moves those of the next rows that are worth it to their new nodes."""
        left = rehanging.ROWS
        for _ in range(rehanging.MOST_SEGMENTS):
            if not self._rehanging.segments or left <= 0:
                break
            part = self._rehanging.part(self._store, left)
            batch, row_of, node_of, costs = self._chosen_anew(part)
            left -= len(costs)
            moves = rehanging.are_worth_moving(costs, self._seen.certainty)
            if moves.any():
                self._remove(batch.terms.rows[moves])
                chosen = moves[row_of]
                self._put(batch, row_of[chosen], node_of[chosen])
        self._keep(self._store)

    def _keep(self, store: Store) -> None:
        self._store = store
        if store is not self._placed:
            self._placed, self._live = store, store.tops["live"]
            self._places = places_of(store)
            signed = True if store.tops[0]["signed"] else None
            self._match_events = partial(match_events, self._places, self._vector, signed)

    def _add(self, terms: TermColumns) -> None:
        wide = len(self._dimensions) > SLOTS and not self._store.tops[0]["wide"]
        if wide or len(terms.rows) > len(self):
            self._lay_out(joined(self._read_back(), terms) if len(self) else terms)
        else:
            try:
                self._append(terms)
            finally:
                self._keep(self._store)

    def _read_back(self, part: Part | None = None) -> TermColumns:
        """Returns the rows of a part, or all, that something can match, with all their terms."""
        part = part or (0, int(self._store.tops[0]["segments"]), 0, len(self._store.places))
        terms = room_for(*bulk.read_back(self._store, room_for(0, 0, 0), part, False))
        bulk.read_back(self._store, terms, part, True)
        return terms

    def _without_empty(self, terms: TermColumns) -> TermColumns:
        """Returns the rows that something can match; the others are noted as such."""
        empty = (terms.op == RANGE) & ~(terms.low <= terms.high)
        if not empty.any():
            return terms
        row_of = np.repeat(np.arange(len(terms.rows)), np.diff(terms.start))
        never = np.zeros(len(terms.rows), np.bool_)
        never[row_of[empty]] = True
        self._store.places[terms.rows[never]] = NEVER
        self._store.tops[0]["live"] += never.sum()
        return terms.of(np.flatnonzero(~never))

    def _lay_out(self, terms: TermColumns) -> None:
        """Puts these rows, all there are, into new arrays; forgets what only others asked for.

        When that fails, everything stays as it was."""
        before = self._store, self._dimensions
        self._settle_seen()
        self._scratch.clear()
        self._rehanging.stop()
        try:
            self._lay_out_anew(terms)
        except BaseException:
            self._store, self._dimensions = before
            raise
        finally:
            self._keep(self._store)

    def _lay_out_anew(self, terms: TermColumns) -> None:
        never = np.flatnonzero(self._store.places == NEVER)
        if self._gone > len(terms.rows) // 2:
            self._dimensions, terms = self._dimensions.kept(terms)
            self._gone = 0
        count = len(self._dimensions)
        store = arrays.empty_store()
        store = arrays.with_rows(store, max(len(self._store.places), _length(terms.rows)))
        store.places[never] = NEVER
        store.tops[0]["live"] = len(never)
        store.tops[0]["wide"] = count > SLOTS
        store.tops[0]["ordered"] = self._rule == access.LANES
        store.tops[0]["signed"] = self._signed
        self._store = store
        terms = self._without_empty(terms)
        batch = new_batch(terms)
        cuts = find_cuts(terms, count, batch.codes)
        self._keep(self._cut(cuts, terms))
        if self._rule == access.LANES:
            access.count_rarest(self._places, terms)
        row_of, node_of = self._assign(batch, cuts, 1)
        if self._accesses > 1:
            # now it is known how many rows each node would have
            row_of, node_of = self._assign(batch, cuts, self._accesses, encoded=True)
            count = int(self._store.tops[0]["nodes"])
            self._store.node_rows[:count] = np.bincount(node_of, minlength=count)
        self._store = store = arrays.trimmed(self._store)
        replicas = np.bincount(row_of, minlength=len(terms.rows))
        keys = signatures.sort_keys(store, batch, row_of, node_of) if self._signed else row_of[:0]
        ordered, kinds = bulk.in_order(batch, row_of, node_of, int(store.tops[0]["nodes"]), keys)
        rows, nodes, segment_of = row_of[ordered], node_of[ordered], np.zeros_like(row_of)
        bulk.lay_out(store, batch, rows, nodes, kinds, segment_of, False)
        tops = store.tops[0]
        needed = {
            "segments": int(tops["segments"]),
            "lanes": int(tops["lanes"]) + CHUNK,
            "rows": int(tops["rows"]),
            "dictionary": int(tops["dictionary"]),
            "records": int(batch.about["size"].sum()),
            "more": int((replicas + 1)[replicas > 1].sum()),
        }
        for name in ("segments", "lanes", "rows", "dictionary"):
            tops[name] = 0
        store = arrays.with_arenas(store, needed)
        bulk.lay_out(store, batch, rows, nodes, kinds, segment_of, True)
        segment_of[ordered] = segment_of.copy()
        self._keep(store)
        segments.write_places(self._places, terms, row_of, segment_of)
        self._laid_out = len(self)

    def _cut(self, cuts: Cuts, terms: TermColumns) -> Store:
        """Returns the store with cells for these terms."""
        count = len(self._dimensions)
        store = arrays.with_dimensions(self._store, count, self._dimensions.is_bag)
        store.dimensions["cuts"] = cuts.start[:-1]
        store.dimensions["cells"] = cuts.cells
        store.dimensions["coarse"] = cuts.coarse
        uses = np.bincount(terms.dimension, minlength=count)
        store.presence[:] = np.minimum(1.0, uses / max(1, len(terms.rows)))
        store = store._replace(cuts=np.append(cuts.cuts, np.inf))
        return self._informed(arrays.with_ladders(store))

    def _assign(
        self, batch: Batch, cuts: Cuts, accesses: int, *, encoded: bool = False,
        is_new: bool = False,
    ) -> tuple[Ints, Ints]:  # fmt: skip
        """Returns the replicas of rows, and their nodes; what rows need is noted in the batch."""
        rows = len(batch.terms.rows)
        row, filled, use = 0, 0, access.new_use()
        row_of = node_of = np.zeros(0, np.int64)
        while row < rows:
            self._keep(arrays.with_nodes(self._store, _ROOM))
            if filled + access.MOST_REPLICAS > len(row_of):
                before = row_of[:filled], node_of[:filled]
                room = filled + rows - row + rows // 4 + access.MOST_REPLICAS
                row_of, node_of = np.empty((2, room), np.int64)
                row_of[:filled], node_of[:filled] = before
            look = self._cost_of_pairs() if accesses > 1 else 0.0
            row, added = access.assign(
                self._places, batch, cuts, encoded or row > 0, is_new, row, self._rule, accesses,
                look, row_of[filled:], node_of[filled:], use,
            )  # fmt: skip
            filled += added
        return row_of[:filled], node_of[:filled]

    def _cost_of_pairs(self) -> float:
        """Returns what it costs an event to look for pairs of its spaces in a node.

        It is counted again when there are clearly more spaces, not for every row."""
        spaces = int(self._store.tops[0]["spaces"])
        if not self._spaces <= spaces <= self._spaces + self._spaces // 8:
            self._spaces, self._met = spaces, access.spaces_met(self._store)
        return self._look * self._met

    def _append(self, terms: TermColumns) -> None:
        """Puts rows where there is room, beside those that are there."""
        count = len(self._dimensions)
        store = arrays.with_dimensions(self._store, count, self._dimensions.is_bag)
        self._keep(arrays.with_rows(store, _length(terms.rows)))
        terms = self._without_empty(terms)
        batch = new_batch(terms)
        self._put(batch, *self._assign(batch, NO_CUTS, self._accesses, is_new=True))
        tops = self._store.tops[0]
        if tops["improvable"] > _SMALL + len(self) // 8 or len(self) > _SMALL + 2 * self._laid_out:
            self._lay_out(self._read_back())

    def _put(self, batch: Batch, row_of: Ints, node_of: Ints) -> None:
        """Puts replicas of rows into their nodes."""
        segment_of, done = np.zeros_like(row_of), 0
        while True:
            done = segments.append(self._places, batch, done, row_of, node_of, segment_of)
            if done == len(row_of):
                break
            self._keep(arrays.with_more_room(self._store))
        if len(row_of) > 1:
            replicas = np.bincount(row_of)
            more = int((replicas + 1)[replicas > 1].sum())
            self._keep(arrays.with_places(self._store, more))
        segments.write_places(self._places, batch.terms, row_of, segment_of)

    def _remove(self, rows: Ints) -> None:
        """Takes rows out of their nodes."""
        segments.remove(self._places, rows)

    # matching

    def match(self, event: Event) -> Rows:
        """Returns the rows whose predicates the event satisfies, each once, in any order."""
        return self._match_one(self._dimensions.read((event,)))[0]

    def search(self, event: Event) -> FoundRows:
        """Returns the same, and how many rows were checked."""
        return FoundRows(*self._match_one(self._dimensions.read((event,))))

    def match_many(self, events: Sequence[Event]) -> list[Rows]:
        """Returns the same for several events."""
        return self._match(self._dimensions.read(events))

    def reader(self, events: Sequence[Event]) -> Callable[[int], Rows]:
        """Returns the answer to each of some events by its place, until the index changes."""
        readings = [self._dimensions.read((event,)) for event in events]
        return lambda place: self._match_one(readings[place])[0]

    def _match_one(self, readings: Ints) -> tuple[Rows, int]:
        """Returns the rows of a single event, by the shortest way when there is room for it, and
        how many were checked."""
        self._matched += 1
        scratch, places = self._scratch.take(self._store, int(self._live[0]), 1)
        before = scratch.tested[0]
        try:
            if self._match_events(places, readings, 0, scratch.ends):
                rows = scratch.out[: scratch.ends[0]].astype(np.int64)
                return rows, int(scratch.tested[0] - before)
        finally:
            self._scratch.give_back(scratch, places)
        return self._match(readings)[0], len(self)

    def _match(self, readings: Ints) -> list[Rows]:
        count = event_count(readings)
        self._matched += count
        scratch, places = self._scratch.take(self._store, int(self._live[0]), count)
        ends = np.zeros(count, np.int64)
        found: list[Rows] = []
        try:
            while len(found) < count:
                first = len(found)
                done = self._match_events(places, readings, first, ends)
                if not done:
                    scratch = roomier(scratch, readings, self._store)
                    places = places_of(scratch)
                first = 0
                for end in ends[:done].tolist():
                    found.append(scratch.out[first:end].astype(np.int64))
                    first = end
        finally:
            self._scratch.give_back(scratch, places)
        return found

    @property
    def checked(self) -> float:
        """The number of rows checked for the events matched so far; of very many the half."""
        return self._seen.checked + sum(int(each.tested[0]) for each in self._scratch)

    def __len__(self) -> int:
        return int(self._store.tops[0]["live"])

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        return sum(array.nbytes for array in self._store) + self._dimensions.nbytes

    # folders

    def save(self, folder: Path) -> None:
        """Writes its arrays into an existing folder."""
        arrays.save(self._store, folder)
        self._dimensions.save(folder / "dimensions.json")

    def load(self, folder: Path) -> None:
        """Takes, when new, what `save` wrote, mapping arrays rather than reading them."""
        self._dimensions.load(folder / "dimensions.json")
        self._keep(arrays.load(folder))
        self._laid_out = len(self)


def _length(rows: Ints) -> int:
    return int(rows.max(initial=-1)) + 1
