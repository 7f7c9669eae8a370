"""Describes rows while they are put into a store: their terms, and the codes of these."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamis.index.buckets.store import MOST_LANES, integers
from tamis.index.terms import ANY, RANGE, TermColumns
from tamis.numeric.kernels import inlined
from tamis.numeric.types import Ints

# of a row: the terms of a row from the first to before the last, a bit for each of the
# first ones that being in the row's nodes implies, how many lanes it takes, the size of its record
# (0 if it needs none), where that is (-1 as long as there is none), and the number of the row
ABOUT = integers("first", "last", "skipped", "needed", "size", "record", "row")
_MOST_PASSING = 16_383


class Batch(NamedTuple):
    """Rows on their way; columns by term or by row."""

    terms: TermColumns
    codes: Ints
    """By term, from the left: how many events it lets pass (14 bits), its dimension (24), whether
    codes decide it, its low code, its width (8 bits each)."""
    about: Any
    """By row, in one place of the memory: an `ABOUT`."""
    sorted: Ints
    """Room for the lanes of one row while they are put in order."""


def new_batch(terms: TermColumns) -> Batch:
    """Returns a batch of which nothing is known yet but the terms."""
    about = np.empty(len(terms.rows), ABOUT)
    codes = np.zeros(len(terms.dimension), np.int64)
    return Batch(terms, codes, about, np.zeros(MOST_LANES, np.int64))


@inlined
def is_point(terms: TermColumns, term: int) -> bool:
    """Returns whether a term asks for one value."""
    if terms.op[term] == RANGE:
        return bool(terms.low[term] == terms.high[term])
    return bool(terms.op[term] == ANY and terms.high[term] == 1)


@inlined
def code_for(dimension: int, exact: int, low: int, width: int) -> int:
    """Returns the code of a term, but for how many events it lets pass."""
    return (dimension << 24) | (exact << 16) | (low << 8) | width


@inlined
def passing_code(code: int, share: float) -> int:
    """Returns the code with the share of events that its term lets pass."""
    return code | (np.int64(_MOST_PASSING * share) << 48)


@inlined
def dimension_of(code: int) -> int:
    """Returns the dimension of a term."""
    return (code >> 24) & 0xFFFFFF


@inlined
def low_of(code: int) -> int:
    """Returns the first cell that a term covers."""
    return (code >> 8) & 255


@inlined
def width_of(code: int) -> int:
    """Returns the number of cells that it covers after the first."""
    return code & 255


@inlined
def is_exact(code: int) -> bool:
    """Returns whether codes alone decide it."""
    return bool((code >> 16) & 1)


@inlined
def is_skipped(batch: Batch, row: int, term: int) -> bool:
    """Returns whether the row's nodes imply a term."""
    place = term - batch.about[row].first
    return bool(place < 63 and (batch.about[row].skipped >> place) & 1)


@inlined
def lanes_end(batch: Batch, row: int) -> int:
    """Returns the first of a row's terms that gets no lane, because so many before it have one."""
    if batch.about[row].last - batch.about[row].first <= MOST_LANES:
        return batch.about[row].last
    term, lanes = batch.about[row].first, 0
    while term < batch.about[row].last and lanes < MOST_LANES:
        lanes += not is_skipped(batch, row, term)
        term += 1
    return term
