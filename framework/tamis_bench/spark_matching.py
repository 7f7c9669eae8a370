"""What matching on Spark takes, beside one process: operators that cost CPU, and attributes alone.

Both read the same files by the same parts, match them against the same compiled folder, and write
the same lines; they take turns, the fastest of several passes counts. Workers have started and have
mapped the folder before anything is timed, and so has the process. Lines are compared.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tamis.operators import operator
from tamis_bench.spark_goals import goal_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CALLS, ATTRIBUTES = "calls", "attributes"
WORKLOADS = (CALLS, ATTRIBUTES)
EVENTS = {CALLS: 8_000, ATTRIBUTES: 100_000}
SUBSCRIPTIONS = {CALLS: 1_000, ATTRIBUTES: 20_000}
LEAST_RATIO, FULL_CORES = 1.6, 2
_STEPS = 4_000
_ARGUMENTS = 50
_PARTS = 8

Row = dict[str, Any]


@operator(inputs=("loudness",), cost_seconds=0.0002)
def benchedLoud(event: Any, level: Any) -> bool:
    """Whether it is louder, after some tenths of a millisecond of arithmetic."""
    value = int(event["loudness"])
    for step in range(_STEPS):
        value = (value * 31 + step) % 1009
    return bool((value + event["loudness"]) % 100 > level)


def subscriptions_of(workload: str, count: int, seed: int) -> list[dict[str, str]]:
    """What is subscribed."""
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
    """Events as one file of lines."""
    chance = random.Random(seed + 1)
    file = os.path.join(folder, "events.jsonl")
    names = [f"a{at}" for at in range(30)]
    with open(file, "w", encoding="utf-8") as lines:
        for at in range(count):
            event: Row = {name: chance.randrange(100) for name in names}
            lines.write(json.dumps(event | {"id": f"e{at}", "loudness": at % 1000}) + "\n")
    return [file]


def measured(
    spark: SparkSession,
    *,
    cores: int,
    scale: float,
    passes: int,
    seed: int,
    say: Callable[[str], None],
) -> Iterator[Row]:
    """A row for each workload."""
    from tamis.learning.chunks import chunks_of
    from tamis.spark.compiling import compiled_of
    from tamis.spark.held import Holder
    from tamis.spark.matching import Job, match_files, write_part

    for workload in WORKLOADS:
        events = max(200, round(EVENTS[workload] * scale))
        asked = max(50, round(SUBSCRIPTIONS[workload] * scale))
        with tempfile.TemporaryDirectory(prefix="tamis-bench-") as folder:
            files = write_events(folder, events, seed)
            begun = time.perf_counter()
            compiled = compiled_of(subscriptions_of(workload, asked, seed), [benchedLoud])
            row: Row = {"workload": workload, "events": events, "subscriptions": asked}
            row |= {"cores": cores, "compile_seconds": time.perf_counter() - begun}
            size = max(1 << 14, os.path.getsize(files[0]) // _PARTS)
            job = Job(os.path.join(folder, "parts"), False)
            holder = Holder(compiled.task())
            here: list[str] = []
            there: list[str] = []
            for number in range(passes + 1):
                say(f"{workload}: {f'pass {number} of {passes}' if number else 'workers begin'}")
                shutil.rmtree(job.folder, ignore_errors=True)
                begun = time.perf_counter()
                written = match_files(spark, files, compiled, job, parts=_PARTS, chunk_bytes=size)
                spark_seconds = time.perf_counter() - begun
                there = written.results
                begun = time.perf_counter()
                chunks = [each.elsewhere() for each in chunks_of(files, size)]
                result, _, alone = write_part(0, holder, chunks, job)
                here = [result]
                process_seconds = time.perf_counter() - begun
                if number:
                    for name, totals in (("process", alone), ("spark", written.totals)):
                        key = f"{name}_cpu_seconds"
                        row[key] = min(row.get(key, totals.cpu_seconds), totals.cpu_seconds)
                    for name, seconds in (("process", process_seconds), ("spark", spark_seconds)):
                        key = f"{name}_seconds"
                        row[key] = min(row.get(key, seconds), seconds)
            row["matches"] = written.totals.account.matches
            row["wrong"] = _different(_lines(here), _lines(there))
        row["ratio"] = row["process_seconds"] / row["spark_seconds"]
        yield row


def _lines(files: Sequence[str]) -> list[bytes]:
    found = []
    for file in files:
        with open(file, "rb") as content:
            found += content.readlines()
    return found


def _different(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """How many lines are not those of the other."""
    wrong = abs(len(one) - len(other))
    return wrong + sum(a != b for a, b in zip(one, other, strict=False))


def judged(rows: Sequence[Row]) -> Iterator[Row]:
    """The goals of rows."""
    for row in rows:
        full = row["events"] >= EVENTS[row["workload"]] and row["cores"] == FULL_CORES
        head = {"workload": row["workload"], "events": row["events"], "is_full": full}
        words = f"throughput over that of one process, {row['cores']} cores"
        yield {**head, "what": words, "figure": row["ratio"], "must": LEAST_RATIO, "more": True}
        yield {**head, "what": "wrong lines", "figure": row["wrong"], "must": 0, "more": False}


def table(rows: Sequence[Row]) -> str:
    """Rows for people."""
    head = f"{'workload':12}{'events':>9}{'subscr.':>9}{'matches':>12}"
    lines = [
        f"{head}{'compile':>9}{'process':>9}{'spark':>8}{'ratio':>7}{'cpu':>8}{'of Spark':>10}"
    ]
    for row in rows:
        lines.append(
            f"{row['workload']:12}{row['events']:>9,}{row['subscriptions']:>9,}"
            f"{row['matches']:>12,}{row['compile_seconds']:>9.2f}{row['process_seconds']:>9.2f}"
            f"{row['spark_seconds']:>8.2f}{row['ratio']:>7.2f}"
            f"{row['process_cpu_seconds']:>8.2f}{row['spark_cpu_seconds']:>10.2f}"
        )
    return "\n".join(lines)


def closing(goals: Sequence[Row]) -> str:
    """The goals for people."""
    words = "seconds; cpu, of Spark: those of the processor, in one process and in all workers"
    return "\n".join([words, *goal_lines(goals, "workload")])
