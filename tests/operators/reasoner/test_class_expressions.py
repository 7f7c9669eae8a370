"""Class expressions are read as Manchester syntax says, or refused with the place."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis_operators.reasoner.class_expressions import ExpressionError, Name, TypedLiteral, read

A, B, C, P = map(Name, ("A", "B", "C", "p"))


def tree(text: str) -> Any:
    return read(text, lambda name: name.letters.startswith("d"))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("A", A),
        ("<urn:x>", Name("<urn:x>")),
        ("ex:A", Name("ex:A")),
        (":A", Name(":A")),
        ("Police-Car_7", Name("Police-Car_7")),
        ("A and B or C", ("or", ("and", A, B), C)),
        ("A and (B or C)", ("and", A, ("or", B, C))),
        ("A that p some B", ("and", A, ("some", ("object", P), B))),
        ("not A and B", ("and", ("not", A), B)),
        ("not p some A", ("not", ("some", ("object", P), A))),
        ("p some p only A", ("some", ("object", P), ("only", ("object", P), A))),
        ("p some not A and B", ("and", ("some", ("object", P), ("not", A)), B)),
        ("p value A", ("value", ("object", P), A)),
        ("p some Self", ("self", ("object", P))),
        ("p min 2", ("min", ("object", P), 2)),
        ("p min 2 A", ("min", ("object", P), 2, A)),
        ("p max 1 and A", ("and", ("max", ("object", P), 1), A)),
        ("p exactly 0 (A or B)", ("exactly", ("object", P), 0, ("or", A, B))),
        ("inverse p some A", ("some", ("inverse", P), A)),
        ("inverse(p) some A", ("some", ("inverse", P), A)),
        ("{A, B}", ("in", A, B)),
        ("d some integer", ("some", ("data", Name("d")), ("datatype", "integer"))),
        (
            "d some decimal[>= 5, < 7.5]",
            (
                "some",
                ("data", Name("d")),
                (
                    "facets",
                    "decimal",
                    ("minInclusive", TypedLiteral("5", "decimal")),
                    ("maxExclusive", TypedLiteral("7.5", "decimal")),
                ),
            ),
        ),
        ('d value "a \\"b\\""', ("value", ("data", Name("d")), TypedLiteral('a "b"', "string"))),
        ("d value -1.5", ("value", ("data", Name("d")), TypedLiteral("-1.5", "decimal"))),
        ("d value 1e3", ("value", ("data", Name("d")), TypedLiteral("1e3", "double"))),
        ("d value 2.5f", ("value", ("data", Name("d")), TypedLiteral("2.5", "float"))),
        ("d value true", ("value", ("data", Name("d")), TypedLiteral("true", "boolean"))),
        (
            "d only not {1, 2}",
            (
                "only",
                ("data", Name("d")),
                (
                    "not data",
                    ("one of", TypedLiteral("1", "integer"), TypedLiteral("2", "integer")),
                ),
            ),
        ),
    ],
)
def test_read(text: str, wanted: Any) -> None:
    assert tree(text) == wanted
    assert tree(f"  ({text}) ") == wanted


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected a class, a property, not, ( or { at the end"),
        ("A and", "at the end"),
        ("A B", "expected and, or, or the end at 'B'"),
        ("(A", "expected ) at the end"),
        ("{}", "expected an individual at '}'"),
        ("{A B}", "expected } at 'B}'"),
        ("p min x", "expected a whole number at 'x'"),
        ("p min 1.5 A", "expected a whole number at '1.5 A'"),
        ("inverse p", "expected some, only, value, min, max or exactly"),
        ("d some A", "A is not a datatype: boolean, byte"),
        ("d value x", "expected a number, a text in double quotes, true or false at 'x'"),
        ("d some decimal[5]", "expected <= or < or"),
        ("A ; B", "expected a name, a number, a text or a sign at '; B'"),
        ("some A", "expected a class"),
        ("(" * 60 + "A" + ")" * 60, "nested at most 50 deep"),
        ("not " * 60 + "A", "nested at most 50 deep"),
        ("A" * 10_001, "at most 10,000 characters"),
    ],
)
def test_refused(text: str, problem: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        tree(text)
    assert problem in str(caught.value)


WORDS = ["A", "p", "d", "and", "or", "not", "some", "min", "2", "(", ")", "{", "}", ",", "[", '"x"']


@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join)))
def test_anything_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        tree(text)
