"""Knows which files were counted into a folder of statistics, so that none is counted twice.

A file is known by its name, its size and the fingerprint of its ends; what only Spark can read by
its name, its size and its time. A file that is counted for a stretch of time is counted for that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from tamis.errors import StatisticsError
from tamis.learning.learner import TimeStretch
from tamis.words import counted

_END_BYTES = 1 << 16


@dataclass(frozen=True)
class Input:
    """A file as it was when it was counted, and for which stretch of time."""

    name: str
    size: int
    time: float
    fingerprint: str = ""
    since: float | None = None
    until: float | None = None

    @classmethod
    def of(cls, file: str, window: TimeStretch, name: str | None = None) -> Input:
        """Returns a file as it is; `name` is for one that stands for another."""
        status = os.stat(file)
        digest = blake2b(digest_size=16)
        with open(file, "rb") as content:
            digest.update(content.read(_END_BYTES))
            content.seek(max(content.tell(), status.st_size - _END_BYTES))
            digest.update(content.read())
        name = os.path.abspath(file) if name is None else name
        bounds = window.since, window.until
        return cls(name, status.st_size, status.st_mtime, digest.hexdigest(), *bounds)

    @property
    def window(self) -> TimeStretch:
        """For which stretch of time it was counted."""
        return TimeStretch(self.since, self.until)

    def is_same(self, other: Input) -> bool:
        """Returns whether two of one name hold the same."""
        by = ("size", "fingerprint") if self.fingerprint else ("size", "time")
        return all(getattr(self, each) == getattr(other, each) for each in by)


class UncountedFiles(NamedTuple):
    """Files that are to be counted, and how many were counted before."""

    fresh: list[str]
    inputs: list[Input]
    skipped: int


def sifted(
    files: Mapping[str, Input], before: Iterable[Mapping[str, Any]], *, grows: bool
) -> UncountedFiles:
    """Returns the files that were not counted before, refusing those that were in part.

    `grows` says that only what came later is counted: then files may be others than before."""
    known: dict[str, list[Input]] = {}
    for each in before:
        known.setdefault(each["name"], []).append(Input(**each))
    fresh: dict[str, Input] = {}
    changed: list[str] = []
    partly: list[str] = []
    for file, found in files.items():
        others = known.get(found.name, [])
        same = [each for each in others if each.is_same(found)]
        if any(each.window.covers(found.window) for each in same):
            continue
        fresh[file] = found
        if grows or not any(each.window.meets(found.window) for each in others):
            continue
        if same:
            partly.append(found.name)
        elif found.fingerprint and os.path.isabs(found.name):
            changed.append(found.name)
    for names, how in (
        (changed, "has changed since it was counted"),
        (partly, "was counted for a stretch of time that overlaps with this one"),
    ):
        if names:
            more = f" (and {counted(len(names) - 1, 'more file')})" if len(names) > 1 else ""
            raise StatisticsError(
                f"{names[0]} {how}{more}: --since last counts later events only, --again counts "
                "all of it once more"
            )
    return UncountedFiles(list(fresh), list(fresh.values()), len(files) - len(fresh))


def plain(inputs: Sequence[Input]) -> list[dict[str, Any]]:
    """Inputs as the manifest has them."""
    return [{k: v for k, v in asdict(each).items() if v is not None} for each in inputs]
