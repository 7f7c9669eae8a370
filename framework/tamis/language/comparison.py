"""Compares with constants: one operator and its constants, for any subject.

A comparison is a plain value: equal comparisons have equal keys, a complement is made of
comparisons again, and `compiled` gives the one function that decides it. Attribute predicates,
guards and constraints all use this one, so that a number compares alike everywhere.
Subjects are read in one of three ways: as a scalar, as an array of scalars, or as present at all;
an absent subject is `None` (for presence: `False`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tamis.language.text import constant_text
from tamis.language.values import NUMBER, Scalar, kind_of

Subject = Any
Constants = Scalar | tuple[Scalar, ...] | None

_PATTERN_MEMORY = 1 << 20
SCALAR, ARRAY, PRESENCE = "scalar", "array", "presence"

ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    **ORDERINGS,
}
RANGES = {
    "between": (True, True),
    "in [)": (True, False),
    "in (]": (False, True),
    "in ()": (False, False),
}
INTERVALS = {"[]": "between", "[)": "in [)", "(]": "in (]", "()": "in ()"}
AFFIXES = ("starts with", "ends with", "contains", "matches")
HAVING = ("has", "has any", "has all", "has none", "not has all")
PRESENT = ("exists", "not exists")

MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITES = (
    *(("=", "!="), ("<", ">="), (">", "<="), ("in", "not in"), ("exists", "not exists")),
    *(("has any", "has none"), ("has all", "not has all")),
    *((affix, f"not {affix}") for affix in AFFIXES),
)
COMPLEMENTS = dict(_OPPOSITES) | {other: one for one, other in _OPPOSITES}
SETS = ("in", "not in", "has any", "has all", "has none", "not has all")
OPERATORS = (
    *(*RELATIONS, *SETS, *RANGES, *AFFIXES),
    *(*(f"not {affix}" for affix in AFFIXES), "has", *PRESENT),
)
_BARE = ("=", "!=", "has", *SETS)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """An operator and its constants, in normal form: sets sorted, integral numbers as `int`."""

    op: str
    value: Constants = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal exactly when the comparisons are: kinds count, so that `1` is not `true`."""
        value = self.value
        if type(value) is not tuple:
            return (self.op, type(value) is bool, value)
        return (self.op, *[(type(constant) is bool, constant) for constant in value])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Comparison) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def constants(self) -> tuple[Scalar, ...]:
        """Its constants, none for `exists`."""
        if self.value is None:
            return ()
        return self.value if isinstance(self.value, tuple) else (self.value,)

    @property
    def reads(self) -> str:
        """The way the subject is read: as a scalar, an array, or presence."""
        if self.op in PRESENT:
            return PRESENCE
        return ARRAY if self.op in HAVING else SCALAR

    def complement(self) -> tuple[Comparison, ...]:
        """Returns comparisons: one holds when this one does not and the subject is of its kind."""
        if self.op in RANGES:
            low_closed, high_closed = RANGES[self.op]
            low, high = self.constants
            return (
                Comparison("<" if low_closed else "<=", low),
                Comparison(">" if high_closed else ">=", high),
            )
        if self.op == "has":
            return (Comparison("has none", self.constants),)
        return (Comparison(COMPLEMENTS[self.op], self.value),)

    def text(self, subject: str) -> str:
        """Returns the comparison in canonical text."""
        if self.op in PRESENT:
            return f"{self.op}({subject})"
        if self.op in RANGES:
            low, high = (constant_text(constant) for constant in self.constants)
            if self.op == "between" and kind_of(self.constants[0]) != NUMBER:
                return f"{subject} between {low} and {high}"
            low_closed, high_closed = RANGES[self.op]
            return f"{subject} in {'(['[low_closed]}{low}, {high}{')]'[high_closed]}"
        bare = self.op in _BARE
        words = ", ".join(constant_text(constant, bare=bare) for constant in self.constants)
        if self.op in SETS:
            words = f"{{{words}}}"
        if self.op.startswith("not ") and self.op != "not in":
            return f"not {subject} {self.op[4:]} {words}"
        return f"{subject} {self.op} {words}"

    def compiled(self) -> Callable[[Subject], bool]:
        """Returns the function that decides it for a subject read as `reads` says."""
        return _compile(self)


def _compile(comparison: Comparison) -> Callable[[Subject], bool]:
    op, constants = comparison.op, comparison.constants
    if op in RELATIONS:
        return _relation(RELATIONS[op], constants[0])
    if op in RANGES:
        return _range(*RANGES[op], constants[0], constants[1])
    if op in ("in", "not in"):
        return _membership(constants, wanted=op == "in")
    if op in PRESENT:
        wanted = op == "exists"
        return lambda present: present is wanted
    if op in HAVING:
        return _having(op, constants)
    return _affix(op, constants[0])


def _relation(relation: Callable[[Any, Any], bool], constant: Scalar) -> Callable[[Subject], bool]:
    first, second = _types(constant)

    def holds(subject: Subject) -> bool:
        kind = type(subject)
        return (kind is first or kind is second) and relation(subject, constant)

    return holds


def _range(
    low_closed: bool, high_closed: bool, low: Scalar, high: Scalar
) -> Callable[[Subject], bool]:
    first, second = _types(low)
    above = operator.ge if low_closed else operator.gt
    below = operator.le if high_closed else operator.lt

    def holds(subject: Subject) -> bool:
        kind = type(subject)
        return (kind is first or kind is second) and above(subject, low) and below(subject, high)

    return holds


def _membership(constants: tuple[Scalar, ...], *, wanted: bool) -> Callable[[Subject], bool]:
    kinds = {kind for constant in constants for kind in _types(constant)}
    members = _tagged(constants)

    def holds(subject: Subject) -> bool:
        kind = type(subject)
        return kind in kinds and ((kind is bool, subject) in members) is wanted

    return holds


def _having(op: str, constants: tuple[Scalar, ...]) -> Callable[[Subject], bool]:
    members = _tagged(constants)

    def holds(elements: Subject) -> bool:
        if elements is None:
            return False
        found = _tagged(elements)
        if op == "has all":
            return members <= found
        if op == "not has all":
            return not members <= found
        return members.isdisjoint(found) is (op == "has none")

    return holds


def _affix(op: str, constant: Scalar) -> Callable[[Subject], bool]:
    assert isinstance(constant, str)
    wanted = not op.startswith("not ")
    name = op if wanted else op[4:]
    if name == "starts with":
        test: Callable[[str], bool] = lambda value: value.startswith(constant)  # noqa: E731
    elif name == "ends with":
        test = lambda value: value.endswith(constant)  # noqa: E731
    elif name == "contains":
        test = lambda value: constant in value  # noqa: E731
    else:
        test = searcher(constant)
    return lambda subject: type(subject) is str and test(subject) is wanted


def searcher(pattern: str) -> Callable[[str], bool]:
    """Returns a search for a regular expression (RE2) in strings; `ValueError` if it is bad."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_MEMORY
    try:
        compiled = re2.compile(pattern.encode("utf-8", "surrogatepass"), options=options)
    except re2.error as bad:
        reason = bad.args[0] if bad.args else bad
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None
    search = compiled.search
    return lambda value: search(value.encode("utf-8", "surrogatepass")) is not None


def _types(constant: Scalar) -> tuple[type, type]:
    return (int, float) if kind_of(constant) == NUMBER else (type(constant), type(constant))


def _tagged(values: tuple[Scalar, ...]) -> set[tuple[bool, Scalar]]:
    return {(type(value) is bool, value) for value in values}
