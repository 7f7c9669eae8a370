"""Turns attribute predicates into terms over dimensions, and events into readings.

Everything that is ordered is a line of doubles. Numbers are themselves for constants below 2**53,
where rounding an event's integer to a double changes nothing; for larger ones, numbers have labels
in their exact order, as strings have, reversed ones too (for `ends with`); booleans are 0 and 1.
Everything that an event has several of is a bag of numbered things: the elements of an array, the
needles that a string contains, the patterns that it matches, and the *odd* predicates that hold:
sets of several kinds, each evaluated once an event.
Cost: O(log n) a constant or a string of an event, O(1) a number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tamis.event import Event, is_itself
from tamis.index.bags import Bag, Elements, Odd, Strings
from tamis.index.columns import Columns
from tamis.index.labels import ChangedLabels, Labels
from tamis.index.needles import Needles
from tamis.index.patterns import Patterns
from tamis.index.reading_kernels import plain_readings
from tamis.index.readings import packed
from tamis.index.terms import ANY, IN, NONE, NOT_ALL, NOT_IN, OUTSIDE, RANGE, TermColumns
from tamis.indexing import Entry
from tamis.language.comparison import ORDERINGS, RANGES, Comparison
from tamis.language.predicate import AttributePredicate
from tamis.language.values import BOOLEAN, NUMBER, STRING, Scalar, kind_of
from tamis.numeric.keys import double_of
from tamis.numeric.types import Ints
from tamis.spaces.attribute import is_large
from tamis.spaces.cuts import (
    Stretch,
    Stretches,
    stretch_of,
    stretches_of,
)

NUMBERS, LARGE, STRINGS, REVERSED, BOOLEANS, ARRAY, NEEDLES, PATTERNS, ODD = range(9)
PRESENT, ABSENT = 9, 10
"""The contents of a dimension."""

_BAGS: dict[int, Callable[[], Bag]] = {
    ARRAY: Elements,
    NEEDLES: lambda: Strings(Needles()),
    PATTERNS: lambda: Strings(Patterns()),
    ODD: Odd,
}
_LABELED = (LARGE, STRINGS, REVERSED)
_LINES = {NUMBER: NUMBERS, BOOLEAN: BOOLEANS}
_KINDS = {
    NUMBERS: NUMBER,
    LARGE: NUMBER,
    STRINGS: STRING,
    REVERSED: STRING,
    BOOLEANS: BOOLEAN,
}
_POINTS = ("=", "!=", "in", "not in")
_SIDES = {
    op: tuple(None if cut is None else cut.is_after for cut in stretch_of(op, 0.0, 1.0))
    for op in ("=", *ORDERINGS, *RANGES)
}
"""Whether the stretch of an operator begins after its first constant, and ends after its last."""

_Bounds = tuple[float, float]


@dataclass(slots=True)
class _Attribute:
    """The dimensions of one attribute, by what they hold."""

    name: str
    dimensions: dict[int, int] = field(default_factory=dict)


_Sorted = tuple[dict[str, int], dict[str, _Attribute], dict[str, _Attribute]]
"""Those asked about as numbers only, those looked up, and those asked for every time."""

_Line = tuple[int, int, float, float, tuple[Stretches, list[int]] | None]
"""A term as every row has it that holds the predicate: dimension, op and bounds; where it is to be
labeled, the stretches and the terms."""


class _Columns:
    """Terms as they are written down."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.start = [0]
        self.dimension: list[int] = []
        self.op: list[int] = []
        self.low: list[float] = []
        self.high: list[float] = []
        self.members: list[float] = []
        self.labeled: list[tuple[Stretches, list[int]]] = []

    def add(self, dimension: int, op: int, low: float, high: float) -> None:
        """Adds a term that is a range, or a place where its members are."""
        self.dimension.append(dimension)
        self.op.append(op)
        self.low.append(low)
        self.high.append(high)

    def add_set(self, dimension: int, op: int, members: Iterable[float]) -> None:
        """Adds a term with members."""
        ordered = sorted(members)
        self.add(dimension, op, len(self.members), len(ordered))
        self.members.extend(ordered)

    def add_line(self, line: _Line) -> None:
        """Adds a term; a range is intersected with one of the same row on the same dimension."""
        dimension, op, low, high, labeled = line
        if labeled is not None:
            labeled[1].append(len(self.dimension))
        elif op == RANGE and dimension in self.dimension[self.start[-1] :]:
            for term in range(self.start[-1], len(self.dimension)):
                if self.dimension[term] == dimension and self.op[term] == RANGE:
                    self.low[term] = max(low, self.low[term])
                    self.high[term] = min(high, self.high[term])
                    return
        self.add(dimension, op, low, high)

    def end(self, row: int) -> None:
        """Ends a row: it has all that was added since the last one."""
        self.rows.append(row)
        self.start.append(len(self.dimension))

    def terms(self) -> TermColumns:
        """Returns the columns as arrays."""
        return TermColumns(
            np.array(self.rows, np.int64),
            np.array(self.start, np.int64),
            np.array(self.dimension, np.int32),
            np.array(self.op, np.uint8),
            np.array(self.low, np.float64),
            np.array(self.high, np.float64),
            np.array(self.members, np.float64),
        )


