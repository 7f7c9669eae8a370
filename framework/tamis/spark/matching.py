"""Matches on Spark: workers map what was compiled and match parts of files, or rows of a frame.

Files are cut into parts that workers read by the rules of `tamis match`, so that made-up ids and
rejects name the same lines. A worker writes a part beside its place and tells of it when it is
whole; only parts that were told of are kept, whatever was tried twice.
Invariant: the lines are those of one process, in parts.
"""

from __future__ import annotations

import itertools
import os
import pickle
import shutil
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.errors import SparkError
from tamis.files.naming import EventDefaults, Renamed, namings_of
from tamis.files.parquet import dicts
from tamis.files.reading import FileLine, ReadingError
from tamis.files.writing import json_bytes, json_text
from tamis.learning.chunks import Chunk, chunks_of, in_parts, lines_of
from tamis.nearest import did_you_mean
from tamis.result.totals import GivenLine, Totals
from tamis.spark.compiling import CompiledSubscriptions, compiled_of
from tamis.spark.held import BLOCK, Holder, MatchedLine
from tamis.spark.working import Told, checked_frame, cores_of, told_of_parts

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
_BUFFER_BYTES = 1 << 18
"""Of a file of parts, of which a line may have some ten thousand."""


def match(
    events: DataFrame,
    subscriptions: Iterable[Mapping[str, Any] | str] | CompiledSubscriptions,
    operators: Iterable[object] | None = None,
    *,
    keep: Sequence[str] = (),
    tidy: bool = False,
    **settings: Any,
) -> DataFrame:
    """Returns the rows of a data frame, an event each, matched against subscriptions.

    A row an event: `event` (its id), `matches` with `bindings` and `data` as JSON, `undetermined`
    with reasons; of a row that is no event, `rejected` has the reason and `text` the row as JSON.
    `keep` names columns that come along. With `tidy` a row a match and assignment: `event`,
    `verdict` (matched, undetermined or rejected), `subscription`, `bindings` as a map, `data` as
    JSON, `reason`. Events without an id are named by their partition and place in it. `settings`
    are `index`, `planner`, `statistics`, `workers`, `in_flight`, `limits`, `time_zone`,
    `memo_bytes`, `types` and `shards`. All installed operators are known when none are given, and
    beside those of `also`."""
    checked_frame(events)
    kept_columns(events, keep)
    compiled = subscriptions
    if not isinstance(compiled, CompiledSubscriptions):
        compiled = compiled_of(compiled, operators, **settings)
    _KEPT.add(compiled)  # frames are made of frames: nobody knows when the last one is read
    return matched(events, compiled, keep=keep, tidy=tidy)


_KEPT: set[CompiledSubscriptions] = set()


def matched(
    events: DataFrame,
    compiled: CompiledSubscriptions,
    *,
    keep: Sequence[str] = (),
    tidy: bool = False,
) -> DataFrame:
    """Yields the same for what is compiled, as long as somebody keeps that."""
    kept = kept_columns(events, keep)
    held = compiled.sent(events.sparkSession)

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        yield from _matched_rows(held(), batches, kept)

    schema = ", ".join([SCHEMA, *(f"`{name}` {kind}" for name, kind in kept.items())])
    found = events.mapInArrow(rows, schema)
    if not tidy:
        return found
    return found.selectExpr("event", *(f"`{name}`" for name in kept), _TIDY)


_TIDY = """inline(concat(
  coalesce(flatten(transform(matches, m -> transform(
    from_json(m.bindings, 'array<map<string, string>>'),
    b -> struct('matched' verdict, m.subscription, b bindings, m.data, '' reason)))), array()),
  coalesce(transform(undetermined, u ->
    struct('undetermined' verdict, u.subscription, map() bindings, '{}' data, u.reason)), array()),
  if(rejected is null, array(), array(
    struct('rejected' verdict, '' subscription, map() bindings, text data, rejected reason)))))"""


