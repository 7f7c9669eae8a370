"""Asks a session of either sort the same: `python -m tests.spark.alike FOLDER` asks Connect.

The answers are JSON, so that those of a classic session and of a local Connect server compare.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas
import pyarrow
import pyarrow.parquet

from tamis import Statistics
from tamis.errors import TamisError
from tamis.learning.lesson import Lesson
from tamis.plugins.loader import operators_in
from tamis.spark import learn, match, stream
from tamis.spark.compiling import compiled_of
from tamis.spark.learning import counts_of_files
from tamis.spark.matching import Job, match_files

from .history import OPERATORS, SUBSCRIPTIONS, facts, flat, read_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ZONES = "America/New_York", "Asia/Kolkata"
ZONED = {
    "day": 'day = "2026-01-16"',
    "evening": "time.hour >= 18",
    "weekday": "time.weekday = 5",
    "cheap": "price < 4.25",
    "costs": "meta.cost = 2.5",
    "priced": "prices has 0.1",
    "large": "large > 100000000000000000001",
    "seen": 'began starts with "2026-01-1" and exists(meta.seen)',
}
KEPT = ("day", "price", "prices", "large", "time", "time.hour", "began", "meta.seen")


def write_zoned(folder: Path) -> None:
    """Three days of decimals, arrays, structures and nulls, their times as moments, as milliseconds
    and without a zone."""
    cents = pyarrow.decimal128(10, 2)
    moments = pyarrow.timestamp("us", "America/New_York")
    for day, kind in ((15, moments), (16, pyarrow.int64()), (17, pyarrow.timestamp("us"))):
        times = [
            datetime(2026, 1, day, tzinfo=UTC) + timedelta(minutes=61 * at) for at in range(20)
        ]
        given: list[Any] = list(times)
        if day == 16:
            given = [1000 * int(each.timestamp()) for each in times]
        if day == 17:
            given = [each.replace(tzinfo=None) for each in times]
        meta = [{"cost": Decimal(at) / 2, "seen": each} for at, each in enumerate(times)]
        columns = {
            "id": pyarrow.array([f"{day}-{at}" for at in range(20)]),
            "at": pyarrow.array(given, kind),
            "began": pyarrow.array(times, moments),
            "price": pyarrow.array(
                [Decimal(at) / 4 if at % 3 else None for at in range(20)], cents
            ),
            "large": pyarrow.array([10**20 + at % 4 for at in range(20)], pyarrow.decimal128(38)),
            "prices": pyarrow.array(
                [[Decimal(at) / 10, None] for at in range(20)], pyarrow.list_(cents)
            ),
            "meta": pyarrow.array(meta, pyarrow.struct({"cost": cents, "seen": moments})),
        }
        place = folder / "zoned" / f"day=2026-01-{day}"
        place.mkdir(parents=True)
        pyarrow.parquet.write_table(pyarrow.table(columns), place / "a.parquet", row_group_size=7)
    lines = (json.dumps({"id": id, "where": where}) + "\n" for id, where in ZONED.items())
    (folder / "zoned.jsonl").write_text("".join(lines))


def zoned(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """The lines of files, and what rows of frames match, on sessions of two zones."""
    before = spark.conf.get("spark.sql.session.timeZone")
    compiled = compiled_of([{"id": id, "where": where} for id, where in ZONED.items()], [])
    files = sorted(map(str, (folder / "zoned").rglob("*.parquet")))
    found = {}
    for zone in ZONES:
        spark.conf.set("spark.sql.session.timeZone", zone)
        place = folder / f"{type(spark).__module__}.{zone.partition('/')[0]}"
        job = Job(str(place), False, keep=KEPT)
        written = match_files(spark, files, compiled, job, renamed=(("at", "time"),))
        lines = [line for each in written.results for line in Path(each).read_text().splitlines()]
        rows = []
        for file in files[::2]:  # those whose times Spark reads as times
            frame = spark.read.option("basePath", str(folder / "zoned")).parquet(file)
            for row in match(frame.withColumnRenamed("at", "time"), compiled).collect():
                rows.append([row.event, [each.subscription for each in row.matches]])
        found[zone] = {"lines": sorted(lines), "rows": sorted(rows)}
    spark.conf.set("spark.sql.session.timeZone", str(before))
    return found


def prepare(folder: Path) -> None:
    """A history with nested columns, one of several zones, and operators in a file."""
    write_zoned(folder)
    (folder / "in").mkdir()
    (folder / "operators_alike.py").write_text(OPERATORS)
    for at in range(2):
        rows = [{**row, "meta": {"speed": row["altitude"] or 0}} for row in flat(60)]
        pyarrow.parquet.write_table(
            pyarrow.Table.from_pylist(rows), folder / "in" / f"{at}.parquet", row_group_size=20
        )


def answers(spark: SparkSession, folder: Path) -> Any:
    """What learning, matching and a stream give on a session, and what it refuses."""
    operators = list(operators_in(str(folder / "operators_alike.py")))
    entries = [{"id": f"s{at}", "where": text} for at, text in enumerate(SUBSCRIPTIONS)]
    frame = spark.read.parquet(str(folder / "in"))
    lesson = Lesson(entries, operators)
    files = sorted(map(str, (folder / "in").iterdir()))
    rows = match(frame, entries, operators, shards=2).collect()
    coming = spark.readStream.schema(frame.schema).parquet(str(folder / "in"))
    output, checkpoint = (str(folder / f"{type(spark).__module__}.{each}") for each in "oc")
    query = stream(
        coming, entries, operators, output=output, checkpoint=checkpoint,
        trigger={"availableNow": True},
    )  # fmt: skip
    query.awaitTermination()
    found = {
        "learned": facts(learn(frame, entries, operators, sample=1.0)),
        "files": facts(lesson.statistics(counts_of_files(spark, files, lesson.task))),
        "rows": sorted(json.dumps(row.asDict(recursive=True), sort_keys=True) for row in rows),
        "lines": sorted(json.dumps(line, sort_keys=True) for line in read_lines(output)),
        "zoned": zoned(spark, folder),
        "refused": refused(frame, coming, folder),
    }
    return json.loads(json.dumps(found, default=str))


def refused(frame: Any, coming: Any, folder: Path) -> list[str]:
    """The sentences for arguments that are none."""
    table: Any = pandas.DataFrame({"a": [3]})
    path, entries, wrong = str(folder / "s.jsonl"), ["a = 3"], Statistics
    given: list[Callable[[], object]] = [
        lambda: match(table, entries),
        lambda: match(frame, path),
        lambda: match(frame, entries, planner="saving"),
        lambda: match(frame, entries, index="pstblom"),
        lambda: match(frame, entries, statistics="learned"),
        lambda: match(frame, entries, statistics=wrong),
        lambda: match(frame, entries, plannr="savings"),
        lambda: match(frame, entries, shards=0),
        lambda: match(frame, entries, workers=0),
        lambda: match(frame, entries, keep="camera"),
        lambda: match(frame, entries, keep=["camra"]),
        lambda: learn(table, entries),
        lambda: learn(frame, path),
        lambda: learn(frame, entries, sample=3.0),
        lambda: stream(frame, entries, output=path, checkpoint=path),
        lambda: stream(coming, entries, output=path, checkpoint=path, keep=["camra"]),
    ]
    said = []
    for call in given:
        try:
            call()
        except TamisError as bad:
            said.append(str(bad))
        else:
            raise AssertionError("it was taken")
    return said


def progress(spark: SparkSession) -> list[int]:
    """How far a session of Connect says that a slow job has come, and of how many parts."""
    from tamis.cli.on_spark import JobProgress

    def slow(batches: Any) -> Any:
        for batch in batches:
            time.sleep(4)
            yield batch

    followed = JobProgress(spark)
    spark.range(0, 3, 1, 3).mapInArrow(slow, "id long").collect()
    followed.end()
    return [followed.done, followed.total]


if __name__ == "__main__":
    from pyspark.sql import SparkSession as Session

    connected = Session.builder.remote("local[2]").getOrCreate()
    try:
        told = {**answers(connected, Path(sys.argv[1])), "progress": progress(connected)}
        print(json.dumps(told))
    finally:
        connected.stop()
