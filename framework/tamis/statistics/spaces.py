"""How many events lie in the predicate spaces of an attribute (Ji and Jacobsen, §3.3).

The constants of predicates are marks that divide the values of an attribute into spaces: what is
below a mark, and what is not above it, is counted. A predicate is a sum over spaces, the difference
of two such counts, however many predicates there are. Only what has no order (elements of arrays,
needles, patterns) is counted for itself. Counts add up where the marks are the same.
Invariant: counts at marks are exact, numbers compare as Python compares them.
Cost: O(log marks) a predicate.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.language.comparison import Comparison
from tamis.language.values import BOOLEAN, NUMBER, Scalar, after_prefix, kind_of
from tamis.numeric.types import Floats, Ints
from tamis.statistics.cells import ElementCounts, NumberCells, StringCells

Thing = tuple[str, Any]

LARGE = 2**53
"""From here on not every integer is a double: such numbers are compared one by one."""
ELEMENT, NEEDLE, PATTERN, SET_ANY, SET_ALL = "has", "contains", "matches", "has any", "has all"
_NO_FLOATS = np.zeros(0)


def is_large(value: float) -> bool:
    """Whether a number is compared by itself."""
    return not -LARGE < value < LARGE


def element_key(value: Scalar) -> tuple[bool, Scalar]:
    """Equal for equal elements: `true` is not 1."""
    return type(value) is bool, value


@dataclass(slots=True)
class Marks:
    """What predicates ask of the values of one attribute; all in ascending order."""

    numbers: Floats = field(default_factory=lambda: _NO_FLOATS)
    large: list[Any] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    endings: list[str] = field(default_factory=list)
    """What strings end with, reversed, and what follows after such an ending."""
    things: dict[Thing, int] = field(default_factory=dict)
    """Elements, needles, patterns and sets of elements, each with its place."""


class MarksMaker:
    """Collects the constants of the predicates of one attribute."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.large: set[Any] = set()
        self.strings: set[str] = set()
        self.endings: set[str] = set()
        self.things: dict[Thing, int] = {}

    def add(self, comparison: Comparison) -> None:
        """Takes the constants of a comparison."""
        op, constants = comparison.op.removeprefix("not "), comparison.constants
        if op in ("starts with", "ends with"):
            self._add_affix(op, str(constants[0]))
        elif op in (NEEDLE, PATTERN):
            self._add_thing((op, constants[0]))
        elif op.startswith("has"):
            keys = tuple(element_key(each) for each in constants)
            if len(keys) == 1:
                self._add_thing((ELEMENT, keys[0]))
            else:
                self._add_thing((SET_ALL if op == "has all" else SET_ANY, keys))
        elif op != "exists":
            for constant in constants:
                self._add_constant(constant)

    def _add_constant(self, constant: Scalar) -> None:
        if isinstance(constant, str):
            self.strings.add(constant)
        elif type(constant) is not bool:
            if is_large(constant):
                self.large.add(constant)
            else:
                self.numbers.append(float(constant))

    def _add_affix(self, op: str, affix: str) -> None:
        marks, first = (self.strings, affix) if op == "starts with" else (self.endings, affix[::-1])
        marks.add(first)
        following = after_prefix(first)
        if following is not None:
            marks.add(following)

    def _add_thing(self, thing: Thing) -> None:
        self.things.setdefault(thing, len(self.things))

    def marks(self) -> Marks:
        """What was collected."""
        return Marks(
            np.unique(np.array(self.numbers, np.float64) + 0.0),
            sorted(self.large),
            sorted(self.strings),
            sorted(self.endings),
            self.things,
        )


@dataclass(slots=True)
class Line:
    """Counts at marks that have an order: of what is below each, and not above it."""

    below: Ints
    upto: Ints

    @classmethod
    def empty(cls, marks: int) -> Line:
        """Nothing counted yet."""
        return cls(np.zeros(marks, np.int64), np.zeros(marks, np.int64))

    def __reduce__(self) -> tuple[Any, ...]:
        # neighbors differ by little: what travels is a few bytes a mark
        between = _small(np.diff(self.below, prepend=0))
        return _line, (between, _small(self.upto - self.below))

    def plus(self, other: Line) -> Line:
        """The counts of both, at the same marks."""
        return Line(self.below + other.below, self.upto + other.upto)

    def at(self, chosen: Ints) -> Line:
        """The counts at some marks."""
        return Line(self.below[chosen], self.upto[chosen])


