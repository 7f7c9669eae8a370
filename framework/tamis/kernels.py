"""How kernels are compiled: by numba, once a machine, and kept for all processes of the user.

Imported only where a kernel is needed. Machine code is kept in files named by all that it was made
from: the kernel and what it uses (`tamis.fingerprint`), the types it was called with, versions, the
processor, the settings of numba. Invariant: a file appears complete and never changes, so that code
that changed anywhere is compiled again, and processes that compile at once do each other no harm.
What cannot be read or written costs compiling, nothing else.
Cost: about a millisecond for a kernel that is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

import numba
from numba.core import config, event
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from tamis.fingerprint import fingerprint

F = TypeVar("F", bound=Callable[..., Any])
_njit: Any = numba.njit

_FORMAT = 1
_DAY_SECONDS = 24 * 3600
_KEPT_SECONDS = 30 * _DAY_SECONDS
_PATIENCE_SECONDS = 0.5
_CHECK_BYTES = hashlib.sha256().digest_size
_UNSAFE = re.compile(r"[^0-9A-Za-z_.]")
_FILE = re.compile(r"[\w.]+-[0-9a-f]{40}\.kernel(\.[0-9a-f]{32})?")
_MADE_BY = ("numba", "llvmlite", "numpy")
_SETTINGS = ("BOUNDSCHECK", "OPT", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")


def kernel(function: F) -> F:
    """Compiles a function of arrays; it runs without the interpreter lock."""
    compiled = _njit(nogil=True)(function)
    if compiled is not function:
        compiled._cache = _Kept(function)
    return cast(F, compiled)


def inlined(function: F) -> F:
    """Compiles a part of kernels into each of them; it may be given arrays, but not make any.

    Arrays that are passed on are counted otherwise, which in a loop takes longer than most work."""
    return cast(F, _njit(nogil=True, forceinline=True, _nrt=False)(function))


def opening(function: F) -> F:
    """Compiles the beginning of a kernel: what makes views of the arrays that it is given."""
    return cast(F, _njit(nogil=True, forceinline=True)(function))


class _Kept(NullCache):
    """The machine code of one kernel, as numba asks for it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @property
    def cache_path(self) -> str | None:
        """The folder that is tried first."""
        return next(_folders(), None)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for a signature before; `None` if nothing is there, or is damaged."""
        target_context.refresh()
        name = self._file_name(sig, target_context.codegen())
        for folder in filter(_is_trusted, _folders()):
            with contextlib.suppress(Exception):
                parts = pickle.loads(_read(os.path.join(folder, name)))
                return CompileResult._rebuild(target_context, *parts)  # type: ignore[no-untyped-call]
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keeps what was compiled, unless it is worth nothing in another process."""
        if data.library.has_dynamic_globals:
            return
        name = self._file_name(sig, data.codegen)
        content: bytes = dumps(data._reduce())  # type: ignore[no-untyped-call]
        for folder in _folders():
            with contextlib.suppress(OSError):
                os.makedirs(folder, mode=0o700, exist_ok=True)
                if _is_trusted(folder):
                    _clear(folder)
                    _write(os.path.join(folder, name), content)
                    return

    def _file_name(self, sig: Any, codegen: Any) -> str:
        settings = tuple(vars(config).get(name) for name in _SETTINGS)
        used = fingerprint(self._function, sig)
        made_from = repr((_FORMAT, _versions(), settings, codegen.magic_tuple(), used))
        digest = hashlib.sha256(made_from.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{self._function.__module__}.{self._function.__name__}"
        return f"{_UNSAFE.sub('_', name)[-80:]}-{digest[:40]}.kernel"


def _versions() -> tuple[str, ...]:
    return sys.version, *(str(vars(sys.modules[name])["__version__"]) for name in _MADE_BY)


def _folders() -> Iterator[str]:
    """Where machine code may be kept, the best place first."""
    chosen = _chosen()
    if chosen:
        yield os.path.join(chosen, "tamis-kernels")
    else:
        cache = _user_cache()
        if os.path.isabs(cache):
            yield os.path.join(cache, "tamis", "kernels")
    with contextlib.suppress(OSError):
        user = os.getuid() if hasattr(os, "getuid") else "own"
        yield os.path.join(tempfile.gettempdir(), f"tamis-kernels-{user}")


def _chosen() -> str:
    """The folder that the user chose for what numba compiles, or nothing."""
    return str(vars(config).get("CACHE_DIR") or "")


def _user_cache() -> str:
    """The folder where the system has users keep what can be made again."""
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA", "")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    return chosen if os.path.isabs(chosen) else os.path.expanduser("~/.cache")


def _is_trusted(folder: str) -> bool:
    """Whether code from a folder may be run: the user chose it, or nobody else can write there."""
    if _chosen() and folder == os.path.join(_chosen(), "tamis-kernels"):
        return True
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return stat.S_ISDIR(found.st_mode)
    mine = found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return mine and stat.S_ISDIR(found.st_mode)


def _read(path: str) -> bytes:
    """What was written to a path; `ValueError` if that is not what is there."""
    with open(path, "rb") as file:
        check, content = file.read(_CHECK_BYTES), file.read()
        written = os.fstat(file.fileno()).st_mtime
    if hashlib.sha256(content).digest() != check:
        raise ValueError(f"{path} is damaged")
    if time.time() - written > _DAY_SECONDS:
        with contextlib.suppress(OSError):
            os.utime(path)
    return content


def _write(path: str, content: bytes) -> None:
    """Makes a file appear with its whole content."""
    partial = f"{path}.{uuid.uuid4().hex}"
    try:
        with open(partial, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        os.replace(partial, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.remove(partial)
        raise


def _clear(folder: str) -> None:
    """Removes what no process has used for a month."""
    for name in filter(_FILE.fullmatch, os.listdir(folder)):
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            if time.time() - os.lstat(path).st_mtime > _KEPT_SECONDS:
                os.remove(path)


class _Patience(event.Listener):
    """Says on a terminal, once a process, that compiling takes its time."""

    def __init__(self) -> None:
        self._told = False
        self._depth = 0
        self._started = self._spent_seconds = 0.0
        self._saying: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        """A kernel is compiled, perhaps as a part of another."""
        if not _is_kept(event):
            return
        self._depth += 1
        if self._depth == 1:
            self._started = time.monotonic()
            if not self._told and _is_watched():
                left_seconds = max(0.0, _PATIENCE_SECONDS - self._spent_seconds)
                self._saying = threading.Timer(left_seconds, self._tell)
                self._saying.daemon = True
                self._saying.start()

    def on_end(self, event: Any) -> None:
        """It was compiled, or failed."""
        if not _is_kept(event):
            return
        self._depth -= 1
        if self._depth == 0:
            self._spent_seconds += time.monotonic() - self._started
            if self._saying:
                self._saying.cancel()
                self._saying = None

    def _tell(self) -> None:
        self._told = True
        with contextlib.suppress(AttributeError, OSError, ValueError):
            sys.stderr.write("tamis compiles its kernels, once on this machine\n")
            sys.stderr.flush()


def _is_kept(event: Any) -> bool:
    return isinstance(event.data["dispatcher"]._cache, _Kept)


def _is_watched() -> bool:
    with contextlib.suppress(AttributeError, ValueError):
        return sys.stderr.isatty()
    return False


event.register("numba:compile", _Patience())  # type: ignore[no-untyped-call]
