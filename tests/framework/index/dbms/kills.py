"""Kills a process that subscribes in a database, at random moments, and looks what is left.

`python -m tests.framework.index.dbms.kills --times N [--seed S --start N]`: whoever opens the
database again has exactly what was acknowledged, and the change that was under way whole or not at
all. Events are matched by it, and the tables say the same to whoever reads them with plain SQL.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import tamis
from tests.framework.index.dbms.writing import options_of
from tests.killing import ProgramTrial, commanded, killed

_EVENTS = [
    {"a": a, "b": b, "name": f"x{a}", "tags": [a, b]}
    for a in range(0, 20, 3)
    for b in range(0, 20, 5)
]


class Auditor:
    """What is subscribed, by what a process said."""

    def __init__(self) -> None:
        self.live: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self._next: dict[str, str] | None = None
        """What is subscribed after the change that was under way."""

    def hear(self, lines: bytes) -> None:
        for line in lines[: lines.rfind(b"\n") + 1].splitlines():
            what = json.loads(line)
            if "will" in what:
                self._next = self._after(what["will"])
            elif "did" in what:
                assert self._next is not None
                self.live, self._next = self._next, None
                self.counts["unsubscribe" if "gone" in what["did"] else "subscribe"] += 1

    def _after(self, change: dict[str, Any]) -> dict[str, str]:
        if "gone" in change:
            return {id: text for id, text in self.live.items() if id != change["gone"]}
        return {**self.live, **change["put"]}

    def audit(self, place: Path) -> None:
        options = options_of(place)
        if self.counts["opened"] % 2 and options["database"] == "sqlite" and place.exists():
            self._read(place)  # before anybody opens it, as the process left it
        with tamis.Matcher([], index="dbms", index_options=options) as matcher:
            found = {id: matcher.subscription(id).text for id in matcher}
            assert found in (self.live, self._next), "what is subscribed is what was acknowledged"
            if found == self._next:
                self.counts["under way, and kept"] += 1
            self.live, self._next = found, None
            plain = tamis.Matcher([], index="scan")
            plain.subscribe_many({"id": id, "where": text} for id, text in found.items())
            for event in _EVENTS:
                right = [each.subscription for each in plain.match(event).matches]
                assert [each.subscription for each in matcher.match(event).matches] == right
        self.counts["opened"] += 1

    def _read(self, place: Path) -> None:
        """Reads what is left as any program would: each alternative is of a subscription there."""
        connection = sqlite3.connect(place)
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
        if "subscriptions" in tables:
            kept = {id for (id,) in connection.execute("SELECT id FROM subscriptions")}
            rows = connection.execute("SELECT DISTINCT subscription FROM alternatives")
            assert {id for (id,) in rows} == kept
            assert kept in [set(each) for each in (self.live, self._next) if each is not None]
            self.counts["read"] += 1
        connection.close()


def trial() -> ProgramTrial:
    return ProgramTrial("tests.framework.index.dbms.writing", Auditor())


def kill(times: int, seed: int, start: int = 0) -> Counter[str]:
    """Kills so many times; how often what was acknowledged."""
    return killed(times, seed, trial, a_place=5, start=start)


if __name__ == "__main__":
    commanded(__doc__, kill)
