"""Checks comparisons: by kind first, then exactly; complements; keys; regular expressions."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.index.clauses import predicate_of
from tamis.language.comparison import Comparison, Constants, searcher
from tamis.language.values import Scalar
from tamis.testing import clauses, satisfies

LARGE = 2**53


def holds(op: str, constants: Constants, subject: Any) -> bool:
    found = Comparison(op, constants).compiled()(subject)
    assert isinstance(found, bool)
    return found


@pytest.mark.parametrize(
    ("op", "constant", "yes", "no"),
    [
        ("=", 1, [1, 1.0], [2, True, "1", None, 1 + 1e-9]),
        ("=", True, [True], [1, False, "true", None]),
        ("=", "a", ["a"], ["A", "", None, 1]),
        ("!=", 1, [2, 0.5, math.inf], [1, 1.0, True, "2", None]),
        ("!=", True, [False], [True, 0, "false", None]),
        ("!=", "a", ["b", ""], ["a", 1, None, False]),
        ("<", 3, [2, 2.999, -math.inf], [3, 3.0, 4, True, "2", None]),
        ("<=", 3, [3, 3.0, 2], [3.1, math.inf, False, None]),
        (">", 3, [3.1, math.inf, 10**400], [3, 2, "4", True]),
        (">=", 3, [3, 4], [2.999, "3"]),
        ("<", "b", ["a", "", "B", "azz"], ["b", "c", "é", 1, None]),
        (">", "b", ["ba", "c", "é", "😀"], ["b", "a", 3]),
        ("=", LARGE + 1, [LARGE + 1], [LARGE, float(LARGE), LARGE + 2]),
        ("<", LARGE + 1, [LARGE, float(LARGE)], [LARGE + 1, float(LARGE + 2)]),
        (">", float(LARGE), [LARGE + 1], [LARGE, float(LARGE)]),
        ("<", 10**400, [1e308, 10**400 - 1, -math.inf], [10**400, math.inf]),
        ("=", math.inf, [math.inf], [1e308, 10**400]),
        ("between", (1, 3), [1, 2.5, 3, 3.0], [0.999, 3.001, True, "2", None]),
        ("between", (3, 1), [], [1, 2, 3]),
        ("between", ("a", "b"), ["a", "ab", "b"], ["B", "ba", 1]),
        ("in [)", (1, 3), [1, 2.999], [3, 0]),
        ("in (]", (1, 3), [1.001, 3], [1, 4]),
        ("in ()", (1, 3), [2], [1, 3]),
        ("in", (1, "a"), [1, 1.0, "a"], [2, "b", True, None]),
        ("not in", (1, "a"), [2, "b"], [1, 1.0, "a", True, None]),
        ("not in", (True,), [False], [True, 0, "x", None]),
        ("in", (True, 1), [True, 1], [False, 0]),
        ("starts with", "ab", ["ab", "abc"], ["a", "xab", 1, None, True]),
        ("starts with", "", ["", "x"], [1, None]),
        ("not starts with", "ab", ["a", ""], ["abc", 1, None]),
        ("ends with", "ab", ["ab", "xab"], ["abx", 1]),
        ("not ends with", "ab", ["abx"], ["xab", 1, None]),
        ("contains", "ab", ["xaby"], ["axb", 1]),
        ("not contains", "ab", ["axb"], ["xaby", 1, None]),
        ("matches", "a+b", ["xaab", "ab"], ["b", "", 1, None]),
        ("not matches", "a+b", ["b", ""], ["xaab", 1, None]),
    ],
)
def test_scalars(op: str, constant: Constants, yes: list[Any], no: list[Any]) -> None:
    assert [each for each in yes if not holds(op, constant, each)] == []
    assert [each for each in no if holds(op, constant, each)] == []


@pytest.mark.parametrize(
    ("op", "constant", "yes", "no"),
    [
        ("has", 1, [(1,), (2, 1.0)], [(), (2,), (True,), ("1",), None]),
        ("has", "fire", [("fire",)], [("Fire",), None]),
        ("has any", (1, "a"), [(1,), ("a", 9)], [(), (True, "b"), None]),
        ("has all", (1, "a"), [(1, "a"), ("a", 1.0, 2)], [(1,), (True, "a"), (), None]),
        ("has none", (1, "a"), [(), (2, "b"), (True,)], [(1,), ("a", 2), None]),
        ("not has all", (1, "a"), [(1,), (), (True, "a")], [(1, "a"), None]),
    ],
)
def test_arrays(op: str, constant: Constants, yes: list[Any], no: list[Any]) -> None:
    assert [each for each in yes if not holds(op, constant, each)] == []
    assert [each for each in no if holds(op, constant, each)] == []


def test_presence() -> None:
    assert holds("exists", None, True)
    assert not holds("exists", None, False)
    assert holds("not exists", None, False)


SUBJECTS: tuple[Scalar, ...] = (
    *(0, 1, 1.0, 2, 2.5, 5, LARGE, LARGE + 1, 10**400, math.inf, -math.inf),
    *("", "a", "ab", "uav-1", "fire", True, False),
)


@given(clauses(most=1))
def test_a_comparison_and_its_complement_part_the_values_of_its_kind(
    asked: list[tuple[str, str, Any]],
) -> None:
    for clause in asked:
        comparison = predicate_of(clause).comparison
        if comparison.reads != "scalar":
            continue
        complements = comparison.complement()
        kinds = {type(each) for each in comparison.constants}
        for subject in SUBJECTS:
            truth = comparison.compiled()(subject)
            other = any(each.compiled()(subject) for each in complements)
            assert not (truth and other)
            if type(subject) in kinds:
                assert truth or other


@given(clauses(most=1), st.sampled_from(SUBJECTS))
def test_comparisons_are_those_of_the_contract(
    asked: list[tuple[str, str, Any]], subject: Scalar
) -> None:
    for _, op, value in asked:
        comparison = predicate_of(("a", op, value)).comparison
        read: Any = {"scalar": subject, "array": (subject,), "presence": True}[comparison.reads]
        document = {"a": [subject] if comparison.reads == "array" else subject}
        assert comparison.compiled()(read) == satisfies(document, [("a", op, value)])


def test_keys_tell_kinds_apart() -> None:
    assert Comparison("=", 1).key != Comparison("=", True).key
    assert Comparison("=", 1).key == Comparison("=", 1).key
    assert Comparison("in", (1,)).key != Comparison("in", (True,)).key
    assert Comparison("=", "1").key != Comparison("=", 1).key


def test_regular_expressions_are_those_of_re2() -> None:
    assert searcher("^a.c$")("abc")
    assert not searcher("^a.c$")("xabc")
    assert searcher("")("anything")
    assert searcher("é+")("caféé")
    assert searcher("(?i)UAV")("a uav-1")
    for bad in ("(", "[a", "(?=x)", "\\1"):
        with pytest.raises(ValueError, match=r"."):
            searcher(bad)


def test_a_hard_regular_expression_takes_no_time() -> None:
    assert not searcher("(a*)*b")("a" * 5_000)


def test_lone_surrogates_harm_nobody() -> None:
    assert holds("matches", "a", "\ud800a")
    assert holds("contains", "\ud800", "x\ud800")
