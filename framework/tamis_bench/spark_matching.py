"""Measures matching on Spark beside one process: operators that cost CPU, and attributes alone.

Both read the same files by the same parts, match them against the same compiled folder, and write
the same lines; they take turns, the fastest of several passes counts. Workers have started and have
mapped the folder before anything is timed, and so has the process. Lines are compared.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tamis.operators import operator
from tamis_bench.report import Row, progress
from tamis_bench.timing import alternating

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CALLS, ATTRIBUTES = "calls", "attributes"
WORKLOADS = (CALLS, ATTRIBUTES)
EVENTS = {CALLS: 8_000, ATTRIBUTES: 100_000}
SUBSCRIPTIONS = {CALLS: 1_000, ATTRIBUTES: 20_000}
_STEPS = 4_000
_ARGUMENTS = 50
_PARTS = 8


@operator(inputs=("loudness",), cost_seconds=0.0002)
def benchedLoud(event: Any, level: Any) -> bool:
    """Returns whether it is louder, after some tenths of a millisecond of arithmetic."""
    value = int(event["loudness"])
    for step in range(_STEPS):
        value = (value * 31 + step) % 1009
    return bool((value + event["loudness"]) % 100 > level)


def subscriptions_of(workload: str, count: int, seed: int) -> list[dict[str, str]]:
    """Draws what is subscribed."""
    chance = random.Random(seed)
    found = []
    for at in range(count):
        asked, names = [], chance.sample(range(30), 5)
        for _ in range(3 if workload == CALLS else 5):
            low = chance.randrange(60)
            asked.append(f"a{names.pop()} between {low} and {low + 40}")
        if workload == CALLS:
            asked.append(f"benchedLoud({chance.randrange(_ARGUMENTS)})")
        found.append({"id": f"s{at}", "where": " and ".join(asked)})
    return found


def write_events(folder: str, count: int, seed: int) -> list[str]:
    """Writes events as one file of lines."""
    chance = random.Random(seed + 1)
    file = os.path.join(folder, "events.jsonl")
    names = [f"a{at}" for at in range(30)]
    with open(file, "w", encoding="utf-8") as lines:
        for at in range(count):
            event: Row = {name: chance.randrange(100) for name in names}
            lines.write(json.dumps(event | {"id": f"e{at}", "loudness": at % 1000}) + "\n")
    return [file]


def measured(
    spark: SparkSession, *, cores: int, scale: float, passes: int, seed: int
) -> Iterator[Row]:
    """Yields a row for each workload."""
    for workload in WORKLOADS:
        progress(f"matching on Spark: {workload}")
        events = max(200, round(EVENTS[workload] * scale))
        asked = max(50, round(SUBSCRIPTIONS[workload] * scale))
        with tempfile.TemporaryDirectory(prefix="tamis-bench-") as folder:
            files = write_events(folder, events, seed)
            entries = subscriptions_of(workload, asked, seed)
            row = _measured(spark, files, entries, folder, passes)
        yield {
            "part": f"Matching on Spark, {cores} cores: seconds",
            "workload": f"{workload}, {events:,} events, {cores} cores",
            "of": workload,
            "events": events,
            "subscriptions": asked,
            **row,
        }


def _measured(
    spark: SparkSession,
    files: Sequence[str],
    entries: Sequence[dict[str, str]],
    folder: str,
    passes: int,
) -> Row:
    from tamis.learning.chunks import chunks_of
    from tamis.spark.compiling import compiled_of
    from tamis.spark.held import holder_of
    from tamis.spark.matching import Job, match_files, write_part

    begun = time.perf_counter()
    compiled = compiled_of(entries, [benchedLoud])
    compile_seconds = time.perf_counter() - begun
    size = max(1 << 14, os.path.getsize(files[0]) // _PARTS)
    holder = holder_of(compiled.key, partial(str, compiled.parcel.folder))
    numbers = itertools.count()

    def on_spark() -> Any:
        job = Job(os.path.join(folder, f"pass-{next(numbers)}"), False)
        return match_files(spark, files, compiled, job, parts=_PARTS, chunk_bytes=size)

    def in_process() -> Any:
        chunks = [each.elsewhere() for each in chunks_of(files, size)]
        return write_part(0, holder, chunks, Job(folder, False))

    timed = alternating({"spark": on_spark, "process": in_process}, passes)
    written, (result, _, alone) = timed["spark"].result, timed["process"].result
    return {
        "matches": written.totals.account.matches,
        "compile": compile_seconds,
        "process": timed["process"].least,
        "spark": timed["spark"].least,
        "x_process": timed["process"].least / timed["spark"].least,
        "process_cpu": alone.cpu_seconds,
        "spark_cpu": written.totals.cpu_seconds,
        "wrong": _different(_lines([result]), _lines(written.results)),
    }


def _lines(files: Sequence[str]) -> list[bytes]:
    found = []
    for file in files:
        with open(file, "rb") as content:
            found += content.readlines()
    return found


def _different(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """Returns how many lines are not those of the other."""
    wrong = abs(len(one) - len(other))
    return wrong + sum(a != b for a, b in zip(one, other, strict=False))
