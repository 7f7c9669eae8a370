"""Takes results in order and returns the deliveries that policies make due.

Verdicts never change. Deliveries follow subscriptions by the versions of the results: an event
concerns the policies that were there when it was matched. The same results give the same
deliveries, whether or not the state was saved and opened between them.
Invariant: subscriptions that an event neither matches nor leaves undetermined, and that wait for
nothing, cost nothing. Cost: O(1) for each other one, O(1) for each kind of key.
"""

from __future__ import annotations

import heapq
import itertools
import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.event import Event, itself
from tamis.language.policies import EVERY, Policy
from tamis.policy.course import PolicyCourse
from tamis.policy.items import MATCH, Bindings, Delivery, Item, Now, key_from, plain
from tamis.policy.saved import read_state, write_state
from tamis.policy.sightings import Sighting, Sightings
from tamis.words import counted

if TYPE_CHECKING:
    from tamis.matcher import Matcher
    from tamis.result import Match, Result

_TIME = itself("time.epoch")
_MICROS = 1_000_000
REMEMBERED = 1_000_000
"""The most ids of events without a time that are remembered, to recognize repeated ones."""


class Deliveries:
    """Decides which matches of a matcher are delivered, by the policies of its subscriptions.

    >>> from tamis import Deliveries, Matcher
    >>> matcher = Matcher(operators=[])
    >>> matcher.subscribe("level > 3", id="s1", deliver={"cooldown": "10min", "per": ["drone"]})
    's1'
    >>> deliveries = Deliveries(matcher)
    >>> times = ("12:00", "12:05", "12:10")
    >>> events = [{"time": f"2026-01-15T{at}:00Z", "drone": "d1", "level": 7} for at in times]
    >>> [len(deliveries.take(result)) for result in matcher.match_many(events)]
    [1, 0, 1]
    """

    def __init__(self, matcher: Matcher, *, clock: Callable[[], float] | None = None) -> None:
        self._matcher = matcher
        self._clock = matcher._clock if clock is None else clock
        """The time of arrival of events without a time."""
        self._lock = threading.Lock()
        self._courses: dict[str, PolicyCourse] = {}
        self._sightings: dict[tuple[str, ...], Sightings] = {}
        self._numbers = itertools.count()
        self._turn = 0
        self._counted = 0
        """Counts events without repetitions."""
        self._latest = 0
        self._arrived = 0
        self._timeless: dict[str, tuple[int, set[PolicyCourse]]] = {}
        """Events without a time: when each was last taken, and who was undetermined then."""
        self._timeless_ids: deque[str] = deque()
        self._alarms: list[tuple[float, int, PolicyCourse]] = []
        with matcher._lock.reading:
            subscribed = matcher._catalog.policies
            live, self._change = dict(subscribed.live), subscribed.last
        for id, policies in live.items():
            self._join(id, policies)

    def __len__(self) -> int:
        """Counts the subscriptions with policies."""
        return len(self._courses)

    def __repr__(self) -> str:
        return f"<deliveries of {counted(len(self._courses), 'subscription')} with policies>"

    def take(self, result: Result) -> list[Delivery]:
        """Takes the result of the next event; returns the due deliveries, sorted by id."""
        return self._take(result, None)

    def _take(self, result: Result, among: Iterable[str] | None) -> list[Delivery]:
        """Takes a result; one of some subscriptions alone, for which an event is evaluated again,
        is nothing to the others."""
        with self._lock:
            self._follow(result._seen.version)
            matches: dict[PolicyCourse, Match] = {}
            due: list[tuple[str, Item]] = []
            for match in result.matches:
                course = self._courses.get(match.subscription)
                if course is None:
                    due.append((match.subscription, Item(MATCH, (result.event,), None)))
                else:
                    matches[course] = match
            unsure = {
                self._courses[each.subscription]
                for each in (result.undetermined if self._courses else ())
                if each.subscription in self._courses
            }
            courses = None
            if among is not None:
                courses = {self._courses[id] for id in among if id in self._courses}
            now = self._now(result._seen.event, unsure, courses)
            if self._courses:
                due += self._due(now, matches, unsure)
                due.sort(key=lambda each: each[0])
            return self._deliveries(due, now)

    def finish(self) -> list[Delivery]:
        """Returns the digests that are still open, as of the time of the last event."""
        return self._drained()

    def _drained(self, among: Iterable[str] | None = None) -> list[Delivery]:
        """Returns the digests that are still open, of all subscriptions or of some."""
        with self._lock:
            self._follow(self._matcher._catalog.version)
            now = Now(self._turn, self._latest, "", None)
            ids = self._courses if among is None else self._courses.keys() & among
            courses = [self._courses[id] for id in sorted(ids)]
            due = [
                (course.id, item)
                for course in courses
                for item in course.drained(now, self._counted)
            ]
            for course in courses:
                self._set_alarm(course)
            return self._deliveries(due, now)

    @staticmethod
    def _deliveries(due: Iterable[tuple[str, Item]], now: Now) -> list[Delivery]:
        return [
            Delivery(id, item.kind, plain(item.key), item.events, now.seconds) for id, item in due
        ]

    # following what is subscribed

    def _follow(self, version: int) -> None:
        """Follows the changes up to a version of the catalog."""
        for change in self._change.after(version):
            self._change = change
            course = self._courses.get(change.id)
            if course is not None and course.policies == change.policies:
                continue
            if course is not None:
                self._leave(course)
            if change.policies:
                self._join(change.id, change.policies)

    def _join(self, id: str, policies: tuple[Policy, ...]) -> None:
        first, sightings = policies[0], None
        if first.kind != EVERY and not first.has_bindings:
            sightings = self._sightings.setdefault(first.per, Sightings(first.per))
        course = PolicyCourse(id, policies, (self._turn, next(self._numbers)), sightings)
        self._courses[id] = course
        if sightings is not None:
            sightings.join(course)

    def _leave(self, course: PolicyCourse) -> None:
        del self._courses[course.id]
        if course.sightings is not None:
            course.sightings.leave(course)
            if not course.sightings:
                del self._sightings[course.sightings.per]

    # an event

    def _now(self, event: Event, unsure: set[PolicyCourse], among: set[PolicyCourse] | None) -> Now:
        """Returns the event with its time: its own, or that of its arrival."""
        self._turn += 1
        epoch = event.scalar(_TIME)
        if isinstance(epoch, (int, float)):
            now = Now(self._turn, round(epoch * _MICROS), event.id, event, among=among)
        else:
            self._arrived = max(self._arrived, round(self._clock() * _MICROS))
            known = self._timeless.get(event.id, (0, set()))
            now = Now(self._turn, self._arrived, event.id, event, *known, among)
            self._remember(now, {each for each in unsure if not now.repeats_for(each)})
        self._latest = max(self._latest, now.micros)
        return now

    def _remember(self, now: Now, unsure: set[PolicyCourse]) -> None:
        """Remembers an event without a time, to know it when it is repeated."""
        turn = now.turn
        if now.among is not None and now.repeats:
            turn = now.repeats
            unsure |= {each for each in now.unseen_by if not now.concerns(each)}
        self._timeless[now.id] = turn, unsure
        if not now.repeats:
            self._timeless_ids.append(now.id)
            if len(self._timeless_ids) > REMEMBERED:
                del self._timeless[self._timeless_ids.popleft()]

    def _due(
        self, now: Now, matches: dict[PolicyCourse, Match], unsure: set[PolicyCourse]
    ) -> Iterator[tuple[str, Item]]:
        """Yields the deliveries of the policies."""
        self._counted += not now.repeats and now.among is None
        concerned = dict.fromkeys(matches)
        seen: dict[Sightings | None, Sighting] = {}
        matched, undetermined = _by_sightings(matches), _by_sightings(unsure)
        for sightings in self._sightings.values():
            found = sightings.see(now, matched.get(sightings, ()), undetermined.get(sightings, ()))
            seen[sightings] = found
            concerned.update(dict.fromkeys(found.named))
        for course in undetermined.get(None, ()):
            course.skipped += not now.repeats
        concerned.update(dict.fromkeys(self._alarmed(now.micros)))
        if now.repeats:
            alone = (each for each in self._courses.values() if each.sightings is None)
            concerned.update((each, None) for each in alone if not now.repeats_for(each))
        for course in concerned:
            if course not in unsure and now.concerns(course):
                for item in self._delivered(course, now, matches.get(course), seen):
                    yield course.id, item
            self._set_alarm(course)

    def _delivered(
        self,
        course: PolicyCourse,
        now: Now,
        match: Match | None,
        seen: dict[Sightings | None, Sighting],
    ) -> list[Item]:
        bindings: Bindings | None = None
        if match is not None:
            bindings = match.bindings if course.reads_bindings else ({},)
        if course.sightings is None:
            return course.matched(now, bindings, self._counted)
        found = seen[course.sightings]
        newer = found.named.get(course, found.is_newer)
        if not newer:
            return []
        is_own = course in found.named
        return course.seen(now, found.key, bindings, is_own=is_own)

    def _alarmed(self, micros: int) -> Iterator[PolicyCourse]:
        """Returns those of which a key may have ended before a time."""
        while self._alarms and self._alarms[0][0] < micros:
            end, _, course = heapq.heappop(self._alarms)
            if course.alarm == end and self._courses.get(course.id) is course:
                course.alarm = None
                yield course

    def _set_alarm(self, course: PolicyCourse) -> None:
        end = course.next_end
        if end < math.inf and (course.alarm is None or end < course.alarm):
            course.alarm = end
            heapq.heappush(self._alarms, (end, next(self._numbers), course))

    # folders

    def save(self, path: str | Path) -> None:
        """Writes what the policies keep to a folder."""
        with self._lock:
            self._follow(self._matcher._catalog.version)
            write_state(Path(path), self._records())

    @classmethod
    def open(
        cls, path: str | Path, matcher: Matcher, *, clock: Callable[[], float] | None = None
    ) -> Deliveries:
        """Returns saved deliveries, for the same subscriptions or others: one of the same id and
        equal policies goes on, any other begins anew."""
        deliveries = cls(matcher, clock=clock)
        deliveries._restore(read_state(Path(path)))
        return deliveries

    def _records(self) -> Iterator[list[Any]]:
        """Yields all that is kept, in plain values: first the subscriptions."""
        yield ["deliveries", self._turn, self._counted, self._latest, self._arrived]
        for course in self._courses.values():
            yield ["subscription", course.id, course.text, course.born[0], course.skipped]
        for course in self._courses.values():
            yield from course.records()
        for sightings in self._sightings.values():
            yield from sightings.records()
        for id in self._timeless_ids:
            turn, unseen_by = self._timeless[id]
            ids = sorted(each.id for each in unseen_by if self._courses.get(each.id) is each)
            yield ["timeless", id, turn, ids]

    def _restore(self, records: Iterator[list[Any]]) -> None:
        """Restores the saved state of subscriptions that are the same."""
        _, self._turn, self._counted, self._latest, self._arrived = next(records)
        for course in self._courses.values():
            self._bear_again(course, self._turn)
        courses: dict[str, PolicyCourse] = {}
        sightings: Sightings | None = None
        for what, *values in records:
            if what == "keys":
                sightings = self._sightings.get(tuple(values[0]))
                if sightings is not None:
                    sightings.counted = values[1]
            elif what in ("key", "own"):
                if sightings is not None:
                    sightings.restore(what, values, courses)
            else:
                self._restore_record(what, values, courses)
        for course in courses.values():
            self._set_alarm(course)

    def _restore_record(
        self, what: str, values: list[Any], courses: dict[str, PolicyCourse]
    ) -> None:
        """Restores one record; `courses` are the subscriptions that are the same."""
        id, *more = values
        if what == "timeless":
            self._timeless_ids.append(id)
            self._timeless[id] = more[0], {courses[each] for each in more[1] if each in courses}
        elif what == "subscription":
            text, turn, skipped = more
            if id in self._courses and self._courses[id].text == text:
                courses[id] = self._courses[id]
                courses[id].skipped = skipped
                self._bear_again(courses[id], turn)
        elif id in courses:
            at, key, *state = more
            courses[id].restore(what, at, key_from(key), state)

    def _bear_again(self, course: PolicyCourse, turn: int) -> None:
        """Notes after which event a subscription came."""
        if course.sightings is not None:
            course.sightings.leave(course)
        course.born = turn, course.born[1]
        if course.sightings is not None:
            course.sightings.join(course)


def _by_sightings(courses: Iterable[PolicyCourse]) -> dict[Sightings | None, list[PolicyCourse]]:
    found: dict[Sightings | None, list[PolicyCourse]] = {}
    for course in courses:
        found.setdefault(course.sightings, []).append(course)
    return found
