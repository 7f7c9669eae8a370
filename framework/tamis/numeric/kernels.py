"""Compiles functions of arrays with numba, once a machine.

Numba keeps the machine code (`cache=True`) beside the source of a kernel, or in its folder for the
user where that cannot be written; `NUMBA_CACHE_DIR` moves it. It compares the file of a kernel with
the one that was compiled; here the files that it imports are compared too, because machine code
holds what a kernel calls.
Invariant: numba is imported when the first function is compiled, never before.
Cost: seconds a kernel, then some milliseconds a process.
"""

from __future__ import annotations

import hashlib
import re
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any, TypeVar, cast

from numpy.typing import NDArray

from tamis.log import log

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
    return _compiled(function, nogil=True)


def locked_kernel(function: F) -> F:
    """Compiles a function that Python calls, and that calls Python: it keeps the lock."""
    return _compiled(function, nogil=False)


def _compiled(function: F, *, nogil: bool) -> F:
    import numba

    made = numba.njit(cache=True, nogil=nogil)(function)
    kept = _kept(made)
    if kept is None:
        log.warning("this numba keeps kernels in a way that is not known: each process compiles")
        return cast(F, numba.njit(nogil=nogil)(function))
    kept._source_stamp = kept._source_stamp, _sources(function.__module__)
    return cast(F, made)


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
    """Returns whether machine code of a kernel as it is now is kept, so that none is compiled."""
    kept = _kept(made)
    return kept is not None and bool(kept._load_index())


def _kept(made: object) -> Any:
    """Returns what numba knows of a kernel's files; `None` if it has none or hides them."""
    return getattr(getattr(made, "_cache", None), "_cache_file", None)


@cache
def _sources(name: str) -> bytes:
    """Returns a digest of the files that the kernels of a module are made from."""
    found: set[str] = set()
    asked = [name]
    while asked:
        module = asked.pop()
        if module not in found:
            found.add(module)
            asked += [
                each
                for each in _imported(module)
                if each.startswith("tamis") or each.partition(".")[0] == name.partition(".")[0]
            ]
    return hashlib.sha256(b"".join(_digest(each) for each in sorted(found))).digest()


_IMPORTS = re.compile(r"^(?:from ([\w.]+) import (\([^)]*\)|.*)|import ([\w.]+))", re.MULTILINE)


def _imported(name: str) -> Iterator[str]:
    """Yields the modules that a module imports from, and those where what it imports is defined."""
    for source, names, module in _IMPORTS.findall(_content(name).decode(errors="replace")):
        if source.startswith("."):
            source = resolve_name(source, sys.modules[name].__package__)
        yield source or module
        for each in re.findall(r"(\w+)(?: as \w+)?", names):
            yield f"{source}.{each}"
            home = getattr(getattr(sys.modules.get(source), each, None), "__module__", None)
            if isinstance(home, str):
                yield home


@cache
def _content(name: str) -> bytes:
    file = getattr(sys.modules.get(name), "__file__", None)
    return Path(file).read_bytes() if file and file.endswith(".py") else b""


@cache
def _digest(name: str) -> bytes:
    return hashlib.sha256(_content(name)).digest()
