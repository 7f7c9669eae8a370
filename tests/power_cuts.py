"""Records what is written to files and synced, and makes what a power cut may leave of it.

Whoever writes tells a `Trace`: a `TracedDisk` does it for what goes through `tamis.files.disk`, and
a layer over another library's files may do it alike. A cut falls after any operation. What was
synced is there; of what was not, by each file: the first writes, the last of them torn, or any
sectors of any of them; names that were given since their folder was synced, or not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tamis.files.disk import Disk, DiskFile

SECTOR = 512


@dataclass(frozen=True)
class Operation:
    """What was done: `create`, `write`, `truncate`, `sync`, `replace`, `sync_folder` or `mark`."""

    kind: str
    path: str = ""
    offset: int = 0
    content: bytes = b""
    other: str = ""


class Trace:
    """Operations in their order."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []

    def take(self, kind: str, path: Path | str = "", **more: object) -> None:
        """Takes an operation that was done."""
        self.operations.append(Operation(kind, str(path), **more))  # type: ignore[arg-type]

    def mark(self, label: str) -> None:
        """Notes what somebody was told by now."""
        self.take("mark", other=label)


class _TracedFile(DiskFile):
    def __init__(self, path: Path, trace: Trace, is_synced: bool) -> None:
        super().__init__(path)
        self._trace, self._is_synced = trace, is_synced

    def write(self, offset: int, content: bytes) -> None:
        super().write(offset, content)
        self._trace.take("write", self.path, offset=offset, content=bytes(content))

    def truncate(self, size: int) -> None:
        super().truncate(size)
        self._trace.take("truncate", self.path, offset=size)

    def sync(self) -> None:
        if self._is_synced:
            self._trace.take("sync", self.path)


class TracedDisk(Disk):
    """A disk that tells a trace; one that is not synced forgets to sync: the control."""

    def __init__(self, trace: Trace, is_synced: bool = True) -> None:
        self._trace, self._is_synced = trace, is_synced

    def open(self, path: Path) -> DiskFile:
        if not path.exists():
            self._trace.take("create", path)
        return _TracedFile(path, self._trace, self._is_synced)

    def replace(self, old: Path, new: Path) -> None:
        super().replace(old, new)
        self._trace.take("replace", old, other=str(new))

    def sync_folder(self, folder: Path) -> None:
        if self._is_synced:
            self._trace.take("sync_folder", folder)


@dataclass
class _File:
    content: bytearray = field(default_factory=bytearray)
    """What is on disk."""
    pending: list[Operation] = field(default_factory=list)


class _Machine:
    """What is on disk, and what is not yet."""

    def __init__(self) -> None:
        self.names: dict[str, _File] = {}
        self.synced_names: dict[str, _File] = {}
        self.renaming: list[dict[str, _File]] = []
        """The names as they were after each operation on them since their folder was synced."""

    def do(self, what: Operation) -> None:
        """Does an operation."""
        if what.kind == "create":
            self.names[what.path] = _File()
            self.renaming.append(dict(self.names))
        elif what.kind == "replace":
            self.names[what.other] = self.names.pop(what.path)
            self.renaming.append(dict(self.names))
        elif what.kind == "sync_folder":
            self.synced_names, self.renaming = dict(self.names), []
        elif what.kind == "sync":
            file = self.names[what.path]
            for each in file.pending:
                _apply(file.content, each)
            file.pending = []
        elif what.kind in ("write", "truncate"):
            self.names[what.path].pending.append(what)

    def cut(self, chance: random.Random) -> dict[str, bytes]:
        """What may be there after a power cut."""
        names = chance.choice([self.synced_names, *self.renaming])
        return {name: _left(file, chance) for name, file in names.items()}


def _apply(content: bytearray, what: Operation, sectors: set[int] | None = None) -> None:
    if what.kind == "truncate":
        del content[what.offset :]
        content.extend(bytes(what.offset - len(content)))
        return
    for start in range(0, len(what.content), SECTOR):
        if sectors is None or start // SECTOR in sectors:
            part = what.content[start : start + SECTOR]
            at = what.offset + start
            content.extend(bytes(max(0, at + len(part) - len(content))))
            content[at : at + len(part)] = part


def _left(file: _File, chance: random.Random) -> bytes:
    """What may be left of a file: a prefix of what was not synced, the last torn, or any of it."""
    content = bytearray(file.content)
    if not file.pending:
        return bytes(content)
    if chance.random() < 0.5:
        end = chance.randint(0, len(file.pending))
        for each in file.pending[:end]:
            _apply(content, each)
        torn = file.pending[end : end + 1]
    else:
        torn = file.pending
    for each in torn:
        if each.kind == "truncate":
            if chance.random() < 0.5:
                _apply(content, each)
            continue
        share = chance.choice([0.0, 0.1, 0.5, 0.9, 1.0])
        count = -(-len(each.content) // SECTOR)
        _apply(content, each, {at for at in range(count) if chance.random() < share})
    return bytes(content)


def cuts(
    trace: Trace, points: Sequence[int], chance: random.Random
) -> Iterator[tuple[dict[str, bytes], list[str]]]:
    """Yields what a cut after so many operations may leave, and the marks up to there."""
    machine, marks, done = _Machine(), list[str](), 0
    for point in sorted(points):
        for what in trace.operations[done:point]:
            if what.kind == "mark":
                marks.append(what.other)
            machine.do(what)
        done = max(done, point)
        yield machine.cut(chance), list(marks)
