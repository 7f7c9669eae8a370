"""What learning on Spark takes: a history made from a seed, few predicates and very many.

The same parts are counted in this process and on Spark, taking turns, the fastest of several
passes; Spark runs before anything is timed. What is timed is counting (predicates sent, events
read, counts gathered) and the sums over spaces that predicates are; reading predicates is told by
itself. Counts of a thousand predicates are compared with masks over whole columns, all others with
those of this process.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tamis.language.comparison import Comparison
from tamis.language.predicate import AttributePredicate
from tamis.learning.chunks import chunks_of, counts_of
from tamis.learning.counts import Counts
from tamis.learning.learner import Task
from tamis.learning.predicates import Questions
from tamis_bench.spark_goals import goal_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ATTRIBUTES = 30
FEW, MANY = 1_000, 1_000_000
EVENTS = 1_000_000
MOST_RATIO, LEAST_RATE = 1.5, 0.6
LINES, TABLES = "lines", "tables"
FORMATS = (LINES, TABLES)
_STRINGS, _FLAGS = 4, 2
_COMPARED = 1_000
_PART = 20_000
_FILES = 4

Columns = dict[str, NDArray[Any]]
Row = dict[str, Any]


def columns_of(events: int, seed: int) -> Columns:
    """A history: numbers, whole and not, evenly and unevenly spread; strings; booleans."""
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
    """So many predicates over all attributes, their constants among and between the values."""
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
    """The history as files of JSON lines."""
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
    """The history as a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    file = os.path.join(folder, "events.parquet")
    count = len(next(iter(columns.values())))
    table = pyarrow.table({name: pyarrow.array(column) for name, column in columns.items()})
    pyarrow.parquet.write_table(table, file, row_group_size=max(1, -(-count // 32)))
    return [file]


def measured(
    spark: SparkSession,
    *,
    cores: int,
    events: Sequence[int],
    predicates: Sequence[int],
    passes: int,
    seed: int,
    say: Callable[[str], None],
) -> Iterator[Row]:
    """A row for each format, number of events and number of predicates."""
    for count in events:
        columns = columns_of(count, seed)
        asked = {size: predicates_of(columns, size, seed) for size in predicates}
        with tempfile.TemporaryDirectory(prefix="tamis-bench-") as folder:
            for format_, write in ((LINES, write_lines), (TABLES, write_table)):
                say(f"{format_}: writing {count:,} events")
                files = write(columns, folder)
                yield from _rows(
                    spark, files, columns, asked, {"format": format_, "events": count},
                    cores, passes, say,
                )  # fmt: skip


def _rows(
    spark: SparkSession,
    files: Sequence[str],
    columns: Columns,
    asked: dict[int, list[AttributePredicate]],
    head: Row,
    cores: int,
    passes: int,
    say: Callable[[str], None],
) -> Iterator[Row]:
    from tamis.spark.learning import counts_of_files

    questions: dict[int, Questions] = {}
    rows: dict[int, Row] = {}
    for size, predicates in asked.items():
        begun = time.perf_counter()
        questions[size] = Questions(predicates)
        prepared = time.perf_counter() - begun
        rows[size] = {**head, "predicates": size, "prepare_seconds": prepared, "cores": cores}
    size_bytes = sum(os.path.getsize(file) for file in files)
    chunk_bytes = max(1 << 16, size_bytes // (8 * cores))
    counts_of_files(spark, files, Task(), chunk_bytes=chunk_bytes, parts=cores)  # workers begin
    for number in range(passes):
        for size, question in questions.items():
            row, task = rows[size], Task(marks=question.marks)
            say(f"{head['format']}: {size:,} predicates, pass {number + 1} of {passes}")
            begun = time.perf_counter()
            alone = counts_of(chunks_of(files, chunk_bytes), task)
            _keep_least(row, "process_seconds", begun)
            begun = time.perf_counter()
            spread = counts_of_files(spark, files, task, chunk_bytes=chunk_bytes, parts=cores)
            _keep_least(row, "spark_seconds", begun)
            if cores > 1:
                begun = time.perf_counter()
                counts_of_files(spark, files, task, chunk_bytes=chunk_bytes, parts=1)
                _keep_least(row, "one_core_seconds", begun)
            begun = time.perf_counter()
            answers = question.answers(spread.attributes, spread.events)
            _keep_least(row, "sum_seconds", begun)
            if not number:
                row["wrong"] = _wrong(answers, alone, question, asked[size], columns)
    for row in rows.values():
        row["cost_seconds"] = row["spark_seconds"] + row["sum_seconds"]
        row["rate_a_core"] = row["process_seconds"] / (row["spark_seconds"] * cores)
        yield row


def _keep_least(row: Row, name: str, begun: float) -> None:
    seconds = time.perf_counter() - begun
    row[name] = min(row.get(name, seconds), seconds)


def _wrong(
    answers: NDArray[np.int64],
    alone: Counts,
    questions: Questions,
    predicates: Sequence[AttributePredicate],
    columns: Columns,
) -> int:
    """How many counts are not what they are in this process, or by masks over whole columns."""
    wrong = int((answers != questions.answers(alone.attributes, alone.events)).sum())
    step = max(1, len(predicates) // _COMPARED)
    for at in range(0, len(predicates), step):
        predicate = predicates[at]
        satisfied = _mask(predicate.comparison, columns[predicate.attribute]).sum()
        wrong += int(satisfied != answers[at])
    return wrong


def _mask(comparison: Comparison, column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values satisfy a comparison, without any of what is measured."""
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


def judged(rows: Sequence[Row]) -> Iterator[Row]:
    """The goals of rows, where there are rows to hold them against."""
    for format_ in FORMATS:
        mine = [row for row in rows if row["format"] == format_]
        most = max((row["events"] for row in mine), default=0)
        whole = {row["predicates"]: row for row in mine if row["events"] == most}
        if not whole:
            continue
        few, many = min(whole), max(whole)
        is_full = (few, many, most) == (FEW, MANY, EVENTS)
        head = {"format": format_, "events": most, "is_full": is_full}
        if few < many:
            ratio = whole[many]["cost_seconds"] / whole[few]["cost_seconds"]
            words = f"{many:,} predicates over {few:,}"
            yield {**head, "what": words, "figure": ratio, "must": MOST_RATIO, "more": False}
        for size in sorted(whole):
            words = f"rate a core over that of one process, {size:,} predicates"
            rate = whole[size]["rate_a_core"]
            yield {**head, "what": words, "figure": rate, "must": LEAST_RATE, "more": True}
        wrong = sum(row["wrong"] for row in mine)
        yield {**head, "what": "wrong counts", "figure": wrong, "must": 0, "more": False}


def table(rows: Sequence[Row]) -> str:
    """Rows for people."""
    head = (
        f"{'format':8}{'events':>11}{'predicates':>12}{'prepare':>9}{'process':>9}{'1 core':>8}"
        f"{'spark':>8}{'sums':>7}{'µs/event':>10}{'a core':>8}"
    )
    lines = [head]
    for row in rows:
        one = row.get("one_core_seconds", row["spark_seconds"])
        lines.append(
            f"{row['format']:8}{row['events']:>11,}{row['predicates']:>12,}"
            f"{row['prepare_seconds']:>9.2f}{row['process_seconds']:>9.2f}{one:>8.2f}"
            f"{row['spark_seconds']:>8.2f}{row['sum_seconds']:>7.2f}"
            f"{row['cost_seconds'] / row['events'] * 1e6:>10.2f}{row['rate_a_core']:>8.2f}"
        )
    return "\n".join(lines)


def closing(goals: Sequence[Row]) -> str:
    """The goals for people."""
    words = (
        "seconds; prepare: finding the marks of predicates that were read; process: one process;"
        " 1 core, spark: on Spark; a core: its rate a core over that of the process"
    )
    return "\n".join([words, *goal_lines(goals, "format")])