class Dimensions:
    """The dimensions of one index; changed by its writer only."""

    def __init__(self) -> None:
        self._attributes: dict[str, _Attribute] = {}
        self.keys: list[tuple[str, int]] = []
        self._labels: dict[int, Labels] = {}
        self._bags: dict[int, Bag] = {}
        self._derived_of: object = None
        self._sort_out(frozenset())

    def __len__(self) -> int:
        return len(self.keys)

    def number(self, attribute: str, holds: int) -> int:
        """Returns the number of a dimension, a new one if it is new."""
        found = self._attributes.get(attribute)
        if found is None:
            found = self._attributes[attribute] = _Attribute(attribute)
        number = found.dimensions.get(holds)
        if number is None:
            number = found.dimensions[holds] = len(self.keys)
            self.keys.append((attribute, holds))
            if holds in _LABELED:
                self._labels[number] = Labels()
            elif holds in _BAGS:
                self._bags[number] = _BAGS[holds]()
            self._sort(found)
        return number

    def is_bag(self, number: int) -> bool:
        """Returns whether a dimension is a bag."""
        return self.keys[number][1] in _BAGS

    def place(self, number: int, value: Any) -> float:
        """Returns the place of a value of the right kind on a line."""
        holds = self.keys[number][1]
        if holds in _LABELED:
            return self._labels[number].place(value[::-1] if holds == REVERSED else value)
        return double_of(value)

    def labels(self, number: int) -> list[tuple[Any, float]]:
        """Returns the values of a dimension that have labels, and these, in order."""
        return self._labels[number].items()

    def things(self, number: int) -> list[tuple[int, Any]]:
        """Returns what may be in a bag, each with its number."""
        return self._bags[number].contents()

    # predicates

    def terms(self, entries: Iterable[Entry]) -> tuple[TermColumns, dict[int, ChangedLabels]]:
        """Returns rows as terms, and the labels that had to move to make room for new ones."""
        columns = _Columns()
        known: dict[int, tuple[_Line, AttributePredicate]] = {}
        for row, predicates in entries:
            for predicate in predicates:
                found = known.get(id(predicate))  # most are the very ones of rows before
                if found is not None:
                    columns.add_line(found[0])
                    continue
                line = self._line(columns, predicate)
                if line is not None:
                    known[id(predicate)] = line, predicate
                    columns.add_line(line)
            columns.end(row)
        moved = self._label(columns)
        return columns.terms(), moved

    def box_terms(
        self, rows: Ints, columns: Columns
    ) -> tuple[TermColumns, dict[int, ChangedLabels]]:
        """Returns the terms of boxes of numbers; those with very large bounds are predicates."""
        if columns.has_large_bounds:
            return self.terms(zip(rows.tolist(), columns.predicates(), strict=True))
        numbers = [self.number(name, NUMBERS) for name in columns.attributes]
        of = np.array(numbers, np.int32)[columns.attribute]
        ops = np.zeros(len(of), np.uint8)
        return TermColumns(rows, columns.start, of, ops, columns.low, columns.high, np.zeros(0)), {}

    def _line(self, columns: _Columns, predicate: AttributePredicate) -> _Line | None:
        """Returns the term of a predicate; of one with members, which is added here, `None`."""
        attribute, comparison = predicate.attribute, predicate.comparison
        op, constants = comparison.op, comparison.constants
        if op in _SIDES and all(map(_is_small_number, constants)):
            low, high = _number_bounds(op, constants)
            return self.number(attribute, NUMBERS), RANGE, low, high, None
        if op in ("exists", "not exists"):
            return self.number(attribute, PRESENT if op == "exists" else ABSENT), RANGE, 1, 1, None
        if op.startswith(("has", "not has")):
            self._add_having(columns, attribute, op, constants)
        elif op.endswith(("contains", "matches")):
            number = self.number(attribute, NEEDLES if op.endswith("contains") else PATTERNS)
            thing = self._bags[number].number(constants[0])
            columns.add_set(number, NONE if op.startswith("not ") else ANY, [thing])
        elif len({kind_of(constant) for constant in constants}) > 1:
            number = self.number(attribute, ODD)
            columns.add_set(number, ANY, [self._bags[number].number(comparison)])
        elif (holds := _label_kind(comparison)) is not None:
            stretches = stretches_of(comparison)
            assert stretches is not None
            columns.labeled.append((stretches, []))
            line = self.number(attribute, holds), RANGE, 0.0, 0.0, columns.labeled[-1]
            if len(stretches.parts) == 1:
                return line
            columns.add_line(line)
        else:
            number = self.number(attribute, _LINES[kind_of(constants[0])])
            if op not in ("in", "not in") or len(constants) == 1:
                low, high = _number_bounds("=" if op in _POINTS else op, constants)
                return number, OUTSIDE if op in ("!=", "not in") else RANGE, low, high, None
            columns.add_set(number, IN if op == "in" else NOT_IN, map(float, constants))
        return None

    def _add_having(
        self, columns: _Columns, attribute: str, op: str, constants: Sequence[Scalar]
    ) -> None:
        number = self.number(attribute, ARRAY)
        things = [self._bags[number].number(constant) for constant in constants]
        if op == "has all":
            for thing in things:
                columns.add_set(number, ANY, [thing])
        else:
            truth = {"has none": NONE, "not has all": NOT_ALL}.get(op, ANY)
            columns.add_set(number, truth, things)

    def _label(self, columns: _Columns) -> dict[int, ChangedLabels]:
        """Gives strings and large numbers labels, and the terms about them their bounds."""
        wanted: dict[int, set[Any]] = {}
        for stretches, terms in columns.labeled:
            values = wanted.setdefault(columns.dimension[terms[0]], set())
            for part in stretches.parts:
                values.update(cut.value for cut in part if cut is not None)
        moved = {}
        for number, values in wanted.items():
            move = self._labels[number].add(values)
            if move is not None:
                moved[number] = move
        for stretches, terms in columns.labeled:
            labels, parts = self._labels[columns.dimension[terms[0]]], stretches.parts
            if len(parts) == 1:
                op = RANGE if stretches.is_inside else OUTSIDE
                low, high = _labeled_bounds(parts[0], labels)
            else:
                members = sorted(labels[first.value] for first, _ in parts if first is not None)
                op = IN if stretches.is_inside else NOT_IN
                low, high = len(columns.members), len(members)
                columns.members.extend(members)
            for term in terms:
                columns.op[term], columns.low[term], columns.high[term] = op, low, high
        return moved

    # events

    def read(self, events: Sequence[Event]) -> Ints:
        """Reads the dimensions of events, packed."""
        if len(events) == 1 and (readings := self._plain(events[0])) is not None:
            return readings
        line: list[int] = []
        values: list[float] = []
        line_start, bag_start, member_start = [0], [0], [0]
        bag: list[int] = []
        members: list[float] = []
        for event in events:
            if event.derived is not self._derived_of:
                self._notice(event)
            numbers, others, always = self._sorted
            for name, value in event.content.items():
                number = numbers.get(name)
                if number is not None:
                    kind = type(value)
                    if kind is float or kind is int:
                        line.append(number)
                        values.append(value)
                        continue
                    found = self._attributes[name]
                elif name in others:
                    found = others[name]
                else:
                    continue
                self._read(found, event, line, values, bag, member_start, members)
            for found in always.values():
                self._read(found, event, line, values, bag, member_start, members)
            line_start.append(len(line))
            bag_start.append(len(bag))
        return packed(line_start, line, values, bag_start, bag, member_start, members)

    def _plain(self, event: Event) -> Ints | None:
        """Reads an event of which nothing but plain numbers is asked; `None` if it is none."""
        if event.derived is not self._derived_of:
            self._notice(event)
        numbers, others, always = self._sorted
        if always or not others.keys().isdisjoint(event.content):
            return None
        return plain_readings(event.content, numbers)

    def _read(
        self, attribute: _Attribute, event: Event, line: list[int], values: list[float],
        bag: list[int], member_start: list[int], members: list[float],
    ) -> None:  # fmt: skip
        """Reads one attribute of an event, whatever is asked of it."""
        scalar = event.scalar(attribute.name)
        kind = None if scalar is None else kind_of(scalar)
        for holds, number in attribute.dimensions.items():
            if holds in _BAGS:
                value = _content(holds, kind, scalar, event, attribute.name)
                if value is not None:
                    found = sorted(self._bags[number].find(value))
                    bag.append(number)
                    members.extend(found)
                    member_start.append(len(members))
                continue
            if holds in (PRESENT, ABSENT):
                if event.present(attribute.name) is not (holds == PRESENT):
                    continue
                place = 1.0
            elif kind != _KINDS[holds]:
                continue
            else:
                place = self.place(number, scalar)
            line.append(number)
            values.append(place)

    def _notice(self, event: Event) -> None:
        """Learns which attributes are derived where events come from now."""
        if frozenset(event.derived) != self._derived:
            self._sort_out(frozenset(event.derived))
        self._derived_of = event.derived

    def _sort_out(self, derived: frozenset[str]) -> None:
        """Sorts all attributes anew."""
        self._derived, self._derived_of = derived, None
        self._sorted: _Sorted = ({}, {}, {})
        for attribute in self._attributes.values():
            self._sort(attribute)

    def _sort(self, attribute: _Attribute) -> None:
        """Returns whether an attribute is looked up in an event, or asked for every time.

        Paths, derived attributes and absence are not found by walking through the keys."""
        name = attribute.name
        numbers, others, always = self._sorted
        numbers.pop(name, None)
        is_derived = name in self._derived or is_itself(name)
        if "." in name or is_derived or ABSENT in attribute.dimensions:
            others.pop(name, None)
            always[name] = attribute
        elif attribute.dimensions.keys() == {NUMBERS}:
            numbers[name] = attribute.dimensions[NUMBERS]
        else:
            others[name] = attribute

    # upkeep

    def kept(self, terms: TermColumns) -> tuple[Dimensions, TermColumns]:
        """Returns the dimensions that these terms use, and the terms in their numbers.

        Things and labels that nobody uses are forgotten here, too; numbers stay what they are."""
        used, renumbered = np.unique(terms.dimension, return_inverse=True)
        for number, labels in self._labels.items():
            mine = (terms.dimension == number) & (terms.op <= OUTSIDE)
            bounds = np.unique(np.concatenate([terms.low[mine], terms.high[mine]]))
            labels.keep(np.concatenate([bounds, self._members(terms, number)]))
        for number, bag in self._bags.items():
            bag.keep({int(member) for member in self._members(terms, number)})
        left = Dimensions()
        for number, old in enumerate(used.tolist()):
            name, holds = self.keys[old]
            left.keys.append((name, holds))
            left._attributes.setdefault(name, _Attribute(name)).dimensions[holds] = number
            if old in self._labels:
                left._labels[number] = self._labels[old]
            if old in self._bags:
                left._bags[number] = self._bags[old]
        left._sort_out(self._derived)
        return left, terms._replace(dimension=renumbered.astype(np.int32))

    @staticmethod
    def _members(terms: TermColumns, number: int) -> Any:
        sets = np.flatnonzero((terms.dimension == number) & (terms.op > OUTSIDE))
        spans = zip(terms.low[sets].astype(int), terms.high[sets].astype(int), strict=True)
        parts = [terms.members[start : start + count] for start, count in spans]
        return np.unique(np.concatenate([np.zeros(0), *parts]))

    @property
    def nbytes(self) -> int:
        """About the memory it holds."""
        strings = sum(len(labels) for labels in self._labels.values())
        bags = sum(bag.nbytes for bag in self._bags.values())
        return 200 * len(self.keys) + 200 * strings + bags

    def save(self, path: Path) -> None:
        """Writes a file of JSON."""
        document = {
            "dimensions": self.keys,
            "labels": [[number, labels.items()] for number, labels in self._labels.items()],
            "bags": [[number, bag.things()] for number, bag in self._bags.items()],
        }
        path.write_text(json.dumps(document), encoding="utf-8")

    def load(self, path: Path) -> None:
        """Takes, when new, what `save` wrote."""
        document = json.loads(path.read_text(encoding="utf-8"))
        for attribute, holds in document["dimensions"]:
            self.number(attribute, holds)
        for number, items in document["labels"]:
            self._labels[number].restore((string, label) for string, label in items)
        for number, things in document["bags"]:
            self._bags[number].restore((at, thing) for at, thing in things)


