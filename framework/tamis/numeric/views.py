"""Makes views of arrays that nobody counts, for kernels that hand arrays on for every row.

Numba counts references to arrays whenever a function is given them, also when it is compiled into
its caller: with the forty arrays of an index that takes ten times as long as the work. Handing many
arrays to a kernel takes some microseconds; where they lie is one array. Whoever calls a kernel
keeps the arrays alive; an array that a kernel makes itself must not be viewed so.
Invariant: a view has the memory, shape and type of its array.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from tamis.numeric.kernels import inlined
from tamis.numeric.types import Ints

_Nothing = ctypes.c_char * 0


def places_of(arrays: Iterable[Any]) -> Ints:
    """Returns where contiguous arrays of one or two dimensions lie: address, rows, columns."""
    places: list[int] = []
    for each in arrays:  # all in one flat list, which makes an array in half the time
        shape = each.shape
        places += address_of(each), shape[0], shape[1] if len(shape) > 1 else 1
    return np.array(places, np.int64).reshape(-1, 3)


def address_of(array: Any) -> int:
    """Returns the address of an array, in a fifth of the time that NumPy takes."""
    if array.flags.writeable:
        return ctypes.addressof(_Nothing.from_buffer(array))
    address: int = array.ctypes.data
    return address


@intrinsic
def pointer(typing: Any, address: Any) -> Any:
    """Returns an address as a pointer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.intp), generate


@inlined
def bare_at(places: Any, at: int, dtype: Any) -> Any:
    """Returns a view of the array of one dimension whose place is on a list (`places_of`)."""
    return carray(pointer(places[at, 0]), (places[at, 1],), dtype)


@inlined
def bare_table_at(places: Any, at: int, dtype: Any, columns: int = 0) -> Any:
    """Returns a view of an array of two dimensions whose place is on a list.

    Whoever knows how many columns it has says so: they are multiplied at every look."""
    return carray(pointer(places[at, 0]), (places[at, 1], columns or places[at, 2]), dtype)


@inlined
def bare(array: Any) -> Any:
    """Returns a view of a contiguous array."""
    return carray(pointer(array.ctypes.data), array.shape, array.dtype)
