"""Joins: every joint assignment once, as a nested loop finds them, and bounded."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.testing import TableOperator

VALUES = st.sampled_from([0, 1, 1.0, 2, True, "1", "a", 2**53 + 1])
ATOMS = st.sampled_from(
    [
        "p(1, ?x, ?y)",
        "p(2, ?y, ?z)",
        "p(3, ?z, ?x)",
        "q(1, ?x)",
        "q(2, ?y)",
        "q(3, ?w)",
        "p(4, ?x, ?x)",
    ]
)
CONSTRAINTS = st.sampled_from(
    [
        "?x < ?y",
        "?x != ?z",
        "?x + ?y = ?z",
        "?w > ?x",
        "?x = 1",
        "?y = ?w",
        "?z > $a",
        "2 * ?x > ?w",
    ]
)


def same(one: Any, other: Any) -> bool:
    kinds = {bool: 0, int: 1, float: 1, str: 2}
    return kinds[type(one)] == kinds[type(other)] and bool(one == other)


def by_brute_force(
    atoms: list[tuple[str, list[str]]], tables: dict[str, list[list[Any]]]
) -> list[dict[str, Any]]:
    """All joint assignments of atoms, by nested loops."""
    found: list[dict[str, Any]] = []
    for rows in itertools.product(*(tables[key] for key, _ in atoms)):
        assignment: dict[str, Any] = {}
        fits = True
        for (_, names), row in zip(atoms, rows, strict=True):
            for name, value in zip(names, row, strict=True):
                fits &= name not in assignment or same(assignment[name], value)
                assignment.setdefault(name, value)
        if fits and not any(
            all(same(each[name], assignment[name]) for name in assignment) for each in found
        ):
            found.append(assignment)
    return found


def keyed(assignments: list[dict[str, Any]]) -> set[tuple[tuple[str, bool, Any], ...]]:
    return {
        tuple(sorted((name, type(value) is bool, str(value)) for name, value in each.items()))
        for each in [
            {n: int(v) if type(v) is float else v for n, v in a.items()} for a in assignments
        ]
    }


@given(
    st.lists(ATOMS, min_size=1, max_size=4, unique=True),
    st.lists(st.lists(VALUES, min_size=2, max_size=2), max_size=5),
    st.lists(st.lists(VALUES, min_size=2, max_size=2), max_size=5),
    st.lists(VALUES, max_size=5),
)
def test_a_join_is_what_nested_loops_find(
    atoms: list[str], first: list[list[Any]], second: list[list[Any]], singles: list[Any]
) -> None:
    pairs = {"1": first, "2": second, "3": [row[::-1] for row in first], "4": second}
    event = {"p": pairs, "q": {"1": singles, "2": singles[::-1], "3": singles[:2]}}
    tables = {f"p{key}": rows for key, rows in pairs.items()}
    tables |= {f"q{key}": [[value] for value in rows] for key, rows in event["q"].items()}
    asked = [
        (atom[0] + atom[2], [word.strip(" ?)") for word in atom.split(",")[1:]]) for atom in atoms
    ]
    matcher = tamis.Matcher(
        operators=[TableOperator("p", outputs=("x", "y")), TableOperator("q", outputs=("x",))]
    )
    matcher.subscribe(" and ".join(atoms), id="s1")
    result = matcher.match(event)
    expected = by_brute_force(asked, tables)
    assert len(result.matches) == bool(expected)
    bindings = result.matches[0].bindings if expected else []
    assert len(bindings) == len(expected)
    assert keyed(bindings) == keyed(expected)


@given(
    st.lists(CONSTRAINTS, min_size=1, max_size=3, unique=True),
    st.lists(st.integers(0, 4), max_size=4),
    st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), max_size=5),
)
def test_constraints_filter_assignments(
    constraints: list[str], singles: list[int], pairs: list[list[int]]
) -> None:
    matcher = tamis.Matcher(
        operators=[TableOperator("p", outputs=("x", "y")), TableOperator("q", outputs=("x",))]
    )
    atoms = ["p(1, ?x, ?y)", "q(1, ?z)", "q(2, ?w)"]
    matcher.subscribe(" and ".join([*constraints, *atoms]), id="s1")
    event = {"a": 2, "p": {"1": pairs}, "q": {"1": singles, "2": singles[:2]}}
    python = [text.replace("?", "").replace("$", "").replace(" = ", " == ") for text in constraints]
    expected = [
        {"x": x, "y": y, "z": z, "w": w}
        for x, y in dict.fromkeys(map(tuple, pairs))
        for z in dict.fromkeys(singles)
        for w in dict.fromkeys(singles[:2])
        if all(eval(text, {"x": x, "y": y, "z": z, "w": w, "a": 2}) for text in python)
    ]
    found = [match.bindings for match in matcher.match(event).matches]
    assert keyed(found[0] if found else []) == keyed(expected)


@pytest.mark.parametrize(
    ("where", "truth"),
    [
        ("p(1, ?x, ?x)", True),
        ("p(1, ?x, ?x) and ?x > 1", False),
        ("p(1, ?x, ?y) and ?x = 2 and ?y = 3", True),
        ("p(1, 2, 3)", True),
        ("p(1, 2, 4)", False),
        ("p(1, 2, ?y) and ?y = 3", True),
        ("not p(1, 2, 4)", True),
        ("not p(1, 2, 3)", False),
        ("p(1, true, ?y)", False),
    ],
)
def test_constants_and_repeated_variables_select_solutions(where: str, truth: bool) -> None:
    matcher = tamis.Matcher(operators=[TableOperator("p", outputs=("x", "y"))])
    matcher.subscribe(where)
    result = matcher.match({"p": {"1": [[1, 1], [2, 3], [1, 2]]}})
    assert bool(result.matches) is truth
    assert len(result.calls) == 1


def test_a_join_of_hundreds_of_atoms_is_bounded() -> None:
    @tamis.operator(outputs=("value",))
    def g(event: object, number: int, value: object) -> list[int]:
        return [1, 2, 3]

    matcher = tamis.Matcher([g])
    matcher.subscribe(", ".join(f"g({at}, ?x)" for at in range(400)), id="s")
    begun = time.thread_time()
    assert [each["x"] for each in matcher.match({}).matches[0].bindings] == [1, 2, 3]
    # a join that is not bounded takes for ever
    assert time.thread_time() - begun < 30


def test_constraints_are_decided_as_soon_as_any_atoms_bind_their_variables() -> None:
    asked: list[str] = []

    def bound(name: str, values: list[Any]) -> Any:
        @tamis.operator(name=name)
        def answers(event: object, *variables: object) -> list[Any]:
            asked.append(name)
            return values

        return answers

    operators = [bound("s", [1]), bound("t", [1]), bound("u", [5])]
    matcher = tamis.Matcher(operators, planner="naive")
    matcher.subscribe("s(?x), u(?y), ?x > ?y, t(?x)", id="1")
    assert not matcher.match({}).matches
    assert asked == ["s", "u"]
    asked.clear()
    chain = [
        bound("a1", [(1, 0)]),
        bound("a2", [(0, 7)]),
        bound("a3", [(7, 5), (8, 0)]),
        bound("a4", [5]),
    ]
    matcher = tamis.Matcher(chain, planner="naive")
    matcher.subscribe("a1(?a, ?x), a2(?x, ?y), a3(?y, ?b), ?a > ?b, a4(?b)", id="2")
    assert not matcher.match({}).matches
    assert asked == ["a1", "a2", "a3"]
