"""Scans with DuckDB: sequential SQL over a table of box columns, a row a subscription.

A place of a subscription is three columns: attribute, low, high; the event is a list of codes that
the attributes look up. Sets and `!=`, which no box says, lie in a table of their own.
Imported only when this row is measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis_bench.coded import CodedWorkload
from tamis_bench.kernels import DIFFERENT, RANGE, Ints
from tamis_bench.scans import Scan

_NOWHERE = -1


def duckdb_scan(codes: CodedWorkload) -> Scan:
    """Returns the scan; `ModuleNotFoundError` where there is no DuckDB."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    _fill(connection, codes)
    places = range(int(np.diff(codes.start).max(initial=1)))
    tests = [f"list_extract(event.codes, a{at} + 1) BETWEEN l{at} AND h{at}" for at in places]
    if codes.extra is not None:
        tests.append(
            "NOT EXISTS (SELECT 1 FROM other WHERE other.row = boxes.row AND list_contains("
            "members, list_extract(event.codes, attribute + 1)) != wanted)"
        )
    query = (
        "SELECT row FROM boxes, (SELECT codes FROM events WHERE number = ?) event WHERE "
        + " AND ".join(tests)
    )

    def scan(at: int) -> Ints:
        found: Any = connection.execute(query, [at]).fetchnumpy()["row"]
        return np.sort(np.asarray(found, np.int64))

    return scan


def _fill(connection: Any, codes: CodedWorkload) -> None:
    length = np.diff(codes.start)
    nothing = len(codes.spaces)
    table: dict[str, Any] = {"row": np.arange(len(codes), dtype=np.int32)}
    for place in range(int(length.max(initial=1))):
        rows = np.flatnonzero(length > place)
        here = codes.start[rows] + place
        attribute = np.full(len(codes), nothing, np.int32)
        low, high = np.zeros(len(codes), codes.low.dtype), np.zeros(len(codes), codes.low.dtype)
        attribute[rows], low[rows], high[rows] = (
            codes.attribute[here], codes.low[here], codes.high[here],
        )  # fmt: skip
        if codes.extra is not None:
            different = rows[codes.extra[here] == DIFFERENT]
            low[different], high[different] = 0, codes.absent - 1
        table |= {f"a{place}": attribute, f"l{place}": low, f"h{place}": high}
    connection.register("given", table)
    connection.execute("CREATE TABLE boxes AS SELECT * FROM given")
    connection.unregister("given")
    connection.execute("CREATE TABLE events (number INTEGER, codes INTEGER[])")
    for number, event in enumerate(codes.events):
        values = np.where(event == codes.absent, _NOWHERE, event.astype(np.int64))
        connection.execute("INSERT INTO events VALUES (?, ?)", [number, [*values.tolist(), 0]])
    if codes.extra is not None:
        _fill_others(connection, codes, codes.extra)


def _fill_others(connection: Any, codes: CodedWorkload, extra: Any) -> None:
    """Fills in the predicates that are no boxes, as lists of values."""
    at = np.flatnonzero(extra != RANGE)
    rows = np.searchsorted(codes.start, at, side="right") - 1
    bits = np.unpackbits(codes.sets.view(np.uint8), axis=1, bitorder="little")
    sets, values = np.nonzero(bits)
    connection.register("member", {"set": sets, "value": values})
    connection.register(
        "other_given",
        {
            "row": rows,
            "attribute": codes.attribute[at].astype(np.int32),
            "set": extra[at],
            "value": codes.low[at].astype(np.int32),
        },
    )
    connection.execute(
        f"""CREATE TABLE other AS
        SELECT row, attribute, [value] AS members, false AS wanted FROM other_given
        WHERE set = {DIFFERENT}
        UNION ALL
        SELECT any_value(row), any_value(attribute), list(member.value), true
        FROM other_given JOIN member USING (set) GROUP BY set"""
    )
