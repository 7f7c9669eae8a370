"""Compiles what the bench itself computes: draws without replacement, and the loop over predicates.

Nothing of tamis is called, so that the same code stands beside any version of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Starts = NDArray[np.int32]
Codes = NDArray[Any]
Extra = NDArray[np.int32]
Sets = NDArray[np.uint64]

RANGE, DIFFERENT = -1, -2
"""The kinds of predicates; from 0 on it is the set of that number."""
NO_SETS: Sets = np.zeros((0, 2), np.uint64)
_WORD, _LAST = np.uint64(64), np.uint64(63)


def kernel(function: F) -> F:
    """Compiles a function, once a machine."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))


@kernel
def holds(low: int, high: int, extra: int, sets: Sets, value: int, absent: int) -> bool:
    """Returns whether a predicate of any kind holds."""
    if extra == RANGE:
        return low <= value <= high
    if value == absent:
        return False
    if extra == DIFFERENT:
        return value != low
    bit = np.uint64(value)
    return bool(sets[extra, bit // _WORD] >> (bit & _LAST) & np.uint64(1))


@kernel
def scanned(
    start: Starts,
    attribute: Codes,
    low: Codes,
    high: Codes,
    extra: Extra | None,
    sets: Sets,
    event: Codes,
    absent: int,
    rows: Ints | None,
    found: Ints,
) -> int:
    """Writes which rows match, all of them or some, and returns how many: a loop that leaves a
    row at its first false predicate."""
    count, row, end = 0, 0, start[0]
    for each in range(len(start) - 1 if rows is None else len(rows)):
        if rows is None:
            row, at, end = each, end, start[each + 1]
        else:
            row = rows[each]
            at, end = start[row], start[row + 1]
        true = True
        while at < end:
            value = event[attribute[at]]
            if extra is None:
                true = (low[at] <= value) & (value <= high[at])
            else:
                true = holds(low[at], high[at], extra[at], sets, value, absent)
            if not true:
                break
            at += 1
        found[count] = row
        count += true
    return count


@kernel
def drawn(
    offset: Ints,
    cumulative: Floats,
    group: Ints,
    start: Ints,
    chance: Floats,
    order: Floats,
) -> Ints:
    """Returns for each row the places of its candidates in its group, in any order.

    Nothing is drawn again: what is taken leaves a gap that later draws step over, so that Zipf(5)
    costs what uniform weights cost. Cost: O(k^2 + k log n) for k of n candidates."""
    result = np.empty(len(chance), np.int64)
    taken = np.empty(len(chance), np.int64)
    for row in range(len(group)):
        first, last = offset[group[row]], offset[group[row] + 1]
        begin, gone = start[row], 0.0
        for at in range(begin, start[row + 1]):
            level = chance[at] * (cumulative[last - 1] - gone)
            for before in range(begin, at):
                each = taken[before]
                below = cumulative[each - 1] if each > first else 0.0
                if level < below:
                    break
                level += cumulative[each] - below
            found = first + np.searchsorted(cumulative[first:last], level, side="right")
            found = min(found, last - 1)
            while np.any(taken[begin:at] == found):
                found = first if found == last - 1 else found + 1
            place = at
            while place > begin and taken[place - 1] > found:
                taken[place] = taken[place - 1]
                place -= 1
            taken[place] = found
            gone += cumulative[found] - (cumulative[found - 1] if found > first else 0.0)
            other = begin + int(order[at] * (at + 1 - begin))
            result[at] = result[other]
            result[other] = found - first
    return result
