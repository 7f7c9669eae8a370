"""Says where predicates cut the values of an attribute (Ji and Jacobsen, section 4).

A predicate on values that have an order is a few stretches of them, or all values of the kind but
those. A stretch reaches from one cut to another; a cut lies just before a value or just after it.
A space is what lies between two neighboring cuts, so every predicate is a union of spaces. Indexes,
statistics and learning all cut by this one rule.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tamis.language.comparison import ORDERINGS, RANGES, Comparison
from tamis.language.values import after_prefix

_AFFIXES = ("starts with", "ends with")
_POINTS = ("=", "!=", "in", "not in")


class Cut(NamedTuple):
    """Lies just before a value, or just after it; cuts compare as they lie."""

    value: Any
    is_after: bool = False


class Stretch(NamedTuple):
    """Reaches from a cut to another; `None` is the beginning or the end of all values."""

    first: Cut | None
    end: Cut | None


class Stretches(NamedTuple):
    """Holds disjoint stretches; a predicate is true inside of them, or outside."""

    parts: list[Stretch]
    is_inside: bool
    is_reversed: bool = False
    """True if the values are strings read backwards, for `ends with`."""


def stretches_of(comparison: Comparison) -> Stretches | None:
    """Returns the stretches of a comparison; `None` where its values have no order."""
    op, constants = comparison.op, comparison.constants
    if op in _POINTS:
        points = [stretch_of("=", constant) for constant in constants]
        return Stretches(points, op in ("=", "in"))
    if op in ORDERINGS or op in RANGES:
        return Stretches([stretch_of(op, *constants)], True)
    name = op.removeprefix("not ")
    if name not in _AFFIXES:
        return None
    is_reversed = name == "ends with"
    prefix = str(constants[0])[::-1] if is_reversed else str(constants[0])
    following = after_prefix(prefix)
    part = Stretch(Cut(prefix), None if following is None else Cut(following))
    return Stretches([part], op == name, is_reversed)


def stretch_of(op: str, first: Any, last: Any = None) -> Stretch:
    """Returns the stretch of an operator with its one or two constants, or with arrays of them."""
    if op == "=":
        return Stretch(Cut(first), Cut(first, True))
    if op in ("<", "<="):
        return Stretch(None, Cut(first, op == "<="))
    if op in (">", ">="):
        return Stretch(Cut(first, op == ">"), None)
    low_closed, high_closed = RANGES[op]
    return Stretch(Cut(first, not low_closed), Cut(last, high_closed))


def first_double(cut: Cut) -> Any:
    """Returns the first double behind a cut, or those behind cuts at an array of values."""
    value = cut.value
    if not cut.is_after:
        return value
    if isinstance(value, np.ndarray):
        with np.errstate(over="ignore"):  # infinity follows the last double
            return np.nextafter(value, math.inf)
    return math.nextafter(value, math.inf)
