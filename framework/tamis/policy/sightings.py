"""Remembers when each key was last seen, once for all subscriptions whose key is of the same
attributes.

A late or repeated event is one that is not newer than its key. What a key has seen depends on the
subscription: one that was undetermined has not seen the event, a new one has seen none. Most have
seen the same, which is kept once; those that differ have a sight of their own, until it is the same
again.
Invariant: what a subscription has seen is its own sight, else none where it came after the common
one, else the common one.
Cost: O(1) an event, and O(1) for each subscription that matches, is undetermined or waits for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from sortedcontainers import SortedKeyList

from tamis.policy.items import Key, Now, key_from, key_of

if TYPE_CHECKING:
    from tamis.policy.course import PolicyCourse

Ids = str | set[str]
Sight = tuple[int, Ids, int]
"""The last instant of a key, the ids that it had then, and the turn at which it came."""


def is_newer(sight: Sight | None, now: Now) -> bool:
    """Returns whether an event is neither late nor repeated for who has seen that."""
    if sight is None or now.micros > sight[0]:
        return True
    return now.micros == sight[0] and now.id not in _ids(sight)


def advanced(sight: Sight | None, now: Now) -> Sight:
    """Returns the sight after a newer event, in the place of the sight before."""
    if sight is None or now.micros > sight[0]:
        return now.micros, now.id, now.turn
    ids = _ids(sight)
    ids.add(now.id)
    return sight[0], ids, sight[2]


def ids_plain(ids: Ids) -> str | list[str]:
    """Ids as they are saved."""
    return ids if isinstance(ids, str) else sorted(ids)


def ids_from(saved: str | list[str]) -> Ids:
    """Ids as they were before."""
    return saved if isinstance(saved, str) else set(saved)


def _ids(sight: Sight) -> set[str]:
    return sight[1] if isinstance(sight[1], set) else {sight[1]}


class Sighting(NamedTuple):
    """The meaning of an event for the subscriptions of one kind of key."""

    key: Key
    is_newer: bool
    """To those that are not named."""
    named: dict[PolicyCourse, bool | None]
    """Those that it may concern, and whether it is newer to them; `None`: undetermined."""


class Sightings:
    """The keys of the same attributes, and who has them."""

    def __init__(self, per: tuple[str, ...]) -> None:
        self.per = per
        self.counted = 0
        """The events that were newer than their key."""
        self.sights: dict[Key, Sight] = {}
        self.own: dict[Key, dict[PolicyCourse, Sight | None]] = {}
        self._open: dict[Key, PolicyCourse | set[PolicyCourse]] = {}
        self._members = SortedKeyList(key=_born)
        self._digests = SortedKeyList(key=_born)

    def __len__(self) -> int:
        return len(self._members)

    def join(self, course: PolicyCourse) -> None:
        """Adds a subscription."""
        self._members.add(course)
        if course.begins_unmatched:
            self._digests.add(course)

    def leave(self, course: PolicyCourse) -> None:
        """Removes a subscription."""
        self._members.remove(course)
        if course.begins_unmatched:
            self._digests.remove(course)
        for key in course.open_keys:
            self.wait(key, course, is_open=False)
        for key in [key for key, courses in self.own.items() if course in courses]:
            self._keep_own(key, course, None, is_own=False)

    def wait(self, key: Key, course: PolicyCourse, *, is_open: bool) -> None:
        """Says whether an event of a key that does not match matters to a subscription."""
        waiting = self._open.get(key)
        if isinstance(waiting, set):
            (waiting.add if is_open else waiting.discard)(course)
        elif waiting is None and is_open:
            self._open[key] = course
        elif waiting is not course and waiting is not None and is_open:
            self._open[key] = {waiting, course}
        elif waiting is course and not is_open:
            del self._open[key]

    def see(
        self, now: Now, matched: Iterable[PolicyCourse], unsure: Collection[PolicyCourse]
    ) -> Sighting:
        """Takes an event, with those of its members that it matched, and those undetermined."""
        assert now.event is not None
        key = key_of(now.event, self.per)
        before, own = self.sights.get(key), self.own.get(key, {})
        newer = not now.repeats and is_newer(before, now)
        seen = Sighting(key, newer, {})
        views: dict[PolicyCourse, Sight | None] = {}
        for course in self._concerned(now, key, before, matched, unsure):
            view = own[course] if course in own else _common(before, course)
            is_unsure = course in unsure or not now.concerns(course)
            fresh = not is_unsure and not now.repeats_for(course) and is_newer(view, now)
            seen.named[course] = None if is_unsure else fresh
            course.skipped += newer - fresh
            if view is not before or fresh != newer:
                view = view if course in own else _copied(view)
                views[course] = advanced(view, now) if fresh else view
        if newer:
            self.counted += 1
            self.sights[key] = before = advanced(before, now)
        for course, view in views.items():
            self._keep_own(key, course, view, is_own=not _same(view, _common(before, course)))
        return seen

    def _concerned(
        self,
        now: Now,
        key: Key,
        before: Sight | None,
        matched: Iterable[PolicyCourse],
        unsure: Collection[PolicyCourse],
    ) -> set[PolicyCourse]:
        """Returns those to whom an event may be something else than to most, or that wait for
        it."""
        found = {*matched, *unsure, *self.own.get(key, ())}
        waiting = self._open.get(key)
        if waiting is not None:
            found |= waiting if isinstance(waiting, set) else {waiting}
        if now.repeats:
            found.update(course for course in now.unseen_by if course.sightings is self)
            found.update(self._members.irange_key((now.repeats,)))
        is_later = before is None or now.micros > before[0]
        younger = self._digests if is_later else self._members
        if younger:
            found.update(younger.irange_key((0 if before is None else before[2],)))
        return found

    def _keep_own(
        self, key: Key, course: PolicyCourse, view: Sight | None, *, is_own: bool
    ) -> None:
        if is_own:
            self.own.setdefault(key, {})[course] = view
        elif key in self.own:
            self.own[key].pop(course, None)
            if not self.own[key]:
                del self.own[key]

    # folders

    def records(self) -> Iterator[list[Any]]:
        """Yields what it remembers, in plain values."""
        yield ["keys", self.per, self.counted]
        for key, (micros, ids, turn) in self.sights.items():
            yield ["key", key, micros, ids_plain(ids), turn]
        for key, courses in self.own.items():
            for course, sight in courses.items():
                own = None if sight is None else [sight[0], ids_plain(sight[1]), sight[2]]
                yield ["own", key, course.id, own]

    def restore(self, what: str, values: list[Any], courses: Mapping[str, PolicyCourse]) -> None:
        """Takes what a record says."""
        key = key_from(values[0])
        if what == "key":
            micros, ids, turn = values[1:]
            self.sights[key] = micros, ids_from(ids), turn
        elif values[1] in courses:
            sight = (
                None if values[2] is None else (values[2][0], ids_from(values[2][1]), values[2][2])
            )
            self._keep_own(key, courses[values[1]], sight, is_own=True)


def _born(course: PolicyCourse) -> tuple[int, int]:
    return course.born


def _common(sight: Sight | None, course: PolicyCourse) -> Sight | None:
    """Returns the sight of a subscription without one of its own."""
    return None if sight is None or course.born[0] >= sight[2] else sight


def _copied(sight: Sight | None) -> Sight | None:
    return None if sight is None else (sight[0], set(_ids(sight)), sight[2])


def _same(one: Sight | None, other: Sight | None) -> bool:
    if one is None or other is None:
        return one is other
    return one[0] == other[0] and _ids(one) == _ids(other)
