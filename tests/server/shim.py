"""Stands between SQLite, the files of the log, and the system: tells of each call, or spoils it.

It has to be installed before anything of the server opened a database in the process: page
checksums lie above it. Files that SQLite opens pass by a VFS of apsw, the others by `os`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from tamis.server import database
from tests.power import (
    CREATE,
    DELETE,
    FOLDER,
    RENAME,
    SYNC,
    SYNC_FOLDER,
    TRUNCATE,
    WRITE,
    Op,
)

Listener = Callable[[Op], None]
SYNCS = (SYNC, SYNC_FOLDER)
_NOT_KEPT = ("-shm", "/lock")


class Shim:
    """What is told of each call: `before` may raise instead of it, `after` knows it was done."""

    def __init__(self, folder: str, before: Listener, after: Listener) -> None:
        assert not database.checksums.cache_info().currsize, "something was opened before"
        self.folder = folder
        self.before, self.after = before, after
        self._lock = threading.RLock()
        self._names: dict[int, str] = {}
        self._vfs = _Vfs(self)
        self._install()

    def does(self, op: Op, call: Callable[[], Any]) -> Any:
        """Makes a call that is about the folder, and tells of it."""
        if not op.path.startswith(self.folder) or op.path.endswith(_NOT_KEPT):
            return call()
        with self._lock:
            self.before(op)
        found = call()
        with self._lock:
            self.after(op)
        return found

    def _install(self) -> None:
        """Takes the place of the functions of `os` that the log uses."""
        names, does = self._names, self.does
        real = {
            name: getattr(os, name)
            for name in ("open", "pwrite", "ftruncate", "fsync", "fdatasync", "replace", "mkdir")
        }

        def opened(path: Any, flags: int, *more: Any, **other: Any) -> int:
            name = os.path.abspath(os.fspath(path))
            is_new = bool(flags & os.O_CREAT) and not os.path.exists(name)

            def call() -> int:
                return int(real["open"](path, flags, *more, **other))

            number = does(Op(CREATE, name), call) if is_new else call()
            names[number] = name
            return int(number)

        def pwrite(file: int, data: bytes, at: int) -> int:
            op = Op(WRITE, names[file], at, bytes(data))
            return int(does(op, lambda: real["pwrite"](file, data, at)))

        def ftruncate(file: int, size: int) -> None:
            does(Op(TRUNCATE, names[file], size), lambda: real["ftruncate"](file, size))

        def fsync(file: int) -> None:
            name = os.readlink(f"/proc/self/fd/{file}")
            if os.path.isdir(name):
                does(Op(SYNC_FOLDER, name), lambda: real["fsync"](file))
                return
            if names.get(file) != name:  # of a file that Python wrote: all of it, as it is
                content = Path(name).read_bytes()
                does(Op(CREATE, name), lambda: None)
                does(Op(WRITE, name, 0, content), lambda: None)
            does(Op(SYNC, name), lambda: real["fsync"](file))

        def fdatasync(file: int) -> None:
            does(Op(SYNC, names[file]), lambda: real["fdatasync"](file))

        def replace(source: Any, target: Any) -> None:
            op = Op(RENAME, os.path.abspath(source), to=os.path.abspath(target))
            does(op, lambda: real["replace"](source, target))

        def mkdir(path: Any, *more: Any) -> None:
            does(Op(FOLDER, os.path.abspath(path)), lambda: real["mkdir"](path, *more))

        for function in (pwrite, ftruncate, fsync, fdatasync, replace, mkdir):
            setattr(os, function.__name__, function)
        os.open = opened


class _Vfs(apsw.VFS):
    def __init__(self, shim: Shim) -> None:
        super().__init__("told", "unix", makedefault=True)
        self.shim = shim

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _File(self.shim, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:
        self.shim.does(Op(DELETE, name), lambda: super(_Vfs, self).xDelete(name, sync))


class _File(apsw.VFSFile):
    def __init__(self, shim: Shim, name: Any, flags: list[int]) -> None:
        self.shim = shim
        self.name = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        is_new = not os.path.exists(self.name)

        def call() -> None:
            super(_File, self).__init__("unix", name, flags)

        if is_new:
            shim.does(Op(CREATE, self.name), call)
        else:
            call()

    def xWrite(self, data: Any, offset: int) -> None:
        op = Op(WRITE, self.name, offset, bytes(data))
        self.shim.does(op, lambda: super(_File, self).xWrite(data, offset))

    def xTruncate(self, newsize: int) -> None:
        op = Op(TRUNCATE, self.name, newsize)
        self.shim.does(op, lambda: super(_File, self).xTruncate(newsize))

    def xSync(self, flags: int) -> None:
        # SQLite's own layer syncs the folder too with the first sync of a new file
        op = Op(SYNC, self.name, at=1)
        self.shim.does(op, lambda: super(_File, self).xSync(flags))
