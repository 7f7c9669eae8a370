"""Makes views of arrays that nobody counts, for kernels that hand arrays on for every row.

Numba counts references to arrays whenever a function is given them, also when it is compiled into
its caller: with the forty arrays of an index that takes ten times as long as the work. Handing many
arrays to a kernel takes some microseconds; where they lie is one array. Whoever calls a kernel
keeps the arrays alive; an array that a kernel makes itself must not be viewed so.
Invariant: a view has the memory, shape and type of its array.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import numpy as np
from llvmlite import ir
from numba import carray, typeof, types
from numba.core import cgutils
from numba.extending import intrinsic

from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Ints

T = TypeVar("T")
_Nothing = ctypes.c_char * 0
_WORD = ir.IntType(64)
_PLACE_FIELDS = 3
"""The numbers of an array on a list of places."""


def places_of(arrays: Iterable[Any]) -> Ints:
    """Returns where contiguous arrays of one or two dimensions lie: address, rows, columns."""
    places: list[int] = []
    for each in arrays:  # all in one flat list, which makes an array in half the time
        shape = each.shape
        places += address_of(each), shape[0], shape[1] if len(shape) > 1 else 1
    return np.array(places, np.int64).reshape(-1, 3)


@intrinsic
def _note(typing: Any, places: Any, arrays: Any) -> Any:
    """Writes, in a kernel, where the arrays of a tuple lie."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        listed = cgutils.create_struct_proxy(places)(context, builder, arguments[0])
        place = builder.ptrtoint(listed.data, _WORD)
        for at, kind in enumerate(arrays):
            value = builder.extract_value(arguments[1], at)
            array = cgutils.create_struct_proxy(kind)(context, builder, value)
            shape = cgutils.unpack_tuple(builder, array.shape)
            lengths = [*shape, _WORD(1)][: _PLACE_FIELDS - 1]
            for number in (builder.ptrtoint(array.data, _WORD), *lengths):
                builder.store(number, builder.inttoptr(place, ir.PointerType(_WORD)))
                place = builder.add(place, _WORD(8))
        return context.get_dummy_value()

    return types.void(places, arrays), generate


@kernel
def places_of_all(arrays: Any) -> Ints:
    """Returns the same in a sixth of the time, of a plain tuple of arrays whose types are always
    these: it is compiled for all of them together."""
    places = np.empty((len(arrays), _PLACE_FIELDS), np.int64)
    _note(places, arrays)
    return places


def address_of(array: Any) -> int:
    """Returns the address of an array, in a fifth of the time that NumPy takes."""
    try:
        return ctypes.addressof(_Nothing.from_buffer(array))
    except TypeError:
        if array.flags.writeable:
            raise
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


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Returns the same array, or tuple of arrays, of which nobody counts references."""
    if isinstance(kind, types.BaseTuple):
        for at, each in enumerate(cast(Any, kind)):
            part = _without_owner(context, builder, each, builder.extract_value(value, at))
            value = builder.insert_value(value, part, at)
        return value
    if not isinstance(kind, types.Array):
        return value
    array = cgutils.create_struct_proxy(kind)(context, builder, value)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()


@intrinsic
def _bare(typing: Any, arrays: Any) -> Any:
    """Returns, in a kernel, a view of an array, or of all the arrays of a tuple."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _without_owner(context, builder, arrays, arguments[0])

    return arrays(arrays), generate


bare = cast(Callable[[T], T], _bare)


def opener(like: T) -> Callable[[Any], T]:
    """Returns what opens, in a kernel, a tuple of arrays like these, whose places are on a list.

    Rows of arrays of two dimensions are as long as they are here."""
    opened = typeof(like)
    examples: tuple[Any, ...] = tuple(like)

    @intrinsic
    def opened_at(typing: Any, places: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            listed = cgutils.create_struct_proxy(places)(context, builder, arguments[0])
            place = builder.ptrtoint(listed.data, _WORD)
            value = cgutils.get_null_value(context.get_value_type(opened))
            for at, example in enumerate(examples):
                address, rows = (
                    builder.load(builder.inttoptr(number, ir.PointerType(_WORD)))
                    for number in (place, builder.add(place, _WORD(8)))
                )
                place = builder.add(place, _WORD(8 * _PLACE_FIELDS))
                width, size = math.prod(example.shape[1:]), example.itemsize
                array = cgutils.create_struct_proxy(opened[at])(context, builder)
                array.data = builder.inttoptr(address, array.data.type)
                shape = [rows, _WORD(width)][: example.ndim]
                array.shape = cgutils.pack_array(builder, shape)
                steps = [_WORD(width * size), _WORD(size)][: example.ndim]
                array.strides = cgutils.pack_array(builder, steps)
                array.nitems, array.itemsize = builder.mul(rows, _WORD(width)), _WORD(size)
                value = builder.insert_value(value, array._getvalue(), at)
            return _without_owner(context, builder, opened, value)

        return opened(places), generate

    return cast(Callable[[Any], T], opened_at)
