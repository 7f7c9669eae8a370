"""What is known of rows while they are put into a store: their terms, and what these come to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.index.buckets.store import MOST_CELLS, MOST_LANES, Store
from tamis.index.terms import Ints, Terms
from tamis.kernels import inlined

_MOST_PASSING = 16_383


class Batch(NamedTuple):
    """Rows on their way; columns by term or by row."""

    terms: Terms
    codes: Ints
    """By term, from the left: how many events it lets pass (14 bits), its dimension (24), whether
    codes decide it, its low code, its width (8 bits each)."""
    skipped: Ints
    """By row: a bit for each of the first terms that being in the row's nodes implies."""
    lanes: Ints
    """By row: how many lanes it takes."""
    sizes: Ints
    """By row: the size of its record, 0 if it needs none."""
    record_of: Ints
    """By row: where its record is, -1 as long as there is none."""


def new_batch(terms: Terms) -> Batch:
    """A batch of which nothing is known yet."""
    rows, size = len(terms.rows), len(terms.dimension)
    skipped, lanes, sizes = (np.zeros(rows, np.int64) for _ in range(3))
    return Batch(
        terms, np.zeros(size, np.int64), skipped, lanes, sizes, np.full(rows, -1, np.int64)
    )


@inlined
def code_for(store: Store, dimension: int, exact: int, low: int, width: int) -> int:
    """The code of a term."""
    passing = np.int64(_MOST_PASSING * store.presence[dimension] * ((width + 1) / MOST_CELLS))
    return (passing << 48) | (dimension << 24) | (exact << 16) | (low << 8) | width


@inlined
def passing_of(code: int) -> int:
    """About how many events a term lets pass."""
    return code >> 48


@inlined
def dimension_of(code: int) -> int:
    """The dimension of a term."""
    return (code >> 24) & 0xFFFFFF


@inlined
def low_of(code: int) -> int:
    """The first cell that a term covers."""
    return (code >> 8) & 255


@inlined
def width_of(code: int) -> int:
    """How many cells it covers beside the first."""
    return code & 255


@inlined
def is_exact(code: int) -> bool:
    """Whether codes decide it."""
    return bool((code >> 16) & 1)


@inlined
def is_skipped(batch: Batch, row: int, term: int) -> bool:
    """Whether the row's nodes imply a term."""
    place = term - batch.terms.start[row]
    return bool(place < 63 and (batch.skipped[row] >> place) & 1)


@inlined
def lanes_end(batch: Batch, row: int) -> int:
    """The first of a row's terms that gets no lane, because so many before it have one."""
    term, lanes = batch.terms.start[row], 0
    while term < batch.terms.start[row + 1] and lanes < MOST_LANES:
        lanes += not is_skipped(batch, row, term)
        term += 1
    return term
