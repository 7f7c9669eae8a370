"""Reads clauses, `(attribute, op, value)`, that programs hand to an index or that one has kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tamis.language.comparison import (
    AFFIXES,
    HAVING,
    OPERATORS,
    ORDERINGS,
    PRESENT,
    RANGES,
    SETS,
    Comparison,
    searcher,
)
from tamis.language.predicate import AttributePredicate
from tamis.language.scanner import SYMBOLS
from tamis.language.values import (
    BOOLEAN,
    NUMBER,
    Scalar,
    as_scalar,
    canonical_number,
    distinct,
    kind_of,
)
from tamis.nearest import did_you_mean

Clause = tuple[str, str, Any]


def predicate_of(clause: Clause) -> AttributePredicate:
    """Returns the attribute predicate of a clause; `ValueError` says what is wrong with it."""
    try:
        attribute, op, value = clause
    except (TypeError, ValueError):
        raise ValueError(f"a clause is (attribute, op, value), not {clause!r}") from None
    if not isinstance(attribute, str) or not attribute:
        raise ValueError(f"the attribute of a clause is a name, not {attribute!r}")
    op = SYMBOLS.get(op, op) if isinstance(op, str) else op
    if op not in OPERATORS:
        hint = did_you_mean(str(op), OPERATORS)
        raise ValueError(f"unknown op {op!r}{hint}; there are {', '.join(OPERATORS)}")
    where = f"{attribute} {op}"
    if op in PRESENT:
        return AttributePredicate(attribute, Comparison(op))
    if op in SETS:
        return AttributePredicate(attribute, Comparison(op, _set(value, where)))
    if op in RANGES:
        return AttributePredicate(attribute, Comparison(op, _range(value, op, where)))
    constant = _constant(value, where)
    if op in ORDERINGS and kind_of(constant) == BOOLEAN:
        raise ValueError(f"{where}: a boolean has no order")
    if op not in HAVING and op.removeprefix("not ") in AFFIXES:
        if not isinstance(constant, str):
            raise ValueError(f"{where} takes a string, not {value!r}")
        if op.endswith("matches"):
            searcher(constant)
    return AttributePredicate(attribute, Comparison(op, constant))


def written(predicate: AttributePredicate) -> list[Any]:
    """Returns a predicate as JSON keeps it."""
    return [predicate.attribute, predicate.comparison.op, predicate.comparison.value]


def read_written(attribute: str, op: str, value: Any) -> AttributePredicate:
    """Returns a predicate that was written."""
    constants = tuple(value) if isinstance(value, list) else value
    return AttributePredicate(attribute, Comparison(op, constants))


def _constant(value: object, where: str) -> Scalar:
    scalar = as_scalar(value)
    if scalar is None:
        raise ValueError(f"{where} takes a number, a string or a boolean, not {value!r}")
    return scalar if isinstance(scalar, (bool, str)) else canonical_number(scalar)


def _set(values: object, where: str) -> tuple[Scalar, ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ValueError(f"{where} takes a list of values, not {values!r}")
    members = distinct(_constant(value, where) for value in values)
    if not members:
        raise ValueError(f"{where} takes at least one value")
    return members


def _range(values: object, op: str, where: str) -> tuple[Scalar, ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ValueError(f"{where} takes a pair of bounds, not {values!r}")
    bounds = tuple(_constant(value, where) for value in values)
    if len(bounds) != 2:
        raise ValueError(f"{where} takes two bounds, not {len(bounds)}")
    low, high = (kind_of(bound) for bound in bounds)
    if low != high or low == BOOLEAN or (op != "between" and low != NUMBER):
        raise ValueError(f"{where} takes two numbers, or two strings for between")
    return bounds
