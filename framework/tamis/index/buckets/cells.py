"""Cuts lines into cells, and finds the cells that a term covers.

This is bulk building of predicate spaces (the PS-Tree's): a line is cut before every lower bound
and after every upper bound. With too many of them for a code it is cut at quantiles of the bounds:
such cells are coarse, and what they cannot decide is checked exactly.
Cost: O(1) a bound to find the cuts, O(log cells) a bound to find its code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamis.index.buckets.batch import code_for
from tamis.index.buckets.store import MOST_CELLS, Store
from tamis.index.terms import IN, RANGE, TermColumns
from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Bytes, Flags, Floats, Ints
from tamis.numeric.views import bare

_SAMPLE = 8_192
_RUNGS = 8
"""The integers for each cell at most, where their cells are noted."""
_FAR = 2.0**52


class Cuts(NamedTuple):
    """The cuts of all dimensions, ascending for each, and where to find the rank of a cut."""

    start: Ints
    cells: Ints
    cuts: Floats
    coarse: Flags
    table_start: Ints
    """The start of a dimension's places, where the cuts of one that is not coarse were noted."""
    ranks: Bytes


NO_CUTS = Cuts(*(np.zeros(0, dtype) for dtype in "qqd?qB"))
"""No ranks: bounds are found among the cuts of the store."""


@inlined
def after(value: float) -> float:
    """Returns the double that follows a finite one; from the last, infinity."""
    bits = np.float64(value + 0.0).view(np.int64)
    return np.int64(bits + 1 if bits >= 0 else bits - 1).view(np.float64) + 0.0


@inlined
def before(value: float) -> float:
    """Returns the double that precedes one."""
    return -after(-value)


@inlined
def bounds_of(terms: TermColumns, term: int) -> tuple[float, float]:
    """Returns the cuts that a term asks for; infinite where it asks for none."""
    low, high = -np.inf, np.inf
    if terms.op[term] == RANGE:
        low = terms.low[term] + 0.0
        if terms.high[term] != np.inf:
            high = after(terms.high[term])
    return low, high


@inlined
def _place_of(table: Floats, first: int, mask: int, cut: float) -> int:
    """Returns the place of a cut in the hash table that begins at `first`, or where it would be."""
    mixed = np.uint64(np.float64(cut).view(np.int64)) * np.uint64(0x9E3779B97F4A7C15)
    place = np.int64(mixed >> np.uint64(52)) & mask
    while table[first + place] == table[first + place] and table[first + place] != cut:
        place = (place + 1) & mask
    return first + place


@inlined
def _distinct_cuts(
    terms: TermColumns, start: Ints, table: Floats, found: Ints, places: Ints
) -> None:
    """Puts the distinct cuts of each dimension into its hash table, and counts them.

    Beyond the room of the table (half of it) the number means: too many. Where the cuts of a term
    are is noted: how far from the beginning, from 1 on, the lower one in the lower 16 bits."""
    for term in range(len(terms.dimension)):
        dimension, noted, shift = terms.dimension[term], 0, 0
        first, mask = start[dimension], start[dimension + 1] - start[dimension] - 1
        for cut in bounds_of(terms, term):
            if not np.isinf(cut) and found[dimension] <= mask // 2:
                place = _place_of(table, first, mask, cut)
                found[dimension] += table[place] != cut
                table[place] = cut
                noted |= (place - first + 1) << shift
            shift += 16
        places[term] = noted


@inlined
def _samples(
    terms: TermColumns, stride: Ints, slot: Ints, sample: Floats, seen: Ints, taken: Ints
) -> None:
    """Takes every so many cuts of the dimensions that have a slot in `sample`, and how many."""
    for term in range(len(terms.dimension)):
        dimension = terms.dimension[term]
        at = slot[dimension]
        if at < 0:
            continue
        for cut in bounds_of(terms, term):
            if np.isfinite(cut):
                if seen[dimension] % stride[dimension] == 0:
                    sample[at, taken[at]] = cut
                    taken[at] += 1
                seen[dimension] += 1


@inlined
def _table_starts(sizes: Ints, starts: Ints) -> None:
    """Places a hash table for so many cuts of each dimension behind that of the one before."""
    for dimension in range(len(sizes)):
        room = 2
        while room < 2 * min(sizes[dimension], MOST_CELLS):
            room *= 2
        starts[dimension + 1] = starts[dimension] + room


