"""Measures what each index costs on the same events, and holds its answers against the scan.

Events are made anew for every pass, so that none finds values that another one has read; the least
of several passes counts. One index is held at a time.
Cost: a build and some passes of each index.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tamis.advising.chosen import ReadEvent
from tamis.event import DerivedAttribute, Event
from tamis.index.disjunctions import taking_disjunctions
from tamis.indexing import Entry, Index, IndexRecord, Rows
from tamis.statistics import Statistics

REFERENCE = "scan"
_PASSES = 3
_FEW = 64
_SOME = 200


@dataclass
class IndexCost:
    """The cost of an index."""

    index: str
    build_seconds: float = 0.0
    event_seconds: float = 0.0
    nbytes: int = 0
    alternatives: float = 0.0
    """The mean number that it finds for an event."""
    checked: float = 0.0
    """Rows that it checks, in the mean of the events."""
    checked_unlearned: float = 0.0
    """The same without statistics."""
    wrong: int = 0
    """Events for which it answers otherwise than the scan."""
    trouble: str = ""
    """The error that it raised."""
    choice: str = ""
    """The chosen index, and why, where it is one of several."""

    @property
    def is_broken(self) -> bool:
        """True if it cannot be used."""
        return bool(self.wrong or self.trouble)


@dataclass
class IndexTrial:
    """Subscriptions and events on which indexes are tried."""

    _entries: Sequence[Entry]
    _documents: Sequence[ReadEvent]
    _derived: Mapping[str, DerivedAttribute]
    _statistics: Statistics
    _seconds: float
    _expected: list[Rows] = field(default_factory=list)
    events: int = 0
    """As many as the scan answers in the time that there is."""

    def costs(self, records: Mapping[str, IndexRecord]) -> list[IndexCost]:
        """Returns the costs of each, the reference first."""
        names = sorted(records, key=lambda name: (name != REFERENCE, name))
        return [self._cost_of(records[name]) for name in names]

    def _cost_of(self, record: IndexRecord) -> IndexCost:
        cost = IndexCost(record.name)
        try:
            self._warm(_made(record))
            index = _made(record)
            index.inform(self._statistics)
            begun = time.thread_time()
            index.build(self._entries)
            cost.build_seconds = time.thread_time() - begun
            for document in self._documents[:1]:
                index.match(document.event(self._derived))
            found, seconds = self._passed(index)
            cost.nbytes, cost.choice = index.nbytes, index.choice
            cost.checked = self._checked(index)
            cost.checked_unlearned = cost.checked
            if self._statistics and record.name != REFERENCE:
                index = _made(record)
                index.build(self._entries)
                cost.checked_unlearned = self._checked(index)
        except Exception as problem:
            cost.trouble = f"{type(problem).__name__}: {problem}"[:200]
            return cost
        if not self.events:
            self._expected, self.events = found, len(found)
        cost.event_seconds = seconds / max(1, len(found))
        cost.alternatives = float(np.mean([len(each) for each in found])) if found else 0.0
        cost.wrong = sum(
            not np.array_equal(mine, theirs)
            for mine, theirs in zip(found, self._expected, strict=True)
        )
        return cost

    def _checked(self, index: Index) -> float:
        """Returns how many rows an index checks for one of the first events."""
        some = [each.event(self._derived) for each in self._documents[:_SOME]]
        return float(np.mean([index.search(event).checked for event in some])) if some else 0.0

    def _warm(self, index: Index) -> None:
        """Uses an index of some rows: kernels are made when first used."""
        index.build(self._entries[:_FEW])
        for document in self._documents[:1]:
            index.match(document.event(self._derived))

    def _passed(self, index: Index) -> tuple[list[Rows], float]:
        """Returns the answers, and the seconds of the fastest pass."""
        least, found = float("inf"), []
        documents = self._documents[: self.events or None]
        begun = time.perf_counter()
        for number in range(_PASSES):
            if number and time.perf_counter() - begun > self._seconds:
                break
            events = [document.event(self._derived) for document in documents]
            rows, seconds = _timed(index, events, None if self.events else self._seconds)
            if not number:
                found = [np.sort(each) for each in rows]
                documents = documents[: len(rows)]
            least = min(least, seconds)
        return found, 0.0 if least == float("inf") else least


def _made(record: IndexRecord) -> Index:
    return taking_disjunctions(record.made({}))


def _timed(
    index: Index, events: Sequence[Event], most_seconds: float | None
) -> tuple[list[Rows], float]:
    found = []
    begun, used = time.perf_counter(), time.thread_time()
    for event in events:
        found.append(index.match(event))
        if most_seconds is not None and time.perf_counter() - begun > most_seconds:
            break
    return found, time.thread_time() - used
