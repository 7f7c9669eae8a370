"""Holds what was counted of some events: counts add up, and travel as bytes."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from tamis.learning.calls import CallCounts
from tamis.spaces.attribute import AttributeSpaces, Marks


@dataclass
class Counts:
    """The counts of one part of history."""

    events: int = 0
    rejects: int = 0
    passed_over: int = 0
    """Events outside of the window of time."""
    attributes: dict[str, AttributeSpaces] = field(default_factory=dict)
    calls: CallCounts | None = None
    first_reject: str = ""

    def merged(self, other: Counts) -> Counts:
        """Returns the counts of both."""
        attributes = dict(self.attributes)
        for name, spaces in other.attributes.items():
            mine = attributes.get(name)
            attributes[name] = spaces if mine is None else mine.merged(spaces)
        calls = self.calls if other.calls is None else other.calls
        if self.calls is not None and other.calls is not None:
            calls = self.calls.merged(other.calls)
        return Counts(
            self.events + other.events,
            self.rejects + other.rejects,
            self.passed_over + other.passed_over,
            attributes,
            calls,
            self.first_reject or other.first_reject,
        )

    def packed(self, marks: Mapping[str, Marks]) -> bytes:
        """Returns the counts as bytes, without the marks at which they were counted."""
        for name in marks:
            if name in self.attributes:
                self.attributes[name].marks = _NO_MARKS
        return pickle.dumps(self, protocol=5)

    @staticmethod
    def unpacked(content: bytes, marks: Mapping[str, Marks]) -> Counts:
        """Reads what `packed` gave, at the same marks."""
        counts: Counts = pickle.loads(content)
        for name, mine in marks.items():
            if name in counts.attributes:
                counts.attributes[name].take_marks(mine)
        return counts


_NO_MARKS = Marks()


def merged(several: Iterable[Counts]) -> Counts:
    """Returns the counts of all."""
    return reduce(Counts.merged, several, Counts())


def plain_reject(line: dict[str, Any]) -> str:
    """Returns a rejected line in a sentence."""
    place = f"{line['file']}:{line['line']}: " if line.get("line") else ""
    return f"{place}{line['reason']}"
