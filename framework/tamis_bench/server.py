"""Measures the match server: commits compared with SQLite alone, deliveries, and explanations.

Group commit: events are handed to the log one by one, wait together, and are then committed so
many at a time. The time is that from their release until the last of them is on disk, with all
that the log does then; making and handing in an event is printed apart (`handed_in_us`). SQLite
alone writes the same rows, made before, into the same tables in as many transactions, in turns with
the log, each as often the first of both, under the log's settings and page checksums: for each
event a row with its position, body and place in the chain of hashes, a row that keeps its id
unique, with one `executemany` a table, and the row for the end of the log. It writes no witness,
makes no hashes, looks up no ids and answers nobody. The time that the disk takes for a flush is
printed too.

Delivery: the server is a process of its own with very many subscriptions on attributes alone.
Events come at given times, whatever became of earlier ones; each is timed from when it was to come
until it is read from the stream of a subscription that matches all of them. Capacity is the rate
that a closed loop of publishers reaches.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Annotated, Any

from tamis.server import changes
from tamis.server.database import open_database
from tamis.server.log import Log
from tamis.server.schema import lay_out
from tamis_bench.options import count, several
from tamis_bench.report import Row, progress
from tamis_bench.serving import SITE_SHARE, RunningServer, load_rows

BATCHES = (1, 16, 128, 1_024)
_FLUSHES = 200
_FEWEST = 16
"""Batches of a pass: of four, one that waits for others decides."""
_PAGE = bytes(4_096)
_COLUMNS = {"entries": 8, "events": 2}
_END = "UPDATE state SET commits=?, position=?, hash=?, total=?, clock=?"
"""Of each commit another row: one that stays as it was is not written."""


def measured(
    *,
    subscriptions: Annotated[int, count("Subscriptions by attributes alone.")] = 100_000,
    seconds: Annotated[int, count("How long events come at each rate.")] = 10,
    loads: Annotated[
        list[int] | None, several("Percent of capacity, as 50 100 200.", least=1)
    ] = None,
    rows: Annotated[int, count("Events committed for each size of batch.", 100)] = 4_096,
    passes: Annotated[int, count("Passes of commits, in turns with SQLite's.")] = 32,
) -> Iterator[Row]:
    """Yields rows for the disk, for group commits, for each load, and for explanations."""
    with tempfile.TemporaryDirectory() as folder:
        progress("the disk")
        appended, floor = _flushes_a_second(Path(folder))
        yield {"part": "The disk", "what": "flushes of 4 KiB more", "a_second": appended}
        yield {"part": "The disk", "what": "flushes of 4 KiB again", "a_second": floor}
        yield from _commits(Path(folder), rows, passes, floor)
        progress(f"{subscriptions:,} subscriptions are written")
        began = time.perf_counter()
        data = Path(folder) / "data"
        _subscribe(data, subscriptions)
        wrote = time.perf_counter() - began
        with RunningServer(data) as server:
            yield {
                "part": "The server",
                "subscriptions": subscriptions,
                "subscribe_us": 1e6 * wrote / subscriptions,
                "ready_seconds": server.ready_seconds,
                "followed_seconds": server.wait_followed(),
            }
            yield from asyncio.run(
                load_rows(server, subscriptions, seconds, loads or [50, 100, 200])
            )


def _flushes_a_second(folder: Path) -> tuple[float, float]:
    """Returns how often the disk takes a page that is to stay: at the end of a file, and then where
    one was before, as a write-ahead log is written again."""
    file = os.open(folder / "flushed", os.O_RDWR | os.O_CREAT)
    found = []
    try:
        for _ in ("more", "again"):
            began = time.perf_counter()
            for number in range(_FLUSHES):
                os.pwrite(file, _PAGE, number * len(_PAGE))
                os.fdatasync(file)
            found.append(_FLUSHES / (time.perf_counter() - began))
    finally:
        os.close(file)
    return found[0], found[1]


def _commits(folder: Path, rows: int, passes: int, floor: float) -> Iterator[Row]:
    """Yields what the log commits in batches of each size, and SQLite alone of the same."""
    for size in BATCHES:
        progress(f"commits of {size:,}")
        batches = max(_FEWEST, min(rows, 64 * size) // size)
        _log_seconds(folder / f"{size}", size, batches)
        tables = _rows_of(folder / f"{size}")
        mine, bare, handing = [], [], []
        for number in range(2 * passes):
            part = folder / f"{size}-{number}"
            if number % 4 in (0, 3):
                bare.append(_bare_seconds(part, tables, size, batches))
                continue
            handed_in, written = _log_seconds(part, size, batches)
            mine.append(written)
            handing.append(handed_in)
        events = size * batches
        yield {
            "part": "Commits of so many events",
            "batch": size,
            "events_a_second": events / min(mine),
            "bare_a_second": events / min(bare),
            "of_bare": median(theirs / ours for ours, theirs in zip(mine, bare, strict=True)),
            "handed_in_us": 1e6 * min(handing) / events,
            "commits_a_second": batches / min(mine),
            "of_flushes": batches / min(mine) / floor,
        }


def _event(number: int) -> dict[str, Any]:
    return {"id": f"event-{number}", "site": number % 1_000, "level": number % 100, "sequence": 1}


def _log_seconds(folder: Path, size: int, batches: int) -> tuple[float, float]:
    """Has the log commit events in batches; what handing them in took, and what came after."""
    with Log(folder, most_waiting=(batches + 1) * size) as log:
        log.writer.most_together = size
        with log.writer.gathering():
            for number in range(size):  # the first batch is not measured
                first = log.submit(changes.Publish([_event(number)]))
        first.result()
        with log.writer.gathering():
            began = time.perf_counter()
            for number in range(size, (batches + 1) * size):
                last = log.submit(changes.Publish([_event(number)]))
            handed_in = time.perf_counter()
        last.result()
        ended = time.perf_counter()
        commits = log.writer.commits
    if commits != batches + 1:
        raise AssertionError(f"{batches + 1} batches were {commits} commits")
    return handed_in - began, ended - handed_in


def _rows_of(folder: Path) -> dict[str, list[Any]]:
    """Returns the rows of a log by table."""
    database = open_database(folder, reads=True)
    tables = {
        name: database.execute(f"SELECT * FROM {name} ORDER BY position").fetchall()
        for name in _COLUMNS
    }
    database.close()
    return tables


def _bare_seconds(folder: Path, tables: dict[str, list[Any]], size: int, batches: int) -> float:
    """Writes the rows of a log with SQLite alone, in transactions of the same size."""
    folder.mkdir()
    bare = open_database(folder)
    lay_out(bare)
    spent = 0.0
    for number in range(batches + 1):
        position, _, at, *_, total, hash = tables["entries"][(number + 1) * size - 1]
        began = time.perf_counter()
        bare.execute("BEGIN IMMEDIATE")
        for name, columns in _COLUMNS.items():
            places = ", ".join("?" * columns)
            some = tables[name][number * size : (number + 1) * size]
            bare.executemany(f"INSERT INTO {name} VALUES({places})", some)
        bare.execute(_END, (number + 1, position, hash, total, at))
        bare.execute("COMMIT")
        spent += (time.perf_counter() - began) if number else 0.0
    bare.close()
    return spent


def _subscribe(folder: Path, count: int) -> None:
    """Writes subscriptions into a log, without a server."""
    with Log(folder) as log:
        futures = []
        for at in range(count):
            where = f"site = {at % max(1, count // SITE_SHARE)} and level >= {at * 37 % 100}"
            document = {"where": where}
            futures.append(log.submit(changes.Subscribe(document, bytes(32), f"s{at}")))
            if len(futures) == 1_024:
                for future in futures:
                    future.result()
                futures.clear()
        for future in futures:
            future.result()
