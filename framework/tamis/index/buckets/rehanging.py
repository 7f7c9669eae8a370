"""Hangs rows anew where other predicates lead to clearly fewer checks, a few rows at a time.

What a node costs an event is how likely the event is in it, times its rows. A look takes a sample
of rows from the nodes that cost most, and compares what they cost with what they would cost. When
that promises much, the segments of those nodes are gone through, the dearest first.
Invariant: every row stays where an event that satisfies it finds it.
Cost: a look, O(segments) and a sample; then `ROWS` rows a step.
"""

from __future__ import annotations

import numpy as np

from tamis.index.buckets.access import node_share
from tamis.index.buckets.batch import Batch
from tamis.index.buckets.store import GONE, Store
from tamis.numeric.kernels import kernel
from tamis.numeric.types import Flags, Floats, Ints
from tamis.numeric.views import bare

ROWS = 256
MOST_SEGMENTS = 4
"""Segments from which rows come in one step."""
SAMPLE = 2_048
FEWER = 0.7
"""A row is hung anew where it is then checked for so many of the events at most."""
_MARGIN = 2.0
"""Standard deviations by which chance must not explain it."""
LEAST_CHECKS = 32.0
"""Checks an event that a look must promise to spare."""


@kernel
def node_costs(store: Store, costs: Floats) -> None:
    """Writes how many rows of each segment are checked for an event, on average."""
    store = bare(store)
    for segment in range(store.tops[0].segments):
        fields = store.segments[segment]
        costs[segment] = fields.count * node_share(store, fields.node)


@kernel
def compare(store: Store, batch: Batch, row_of: Ints, node_of: Ints, costs: Floats) -> None:
    """Writes for each row how often it is checked now, and would be in its new nodes."""
    store, batch = bare(store), bare(batch)
    for row in range(len(batch.terms.rows)):
        place = np.int64(store.places[batch.terms.rows[row]])
        if place >= 0:
            costs[row, 0] = node_share(store, store.segments[place].node)
        elif place < GONE:
            at = -2 - place
            for replica in range(np.int64(store.more[at])):
                segment = np.int64(store.more[at + 1 + replica])
                costs[row, 0] += node_share(store, store.segments[segment].node)
    for replica in range(len(row_of)):
        costs[row_of[replica], 1] += node_share(store, node_of[replica])


def are_worth_moving(costs: Floats, events: float) -> Flags:
    """Returns which rows are clearly checked less anew, by shares that so many events show.

    Chance alone makes some of many equal nodes look better than others."""
    now, then = costs.T
    least = now - _MARGIN * np.sqrt(now / events)
    then = then + 1 / events
    most = then + _MARGIN * np.sqrt(then / events)
    return np.asarray(most < FEWER * least)


class RehangingQueue:
    """Knows which segments are still to be gone through, and how far the first of them is."""

    def __init__(self) -> None:
        self.segments: list[int] = []
        self._left = 0

    def stop(self) -> None:
        """Forgets the segments, which are no more what they were."""
        self.segments = []

    def begin(self, segments: Ints, store: Store) -> None:
        """Takes segments, the dearest first."""
        self.segments = segments.tolist()[::-1]
        self._left = int(store.segments[self.segments[-1]]["count"]) if self.segments else 0

    def part(self, store: Store, most: int) -> tuple[int, int, int, int]:
        """Returns the next entries of a segment: from its end, which later removals fill."""
        segment = self.segments[-1]
        last = min(self._left, int(store.segments[segment]["count"]))
        first = max(0, last - most)
        self._left = first
        if not first:
            self.segments.pop()
            if self.segments:
                self._left = int(store.segments[self.segments[-1]]["count"])
        return segment, segment + 1, first, last
