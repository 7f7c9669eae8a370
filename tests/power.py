"""Lists the states of a disk after a power failure: what was synced, and any part of the rest.

A write that was not synced is there or not, sector by sector; a name that was not synced in its
folder is there or not.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tamis.files import disk

WRITE, TRUNCATE, SYNC, DELETE = "write", "truncate", "sync", "delete"
CREATE, FOLDER, RENAME, SYNC_FOLDER = "create", "folder", "rename", "sync folder"
_SECTOR = 512


class Op(NamedTuple):
    """A call that changes what is on disk, or says that it has to be there."""

    kind: str
    path: str
    at: int = 0
    data: bytes = b""
    to: str = ""


class _File:
    """What is on disk for certain, and what is on its way."""

    def __init__(self) -> None:
        self.synced = bytearray()
        self.pending: list[Op] = []

    def sync(self) -> None:
        for op in self.pending:
            _apply(self.synced, op)
        self.pending.clear()

    def left(self, chance: random.Random, share: float) -> bytes:
        """What may be found."""
        content = bytearray(self.synced)
        for op in self.pending:
            if op.kind == TRUNCATE or not op.data:
                if chance.random() < share:
                    _apply(content, op)
                continue
            for start in range(0, len(op.data), _SECTOR):
                if chance.random() < share:
                    part = op.data[start : start + _SECTOR]
                    _apply(content, op._replace(at=op.at + start, data=part))
        return bytes(content)


def _apply(content: bytearray, op: Op) -> None:
    if op.kind == TRUNCATE:
        del content[op.at :]
        content.extend(bytes(op.at - len(content)))
        return
    content.extend(bytes(max(0, op.at - len(content))))
    content[op.at : op.at + len(op.data)] = op.data


class Disk:
    """Files by their names, those that are certain and those that are not."""

    def __init__(self) -> None:
        self._certain: dict[str, _File] = {}
        self._names: dict[str, _File] = {}
        self._folders: set[str] = set()

    def take(self, op: Op) -> None:
        """Follows a call that was done."""
        names = self._names
        if op.kind == CREATE:
            names[op.path] = _File()
        elif op.kind in (WRITE, TRUNCATE):
            names[op.path].pending.append(op)
        elif op.kind == SYNC:
            names[op.path].sync()
            if op.at:
                self._certain[op.path] = names[op.path]
        elif op.kind == DELETE:
            names.pop(op.path, None)
        elif op.kind == RENAME:
            names[op.to] = names.pop(op.path)
        elif op.kind == FOLDER:
            self._folders.add(op.path)
        elif op.kind == SYNC_FOLDER:
            self._sync_folder(op.path)

    def _sync_folder(self, folder: str) -> None:
        for names in (self._certain, self._names):
            for path in [path for path in names if os.path.dirname(path) == folder]:
                if names is self._certain and path not in self._names:
                    del names[path]
                elif names is self._names:
                    self._certain[path] = names[path]

    def cut(self, chance: random.Random, source: str, target: Path) -> None:
        """Writes to a folder what is left of another one when the power fails now."""
        share = chance.choice((0.0, 0.5, 0.9, 1.0))
        target.mkdir()
        for folder in sorted(self._folders):
            (target / os.path.relpath(folder, source)).mkdir(parents=True, exist_ok=True)
        for path in sorted(self._certain.keys() | self._names.keys()):
            certain, now = self._certain.get(path), self._names.get(path)
            file = now if chance.random() < share else certain
            if file is not None:
                place = target / os.path.relpath(path, source)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.left(chance, share))


class TracedDisk(disk.Disk):
    """Files that tell of each call; without syncs, for a control, those are left out."""

    def __init__(self, tell: Callable[[Op], None], *, is_synced: bool = True) -> None:
        self.tell, self.is_synced = tell, is_synced

    def open(self, path: Path) -> disk.DiskFile:
        if not path.exists():
            self.tell(Op(CREATE, str(path)))
        return _TracedFile(path, self)

    def replace(self, old: Path, new: Path) -> None:
        super().replace(old, new)
        self.tell(Op(RENAME, str(old), to=str(new)))

    def sync_folder(self, folder: Path) -> None:
        if self.is_synced:
            self.tell(Op(SYNC_FOLDER, str(folder)))


class _TracedFile(disk.DiskFile):
    def __init__(self, path: Path, traced: TracedDisk) -> None:
        super().__init__(path)
        self._traced = traced

    def write(self, offset: int, content: bytes) -> None:
        super().write(offset, content)
        self._traced.tell(Op(WRITE, str(self.path), offset, bytes(content)))

    def truncate(self, size: int) -> None:
        super().truncate(size)
        self._traced.tell(Op(TRUNCATE, str(self.path), size))

    def sync(self) -> None:
        if self._traced.is_synced:
            self._traced.tell(Op(SYNC, str(self.path)))
