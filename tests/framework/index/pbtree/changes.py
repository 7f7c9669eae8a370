"""Changes that follow from a seed, and what there is after so many of them."""

from __future__ import annotations

import random
from typing import Any

from tamis.index.clauses import Clause
from tamis.testing import satisfies

Rows = dict[int | str, list[Clause]]
LONG = "a name that is longer than seven bytes, "


def clause(chance: random.Random) -> Clause:
    """A predicate that hangs in one list or another."""
    name = chance.choice("abc")
    op = chance.choice(["=", "!=", "<", "<=", ">", ">=", "between", "in", "starts with", "has"])
    number = chance.randint(0, 60)
    if op == "between":
        return (name, op, (number, number + chance.randint(0, 30)))
    if op == "in":
        return (name, op, [chance.randint(0, 60) for _ in range(3)])
    if op == "starts with":
        return (name, op, chance.choice(["x", "xy", LONG, f"{LONG}1"]))
    if op == "has":
        return ("tags", op, chance.randint(0, 9))
    return (name, op, chance.choice([number, number, "xyz", f"{LONG}{chance.randint(0, 9)}"]))


def event(chance: random.Random) -> dict[str, Any]:
    """An event that some of them are about."""
    return {
        "a": chance.randint(0, 60),
        "b": chance.choice(["xyz", f"{LONG}3", 7]),
        "c": chance.randint(0, 60),
        "tags": [1, 2, chance.randint(0, 9)],
    }


class Changes:
    """One change after another: some rows inserted at once, or some deleted."""

    def __init__(self, seed: str, *, named: bool = False, largest: int = 40) -> None:
        self._chance = random.Random(seed)
        self._named = named
        self._largest = largest
        self._next = 0
        self.count = 0
        self.rows: Rows = {}
        """What is there by now."""

    def next(self) -> tuple[Rows, list[int | str]]:
        """The next change: what is inserted, and what is deleted."""
        chance = self._chance
        self.count += 1
        size = chance.choice([1, 1, 1, 5, self._largest])
        if chance.random() < 0.6 or not self.rows:
            added: Rows = {}
            for _ in range(size):
                named = self._named and chance.random() < 0.5
                id: int | str = f"s{self._next}" if named else self._next
                added[id] = [clause(chance) for _ in range(chance.randint(0, 3))]
                self._next += 1
            self.rows |= added
            return added, []
        gone = chance.sample(list(self.rows), min(len(self.rows), size))
        for id in gone:
            del self.rows[id]
        return {}, gone

    def matching(self, document: dict[str, Any]) -> set[int | str]:
        """What matches an event by now, one predicate at a time."""
        return {id for id, asked in self.rows.items() if satisfies(document, asked)}
