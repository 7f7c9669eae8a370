"""Writes the entries of one transaction at its end, all at once, and the ids of events from them.

Whether events are new is found out as their ids are written. One hash goes over all entries and the
one before. Cost of an event: that of its rows; what is made for them is made column by column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, count, pairwise, repeat
from typing import TYPE_CHECKING, Any

from tamis.server import changes
from tamis.server.hashing import canonical, hash_of

if TYPE_CHECKING:
    import apsw

_TOGETHER = 16
"""Rows of one statement, which takes two thirds of the time of as many statements."""
_WIDTH = 5


def _insert(rows: int) -> str:
    """Inserts so many rows that follow each other, the last one with a hash."""
    listed = ", ".join(
        "(?1+{}, ?{}, ?2, ?{}, ?{}, ?{}, ?{}, {})".format(
            row, *range(4 + at, 4 + at + _WIDTH), "?3" if row == rows - 1 else "NULL"
        )
        for row, at in enumerate(range(0, _WIDTH * rows, _WIDTH))
    )
    return f"INSERT INTO entries VALUES{listed}"


_INSERT_ONE, _INSERT_TOGETHER = _insert(1), _insert(_TOGETHER)


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
        self.events: dict[str, int] = {}
        """The positions of events by id."""

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
        if kind == changes.PUBLISH:
            self.events[id] = position
        return position

    def append_events(self, ready: Sequence[changes.Ready]) -> None:
        """Appends events as if they were new; `EventsKnown` where one is among them."""
        ids: list[Any] = [event.id for event in ready]
        bodies = [event.body for event in ready]
        known = len(self.events)
        self.events.update(zip(ids, count(self._state.position + 1)))
        if len(self.events) - known < len(ids):
            raise EventsKnown
        self._kinds += repeat(changes.PUBLISH, len(ids))
        self._ids += ids
        self._born += repeat(0, len(ids))
        self._bodies += bodies
        self._sizes += map(len, bodies)
        self._state.position += len(ids)

    def event(self, id: str) -> tuple[str, int] | None:
        """The body and the position of an event that is among them."""
        position = self.events.get(id)
        return None if position is None else (self._bodies[position - self._first], position)

    def write(self, database: apsw.Connection) -> None:
        """Writes all of them; `EventsKnown` where the log has one of the events."""
        number, state, first = len(self._bodies), self._state, self._first
        if not number:
            return
        columns = self._kinds, self._ids, self._born, self._bodies
        state.hash = hash_of(state.hash, first, self._now, *columns)
        totals = list(accumulate(self._sizes, initial=state.total))
        state.total = totals[-1]
        values = list(chain.from_iterable(zip(*columns, totals[1:], strict=True)))
        alone = number % _TOGETHER
        rows = [*range(alone + 1), *range(alone + _TOGETHER, number + 1, _TOGETHER)]
        inserts = [
            [first + at, self._now, None, *values[at * _WIDTH : end * _WIDTH]]
            for at, end in pairwise(rows)
        ]
        inserts[-1][2] = state.hash
        database.executemany(_INSERT_ONE, inserts[:alone])
        if alone < number:
            database.executemany(_INSERT_TOGETHER, inserts[alone:])
        if self.events:
            database.execute(
                "INSERT INTO events SELECT id, position FROM entries WHERE position>=? AND kind=? "
                "ON CONFLICT DO NOTHING",
                (self._first, changes.PUBLISH),
            )
            if database.changes() < len(self.events):
                raise EventsKnown
