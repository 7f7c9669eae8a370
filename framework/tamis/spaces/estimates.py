"""Estimates how many events satisfy an attribute predicate, counted before or not.

Between two marks, where counts are exact, values are taken to lie as in the cells there; without
marks, cells alone say it. What has no order is tried on a string of each cell.
Cost: O(cells) a predicate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from tamis.language.comparison import Comparison
from tamis.language.predicate import AttributePredicate
from tamis.language.values import Scalar, kind_of
from tamis.numeric.keys import double_of
from tamis.spaces.attribute import ELEMENT, SET_ALL, AttributeSpaces, Thing, satisfying
from tamis.spaces.curve import curve_of
from tamis.spaces.cuts import Cut
from tamis.spaces.line import LARGE, NUMBERS, bound_of

_UNORDERED = ("ends with", "contains", "matches")


def expected_share(
    spaces: Mapping[str, AttributeSpaces], predicate: AttributePredicate, events: int
) -> float | None:
    """Returns the share of events that satisfy a predicate; `None` where nothing was counted."""
    if not events:
        return None
    mine = spaces.get(predicate.attribute) or AttributeSpaces()
    found = expected_count(mine, predicate.comparison, events)
    return min(1.0, max(0.0, found / events))


def expected_count(spaces: AttributeSpaces, comparison: Comparison, events: int) -> float:
    """Returns about how many events satisfy a comparison; exactly where its marks were counted."""
    exactly = spaces.exactly(comparison, events)
    if exactly is not None:
        return exactly
    if comparison.op.removeprefix("not ") in _UNORDERED:
        holds = comparison.compiled()
        pieces = list(spaces.string_cells.pieces())
        found = sum(events for string, events in pieces if holds(string))
        all_ = sum(events for _, events in pieces)
        return spaces.kinds.string * found / all_ if all_ else 0.0
    return satisfying(
        comparison, events, spaces.kinds, partial(expected_before, spaces), partial(_thing, spaces)
    )


def expected_before(spaces: AttributeSpaces, name: str, cut: Cut) -> float:
    """Returns about how many events lie before a cut of a line, exactly where it is cut there."""
    try:
        return spaces.before(name, cut)
    except KeyError:
        total = spaces.kinds.total(kind_of(cut.value))
        if name == LARGE:
            name, cut = NUMBERS, Cut(double_of(cut.value), cut.is_after)
        if cut == (math.inf, True):
            return float(total)
        return total * curve_of(spaces, name).share_before(bound_of(name, cut))


def _thing(spaces: AttributeSpaces, thing: Thing) -> float:
    """Returns about how many arrays hold an element, or enough of a set."""
    if thing in spaces.marks.things:
        return spaces.thing(thing)
    what, keys = thing
    arrays = spaces.kinds.array
    if what == ELEMENT:
        return _holding(spaces, keys)
    shares = [_holding(spaces, key) / arrays if arrays else 0.0 for key in keys]
    if what == SET_ALL:
        return arrays * math.prod(shares)
    return arrays * (1.0 - math.prod(1.0 - share for share in shares))


def _holding(spaces: AttributeSpaces, key: tuple[bool, Scalar]) -> float:
    place = (ELEMENT, key)
    if place in spaces.marks.things:
        return spaces.thing(place)
    found = spaces.elements.events.get(key)
    if found is not None or spaces.elements.is_whole:
        return float(found or 0)
    others = list(spaces.elements.events.values())
    return float(np.median(others)) if others else spaces.kinds.array / 2
