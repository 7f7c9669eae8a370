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
_FLUSHES = 16


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


def flush_seconds(folder: Path) -> float:
    """Measures what a flush takes at the least in a folder: a block that is written and synced."""
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        taken = []
        for _ in range(_FLUSHES):
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


class DiskFile:
    """A file that is read and written at places; what is written is on disk when it is synced."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def read(self, offset: int, size: int) -> bytes:
        """Returns so many bytes, fewer at the end."""
        return os.pread(self._file, size, offset)

    def write(self, offset: int, content: bytes) -> None:
        """Writes all of it, or raises `OSError`."""
        left = memoryview(content)
        while left:
            written = os.pwrite(self._file, left, offset)
            left, offset = left[written:], offset + written

    def truncate(self, size: int) -> None:
        """Makes the file that long."""
        os.ftruncate(self._file, size)

    def sync(self) -> None:
        """Sees to it that what was written is on disk."""
        os.fdatasync(self._file)

    @property
    def size(self) -> int:
        """The size in bytes."""
        return os.fstat(self._file).st_size

    def close(self) -> None:
        """Closes the file."""
        file, self._file = self._file, -1
        os.close(file)


class Disk:
    """Opens and moves files; tests that want to see writes, or make one fail, have their own."""

    def open(self, path: Path) -> DiskFile:
        """Opens a file, an empty one where there is none."""
        return DiskFile(path)

    def replace(self, old: Path, new: Path) -> None:
        """Gives a file another name, in the place of what had it."""
        os.replace(old, new)

    def sync_folder(self, folder: Path) -> None:
        """Sees to it that the names in a folder are on disk."""
        sync_folder(folder)


class _ScratchFile(DiskFile):
    def sync(self) -> None:
        """Leaves it to the system: nobody needs the file when the process has ended."""


class ScratchDisk(Disk):
    """A disk for files that end with the process."""

    def open(self, path: Path) -> DiskFile:
        """Opens a file that is never waited for."""
        return _ScratchFile(path)

    def sync_folder(self, folder: Path) -> None:
        """Leaves it to the system."""
