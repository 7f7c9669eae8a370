"""Chooses the events of a history that are looked at: those of the least hashes, in order.

Which they are follows from the events alone, not from their order or how they are cut into files.
Cost: O(events read), and the events that are kept.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tamis.errors import EventError
from tamis.event import DerivedAttribute, Event
from tamis.learning.learner import number_of

_WHOLE = 1 << 64


@dataclass(frozen=True, slots=True)
class ReadEvent:
    """An event as it was read."""

    content: Mapping[str, Any]
    folder: str = ""
    id: str = ""
    """That of one that has none."""

    def event(self, derived: Mapping[str, DerivedAttribute]) -> Event:
        """Returns the event, of which nothing was looked at yet."""
        return Event.of(self.content, lambda: self.id, derived, self.folder)


class EventChoice:
    """Chooses among the events of a history, and sees which attributes any of them has."""

    def __init__(
        self,
        share: float,
        most: int,
        attributes: Iterable[str] = (),
        derived: Mapping[str, DerivedAttribute] | None = None,
    ) -> None:
        self.read = 0
        self.rejected = 0
        self.first_reject = ""
        self._bound = round(share * _WHOLE)
        self._most = most
        self._derived = {} if derived is None else derived
        self._unseen = set(attributes)
        self._kept: list[tuple[int, int, ReadEvent]] = []

    def add(self, document: object, folder: str = "", id: str = "") -> None:
        """Takes what was read; what is no event is counted."""
        try:
            event = Event.of(document, lambda: id, self._derived, folder)
        except EventError as bad:
            self.reject(f"{id}: {bad}")
            return
        self.read += 1
        if self._unseen:
            self._unseen -= {name for name in self._unseen if event.present(name)}
        number = number_of(event)
        if number >= self._bound:
            return
        assert isinstance(document, Mapping)
        # the heap gives away the largest hash; of equal ones the later event
        entry = (-number, -self.read, ReadEvent(document, folder, id))
        if len(self._kept) < self._most:
            heapq.heappush(self._kept, entry)
        elif entry[:2] > self._kept[0][:2]:
            heapq.heapreplace(self._kept, entry)

    def add_lines(self, lines: Iterable[Any]) -> Iterable[int]:
        """Takes the lines of files; counts them as it goes."""
        for line in lines:
            place = f"{os.path.basename(line.file)}:{line.number}"
            if line.reason is not None:
                self.reject(f"{place}: {line.reason}")
            else:
                self.add(line.document, os.path.dirname(line.file), place)
            yield self.read

    def reject(self, reason: str) -> None:
        """Counts what holds no event."""
        self.rejected += 1
        self.first_reject = self.first_reject or reason

    @property
    def absent(self) -> list[str]:
        """The attributes that no event has."""
        return sorted(self._unseen)

    @property
    def documents(self) -> list[ReadEvent]:
        """The chosen events, in the order of history."""
        return [document for _, _, document in sorted(self._kept, key=lambda each: -each[1])]
