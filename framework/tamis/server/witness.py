"""Remembers, outside of the log, up to where it was written.

Recovery of a write-ahead log ends without a word at its first bad frame: what came after it is
gone, and nothing in the database says so. The witness does: after each commit and before its
acknowledgement it takes the number of the commit, the position and the hash of the last entry.
Invariant: it never runs ahead of the log, and one of its two slots is whole at any moment.
It is synced once a second and not with each commit, which would halve their number: after a kill
it is exact, after a power cut it may be that much older.
"""

from __future__ import annotations

import os
import struct
import time
import zlib
from pathlib import Path
from typing import NamedTuple

from tamis.files.disk import sync_folder
from tamis.server.errors import LogError

NAME = "witness"
FORMAT_VERSION = 1
_FIELDS = struct.Struct("<8sIQQ32s")
_CHECKSUM = struct.Struct("<I")
_NO_CHECKSUM = bytes(_CHECKSUM.size)
_MAGIC = b"tamislog"
_SLOT_BYTES = 512
"""A sector each, so that writing one never harms the other."""
_SYNC_SECONDS = 1.0


class Mark(NamedTuple):
    """Tells how far a log was written."""

    commits: int
    position: int
    hash: bytes


class Witness:
    """The file of the marks."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        is_new = not self.path.exists()
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        self._synced = 0.0
        if is_new:
            os.pwrite(self._file, bytes(2 * _SLOT_BYTES), 0)  # a full disk has room for marks
            os.fsync(self._file)
            sync_folder(folder)

    def read(self) -> Mark | None:
        """Returns the latest mark; `None` where none was ever made. `LogError` where all are
        damaged."""
        content = os.pread(self._file, 2 * _SLOT_BYTES, 0)
        slots = (content[:_SLOT_BYTES], content[_SLOT_BYTES:])
        marks = [mark for slot in slots if (mark := _mark(slot)) is not None]
        if marks:
            return max(marks)
        if content.strip(b"\0"):
            raise LogError(
                f"{self.path} is damaged: nothing says whether the log beside it is whole. "
                f"Restore a backup, or remove {self.path} to use the log as it is"
            )
        return None

    def write(self, mark: Mark) -> None:
        """Takes the mark of a commit that is on disk."""
        fields = _FIELDS.pack(_MAGIC, FORMAT_VERSION, *mark)
        slot = fields + _CHECKSUM.pack(_checksum(fields))
        os.pwrite(self._file, slot, mark.commits % 2 * _SLOT_BYTES)
        now = time.monotonic()
        if now - self._synced >= _SYNC_SECONDS:
            self.sync()
            self._synced = now

    def sync(self) -> None:
        """Sees to it that the last mark is on disk."""
        os.fdatasync(self._file)

    def close(self) -> None:
        """Syncs and closes the file."""
        self.sync()
        os.close(self._file)


def _mark(slot: bytes) -> Mark | None:
    """Returns what a slot holds, if it is whole."""
    if len(slot) < _FIELDS.size + _CHECKSUM.size:
        return None
    magic, version, *mark = _FIELDS.unpack_from(slot)
    (checksum,) = _CHECKSUM.unpack_from(slot, _FIELDS.size)
    if magic != _MAGIC or checksum != _checksum(slot[: _FIELDS.size]):
        return None
    if version > FORMAT_VERSION:
        raise LogError(
            f"the witness of the log is of format {version}, and this tamis reads format "
            f"{FORMAT_VERSION}: use the tamis that wrote it"
        )
    return Mark(*mark)


def _checksum(fields: bytes) -> int:
    """Returns the checksum of a slot, for which it is itself zero."""
    return zlib.crc32(_NO_CHECKSUM, zlib.crc32(fields))
