"""Adds what was learned to what a folder holds, and lets what is old be forgotten.

A folder is the sum of parts where one ages out: a part for each folder of a partition (`day=…`),
or each file elsewhere. Invariant: the folder says which files were counted, forgotten or not.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Mapping
from functools import reduce
from pathlib import Path

from tamis.errors import StatisticsError
from tamis.learning.inputs import Input, plain
from tamis.learning.lesson import Lesson
from tamis.operators.code import is_other_code
from tamis.statistics import Statistics
from tamis.statistics.folder import generation_of, load_parts, recover, save

_WHOLE = "before"
_KEY = re.compile("(?<=/)([^/=]+)=[^/]*(?=/)")
"""Of a folder of a partition."""


class FolderLedger:
    """Keeps a folder of statistics, and adds to it."""

    def __init__(self, folder: str, *, append: bool, forget_seconds: float | None = None) -> None:
        self._folder = Path(folder)
        recover(self._folder)
        self._generation = generation_of(self._folder)
        self._forget = forget_seconds
        self.undivided = 0
        """Of the events that `add` kept, those that are older and can be forgotten only together
        with later ones: they were counted before anything was to be forgotten."""
        is_there = append and (self._folder / "manifest.json").exists()
        self.before = Statistics.load(folder) if is_there else None
        self._parts: dict[str, Statistics] = {}
        if self.before is not None:
            self._parts = load_parts(self._folder)
            if not self._parts and forget_seconds is not None:
                self._parts = {_WHOLE: self.before}

    @property
    def in_parts(self) -> bool:
        """True if what is added ages out by itself."""
        return self._forget is not None or bool(self._parts)

    @property
    def inputs(self) -> list[dict[str, object]]:
        """The files that were counted."""
        return [] if self.before is None else self.before.about.get("inputs", [])

    @property
    def last(self) -> float | None:
        """The latest time that was counted, in seconds since 1970."""
        stretch = None if self.before is None else self.before.stretch
        return None if stretch is None else stretch[1]

    def unknown(self, lesson: Lesson) -> int:
        """Counts the predicates and tests that were not asked of what was counted."""
        known = self.before.predicates if self.before is not None else {}
        return sum(text not in known for text in (*lesson.texts, *lesson.task.tests))

    def check(self, lesson: Lesson, *, same_operators: bool = False) -> None:
        """Refuses to add what operators do to what was counted otherwise, or of other operators."""
        before = self.before
        if before is None:
            return
        so = "learn into a new folder, without --append"
        if not before.is_conditional and any(test.necessary for test in lesson.tests):
            raise StatisticsError(
                f"{self._folder} was learned before operators could declare what is necessary, and "
                f"counts their tests otherwise: {so}"
            )
        zones = before.about.get("time_zone"), lesson.task.time_zone
        if zones[0] != zones[1] and "operators" in before.about:
            known, zone = (each or "the zones of the events" for each in zones)
            raise StatisticsError(
                f"{self._folder} was learned in {known}, and this is {zone}: {so}"
            )
        versions, codes = (before.about.get(each, {}) for each in ("operators", "codes"))
        for name, version in lesson.versions.items():
            if versions.get(name, version) != version:
                raise StatisticsError(
                    f"{self._folder} was learned with version {versions[name]} of {name}, and this "
                    f"is version {version}: {so}"
                )
        for name, code in lesson.codes.items():
            if name in codes and is_other_code(codes[name], code) and not same_operators:
                raise StatisticsError(
                    f"{self._folder} was learned with other code of {name}, which has version "
                    f"{lesson.versions[name]} still: give it a new version and {so}, or say that "
                    "it answers the same (--same-operators)"
                )

    def add(self, learned: Mapping[str, Statistics], inputs: Mapping[str, list[Input]]) -> int:
        """Adds what was learned of groups of files, and publishes all; how many are forgotten."""
        for group, each in learned.items():
            each.about["inputs"] = plain(inputs.get(group, []))
        new = {uuid.uuid4().hex[:12]: each for each in learned.values()}
        parts = {**self._parts, **new}
        before = [] if self.in_parts or self.before is None else [self.before]
        ends = {name: each.stretch[1] for name, each in parts.items() if each.stretch is not None}
        forgotten: set[str] = set()
        if self._forget is not None and ends:
            oldest = max(ends.values()) - self._forget
            forgotten = {name for name, end in ends.items() if end < oldest}
            together = parts.get(_WHOLE)
            if together is not None and together.stretch is not None and _WHOLE not in forgotten:
                self.undivided = (together.events or 0) if together.stretch[0] < oldest else 0
        if not learned and not forgotten:
            return 0
        kept = {name: each for name, each in parts.items() if name not in forgotten}
        whole = reduce(Statistics.merged, [*before, *kept.values()])
        whole.about["inputs"] = [
            *self.inputs,
            *(each for found in new.values() for each in found.about["inputs"]),
        ]
        keys = {key for each in whole.about["inputs"] for key in _KEY.findall(each["name"])}
        whole.about["partitions"] = sorted(keys)
        if generation_of(self._folder) != self._generation:
            raise StatisticsError(
                f"{self._folder} was written by another job meanwhile: nothing of this one is kept"
            )
        there = {name for name in self._parts if (self._folder / "parts" / name).exists()}
        written = {name: None if name in there else each for name, each in kept.items()}
        save(whole, self._folder, written if self.in_parts else None)
        return sum(parts[name].events or 0 for name in forgotten)


def group_of(file: str) -> str:
    """Names the group a file ages out with: its partition folder where it has one, else itself."""
    folder = os.path.dirname(os.path.abspath(file))
    return folder if any("=" in each for each in folder.split(os.sep)) else file
