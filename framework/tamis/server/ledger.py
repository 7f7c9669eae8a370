"""Writes changes into the tables, within one transaction that somebody else commits.

Each change is checked before anything of it is written, so that a refused one leaves nothing and
the others of its transaction stand. Before the first one, what has expired ends: a subscription is
live at a position exactly when it came before, and no entry before the position ended it.
Events are first taken as new, which is found out at the end, unless each is asked for.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from tamis.server import changes
from tamis.server.changes import (
    Change,
    Due,
    EventRun,
    LoggedSubscription,
    PublishedEvents,
    RemovedEntries,
    Request,
    Verdict,
)
from tamis.server.entries import CommitEntries, EventsKnown, LogState
from tamis.server.errors import (
    IdTaken,
    LogError,
    OtherContent,
    OtherRequest,
    Overload,
    Refusal,
    UnknownDelivery,
    UnknownSubscription,
)
from tamis.server.hashing import canonical
from tamis.server.payloads import Payloads
from tamis.server.retention import KEPT_SECONDS, remove
from tamis.server.traces import keep_traces
from tamis.server.webhooks import standing

if TYPE_CHECKING:
    import apsw

_FULL_SECONDS = 60.0
"""When to try again where there is no room for another subscription."""
_TOLD: dict[type[Change[Any]], Callable[..., object]] = {
    changes.Subscribe: LoggedSubscription,
    changes.Renew: LoggedSubscription,
    changes.Publish: PublishedEvents,
}
"""What answers are that are kept as JSON, where they are more than that."""


def read_state(database: apsw.Connection) -> LogState:
    """Reads how far the log has come."""
    rows = database.execute(
        "SELECT commits, position, hash, cursor, floor, total, clock FROM state"
    ).fetchall()
    values: list[Any] = [*rows[0], _next_end(database)]
    return LogState(*values)


def _next_end(database: apsw.Connection) -> float:
    """Returns when the first of the live subscriptions ends."""
    found: float | None = database.execute(
        "SELECT expires FROM subscriptions WHERE ended IS NULL AND expires IS NOT NULL "
        "ORDER BY expires LIMIT 1"
    ).get
    return math.inf if found is None else found


class LogTransaction:
    """One transaction of changes."""

    def __init__(
        self,
        database: apsw.Connection,
        payloads: Payloads,
        before: LogState,
        now: float,
        *,
        asks: bool,
    ) -> None:
        self._database = database
        self._payloads = payloads
        self.before = before
        self._asks = asks
        """Whether each id of an event is asked for before it is written."""
        self._now = max(before.clock, now)
        self.state = LogState(*vars(before).values())
        self.state.clock = self._now
        self._entries = CommitEntries(self.state, self._now)
        self.outcomes: list[object] = []
        self.removed_payloads: list[str] = []
        """The files that nothing names any more."""

    def write(self, together: Sequence[Change[Any] | EventRun]) -> None:
        """Writes changes, their entries last. What became of each: a result or a refusal; of a run
        of events, where they begin when they are taken as new, or what became of each of its
        changes."""
        self.expire()
        for part in together:
            if not isinstance(part, EventRun):
                self.outcomes.append(self._tried(part))
            elif self._asks:
                self.outcomes.append([self._tried(change) for change in part.changes()])
            else:
                self.outcomes.append(self._entries.append_events(part))
        self._entries.write(self._database)

    def _tried(self, change: Change[Any]) -> object:
        """Writes a change; what became of it, or why it is refused, of which nothing is left."""
        try:
            return self._write(change)
        except Refusal as refusal:
            return refusal

    def _write(self, change: Change[Any]) -> object:
        """Writes a change, once for the same request; a `Refusal` where it cannot be, of which
        nothing is left then."""
        answered = self._answered(change.request)
        if answered is not None:
            made = _TOLD.get(type(change))
            return answered if made is None else made(*answered)
        outcome = self._done(change)
        self._answer(change.request, outcome)
        return outcome

    def _done(self, change: Change[Any]) -> object:
        """Does what a change says; what became of it."""
        match change:
            case changes.Subscribe():
                return self._subscribe(change)
            case changes.Replace():
                return self._replace(change)
            case changes.Renew():
                return self._renew(change)
            case changes.Unsubscribe():
                self._unsubscribe(change)
            case changes.Publish():
                return self._publish(change)
            case changes.Acknowledge():
                return self._acknowledge(change)
            case changes.Evaluate():
                return self._evaluate(change)
            case changes.Decide():
                self._decide(change)
            case changes.Retain():
                return self._retain(change)
            case changes.Expire():
                self._forget_answers()
                return self.expire()
            case changes.Attempt() | changes.Rotate() | changes.Enable() | changes.Redeliver():
                return standing.change(self._database, change, self._now)
        return None

    # answers

    def _answered(self, request: Request | None) -> Any | None:
        """Returns what was answered to the same request before."""
        if request is None:
            return None
        row = self._database.execute(
            "SELECT digest, answer FROM answers WHERE key=? AND at>?",
            (request.key, self._now - KEPT_SECONDS),
        ).fetchone()
        if row is None:
            return None
        if row[0] != request.digest:
            raise OtherRequest("this Idempotency-Key was used with other content: take a new one")
        return json.loads(row[1])

    def _answer(self, request: Request | None, answer: object) -> None:
        if request is not None:
            self._database.execute(
                "INSERT OR REPLACE INTO answers VALUES(?, ?, ?, ?)",
                (request.key, request.digest, self._now, json.dumps(answer)),
            )

    def _forget_answers(self) -> None:
        """Removes the answers that no request is given any more."""
        self._database.execute("DELETE FROM answers WHERE at<?", (self._now - KEPT_SECONDS,))

    # subscriptions

    def expire(self) -> int:
        """Ends what is over; how many."""
        if self._now < self.state.expires:
            return 0
        over: list[Any] = self._database.execute(
            "SELECT born, id FROM subscriptions WHERE ended IS NULL AND expires<=? "
            "ORDER BY expires, born",
            (self._now,),
        ).fetchall()
        for born, id in over:
            position = self._entries.append(changes.EXPIRE, id, "{}", born=born)
            self._end_text(born, position)
            self._database.execute(
                "UPDATE subscriptions SET ended=? WHERE born=?", (position, born)
            )
        self.state.expires = _next_end(self._database)
        return len(over)

    def _end_of(self, validity: float | None) -> float | None:
        """Returns when a subscription ends that is valid for so long from now."""
        if validity is None:
            return None
        expires = self._now + validity
        self.state.expires = min(self.state.expires, expires)
        return expires

    def _subscribe(self, change: changes.Subscribe) -> LoggedSubscription:
        if not change.has_room:
            raise Overload("no more subscriptions are taken until some have ended", _FULL_SECONDS)
        id = change.id or self._free_id("subscription", "subscriptions")
        held = self._database.execute(
            "SELECT born, ended FROM subscriptions WHERE id=?", (id,)
        ).fetchone()
        if held is not None and held[1] is None:
            raise IdTaken(f"the id {id!r} is taken: choose another one, or none")
        if held is not None:
            self._forget(held[0])
        document = canonical(change.document)
        born = self._entries.append(changes.SUBSCRIBE, id, document)
        expires = self._end_of(change.validity)
        self._database.execute(
            "INSERT INTO subscriptions(born, id, document, ticket, expires) VALUES(?, ?, ?, ?, ?)",
            (born, id, document, change.ticket, expires),
        )
        self._database.execute(
            "INSERT INTO texts VALUES(?, ?, NULL, ?, ?)", (born, born, id, document)
        )
        secret = standing.set_webhook(self._database, born, change.webhook)
        return LoggedSubscription(id, born, expires, change.sealed, secret)

    def _free_id(self, kind: str, table: str) -> str:
        id = first = f"{kind}-{self.state.position + 1}"
        while (
            self._entries.event(id) is not None
            or self._database.execute(f"SELECT 1 FROM {table} WHERE id=?", (id,)).get
        ):
            id = f"{first}-{token_hex(8)}"  # somebody may have taken those that follow, too
        return id

    def _live(self, born: int) -> tuple[str, float | None]:
        """Returns the id and the end of a subscription that is live."""
        row = self._database.execute(
            "SELECT id, expires FROM subscriptions WHERE born=? AND ended IS NULL", (born,)
        ).fetchone()
        if row is None:
            raise UnknownSubscription("this subscription has ended: subscribe again")
        return row[0], row[1]

    def _replace(self, change: changes.Replace) -> LoggedSubscription:
        id, expires = self._live(change.born)
        document = canonical(change.document)
        position = self._entries.append(changes.REPLACE, id, document, born=change.born)
        if change.validity is not None:
            expires = self._end_of(change.validity)
        self._end_text(change.born, position, change.document["where"])
        self._database.execute(
            "INSERT INTO texts VALUES(?, ?, NULL, ?, ?)", (change.born, position, id, document)
        )
        self._database.execute(
            "UPDATE subscriptions SET document=?, expires=? WHERE born=?",
            (document, expires, change.born),
        )
        secret = standing.set_webhook(self._database, change.born, change.webhook)
        return LoggedSubscription(id, change.born, expires, secret=secret)

    def _renew(self, change: changes.Renew) -> LoggedSubscription:
        id, _ = self._live(change.born)
        expires = self._end_of(change.validity)
        body = canonical({"expires": expires})
        self._entries.append(changes.RENEW, id, body, born=change.born)
        self._database.execute(
            "UPDATE subscriptions SET expires=? WHERE born=?", (expires, change.born)
        )
        return LoggedSubscription(id, change.born, expires)

    def _unsubscribe(self, change: changes.Unsubscribe) -> None:
        row = self._database.execute(
            "SELECT id, ended FROM subscriptions WHERE born=?", (change.born,)
        ).fetchone()
        if row is None:
            raise UnknownSubscription("this subscription has ended")
        position = self._entries.append(changes.UNSUBSCRIBE, row[0], "{}", born=change.born)
        if row[1] is None:
            self._end_text(change.born, position)
        self._forget(change.born)

    def _end_text(self, born: int, position: int, next: str | None = None) -> None:
        """Ends the text of a subscription; what it left open is so for ever, unless the next
        text is equal."""
        before = self._database.execute(
            "UPDATE texts SET until=? WHERE born=? AND until IS NULL RETURNING document",
            (position, born),
        ).get
        if before is None or json.loads(before)["where"] != next:
            self._database.execute("DELETE FROM undetermined WHERE born=?", (born,))

    def _forget(self, born: int) -> None:
        """Removes what nobody can ask for any more."""
        for table in ("deliveries", "subscriptions", "webhooks", "retries"):
            self._database.execute(f"DELETE FROM {table} WHERE born=?", (born,))

    # events

    def _publish(self, change: changes.Publish) -> PublishedEvents:
        known: dict[str, tuple[str, int | None]] = {}
        """The events of this request by id: content, and position."""
        for ready in change.ready:
            if ready.id is not None:
                body, _ = known.setdefault(ready.id, self._known(ready.id, ready.body))
                if body != ready.body:
                    raise OtherContent(
                        f"there is an event {ready.id!r} of other content: give this one its own"
                    )
        published = PublishedEvents([], [])
        for event, ready in zip(change.events, change.ready, strict=True):
            id = ready.id
            if id is None:
                id = self._free_id("event", "events")
                ready = changes.ready_event({**event, "id": id})
            _, position = known.get(id, (ready.body, None))
            if position is None:
                position = self._append_event(id, ready)
                known[id] = ready.body, position
            published.ids.append(id)
            published.positions.append(position)
        return published

    def _known(self, id: str, body: str) -> tuple[str, int | None]:
        """Returns the content and the position of the event of an id; what is given where it is
        new."""
        found = self._entries.event(id)
        if found is not None:
            return found
        row = self._database.execute(
            "SELECT body, position FROM entries WHERE position="
            "(SELECT position FROM events WHERE id=?)",
            (id,),
        ).fetchone()
        return (body, None) if row is None else (row[0], row[1])

    def _append_event(self, id: str, ready: changes.Ready) -> int:
        for content in ready.large.values():
            self._payloads.write(content)
        size = sum(map(len, ready.large.values()))
        position = self._entries.append(changes.PUBLISH, id, ready.body, large=size)
        for digest in ready.large:
            self._database.execute("INSERT INTO payloads VALUES(?, ?)", (digest, position))
        return position

    # deliveries

    def _evaluate(self, change: changes.Evaluate) -> list[str]:
        """Has events decided again behind all that is in the log; which, by their ids."""
        ids = []
        for position in change.positions:
            row = self._database.execute(
                "SELECT id, body FROM entries WHERE position=?1 AND EXISTS (SELECT 1 FROM "
                "undetermined WHERE position=?1 AND born=coalesce(?2, born))",
                (position, change.born),
            ).fetchone()
            if row is not None:
                id, body = row[0], json.loads(row[1])
                born = 0 if change.born is None else change.born
                text = canonical({**body, "of": position})
                again = self._entries.append(changes.EVALUATE, id, text, born=born)
                for name in set(body["payloads"].values()):
                    self._database.execute("INSERT INTO payloads VALUES(?, ?)", (name, again))
                ids.append(id)
        return ids

    def _decide(self, change: changes.Decide) -> None:
        if not self.state.cursor <= change.cursor <= self.before.position:
            raise LogError(f"verdicts up to {change.cursor} after those up to {self.state.cursor}")
        run, verdicts = self._database.executemany, change.verdicts
        run("INSERT INTO verdicts VALUES(?, ?)", [(each.position, each.body) for each in verdicts])
        matched = Counter(born for each in verdicts for born in each.matched)
        run(
            "UPDATE subscriptions SET matched=matched+? WHERE born=?",
            [(number, born) for born, number in matched.items()],
        )
        due = [(each.position, due) for each in verdicts for due in each.due]
        self._deliver([*due, *change.last])
        for verdict in verdicts:
            if verdict.open or verdict.evaluated:
                self._keep_open(verdict)
        keep_traces(self._database, change.verdicts, change.trace_bytes)
        self.state.cursor = change.cursor

    def _keep_open(self, verdict: Verdict) -> None:
        """Keeps what stayed open of subscriptions that are live, to be evaluated again."""
        position = verdict.position if verdict.of is None else verdict.of
        self._database.executemany(
            "DELETE FROM undetermined WHERE position=? AND born=?",
            [(position, born) for born in verdict.evaluated],
        )
        self._database.executemany(
            "INSERT OR REPLACE INTO undetermined SELECT ?1, ?2, ?3, ?4 WHERE EXISTS "
            "(SELECT 1 FROM subscriptions WHERE born=?2 AND ended IS NULL)",
            [(position, each.born, canonical(each.operators), each.tries) for each in verdict.open],
        )

    def _deliver(self, due: Sequence[tuple[int, Due]]) -> None:
        """Numbers the deliveries of positions, but those of who was cancelled meanwhile."""
        counts = Counter(each.born for _, each in due)
        numbers: dict[int, Iterator[int]] = {}
        for born, number in counts.items():
            last = self._database.execute(
                "UPDATE subscriptions SET last=last+? WHERE born=? RETURNING last", (number, born)
            ).get
            if last is not None:
                numbers[born] = count(last - number + 1)
        self._database.executemany(
            "INSERT INTO deliveries VALUES(?, ?, ?, ?, ?)",
            [
                (each.born, next(numbers[each.born]), position, each.kind, each.body)
                for position, each in due
                if each.born in numbers
            ],
        )

    def _acknowledge(self, change: changes.Acknowledge) -> int:
        row = self._database.execute(
            "SELECT last, acknowledged FROM subscriptions WHERE born=?", (change.born,)
        ).fetchone()
        if row is None:
            raise UnknownSubscription("this subscription has ended")
        last, acknowledged = row
        if change.number > last:
            raise UnknownDelivery("no such delivery was made")
        acknowledged = max(acknowledged, change.number)
        self._database.execute(
            "UPDATE subscriptions SET acknowledged=? WHERE born=?", (acknowledged, change.born)
        )
        standing.settle(self._database, change.born, change.number)
        return int(acknowledged)

    def _retain(self, change: changes.Retain) -> RemovedEntries:
        if self._entries.events and not self._asks:
            raise EventsKnown  # as they may be until now
        state = self.state
        oldest = None if change.older_than is None else self._now - change.older_than
        most = None if change.most_bytes is None else state.total - change.most_bytes
        end = state.cursor if change.up_to is None else min(state.cursor, change.up_to)
        removed = remove(self._database, state.floor, end, oldest, most)
        state.floor += removed.entries
        self.removed_payloads += removed.payloads
        return removed
