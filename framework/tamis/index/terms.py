"""Holds predicates as indexes of arrays know them: terms over dimensions of doubles.

A dimension is a *line* (an event has one value of it, such as a number or a string's place in the
order of strings) or a *bag* (an event has several, such as the elements of an array). A row of an
index is a conjunction of terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.numeric.types import Bytes, Floats, Ints, SmallInts

RANGE = 0
"""The value of a line is in `[low, high]`."""
OUTSIDE = 1
"""The line has a value, and it is not in `[low, high]`."""
IN = 2
"""The value of a line is one of the members."""
NOT_IN = 3
"""The line has a value, and it is none of the members."""
ANY = 4
"""The bag holds one of the members."""
NONE = 5
"""There is a bag, and it holds none of the members."""
NOT_ALL = 6
"""There is a bag, and it lacks one of the members."""


class TermColumns(NamedTuple):
    """Rows in columns; the terms of row `rows[i]` are those from `start[i]` to `start[i + 1]`.

    Where `op` is not a range (beyond `OUTSIDE`), `low` says where in `members` the sorted members
    of the term begin, and `high` how many there are. An empty range (`low > high`) never holds."""

    rows: Ints
    start: Ints
    dimension: SmallInts
    op: Bytes
    low: Floats
    high: Floats
    members: Floats

    def of(self, chosen: Ints) -> TermColumns:
        """Returns the rows at these places, in this order."""
        counts = self.start[chosen + 1] - self.start[chosen]
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        terms = np.repeat(self.start[chosen] - start[:-1], counts) + np.arange(start[-1])
        return TermColumns(
            self.rows[chosen],
            start,
            self.dimension[terms],
            self.op[terms],
            self.low[terms],
            self.high[terms],
            self.members,
        )


def room_for(rows: int, terms: int, members: int) -> TermColumns:
    """Returns columns for so many."""
    return TermColumns(
        np.zeros(rows, np.int64),
        np.zeros(rows + 1, np.int64),
        np.zeros(terms, np.int32),
        np.zeros(terms, np.uint8),
        np.zeros(terms),
        np.zeros(terms),
        np.zeros(members),
    )


def joined(first: TermColumns, second: TermColumns) -> TermColumns:
    """Returns the rows of both."""
    shifted = np.where(second.op > OUTSIDE, second.low + len(first.members), second.low)
    return TermColumns(
        np.concatenate([first.rows, second.rows]),
        np.concatenate([first.start, second.start[1:] + first.start[-1]]),
        np.concatenate([first.dimension, second.dimension]),
        np.concatenate([first.op, second.op]),
        np.concatenate([first.low, shifted]),
        np.concatenate([first.high, second.high]),
        np.concatenate([first.members, second.members]),
    )
