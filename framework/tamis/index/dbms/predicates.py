"""Numbers the distinct predicates of an index, and says what an event says of them.

Invariant: a predicate has one number for as long as somebody asks for it, and only what somebody
asks for is read of an event. Cost: O(attributes that are asked for) an event, and one check for
each predicate that a database cannot decide exactly.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict

from tamis.event import Event
from tamis.index.dbms.databases import EventRow
from tamis.index.dbms.keys import (
    ABSENCE,
    CHECKED,
    ELEMENT,
    PRESENCE,
    REVERSED,
    SCALAR,
    checked_key_of,
    key_of,
    ranges_of,
    reversed_key_of,
)
from tamis.language.comparison import ARRAY
from tamis.language.predicate import AttributePredicate

Key = tuple[object, ...]


class Predicates:
    """The predicates that somebody asks for."""

    def __init__(self) -> None:
        self._numbers: dict[Key, int] = {}
        self._known: dict[int, AttributePredicate] = {}
        self._users: Counter[int] = Counter()
        self._asked: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """By attribute, how many predicates read it in which way."""
        self._checked: defaultdict[str, set[int]] = defaultdict(set)
        """By attribute, those that are decided without the database."""
        self._last = 0

    def __getitem__(self, number: int) -> AttributePredicate:
        return self._known[number]

    def take(self, predicate: AttributePredicate) -> tuple[int, bool]:
        """Returns the number of a predicate for one user more, and whether it is new."""
        key = predicate.key
        number = self._numbers.get(key)
        is_new = number is None
        if number is None:
            self._last = number = self._last + 1
            self._numbers[key], self._known[number] = number, predicate
            reads = ranges_of(predicate.comparison).reads
            self._asked[predicate.attribute][reads] += 1
            if reads == CHECKED:
                self._checked[predicate.attribute].add(number)
        self._users[number] += 1
        return number, is_new

    def leave(self, number: int) -> bool:
        """Counts one user less; whether that was the last one."""
        self._users[number] -= 1
        if self._users[number]:
            return False
        predicate = self._known.pop(number)
        del self._users[number], self._numbers[predicate.key]
        attribute, reads = predicate.attribute, ranges_of(predicate.comparison).reads
        self._checked[attribute].discard(number)
        asked = self._asked[attribute]
        asked[reads] -= 1
        if not asked[reads]:
            del asked[reads]
        if not asked:
            del self._asked[attribute]
            self._checked.pop(attribute, None)
        return True

    def said(self, event: Event) -> list[EventRow]:
        """Returns what an event says of the attributes that somebody asks for."""
        rows: list[EventRow] = []
        for name, asked in self._asked.items():
            attribute = label(name)
            for reads in asked:
                keys = self._keys(event, name, reads)
                rows += [(attribute, reads, key) for key in keys]
        return rows

    def _keys(self, event: Event, name: str, reads: str) -> list[bytes]:
        if reads == SCALAR:
            value = event.scalar(name)
            return [] if value is None else [key_of(value)]
        if reads == REVERSED:
            value = event.scalar(name)
            return [reversed_key_of(value)] if type(value) is str else []
        if reads == ELEMENT:
            return list({key_of(element) for element in event.array(name) or ()})
        if reads in (PRESENCE, ABSENCE):
            return [b""] if event.present(name) == (reads == PRESENCE) else []
        return self._held(event, name)

    def _held(self, event: Event, name: str) -> list[bytes]:
        """Returns the keys of the predicates that hold of those that are checked here."""
        asked = [self._known[number].comparison for number in self._checked[name]]
        return [
            checked_key_of(each)
            for each in asked
            if each.compiled()(event.array(name) if each.reads == ARRAY else event.scalar(name))
        ]


def label(name: str) -> str:
    """Returns a name as all databases take it: as JSON where it has letters that some refuse."""
    if name.startswith(('"', "#")) or not name.isprintable():
        return json.dumps(name)
    return name


def value_text(predicate: AttributePredicate) -> str:
    """Returns the constants of a predicate for people, as JSON."""
    return json.dumps(predicate.comparison.value)
