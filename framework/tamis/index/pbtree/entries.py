"""Says where a row hangs in the trees, and what is checked where it is found.

A row hangs under one predicate, its access: in a list of the tree of a line where the paper has one
(`=` and sets in SidSets, `>`, `<`, `!=`), and an interval in SidSets by its lower bound, in a tree
of the intervals that are as wide. The paper leaves the choice open (section 2); it is by kind here,
and among several of a kind by how few entries are there. What else the row asks lies in its
entry, as terms. Cost: O(terms) a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.index.columns import Columns
from tamis.index.pbtree.codes import (
    ALWAYS,
    ARRAY,
    LEAST,
    MOST,
    NEVER,
    NUMBERS,
    Line,
    Term,
    double_key,
    double_keys,
    doubles_of,
    terms_of,
)
from tamis.index.pbtree.nodes import EQUAL, GREATER, LESS, UNEQUAL, PlaceRun
from tamis.language.predicate import AttributePredicate
from tamis.numeric.types import Flags, Ints, Words

VAGUE = 1 << 15
"""The mark of an entry whose row is verified against its predicates."""
OUTSIDE = np.uint32(1 << 31)
"""The bit, in the number of a line, of a term that is outside of its range."""
TERM = np.dtype([("line", "<u4"), ("low", "<u8"), ("high", "<u8")])
WIDEST = 64
"""Up to here a width is a number of bits, of keys; beyond, a power of four, of numbers."""
_UNIT, _FAR = 128, 48
_MARGIN = 1.001
"""Covers what is lost where widths are rounded."""
MOST_TERMS = 12
"""Terms beyond so many are left to the verification."""
_MOST_KEYS = 64
"""A set of more values is no access: each would be an entry."""
_EVERYTHING = Line("", ALWAYS)

Numbered = Callable[[Line], int]
Weight = Callable[[int, int], int]


class Access(NamedTuple):
    """The place of a row: a tree, a list of it, and keys."""

    line: int
    width: int
    """0 for the tree of the paper, else how wide the intervals in it are at most."""
    kind: int
    keys: tuple[int, ...]


class Hung(NamedTuple):
    """A row, where it hangs, and what its entries hold."""

    row: int
    access: Access
    is_vague: bool
    payload: bytes


def hung_row(
    row: int, predicates: Sequence[AttributePredicate], number: Numbered, weight: Weight
) -> Hung:
    """Returns where a row hangs; `weight` says how many entries a line has at a key."""
    terms: list[Term] = []
    is_vague = False
    for predicate in predicates:
        found, vague = terms_of(predicate)
        is_vague |= vague
        terms.extend(found)
    terms = _intersected(terms)
    if any(term.low > term.high for term in terms):
        return Hung(row, Access(number(_EVERYTHING), 0, EQUAL, (NEVER,)), False, b"")
    ranks = [(_rank(term), at) for at, term in enumerate(terms)]
    best = min(ranks, default=(_NO_ACCESS, -1))
    chosen, access = -1, Access(number(_EVERYTHING), 0, EQUAL, (0,))
    if best[0] < _NO_ACCESS:
        chosen = best[1]
        if best[0] == 0:
            alike = [at for rank, at in ranks if rank == 0]
            if len(alike) > 1:
                chosen = min(alike, key=lambda at: weight(number(terms[at].line), terms[at].low))
        access = _access(number(terms[chosen].line), terms[chosen])
    kept: list[tuple[int, int, int]] = []
    for at, term in enumerate(terms):
        if at == chosen and not access.width:
            continue
        if term.line.holds == ARRAY or len(kept) == MOST_TERMS:
            is_vague = True
            continue
        is_vague |= bool(term.members)
        kept.append((number(term.line) | (int(OUTSIDE) * term.is_outside), term.low, term.high))
    return Hung(row, access, is_vague, np.array(kept, TERM).tobytes())


def _intersected(terms: Iterable[Term]) -> list[Term]:
    """Returns the terms with one range a line."""
    ranges: dict[Line, Term] = {}
    others = []
    for term in terms:
        if term.is_outside or term.members or term.line.holds == ARRAY:
            others.append(term)
            continue
        there = ranges.get(term.line)
        if there is not None:
            term = term._replace(low=max(term.low, there.low), high=min(term.high, there.high))
        ranges[term.line] = term
    return [*ranges.values(), *others]


_NO_ACCESS = 1_000


def _rank(term: Term) -> int:
    """Returns how promising an access is, the least first."""
    if term.is_outside:
        return 200 if term.low == term.high else _NO_ACCESS
    if term.members:
        return len(term.members) if len(term.members) <= _MOST_KEYS else _NO_ACCESS
    if term.low == term.high:
        return 0 if term.line.holds <= ARRAY else 300
    if term.low == LEAST and term.high == MOST:
        return 250
    if term.low == LEAST or term.high == MOST:
        return 150
    return _MOST_KEYS + (term.high - term.low).bit_length()


def _access(line: int, term: Term) -> Access:
    if term.is_outside:
        return Access(line, 0, UNEQUAL, (term.low,))
    if term.members:
        return Access(line, 0, EQUAL, term.members)
    if term.low == term.high:
        return Access(line, 0, EQUAL, (term.low,))
    if term.low > LEAST and term.high == MOST:
        return Access(line, 0, GREATER, (term.low - 1,))
    if term.low == LEAST and term.high < MOST:
        return Access(line, 0, LESS, (term.high + 1,))
    width = (term.high - term.low).bit_length()
    if term.line.holds == NUMBERS and (term.low, term.high) != (LEAST, MOST):
        width = int(
            number_widths(np.array([term.low], np.uint64), np.array([term.high], np.uint64))[0]
        )
    return Access(line, width, EQUAL, (term.low,))


def number_widths(low: Words, high: Words) -> Ints:
    """Returns the widths of intervals of numbers, as the least power of four that is as large."""
    with np.errstate(all="ignore"):
        exponent = np.ceil(np.log2(doubles_of(high) - doubles_of(low)) / 2)
    exponent = np.where(np.isnan(exponent), np.inf, exponent)
    return (_UNIT + np.clip(exponent, -_FAR, _FAR + 1)).astype(np.int64)


def window_start(width: int, key: int) -> int:
    """Returns the least key at which an interval of a width begins that has a key in it."""
    if width <= WIDEST:
        return max(LEAST, key + 1 - (1 << width))
    if width > _UNIT + _FAR:
        return LEAST
    value = float(doubles_of(np.array([key], np.uint64))[0])
    return double_key(value - _MARGIN * 4.0 ** (width - _UNIT)) - 1


class EntryBoxes(NamedTuple):
    """The places of boxes of numbers, in columns: all of them exact, each with one entry."""

    line: Ints
    width: Ints
    kind: Ints
    keys: Words
    payload: PlaceRun
    """The terms of each row, with the key and the row of its entry."""


def hung_boxes(rows: Ints, columns: Columns, number: Numbered) -> EntryBoxes:
    """Returns where boxes hang whose bounds are all below 2 ** 53."""
    numbers = np.array([number(Line(name, NUMBERS)) for name in columns.attributes], np.int64)
    start, count = columns.start, np.diff(columns.start)
    owner = np.repeat(np.arange(len(rows)), count)
    terms = np.zeros(len(columns.low), TERM)
    terms["line"] = numbers[columns.attribute]
    terms["low"] = np.where(np.isinf(columns.low), np.uint64(LEAST), double_keys(columns.low))
    terms["high"] = np.where(np.isinf(columns.high), np.uint64(MOST), double_keys(columns.high))
    score = _scores(columns, terms)
    order = np.lexsort((score, owner))
    chosen = np.full(len(rows), -1)
    has = count > 0
    chosen[has] = order[start[:-1][has]]
    mine = terms[chosen[has]]
    line, width, kind = (np.zeros(len(rows), np.int64) for _ in range(3))
    keys = np.zeros(len(rows), np.uint64)
    line[:], line[has] = number(_EVERYTHING), mine["line"]
    width[has], kind[has], keys[has] = _box_access(mine["low"], mine["high"])
    never = np.zeros(len(rows), np.bool_)
    never[owner[columns.low > columns.high]] = True
    line[never], width[never], kind[never], keys[never] = number(_EVERYTHING), 0, EQUAL, NEVER
    is_kept = np.ones(len(terms), np.bool_)
    is_kept[chosen[has & (width == 0)]] = False
    is_kept[never[owner]] = False
    lengths = np.bincount(owner[is_kept], minlength=len(rows)) * TERM.itemsize
    payload = PlaceRun(
        keys, rows.astype(np.uint32), lengths.astype(np.uint16), terms[is_kept].tobytes()
    )
    return EntryBoxes(line, width, kind, keys, payload)


def _scores(columns: Columns, terms: NDArray[np.void]) -> NDArray[np.float64]:
    """Returns about what share of events each term lets pass, as the others on its line tell."""
    low, high, attribute = columns.low, columns.high, columns.attribute
    count = len(columns.attributes)
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    for bounds in (low, high):
        finite = np.isfinite(bounds)
        np.minimum.at(least, attribute[finite], bounds[finite])
        np.maximum.at(most, attribute[finite], bounds[finite])
    reach = np.where(most > least, most - least, 1.0)[attribute]
    score = (np.minimum(high, most[attribute]) - np.maximum(low, least[attribute])) / reach
    points = np.flatnonzero(low == high)
    places = np.stack([attribute[points].astype(np.uint64), terms["low"][points]], 1)
    _, of, times = np.unique(places, axis=0, return_inverse=True, return_counts=True)
    among = np.bincount(attribute[points], minlength=count)[attribute[points]]
    score[points] = times[of.ravel()] / np.maximum(among, 1)
    return np.where(np.isnan(score), 1.0, score)


def _box_access(low: Words, high: Words) -> tuple[Ints, Ints, Words]:
    """Returns widths, lists and keys of ranges."""
    least, most = np.uint64(LEAST), np.uint64(MOST)
    is_point, is_all = low == high, (low == least) & (high == most)
    is_less, is_greater = (low == least) & ~is_all, (high == most) & ~is_all & (low > least)
    kind = np.where(is_less, LESS, np.where(is_greater, GREATER, EQUAL)).astype(np.int64)
    with np.errstate(over="ignore"):
        keys = np.where(is_less, high + np.uint64(1), low)
        keys = np.where(is_greater, low - np.uint64(1), keys)
        width = np.where(is_less | is_greater | is_point, 0, number_widths(low, high))
    width[is_all] = WIDEST
    return width, kind, keys


def holding(run: PlaceRun, low: Words, high: Words, there: Flags) -> tuple[Ints, Ints]:
    """Returns the rows of entries whose terms hold for an event: exact ones, and vague ones."""
    terms = np.frombuffer(run.payload, TERM)
    number = terms["line"]
    line = number & ~OUTSIDE
    is_inside = (terms["low"] <= high[line]) & (low[line] <= terms["high"])
    fails = ~there[line] | (is_inside == (number >= OUTSIDE))
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(fails)])
    ends = run.ends // TERM.itemsize
    holds = before[ends[1:]] == before[ends[:-1]]
    rows = run.rows[holds].astype(np.int64)
    is_vague = run.marks[holds] >= VAGUE
    return rows[~is_vague], rows[is_vague]
