"""Writes traces beside the verdicts, in their transaction, and removes the oldest beyond a size.

Cost: O(log n) each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw

    from tamis.server.changes import Verdict


def keep_traces(database: apsw.Connection, verdicts: Sequence[Verdict], most_bytes: int) -> None:
    """Writes what operators said of events, and removes what is beyond so many bytes."""
    total = database.execute("SELECT coalesce(max(total), 0) FROM traces").get
    rows = []
    for verdict in verdicts:
        if verdict.trace is not None:
            total += len(verdict.trace)
            position = verdict.position if verdict.of is None else verdict.of
            rows.append((position, total, verdict.trace))
    if rows:
        database.executemany("INSERT OR REPLACE INTO traces VALUES(?, ?, ?)", rows)
        database.execute("DELETE FROM traces WHERE total<=?", (total - most_bytes,))
