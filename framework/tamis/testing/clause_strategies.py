"""Draws the clauses that laws are tried on: every op, with constants that are values of events."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from tamis.event.clock import TIME_NAMES
from tamis.index.clauses import Clause
from tamis.language.values import Scalar, as_scalar
from tamis.testing import pool
from tamis.testing.lazily import DrawFn, SearchStrategy, one_of, several, st

RELATIONS = ("=", "!=", "<", "<=", ">", ">=")
_RANGES = ("between", "in [)", "in (]", "in ()")
_AFFIXES = ("starts with", "ends with", "contains", "matches")
_ARRAY_SETS = ("has any", "has all", "has none", "not has all")
_NUMBERS = (*pool.NUMBERS, math.inf, -math.inf)
_CONSTANTS: tuple[Sequence[Scalar], ...] = (
    *(pool.SMALL_NUMBERS, _NUMBERS, pool.STRINGS, pool.BOOLEANS, pool.LARGE_NUMBERS),
)


def clauses(*, most: int = 4) -> SearchStrategy[list[Clause]]:
    """Makes the clauses of one id: a list of `(attribute, op, value)`, at times an empty one.

    >>> from hypothesis import given
    >>> import tamis.index
    >>> @given(clauses())
    ... def law(asked):
    ...     assert len(tamis.index.build("scan", [("id", asked)])) == 1
    >>> law()
    """
    return st.composite(_clauses)(most)


def _clauses(draw: DrawFn, most: int) -> list[Clause]:
    return [draw_clause(draw) for _ in several(draw, 0, most)]


def draw_scalar(draw: DrawFn) -> Scalar:
    """Returns a scalar of any kind, infinite ones among them."""
    return one_of(draw, one_of(draw, _CONSTANTS))


def draw_clause(draw: DrawFn) -> Clause:
    """Returns one `(attribute, op, value)`."""
    attribute = one_of(draw, (*pool.ATTRIBUTES, *pool.ATTRIBUTES, *TIME_NAMES))
    if attribute in TIME_NAMES:
        return attribute, one_of(draw, RELATIONS), one_of(draw, pool.HOURS)
    forms = (*_SCALAR_FORMS, _presence)
    if attribute == "tags":
        forms = (*_SCALAR_FORMS, *_ARRAY_FORMS)
    constants = tuple(draw_scalar(draw) for _ in range(3))
    return (attribute, *one_of(draw, forms)(draw, constants))


def edge_clauses(attribute: str, value: Any) -> list[Clause]:
    """Returns every op with a value and its neighbors for constants: where an answer turns.

    >>> edge_clauses("a", True)[:3]
    [('a', '=', True), ('a', '=', False), ('a', '=', 1)]
    """
    if isinstance(value, list):
        return _array_edges(attribute, value)
    near = neighbors(as_scalar(value))
    strings = [each for each in near if isinstance(each, str)]
    numbers = [each for each in near if not isinstance(each, (str, bool))]
    edges: list[tuple[str, Any]] = [
        *((op, each) for op in RELATIONS[:2] for each in near),
        *((op, each) for op in RELATIONS[2:] for each in (*numbers, *strings)),
        *((op, [each]) for op in ("in", "not in") for each in near),
        *((op, bounds) for op in _RANGES for bounds in product(numbers, repeat=2)),
        *(("between", bounds) for bounds in product(strings, repeat=2)),
        *((op, each) for op in _AFFIXES[:3] for each in strings),
        *((f"not {op}", each) for op in _AFFIXES[:3] for each in strings),
        *(("exists", None), ("not exists", None)),
    ]
    return [(attribute, op, each) for op, each in edges]


def _array_edges(attribute: str, value: list[Any]) -> list[Clause]:
    near = [each for element in value for each in neighbors(as_scalar(element))]
    sets = [[each] for each in near] + [near[:2], near[::6]]
    return [
        *((attribute, "has", each) for each in near),
        *((attribute, op, each) for op in _ARRAY_SETS for each in sets if each),
    ]


def neighbors(value: Scalar | None) -> list[Scalar]:
    """Returns the value, and values that are nearly it.

    >>> neighbors(3)
    [3, 2, 4, 3.0, True, '3']
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [value, value[:1], value[-1:], f"{value}a", value[:-1], value.upper()]
    if isinstance(value, bool):
        return [value, not value, int(value), str(value).lower()]
    if isinstance(value, float) and math.isinf(value):
        return [value, -value, 10**400, sys.float_info.max]
    if isinstance(value, int):
        exact = abs(value) <= 2**1000
        return [value, value - 1, value + 1, float(value) if exact else value, True, str(value)]
    return [value, math.nextafter(value, -math.inf), math.nextafter(value, math.inf), int(value)]


def _relation(draw: DrawFn, constants: Sequence[Scalar]) -> tuple[str, Any]:
    constant = one_of(draw, constants)
    return one_of(draw, RELATIONS[:2] if isinstance(constant, bool) else RELATIONS), constant


def _range(draw: DrawFn, constants: Sequence[Scalar]) -> tuple[str, Any]:
    strings = [each for each in constants if isinstance(each, str)] or pool.STRINGS
    if one_of(draw, (False, False, False, True)):
        return "between", (one_of(draw, strings), one_of(draw, pool.STRINGS))
    numbers = [each for each in constants if not isinstance(each, (str, bool))] or [2]
    bounds = one_of(draw, numbers), one_of(draw, one_of(draw, (numbers, _NUMBERS)))
    return one_of(draw, _RANGES), one_of(draw, (bounds, bounds[::-1]))


def _set(draw: DrawFn, constants: Sequence[Scalar]) -> tuple[str, Any]:
    return one_of(draw, ("in", "not in")), [one_of(draw, constants) for _ in several(draw, 1, 4)]


def _affix(draw: DrawFn, constants: Sequence[Scalar]) -> tuple[str, Any]:
    op = one_of(draw, _AFFIXES)
    strings = [each for each in constants if isinstance(each, str)] or pool.STRINGS
    constant = one_of(draw, pool.PATTERNS if op == "matches" else strings)
    return one_of(draw, (op, f"not {op}")), constant


def _has(draw: DrawFn, constants: Sequence[Scalar]) -> tuple[str, Any]:
    return "has", one_of(draw, constants)


def _has_some(draw: DrawFn, constants: Sequence[Scalar]) -> tuple[str, Any]:
    return one_of(draw, _ARRAY_SETS), [one_of(draw, constants) for _ in several(draw, 1, 3)]


def _presence(draw: DrawFn, constants: Sequence[Scalar]) -> tuple[str, Any]:
    return one_of(draw, ("exists", "not exists")), None


_Form = Callable[[DrawFn, Sequence[Scalar]], tuple[str, Any]]
_SCALAR_FORMS: tuple[_Form, ...] = (_relation, _relation, _relation, _range, _range, _set, _affix)
_ARRAY_FORMS: tuple[_Form, ...] = (_has, _has_some, _has_some, _presence)
