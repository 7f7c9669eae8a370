"""Hands many arrays to a kernel that is called for every event: their addresses in one array.

Handing over forty arrays one by one takes several microseconds, longer than many a match. Whoever
makes a handle keeps the arrays alive, and makes a new one when they change.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray

from tamis.index.buckets.scratch import Scratch
from tamis.index.buckets.store import DIMENSION_FIELDS, SEGMENT_FIELDS, Store
from tamis.numeric.kernels import inlined
from tamis.numeric.types import Ints
from tamis.numeric.views import address_of, pointer


def handle_of(arrays: tuple[Any, ...]) -> Ints:
    """Address and length of each array."""
    return np.array([number for array in arrays for number in (address_of(array), len(array))])


@inlined
def _ints(handle: Ints, place: int) -> Any:
    return carray(pointer(handle[2 * place]), (handle[2 * place + 1],), np.int64)


@inlined
def _small_ints(handle: Ints, place: int) -> Any:
    return carray(pointer(handle[2 * place]), (handle[2 * place + 1],), np.int32)


@inlined
def _doubles(handle: Ints, place: int) -> Any:
    return carray(pointer(handle[2 * place]), (handle[2 * place + 1],), np.float64)


@inlined
def _bytes(handle: Ints, place: int) -> Any:
    return carray(pointer(handle[2 * place]), (handle[2 * place + 1],), np.uint8)


@inlined
def _table(handle: Ints, place: int, fields: int) -> Any:
    return carray(pointer(handle[2 * place]), (handle[2 * place + 1], fields), np.int64)


@inlined
def opened_store(handle: Ints) -> Store:
    """Returns the store of a handle."""
    return Store(
        _table(handle, 0, DIMENSION_FIELDS),
        _doubles(handle, 1),
        _doubles(handle, 2),
        _table(handle, 3, 2),
        _small_ints(handle, 4),
        _small_ints(handle, 5),
        _bytes(handle, 6),
        _ints(handle, 7),
        _small_ints(handle, 8),
        _small_ints(handle, 9),
        _small_ints(handle, 10),
        _small_ints(handle, 11),
        _small_ints(handle, 12),
        _table(handle, 13, SEGMENT_FIELDS),
        _bytes(handle, 14),
        _small_ints(handle, 15),
        _doubles(handle, 16),
        _small_ints(handle, 17),
        _small_ints(handle, 18),
        _small_ints(handle, 19),
        _ints(handle, 20),
        _ints(handle, 21),
        _doubles(handle, 22),
        _doubles(handle, 23),
    )


@inlined
def opened_scratch(handle: Ints) -> Scratch:
    """Returns the scratch of a handle."""
    return Scratch(
        _bytes(handle, 0),
        _doubles(handle, 1),
        _small_ints(handle, 2),
        _bytes(handle, 3),
        _ints(handle, 4),
        _ints(handle, 5),
        _ints(handle, 6),
        _ints(handle, 7),
        _table(handle, 8, 2),
        carray(pointer(handle[18]), (handle[19],), np.uint64),
        _table(handle, 10, 2),
        _ints(handle, 11),
        _small_ints(handle, 12),
        _ints(handle, 13),
        _ints(handle, 14),
        _small_ints(handle, 15),
        _small_ints(handle, 16),
    )
