"""Learns from events: reads them as a match does, counts them, asks about some.

Whether an event is in the sample follows from its id and its time alone, so that it is the same
whoever reads it, and in whatever order. Events without an id are known by their content.
Cost: that of gathering; for an event of the sample, that of its calls.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from tamis.calling.memo import DEFAULT_BYTES, Memo
from tamis.errors import EventError
from tamis.event import DerivedAttribute, Event
from tamis.event.clock import derived_in, zone_of
from tamis.files.reading import FileLine
from tamis.index.needles import Needles
from tamis.index.patterns import Patterns
from tamis.learning.calls import Observer
from tamis.learning.counts import Counts, plain_reject
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.operators.asking import Operators
from tamis.operators.shipping import unpacked
from tamis.plugins.loader import installed
from tamis.spaces.attribute import NEEDLE, PATTERN, Marks
from tamis.statistics.counting import ElementFinder
from tamis.statistics.gathering import Gatherer

_WHOLE = 1 << 64


@dataclass(frozen=True)
class TimeStretch:
    """A stretch of time, in seconds since 1970: from the first on, and before the second."""

    since: float | None = None
    until: float | None = None

    def __bool__(self) -> bool:
        return self.since is not None or self.until is not None

    def holds(self, epoch: object) -> bool:
        """Returns whether a moment is in it; what has no time never is."""
        if not isinstance(epoch, (int, float)):
            return False
        if self.since is not None and epoch < self.since:
            return False
        return self.until is None or epoch < self.until

    @property
    def _ends(self) -> tuple[float, float]:
        since, until = self.since, self.until
        return -math.inf if since is None else since, math.inf if until is None else until

    def covers(self, other: TimeStretch) -> bool:
        """Returns whether all of another one is in it."""
        (since, until), (begin, end) = self._ends, other._ends
        return since <= begin and end <= until

    def meets(self, other: TimeStretch) -> bool:
        """Returns whether any of another one is in it."""
        (since, until), (begin, end) = self._ends, other._ends
        return max(since, begin) < min(until, end)


@dataclass(frozen=True)
class Task:
    """The things to count, in a form that travels to other processes."""

    marks: Mapping[str, Marks] = field(default_factory=dict)
    tests: tuple[str, ...] = ()
    operators: bytes = b""
    """The operators that the tests need, packed."""
    sample: float = 1.0
    window: TimeStretch = field(default_factory=TimeStretch)
    limits: Limits = DEFAULT_LIMITS
    time_zone: str | None = None
    renamed: tuple[tuple[str, str], ...] = ()
    """Keys of files, each with the name that it gets."""


class Learner:
    """Counts events for one task; used by one thread."""

    def __init__(
        self,
        task: Task,
        derived: Mapping[str, DerivedAttribute] | None = None,
        operators: Operators | None = None,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.zone = zone_of(task.time_zone)
        known = installed().attributes if derived is None else derived
        self.derived = derived_in(known, self.zone)
        self.task = task
        self.gatherer = Gatherer(task.marks, self.derived, finders_of, self.zone)
        self._counts = Counts()
        self._observer: Observer | None = None
        if task.tests:
            self._observer = Observer(
                operators_of(task.operators) if operators is None else operators,
                task.tests,
                Memo(DEFAULT_BYTES),
                limits=task.limits,
                timer=timer,
            )
        self._bound = round(task.sample * _WHOLE)

    @property
    def samples(self) -> bool:
        """True if any event is asked about."""
        return self._observer is not None and self._bound > 0

    def document(
        self, document: object, *, folder: str = "", default_id: str | None = None
    ) -> None:
        """Takes an event as it was read; `EventError` if it is none."""
        event = Event.of(document, lambda: default_id or "", self.derived, folder)
        window = self.task.window
        if window and not window.holds(event.scalar("time.epoch")):
            self._counts.passed_over += 1
            return
        self._counts.events += 1
        self.gatherer.add(event)
        self.observe(event)

    def observe(self, event: Event) -> None:
        """Makes the calls about an event, if it is in the sample."""
        if self._observer is None:
            return
        number = number_of(event)
        if number < self._bound:
            self._observer.observe(event, number)

    def is_chosen(self, event: Event) -> bool:
        """Returns whether an event is in the sample; one with an id may lack all but its time."""
        return number_of(event) < self._bound

    def count(self, *, events: int = 0, passed_over: int = 0) -> None:
        """Counts events whose attributes were gathered otherwise."""
        self._counts.events += events
        self._counts.passed_over += passed_over

    def line(
        self, line: FileLine, folder: str = "", default_id: str | None = None
    ) -> dict[str, Any] | None:
        """Takes a line of a file; what it is as a reject where it holds no event."""
        reason = line.reason
        if reason is None:
            try:
                self.document(line.document, folder=folder, default_id=default_id)
                return None
            except EventError as bad:
                reason = str(bad)
        rejected = line.rejected(reason)
        self._counts.rejects += 1
        self._counts.first_reject = self._counts.first_reject or plain_reject(rejected)
        return rejected

    def finish(self) -> Counts:
        """Returns all that was counted."""
        self._counts.attributes = self.gatherer.finish()
        if self._observer is not None:
            self._counts.calls = self._observer.finish()
        return self._counts


def finders_of(marks: Marks) -> list[ElementFinder]:
    """Makes finders of the needles and patterns of marks in strings, by their places."""
    found: list[ElementFinder] = []
    for finder, sort in ((Needles(), NEEDLE), (Patterns(), PATTERN)):
        texts = {at: thing for (what, thing), at in marks.things.items() if what == sort}
        if texts:
            finder.add_many(texts)
            found.append(finder)
    return found


@lru_cache(maxsize=2)
def operators_of(content: bytes) -> Operators:
    """Operators that were packed, made once a process rather than once a part of the work."""
    return Operators(unpacked(content))


def number_of(event: Event) -> int:
    """Returns the hash of an event: of its id and time, or of all of it where it has no id."""
    text = event.id
    if text:
        text = f"{text}\0{event.content.get('time')}"
    else:
        try:
            text = json.dumps(event.content, sort_keys=True, default=str)
        except (TypeError, ValueError, RecursionError):
            text = repr(event.content)
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")
