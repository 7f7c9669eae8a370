"""Says what a condition asks that can never be, or that no event of a sample has.

What stands here is accepted and probably not meant; what the language itself doubts is found where
it is read. Cost: linear in the predicates, and in the events of the sample.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from tamis.catalog.resolve import Doubt
from tamis.errors import EventError
from tamis.event import Event
from tamis.event.clock import TIME_NAMES, derived_in, moment, zone_of
from tamis.files.reading import Events
from tamis.index.clauses import predicate_of
from tamis.language.comparison import SCALAR
from tamis.language.contradiction import contradictory
from tamis.language.normal import Leaf
from tamis.language.predicate import AttributePredicate, OperatorPredicate
from tamis.language.text import name_text
from tamis.nearest import did_you_mean
from tamis.operators.asking import Operators
from tamis.plugins.loader import installed
from tamis.words import agreed, counted, listed

_MOST_EVENTS = 10_000
_DEEPEST = 4
"""Objects in objects whose keys are suggested."""
_RANGES = {"time.hour": (0, 23), "time.weekday": (1, 7)}
_RANGES |= {f"position.{side}": (-90, 90) for side in ("south", "north")}
_RANGES |= {f"position.{side}": (-180, 180) for side in ("west", "east")}
_BOUNDS = {name: predicate_of((name, "between", both)) for name, both in _RANGES.items()}
_CLOCK = re.compile(r"[0-9]{1,2}(:[0-9]{2}){1,2}")
_LOCAL = ("time.hour", "time.weekday")


def leaf_doubts(leaf: Leaf, where: str, operators: Operators) -> Iterator[Doubt]:
    """Yields the parts of one atom that are probably not meant."""
    atom = leaf.atom
    if isinstance(atom, OperatorPredicate):
        yield from _bare_outputs(atom, leaf.start, where, operators)
        return
    for name in names_of(leaf, operators):
        record = operators.records.get(name)
        if record is not None:
            variables = ", ".join(f"?{each}" for each in record.specification.outputs)
            call = f"{name_text(name)}({variables or '…'})"
            yield Doubt(f"{name} is an attribute here, not the operator: write {call}", leaf.start)
        elif name.startswith("time.") and name not in TIME_NAMES:
            hint = did_you_mean(name, TIME_NAMES) or f": there is {listed(TIME_NAMES, 3)}"
            yield Doubt(f"{name} does not come from the time{hint}", leaf.start)
    if isinstance(atom, AttributePredicate):
        yield from _never(atom, leaf.start)


def names_of(leaf: Leaf, operators: Operators) -> tuple[str, ...]:
    """Returns the attributes that an atom reads; of an operator those that it needs."""
    atom = leaf.atom
    if isinstance(atom, OperatorPredicate):
        record = operators.records.get(atom.name)
        return () if record is None else tuple(record.specification.needed)
    return (atom.attribute,) if isinstance(atom, AttributePredicate) else atom.attributes


def _bare_outputs(
    atom: OperatorPredicate, start: int, where: str, operators: Operators
) -> Iterator[Doubt]:
    specification = operators.records[atom.name].specification
    for parameter, argument, offset in zip(
        specification.parameters, atom.arguments, atom.offsets, strict=False
    ):
        at = start + offset
        is_bare = isinstance(argument, str) and where[at] not in "\"'"
        if is_bare and parameter.name in specification.outputs:
            words = f"{argument} is a constant at the output {parameter.name} of {atom.name}"
            yield Doubt(f'{words}: write ?{argument} for what it gives, or "{argument}"', at)


def _never(atom: AttributePredicate, start: int) -> Iterator[Doubt]:
    """Comparisons of what comes from time and position that no value satisfies."""
    name, comparison = atom.attribute, atom.comparison
    if comparison.reads != SCALAR:
        return
    bounds = _BOUNDS.get(name)
    if bounds is not None and contradictory([comparison, bounds.comparison]):
        low, high = _RANGES[name]
        swapped = "; a position is [lon, lat]" if name.startswith("position.") else ""
        yield Doubt(f"{atom.text()} never holds: {name} is {low} to {high}{swapped}", start)
    elif name == "time" and any(
        isinstance(each, str) and _CLOCK.fullmatch(each) for each in comparison.constants
    ):
        yield Doubt("time is a date and a time, compared as text: write time.hour", start)


def _paths(content: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yields the keys of an event, and the paths into its objects."""
    for key, value in content.items():
        yield f"{above}{key}"
        if isinstance(value, dict) and above.count(".") < _DEEPEST:
            yield from _paths(value, f"{above}{key}.")


class EventSample:
    """Samples the first events of a history."""

    def __init__(
        self,
        places: list[str],
        wanted: Iterable[str],
        renamed: tuple[tuple[str, str], ...] = (),
        time_zone: str | None = None,
    ) -> None:
        self.events = self._unread = self._elsewhere = self._swapped = self._placed = 0
        self.zone = zone_of(time_zone)
        self.lacking = set(wanted)
        self._keys: set[str] = set()
        self._first_unread = ""
        self._derived = derived_in(installed().attributes, self.zone)
        for line in islice(Events(places, renamed), _MOST_EVENTS):
            if line.reason is None:
                self._take(line.document)

    def _take(self, document: Any) -> None:
        try:
            event = Event.of(document, str, self._derived)
        except EventError:
            return
        self.events += 1
        self._keys.update(_paths(event.content))
        self.lacking -= {name for name in self.lacking if event.present(name)}
        time = event.value("time")
        if time is not None and moment(time) is None:
            self._unread += 1
            self._first_unread = self._first_unread or f"{time!r:.80}"
        self._elsewhere += moment(time) != moment(time, zone_of("UTC"))
        place = event.array("position")
        if place is not None and len(place) > 1 and isinstance(place[1], (int, float)):
            self._placed += 1
            self._swapped += not -60 <= place[1] <= 90

    def doubts(self) -> Iterator[str]:
        """Yields the problems of the events themselves."""
        if self._unread:
            times = counted(self._unread, "time")
            yield f"{times} cannot be read, the first: {self._first_unread}"
        if self._swapped and self._swapped == self._placed:
            are = agreed(self._placed, "the position looks", "all positions look")
            yield f"{are} swapped: south of 60° S, or at no latitude; a position is [lon, lat]"

    def doubt_of(self, name: str) -> str | None:
        """Returns the problem of an attribute that is asked for."""
        events = counted(self.events, "event")
        if name in self.lacking and self.events:
            hint = "" if name in self._derived else did_you_mean(name, self._keys)
            return f"none of {events} has {name_text(name)}{hint}"
        if name in _LOCAL and self.zone is None and self.events and not self._elsewhere:
            return f"all times of {events} are in UTC, and so is {name}: --time-zone sets another"
        return None
