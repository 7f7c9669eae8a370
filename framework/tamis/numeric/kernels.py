"""Compiles functions of arrays with numba, once a machine.

Numba keeps the machine code (`cache=True`) beside the source of a kernel, or in its folder for the
user where that cannot be written; `NUMBA_CACHE_DIR` moves it. It notices changes to the file of a
kernel, not to files of what the kernel calls: `make` clears caches when such a file changed.
Invariant: numba is imported when the first function is compiled, never before.
Cost: seconds a kernel, then some milliseconds a process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

_portable: list[Callable[..., Any]] = []
_kernels: dict[object, Any] = {}
_compiling = threading.RLock()
_loaded = threading.Event()
tell_loaded = _loaded.set
"""Says that the kernels of engine and planner are there, for small problems too."""
kernels_are_loaded = _loaded.is_set
"""Returns whether that was said."""


def kernel(function: F) -> F:
    """Compiles a function that Python calls; it runs without the interpreter lock."""
    import numba

    return cast(F, numba.njit(cache=True, nogil=True)(function))


def inlined(function: F) -> F:
    """Lets kernels call a function, which is compiled into each of them."""
    from numba.extending import register_jitable

    register_jitable(forceinline=True)(function)
    return function


def portable(function: F) -> F:
    """Marks a function that the interpreter runs, and that `compiled` makes a kernel of.

    It may call other portable functions. Interpreted or compiled, it has the same results, to the
    last bit: it computes with integers and floats, in loops, on what is indexed like an array."""
    _portable.append(function)
    return function


def portable_parts() -> None:
    """Lets kernels call all portable functions there are."""
    with _compiling:
        while _portable:
            inlined(_portable.pop())


def view_of(array: NDArray[Any]) -> Any:
    """Returns what the interpreter reads faster than an array: a view whose items are numbers."""
    return array.data


def compiled(function: F) -> F:
    """Returns the kernel of a portable function."""
    if function in _kernels:  # as nearly always: no lock then
        return cast(F, _kernels[function])
    portable_parts()
    with _compiling:
        if function not in _kernels:
            _kernels[function] = kernel(function)
        return cast(F, _kernels[function])


def is_kept(made: Callable[..., Any]) -> bool:
    """Returns whether machine code of a kernel is kept, so that it need not be compiled."""
    dispatcher = cast(Any, made)
    file = Path(dispatcher.py_func.__code__.co_filename).stem
    return any(Path(dispatcher.stats.cache_path).glob(f"{file}.{made.__name__}-*.nbc"))
