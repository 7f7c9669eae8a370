"""Asks a session of either sort the same: `python -m tests.spark.alike FOLDER` asks Connect.

The answers are JSON, so that those of a classic session and of a local Connect server compare.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
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
from tamis.spark.learning import counts_of_files

from .history import OPERATORS, SUBSCRIPTIONS, facts, flat, read_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def prepare(folder: Path) -> None:
    """A history with nested columns, and operators in a file."""
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
        "refused": refused(frame, folder),
    }
    return json.loads(json.dumps(found, default=str))


def refused(frame: Any, folder: Path) -> list[str]:
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
        lambda: learn(table, entries),
        lambda: learn(frame, path),
        lambda: learn(frame, entries, sample=3.0),
        lambda: stream(frame, entries, output=path, checkpoint=path),
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


if __name__ == "__main__":
    from pyspark.sql import SparkSession as Session

    connected = Session.builder.remote("local[2]").getOrCreate()
    try:
        print(json.dumps(answers(connected, Path(sys.argv[1]))))
    finally:
        connected.stop()
