"""Writes how webhooks stand, within a transaction of the log.

What was sent and not taken is a row of `retries` until it is taken, acknowledged, or removed by
retention. So `due = delivered + pending + dead + gap` follows from few numbers at any time.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tamis.server import changes
from tamis.server.errors import UnknownDelivery, UnknownWebhook

if TYPE_CHECKING:
    import apsw

    from tamis.server.changes import Webhook

_REMOVED = "the webhook was removed"


def set_webhook(database: apsw.Connection, born: int, webhook: Webhook | None) -> str | None:
    """Gives a subscription a webhook or none; the secret, if the one that was made is used.

    What waits to be sent again to a webhook that is removed is dead, and can be read."""
    if webhook is None:
        database.execute("DELETE FROM webhooks WHERE born=?", (born,))
        database.execute(
            "UPDATE retries SET at=NULL, reason=? WHERE born=? AND at IS NOT NULL", (_REMOVED, born)
        )
        return None
    known = database.execute("SELECT secrets FROM webhooks WHERE born=?", (born,)).get
    keeps = known is not None and webhook.is_made
    secrets = known if keeps else json.dumps([[webhook.secret, None]])
    database.execute(
        "INSERT OR REPLACE INTO webhooks(born, url, secrets) VALUES(?, ?, ?)",
        (born, webhook.url, secrets),
    )
    return webhook.secret if webhook.is_made and not keeps else None


def settle(database: apsw.Connection, born: int, number: int) -> None:
    """Takes as delivered what its subscriber acknowledges up to a number."""
    database.execute("DELETE FROM retries WHERE born=? AND number<=?", (born, number))


def _attempt(database: apsw.Connection, change: changes.Attempt, now: float) -> None:
    """Takes what became of a delivery, unless its subscription or webhook is gone meanwhile; what
    one did not take is sent to the one in its place."""
    born, number = change.born, change.number
    url = database.execute("SELECT url FROM webhooks WHERE born=?", (born,)).get
    if url is None or (change.reason is not None and url != change.url):
        return
    if change.reason is None:
        database.execute("DELETE FROM retries WHERE born=? AND number=?", (born, number))
        database.execute(
            "UPDATE webhooks SET failures=0, since=NULL, reason=NULL, paused=0.0 WHERE born=?",
            (born,),
        )
        _send(database, born, number)
        return
    waits = "SELECT 1 FROM subscriptions JOIN deliveries USING(born) WHERE born=? AND number=?"
    again = database.execute(
        "UPDATE retries SET tries=tries+1, at=?, reason=? WHERE born=? AND number=? RETURNING 1",
        (change.again, change.reason, born, number),
    ).get
    # a gap is no delivery, and one that was acknowledged meanwhile needs no second attempt
    first = f"{waits} AND number>acknowledged"
    if again is None and database.execute(first, (born, number)).get is not None:
        database.execute(
            "INSERT INTO retries VALUES(?, ?, 1, ?, ?, ?)",
            (born, number, now, change.again, change.reason),
        )
        _send(database, born, number)
    database.execute(
        "UPDATE webhooks SET failures=failures+1, since=coalesce(since, ?), reason=?, paused=?, "
        "disabled=disabled OR ? WHERE born=?",
        (now, change.reason, change.pause, change.disables, born),
    )


def _send(database: apsw.Connection, born: int, number: int) -> None:
    """Takes as sent what is up to a number."""
    database.execute(
        "UPDATE subscriptions SET acknowledged=max(acknowledged, ?) WHERE born=?", (number, born)
    )


def change(
    database: apsw.Connection,
    change: changes.Attempt | changes.Rotate | changes.Enable | changes.Redeliver,
    now: float,
) -> list[Any] | None:
    """Takes what became of a delivery, or changes a webhook as its subscriber asks; what to
    answer."""
    if isinstance(change, changes.Attempt):
        _attempt(database, change, now)
        return None
    born = change.born
    known = database.execute("SELECT secrets FROM webhooks WHERE born=?", (born,)).get
    if known is None:
        raise UnknownWebhook("this subscription has no webhook: PUT one")
    if isinstance(change, changes.Rotate):
        current = json.loads(known)[0][0]
        secrets = [[change.secret, None], [current, change.until]]
        database.execute("UPDATE webhooks SET secrets=? WHERE born=?", (json.dumps(secrets), born))
        return [change.secret, change.until]
    if isinstance(change, changes.Enable):
        database.execute(
            "UPDATE webhooks SET failures=0, since=NULL, reason=NULL, paused=0.0, disabled=FALSE "
            "WHERE born=?",
            (born,),
        )
        database.execute(
            "UPDATE retries SET at=?1, first=?1 WHERE born=?2 AND at IS NOT NULL", (now, born)
        )
        return []
    dead = database.execute(
        "UPDATE retries SET at=?1, first=?1, tries=0 WHERE born=?2 AND number=?3 AND at IS NULL "
        "RETURNING 1",
        (now, born, change.number),
    ).get
    if dead is None:
        raise UnknownDelivery("this delivery is not dead")
    database.execute("UPDATE webhooks SET paused=0.0 WHERE born=?", (born,))
    return []
