"""Makes the arrays that one match at a time writes into."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.index.buckets.store import MOST_ACCESSES, NOWHERE, SLOTS, TOP_NODES, WORDS, Store
from tamis.index.readings import most_at_once
from tamis.numeric.types import Bytes, Floats, Ints, SmallInts, Words

QUEUE = 4_096
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
        masks=np.zeros(QUEUE, np.uint64),
        queue=np.zeros((QUEUE, 2), np.int64),
        visits=np.zeros(4_096, np.int64),
        out=np.empty(rows, np.int32),
        tested=np.zeros(3, np.int64),
        ends=np.zeros(1, np.int64),
        seen=np.zeros(cells, np.int32),
        signature=np.zeros(WORDS, np.int32),
    )


def roomier(scratch: Scratch, readings: Ints, store: Store) -> Scratch:
    """Returns the scratch with room for events as large as any of these."""
    lines, members = most_at_once(readings)
    spaces = MOST_PER_LINE * lines + members
    nodes = min(int(store.tops[TOP_NODES]), spaces * spaces) + 1
    wanted = {"spaces": spaces, "deep": spaces, "order": lines, "keys": lines, "visits": nodes}
    return scratch._replace(
        **{
            name: np.zeros(size, np.int64)
            for name, size in wanted.items()
            if size > len(getattr(scratch, name))
        }
    )
