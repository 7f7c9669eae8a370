"""Checks the literals of solutions, and those that are none of their datatype."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("pyoxigraph", reason="pip install 'tamis[reasoner]'")

import pyoxigraph as ox

from tamis_operators.reasoner.terms import flaw, literal_value
from tests.operators.reasoner.asking import holds, solutions

XSD = "http://www.w3.org/2001/XMLSchema#"


def literal(text: str, datatype: str) -> ox.Literal:
    return ox.Literal(text, datatype=ox.NamedNode(datatype if ":" in datatype else XSD + datatype))


@pytest.mark.parametrize(
    ("text", "datatype", "value"),
    [
        ("7", "integer", 7),
        (" +07 ", "byte", 7),
        ("7.0", "decimal", 7),
        ("7.25", "decimal", 7.25),
        ("7", "double", 7.0),
        ("1e3", "float", 1000.0),
        ("-INF", "double", -math.inf),
        ("NaN", "double", "NaN"),
        ("true", "boolean", True),
        ("0", "boolean", False),
        ("yes", "boolean", "yes"),
        ("seven", "integer", "seven"),
        ("2024-02-03", "date", "2024-02-03"),
        ("a", "string", "a"),
        ("9" * 5000, "integer", math.inf),
        ("x", "http://e/t", "x"),
    ],
)
def test_values(text: str, datatype: str, value: object) -> None:
    found = literal_value(literal(text, datatype))
    assert (type(found), found) == (type(value), value)
    shown = '"' + text + '"^^<' + (datatype if ":" in datatype else XSD + datatype) + ">"
    facts = f":a :speed {shown} ."
    assert solutions("holds(a, speed, ?v)", facts, regime="rdfs") == [{"v": value}]


def test_languages_and_kinds() -> None:
    facts = ':a :name "chat"@fr, "chat"@en, "cat", 5, "5", true, "true", :chat .'
    found = solutions("holds(a, name, ?v)", facts)
    assert not isinstance(found, str)
    values = [each["v"] for each in found]
    assert sorted(map(str, values)) == ["5", "5", "True", "cat", "chat", "true"]
    for constant, known in (
        ("chat", 1),
        ('"5"', 1),
        (5, 1),
        (5.0, 1),
        (6, 0),
        ("true", 1),
        ("dog", 0),
    ):
        assert holds(f"holds(a, name, {constant})", facts) == bool(known)


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("seven", "integer"),
        ("300", "byte"),
        ("-1", "nonNegativeInteger"),
        ("0", "positiveInteger"),
        ("1e3", "decimal"),
        ("Inf", "double"),
        ("TRUE", "boolean"),
        ("abc", "hexBinary"),
        ("a===", "base64Binary"),
        ("2024-13-01T00:00:00", "dateTime"),
        ("2024-12-01T00:00:00", "dateTimeStamp"),
        ("a\nb", "normalizedString"),
        (" a", "token"),
        ("a b", "NCName"),
        ("en_US", "language"),
    ],
)
def test_flaws(text: str, datatype: str) -> None:
    wrong = literal(text, datatype)
    assert f"is not an xsd:{datatype}" in (flaw(wrong) or "")
    reason = solutions("holds(a, speed, ?v)", f":a :speed {wrong} .")
    assert isinstance(reason, str)
    assert f"the facts are inconsistent: {text!r} is not an xsd:{datatype}" in reason


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("0", "double"),
        ("INF", "float"),
        ("2024-12-01T00:00:00.5Z", "dateTime"),
        ("2024-12-01T24:00:00+14:00", "dateTimeStamp"),
        ("2024-12-01", "date"),
        ("12:00:00", "time"),
        ("0aFF", "hexBinary"),
        ("YWI=", "base64Binary"),
        ("", "token"),
        ("a b", "token"),
        ("en-US", "language"),
        ("é.1", "NCName"),
        ("127", "byte"),
        ("anything", "http://e/t"),
    ],
)
def test_no_flaws(text: str, datatype: str) -> None:
    assert flaw(literal(text, datatype)) is None
