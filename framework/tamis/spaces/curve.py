"""Tells how many events lie before any place of a line, whether the line is cut there or not.

At bounds it is exact. Between two of them events lie as the cells say; inside of a cell, numbers
are taken to lie evenly, and half of the strings before any other one.
Invariant: shares never fall from a place to the next, rounding included, and are 1 at the end.
Cost: O(log places) a question.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.language.values import after_prefix
from tamis.numeric.kernels import portable
from tamis.numeric.types import Floats
from tamis.spaces.attribute import AttributeSpaces
from tamis.spaces.cells import NumberCells, StringCells
from tamis.spaces.cuts import Cut, first_double
from tamis.spaces.line import NUMBERS, STRINGS, in_order


class Curve(NamedTuple):
    """Holds places of a line in their order, and the share of events before each."""

    at: NDArray[Any]
    before: Floats

    def share_before(self, value: Any) -> float:
        """Returns the share of events before a value."""
        values = np.empty(1, self.at.dtype)
        values[0] = value
        return float(self.shares_before(values)[0])

    def shares_before(self, values: NDArray[Any]) -> Floats:
        """Returns the share of events before each of some values."""
        ends = np.concatenate([np.zeros(1), self.before, np.ones(1)])
        place = np.searchsorted(self.at, values, side="right")
        part = np.full(len(values), 0.5)
        if self.at.dtype == np.float64:
            part[np.isinf(values)] = values[np.isinf(values)] > 0
            inside = np.flatnonzero((place > 0) & (place < len(self.at)) & np.isfinite(values))
            low, high = self.at[place[inside] - 1], self.at[place[inside]]
            with np.errstate(invalid="ignore", over="ignore"):  # wider than any double
                width = high - low
                found = (values[inside] - low) / width
            part[inside] = np.where(width < np.inf, found, 0.5)
        exact = np.flatnonzero(place > 0)
        exact = exact[self.at[place[exact] - 1] == values[exact]]
        part[exact] = 0.0
        under, over = ends[place], ends[place + 1]
        shares: Floats = np.minimum(over, under + part * (over - under))
        return shares


@portable
def share_before(at: Floats, before: Floats, first: int, last: int, value: float) -> float:
    """Returns the share before a value, by the places from `first` on and before `last`."""
    low, high = first, last
    while low < high:
        half = (low + high) >> 1
        if at[half] <= value:
            low = half + 1
        else:
            high = half
    under = before[low - 1] if low > first else 0.0
    if low > first and at[low - 1] == value:
        return float(under)
    over = before[low] if low < last else 1.0
    part = 0.5
    if np.isinf(value):
        part = 1.0 if value > 0 else 0.0
    elif first < low < last and at[low] - at[low - 1] < np.inf:
        part = (value - at[low - 1]) / (at[low] - at[low - 1])
    return float(min(over, under + part * (over - under)))


def curve_of(spaces: AttributeSpaces, name: str) -> Curve:
    """Returns the curve of a line, from its spaces and from the cells of its values."""
    found: Curve | None = spaces.curves.get(name)
    if found is None:
        found = spaces.curves[name] = _made(spaces, name)
    return found


def _made(spaces: AttributeSpaces, name: str) -> Curve:
    line = spaces.lines[name]
    total = spaces.kinds.number if name == NUMBERS else spaces.kinds.string
    if not total:
        return Curve(in_order(name, []), np.zeros(0))
    cells = _of_cells(spaces, name)
    if not len(line.bounds):
        return cells
    if not len(cells.at):
        return Curve(line.bounds, line.sums[:-1] / total)
    at = np.unique(np.concatenate([line.bounds, cells.at]))
    guess = cells.shares_before(at)
    sums = np.concatenate([np.zeros(1), line.sums[:-1] / total, np.ones(1)])
    at_bounds = np.searchsorted(at, line.bounds)
    guesses = np.concatenate([np.zeros(1), guess[at_bounds], np.ones(1)])
    space = np.searchsorted(line.bounds, at, side="right")
    reach = guesses[space + 1] - guesses[space]
    part = np.full(len(at), 0.5)
    np.divide(guess - guesses[space], reach, out=part, where=reach > 0)
    before = sums[space] + np.clip(part, 0.0, 1.0) * (sums[space + 1] - sums[space])
    before[at_bounds] = sums[1:-1]
    return Curve(at, np.maximum.accumulate(np.minimum(before, sums[space + 1])))


def _of_cells(spaces: AttributeSpaces, name: str) -> Curve:
    """Returns what cells alone say of a line."""
    if name == NUMBERS:
        return _of_numbers(spaces.number_cells)
    cells = spaces.string_cells
    if name == STRINGS:
        return _of_strings(cells)
    if cells.is_whole:
        return _of_strings(StringCells({each[::-1]: n for each, n in cells.events.items()}))
    return Curve(in_order(name, []), np.zeros(0))


def _of_numbers(cells: NumberCells) -> Curve:
    ends = np.cumsum(cells.events)
    at = np.column_stack([cells.first, first_double(Cut(cells.last, True))]).ravel()
    before = np.column_stack([ends - cells.events, ends]).ravel() / max(1, ends[-1:].sum())
    kept = np.append(True, at[1:] > at[:-1])[: len(at)]
    return Curve(at[kept], before[kept])


def _of_strings(cells: StringCells) -> Curve:
    at: list[str] = []
    before: list[float] = []
    total, seen = max(1, sum(cells.events.values())), 0
    for head in sorted(cells.events):
        is_open = not cells.is_whole and len(head) >= cells.letters
        end = after_prefix(head) if is_open else head + "\0"
        if at and at[-1] == head:
            del at[-1], before[-1]
        at.append(head)
        before.append(seen / total)
        seen += cells.events[head]
        if end is not None:
            at.append(end)
            before.append(seen / total)
    return Curve(in_order(STRINGS, at), np.array(before))
