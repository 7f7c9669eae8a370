"""Checks constraints: arithmetic, exact on integers, and false where it has no value."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.language.constraint import AttributeReference, Constraint
from tamis.language.values import Scalar

from .reading import read_atom

X, Y, A = AttributeReference("?", "x"), AttributeReference("?", "y"), AttributeReference("$", "a")


def constraint(text: str) -> Constraint:
    atom = read_atom(text)
    assert isinstance(atom, Constraint)
    return atom


def holds(text: str, **values: Scalar | None) -> bool:
    """Whether a constraint over ?x, ?y and $a holds."""
    slots = {reference: at for at, reference in enumerate((X, Y, A))}
    return constraint(text).compiled(slots)([values.get(each.name) for each in (X, Y, A)])


@pytest.mark.parametrize(
    ("text", "values", "truth"),
    [
        ("?x > 3", {"x": 4}, True),
        ("?x > 3", {"x": 3}, False),
        ("?x > ?y", {"x": 4, "y": 3.5}, True),
        ("?x > 2 * ?y", {"x": 7, "y": 3}, True),
        ("?x > 2 * ?y", {"x": 6, "y": 3}, False),
        ("?x + 1 = ?y", {"x": 1, "y": 2.0}, True),
        ("?x - ?y - 1 = 0", {"x": 3, "y": 2}, True),
        ("?x - (?y - 1) = 2", {"x": 3, "y": 2}, True),
        ("?x / ?y = 1.5", {"x": 3, "y": 2}, True),
        ("?x / ?y / 2 = 0.75", {"x": 3, "y": 2}, True),
        ("-?x < 0", {"x": 3}, True),
        ("- ?x * ?y = -6", {"x": 3, "y": 2}, True),
        ("2 + 3 * ?x = 11", {"x": 3}, True),
        ("(2 + 3) * ?x = 15", {"x": 3}, True),
        ("?x > $a", {"x": 4, "a": 3}, True),
        ("?x + ?y in {3, 4}", {"x": 1, "y": 2}, True),
        ("?x in {a, 1}", {"x": "a"}, True),
        ("?x not in {a}", {"x": "b"}, True),
        ("?x not in {a}", {"x": 1}, False),
        ("?x * 2 between 1 and 3", {"x": 1}, True),
        ("?x in (1, 3]", {"x": 3}, True),
        ("?x starts with 'ht'", {"x": "http"}, True),
        ("?x matches '^h'", {"x": "http"}, True),
        ("?x = ?y", {"x": "a", "y": "a"}, True),
        ("?x != ?y", {"x": "a", "y": "b"}, True),
        ("?x < ?y", {"x": "a", "y": "b"}, True),
        ("?x = ?y", {"x": True, "y": True}, True),
        ("?x != ?y", {"x": True, "y": False}, True),
    ],
)
def test_constraints(text: str, values: dict[str, Scalar], truth: bool) -> None:
    assert holds(text, **values) is truth


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("?x > ?y", {"x": 1}),
        ("?x = ?y", {}),
        ("?x > 2 * ?y", {"x": 1, "y": "a"}),
        ("?x > 2 * ?y", {"x": 1, "y": True}),
        ("?x + 0 = ?y", {"x": True, "y": 1}),
        ("?x / ?y > 1", {"x": 1, "y": 0}),
        ("?x / ?y = 1", {"x": 1, "y": 0.0}),
        ("?x * ?y > 1", {"x": 1e308, "y": 10}),
        ("?x * ?y > 1", {"x": 1.5, "y": 10**400}),
        ("?x + ?y > 1", {"x": math.inf, "y": -math.inf}),
        ("?x < ?y", {"x": 1, "y": "b"}),
        ("?x = ?y", {"x": 1, "y": True}),
        ("?x = ?y", {"x": 1, "y": "1"}),
        ("?x < ?y", {"x": False, "y": True}),
        ("?x + 1 = a", {"x": 1}),
        ("?x + 1 in {a, b}", {"x": 1}),
        ("?x > $a", {"x": 1}),
    ],
)
def test_without_a_value_a_constraint_and_its_complement_are_false(
    text: str, values: dict[str, Scalar]
) -> None:
    assert not holds(text, **values)
    for complement in constraint(text).complement():
        assert not holds(complement.text(), **values)


def test_integers_are_exact() -> None:
    assert holds("?x + 1 > ?y", x=2**53, y=2**53)
    assert holds("?x - ?y = 1", x=2**53 + 1, y=2**53)
    assert holds("?x * ?x = 10_000_000_000_000_000_000_000_000_000_000_000_000_000", x=10**20)
    assert not holds("?x + 0 = ?y", x=2**53 + 1, y=2**53)
    assert not holds("?x + 0 = ?y", x=2**53 + 1, y=float(2**53))


def test_divisions_of_large_integers_overflow_to_nothing() -> None:
    assert not holds("?x / ?y > 1", x=10**400, y=1)
    assert not holds("?x / ?y <= 1", x=10**400, y=1)
    assert holds("?x / ?y = 1", x=10**400, y=10**400)


def test_very_large_products_are_no_trouble() -> None:
    product = " * ".join(["?x"] * 300)
    assert isinstance(holds(f"{product} > 1", x=10**999), bool)


@given(
    st.sampled_from(
        ["?x + ?y", "?x - ?y", "?x * ?y", "?x - 2 * ?y", "-(?x - ?y)", "(?x+1)*(?y-1)"]
    ),
    st.sampled_from(["<", "<=", "=", "!=", ">=", ">"]),
    st.integers(-(10**6), 10**6),
    st.integers(-(10**6), 10**6),
    st.integers(-(10**6), 10**6),
)
def test_integer_arithmetic_is_that_of_fractions(
    left: str, relation: str, x: int, y: int, a: int
) -> None:
    python = f"{left} {'==' if relation == '=' else relation} a".replace("?", "")
    expected = eval(python, {"x": Fraction(x), "y": Fraction(y), "a": a})
    assert holds(f"{left} {relation} $a", x=x, y=y, a=a) == expected


def test_a_complement_says_the_opposite() -> None:
    for text, values in (("?x > 2 * ?y", {"x": 7, "y": 3}), ("?x in [1, 3)", {"x": 3})):
        truth = holds(text, **values)
        assert any(holds(each.text(), **values) for each in constraint(text).complement()) != truth
