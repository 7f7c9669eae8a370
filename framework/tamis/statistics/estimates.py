"""What to expect of an attribute predicate that was never counted: from spaces and cells.

Between two marks, where counts are exact, values are taken to lie as in the cells there; without
marks, cells alone say it. What has no order is tried on a string of each cell.
Cost: O(cells) a predicate.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tamis.language.comparison import Comparison
from tamis.language.predicate import AttributePredicate
from tamis.language.values import Scalar
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
                return cells.below(_double(constant), included=included)
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


def _double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


# attributes as rows of a table


def rows_of(counted: Mapping[str, Spaces]) -> list[dict[str, Any]]:
    """A row for an attribute and a kind: events, distinct values, and where these lie."""
    rows = []
    for name in sorted(counted):
        spaces = counted[name]
        kinds, numbers, strings = spaces.kinds, spaces.number_cells, spaces.string_cells
        booleans = kinds.true + kinds.false
        if kinds.array:
            rows.append(_row(name, "array", kinds.array))
        if booleans:
            flags = [float(at >= kinds.false) for at in _ranks(booleans)]
            distinct = bool(kinds.true) + bool(kinds.false)
            rows.append(_row(name, "boolean", booleans, distinct, quantiles=flags))
        if kinds.number:
            quantiles = numbers.quantiles(QUANTILES)
            found = _row(name, "number", kinds.number, numbers.distinct, quantiles=quantiles)
            rows.append({**found, "approximate": not numbers.is_whole})
        if kinds.other:
            rows.append(_row(name, "other", kinds.other))
        if kinds.string:
            places = strings.quantiles(QUANTILES)
            found = _row(name, "string", kinds.string, strings.distinct, strings=places)
            rows.append({**found, "approximate": not strings.is_whole})
    return rows


def _row(
    name: str,
    kind: str,
    events: int,
    distinct: int | None = None,
    quantiles: list[float] | None = None,
    strings: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "attribute": name,
        "events": events,
        "kind": kind,
        "distinct": distinct,
        "approximate": False,
        "quantiles": quantiles,
        "strings": strings,
    }


def _ranks(count: int) -> list[int]:
    places = min(count, QUANTILES)
    step = (count - 1) / max(1, places - 1)
    return [round(place * step) for place in range(places)]


def spaces_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, Spaces]:
    """What rows of attributes say, as cells: their quantiles, each with its share of the events."""
    counted: dict[str, Spaces] = {}
    for row in rows:
        spaces = counted.setdefault(row["attribute"], Spaces(Marks()))
        events, kinds = row["events"], spaces.kinds
        values = row.get("quantiles") or row.get("strings") or []
        shares = _shared(values, events)
        match row["kind"]:
            case "number":
                kinds.number = events
                numbers = np.array(list(shares), np.float64) + 0.0
                held = np.array(list(shares.values()), np.int64)
                spaces.number_cells = NumberCells.of(numbers, held)
            case "string":
                kinds.string = events
                spaces.string_cells = StringCells(shares)
            case "boolean":
                true = sum(held for value, held in shares.items() if value)
                kinds.true, kinds.false = true, events - true
            case "array":
                kinds.array = events
                spaces.elements.is_whole = False
            case _:
                kinds.other = events
    return counted


def _shared(values: list[Any], events: int) -> dict[Any, int]:
    """Each distinct value in order, with its share of so many events."""
    shares: dict[Any, int] = {}
    before = 0
    for at, value in enumerate(values, 1):
        upto = events * at // len(values)
        shares[value] = shares.get(value, 0) + upto - before
        before = upto
    return shares
