"""Writes files and folders so that they are on disk, and keeps a folder to one process."""

from __future__ import annotations

import contextlib
import fcntl
import os
import statistics
import tempfile
import time
from pathlib import Path

from tamis.errors import TamisError

_LOCK = "lock"


def sync_folder(folder: Path) -> None:
    """Sees to it that the names in a folder are on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_synced(path: Path, content: bytes) -> None:
    """Writes a file that is whole and on disk, or not there; its folder is synced too."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(beside, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        os.replace(beside, path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    sync_folder(path.parent)


def flush_seconds(folder: Path, times: int = 16) -> float:
    """Measures what a flush takes at the least in a folder: a block that is written and synced."""
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        taken = []
        for _ in range(times):
            file.write(bytes(4096))
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - began)
    return statistics.median(taken)


class FolderLock:
    """The right to use a folder, of one process at a time; the kernel ends it with the process."""

    def __init__(self, folder: Path, user: str, error: type[TamisError]) -> None:
        path = folder / _LOCK
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._file, 32, 0).decode(errors="replace").strip()
            os.close(self._file)
            raise error(
                f"{folder} is in use by another {user} (process {holder or 'unknown'})"
            ) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        """Lets another process use the folder."""
        os.close(self._file)