def _line(between: Ints, at: Ints) -> Line:
    below = np.cumsum(between, dtype=np.int64)
    return Line(below, below + at)


def _small(counts: Ints) -> NDArray[Any]:
    """The same in as few bytes as hold them; none is negative."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


@dataclass(slots=True)
class Kinds:
    """How many events have values of each kind."""

    number: int = 0
    string: int = 0
    true: int = 0
    false: int = 0
    array: int = 0
    other: int = 0

    def plus(self, other: Kinds) -> Kinds:
        """Of both."""
        return Kinds(
            self.number + other.number,
            self.string + other.string,
            self.true + other.true,
            self.false + other.false,
            self.array + other.array,
            self.other + other.other,
        )

    @property
    def present(self) -> int:
        """How many events have any value."""
        return self.number + self.string + self.true + self.false + self.array + self.other


class Spaces:
    """What was counted of one attribute."""

    __slots__ = (
        *("elements", "endings", "kinds", "large", "marks", "numbers", "number_cells"),
        *("string_cells", "strings", "things"),
    )

    def __init__(self, marks: Marks) -> None:
        self.marks = marks
        self.kinds = Kinds()
        self.numbers = Line.empty(len(marks.numbers))
        self.large = Line.empty(len(marks.large))
        self.strings = Line.empty(len(marks.strings))
        self.endings = Line.empty(len(marks.endings))
        self.things = np.zeros(len(marks.things), np.int64)
        self.number_cells = NumberCells.of(_NO_FLOATS, np.zeros(0, np.int64))
        self.string_cells = StringCells()
        self.elements = ElementCounts()

    def merged(self, other: Spaces) -> Spaces:
        """What both counted; where their marks differ, at those that both have."""
        one, two = self._matched(other), other._matched(self)
        both = Spaces(one.marks)
        both.kinds = one.kinds.plus(two.kinds)
        for name in ("numbers", "large", "strings", "endings"):
            setattr(both, name, getattr(one, name).plus(getattr(two, name)))
        both.things = one.things + two.things
        both.number_cells = one.number_cells.merged(two.number_cells)
        both.string_cells = one.string_cells.merged(two.string_cells)
        both.elements = one.elements.merged(two.elements)
        return both

    def _matched(self, other: Spaces) -> Spaces:
        """The same with only the marks that another one has, too."""
        mine, theirs = self.marks, other.marks
        if mine is theirs or _same(mine, theirs):
            return self
        matched = Spaces(Marks())
        matched.kinds, matched.elements = self.kinds, self.elements
        matched.number_cells, matched.string_cells = self.number_cells, self.string_cells
        kept = np.flatnonzero(np.isin(mine.numbers, theirs.numbers))
        marks = matched.marks
        marks.numbers, matched.numbers = mine.numbers[kept], self.numbers.at(kept)
        for name in ("large", "strings", "endings"):
            there = set(getattr(theirs, name))
            values = getattr(mine, name)
            at = np.array([at for at, each in enumerate(values) if each in there], np.int64)
            setattr(marks, name, [values[each] for each in at.tolist()])
            setattr(matched, name, getattr(self, name).at(at))
        shared = sorted((thing for thing in mine.things if thing in theirs.things), key=repr)
        marks.things = {thing: at for at, thing in enumerate(shared)}
        matched.things = self.things[[mine.things[thing] for thing in shared]]
        return matched

    # counts

    def exactly(self, comparison: Comparison, events: int) -> int | None:
        """How many events satisfy a comparison, out of so many; `None` without its marks."""
        try:
            return round(sum_of(self, comparison, events))
        except KeyError:
            return None

    def total(self, kind: int) -> int:
        """How many events have a value of a kind of scalars."""
        kinds = self.kinds
        if kind == BOOLEAN:
            return kinds.true + kinds.false
        return kinds.number if kind == NUMBER else kinds.string

    def below(self, constant: Scalar, *, included: bool) -> float:
        """How many values of its kind are below a constant, or equal to it if `included`."""
        if isinstance(constant, str):
            return _at(self.strings, self.marks.strings, constant, included)
        if is_large(constant):
            return _at(self.large, self.marks.large, constant, included)
        return _at(self.numbers, self.marks.numbers, float(constant), included)

    def ending(self, first: str) -> float:
        """How many strings are below one when both are read backwards."""
        return _at(self.endings, self.marks.endings, first, False)

    def thing(self, thing: Thing) -> float:
        """How many events have an element, or a string with a needle or a pattern."""
        return float(self.things[self.marks.things[thing]])


def _same(mine: Marks, theirs: Marks) -> bool:
    return (
        np.array_equal(mine.numbers, theirs.numbers)
        and mine.large == theirs.large
        and mine.strings == theirs.strings
        and mine.endings == theirs.endings
        and mine.things == theirs.things
    )


def _at(line: Line, marks: Sequence[Any] | Floats, value: Any, included: bool) -> float:
    at = bisect_left(marks, value)
    if at == len(marks) or marks[at] != value:
        raise KeyError(value)
    return float((line.upto if included else line.below)[at])


def sum_of(spaces: Any, comparison: Comparison, events: float) -> float:
    """The sum over spaces that a comparison is; of exact spaces, or of estimated ones."""
    op = comparison.op
    wanted = not op.startswith("not ") or op == "not in"
    name = op if wanted else op[4:]
    constants = comparison.constants
    if name == "exists":
        found = float(spaces.kinds.present)
        return found if wanted else events - found
    if name.startswith("has"):
        return _having(spaces, op, constants)
    if name in ("in", "not in", "=", "!="):
        return _among(spaces, name in ("in", "="), constants)
    if name in ("starts with", "ends with", "contains", "matches"):
        found = _affixed(spaces, name, str(constants[0]))
        return found if wanted else spaces.kinds.string - found
    return max(0.0, _between(spaces, name, constants))


def _between(spaces: Any, op: str, constants: Sequence[Scalar]) -> float:
    first, last = constants[0], constants[-1]
    if op in ("<", "<="):
        return float(spaces.below(last, included=op == "<="))
    if op in (">", ">="):
        return float(spaces.total(kind_of(first)) - spaces.below(first, included=op == ">"))
    low = spaces.below(first, included=op in ("in (]", "in ()"))
    return float(spaces.below(last, included=op in ("between", "in (]")) - low)


def _equal(spaces: Any, constant: Scalar) -> float:
    if type(constant) is bool:
        return float(spaces.kinds.true if constant else spaces.kinds.false)
    return float(spaces.below(constant, included=True) - spaces.below(constant, included=False))


def _among(spaces: Any, wanted: bool, constants: Sequence[Scalar]) -> float:
    """Values that are members of a set, or of a kind with members and none of them."""
    found = sum(_equal(spaces, constant) for constant in constants)
    if wanted:
        return found
    kinds = {kind_of(constant) for constant in constants}
    return float(sum(spaces.total(kind) for kind in kinds) - found)


def _affixed(spaces: Any, op: str, affix: str) -> float:
    if op in (NEEDLE, PATTERN):
        return float(spaces.thing((op, affix)))
    first = affix if op == "starts with" else affix[::-1]
    following = after_prefix(first)
    if op == "ends with":
        end = spaces.kinds.string if following is None else spaces.ending(following)
        return float(end - spaces.ending(first))
    end = spaces.kinds.string if following is None else spaces.below(following, included=False)
    return float(end - spaces.below(first, included=False))


def _having(spaces: Any, op: str, constants: Sequence[Scalar]) -> float:
    keys = tuple(element_key(each) for each in constants)
    is_all = op.endswith("has all")
    if len(keys) == 1:
        found = spaces.thing((ELEMENT, keys[0]))
    else:
        found = spaces.thing((SET_ALL if is_all else SET_ANY, keys))
    if op in ("has none", "not has all"):
        return float(spaces.kinds.array - found)
    return float(found)
