"""Measures learning on Spark: a history made from a seed, few predicates and very many.

The same parts are counted in this process and on Spark, taking turns, the fastest of several
passes; Spark runs before anything is timed. What is timed is counting (predicates sent, events
read, counts gathered) and the sums over spaces that predicates are; preparing predicates is told by
itself. Counts of a thousand predicates are compared with masks over whole columns, all others with
those of this process.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tamis.language.comparison import Comparison
from tamis.language.predicate import AttributePredicate
from tamis.learning.chunks import chunks_of, counts_of
from tamis.learning.learner import Task
from tamis.learning.predicates import Questions
from tamis_bench.report import Row, progress
from tamis_bench.timing import alternating

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ATTRIBUTES = 30
_STRINGS, _FLAGS = 4, 2
_COMPARED = 1_000
_PART = 20_000
_FILES = 4

Columns = dict[str, NDArray[Any]]


def columns_of(events: int, seed: int) -> Columns:
    """Draws a history: numbers, whole and not, evenly and unevenly spread; strings; booleans."""
    chance = np.random.default_rng(seed)
    found: Columns = {}
    for at in range(ATTRIBUTES - _STRINGS - _FLAGS):
        name = f"n{at:02}"
        if at % 3 == 0:
            found[name] = chance.integers(0, 10_000, events)
        else:
            found[name] = chance.random(events) if at % 3 == 1 else chance.normal(0, 50, events)
    letters = np.array([f"{each:05x}" for each in range(50_000)], object)
    for at in range(_STRINGS):
        found[f"s{at}"] = letters[chance.zipf(1.3, events) % len(letters)]
    for at in range(_FLAGS):
        found[f"b{at}"] = chance.random(events) < 0.3
    return found


def predicates_of(columns: Columns, count: int, seed: int) -> list[AttributePredicate]:
    """Draws so many predicates over all attributes, with constants among and between values."""
    chance = np.random.default_rng([seed, count])
    names = list(columns)
    ops = ("<", "<=", ">", ">=", "=", "!=", "between", "in")
    attribute = chance.integers(0, len(names), count).tolist()
    op = chance.integers(0, len(ops), count).tolist()
    places = chance.integers(0, len(next(iter(columns.values()))), (count, 3))
    noise = chance.random((count, 3)).tolist()
    values = {name: column.tolist() for name, column in columns.items()}
    found = []
    for at, drawn in enumerate(places.tolist()):
        name, chosen = names[attribute[at]], ops[op[at]]
        constants = [values[name][place] for place in drawn]
        if name[0] == "b":
            chosen = "=" if op[at] % 2 else "!="
        elif name[0] == "n":
            constants = [round(c + n - 0.5, 9) for c, n in zip(constants, noise[at], strict=True)]
        if chosen == "between":
            value: Any = tuple(sorted(constants[:2]))
        else:
            value = tuple(sorted(set(constants))) if chosen == "in" else constants[0]
        found.append(AttributePredicate(name, Comparison(chosen, value)))
    return found


def write_lines(columns: Columns, folder: str) -> list[str]:
    """Writes the history as files of JSON lines."""
    names, count = list(columns), len(next(iter(columns.values())))
    files = []
    size = -(-count // _FILES)
    for number in range(_FILES):
        files.append(os.path.join(folder, f"events-{number}.jsonl"))
        with open(files[-1], "w", encoding="utf-8") as file:
            for start in range(number * size, min(count, (number + 1) * size), _PART):
                end = min(start + _PART, (number + 1) * size)
                rows = zip(
                    *(column[start:end].tolist() for column in columns.values()), strict=True
                )
                file.writelines(
                    json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows
                )
    return files


def write_table(columns: Columns, folder: str) -> list[str]:
    """Writes the history as a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    file = os.path.join(folder, "events.parquet")
    count = len(next(iter(columns.values())))
    table = pyarrow.table({name: pyarrow.array(column) for name, column in columns.items()})
    pyarrow.parquet.write_table(table, file, row_group_size=max(1, -(-count // 32)))
    return [file]


FORMATS = {"lines": write_lines, "tables": write_table}


def measured(
    spark: SparkSession,
    *,
    cores: int,
    events: Sequence[int],
    predicates: Sequence[int],
    passes: int,
    seed: int,
) -> Iterator[Row]:
    """Yields a row for each format, number of events and number of predicates."""
    for count in events:
        columns = columns_of(count, seed)
        asked = {size: predicates_of(columns, size, seed) for size in sorted(predicates)}
        for format_, write in FORMATS.items():
            with tempfile.TemporaryDirectory(prefix="tamis-bench-") as folder:
                progress(f"learning: writing {count:,} events as {format_}")
                files = write(columns, folder)
                countings = {
                    size: _HistoryCount(spark, files, each, cores) for size, each in asked.items()
                }
                for row in _rows(countings, columns, cores, passes):
                    words = f"{format_}, {count:,} events, {row['predicates']:,} predicates"
                    part = f"Learning on Spark from {format_}: {count:,} events, seconds"
                    yield {"part": part, "workload": words, "format": format_, **row}


class _HistoryCount:
    """Counting a history for some predicates, in this process and on Spark."""

    def __init__(
        self,
        spark: SparkSession,
        files: Sequence[str],
        predicates: Sequence[AttributePredicate],
        cores: int,
    ) -> None:
        self._spark, self._files, self.predicates = spark, files, predicates
        begun = time.perf_counter()
        self.questions = Questions(predicates)
        self.prepare_seconds = time.perf_counter() - begun
        self._task = Task(marks=self.questions.marks)
        size = sum(os.path.getsize(file) for file in files)
        self._chunk_bytes = max(1 << 16, size // (8 * cores))

    def process(self) -> None:
        """Counts in this process."""
        self.alone = counts_of(chunks_of(self._files, self._chunk_bytes), self._task)

    def spread(self, parts: int, task: Task | None = None) -> None:
        """Counts on Spark, in so many parts."""
        from tamis.spark.learning import counts_of_files

        self.counts = counts_of_files(
            self._spark, self._files, task or self._task, chunk_bytes=self._chunk_bytes, parts=parts
        )

    def sums(self) -> None:
        """Sums counts over the spaces that predicates are."""
        self.answers = self.questions.answers(self.counts.attributes, self.counts.events)

    def wrong(self, columns: Columns) -> int:
        """Returns how many counts are not what they are in this process, or by masks over whole
        columns."""
        alone = self.questions.answers(self.alone.attributes, self.alone.events)
        wrong = int((self.answers != alone).sum())
        for at in range(0, len(self.predicates), max(1, len(self.predicates) // _COMPARED)):
            predicate = self.predicates[at]
            satisfied = _mask(predicate.comparison, columns[predicate.attribute]).sum()
            wrong += int(satisfied != self.answers[at])
        return wrong


def _rows(
    countings: dict[int, _HistoryCount], columns: Columns, cores: int, passes: int
) -> Iterator[Row]:
    works: dict[tuple[int, str], Any] = {}
    for size, each in countings.items():
        works[size, "process"] = each.process
        works[size, "one_core"] = lambda each=each: each.spread(1)
        works[size, "spark"] = lambda each=each: each.spread(cores)
        works[size, "sums"] = each.sums
    next(iter(countings.values())).spread(cores, Task())  # workers begin
    progress(f"learning: {passes} passes")
    timed = alternating(works, passes, warm=True)
    cost = {size: timed[size, "spark"].least + timed[size, "sums"].least for size in countings}
    few = min(countings)
    events = len(next(iter(columns.values())))
    for size, each in countings.items():
        seconds = {name: timed[size, name].least for of, name in timed if of == size}
        yield {
            "predicates": size,
            "prepare": each.prepare_seconds,
            **seconds,
            "us_an_event": 1e6 * cost[size] / events,
            "over_few": cost[size] / cost[few] if size > few else None,
            "a_core": seconds["process"] / (seconds["spark"] * cores),
            "wrong": each.wrong(columns),
        }


def _mask(comparison: Comparison, column: NDArray[Any]) -> NDArray[np.bool_]:
    """Returns which values satisfy a comparison, without any of what is measured."""
    op = comparison.op
    value: Any = comparison.value
    found: Any
    if op == "between":
        low, high = comparison.constants
        found = (column >= low) & (column <= high)
    elif op == "in":
        found = np.isin(column.astype(str) if column.dtype == object else column, value)
    else:
        compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
        compare |= {"=": np.equal, "!=": np.not_equal}
        found = compare[op](column, value)
    return np.asarray(found, np.bool_)
