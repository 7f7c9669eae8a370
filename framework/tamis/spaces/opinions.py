"""Turns selectivities that somebody gave into spaces, as if events had been counted.

The least stretches get their shares first; what a wider one has beyond those inside of it is shared
out among the rest of its spaces. Points, disjoint stretches and nested ones keep their shares
exactly; of others, the narrowest do. An attribute is taken to be in every event unless `exists` of
it was given.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tamis.language.comparison import Comparison
from tamis.language.predicate import AttributePredicate
from tamis.numeric.types import Flags, Ints
from tamis.spaces.attribute import (
    NEEDLE,
    PATTERN,
    AttributeSpaces,
    Kinds,
    MarksMaker,
    line_of,
    marks_of,
)
from tamis.spaces.cuts import stretches_of
from tamis.spaces.line import ENDINGS, LARGE, LINES, NUMBERS, STRINGS, CountedLine, bound_of

EVENTS = 10**9
"""Opinions are shares of so many events."""


def spaces_of_opinions(shares: Mapping[AttributePredicate, float]) -> dict[str, AttributeSpaces]:
    """Returns the spaces of each attribute of which somebody gave selectivities."""
    counted = {}
    for attribute, marks in marks_of(shares).items():
        mine = {each.comparison: s for each, s in shares.items() if each.attribute == attribute}
        spaces = counted[attribute] = AttributeSpaces(marks)
        for name in LINES:
            spaces.lines[name].events[:] = _masses(spaces.lines[name], mine)
        kinds = spaces.kinds
        kinds.number = max(spaces.lines[NUMBERS].total, spaces.lines[LARGE].total)
        kinds.string = max(spaces.lines[STRINGS].total, spaces.lines[ENDINGS].total)
        for (what, thing), at in marks.things.items():
            comparison = next(each for each in mine if _asks(each, what, thing))
            spaces.things[at] = round(mine[comparison] * EVENTS)
            kinds.string, kinds.array = (
                (EVENTS, kinds.array) if what in (NEEDLE, PATTERN) else (kinds.string, EVENTS)
            )
        _count_booleans(kinds, mine)
        if not kinds.present:
            kinds.other = round(EVENTS * mine.get(Comparison("exists"), 1.0))
    return counted


def _asks(comparison: Comparison, what: str, thing: object) -> bool:
    """Tells whether a comparison is about an element, a set, a needle or a pattern."""
    maker = MarksMaker()
    maker.add(comparison)
    return (what, thing) in maker.marks().things


def _masses(line: CountedLine, shares: Mapping[Comparison, float]) -> Ints:
    """Returns the events of each space of a line, as near to what was said as may be."""
    asked: list[tuple[Flags, float, bool]] = []
    for comparison, share in shares.items():
        mask = _spaces_in(line, comparison)
        if mask is not None:
            stretches = stretches_of(comparison)
            asked.append((mask, share, stretches is not None and stretches.is_inside))
    masses, settled = np.zeros(len(line.events)), np.zeros(len(line.events), np.bool_)
    if not asked:
        return masses.astype(np.int64)
    for mask, share, is_inside in sorted(asked, key=lambda each: int(each[0].sum())):
        wanted = share if is_inside else 1.0 - share
        rest = mask & ~settled
        if rest.any():
            masses[rest] = max(0.0, wanted - masses[mask & settled].sum()) / rest.sum()
        settled |= mask
    if not settled.all():
        masses[~settled] = max(0.0, 1.0 - masses.sum()) / (~settled).sum()
    masses /= max(1.0, masses.sum())
    return np.round(masses * EVENTS).astype(np.int64)


def _spaces_in(line: CountedLine, comparison: Comparison) -> Flags | None:
    """Returns which spaces of a line lie in the stretches of a comparison, if they are of it."""
    stretches = stretches_of(comparison)
    if stretches is None:
        return None
    mask = np.zeros(len(line.events), np.bool_)
    for first, end in stretches.parts:
        for cut in (first, end):
            if cut is not None and (
                type(cut.value) is bool or line_of(cut.value, stretches.is_reversed) != line.name
            ):
                return None
        begin = 0 if first is None else line.place(bound_of(line.name, first)) + 1
        beyond = len(mask) if end is None else line.place(bound_of(line.name, end)) + 1
        mask[begin:beyond] = True
    return mask


def _count_booleans(kinds: Kinds, shares: Mapping[Comparison, float]) -> None:
    true, false = (shares.get(Comparison("=", value)) for value in (True, False))
    if true is not None or false is not None:
        kinds.true = round(EVENTS * (1.0 - (false or 0.0) if true is None else true))
        kinds.false = round(EVENTS * (1.0 - (true or 0.0) if false is None else false))
