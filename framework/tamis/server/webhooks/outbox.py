"""Says what is to be sent to a webhook next, and what is dead.

Deliveries go out in their order. One that is not taken is set aside and sent again later, so that
it does not hold up the others; where several in a row are not taken, it is the receiver, and the
oldest is tried until it is taken.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tamis.server.reading import DeliveryStanding, LogReaders

_MANY = 3
"""So many failures in a row are the receiver's."""


class Message(NamedTuple):
    """A delivery that is to be sent now."""

    born: int
    number: int
    record: dict[str, Any]
    subscription: str
    url: str
    secrets: list[str]
    tries: int
    """How often it was sent."""
    first: float | None
    """When it was first not taken."""
    failures: int
    """Of the webhook, in a row."""
    since: float | None
    """Since when the webhook takes nothing."""


class Later(NamedTuple):
    """When there is something to send."""

    at: float


def waiting(reading: LogReaders) -> list[int]:
    """Returns the subscriptions, by birth, whose webhooks have something to be sent."""
    rows = reading.rows(
        "SELECT born FROM webhooks JOIN subscriptions USING(born) WHERE NOT disabled AND "
        "(last>acknowledged OR born IN (SELECT born FROM retries WHERE at IS NOT NULL))"
    )
    return [born for (born,) in rows]


def holders(reading: LogReaders) -> set[int]:
    """Returns the subscriptions, by birth, that have a webhook."""
    return {born for (born,) in reading.rows("SELECT born FROM webhooks")}


def upcoming(reading: LogReaders, born: int, now: float) -> Message | Later | None:
    """Returns what is to be sent next, now or later; `None` where there is nothing."""
    rows = reading.rows(
        "SELECT url, secrets, failures, since, paused, subscriptions.id FROM webhooks "
        "JOIN subscriptions USING(born) WHERE born=? AND NOT disabled",
        born,
    )
    if not rows:
        return None
    url, secrets, failures, since, paused, id = rows[0]
    if paused > now:
        return Later(paused)
    standing = reading.standing(id)
    if standing is None or standing.born != born:
        return None
    retry = _next_retry(reading, born)
    is_due = retry is not None and (retry[2] <= now or failures >= _MANY)
    if retry is not None and is_due:
        number, tries, _, first = retry
        found = reading.records(standing, number - 1, 1)
    else:
        number, tries, first = 0, 0, None
        found = reading.records(standing, standing.acknowledged, 1)
    if not found:
        return None if retry is None else Later(retry[2])
    record = found[0]
    number = int(record["id"].rpartition("-")[2])
    valid = [secret for secret, until in json.loads(secrets) if until is None or until > now]
    return Message(born, number, record, id, url, valid, tries, first, failures, since)


def _next_retry(reading: LogReaders, born: int) -> tuple[int, int, float, float] | None:
    rows = reading.rows(
        "SELECT number, tries, at, first FROM retries WHERE born=? AND at IS NOT NULL "
        "ORDER BY at, number LIMIT 1",
        born,
    )
    return rows[0] if rows else None


def dead(
    reading: LogReaders, standing: DeliveryStanding, after: int, most: int
) -> list[dict[str, Any]]:
    """Returns the dead deliveries of a subscription after a number, with the reason of each."""
    rows = reading.rows(
        "SELECT number, tries, retries.reason, kind, body FROM retries "
        "JOIN deliveries USING(born, number) "
        "WHERE born=? AND number>? AND at IS NULL ORDER BY number LIMIT ?",
        *(standing.born, after, most),
    )
    return [
        {"id": f"{standing.born}-{number}", "type": kind, **json.loads(body)}
        | {"tries": tries, "reason": reason}
        for number, tries, reason, kind, body in rows
    ]
