"""How Spark matches: workers map what was compiled and match parts of files, or rows of a frame.

Files are cut into parts that workers read by the rules of `tamis match`, so that made-up ids and
rejects name the same lines. A worker writes a part beside its place and tells of it when it is
whole; only parts that were told of are kept, whatever was tried twice.
Invariant: the lines are those of one process, in parts.
"""

from __future__ import annotations

import os
import pickle
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.errors import SparkError
from tamis.files.naming import Naming, Renamed, namings_of
from tamis.files.reading import Line, ReadingError
from tamis.files.writing import json_bytes, json_text
from tamis.learning.chunks import Chunk, chunks_of, in_parts, lines_of
from tamis.result.totals import Given, Totals
from tamis.spark.compiling import Compiled, compiled_of
from tamis.spark.held import Holder, Matched
from tamis.spark.working import Told, told_of_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = (
    "event string, "
    "matches array<struct<subscription: string, bindings: string, incomplete: boolean, "
    "truncated: boolean, data: string>>, "
    "undetermined array<struct<subscription: string, reason: string>>, "
    "rejected string, text string"
)
_DONE = "done"
_PARTS_A_CORE = 4
_LEAST_BYTES, _MOST_BYTES = 1 << 16, 1 << 25
_ROWS = 1_024


def match(
    events: DataFrame,
    subscriptions: Iterable[Mapping[str, Any] | str] | Compiled,
    operators: Iterable[object] | None = None,
    **settings: Any,
) -> DataFrame:
    """The rows of a data frame, an event each, matched against subscriptions.

    A row an event: `event` (its id), `matches` with `bindings` and `data` as JSON, `undetermined`
    with reasons; of a row that is no event, `rejected` has the reason and `text` the row as JSON.
    Events without an id are named by their partition and place in it. `settings` are `index`,
    `planner`, `statistics`, `workers`, `in_flight`, `limits`, `time_zone` and `shards`. All
    installed operators are known when none are given."""
    compiled = subscriptions
    if not isinstance(compiled, Compiled):
        compiled = compiled_of(compiled, operators, **settings)
    held = compiled.sent(events.sparkSession)

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        yield from _matched_rows(held(), batches)

    _KEPT.append(compiled)  # frames are made of frames: nobody knows when the last one is read
    return events.mapInArrow(rows, SCHEMA)


_KEPT: list[Compiled] = []


