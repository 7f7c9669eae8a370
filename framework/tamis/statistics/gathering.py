"""Gathers the raw values of events by attribute, and counts them a batch at a time.

Attributes are the keys of events, the paths into their objects, and what time says; those that
predicates name by a path, or that are derived, are asked of each event as a match asks. A key and
a path of one name that nobody asks for are both counted.
Cost: a dictionary look-up a value; an event that names its time, three more attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import tzinfo
from typing import Any

from tamis.event import DerivedAttribute, Event
from tamis.event.clock import TIME_NAMES, moment
from tamis.spaces.attribute import AttributeSpaces, Marks
from tamis.statistics.counting import AttributeCounter, ElementFinder
from tamis.statistics.values import Values, values_of

BATCH = 1 << 14
_DEEPEST = 8


class Gatherer:
    """Counts the attributes of events."""

    def __init__(
        self,
        marks: Mapping[str, Marks],
        derived: Mapping[str, DerivedAttribute],
        finders_of: Callable[[Marks], Sequence[ElementFinder]] | None = None,
        zone: tzinfo | None = None,
    ) -> None:
        """`finders_of` makes what finds the needles and patterns of marks, where they have any."""
        self._marks = marks
        self._finders_of = finders_of
        self._zone = zone
        self._asked = [name for name in marks if "." in name or name in derived]
        self._skipped = frozenset(self._asked)
        self._columns: dict[str, list[Any]] = {}
        self._answers: dict[str, list[Any]] = {}
        self._waiting = 0
        self._counters: dict[str, AttributeCounter] = {}

    @property
    def asked(self) -> list[str]:
        """The attributes that are asked of each event."""
        return self._asked

    def add(self, event: Event) -> None:
        """Gathers an event."""
        columns = self._columns
        content = event.content
        for name, value in content.items():
            try:
                columns[name].append(value)
            except KeyError:
                columns[name] = [value]
        if self._asked:
            self.ask(event, self._asked)
        if "time" in content:
            self.tell_time(event.value("time"), content)
        self._waiting += 1
        if self._waiting >= BATCH:
            self.settle()

    def ask(self, event: Event, names: Iterable[str]) -> None:
        """Gathers some attributes as a match reads them."""
        for name in names:
            self._answers.setdefault(name, []).append(event.value(name))

    def tell_time(self, time: object, keys: Container[str]) -> None:
        """Gathers what a time says, but for what has a key of its own, or is asked for anyway."""
        found = moment(time, self._zone)
        if found is not None:
            for name, value in zip(TIME_NAMES, found, strict=True):
                if name not in self._skipped and name not in keys:
                    self._answers.setdefault(name, []).append(value)

    def take(self, name: str, values: Values) -> None:
        """Counts values of an attribute."""
        self._counter(name).take(values)

    def _counter(self, name: str) -> AttributeCounter:
        found = self._counters.get(name)
        if found is None:
            marks = self._marks.get(name) or Marks()
            finders = self._finders_of(marks) if self._finders_of else ()
            found = self._counters[name] = AttributeCounter(marks, finders)
        return found

    def take_raw(self, name: str, given: list[Any]) -> None:
        """Counts raw values of a key, and what is inside of objects."""
        if any(issubclass(each, Mapping) for each in set(map(type, given))):
            self._walk(name, [each for each in given if isinstance(each, Mapping)], 1)
        if name not in self._skipped:
            self.take(name, values_of(given))

    def _walk(self, path: str, objects: list[Mapping[str, Any]], depth: int) -> None:
        """Counts what objects hold under paths that no predicate asks for."""
        columns: dict[str, list[Any]] = {}
        for each in objects:
            for key, value in each.items():
                if isinstance(key, str) and "." not in key:
                    columns.setdefault(key, []).append(value)
        for key, given in columns.items():
            name = f"{path}.{key}"
            inner = [each for each in given if isinstance(each, Mapping)]
            if inner and depth < _DEEPEST:
                self._walk(name, inner, depth + 1)
            if name not in self._skipped:
                self.take(name, values_of(given))

    def settle(self) -> None:
        """Counts what was gathered."""
        columns, answers = self._columns, self._answers
        self._columns, self._answers, self._waiting = {}, {}, 0
        for name, given in columns.items():
            if isinstance(name, str):
                self.take_raw(name, given)
        for name, given in answers.items():
            self.take(name, values_of(given))

    def finish(self) -> dict[str, AttributeSpaces]:
        """Returns all attributes that were there or asked for."""
        self.settle()
        for name in self._marks:
            self._counter(name)
        return {name: counter.finish() for name, counter in self._counters.items()}
