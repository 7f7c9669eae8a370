"""Writes the entries of one transaction at its end, all at once, and the ids of events from them.

Whether events are new is found out as their ids are written. One hash goes over all entries and the
one before. Cost of an event: that of its rows; what is made for them is made column by column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, chain, count, islice, repeat
from typing import TYPE_CHECKING, Any

from tamis.server import changes
from tamis.server.hashing import canonical, hash_of

if TYPE_CHECKING:
    import apsw

_TOGETHER = 32
"""Events of one statement, which takes half of the time of as many statements."""
_WIDTH = 3
_INSERT = "INSERT INTO entries VALUES(?, ?, ?, ?, ?, ?, ?, ?)"


def _events_inserted() -> str:
    """Inserts events that follow each other, the last one with a hash."""
    rows = ", ".join(
        "(?1+{}, '{}', ?2, ?{}, 0, ?{}, ?{}, {})".format(
            *(row, changes.PUBLISH, 4 + at, 5 + at, 6 + at),
            "?3" if row == _TOGETHER - 1 else "NULL",
        )
        for row, at in enumerate(range(0, _WIDTH * _TOGETHER, _WIDTH))
    )
    return f"INSERT INTO entries VALUES{rows}"


_INSERT_EVENTS = _events_inserted()


class EventsKnown(Exception):
    """Some events of a transaction are in the log: each has to be asked for."""


@dataclass
class LogState:
    """Tells how far the log has come."""

    commits: int
    position: int
    hash: bytes
    cursor: int
    """All up to here is decided."""
    floor: int
    """The first position that is kept."""
    total: int
    clock: float
    """The time of the last entry: none is before it."""


class CommitEntries:
    """The entries of a transaction, behind those of a state, which they lead on."""

    def __init__(self, state: LogState, now: float) -> None:
        self._state = state
        self._now = now
        self._first = state.position + 1
        self._kinds: list[str] = []
        self._ids: list[str] = []
        self._born: list[int] = []
        self._bodies: list[str] = []
        self._sizes: list[int] = []
        self.events = 0
        """How many of them are events."""
        self._places: dict[str, int] = {}
        """The events by their ids, those that were looked for."""
        self._looked_up = 0

    def append(
        self, kind: str, id: str, body: Mapping[str, Any] | str, born: int | None, large: int
    ) -> int:
        """Appends an entry, its body as JSON or canonical text of it; its position."""
        text = body if isinstance(body, str) else canonical(body)
        self._state.position += 1
        position = self._state.position
        self._kinds.append(kind)
        self._ids.append(id)
        self._born.append(position if born is None else born)
        self._bodies.append(text)
        self._sizes.append(len(text) + large)
        self.events += kind == changes.PUBLISH
        return position

    def append_events(self, run: changes.EventRun) -> int:
        """Appends events as if they were new, which is found out as they are written; the position
        of the first one."""
        number, first = len(run.ids), self._state.position + 1
        self._kinds += repeat(changes.PUBLISH, number)
        self._ids += run.ids
        self._born += repeat(0, number)
        self._bodies += run.bodies
        self._sizes += map(len, run.bodies)
        self._state.position += number
        self.events += number
        return first

    def event(self, id: str) -> tuple[str, int] | None:
        """Returns the body and the position of an event that is among them."""
        for at in range(self._looked_up, len(self._ids)):
            if self._kinds[at] == changes.PUBLISH:
                self._places[self._ids[at]] = at
        self._looked_up = len(self._ids)
        place = self._places.get(id)
        return None if place is None else (self._bodies[place], self._first + place)

    def write(self, database: apsw.Connection) -> None:
        """Writes all of them; `EventsKnown` where the log has one of the events."""
        number, state, first = len(self._bodies), self._state, self._first
        if not number:
            return
        columns = self._kinds, self._ids, self._born, self._bodies
        state.hash = hash_of(state.hash, first, self._now, *columns)
        totals = list(accumulate(self._sizes, initial=state.total))[1:]
        state.total = totals[-1]
        alone = number % _TOGETHER if self.events == number else number
        hashes = chain(repeat(None, number - 1), (state.hash,))
        each = zip(
            *(count(first), self._kinds, repeat(self._now), self._ids),
            *(self._born, self._bodies, totals, hashes),
            strict=False,
        )
        database.executemany(_INSERT, islice(each, alone))
        values = list(chain.from_iterable(zip(self._ids, self._bodies, totals, strict=True)))
        together = [
            [first + at, self._now, None, *values[_WIDTH * at : _WIDTH * (at + _TOGETHER)]]
            for at in range(alone, number, _TOGETHER)
        ]
        if together:
            together[-1][2] = state.hash
            database.executemany(_INSERT_EVENTS, together)
        if self.events:
            database.execute(
                "INSERT INTO events SELECT id, position FROM entries WHERE position>=? AND kind=? "
                "ON CONFLICT DO NOTHING",
                (self._first, changes.PUBLISH),
            )
            if database.changes() < self.events:
                raise EventsKnown
