"""Reads plain numbers of events, and opens the array that readings come in, for kernels.

The interpreter walks through the thirty numbers of a dict about as long as an index matches them;
a kernel that calls the functions of Python that are there for extensions takes half of that.
Cost: O(keys of the event) to read it, O(1) to open.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tamis.index.readings import HEAD, Readings
from tamis.numeric.kernels import inlined, locked_kernel
from tamis.numeric.types import Ints

_OBJECT, _PLACE = ir.IntType(8).as_pointer(), ir.IntType(64).as_pointer()
_RESULTS = {ir.IntType(32): types.int32, ir.IntType(64): types.int64, ir.DoubleType(): types.double}
_TYPES = id(str), id(float), id(int)


def _function(name: str, result: Any, *taken: Any) -> Any:
    """Returns a function of Python's for kernels, in which objects and places are addresses."""
    kind = ir.FunctionType(result, taken)
    given: Any = types.none if result == ir.VoidType() else _RESULTS.get(result, types.int64)

    @intrinsic
    def call(typing: Any, *arguments: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            values = [
                builder.inttoptr(value, each)
                for value, each in zip(cgutils.unpack_tuple(builder, *values), taken, strict=True)
            ]
            found = builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)
            if isinstance(result, ir.PointerType):
                return builder.ptrtoint(found, ir.IntType(64))
            return context.get_dummy_value() if given is types.none else found

        return given(types.StarArgTuple(arguments)), generate

    return call


_next_item = _function("PyDict_Next", ir.IntType(32), _OBJECT, _PLACE, _PLACE, _PLACE)
_item = _function("PyDict_GetItemWithError", _OBJECT, _OBJECT, _OBJECT)
_class_of = _function("PyObject_Type", _OBJECT, _OBJECT)
_release = _function("Py_DecRef", ir.VoidType(), _OBJECT)
_double = _function("PyFloat_AsDouble", ir.DoubleType(), _OBJECT)
_integer = _function("PyLong_AsLongLong", ir.IntType(64), _OBJECT)
_error = _function("PyErr_Occurred", _OBJECT)
_forget_error = _function("PyErr_Clear", ir.VoidType())


@inlined
def _type_of(thing: int) -> int:
    """Returns the address of an object's type, which lives as long as the object."""
    found = _class_of(thing)
    _release(found)
    return np.int64(found)


def plain_readings(content: object, numbers: dict[str, int]) -> Ints | None:
    """Returns the readings of an event of whose keys these have lines; `None` if that is not plain:

    no dict, a key that is no plain string, a value that is no plain number, or beyond doubles."""
    if type(content) is not dict:
        return None
    readings = np.empty(HEAD + 5 + 2 * len(content), np.int64)
    return readings if _read_numbers(id(content), id(numbers), *_TYPES, readings) else None


@locked_kernel
def _read_numbers(
    content: int, numbers: int, text: int, real: int, whole: int, readings: Ints
) -> bool:
    """Packs the readings of an event, by the addresses of it, of its numbers and of three types.

    There is room for as many readings as the event has keys. Returns whether it was plain."""
    room, found = (len(readings) - HEAD - 5) >> 1, 0
    lines, values = HEAD + 4, HEAD + 5 + room
    item = np.zeros(3, np.int64)
    place = item.ctypes.data
    while _next_item(content, place, place + 8, place + 16):
        if _type_of(item[1]) != text:
            return False
        line = _item(numbers, item[1])
        if line == 0:
            continue
        kind = _type_of(item[2])
        if kind != real and kind != whole:
            return False
        value = _double(item[2])
        if value == -1.0 and _error() != 0:
            _forget_error()
            return False
        readings[lines + found] = _integer(line)
        readings[values + found] = np.float64(value).view(np.int64)
        found += 1
    readings[:lines] = 0
    readings[0], readings[1], readings[HEAD + 1], readings[lines + found] = 1, found, found, 0
    for each in range(found if found < room else 0):
        readings[lines + 1 + found + each] = readings[values + each]
    return True


@inlined
def opened_readings(readings: Ints) -> Readings:
    """Returns the columns of an array of readings, for kernels."""
    events, lines, bags, members = readings[0], readings[1], readings[2], readings[3]
    bag_start = HEAD + events + 1
    line = bag_start + events + 1
    bag = line + lines
    member_start = bag + bags
    value = member_start + bags + 1
    return Readings(
        readings[HEAD:bag_start],
        readings[line:bag],
        readings[value : value + lines].view(np.float64),
        readings[bag_start:line],
        readings[bag:member_start],
        readings[member_start:value],
        readings[value + lines : value + lines + members].view(np.float64),
    )