def kept_columns(events: DataFrame, keep: Sequence[str]) -> dict[str, str]:
    """Returns the columns that come along, with their types; refuses what are none."""
    if isinstance(keep, str):
        raise SparkError(f"keep is a list of columns, not {keep!r:.80}: keep=[{keep!r:.80}]")
    types = {each.name: each.dataType.simpleString() for each in events.schema}
    taken = {each.split()[0] for each in SCHEMA.split(", ")}
    for name in keep:
        if name not in types:
            raise SparkError(f"there is no column {name} to keep{did_you_mean(name, types)}")
        if name in taken:
            raise SparkError(f"the column {name} would be there twice: rename it before")
    return {name: types[name] for name in keep}


def _matched_rows(holder: Holder, batches: Iterable[Any], kept: Collection[str]) -> Iterator[Any]:
    from pyspark import TaskContext

    context = TaskContext.get()
    name = "row" if context is None else f"row-{context.partitionId()}"
    totals, number = Totals(is_accounted=False), 0
    for batch in batches:
        for start in range(0, batch.num_rows, BLOCK):
            block = batch.slice(start, BLOCK)
            found = holder.match(_of_batch(name, number + start, block), totals)
            for at in range(0, block.num_rows, _ROWS):
                part = _arrow_of(list(islice(found, _ROWS)))
                for column in kept:
                    part = part.append_column(column, block.column(column).slice(at, _ROWS))
                yield part
        number += batch.num_rows


def _arrow_of(found: Sequence[MatchedLine]) -> Any:
    """Packs the results of events in a batch of Arrow."""
    import pyarrow

    texts = [each.text for each in found]
    bad = pyarrow.array([each.reason is not None for each in found], pyarrow.bool_())
    rejected = [
        None if each.reason is None else each.given.line.rejected(each.reason)["text"]
        for each in found
    ]
    matches = [match_ for text in texts for match_ in text.matches]
    left = [each for text in texts for each in text.undetermined]
    columns = {
        "subscription": _strings([each.subscription for each in matches]),
        "bindings": _strings([each.bindings for each in matches]),
        "incomplete": pyarrow.array([each.incomplete for each in matches], pyarrow.bool_()),
        "truncated": pyarrow.array([each.truncated for each in matches], pyarrow.bool_()),
        "data": _strings([each.data for each in matches]),
    }
    reasons = {name: _strings([each[name] for each in left]) for name in ("subscription", "reason")}
    return pyarrow.RecordBatch.from_pydict(
        {
            "event": _strings([each.text.event if each.reason is None else None for each in found]),
            "matches": _lists([len(text.matches) for text in texts], columns, bad),
            "undetermined": _lists([len(text.undetermined) for text in texts], reasons, bad),
            "rejected": _strings([each.reason for each in found]),
            "text": _strings(rejected),
        }
    )


def _lists(counts: Sequence[int], columns: Mapping[str, Any], absent: Any) -> Any:
    """Lists of so many structures."""
    import pyarrow

    offsets = pyarrow.array([0, *itertools.accumulate(counts)], pyarrow.int32())
    values = pyarrow.StructArray.from_arrays(list(columns.values()), list(columns))
    return pyarrow.ListArray.from_arrays(offsets, values, mask=absent)


def _strings(texts: Sequence[str | None]) -> Any:
    """Texts for Arrow, as UTF-8 has them."""
    import pyarrow

    try:
        return pyarrow.array(texts, pyarrow.string())
    except UnicodeEncodeError:  # a lone surrogate
        plain = [each and each.encode(errors="backslashreplace").decode() for each in texts]
        return pyarrow.array(plain, pyarrow.string())


def _of_batch(name: str, before: int, batch: Any) -> Iterator[GivenLine]:
    for start in range(0, batch.num_rows, _ROWS):
        for number, row in enumerate(dicts(batch.slice(start, _ROWS)), before + start + 1):
            yield GivenLine(FileLine("", number, row, None, None), "", f"{name}:{number}")


# files


class WrittenFiles(NamedTuple):
    """The files that were written, in the order of their parts."""

    results: list[str]
    rejects: list[str]
    totals: Totals


class Job(NamedTuple):
    """The work of workers on each event beside matching it."""

    folder: str
    """The folder of parts."""
    rejects: bool
    """True if lines that hold no event are written too."""
    keep: tuple[str, ...] = ()
    """Attributes that every line gets of its event."""
    extra: Mapping[str, Any] = {}
    """Keys that every line gets."""
    tables: bool = False
    """Parquet rather than lines of JSON."""
    tolerant: bool = False
    """True if a file that cannot be read to its end is a reject, not an error."""


