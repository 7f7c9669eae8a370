"""Reads the log while it is written: each reader sees what is committed, and stops nobody."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tamis.server.entries import LogState
from tamis.server.errors import EntryGone, LogError
from tamis.server.ledger import read_state
from tamis.server.payloads import Payloads, joined
from tamis.server.traces import Trace

if TYPE_CHECKING:
    import apsw


Record = TypeVar("Record")
_MOST_OPEN = 1_000
_OFTEN = 1 << 31


class LogEntry(NamedTuple):
    """An entry of the log."""

    position: int
    kind: str
    at: float
    id: str
    born: int
    body: dict[str, Any]


@dataclass(frozen=True)
class DeliveryStanding:
    """A subscription, and how far its deliveries have come."""

    born: int
    id: str
    document: dict[str, Any]
    ticket: bytes
    expires: float | None
    ended: int | None
    matched: int
    due: int
    """The number of the last delivery."""
    acknowledged: int
    gap: int
    """How many went before they were acknowledged."""
    floor: int
    """The first number that is kept."""
    retrying: int = 0
    """How many its webhook did not take yet."""
    dead: int = 0
    """How many its webhook did not take at all."""
    webhook: dict[str, Any] | None = None
    """How its webhook is doing."""

    @property
    def settled(self) -> int:
        """Up to which number nothing is pending."""
        return max(self.acknowledged, self.floor - 1)

    @property
    def delivered(self) -> int:
        """Returns how many were acknowledged, or taken by a webhook."""
        return self.settled - self.gap - self.retrying - self.dead

    @property
    def pending(self) -> int:
        """Returns how many are still to be acknowledged, or to be taken by a webhook."""
        return self.due - self.settled + self.retrying


class LoggedDelivery(NamedTuple):
    """A delivery as it is in the log."""

    number: int
    kind: str
    position: int
    body: dict[str, Any]


class LiveText(NamedTuple):
    """A text of a subscription, live from `since` on and before `until`."""

    id: str
    born: int
    since: int
    until: int | None
    document: dict[str, Any]

    def is_live_at(self, position: int) -> bool:
        """Returns whether the entry at a position met it."""
        return self.since <= position and (self.until is None or position < self.until)


class OpenVerdict(NamedTuple):
    """A verdict that is open: of which event, and which subscription."""

    position: int
    event: str
    born: int
    tries: int
    operators: list[str]


_STANDING = (
    "SELECT born, id, document, ticket, expires, ended, matched, last, acknowledged, lost, floor, "
    "(SELECT count(at) FROM retries WHERE born=subscriptions.born), "
    "(SELECT count(*)-count(at) FROM retries WHERE born=subscriptions.born), "
    "url, disabled, failures, since, webhooks.reason "
    "FROM subscriptions LEFT JOIN webhooks USING(born) "
)
GAP = "gap"


def delivery_id(born: int, number: int) -> str:
    """Returns the id of a delivery of a subscription; that of number 0 is before the first."""
    return f"{born}-{number}"


class LogReaders:
    """Connections that read, as many as there are readers at once."""

    def __init__(self, connect: Callable[[], apsw.Connection], payloads: Payloads) -> None:
        self._connect = connect
        self._payloads = payloads
        self._free: list[apsw.Connection] = []
        self._lock = threading.Lock()
        self._closed = False

    @contextlib.contextmanager
    def database(self) -> Iterator[apsw.Connection]:
        """Gives a connection of one's own, for a while."""
        import apsw

        with self._lock:
            connection = self._free.pop() if self._free else None
        connection = connection or self._connect()
        try:
            yield connection
        except (apsw.IOError, apsw.CorruptError, apsw.NotADBError) as bad:
            raise LogError(f"the log is damaged: {bad}. Restore a backup") from bad
        finally:
            with self._lock:
                if not self._closed:
                    self._free.append(connection)
                    connection = None
            if connection is not None:
                connection.close()

    def close(self) -> None:
        """Closes what nobody uses; the rest as it comes back."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
        for connection in free:
            connection.close()

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Returns the rows of a query."""
        with self.database() as database:
            return database.execute(statement, values).fetchall()

    def state(self) -> LogState:
        """Returns how far the log has come."""
        with self.database() as database:
            return read_state(database)

    def entries(self, after: int, most: int) -> list[LogEntry]:
        """Returns the entries after a position, whole events among them."""
        rows = self.rows(
            "SELECT position, kind, at, id, born, body FROM entries WHERE position>? "
            "ORDER BY position LIMIT ?",
            *(after, most),
        )
        return _records(LogEntry, rows)

    def decided(self, after: int, most: int) -> list[tuple[LogEntry, dict[str, Any]]]:
        """Returns the decided entries after a position, each with its verdict, which only events
        have: read at once, for retention removes both."""
        rows = self.rows(
            "SELECT position, kind, at, id, born, entries.body, verdicts.body "
            "FROM entries LEFT JOIN verdicts USING(position) "
            "WHERE position>? AND position<=(SELECT cursor FROM state) ORDER BY position LIMIT ?",
            *(after, most),
        )
        return [
            (LogEntry._make([*row[:5], json.loads(row[5])]), json.loads(row[6] or "{}"))
            for row in rows
        ]

    def event_of(self, entry: LogEntry) -> dict[str, Any]:
        """Returns the event of an entry, with what is large of it; `EntryGone` where retention has
        removed that since."""
        try:
            return joined(entry.body["event"], entry.body["payloads"], self._payloads)
        except LogError as bad:
            if self.time_at(entry.position) is None:
                raise EntryGone(f"{entry.id!r:.80} is kept no longer") from bad
            raise

    def texts_at(self, position: int) -> list[LiveText]:
        """Returns what was live behind the entry at a position, in the order of subscribing."""
        return self._texts(
            "WHERE since<=?1 AND (until IS NULL OR until>?1) ORDER BY born", position
        )

    def _texts(self, which: str, value: object) -> list[LiveText]:
        rows = self.rows(f"SELECT id, born, since, until, document FROM texts {which}", value)
        return _records(LiveText, rows)

    def standing(self, id: str) -> DeliveryStanding | None:
        """Returns a subscription by its id, also one that has ended and is kept."""
        rows = self.rows(_STANDING + "WHERE id=?", id)
        return _standing(rows[0]) if rows else None

    def standings(self, words: str = "", most: int = -1) -> list[DeliveryStanding]:
        """Returns the subscriptions whose id or document has some words, in the order of
        subscribing."""
        having = "WHERE ?1='' OR instr(lower(id), lower(?1)) OR instr(lower(document), lower(?1)) "
        rows = self.rows(_STANDING + having + "ORDER BY born LIMIT ?2", words, most)
        return [_standing(row) for row in rows]

    def deliveries(self, born: int, after: int, most: int) -> list[LoggedDelivery]:
        """Returns the deliveries of a subscription after a number."""
        rows = self.rows(
            "SELECT number, kind, position, body FROM deliveries WHERE born=? AND number>? "
            "ORDER BY number LIMIT ?",
            *(born, after, most),
        )
        return _records(LoggedDelivery, rows)

    def records(self, standing: DeliveryStanding, after: int, most: int) -> list[dict[str, Any]]:
        """Returns the deliveries after a number as they are told, the first a gap where some are
        gone."""
        born = standing.born
        found = self.deliveries(born, after, most)
        first = found[0].number if found else max(after + 1, self._floor(standing))
        listed = [
            {"id": delivery_id(born, each.number), "type": each.kind, **each.body} for each in found
        ]
        if first > after + 1:
            listed.insert(0, _gap(born, after, first - 1))
        return listed[:most]

    def _floor(self, standing: DeliveryStanding) -> int:
        """Returns the first number that is kept by now."""
        now = self.standing(standing.id)
        return standing.floor if now is None or now.born != standing.born else now.floor

    def time_at(self, position: int) -> float | None:
        """Returns when the entry at a position came."""
        rows = self.rows("SELECT at FROM entries WHERE position=?", position)
        return rows[0][0] if rows else None

    def verdict(self, position: int) -> dict[str, Any] | None:
        """Returns what was decided of the event at a position."""
        rows = self.rows("SELECT body FROM verdicts WHERE position=?", position)
        return json.loads(rows[0][0]) if rows else None

    def trace(self, position: int) -> Trace | None:
        """Returns what operators said of the event at a position, where that is kept."""
        rows = self.rows("SELECT body FROM traces WHERE position=?", position)
        return Trace.read(rows[0][0]) if rows else None

    def traces(self, first: int, last: int) -> dict[int, Trace]:
        """Returns the traces of some positions, which are in the log or not."""
        rows = self.rows(
            "SELECT position, body FROM traces WHERE position BETWEEN ? AND ?", *(first, last)
        )
        return {position: Trace.read(body) for position, body in rows}

    def texts_of(self, id: str, born: int | None = None) -> list[LiveText]:
        """Returns the texts that subscriptions of an id had, or one of them, the newest first."""
        if born is not None:  # for it there is an index
            return self._texts("WHERE born=? ORDER BY since DESC", born)
        return self._texts("WHERE id=? ORDER BY since DESC", id)

    def changed_since(self, position: int) -> tuple[set[str], int, int]:
        """Returns whose texts came or ended behind a position; how many came there and stand, and
        how many stood there and do no longer."""
        rows = self.rows(
            "SELECT id, since>?1, until IS NULL FROM texts WHERE since>?1 OR until>?1", position
        )
        ids = {id for id, _, _ in rows}
        came = sum(is_later and stands for _, is_later, stands in rows)
        return ids, came, sum(not is_later for _, is_later, _ in rows)

    def delivered_at(self, born: int, position: int) -> list[LoggedDelivery]:
        """Returns the deliveries of a subscription that the entry at a position made due."""
        rows = self.rows(
            "SELECT number, kind, position, body FROM deliveries WHERE position=? AND born=? "
            "ORDER BY number",
            *(position, born),
        )
        return _records(LoggedDelivery, rows)

    def open_verdicts(
        self, *, born: int | None = None, position: int | None = None, tries: int = _OFTEN
    ) -> list[OpenVerdict]:
        """Returns the first verdicts that are open: of a subscription, an event, or both, and tried
        so often at most."""
        given = {"one.born=?": born, "position=?": position, "tries<=?": tries}
        wanted = {clause: value for clause, value in given.items() if value is not None}
        rows = self.rows(
            "SELECT position, id, one.born, tries, operators FROM undetermined AS one "
            f"JOIN entries USING(position) WHERE {' AND '.join(wanted)} ORDER BY position LIMIT ?",
            *(*wanted.values(), _MOST_OPEN),
        )
        return _records(OpenVerdict, rows)

    def position_of(self, event: str) -> int | None:
        """Returns where an event is in the log."""
        rows = self.rows("SELECT position FROM events WHERE id=?", event)
        return rows[0][0] if rows else None

    def counts(self) -> dict[str, int]:
        """Counts live subscriptions, disabled webhooks, and deliveries by state:
        due = delivered + pending + dead + gap."""
        (row,) = self.rows(
            "SELECT count(*) FILTER (WHERE ended IS NULL), "
            "(SELECT count(*) FROM webhooks WHERE disabled), coalesce(sum(last), 0), "
            "coalesce(sum(max(acknowledged, floor-1)), 0), coalesce(sum(lost), 0), "
            "(SELECT count(at) FROM retries), (SELECT count(*)-count(at) FROM retries) "
            "FROM subscriptions"
        )
        live, disabled, due, settled, gap, retrying, dead = row
        return {
            "subscriptions": live,
            "webhooks_disabled": disabled,
            "due": due,
            "delivered": settled - gap - retrying - dead,
            "pending": due - settled + retrying,
            "dead": dead,
            "gap": gap,
        }


def _records(made: Callable[..., Record], rows: list[Any]) -> list[Record]:
    """Returns rows as records, whose last field is kept as JSON."""
    return [made(*row[:-1], json.loads(row[-1])) for row in rows]


def _gap(born: int, after: int, last: int) -> dict[str, Any]:
    return {
        "id": delivery_id(born, last),
        "type": GAP,
        "event": None,
        "events": [],
        "bindings": [],
        "time": None,
        "missing": last - after,
    }


def _standing(row: tuple[Any, ...]) -> DeliveryStanding:
    born, id, document, *rest = row[:13]
    url, disabled, failures, since, reason = row[13:]
    webhook = None
    if url is not None:
        state = "disabled" if disabled else "failing" if failures else "active"
        webhook = {"url": url, "state": state, "failures": failures}
        webhook |= {"failing_since": since, "reason": reason} if failures else {}
    return DeliveryStanding(*[born, id, json.loads(document), *rest, webhook])
