"""What to expect of an attribute predicate that was never counted: from spaces and cells.

Between two marks, where counts are exact, values are taken to lie as in the cells there; without
marks, cells alone say it. What has no order is tried on a string of each cell.
Cost: O(cells) a predicate.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

import numpy as np

from tamis.language.comparison import Comparison
from tamis.language.predicate import AttributePredicate
from tamis.language.values import Scalar
from tamis.numeric.keys import double_of
from tamis.statistics.cells import NumberCells, StringCells
from tamis.statistics.spaces import (
    ELEMENT,
    SET_ALL,
    Line,
    Marks,
    Spaces,
    Thing,
    is_large,
    sum_of,
)

QUANTILES = 257
_UNORDERED = ("ends with", "contains", "matches")


def expected_share(
    spaces: Mapping[str, Spaces], predicate: AttributePredicate, events: int
) -> float | None:
    """The share of events that satisfy a predicate; `None` where nothing was counted."""
    if not events:
        return None
    mine = spaces.get(predicate.attribute) or Spaces(Marks())
    found = _Estimated(mine).count(predicate.comparison, events)
    return min(1.0, max(0.0, found / events))


class _Estimated:
    """Spaces that answer what they were not asked, too."""

    def __init__(self, spaces: Spaces) -> None:
        self._spaces = spaces
        self.kinds = spaces.kinds
        self.total = spaces.total

    def count(self, comparison: Comparison, events: int) -> float:
        """About how many events satisfy a comparison."""
        exactly = self._spaces.exactly(comparison, events)
        if exactly is not None:
            return exactly
        if comparison.op.removeprefix("not ") in _UNORDERED:
            holds = comparison.compiled()
            pieces = list(self._spaces.string_cells.pieces())
            found = sum(events for string, events in pieces if holds(string))
            all_ = sum(events for _, events in pieces)
            return self.kinds.string * found / all_ if all_ else 0.0
        return sum_of(self, comparison, events)

    def below(self, constant: Scalar, *, included: bool) -> float:
        """About how many values of its kind are below a constant, or equal to it."""
        spaces, marks = self._spaces, self._spaces.marks
        if isinstance(constant, str):
            return _mixed(
                spaces.strings, marks.strings, spaces.string_cells, constant, included,
                self.kinds.string,
            )  # fmt: skip
        cells, all_ = spaces.number_cells, self.kinds.number
        if is_large(constant):
            try:
                return spaces.below(constant, included=included)
            except KeyError:
                return cells.below(double_of(constant), included=included)
        return _mixed(spaces.numbers, marks.numbers, cells, float(constant), included, all_)

    def thing(self, thing: Thing) -> float:
        """About how many arrays hold an element, or enough of a set."""
        if thing in self._spaces.marks.things:
            return self._spaces.thing(thing)
        what, keys = thing
        arrays = self.kinds.array
        if what == ELEMENT:
            return self._holding(keys)
        shares = [self._holding(key) / arrays if arrays else 0.0 for key in keys]
        if what == SET_ALL:
            return arrays * math.prod(shares)
        return arrays * (1.0 - math.prod(1.0 - share for share in shares))

    def _holding(self, key: tuple[bool, Scalar]) -> float:
        place = (ELEMENT, key)
        if place in self._spaces.marks.things:
            return self._spaces.thing(place)
        elements = self._spaces.elements
        found = elements.events.get(key)
        if found is not None or elements.is_whole:
            return float(found or 0)
        others = list(elements.events.values())
        return float(np.median(others)) if others else self.kinds.array / 2


def _mixed(
    line: Line,
    marks: Any,
    cells: NumberCells | StringCells,
    value: Any,
    included: bool,
    all_: int,
) -> float:
    """The count below a value: exact at a mark, between two of them shared out as in the cells."""
    at = bisect_left(marks, value)
    if at < len(marks) and marks[at] == value:
        return float((line.upto if included else line.below)[at])
    expected = cells.below(value, included=included)
    if not len(marks):
        return expected
    low, low_cells = 0.0, 0.0
    if at:
        low, low_cells = float(line.upto[at - 1]), cells.below(marks[at - 1], included=True)
    high, high_cells = float(all_), float(all_)
    if at < len(marks):
        high, high_cells = float(line.below[at]), cells.below(marks[at], included=False)
    reach = high_cells - low_cells
    share = (expected - low_cells) / reach if reach > 0 else 0.5
    return low + (high - low) * min(1.0, max(0.0, share))