def match_files(
    spark: SparkSession,
    files: Sequence[str],
    compiled: CompiledSubscriptions,
    job: Job,
    *,
    names: Mapping[str, str] | None = None,
    renamed: Renamed = (),
    namings: Mapping[str, EventDefaults] | None = None,
    parts: int | None = None,
    chunk_bytes: int | None = None,
) -> WrittenFiles:
    """Matches the events of files; workers read and write them, at the same paths.

    `namings` are what events get of folders and new names, where more than these files says it."""
    os.makedirs(job.folder, exist_ok=True)
    job = job._replace(folder=os.path.abspath(job.folder))
    most = parts or _PARTS_A_CORE * cores_of(spark)
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
        return WrittenFiles([], [], Totals())
    held = compiled.sent(spark)

    def work(at: int) -> Iterator[Told]:
        yield _DONE, pickle.dumps(write_part(at, held(), shared[at], job))

    told = told_of_parts(spark, len(shared), work)
    return _written(pickle.loads(content) for _, content in told)


def _chunks(
    files: Sequence[str], most_bytes: int, namings: Mapping[str, EventDefaults], *, tolerant: bool
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
        for matched in holder.match(_given(chunks, tolerant=job.tolerant), totals, job.keep):
            if matched.reason is None:
                writing = time.perf_counter()
                put(matched)
                totals.spend("output", writing)
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
    return open(path, "wb", _BUFFER_BYTES)


def _writer(open_files: ExitStack, path: str, job: Job) -> Callable[[MatchedLine], None]:
    """Makes a function that writes results to a file, which is on disk when all is closed."""
    if job.tables:
        return _table_writer(open_files, path, job)
    file = open_files.enter_context(_file(path))

    def put(matched: MatchedLine) -> None:
        file.write(matched.text.line(job.extra))

    return put


def _table_writer(open_files: ExitStack, path: str, job: Job) -> Callable[[MatchedLine], None]:
    import pyarrow
    import pyarrow.parquet

    waiting: list[MatchedLine] = []

    def table() -> Any:
        batch = _arrow_of(waiting).drop_columns(["rejected", "text"])
        if job.keep:
            kept = _strings([json_text(each.text.kept) for each in waiting])
            batch = batch.append_column("kept", kept)
        for name, value in job.extra.items():
            same = pyarrow.repeat(pyarrow.scalar(value), len(waiting))
            batch = batch.append_column(name, same)
        waiting.clear()
        return batch

    writer = open_files.enter_context(pyarrow.parquet.ParquetWriter(path, table().schema))

    def put(matched: MatchedLine) -> None:
        waiting.append(matched)
        if len(waiting) >= _ROWS:
            writer.write_batch(table())

    open_files.callback(lambda: writer.write_batch(table()) if waiting else None)
    return put


def _given(chunks: Iterable[Chunk], *, tolerant: bool) -> Iterator[GivenLine]:
    for chunk in chunks:
        base = os.path.basename(chunk.name)
        number = chunk.first - 1
        try:
            for line in lines_of(chunk):
                number = line.number
                yield GivenLine(line, chunk.folder, f"{base}:{number}")
        except ReadingError as bad:
            if not tolerant:
                raise
            yield GivenLine(FileLine(chunk.name, number + 1, None, str(bad), ""))
        except OSError as bad:
            if not tolerant:
                raise ReadingError(f"cannot read {chunk.file}: {bad.strerror or bad}") from bad
            yield GivenLine(FileLine(chunk.name, number + 1, None, f"cannot be read: {bad}", ""))


def _written(parts: Iterable[tuple[str, str | None, Totals]]) -> WrittenFiles:
    """Returns all parts, which come in their order."""
    results, rejects, totals = [], [], Totals()
    for result, rejected, part in parts:
        results.append(result)
        if rejected:
            rejects.append(rejected)
        totals.add(part)
    return WrittenFiles(results, rejects, totals)


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
        raise SparkError(f"{path} holds {strange[0]}, which is not part of results: it is kept")


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
