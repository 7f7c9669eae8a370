"""Checks the paper's parts of `counting`: tables, numbers used again, and three ways to count."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import tamis
from tamis.event import Event
from tamis.index import counting
from tamis.index.associations import BITS, BYTES, FORMS, LISTS, best_form
from tamis.index.clauses import Clause, predicate_of
from tamis.index.counting import CountingIndex, TableColumn
from tamis.testing import check_index, satisfies

OPS = ["=", "!=", "<", "<=", ">", ">="]


def insert(index: CountingIndex, row: int, *asked: Clause) -> None:
    index.insert(row, [predicate_of(clause) for clause in asked])


def found(index: CountingIndex, **event: Any) -> list[int]:
    return sorted(index.match(Event.of(event, str, {})).tolist())


def table(index: CountingIndex, name: str) -> TableColumn:
    column = index._columns[name]
    assert isinstance(column, TableColumn)
    return column


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("most_values", [0, 4_096])
def test_the_law_holds_in_every_form(form: str, most_values: int) -> None:
    check_index(lambda: CountingIndex(form, most_values), examples=settings().max_examples // 3)


def test_one_look_up_finds_all_that_a_value_satisfies() -> None:
    """Figure 1: the slices of a table, and what changes in them afterwards."""
    index, clauses = CountingIndex(), [("v", op, at) for op in OPS for at in range(10)]
    for row, clause in enumerate(clauses):
        insert(index, row, clause)
    for value in (4, 4.0, 9.5, -1):
        right = [row for row, clause in enumerate(clauses) if satisfies({"v": value}, [clause])]
        assert found(index, v=value) == found(index, v=value) == right
    rows = table(index, "v").rows
    assert rows is not None
    assert sorted(value for _, value in rows) == [-1, 4, 9.5], "4 and 4.0 are one value"
    insert(index, 99, ("v", "between", (3, 5)))
    index.delete(4)
    right = [row for row, clause in enumerate(clauses) if satisfies({"v": 4}, [clause])]
    assert found(index, v=4) == sorted({*right, 99} - {4})


def test_numbers_are_used_again_and_say_nothing_of_who_had_them() -> None:
    index, chance = CountingIndex(), random.Random(1)
    rows: dict[int, list[Clause]] = {}
    for turn in range(600):
        name, value = chance.choice("ab"), chance.randrange(8)
        rows[turn] = [(name, chance.choice(OPS), value), ("c", "<", chance.randrange(8))]
        insert(index, turn, *rows[turn])
        if len(rows) > 20:
            gone = chance.choice(list(rows))
            index.delete(gone)
            del rows[gone]
        event = {each: chance.randrange(8) for each in "abc"}
        right = sorted(row for row, asked in rows.items() if satisfies(event, asked))
        assert found(index, **event) == right
    assert len(index._predicates) < 200


def test_an_attribute_of_many_values_has_no_table() -> None:
    index = CountingIndex(most_values=3)
    insert(index, 1, ("v", "<", 50))
    for value in range(100):
        assert found(index, v=value) == [1] * (value < 50)
    assert table(index, "v").rows is None


def test_a_table_of_too_much_memory_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_MOST_NUMBERS", 1_000)
    index = CountingIndex()
    for row in range(40):
        insert(index, row, ("v", ">", row), ("w", ">", row % 3))
    for value in range(60):
        assert found(index, v=value, w=9) == list(range(min(40, value)))
        rows = table(index, "v").rows
        assert rows is None or sum(row.size for row in rows.values()) <= 1_000
    assert rows is None
    assert table(index, "w").rows, "the line of three predicates is short"


def test_a_declared_domain_is_the_table() -> None:
    index = CountingIndex(most_values=0, domains={"v": ["red", "green"]})
    insert(index, 1, ("v", "!=", "red"))
    assert [found(index, v=value) for value in ("red", "green", "blue", 3)] == [[], [1], [1], []]
    rows = table(index, "v").rows
    assert rows is not None
    assert {value for _, value in rows} == {"red", "green"}
    with pytest.raises(ValueError, match="the domain of v is a list of its values"):
        tamis.index.build("counting", [], domains={"v": [[1]]})


def test_the_form_follows_the_density() -> None:
    index = CountingIndex()
    for row in range(200):
        insert(index, row, ("v", ">", row % 20), ("w", "<", row % 7))
    assert index.form == BYTES
    for row in range(200, 4_000):
        insert(index, row, ("v", ">", row), ("w", "<", row))
    assert index.form == LISTS
    assert found(index, v=5, w=5)[:3] == [20, 41, 62]
    assert best_form(10_000_000, 50, 50_000_000) == BITS
    with pytest.raises(ValueError, match="form is one of best, bytes, bits, lists, not 'x'"):
        tamis.index.build("counting", [], form="x")


def test_hits_beyond_a_byte_are_counted() -> None:
    long: list[Clause] = [(f"a{at}", ">=", at) for at in range(600)]
    event = {f"a{at}": at for at in range(600)}
    for form in FORMS:
        index = CountingIndex(form)
        insert(index, 7, *long)
        insert(index, 8, *long[:300])
        insert(index, 9)
        assert found(index, **event) == [7, 8, 9]
        assert found(index, **{**event, "a599": 1}) == [8, 9]
        index.delete(8)
        assert found(index, **{**event, "a599": 1}) == [9]


def test_forms_agree_with_counts_of_numpy() -> None:
    chance = np.random.default_rng(3)
    rows, predicates = 700, 130
    has = chance.random((predicates, rows)) < 0.05
    numbers, at = np.nonzero(has)
    needed = has.sum(axis=0)
    satisfied = np.flatnonzero(chance.random(predicates) < 0.8)
    right = np.flatnonzero(has[satisfied].sum(axis=0) == needed)
    assert len(right) > 20
    for form in FORMS.values():
        association = form()
        association.add(at, numbers)
        assert np.array_equal(association.matching(satisfied, needed), right)
