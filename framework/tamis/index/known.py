"""Tells an index how many events have each of its dimensions, and where on it they lie.

What statistics counted, or somebody gave, is exact at the bounds of predicates; what an index saw
itself is as fine as its cells.
Cost: O(labels, things and places) of the dimensions, each time it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tamis.event import plain_name
from tamis.index.dimensions import (
    ABSENT,
    ARRAY,
    BOOLEANS,
    LARGE,
    NEEDLES,
    NUMBERS,
    ODD,
    PATTERNS,
    PRESENT,
    REVERSED,
    STRINGS,
    Dimensions,
)  # fmt: skip
from tamis.language.comparison import Comparison
from tamis.numeric.types import Floats, Ints
from tamis.spaces import line
from tamis.spaces.attribute import AttributeSpaces, Kinds
from tamis.spaces.curve import Curve, curve_of
from tamis.spaces.cuts import Cut
from tamis.spaces.estimates import expected_before, expected_count
from tamis.statistics import Statistics

_LINES = {NUMBERS: line.NUMBERS, STRINGS: line.STRINGS, REVERSED: line.ENDINGS}
_COMPARING = {ARRAY: "has", NEEDLES: "contains", PATTERNS: "matches"}
_CERTAIN = 0.5
"""The count that something never seen gets."""
_MOST_ESTIMATED = 1_000
"""Needles, patterns and sets of several kinds that nobody counted are tried on samples up to so
many; of more, each is taken to be satisfied by one event in sixteen."""
_SHARE_OF_A_THING = 1 / 16


class DimensionKnowledge(NamedTuple):
    """Holds what is known of dimensions; a dimension without places is known by its presence."""

    presence: Floats
    """The share of events that have each; NaN where nothing is known."""
    start: Ints
    """The starts of each dimension's places, and the end of the last."""
    at: Floats
    before: Floats
    """Of the events that have the dimension, the share before each place."""

    @classmethod
    def of(cls, presence: Iterable[float], curves: Iterable[Curve | None]) -> DimensionKnowledge:
        """Returns what is known of dimensions one after the other."""
        parts = [(np.zeros(0), np.zeros(0)) if each is None else each for each in curves]
        lengths = [len(at) for at, _ in parts]
        nothing = [np.zeros(0)]
        return cls(
            np.array(list(presence)),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)]),
            np.concatenate(nothing + [at for at, _ in parts]),
            np.concatenate(nothing + [before for _, before in parts]),
        )


def knowledge_from(statistics: Statistics, dimensions: Dimensions) -> DimensionKnowledge | None:
    """Returns what statistics know of dimensions; `None` where they know of no attribute."""
    known = statistics.known_spaces()
    if not known:
        return None
    # an attribute of which counts say nothing was in none of their events
    has_counts = bool(statistics.events and statistics.attributes)
    unseen = _CERTAIN / (statistics.events or 1) if has_counts else np.nan
    presence: list[float] = []
    curves: list[Curve | None] = []
    for number, (attribute, holds) in enumerate(dimensions.keys):
        found = known.get(plain_name(attribute))
        if found is None:
            presence.append(1.0 - unseen if holds == ABSENT else unseen)
            curves.append(None)
            continue
        spaces, events = found
        has = _having(spaces.kinds, holds, events)
        presence.append(min(1.0, max(has, _CERTAIN) / events))
        curves.append(_curve(spaces, holds, dimensions, number, events) if has else None)
    return DimensionKnowledge.of(presence, curves)


def _having(kinds: Kinds, holds: int, events: int) -> int:
    """Returns how many events have a dimension."""
    if holds in (PRESENT, ABSENT):
        return kinds.present if holds == PRESENT else events - kinds.present
    if holds in (NUMBERS, LARGE):
        return kinds.number
    if holds == ARRAY:
        return kinds.array
    booleans = kinds.true + kinds.false
    if holds == BOOLEANS:
        return booleans
    return kinds.string + (kinds.number + booleans if holds == ODD else 0)


def _curve(
    spaces: AttributeSpaces, holds: int, dimensions: Dimensions, number: int, events: int
) -> Curve | None:
    """Returns where on a dimension events lie."""
    kinds = spaces.kinds
    if holds == NUMBERS:
        return curve_of(spaces, line.NUMBERS)
    if holds == BOOLEANS:
        false = kinds.false / (kinds.true + kinds.false)
        return Curve(np.array([0.0, 1.0, np.nextafter(1.0, 2.0)]), np.array([0.0, false, 1.0]))
    if holds in (PRESENT, ABSENT):
        return None
    if holds in (LARGE, STRINGS, REVERSED):
        items = dimensions.labels(number)
        if not items:
            return None
        cuts = [Cut(value, is_after) for value, _ in items for is_after in (False, True)]
        if holds == LARGE:
            shares = [expected_before(spaces, line.LARGE, cut) / kinds.number for cut in cuts]
            return _of_labels([label for _, label in items], np.array(shares))
        name = _LINES[holds]
        bounds = line.in_order(name, [line.bound_of(name, cut) for cut in cuts])
        shares_before = curve_of(spaces, name).shares_before(bounds)
        return _of_labels([label for _, label in items], shares_before)
    return _of_things(spaces, holds, dimensions.things(number), events)


def _of_labels(labels: list[float], shares: Floats) -> Curve:
    """Returns where events lie, from the shares before and behind the values that have labels.

    All values between two labels lie one above the lower of them."""
    places = np.array([labels[0] - 1.0, *(each + above for each in labels for above in (0.0, 1.0))])
    at = np.column_stack([places, np.nextafter(places, np.inf)]).ravel()
    shares = np.concatenate([np.zeros(1), shares, np.ones(1)])
    return Curve(at, np.repeat(shares, 2)[1:-1])


def _of_things(
    spaces: AttributeSpaces, holds: int, things: list[tuple[int, Any]], events: int
) -> Curve:
    """Returns the share of events that have each thing of a bag, added up by number."""
    has = _having(spaces.kinds, holds, events)
    shares = np.full(max((number for number, _ in things), default=-1) + 1, _SHARE_OF_A_THING)
    for number, thing in things:
        comparison: Comparison = thing if holds == ODD else Comparison(_COMPARING[holds], thing)
        found: float | None = spaces.exactly(comparison, events)
        if found is None and (holds == ARRAY or len(things) <= _MOST_ESTIMATED):
            found = expected_count(spaces, comparison, events)
        if found is not None:
            shares[number] = found / has
    return Curve(np.arange(len(shares) + 1.0), np.concatenate([np.zeros(1), np.cumsum(shares)]))
