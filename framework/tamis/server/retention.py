"""Removes what the log keeps no longer, from its floor upwards.

What is undecided stays. A delivery that goes before it was acknowledged is counted as lost of its
subscription, and who reads from below is told so: the floor of a subscription is its first number
that is kept. Subscriptions stay; those that ended go with the entry that ended them.
Cost: O(log n + removed); at most `MOST` entries a transaction, so that nobody waits for long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tamis.server.changes import RemovedEntries

if TYPE_CHECKING:
    import apsw

KEPT_SECONDS = 24 * 3600.0
"""So long are answers kept for requests that come again."""
MOST = 1_000


def remove(
    database: apsw.Connection,
    floor: int,
    cursor: int,
    oldest: float | None,
    most: int | None,
) -> RemovedEntries:
    """Removes entries of before a time, or among the first so many bytes ever written."""
    kept = database.execute(
        "SELECT min(position) FROM entries WHERE position BETWEEN ? AND ? AND NOT "
        "(coalesce(at<?, FALSE) OR coalesce(total<=?, FALSE))",
        (floor, floor + MOST - 1, oldest, most),
    ).get
    end = min(cursor, floor + MOST - 1 if kept is None else kept - 1)
    until = end + 1
    if until <= floor:
        return RemovedEntries()
    gone = [
        digest
        for (digest,) in database.execute(
            "SELECT DISTINCT digest FROM payloads AS one WHERE position<? AND NOT EXISTS "
            "(SELECT 1 FROM payloads WHERE digest=one.digest AND position>=?)",
            (until, until),
        )
    ]
    _lose_deliveries(database, until)
    for statement in (
        *(
            f"DELETE FROM {table} WHERE born IN (SELECT born FROM subscriptions WHERE ended<?)"
            for table in ("deliveries", "webhooks", "retries")
        ),
        "DELETE FROM subscriptions WHERE ended<?",
        "DELETE FROM texts WHERE until<?",
        "DELETE FROM payloads WHERE position<?",
        "DELETE FROM events WHERE position<?1 AND id IN (SELECT id FROM entries WHERE position<?1)",
        "DELETE FROM verdicts WHERE position<?",
        "DELETE FROM traces WHERE position<?",
        "DELETE FROM undetermined WHERE position<?",
        "DELETE FROM entries WHERE position<?",
    ):
        database.execute(statement, (until,))
    return RemovedEntries(until - floor, kept is None and end < cursor, gone)


def _lose_deliveries(database: apsw.Connection, until: int) -> None:
    """Removes the deliveries of entries that go, and counts those that nobody acknowledged."""
    highest = database.execute(
        "SELECT born, max(number) FROM deliveries WHERE position<? GROUP BY born", (until,)
    ).fetchall()
    for born, number in highest:
        database.execute(
            "UPDATE subscriptions SET floor=?1+1, lost=lost+max(0, ?1-max(acknowledged, floor-1))+"
            "(SELECT count(*) FROM retries WHERE born=?2 AND number<=?1) WHERE born=?2",
            (number, born),
        )
        database.execute("DELETE FROM retries WHERE born=? AND number<=?", (born, number))
    database.execute("DELETE FROM deliveries WHERE position<?", (until,))
