"""Counts events in the spaces of values that have an order.

A line is cut before and after each of its marks, the constants of predicates. What a predicate
asks for is then a difference of counts, however many predicates there are.
Invariant: `events` has a count for each space: one more than there are bounds, in their order; a
bound is the first value of its space. Counts add up where bounds are the same; where a bound goes,
its neighbors add up, and where a new one comes, their count is shared out.
Cost: O(log spaces) a value or a bound to find.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.numeric.types import Floats, Ints
from tamis.spaces.cuts import Cut, first_double

NUMBERS, LARGE, STRINGS, ENDINGS = "number", "large", "string", "ending"
LINES = (NUMBERS, LARGE, STRINGS, ENDINGS)
"""Doubles; numbers of which not every one is a double; strings; strings read backwards."""


def bound_of(line: str, cut: Cut) -> Any:
    """Returns the first value behind a cut, as bounds of a line are kept."""
    if line == NUMBERS:
        return first_double(cut)
    if line == LARGE:
        return cut
    return cut.value + "\0" if cut.is_after else cut.value


def in_order(line: str, values: Iterable[Any]) -> NDArray[Any]:
    """Returns values of a line as an array in which bounds are found."""
    if line == NUMBERS:
        return np.fromiter(values, np.float64)
    if line == LARGE:
        values = (each if type(each) is Cut else Cut(each) for each in values)
    return np.fromiter(values, object)


class CountedLine:
    """Counts events between bounds.

    >>> line = CountedLine(NUMBERS, [20.0, 60.0])
    >>> line.count(np.array([10.0, 20.0, 30.0, 70.0]), np.array([1, 2, 1, 1]))
    >>> line.before(Cut(20.0)), line.before(Cut(20.0, True)), line.total
    (1, 3, 5)
    """

    __slots__ = ("_before", "bounds", "events", "name")

    def __init__(self, name: str, marks: Sequence[Any] | Floats = ()) -> None:
        self.name = name
        if name == NUMBERS:
            values = np.asarray(marks, np.float64)
            sides = [first_double(Cut(values, is_after)) for is_after in (False, True)]
            self.bounds = np.unique(np.concatenate(sides))
        else:
            sides = [bound_of(name, Cut(each, after)) for each in marks for after in (False, True)]
            self.bounds = in_order(name, sorted(set(sides)))
        self.events = np.zeros(len(self.bounds) + 1, np.int64)
        self._before: Ints | None = None

    @classmethod
    def counted(cls, name: str, bounds: NDArray[Any], events: Ints) -> CountedLine:
        """Returns a line with what was counted."""
        line = cls(name)
        line.bounds, line.events = bounds, events
        return line

    def __reduce__(self) -> tuple[Any, ...]:
        # who asked knows the bounds: what travels is a few bytes a space
        small = np.min_scalar_type(int(self.events.max(initial=0)))
        return _without_bounds, (self.name, self.events.astype(small))

    def count(self, values: NDArray[Any], times: Ints) -> None:
        """Counts events with some distinct values in their order, each so many times."""
        self._before = None
        if len(values) * 4 < len(self.bounds):
            places = np.searchsorted(self.bounds, values, side="right")
            np.add.at(self.events, places, times)
            return
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(times)])
        before = ends[np.searchsorted(values, self.bounds)]
        self.events += np.diff(before, prepend=0, append=ends[-1])

    def count_at(self, value: Any, times: int) -> None:
        """Counts events with one value, or with values that no bound divides from it."""
        self.count(in_order(self.name, [value]), np.array([times], np.int64))

    @property
    def total(self) -> int:
        """Returns how many events were counted."""
        return int(self.sums[-1])

    @property
    def sums(self) -> Ints:
        """Returns how many events lie before each bound, and how many there are."""
        if self._before is None:
            self._before = np.cumsum(self.events)
        return self._before

    def place(self, bound: Any) -> int:
        """Returns where a bound stands; `KeyError` where the line is not cut there."""
        at = int(np.searchsorted(self.bounds, in_order(self.name, [bound]))[0])
        if at == len(self.bounds) or self.bounds[at] != bound:
            raise KeyError(bound)
        return at

    def before(self, cut: Cut) -> int:
        """Returns how many events lie before a cut; `KeyError` where the line is not cut."""
        return int(self.sums[self.place(bound_of(self.name, cut))])

    def places(self, marks: Sequence[Any] | Floats, is_after: bool) -> Ints:
        """Returns where the bounds before or after some marks stand, which are all there."""
        if self.name == NUMBERS:
            bounds = first_double(Cut(np.asarray(marks, np.float64), is_after))
        else:
            bounds = in_order(self.name, [bound_of(self.name, Cut(x, is_after)) for x in marks])
        places: Ints = np.searchsorted(self.bounds, bounds)
        return places

    def before_all(self, marks: Sequence[Any] | Floats, is_after: bool = False) -> Ints:
        """Returns how many events lie before each mark, or not behind it."""
        sums: Ints = self.sums[self.places(marks, is_after)]
        return sums

    def take_sums(self, marks: Sequence[Any] | Floats, below: Ints, upto: Ints) -> None:
        """Takes how many events lie before each mark, and not behind it."""
        sums = np.zeros(len(self.bounds), np.int64)
        sums[self.places(marks, False)] = below
        sums[self.places(marks, True)] = upto
        self.events = np.diff(sums, prepend=0, append=sums[-1:])
        self._before = None

    def count_last(self, total: int) -> None:
        """Counts in the last space what is lacking to so many events."""
        self.events[-1] += total - self.total
        self._before = None

    def at(self, bounds: NDArray[Any]) -> CountedLine:
        """Returns the counts between some of the bounds: where one goes, its neighbors add up."""
        if len(bounds) == len(self.bounds):
            return self
        before = self.sums[np.searchsorted(self.bounds, bounds)]
        events = np.diff(before, prepend=0, append=self.sums[-1])
        return CountedLine.counted(self.name, bounds, events)

    def plus(self, other: CountedLine) -> CountedLine:
        """Returns the counts of both, which have the same bounds."""
        return CountedLine.counted(self.name, self.bounds, self.events + other.events)


def _without_bounds(name: str, events: NDArray[Any]) -> CountedLine:
    return CountedLine.counted(name, np.zeros(0), events.astype(np.int64))


def recut(bounds: Floats, events: Floats, new: Floats) -> Floats:
    """Returns the events between other bounds: added up, or shared out as if they lay evenly.

    What lies in a space without an end is not divided: it stays with the space next to the end.

    >>> recut(np.array([0.0, 10.0]), np.array([1.0, 8.0, 2.0]), np.array([0.0, 5.0]))
    array([1., 4., 6.])
    """
    if not len(bounds):
        shares = np.zeros(len(new) + 1)
        shares[len(new) // 2] = events.sum()
        return shares
    sums = np.cumsum(events)
    before = np.interp(new, bounds, sums[:-1], left=0.0, right=sums[-1])
    return np.diff(before, prepend=0.0, append=sums[-1])
