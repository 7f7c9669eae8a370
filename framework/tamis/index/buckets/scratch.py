"""Makes the arrays that one match at a time writes into, and lends them to threads.

Invariant: no two threads have the same scratch; what one has counted stays with its successor when
it grows. Cost: O(1), O(rows) the first time a thread needs more than there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tamis.index.buckets.store import MOST_ACCESSES, NOWHERE, SLOTS, WORDS, Store
from tamis.index.readings import most_at_once
from tamis.numeric.types import Bytes, Floats, Ints, SmallInts, Words
from tamis.numeric.views import opener, places_of

QUEUE = 4_096
_SMALL = 1_024
MOST_PER_LINE = 10
"""The spaces that one value can be in: a point, a root and eight levels."""


class Scratch(NamedTuple):
    """The arrays; what grows with an event is replaced when it is too small."""

    codes: Bytes
    """By dimension, and at least `SLOTS` of them; `NOWHERE` between matches."""
    values: Floats
    bag: SmallInts
    table: Bytes
    spaces: Ints
    deep: Ints
    order: Ints
    keys: Ints
    stack: Ints
    masks: Words
    queue: Ints
    """Beside each mask where the numbers of its rows begin, and how far behind those of their
    records; 0 where there are none."""
    visits: Ints
    out: SmallInts
    tested: Ints
    """How many entries were tested since it was made, and how many events were matched,
    and of how many the cells were counted."""
    ends: Ints
    """The end of the rows of a single event."""
    seen: SmallInts
    """By cell, in the order of cuts: how many events were in it."""
    signature: SmallInts
    """A bit for each dimension that the event has, where rows are signed."""


def new_scratch(dimensions: int, rows: int, cells: int) -> Scratch:
    """Makes scratch for so many dimensions, rows and cells."""
    return Scratch(
        codes=np.full(dimensions + SLOTS, NOWHERE, np.uint8),
        values=np.zeros(dimensions),
        bag=np.zeros(dimensions, np.int32),
        table=np.full(SLOTS, NOWHERE, np.uint8),
        spaces=np.zeros(1_024, np.int64),
        deep=np.zeros(1_024, np.int64),
        order=np.zeros(512, np.int64),
        keys=np.zeros(512, np.int64),
        stack=np.zeros((MOST_ACCESSES, 2), np.int64),
        masks=np.zeros(QUEUE + 1, np.uint64),
        queue=np.zeros((QUEUE + 1, 2), np.int64),
        visits=np.zeros(4_096, np.int64),
        out=np.empty(rows, np.int32),
        tested=np.zeros(3, np.int64),
        ends=np.zeros(1, np.int64),
        seen=np.zeros(cells, np.int32),
        signature=np.zeros(WORDS, np.int32),
    )


opened_scratch = opener(new_scratch(0, 0, 0))


def roomier(scratch: Scratch, readings: Ints, store: Store) -> Scratch:
    """Returns the scratch with room for events as large as any of these."""
    lines, members = most_at_once(readings)
    spaces = MOST_PER_LINE * lines + members
    nodes = min(int(store.tops[0]["nodes"]), spaces * spaces) + 1
    wanted = {"spaces": spaces, "deep": spaces, "order": lines, "keys": lines, "visits": nodes}
    return scratch._replace(
        **{
            name: np.zeros(size, np.int64)
            for name, size in wanted.items()
            if size > len(getattr(scratch, name))
        }
    )


class ScratchPool:
    """Holds scratch that no thread uses, each with the places of its arrays."""

    def __init__(self) -> None:
        self._free: list[tuple[Scratch, Ints]] = []

    def __iter__(self) -> Iterator[Scratch]:
        return (scratch for scratch, _ in self._free)

    def take(self, store: Store, rows: int, events: int) -> tuple[Scratch, Ints]:
        """Returns scratch with room for all the rows that there are and so many events at once."""
        dimensions, rows = len(store.presence), rows + 1
        before: Scratch | None = None
        try:
            before, places = self._free.pop()
        except IndexError:
            pass
        else:
            has_room = len(before.values) >= dimensions
            if has_room and len(before.out) >= rows + (events > 1):
                return before, places
        scratch = new_scratch(
            dimensions + dimensions // 4,
            (1 + (events > 1)) * rows + rows // 4 + _SMALL,
            len(store.cuts),
        )
        if before is not None:
            scratch = scratch._replace(tested=before.tested, seen=before.seen)
        return scratch, places_of(scratch)

    def give_back(self, scratch: Scratch, places: Ints) -> None:
        """Takes scratch back."""
        self._free.append((scratch, places))

    def clear(self) -> None:
        """Forgets all scratch: cells are no longer what they were."""
        self._free = []
