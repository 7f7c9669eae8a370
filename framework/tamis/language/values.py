"""Reads scalars, and compares them: by kind first, then exactly.

Numbers are Python's `int` and `float`, which compare exactly with each other at any size; strings
compare by code point; booleans are a kind of their own, never numbers. Absent is `None`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeGuard

Scalar = bool | int | float | str

BOOLEAN, NUMBER, STRING = 0, 1, 2
KIND_NAMES = ("boolean", "number", "string")
_KINDS: dict[type, int] = {bool: BOOLEAN, int: NUMBER, float: NUMBER, str: STRING}
_EXACT_DIGITS = 1_000
_LAST_LETTER = chr(0x10FFFF)
_TOO_LARGE = 10**_EXACT_DIGITS


def kind_of(value: Scalar) -> int:
    """Returns the kind of a scalar: values of two kinds are never equal and never ordered."""
    return _KINDS[type(value)]


def as_scalar(value: object) -> Scalar | None:
    """Returns a value as a scalar, `None` when it is absent (null, NaN) or is no scalar."""
    exact = type(value)
    if exact is str or exact is bool:
        return value  # type: ignore[return-value]
    if exact is float:
        return None if value != value else value  # type: ignore[return-value]
    if exact is int:
        is_exact = -_TOO_LARGE < value < _TOO_LARGE
        return value if is_exact else _bounded(value)  # type: ignore[return-value, arg-type]
    return None if value is None else _unusual_scalar(value)


def _unusual_scalar(value: object) -> Scalar | None:
    """Subclasses of the scalar types, and NumPy's scalars."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return _bounded(int(value))
    if isinstance(value, float):
        return as_scalar(float(value))
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        plain = value.item()
        return None if type(plain) is type(value) else as_scalar(plain)
    return None


def _bounded(value: int) -> int | float:
    if -_TOO_LARGE < value < _TOO_LARGE:
        return value
    return math.inf if value > 0 else -math.inf


def is_scalar(value: object) -> TypeGuard[Scalar]:
    """Returns whether a value is already in the form that `as_scalar` gives."""
    return type(value) in _KINDS and value == value


def canonical_number(value: int | float) -> int | float:
    """Returns the number itself, an integral one as `int`."""
    if type(value) is float and value.is_integer():
        return int(value)
    return value


def identity(values: tuple[Scalar, ...]) -> tuple[object, ...]:
    """Returns a key that is equal exactly when tuples of scalars are, by value and kind."""
    for value in values:
        if value is True or value is False:
            return tuple((kind_of(each), each) for each in values)
    return values


def after_prefix(prefix: str) -> str | None:
    """Returns the least string after all that begin with the prefix, if there is any."""
    kept = prefix.rstrip(_LAST_LETTER)
    return kept[:-1] + chr(ord(kept[-1]) + 1) if kept else None


def distinct(values: Iterable[Scalar]) -> tuple[Scalar, ...]:
    """Returns each value once, sorted by kind, then by value."""
    found = {(kind_of(value), value) for value in values}
    return tuple(value for _, value in sorted(found))
