"""Measures the day of a data engineer: a history of nested Parquet learned from, and matched.

It takes the ways that users take, `tamis.spark.learn` and `tamis match --on spark`, so that other
checkouts can be measured beside this one. A match is a process of its own, its Java included; every
event matches some 120 of 5,000 subscriptions, whose lines are what is written. A learning job runs
on a session that is warm, over few events, so that what a job costs by itself is seen.
"""

from __future__ import annotations

import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tamis import operator
from tamis_bench.report import Row, progress
from tamis_bench.timing import alternating

SUBSCRIPTIONS = 5_000
_NUMBERS, _TEXTS = 27, 4
_LEARNED = 5_000
_LEAST_PASSES = 3
_FILES = 8
_BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


@operator(inputs=("loudness",))
def louderHere(event: Any, level: Any) -> bool:
    """Returns whether it is louder than a level."""
    return bool(event["loudness"] > level)


@operator(inputs=("people",), outputs=("count",))
def peopleHere(event: Any, count: Any) -> list[int]:
    """Returns how many people there are."""
    return [event["people"]]


def subscriptions_of(count: int, seed: int) -> list[dict[str, str]]:
    """Draws subscriptions of two ranges that hold in a seventh of the events each; one in twenty
    asks an operator besides."""
    chance = random.Random(seed)
    found = []
    for at in range(count):
        asked = []
        for number in chance.sample(range(_NUMBERS), 2):
            low = chance.randrange(84_000) / 100
            asked.append(f"n{number:02} between {low} and {low + 163}")
        if at % 40 == 0:
            asked.append(f"louderHere({chance.randrange(50)})")
        if at % 40 == 20:
            asked.append(f"peopleHere(?n), ?n > {chance.randrange(20)}")
        team = f"team {chance.randrange(30)}"
        where = ", ".join(asked)
        found.append({"id": f"sub-{at:05}", "where": where, "team": team, "level": "watch"})
    return found


def write_history(folder: Path, events: int, seed: int) -> str:
    """Writes Parquet files of 40 columns: structures, moments, decimals, arrays, nulls."""
    import pyarrow
    import pyarrow.parquet

    folder.mkdir()
    size = -(-events // _FILES)
    for number in range(_FILES):
        first = number * size
        count = min(size, events - first)
        if count > 0:
            columns = _columns(first, count, np.random.default_rng([seed, number]))
            file = folder / f"part-{number}.parquet"
            pyarrow.parquet.write_table(pyarrow.table(columns), file, row_group_size=10_000)
    return str(folder)


def _columns(first: int, count: int, chance: np.random.Generator) -> dict[str, Any]:
    import pyarrow

    def some(values: Any) -> Any:
        return pyarrow.array(values, mask=chance.random(count) < 0.1)

    seconds = first + np.arange(count)
    moments = [_BEGIN + datetime.timedelta(seconds=int(each)) for each in seconds]
    kind = pyarrow.timestamp("us", "UTC")
    cents = chance.integers(0, 100_000, count)
    names = np.array(["fire", "smoke", "crowd"])
    found: dict[str, Any] = {
        "id": [f"event-{each}" for each in seconds],
        "time": pyarrow.array(moments, kind),
        "price": pyarrow.array(cents / 100).cast(pyarrow.decimal128(12, 2), safe=False),
        "tags": [names[:each].tolist() for each in chance.integers(0, 4, count)],
        "meta": pyarrow.StructArray.from_arrays(
            [some(chance.random(count) * 90), pyarrow.array(moments, kind)], ["speed", "seen"]
        ),
        "loudness": chance.integers(0, 100, count),
        "people": chance.integers(0, 30, count),
        "armed": chance.random(count) < 0.5,
        "indoors": some(chance.random(count) < 0.2),
    }
    for at in range(_TEXTS):
        found[f"s{at}"] = some(chance.integers(0, 500, count).astype(str))
    for at in range(_NUMBERS):
        values = chance.random(count) * 1_000
        found[f"n{at:02}"] = some(values if at % 2 else values.astype(np.int64))
    return found


def jobs(*, cores: int, passes: int, seed: int) -> Iterator[Row]:
    """Yields the row of small learning jobs."""
    entries = subscriptions_of(SUBSCRIPTIONS, seed)
    with tempfile.TemporaryDirectory(prefix="tamis-bench-") as folder:
        yield _learning(write_history(Path(folder, "few"), _LEARNED, seed), entries, cores, passes)


def measured(*, cores: int, events: int, passes: int, seed: int) -> Iterator[Row]:
    """Yields the row of matching a history."""
    with tempfile.TemporaryDirectory(prefix="tamis-bench-") as name:
        folder = Path(name)
        entries = subscriptions_of(SUBSCRIPTIONS, seed)
        (folder / "s.jsonl").write_text("".join(json.dumps(each) + "\n" for each in entries))
        progress(f"history: writing {events:,} events")
        yield _matching(folder, write_history(folder / "many", events, seed), cores, passes)


def _learning(place: str, entries: list[dict[str, str]], cores: int, passes: int) -> Row:
    from tamis.spark import learn, session

    spark, found = session(f"local[{cores}]"), {}
    frame = spark.read.parquet(place)
    jobs = {"attributes": [each for each in entries if "Here" not in each["where"]][:100]}
    jobs["operators"] = [each for each in entries if "Here" in each["where"]][:100]
    works = {
        name: lambda job=job: learn(frame, job, [louderHere, peopleHere], sample=1.0)
        for name, job in jobs.items()
    }
    progress("small jobs of learning")
    for name, timed in alternating(works, max(passes, _LEAST_PASSES)).items():
        found[f"{name}_seconds"] = timed.least
    return {
        "part": f"Small jobs of tamis.spark.learn, {cores} cores: {_LEARNED:,} events",
        "workload": "small jobs",
        **found,
    }


def _matching(folder: Path, place: str, cores: int, passes: int) -> Row:
    """Matches in a process of its own, as the command does."""
    runs = []
    for number in range(passes):
        progress(f"history: matching, pass {number + 1} of {passes}")
        report = folder / "report.json"
        options = {
            "--subscriptions": str(folder / "s.jsonl"),
            "--events": place,
            "--operators": __name__,
            "--output": str(folder / "matched"),
            "--report": str(report),
            "--on": "spark",
            "--master": f"local[{cores}]",
        }
        words = [word for each in options.items() for word in each]
        begun = time.perf_counter()
        subprocess.run(
            [sys.executable, "-P", "-m", "tamis", "match", *words],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
        )
        seconds = time.perf_counter() - begun
        runs.append((seconds, json.loads(report.read_text(encoding="utf-8"))))
    seconds, said = min(runs, key=lambda run: run[0])
    spent, told = said.get("cpu_seconds"), said["seconds"]
    return {
        "part": f"tamis match --on spark, {cores} cores: seconds",
        "workload": "history",
        "events": said["events"],
        "subscriptions": said["subscriptions"],
        "matches": said["matches"],
        "seconds": seconds,
        "cpu_seconds": spent,
        "output_seconds": told.get("output"),
        "told_of_cpu": spent and sum(told.values()) / spent,
    }
