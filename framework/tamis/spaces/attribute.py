"""Counts the events of an attribute in its predicate spaces (Ji and Jacobsen, section 3.3).

The constants of predicates are marks that divide the values of an attribute into spaces. What has
no order (elements of arrays, needles, patterns) is counted for itself. Beside the spaces that
predicates ask for, cells say where all values lie, for predicates that nobody asked for yet.
Invariant: counts between bounds are exact, numbers compare as Python compares them.
Cost: O(log marks) a predicate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import eq
from typing import Any

import numpy as np

from tamis.language.comparison import Comparison
from tamis.language.predicate import AttributePredicate
from tamis.language.values import BOOLEAN, NUMBER, Scalar, kind_of
from tamis.numeric.types import Floats
from tamis.spaces.cells import ElementCounts, NumberCells, StringCells
from tamis.spaces.cuts import Cut, Stretch, Stretches, stretches_of
from tamis.spaces.line import ENDINGS, LARGE, LINES, NUMBERS, STRINGS, CountedLine

Thing = tuple[str, Any]

LEAST_LARGE = 2**53
"""From here on not every integer is a double: such numbers are compared one by one."""
ELEMENT, NEEDLE, PATTERN, SET_ANY, SET_ALL = "has", "contains", "matches", "has any", "has all"


def is_large(value: float) -> bool:
    """Tells whether a number is compared by itself."""
    return not -LEAST_LARGE < value < LEAST_LARGE


def element_key(value: Scalar) -> tuple[bool, Scalar]:
    """Returns what is equal for equal elements: `true` is not 1."""
    return type(value) is bool, value


def line_of(value: Scalar, is_reversed: bool = False) -> str:
    """Returns the line on which a number or a string lies."""
    if isinstance(value, str):
        return ENDINGS if is_reversed else STRINGS
    return LARGE if is_large(value) else NUMBERS


@dataclass(slots=True)
class Marks:
    """Holds what predicates ask of the values of one attribute: the marks of each line."""

    lines: dict[str, Any] = field(default_factory=dict)
    """Ascending; numbers as an array."""
    things: dict[Thing, int] = field(default_factory=dict)
    """Elements, needles, patterns and sets of elements, each with its place."""
    _cut: dict[str, CountedLine] = field(default_factory=dict, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Marks, (self.lines, self.things)

    def line(self, name: str) -> CountedLine:
        """Returns a line that is cut at the marks, with nothing counted yet."""
        cut = self._cut.get(name)
        if cut is None:
            cut = self._cut[name] = CountedLine(name, self.lines.get(name, ()))
        return CountedLine.counted(name, cut.bounds, np.zeros_like(cut.events))

    def shared(self, other: Marks) -> Marks:
        """Returns the marks that both have."""
        if self is other or (self.things == other.things and _same(self.lines, other.lines)):
            return self
        lines: dict[str, Any] = {}
        for name, values in self.lines.items():
            theirs = other.lines.get(name, ())
            if name == NUMBERS:
                lines[name] = values[np.isin(values, theirs)]
            else:
                there = set(theirs)
                lines[name] = [each for each in values if each in there]
        things = sorted((each for each in self.things if each in other.things), key=repr)
        return Marks(lines, {thing: at for at, thing in enumerate(things)})

    def add_numbers(self, numbers: Floats) -> None:
        """Adds plain numbers to the marks."""
        before = np.asarray(self.lines.get(NUMBERS, ()), np.float64)
        self.lines[NUMBERS] = np.unique(np.concatenate([before, numbers]) + 0.0)
        self._cut.clear()


def _same(mine: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return mine.keys() == theirs.keys() and all(
        len(values) == len(theirs[name]) and all(map(eq, values, theirs[name]))
        for name, values in mine.items()
    )


class MarksMaker:
    """Collects the constants of the predicates of one attribute."""

    def __init__(self) -> None:
        self._lines: dict[str, set[Any]] = {}
        self._things: dict[Thing, int] = {}

    def add(self, comparison: Comparison) -> None:
        """Takes the constants of a comparison."""
        op, constants = comparison.op.removeprefix("not "), comparison.constants
        stretches = stretches_of(comparison)
        if stretches is not None:
            for part in stretches.parts:
                for cut in part:
                    if cut is not None and type(cut.value) is not bool:
                        line = line_of(cut.value, stretches.is_reversed)
                        self._lines.setdefault(line, set()).add(cut.value)
        elif op in (NEEDLE, PATTERN):
            self._add_thing((op, constants[0]))
        elif op.startswith("has"):
            keys = tuple(element_key(each) for each in constants)
            if len(keys) == 1:
                self._add_thing((ELEMENT, keys[0]))
            else:
                self._add_thing((SET_ALL if op == "has all" else SET_ANY, keys))

    def _add_thing(self, thing: Thing) -> None:
        self._things.setdefault(thing, len(self._things))

    def marks(self) -> Marks:
        """Returns what was collected."""
        lines: dict[str, Any] = {name: sorted(values) for name, values in self._lines.items()}
        if NUMBERS in lines:
            lines[NUMBERS] = np.unique(np.array(lines[NUMBERS], np.float64) + 0.0)
        return Marks(lines, self._things)


def marks_of(predicates: Iterable[AttributePredicate]) -> dict[str, Marks]:
    """Returns the marks of each attribute."""
    makers: dict[str, MarksMaker] = {}
    for predicate in predicates:
        maker = makers.get(predicate.attribute)
        if maker is None:
            maker = makers[predicate.attribute] = MarksMaker()
        maker.add(predicate.comparison)
    return {attribute: maker.marks() for attribute, maker in makers.items()}


@dataclass(slots=True)
class Kinds:
    """Counts events by the kind of their value."""

    number: int = 0
    string: int = 0
    true: int = 0
    false: int = 0
    array: int = 0
    other: int = 0

    def plus(self, other: Kinds) -> Kinds:
        """Returns the counts of both."""
        return Kinds(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    @property
    def present(self) -> int:
        """Returns how many events have any value."""
        return self.number + self.string + self.true + self.false + self.array + self.other

    def total(self, kind: int) -> int:
        """Returns how many events have a value of a kind of scalars."""
        if kind == BOOLEAN:
            return self.true + self.false
        return self.number if kind == NUMBER else self.string


class AttributeSpaces:
    """Holds what was counted of one attribute."""

    __slots__ = (
        *("curves", "elements", "kinds", "lines", "marks", "number_cells", "string_cells"),
        "things",
    )

    def __init__(self, marks: Marks | None = None) -> None:
        self.marks = Marks() if marks is None else marks
        self.kinds = Kinds()
        self.lines = {name: self.marks.line(name) for name in LINES}
        self.things = np.zeros(len(self.marks.things), np.int64)
        self.number_cells = NumberCells.of(np.zeros(0), np.zeros(0, np.int64))
        self.string_cells = StringCells()
        self.elements = ElementCounts()
        self.curves: dict[str, Any] = {}
        """Curves that were asked for, by their line; nothing is counted any more by then."""

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        for name, value in state[1].items():
            setattr(self, name, value)
        self.take_marks(self.marks)

    def take_marks(self, marks: Marks) -> None:
        """Takes the marks at which everything was counted, which did not travel with it."""
        self.marks = marks
        for name, line in self.lines.items():
            line.bounds = marks.line(name).bounds

    def merged(self, other: AttributeSpaces) -> AttributeSpaces:
        """Returns what both counted; where their marks differ, at those that both have."""
        mine, theirs = self.marks, other.marks
        both = AttributeSpaces(mine.shared(theirs))
        both.kinds = self.kinds.plus(other.kinds)
        for name, line in both.lines.items():
            counted = self.lines[name].at(line.bounds).plus(other.lines[name].at(line.bounds))
            both.lines[name] = counted
        for thing, at in both.marks.things.items():
            both.things[at] = self.things[mine.things[thing]] + other.things[theirs.things[thing]]
        both.number_cells = self.number_cells.merged(other.number_cells)
        both.string_cells = self.string_cells.merged(other.string_cells)
        both.elements = self.elements.merged(other.elements)
        return both

    def exactly(self, comparison: Comparison, events: int) -> int | None:
        """Returns how many events satisfy a comparison; `None` where its marks were not asked."""
        try:
            return round(satisfying(comparison, events, self.kinds, self.before, self.thing))
        except KeyError:
            return None

    def before(self, line: str, cut: Cut) -> float:
        """Returns how many events lie before a cut; `KeyError` where nobody asked for it."""
        return self.lines[line].before(cut)

    def thing(self, thing: Thing) -> float:
        """Returns how many events have an element, or a string with a needle or a pattern."""
        return float(self.things[self.marks.things[thing]])


def satisfying(
    comparison: Comparison,
    events: float,
    kinds: Kinds,
    before: Callable[[str, Cut], float],
    thing: Callable[[Thing], float],
) -> float:
    """Returns how many events satisfy a comparison: a sum over spaces, counted or estimated."""
    stretches = stretches_of(comparison)
    if stretches is not None:
        return _in_stretches(comparison, stretches, kinds, before)
    op = comparison.op
    name = op.removeprefix("not ")
    if name == "exists":
        return float(kinds.present if op == name else events - kinds.present)
    if name in (NEEDLE, PATTERN):
        found = thing((name, str(comparison.constants[0])))
        return found if op == name else kinds.string - found
    keys = tuple(element_key(each) for each in comparison.constants)
    if len(keys) == 1:
        found = thing((ELEMENT, keys[0]))
    else:
        found = thing((SET_ALL if op.endswith("has all") else SET_ANY, keys))
    return kinds.array - found if op in ("has none", "not has all") else found


def _in_stretches(
    comparison: Comparison,
    stretches: Stretches,
    kinds: Kinds,
    before: Callable[[str, Cut], float],
) -> float:
    found = 0.0
    for part in stretches.parts:
        value = (part.first or part.end or Cut(0)).value
        if type(value) is bool:
            found += kinds.true if value else kinds.false
        else:
            found += max(0.0, _inside(part, kinds, before, stretches.is_reversed))
    if stretches.is_inside:
        return found
    asked = {kind_of(each) for each in comparison.constants}
    return sum(kinds.total(kind) for kind in asked) - found


def _inside(
    part: Stretch, kinds: Kinds, before: Callable[[str, Cut], float], is_reversed: bool
) -> float:
    """Returns how many events lie in a stretch of numbers or of strings."""
    first, end = part
    low = 0.0 if first is None else before(line_of(first.value, is_reversed), first)
    if end is not None:
        return before(line_of(end.value, is_reversed), end) - low
    assert first is not None
    return kinds.total(kind_of(first.value)) - low