def _content(holds: int, kind: int | None, scalar: Any, event: Event, name: str) -> Any:
    """Returns what fills a bag, `None` when the event has no such bag."""
    if holds == ARRAY:
        return event.array(name)
    if holds == ODD:
        return scalar
    return scalar if kind == STRING else None


def _label_kind(comparison: Comparison) -> int | None:
    """Returns the line with labels that decides a comparison, `None` if its line has none."""
    constants: Sequence[Any] = comparison.constants
    kind = kind_of(constants[0])
    if kind == STRING:
        return REVERSED if comparison.op.endswith("ends with") else STRINGS
    return LARGE if kind == NUMBER and any(map(is_large, constants)) else None


def _is_small_number(constant: Scalar) -> bool:
    kind = type(constant)
    return (kind is float or kind is int) and not is_large(constant)  # type: ignore[arg-type]


def _number_bounds(op: str, constants: Sequence[Any]) -> _Bounds:
    """Returns the closed range of a comparison that is one stretch of numbers or booleans."""
    is_after, ends_after = _SIDES[op]
    low = -math.inf if is_after is None else float(constants[0])
    high = math.inf if ends_after is None else float(constants[-1])
    return (
        math.nextafter(low, math.inf) if is_after else low,
        math.nextafter(high, -math.inf) if ends_after is False else high,
    )


def _labeled_bounds(part: Stretch, labels: Labels) -> _Bounds:
    """Returns the closed range of labels of a stretch."""
    first, end = part
    return (
        -math.inf if first is None else labels[first.value] + first.is_after,
        math.inf if end is None else labels[end.value] - (not end.is_after),
    )
