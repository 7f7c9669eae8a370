"""Keeps what an index saw of the events that it matched: how many were in each cell.

Kernels count in the scratch of their thread. What was counted before the cells were cut anew is
shared out among the new ones.
Invariant: counts never fade while fewer than `MOST_EVENTS` events were seen; then they halve.
Cost: O(cells) each time it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tamis.index.buckets.scratch import Scratch
from tamis.index.buckets.store import Store
from tamis.index.dimensions import Dimensions
from tamis.index.known import DimensionKnowledge
from tamis.numeric.types import Floats
from tamis.spaces.curve import Curve
from tamis.spaces.line import recut

FEWEST_EVENTS = 256
"""With fewer, what was seen says nothing yet."""
MOST_EVENTS = 1 << 17


class SeenEvents:
    """Counts events by dimension and cell."""

    def __init__(self) -> None:
        self.events = 0.0
        self.checked = 0.0
        """The number of rows checked for them."""
        self._cells: dict[tuple[str, int], tuple[Floats, Floats]] = {}

    def take(self, scratches: Iterable[Scratch], store: Store, dimensions: Dimensions) -> None:
        """Takes what was counted with the cells of a store; scratches begin at zero again."""
        seen = np.zeros(len(store.cuts), np.int64)
        events = 0
        for scratch in scratches:
            seen[: len(scratch.seen)] += scratch.seen
            self.checked += int(scratch.tested[0])
            events += int(scratch.tested[2])
            scratch.seen[:] = 0
            scratch.tested[:] = 0
        if not events:
            return
        if self.events > MOST_EVENTS:
            self.events /= 2
            self.checked /= 2
            for key, (cuts, counts) in self._cells.items():
                self._cells[key] = cuts, counts / 2
        self.events += events
        for number, key in enumerate(dimensions.keys[: len(store.dimensions)]):
            first, cells = store.dimensions[["cuts", "cells"]][number].tolist()
            if first == len(store.cuts) - 1:
                continue  # dimensions that came since cells were cut share this place
            counts = seen[first : first + cells].astype(np.float64)
            cuts = store.cuts[first : first + cells - 1]
            before = self._cells.get(key)
            if before is not None:
                counts += recut(*before, cuts)
            self._cells[key] = cuts.copy(), counts

    @property
    def certainty(self) -> float:
        """The number of events behind what is known: no end of them where all of it was given."""
        return self.events if self.events >= FEWEST_EVENTS else np.inf

    def forget(self, keys: Iterable[tuple[str, int]]) -> None:
        """Forgets dimensions whose values have moved."""
        for key in keys:
            self._cells.pop(key, None)

    def knowledge(
        self, store: Store, dimensions: Dimensions, known: DimensionKnowledge | None
    ) -> DimensionKnowledge | None:
        """Returns what was seen, beside what was known; `None` where too little was seen.

        What was known says more of dimensions whose cells are coarse."""
        if self.events < FEWEST_EVENTS:
            return known
        presence: list[float] = []
        curves: list[Curve | None] = []
        for number, key in enumerate(dimensions.keys):
            found = self._cells.get(key)
            before = None
            if known is not None and known.start[number] < known.start[number + 1]:
                places = slice(known.start[number], known.start[number + 1])
                before = Curve(known.at[places], known.before[places])
            if found is None:
                presence.append(np.nan if known is None else float(known.presence[number]))
                curves.append(before)
                continue
            cuts, counts = found
            ends = np.cumsum(counts)  # with a total that is rounded as they are
            total = float(ends[-1])
            presence.append(max(total, 0.5) / self.events)
            is_coarse = number < len(store.dimensions) and store.dimensions[number]["coarse"]
            if len(cuts) and total and not (is_coarse and before is not None):
                before = Curve(cuts, ends[:-1] / total)
            curves.append(before)
        return DimensionKnowledge.of(presence, curves)
