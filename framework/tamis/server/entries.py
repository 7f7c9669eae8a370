"""Writes the entries of one transaction at its end, all at once, and the ids of events from them.

Whether events are new is found out as their ids are written. One hash goes over all entries and the
one before. Cost of an event: that of its rows; what is made for them is made column by column, and
the ids of the last events and how far the log has come are written by the same call as these.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, chain, count, repeat
from typing import TYPE_CHECKING, Any

from tamis.server import changes
from tamis.server.hashing import hash_of

if TYPE_CHECKING:
    import apsw

_TOGETHER = 32
"""Events of one statement, which takes half of the time of as many statements."""
_INSERT = "INSERT INTO entries VALUES(?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_IDS = (
    "INSERT INTO events SELECT id, position FROM entries "
    f"WHERE position>=? AND kind='{changes.PUBLISH}'"
)
_UPDATE_STATE = (
    "UPDATE state SET commits=?, position=?, hash=?, cursor=?, floor=?, total=?, clock=?"
)


@functools.cache
def _insert_events(number: int) -> str:
    """Returns what inserts so many events that follow each other, the last one with a hash."""
    rows = ", ".join(
        "(?1+{}, '{}', ?2, ?{}, 0, ?{}, ?{}, {})".format(
            *(row, changes.PUBLISH, 4 + row, 4 + number + row, 4 + 2 * number + row),
            "?3" if row == number - 1 else "NULL",
        )
        for row in range(number)
    )
    return f"INSERT INTO entries VALUES{rows}"


_END = f"{_INSERT_IDS}; {_UPDATE_STATE}"


@functools.cache
def _end(events: int) -> str:
    """Returns what writes the last events, so many, their ids, and how far the log has come."""
    return f"{_insert_events(events)}; {_END}"


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
    expires: float
    """No live subscription ends before this time."""


class CommitEntries:
    """The entries of a transaction, behind those of a state, which they lead on."""

    def __init__(self, state: LogState, now: float) -> None:
        self._state = state
        self._now = now
        self._first = state.position + 1
        self._ids: list[str] = []
        self._bodies: list[str] = []
        self._sizes: list[int] = []
        self._others: dict[int, tuple[str, int]] = {}
        """Kind and birth of those that are no events."""
        self._places: dict[str, int] = {}
        """The events by their ids, those that were looked for."""
        self._looked_up = 0
        self._rows: tuple[str, Iterable[Any]] | None = None

    def append(
        self, kind: str, id: str, body: str, *, born: int | None = None, large: int = 0
    ) -> int:
        """Appends an entry, its body as canonical JSON, which names so many bytes more; its
        position."""
        self._state.position += 1
        position = self._state.position
        if kind != changes.PUBLISH:
            self._others[len(self._ids)] = kind, position if born is None else born
        self._ids.append(id)
        self._bodies.append(body)
        self._sizes.append(len(body) + large)
        return position

    def append_events(self, run: changes.EventRun) -> int:
        """Appends events as if they were new, which is found out as they are written; the position
        of the first one."""
        first = self._state.position + 1
        self._ids += run.ids
        self._bodies += run.bodies
        self._sizes += map(len, run.bodies)
        self._state.position += len(run.ids)
        return first

    @property
    def events(self) -> int:
        """Returns how many of them are events."""
        return len(self._ids) - len(self._others)

    def event(self, id: str) -> tuple[str, int] | None:
        """Returns the body and the position of an event that is among them."""
        for at in range(self._looked_up, len(self._ids)):
            if at not in self._others:
                self._places[self._ids[at]] = at
        self._looked_up = len(self._ids)
        place = self._places.get(id)
        return None if place is None else (self._bodies[place], self._first + place)

    def write(self, database: apsw.Connection) -> None:
        """Writes all of them, and how far the log has come; `EventsKnown` where the log has one of
        the events."""
        state = self._state
        text, values = self._made() if self._ids else (_UPDATE_STATE, [])
        state.commits += 1
        values += (state.commits, state.position, state.hash)
        values += (state.cursor, state.floor, state.total, state.clock)
        if self._rows:
            database.executemany(*self._rows)
        try:
            database.execute(text, values)
        except Exception as failure:
            import apsw

            if self.events and isinstance(failure, apsw.ConstraintError):
                raise EventsKnown(str(failure)) from failure
            raise

    def _made(self) -> tuple[str, list[Any]]:
        """Makes the rows of all but the last events; what writes these and the state, and values of
        these."""
        state, number = self._state, len(self._ids)
        kinds, births = [changes.PUBLISH] * number, ["0"] * number
        for at, (kind, born) in self._others.items():
            kinds[at], births[at] = kind, str(born)
        hash = state.hash = hash_of(
            state.hash, self._first, self._now, kinds, births, self._ids, self._bodies
        )
        _, *totals = accumulate(self._sizes, initial=state.total)
        state.total = totals[-1]
        if self._others:
            rows = zip(
                *(count(self._first), kinds, repeat(self._now), self._ids, map(int, births)),
                *(self._bodies, totals, chain(repeat(None, number - 1), (hash,))),
                strict=False,
            )
            self._rows = _INSERT, rows
            return (_END, [self._first]) if self.events else (_UPDATE_STATE, [])
        last = (number - 1) // _TOGETHER * _TOGETHER
        if last:
            starts = range(0, last, _TOGETHER)
            several = [self._values(at, at + _TOGETHER, totals, None) for at in starts]
            self._rows = _insert_events(_TOGETHER), several
        return _end(number - last), [*self._values(last, number, totals, hash), self._first]

    def _values(self, start: int, stop: int, totals: list[int], hash: bytes | None) -> list[Any]:
        """Returns the values of a statement that inserts events."""
        return [
            *(self._first + start, self._now, hash),
            *self._ids[start:stop],
            *self._bodies[start:stop],
            *totals[start:stop],
        ]
