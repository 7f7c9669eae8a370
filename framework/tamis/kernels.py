"""How kernels are compiled: by numba, once a machine, into a cache that can be written.

Imported only where a kernel is needed. numba keeps compiled code beside the source or below the
user's home; where neither can be written, it goes to a folder of this user's own below the
temporary one.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compiles a function of arrays; it runs without the interpreter lock."""
    compile_ = numba.njit(cache=True, nogil=True)
    try:
        return cast(F, compile_(function))
    except RuntimeError:
        # numba found no place for its cache
        setattr(numba.config, "CACHE_DIR", _private_folder())  # noqa: B010 (numba does not say that it is there)
        return cast(F, compile_(function))


def _private_folder() -> str:
    """A folder that only this user can write, the same for every process where that is safe."""
    user = os.getuid() if hasattr(os, "getuid") else None
    if user is not None:
        path = os.path.join(tempfile.gettempdir(), f"tamis-kernels-{user}")
        os.makedirs(path, mode=0o700, exist_ok=True)
        found = os.lstat(path)
        mine = found.st_uid == user and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if stat.S_ISDIR(found.st_mode) and mine:
            return path
    return tempfile.mkdtemp(prefix="tamis-kernels-")
