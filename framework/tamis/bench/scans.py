"""Scans to measure indexes against: every subscription looked at, in three layouts of memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.kernels import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def flat_scan(
    start: Ints, attribute: NDArray[np.int32], low: Floats, high: Floats, event: Floats
) -> NDArray[np.bool_]:
    """Predicates one after the other in memory, a subscription left at its first false one."""
    result = np.zeros(len(start) - 1, np.bool_)
    for row in range(len(start) - 1):
        holds = True
        for at in range(start[row], start[row + 1]):
            value = event[attribute[at]]
            if not (low[at] <= value <= high[at]):
                holds = False
                break
        result[row] = holds
    return result


@kernel
def scattered_scan(
    start: Ints,
    place: Ints,
    attribute: NDArray[np.int32],
    low: Floats,
    high: Floats,
    event: Floats,
) -> NDArray[np.bool_]:
    """The same with every predicate somewhere else in memory, as objects on a heap are."""
    result = np.zeros(len(start) - 1, np.bool_)
    for row in range(len(start) - 1):
        holds = True
        for at in range(start[row], start[row + 1]):
            where = place[at]
            value = event[attribute[where]]
            if not (low[where] <= value <= high[where]):
                holds = False
                break
        result[row] = holds
    return result


@kernel
def column_scan(
    attribute: NDArray[np.int32], low: Floats, high: Floats, event: Floats
) -> NDArray[np.bool_]:
    """A column a place, no branches, so that the compiler takes several subscriptions at a time.

    Places that a subscription does not fill read attribute 0 of the padded event and hold."""
    places, rows = attribute.shape
    result = np.ones(rows, np.bool_)
    for place in range(places):
        for row in range(rows):
            value = event[attribute[place, row]]
            result[row] &= (low[place, row] <= value) & (value <= high[place, row])
    return result


def scattered(
    attribute: NDArray[np.int32], low: Floats, high: Floats, seed: int
) -> tuple[Ints, NDArray[np.int32], Floats, Floats]:
    """Places and columns for `scattered_scan`."""
    place = np.random.default_rng(seed).permutation(len(attribute))
    moved_attribute, moved_low, moved_high = (
        np.empty_like(attribute),
        np.empty_like(low),
        np.empty_like(high),
    )
    moved_attribute[place], moved_low[place], moved_high[place] = attribute, low, high
    return place, moved_attribute, moved_low, moved_high


def columns(
    start: Ints, attribute: NDArray[np.int32], low: Floats, high: Floats
) -> tuple[NDArray[np.int32], Floats, Floats]:
    """Columns for `column_scan`; attributes count from 1, 0 is the value 0 that always holds."""
    rows, lengths = len(start) - 1, np.diff(start)
    places = int(lengths.max(initial=1))
    shape = (places, rows)
    wide_attribute = np.zeros(shape, np.int32)
    wide_low, wide_high = np.zeros(shape), np.zeros(shape)
    for place in range(places):
        filled = np.flatnonzero(lengths > place)
        at = start[filled] + place
        wide_attribute[place, filled] = attribute[at] + 1
        wide_low[place, filled], wide_high[place, filled] = low[at], high[at]
    return wide_attribute, wide_low, wide_high


def padded(event: Floats) -> Floats:
    """The event for `column_scan`."""
    return np.concatenate([np.zeros(1), event])