def _matched_rows(holder: Holder, batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow
    from pyspark import TaskContext

    context = TaskContext.get()
    name = "row" if context is None else f"row-{context.partitionId()}"
    schema = _schema()
    found = map(row_of, holder.match(_of_batches(name, batches), Totals()))
    while rows := list(islice(found, _ROWS)):
        yield pyarrow.RecordBatch.from_pylist(rows, schema)


def _schema() -> Any:
    """The schema of rows for Arrow."""
    import pyarrow

    text, flag = pyarrow.string(), pyarrow.bool_()
    match_ = [("subscription", text), ("bindings", text), ("incomplete", flag)]
    match_ += [("truncated", flag), ("data", text)]
    left = [("subscription", text), ("reason", text)]
    return pyarrow.schema(
        [
            ("event", text),
            ("matches", pyarrow.list_(pyarrow.struct(match_))),
            ("undetermined", pyarrow.list_(pyarrow.struct(left))),
            ("rejected", text),
            ("text", text),
        ]
    )


def _of_batches(name: str, batches: Iterable[Any]) -> Iterator[Given]:
    from tamis.files.parquet import dicts

    number = 0
    for batch in batches:
        for row in dicts(batch):
            number += 1
            yield Given(Line("", number, row, None, None), "", f"{name}:{number}")


def row_of(matched: Matched) -> dict[str, Any]:
    """What became of an event as a row."""
    if matched.reason is not None:
        rejected = matched.given.line.rejected(matched.reason)
        return {"rejected": matched.reason, "text": _plain(rejected["text"])}
    answer = matched.answer
    return {
        "event": _plain(answer["event"]),
        "matches": [
            {
                "subscription": _plain(each["subscription"]),
                "bindings": _plain(json_text(each["bindings"])),
                "incomplete": each.get("incomplete", False),
                "truncated": each.get("truncated", False),
                "data": _plain(json_text(each.get("data", {}))),
            }
            for each in answer["matches"]
        ],
        "undetermined": [
            {name: _plain(value) for name, value in each.items()} for each in answer["undetermined"]
        ],
    }


def _plain(text: str) -> str:
    """The text as UTF-8 has it."""
    return text.encode(errors="backslashreplace").decode()


# files


class Written(NamedTuple):
    """What was written of some files, in the order of their parts."""

    results: list[str]
    rejects: list[str]
    totals: Totals


class Job(NamedTuple):
    """What workers do with each event beside matching it."""

    folder: str
    """Where parts are written."""
    rejects: bool
    """Whether lines that hold no event are written too."""
    extra: Mapping[str, Any] = {}
    """Keys that every line gets."""
    tables: bool = False
    """Parquet rather than lines of JSON."""
    tolerant: bool = False
    """Whether a file that cannot be read to its end is a reject, not an error."""


def match_files(
    spark: SparkSession,
    files: Sequence[str],
    compiled: Compiled,
    job: Job,
    *,
    names: Mapping[str, str] | None = None,
    renamed: Renamed = (),
    namings: Mapping[str, Naming] | None = None,
    parts: int | None = None,
    chunk_bytes: int | None = None,
) -> Written:
    """Matches the events of files; workers read and write them, at the same paths.

    `namings` are what events get of folders and new names, where more than these files says it."""
    os.makedirs(job.folder, exist_ok=True)
    job = job._replace(folder=os.path.abspath(job.folder))
    most = parts or _PARTS_A_CORE * max(1, spark.sparkContext.defaultParallelism)
    if chunk_bytes is None:
        total = sum(os.path.getsize(file) for file in files if os.path.exists(file))
        chunk_bytes = min(_MOST_BYTES, max(_LEAST_BYTES, total // most))
    names = names or {}
    if namings is None:
        namings = namings_of({file: names.get(file, file) for file in files}, renamed)
    chunks = [
        each.elsewhere(names.get(each.file))
        for each in _chunks(files, chunk_bytes, namings, tolerant=job.tolerant)
    ]
    shared = in_parts(chunks, most)
    if not shared:
        return Written([], [], Totals())
    held = compiled.sent(spark)

    def work(at: int) -> Iterator[Told]:
        yield _DONE, pickle.dumps(write_part(at, held(), shared[at], job))

    told = told_of_parts(spark, len(shared), work)
    return _written(pickle.loads(content) for _, content in told)


def _chunks(
    files: Sequence[str], most_bytes: int, namings: Mapping[str, Naming], *, tolerant: bool
) -> Iterator[Chunk]:
    for file in files:
        try:
            yield from chunks_of([file], most_bytes, namings)
        except (ReadingError, OSError):
            if not tolerant:
                raise
            yield Chunk(file, file, 0, None, 1, 1, os.path.dirname(file))  # a worker says why


def write_part(
    at: int, holder: Holder, chunks: Sequence[Chunk], job: Job
) -> tuple[str, str | None, Totals]:
    """Matches some parts of files: where results and rejects were written, and their totals."""
    name = f"part-{at:05d}-{uuid.uuid4().hex[:12]}"
    totals, begun = Totals(), time.process_time()
    results = os.path.join(job.folder, f"{name}.{'parquet' if job.tables else 'jsonl'}")
    rejects = os.path.join(job.folder, f"rejects-{name}.jsonl") if job.rejects else None
    with ExitStack() as open_files:
        put = _writer(open_files, results, job)
        refused = None if rejects is None else open_files.enter_context(_file(rejects))
        for matched in holder.match(_given(chunks, tolerant=job.tolerant), totals):
            if matched.reason is None:
                put(matched)
            elif refused is not None:
                refused.write(json_bytes(matched.given.line.rejected(matched.reason)))
    for path in (results, rejects):
        if path is not None:
            on_disk(path)
    totals.cpu_seconds = time.process_time() - begun
    return results, rejects, totals


def on_disk(path: str) -> None:
    """Sees to it that a file, or the names in a folder, outlive the machine's next fall."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _file(path: str) -> Any:
    return open(path, "wb")


def _writer(open_files: ExitStack, path: str, job: Job) -> Callable[[Matched], None]:
    """What writes results to a file, which is on disk when all is closed."""
    if job.tables:
        return _table_writer(open_files, path, job)
    file = open_files.enter_context(_file(path))

    def put(matched: Matched) -> None:
        file.write(json_bytes({**matched.answer, **job.extra}))

    return put


def _table_writer(open_files: ExitStack, path: str, job: Job) -> Callable[[Matched], None]:
    import pyarrow
    import pyarrow.parquet

    schema = _schema()
    for unwanted in ("rejected", "text"):
        schema = schema.remove(schema.get_field_index(unwanted))
    for name, value in job.extra.items():
        schema = schema.append(pyarrow.field(name, pyarrow.scalar(value).type))
    table = open_files.enter_context(pyarrow.parquet.ParquetWriter(path, schema))
    waiting: list[dict[str, Any]] = []

    def flush() -> None:
        if waiting:
            table.write_batch(pyarrow.RecordBatch.from_pylist(waiting, schema))
            waiting.clear()

    def put(matched: Matched) -> None:
        waiting.append({**row_of(matched), **job.extra})
        if len(waiting) >= _ROWS:
            flush()

    open_files.callback(flush)
    return put


def _given(chunks: Iterable[Chunk], *, tolerant: bool) -> Iterator[Given]:
    for chunk in chunks:
        base = os.path.basename(chunk.name)
        number = chunk.first - 1
        try:
            for line in lines_of(chunk):
                number = line.number
                yield Given(line, chunk.folder, f"{base}:{number}")
        except ReadingError as bad:
            if not tolerant:
                raise
            yield Given(Line(chunk.name, number + 1, None, str(bad), ""))
        except OSError as bad:
            if not tolerant:
                raise ReadingError(f"cannot read {chunk.file}: {bad.strerror or bad}") from bad
            yield Given(Line(chunk.name, number + 1, None, f"cannot be read: {bad}", ""))


def _written(parts: Iterable[tuple[str, str | None, Totals]]) -> Written:
    """All parts, which come in their order."""
    results, rejects, totals = [], [], Totals()
    for result, rejected, part in parts:
        results.append(result)
        if rejected:
            rejects.append(rejected)
        totals.add(part)
    return Written(results, rejects, totals)


# folders of parts

_SUCCESS = "_SUCCESS"


def check_folder(path: str) -> None:
    """Refuses a place that holds anything but an older folder of parts."""
    place = Path(path)
    if not place.exists():
        return
    if not place.is_dir():
        raise SparkError(f"on Spark, --output is a folder of parts, and {path} is a file")
    strange = [
        each.name
        for each in place.iterdir()
        if each.name != _SUCCESS and not each.name.startswith("part-")
    ]
    if strange:
        raise SparkError(f"{path} holds {strange[0]}, which is no part of results: it is kept")


def commit_folder(written: Sequence[str], staged: str, path: str) -> None:
    """Puts parts where they belong, at once; an older folder of parts goes."""
    kept = set(map(os.path.basename, written))
    for name in os.listdir(staged):
        if name not in kept:
            os.unlink(os.path.join(staged, name))
    for name in kept:
        number, _, suffix = name.rpartition("-")[0], *name.partition(".")[1:]
        os.replace(os.path.join(staged, name), os.path.join(staged, f"{number}.{suffix}"))
    Path(staged, _SUCCESS).touch()
    if os.path.isdir(path):
        old = f"{path}.old-{uuid.uuid4().hex[:8]}"
        os.replace(path, old)
        os.replace(staged, path)
        shutil.rmtree(old)
    else:
        os.replace(staged, path)
