"""Checks that contradictions of one subject are never wrong, and nearly never missed."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.index.clauses import Clause, predicate_of
from tamis.language.contradiction import contradictory
from tamis.testing import clauses, events, satisfies

Asked = list[tuple[str, Any]]


def excluded(asked: Asked) -> bool:
    return contradictory([predicate_of(("a", op, value)).comparison for op, value in asked])


NEVER: list[Asked] = [
    [("=", 1), ("=", 2)],
    [("=", 1), ("=", "1")],
    [("=", 1), ("=", True)],
    [("=", 1), ("!=", 1.0)],
    [(">", 3), ("<", 3)],
    [(">", 3), ("<=", 3)],
    [(">=", 3), ("<", 3)],
    [(">", "b"), ("<", "a")],
    [(">", 3), ("<", "a")],
    [("between", (3, 1))],
    [("in ()", (1, 1))],
    [("in [)", (1, 1))],
    [("between", ("b", "a"))],
    [("between", (1, 2)), ("in (]", (2, 3))],
    [("between", (1, 1)), ("!=", 1)],
    [("in", [1, 2]), ("in", [3, 4])],
    [("in", [1, 2]), ("not in", [1, 2, 3])],
    [("in", [1, "a"]), (">", 5)],
    [("in", [1, "a"]), ("starts with", "b")],
    [("=", True), ("!=", True)],
    [("!=", True), ("!=", False)],
    [("not in", [True]), ("=", True)],
    [("=", "abc"), ("starts with", "b")],
    [("=", "abc"), ("not contains", "b")],
    [("=", "abc"), ("matches", "^b")],
    [("starts with", "b"), ("<", "a")],
    [("starts with", "b"), (">", "c")],
    [("starts with", "a"), ("=", 3)],
    [("exists", None), ("not exists", None)],
    [("=", 1), ("not exists", None)],
    [("has", 1), ("not exists", None)],
    [("has", 1), ("=", 1)],
    [("has", 1), ("has none", [1])],
    [("has all", [1, 2]), ("has none", [2])],
    [("has any", [1, 2]), ("has none", [1, 2, 3])],
    [("has all", [1, 2]), ("not has all", [1, 2])],
    [("has", 1), ("has", 2), ("not has all", [1, 2])],
    [("<", 2**53), (">", 2**53)],
    [("=", 2**53 + 1), ("=", float(2**53))],
]
SOMETIMES: list[Asked] = [
    [],
    [("=", 1), ("=", 1.0)],
    [(">", 3), ("<", 4)],
    [(">=", 3), ("<=", 3)],
    [("between", (1, 1))],
    [("!=", 1), ("!=", 2)],
    [("in", [1, "a"]), ("in", ["a", 2])],
    [("not in", [1, "a"]), (">", 5)],
    [("not in", [1, "a"]), ("starts with", "b")],
    [("starts with", "a"), (">", "ab")],
    [("starts with", "ab"), ("starts with", "a")],
    [("starts with", "b"), ("<", "bb")],
    [("starts with", "b"), (">", "ba"), ("ends with", "z")],
    [("!=", True)],
    [("exists", None), ("=", 1)],
    [("exists", None), ("has", 1)],
    [("not exists", None)],
    [("has", 1), ("has", "a"), ("has none", [True])],
    [("has any", [1, 2]), ("has none", [1])],
    [("has all", [1]), ("not has all", [1, 2])],
    [(">", 10**400), ("<", math.inf)],
    [(">", 2**53), ("<", 2**53 + 2)],
]


@pytest.mark.parametrize("asked", NEVER, ids=str)
def test_what_no_value_satisfies(asked: Asked) -> None:
    assert excluded(asked)


@pytest.mark.parametrize("asked", SOMETIMES, ids=str)
def test_what_some_value_satisfies(asked: Asked) -> None:
    assert not excluded(asked)


@pytest.mark.parametrize("affix", ["starts with", "ends with", "contains", "matches"])
def test_a_comparison_beside_its_own_complement(affix: str) -> None:
    assert excluded([(affix, "x"), (f"not {affix}", "x")])


@given(clauses(), st.lists(events(operators=False), min_size=1, max_size=4))
def test_it_is_never_wrong(asked: list[Clause], documents: list[dict[str, Any]]) -> None:
    named = [("a", op, value) for _, op, value in asked]
    if not contradictory([predicate_of(clause).comparison for clause in named]):
        return
    values = [value for document in documents for value in document.values()]
    constants = [value for _, _, value in named]
    values += [
        each for value in constants for each in (value if isinstance(value, list) else [value])
    ]
    values += [list(value) for value in constants if isinstance(value, (list, tuple))]
    for value in values:
        assert not satisfies({"a": value}, named)
