"""An index that knows conjunctions alone takes clauses, however often rows come and go."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from tamis.event import Event
from tamis.index.clauses import predicate_of
from tamis.index.disjunctions import DisjunctionIndex
from tamis.index.scan import Scan
from tamis.indexing import Entry
from tamis.language.predicate import AttributePredicate, Disjunction

NAMES = "abc"
Clause = list[tuple[str, str, int]]


def _row(chance: random.Random) -> list[Clause]:
    """Clauses, each a list of alternatives."""
    return [
        [(chance.choice(NAMES), chance.choice("=<>"), chance.randrange(4)) for _ in range(size)]
        for size in chance.choices((1, 2, 3), k=chance.randrange(1, 4))
    ]


def _predicates(row: list[Clause]) -> list[AttributePredicate]:
    parts = [tuple(map(predicate_of, clause)) for clause in row]
    return [each[0] if len(each) == 1 else Disjunction.of(each) for each in parts]


def _holds(clause: tuple[str, str, int], event: dict[str, int]) -> bool:
    name, op, value = clause
    return {"=": event[name] == value, "<": event[name] < value, ">": event[name] > value}[op]


def _is_right(
    index: DisjunctionIndex, rows: dict[int, list[Clause]], chance: random.Random
) -> bool:
    content = {name: chance.randrange(4) for name in NAMES}
    wanted = [
        at
        for at, row in rows.items()
        if all(any(_holds(each, content) for each in clause) for clause in row)
    ]
    event = Event(content, "e")
    assert index.match_many([event])[0].tolist() == index.match(event).tolist()
    return sorted(index.match(event).tolist()) == sorted(wanted)


def test_rows_that_the_index_inside_refuses_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = Scan()
    index = DisjunctionIndex(inside)
    refused, taken = [[("a", "=", 1), ("b", "=", 1)]], [[("a", "=", 2), ("b", "=", 2)]]
    index.insert(1, _predicates(taken))
    with monkeypatch.context() as broken:
        broken.setattr(inside, "build", _refuse)
        for row in range(2, 9):
            with pytest.raises(OSError, match="full"):
                index.build([(row, _predicates(refused)), (row + 10, _predicates(refused))])
    index.build([(row, _predicates(taken)) for row in range(2, 9)])
    event = Event({"a": 2, "b": 3}, "e")
    assert sorted(index.match(event).tolist()) == list(range(1, 9))
    assert len(index._numbers) == 2, "nobody asks for the predicates of what was refused"


def _refuse(entries: Iterable[Entry]) -> None:
    list(entries)
    raise OSError("the disk is full")


def test_rows_come_and_go_thousands_of_times(tmp_path: Path) -> None:
    chance = random.Random(5)
    rows: dict[int, list[Clause]] = {}
    index = DisjunctionIndex(Scan())
    for step in range(4_000):
        at = chance.randrange(60)
        if at in rows:
            index.delete(at)
            del rows[at]
        else:
            rows[at] = _row(chance)
            index.insert(at, _predicates(rows[at]))
        if step % 50 == 0:
            assert _is_right(index, rows, chance)
    assert index._row.size < 2_000  # holes were closed
    index.save(tmp_path)
    again = DisjunctionIndex(Scan())
    again.load(tmp_path)
    for at in list(rows)[::2]:
        again.delete(at)
        del rows[at]
    rows[99] = _row(chance)
    again.insert(99, _predicates(rows[99]))
    assert all(_is_right(again, rows, chance) for _ in range(50))