@kernel
def find_cuts(terms: TermColumns, dimensions: int, places: Ints) -> Cuts:
    """Returns the cuts of each dimension, and notes the places of each term's in their table."""
    bounds = np.zeros(dimensions, np.int64)
    terms, places = bare(terms), bare(places)
    for term in range(len(terms.dimension)):
        bounds[terms.dimension[term]] += 2
    table_start = np.zeros(dimensions + 1, np.int64)
    _table_starts(bounds, table_start)
    table = np.full(table_start[-1], np.nan)
    found = np.zeros(dimensions, np.int64)
    _distinct_cuts(terms, table_start, table, found, places)
    start = np.zeros(dimensions + 1, np.int64)
    coarse = found >= MOST_CELLS
    for dimension in range(dimensions):
        cuts = min(found[dimension], MOST_CELLS - 1)
        start[dimension + 1] = start[dimension] + cuts + 1
    cuts, cells = np.full(start[-1], np.inf), np.zeros(dimensions, np.int64)
    slot, slots = np.full(dimensions, -1), 0
    for dimension in range(dimensions):
        if coarse[dimension]:
            slot[dimension] = slots
            slots += 1
    sample = np.empty((slots, _SAMPLE + 1))
    taken, seen = np.zeros(len(sample), np.int64), np.zeros(dimensions, np.int64)
    _samples(terms, 1 + bounds // _SAMPLE, slot, sample, seen, taken)
    ranks = np.zeros(len(table), np.uint8)
    for dimension in range(dimensions):
        first, last = table_start[dimension], table_start[dimension + 1]
        at = start[dimension]
        if coarse[dimension]:
            ordered = np.sort(sample[slot[dimension], : taken[slot[dimension]]])
            for part in range(1, MOST_CELLS):
                cut = ordered[part * len(ordered) // MOST_CELLS]
                if at == start[dimension] or cut != cuts[at - 1]:
                    cuts[at] = cut
                    at += 1
        else:
            for place in range(first, last):
                if table[place] == table[place]:
                    cuts[at] = table[place]
                    at += 1
            cuts[start[dimension] : at] = np.sort(cuts[start[dimension] : at])
            for rank in range(at - start[dimension]):
                cut = cuts[start[dimension] + rank]
                ranks[_place_of(table, first, last - first - 1, cut)] = rank
        cells[dimension] = at - start[dimension] + 1
    return Cuts(start, cells, cuts, coarse, table_start, ranks)


@kernel
def rungs_of(dimensions: Any, cuts: Floats, ladders: Any) -> Bytes:
    """Returns the cells of integers one after the other, and notes those of each dimension."""
    count = 0
    for number in range(len(ladders)):
        fields, ladder = dimensions[number], ladders[number]
        first, last = fields.cuts, fields.cuts + fields.cells - 2
        if first <= last and max(abs(cuts[first]), abs(cuts[last])) < _FAR:
            ladder.low, high = np.floor(cuts[first]), np.int64(np.ceil(cuts[last]))
            if high - ladder.low < _RUNGS * fields.cells:
                ladder.count, ladder.at = high - ladder.low + 1, count
                count += ladder.count
    rungs = np.empty(count, np.uint8)
    for number in range(len(ladders)):
        fields, ladder, cell = dimensions[number], ladders[number], 0
        for rung in range(ladder.count):
            while cell < fields.cells - 1 and cuts[fields.cuts + cell] <= ladder.low + rung:
                cell += 1
            rungs[ladder.at + rung] = cell
    return rungs


@inlined
def code_of(store: Store, dimension: int, value: float) -> int:
    """Returns the number of the cell that holds a value: how many cuts are at or below it."""
    ladder = store.ladders[dimension]
    if ladder.low <= value < ladder.low + ladder.count:
        integer = np.int64(value)
        if integer == value:
            return np.int64(store.rungs[ladder.at + integer - ladder.low])
    first = store.dimensions[dimension].cuts
    low, count = first, store.dimensions[dimension].cells - 1
    value += 0.0  # so that a difference has the sign bit if, and only if, it is negative
    while count > 0:
        half = (count + 1) >> 1
        beyond = np.float64(value - store.cuts[low + half - 1]).view(np.int64) >> 63
        low += half & ~beyond  # a branch would be guessed wrong every other time
        count -= half
    return low - first


@inlined
def term_code(store: Store, terms: TermColumns, term: int, places: int, cuts: Cuts) -> int:
    """Returns the code of a term: the cells that it covers, and whether codes decide it.

    Bounds that are cuts are ranked by `cuts`, if it has any; `places` is what `find_cuts` noted."""
    dimension = np.int64(terms.dimension[term])
    if not len(cuts.ranks) or terms.op[term] != RANGE or cuts.coarse[dimension]:
        return _code(store, terms, term)
    first = cuts.table_start[dimension]
    lower, upper = bounds_of(terms, term)
    low, end, exact = 0, cuts.cells[dimension] - 1, 1
    if lower != -np.inf:
        low = 1 + np.int64(cuts.ranks[first + (places & 0xFFFF) - 1])
    if upper != np.inf:
        end = np.int64(cuts.ranks[first + (places >> 16) - 1])
    elif terms.high[term] != np.inf:
        exact = 0
    return code_for(dimension, exact, low, end - low)


@inlined
def _code(store: Store, terms: TermColumns, term: int) -> int:
    dimension, op = np.int64(terms.dimension[term]), terms.op[term]
    low, width, exact = 0, MOST_CELLS - 1, 0
    if op == RANGE:
        lower, upper = bounds_of(terms, term)
        first = store.dimensions[dimension].cuts
        end = store.dimensions[dimension].cells - 1
        exact, last = 1, end
        if lower != -np.inf:
            low = code_of(store, dimension, lower)
            exact = np.int64(low > 0 and store.cuts[first + low - 1] == lower)
        if terms.high[term] != np.inf:
            end = code_of(store, dimension, terms.high[term])
            exact &= np.int64(end < last and store.cuts[first + end] == upper)
        width = end - low
    elif op == IN:
        at = np.int64(terms.low[term])
        low = code_of(store, dimension, terms.members[at])
        end = code_of(store, dimension, terms.members[at + np.int64(terms.high[term]) - 1])
        width = end - low
    return code_for(dimension, exact, low, width)
