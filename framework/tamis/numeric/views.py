"""Makes views of arrays that nobody counts, for kernels that hand arrays on for every row.

Numba counts references to arrays whenever a function is given them, also when it is compiled into
its caller: with the forty arrays of an index that takes ten times as long as the work. Whoever
calls a kernel keeps the arrays alive; an array that a kernel makes itself must not be viewed so.
Invariant: a view has the memory, shape and type of its array.
"""

from __future__ import annotations

from typing import Any

from numba import carray, types
from numba.extending import intrinsic

from tamis.numeric.kernels import inlined


@intrinsic
def pointer(typing: Any, address: Any) -> Any:
    """An address as a pointer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.intp), generate


@inlined
def bare(array: Any) -> Any:
    """Returns a view of a contiguous array."""
    return carray(pointer(array.ctypes.data), array.shape, array.dtype)
