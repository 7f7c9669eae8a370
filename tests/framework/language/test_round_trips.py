"""Canonical text parses back to the same predicate, whatever the names, strings and numbers."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from tamis.language.comparison import (
    COMPLEMENTS,
    HAVING,
    PRESENT,
    RANGES,
    RELATIONS,
    SETS,
    Comparison,
)
from tamis.language.constraint import Constraint
from tamis.language.predicate import AttributePredicate, OperatorPredicate, VariableArgument
from tamis.language.text import RESERVED
from tamis.language.values import Scalar, canonical_number, distinct
from tamis.testing import conditions

from .reading import read, read_atom

LETTERS = st.characters(exclude_characters="\0", exclude_categories=())
STRINGS = st.one_of(
    st.text(LETTERS),
    st.sampled_from(["", "a`b", 'say "hi"', "back\\slash", "\\n", "a\nb", "\ud800", "'", "{}(),"]),
    st.sampled_from(sorted(RESERVED)),
)
NAMES = st.one_of(
    st.sampled_from(["a", "meta.speed", "Camera ID", "größe", "_", "x1"]),
    STRINGS.filter(bool),
)
INTEGERS = st.one_of(
    st.integers(),
    st.integers(-(10**1000) + 1, 10**1000 - 1),
    st.sampled_from([2**53, 2**53 + 1, 10**22, 10**400, 10**999]),
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False).map(canonical_number)
NUMBERS = st.one_of(INTEGERS, FLOATS)
SCALARS: st.SearchStrategy[Scalar] = st.one_of(NUMBERS, STRINGS, st.booleans())


@st.composite
def comparisons(draw: st.DrawFn, *, arrays: bool = True) -> Comparison:
    op = draw(st.sampled_from([*RELATIONS, *RANGES, *COMPLEMENTS, "has"]))
    if not arrays and (op in HAVING or op in PRESENT):
        op = "in"
    if op in PRESENT:
        return Comparison(op)
    if op in SETS:
        return Comparison(op, distinct(draw(st.lists(SCALARS, min_size=1, max_size=5))))
    if op == "between":
        return Comparison(
            op, draw(st.one_of(st.tuples(NUMBERS, NUMBERS), st.tuples(STRINGS, STRINGS)))
        )
    if op in RANGES:
        return Comparison(op, draw(st.tuples(NUMBERS, NUMBERS)))
    if op in ("=", "!=", "has"):
        return Comparison(op, draw(SCALARS))
    if op in RELATIONS:
        return Comparison(op, draw(st.one_of(NUMBERS, STRINGS)))
    if op.endswith("matches"):
        return Comparison(op, draw(st.sampled_from(["", "^a", "\\d+", 'x"y', "[^\\]]", "a|b\n"])))
    return Comparison(op, draw(STRINGS))


@given(NAMES, comparisons())
def test_attribute_predicates(name: str, comparison: Comparison) -> None:
    predicate = AttributePredicate(name, comparison)
    atom = read_atom(predicate.text())
    assert isinstance(atom, AttributePredicate)
    assert atom.key == predicate.key
    assert atom.text() == predicate.text()


@given(
    NAMES,
    st.lists(st.one_of(SCALARS, st.builds(VariableArgument, NAMES)), max_size=5),
)
def test_operator_predicates(
    name: str, arguments: list[int | float | str | bool | VariableArgument]
) -> None:
    if name.lower() in RESERVED:
        return
    predicate = OperatorPredicate(name, tuple(arguments))
    atom = read_atom(predicate.text())
    assert isinstance(atom, OperatorPredicate)
    assert atom.key == predicate.key


ATOMS = st.one_of(
    st.sampled_from(["?x", "?y", "$a", "2", "0.5", "?`odd name`", "$`Camera ID`", "$and1"]),
    FLOATS.filter(lambda number: number >= 0).map(repr),
)
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(" ".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-({text})"),
    ),
    max_leaves=12,
)


@given(EXPRESSIONS, st.sampled_from([*RELATIONS]), EXPRESSIONS)
def test_constraints_over_arithmetic(left: str, op: str, right: str) -> None:
    text = f"?x + {left} {op} {right}"
    atom = read_atom(text)
    assert isinstance(atom, Constraint)
    again = read_atom(atom.text())
    assert isinstance(again, Constraint)
    assert again.text() == atom.text()
    assert (again.left, again.op, again.right) == (atom.left, atom.op, atom.right)


@given(comparisons(arrays=False))
def test_constraints_on_variables(comparison: Comparison) -> None:
    text = comparison.text("?x")
    atom = read_atom(text)
    assert isinstance(atom, Constraint)
    assert atom.comparison is not None
    assert atom.comparison.key == comparison.key
    assert atom.text() == text


@given(conditions())
def test_conditions(text: str) -> None:
    alternatives = [list(dict.fromkeys(parts)) for parts in read(text)]
    canonical = " or ".join(f"({' and '.join(parts)})" for parts in alternatives)
    assert read(canonical) == alternatives


@given(FLOATS)
def test_numbers_are_written_as_python_writes_them(number: int | float) -> None:
    assert read(f"a = {number!r}") == [[f"a = {number!r}"]]
    assert math.isfinite(number) or isinstance(number, int)
