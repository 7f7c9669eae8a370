"""Sorts things into lists by their numbers.

The lists are one array: entries `n` and `n + 1` say where in it the things of number `n` lie.
Cost: O(things + numbers).
"""

from __future__ import annotations

import numpy as np

from tamis.numeric.types import Ints, SmallInts

_HALF = 1 << 16


def lists_by_number(numbers: Ints, count: int) -> SmallInts:
    """Returns the places of each number below `count`, in ascending order."""
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(numbers, minlength=count), out=start[1:])
    return np.concatenate([start + count + 1, _order(numbers, count)]).astype(np.int32)


def _order(numbers: Ints, count: int) -> Ints:
    """The places in ascending order of their numbers; NumPy sorts halves of words by counting."""
    order = np.argsort((numbers % _HALF).astype(np.uint16), kind="stable")
    if count > _HALF:
        order = order[np.argsort((numbers[order] // _HALF).astype(np.uint16), kind="stable")]
    return order
