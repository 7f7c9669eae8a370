"""What statistics say of the dimensions of an index: how many events have each, and where.

Cost: O(quantiles) a dimension, each time cells are made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.index.dimensions import (
    ABSENT,
    ARRAY,
    BOOLEANS,
    LARGE,
    NUMBERS,
    ODD,
    PRESENT,
    REVERSED,
    STRINGS,
    Dimensions,
)  # fmt: skip
from tamis.numeric.types import Floats
from tamis.statistics import Statistics

_KINDS = {
    NUMBERS: ("number",),
    LARGE: ("number",),
    STRINGS: ("string",),
    REVERSED: ("string",),
    BOOLEANS: ("boolean",),
    ARRAY: ("array",),
    ODD: ("number", "string", "boolean"),
    PRESENT: ("number", "string", "boolean", "array", "other"),
    ABSENT: ("number", "string", "boolean", "array", "other"),
}
_LINES = (NUMBERS, LARGE, STRINGS, REVERSED, BOOLEANS)
_STRINGS = ("string",)
_CERTAIN = 0.5
"""What was never seen among so many events as there were counts as this many."""


class Known:
    """What is known of events."""

    def __init__(self, statistics: Statistics) -> None:
        self._events = statistics.events or 0
        self._rows: dict[tuple[str, str], dict[str, Any]] = {
            (row["attribute"], row["kind"]): row for row in statistics.attributes
        }

    def __bool__(self) -> bool:
        return bool(self._events and self._rows)

    def presence(self, dimensions: Dimensions) -> Floats:
        """The share of events that have each dimension."""
        shares = []
        for attribute, holds in dimensions.keys:
            kinds = _KINDS.get(holds, _STRINGS)
            seen = sum(self._rows.get((attribute, kind), {}).get("events", 0) for kind in kinds)
            share = max(seen, _CERTAIN) / self._events
            shares.append(max(0.0, 1 - share) if holds == ABSENT else min(1.0, share))
        return np.array(shares)

    def shares(self, dimensions: Dimensions, start: Any, cells: Any, cuts: Floats) -> Floats:
        """The share of each cell among the events that have its dimension, beside the cuts."""
        shares = np.zeros(len(cuts))
        for number, (attribute, holds) in enumerate(dimensions.keys):
            first, count = int(start[number]), int(cells[number])
            kind = _KINDS.get(holds, _STRINGS)[0]
            row = self._rows.get((attribute, kind), {})
            quantiles = row.get("quantiles") or row.get("strings")
            if not quantiles or holds not in _LINES:
                shares[first : first + count] = 1 / count
                continue
            places = np.array([dimensions.place(number, each) for each in quantiles])
            found = np.searchsorted(cuts[first : first + count - 1], places, side="right")
            seen = np.bincount(found, minlength=count)
            shares[first : first + count] = (seen + 1 / count) / (len(places) + 1)
        return shares
