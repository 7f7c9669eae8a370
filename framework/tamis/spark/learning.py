"""Learns on Spark: parts of history are counted where they lie, and their counts add up.

Files are cut into parts that workers read by the rules of `tamis match`; a data frame comes to them
as Arrow batches. Each part gives its counts as bytes, whatever the number of its events.
Invariant: the result is that of counting in one process, but for what things cost.
Cost: one pass over the events; counts of a few MB a part travel to the driver.
"""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.files.naming import EventDefaults, namings_of
from tamis.files.parquet import dicts
from tamis.learning.chunks import Chunk, chunks_of, in_parts, learn_chunk
from tamis.learning.counts import Counts, merged
from tamis.learning.inputs import Input
from tamis.learning.learner import Learner, Task, TimeStretch
from tamis.learning.lesson import Lesson
from tamis.learning.sampling import TRIED, sampling
from tamis.learning.tables import learn_batch
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.spark.working import (
    Parcel,
    Told,
    checked_entries,
    checked_frame,
    cores_of,
    told_of_frame,
    told_of_parts,
)
from tamis.statistics import Statistics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Rejected = dict[str, Any]
_PARTITION = re.compile(r"/(?=[^/]+=[^/]*/)")
_TASK = "task"
_COUNTS, _REJECTS = "counts", "rejects"
_PARTS_A_CORE = 2
CHUNK_BYTES = 1 << 25
_REJECTS_A_ROW = 1_000


def learn(
    events: DataFrame,
    subscriptions: Iterable[Mapping[str, Any] | str],
    operators: Iterable[object] | None = None,
    *,
    sample: float | None = None,
    since: float | None = None,
    until: float | None = None,
    rejects: Callable[[Rejected], None] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    time_zone: str | None = None,
    say: Callable[[str], None] = lambda words: None,
) -> Statistics:
    """Learns of the predicates of subscriptions from a data frame of events, a row each.

    Operators (all installed ones when not given) are asked about a `sample` of the events, when not
    given one that knows shares to a hundredth within ten minutes, which `say` is told beforehand.
    `since` and `until` are seconds since 1970: events of other times, or of none, are passed
    over."""
    checked_frame(events)
    window, entries = TimeStretch(since, until), checked_entries(subscriptions)
    lesson = Lesson(entries, operators, window=window, limits=limits, time_zone=time_zone)
    if sample is not None:
        lesson.ask(sample)
    elif lesson.tests:
        spark, some = events.sparkSession, events.limit(TRIED).collect()
        tried = lesson.seconds_an_event(row.asDict(recursive=True) for row in some)
        chosen = sampling(events.count(), tried, cores_of(spark))
        lesson.ask(chosen.share)
        if chosen.share < 1:
            say(str(chosen))
    return learn_frame(events, lesson, rejects)


def learn_frame(
    events: DataFrame, lesson: Lesson, rejects: Callable[[Rejected], None] | None = None
) -> Statistics:
    """Returns the same for what is to be learned."""
    counts = counts_of_frame(events, lesson.task, rejects)
    learned = lesson.statistics(counts)
    learned.about = about(lesson, counts)
    return learned


def about(lesson: Lesson, counts: Counts) -> dict[str, Any]:
    """Returns the facts for the manifest: how something was learned."""
    import datetime
    from importlib import metadata

    window = lesson.task.window
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {
        "learned": now,
        "tamis": metadata.version("tamis"),
        "operators": lesson.versions,
        "codes": lesson.codes,
        "time_zone": lesson.task.time_zone,
        "reads": lesson.reads,
        "sources": [
            {
                "learned": now,
                "events": counts.events,
                "rejects": counts.rejects,
                "passed_over": counts.passed_over,
                "sampled": 0 if counts.calls is None else counts.calls.tested,
                "sample": lesson.task.sample,
                "window": {"since": window.since, "until": window.until},
            }
        ],
    }


# data frames


def counts_of_frame(
    events: DataFrame, task: Task, rejects: Callable[[Rejected], None] | None = None
) -> Counts:
    """Counts the rows of a data frame."""
    frame = events.coalesce(parts_of(events.sparkSession))  # so few that counts are no burden
    keep = rejects is not None
    with _sent(frame.sparkSession, task) as held:

        def count(batches: Iterator[Any]) -> Iterator[Told]:
            learner = Learner(held())
            return _told(learner, _of_batches(learner, batches), keep)

        return merged(_added(told_of_frame(frame, count), task, rejects).values())


def _of_batches(learner: Learner, batches: Iterator[Any]) -> Iterator[Rejected]:
    for batch in batches:
        yield from learn_batch(learner, batch, naming=EventDefaults(learner.task.renamed))


def parts_of(spark: SparkSession) -> int:
    """Returns the number of parts to be counted."""
    return _PARTS_A_CORE * cores_of(spark)


# files


def counts_of_files(
    spark: SparkSession,
    files: Sequence[str],
    task: Task,
    rejects: Callable[[Rejected], None] | None = None,
    **settings: Any,
) -> Counts:
    """Counts the events of files altogether; `settings` are those of `grouped_counts`."""
    return merged(grouped_counts(spark, files, task, rejects, **settings).values())


def grouped_counts(
    spark: SparkSession,
    files: Sequence[str],
    task: Task,
    rejects: Callable[[Rejected], None] | None = None,
    *,
    names: Mapping[str, str] | None = None,
    namings: Mapping[str, EventDefaults] | None = None,
    groups: Mapping[str, str] | None = None,
    chunk_bytes: int = CHUNK_BYTES,
    parts: int | None = None,
) -> dict[str, Counts]:
    """Counts the events of files; workers read them, at the same paths, in so many parts.

    `names` are those that ids and rejects have in the place of a file's own, `groups` those that
    the files are counted for. What has a scheme (`hdfs://`, `s3a://`) is read by Spark: its lines
    have no numbers there."""
    groups = groups or {}
    local = [file for file in files if "://" not in file]
    found: dict[str, Counts] = {}
    if local:
        names = names or {}
        if namings is None:
            namings = namings_of({file: names.get(file, file) for file in local}, task.renamed)
        chunks = chunks_of(local, chunk_bytes, namings)
        group_of = {os.path.abspath(file): group for file, group in groups.items()}
        chunks = [each.elsewhere(names.get(each.file)) for each in chunks]
        found = _counts_of_chunks(spark, chunks, task, rejects, parts, group_of)
    several: dict[tuple[str, str, bool], list[str]] = {}
    for place in files:
        if "://" in place:
            is_table = place.rstrip("/").endswith(".parquet")
            above = _PARTITION.split(place)[0] if _PARTITION.search(place) else ""
            several.setdefault((groups.get(place, ""), above, is_table), []).append(place)
    for (group, above, is_table), places in several.items():
        counts = _counts_of_places(spark, places, task, rejects, above, is_table=is_table)
        found[group] = found[group].merged(counts) if group in found else counts
    return found


def _counts_of_chunks(
    spark: SparkSession,
    chunks: Sequence[Chunk],
    task: Task,
    rejects: Callable[[Rejected], None] | None,
    most: int | None,
    group_of: Mapping[str, str],
) -> dict[str, Counts]:
    parts = in_parts(chunks, most or parts_of(spark))
    if not parts:
        return {}
    keep = rejects is not None
    with _sent(spark, task) as held:

        def count(at: int) -> Iterator[Told]:
            for group, chunks in groupby(parts[at], lambda chunk: group_of.get(chunk.file, "")):
                learner = Learner(held())
                read = (rejected for chunk in chunks for rejected in learn_chunk(learner, chunk))
                yield from _told(learner, read, keep, group)

        return _added(told_of_parts(spark, len(parts), count), task, rejects)


def _counts_of_places(
    spark: SparkSession,
    places: Sequence[str],
    task: Task,
    rejects: Callable[[Rejected], None] | None,
    above: str,
    *,
    is_table: bool,
) -> Counts:
    """Counts what only Spark can read, with the partitions below a folder."""
    reader = spark.read.option("mergeSchema", "true")
    if above:
        reader = reader.option("basePath", above)
    if is_table:
        return counts_of_frame(reader.parquet(*places), task, rejects)
    name = places[0] if len(places) == 1 else places[0].rpartition("/")[0]
    frame, keep = reader.text(list(places)).coalesce(parts_of(spark)), rejects is not None
    with _sent(spark, task) as held:

        def count(batches: Iterator[Any]) -> Iterator[Told]:
            learner = Learner(held())
            return _told(learner, _of_lines(learner, name, batches), keep)

        return merged(_added(told_of_frame(frame, count), task, rejects).values())


def inputs_of_place(spark: SparkSession, place: str, window: TimeStretch) -> dict[str, Input]:
    """Returns the files that Spark finds in a place, by their addresses."""
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    rows = reader.load(place).select("path", "length", "modificationTime").collect()
    bounds = window.since, window.until
    found = {}
    for row in sorted(rows):
        path = re.sub("^([a-z0-9]+):/(?!/)", r"\1:///", row.path)  # as Spark names local files
        found[path] = Input(path, row.length, row.modificationTime.timestamp(), "", *bounds)
    return found


def _of_lines(learner: Learner, place: str, batches: Iterator[Any]) -> Iterator[Rejected]:
    from tamis.files.reading import json_lines

    for row in (row for batch in batches for row in dicts(batch)):
        raw = row.pop("value").encode("utf-8", "surrogatepass")
        naming = EventDefaults(
            learner.task.renamed, tuple(row.items())
        )  # Spark has read the folders
        for line in naming.lines(json_lines(place, [raw])):
            rejected = learner.line(line._replace(number=0))
            if rejected is not None:
                yield rejected


# what travels


@contextmanager
def _sent(spark: SparkSession, task: Task) -> Iterator[Callable[[], Task]]:
    """Sends the task to workers, who open it once a process."""
    parcel, content = Parcel(), pickle.dumps(task, protocol=5)
    with parcel:
        (parcel.folder / _TASK).write_bytes(content)
        key = blake2b(content, digest_size=16).hexdigest()
        yield partial(_opened, key, parcel.sent(spark))


_held: dict[str, Task] = {}


def _opened(key: str, find: Callable[[], str]) -> Task:
    """Returns the task in this process, the last one that was asked for."""
    if key not in _held:
        _held.clear()
        _held[key] = pickle.loads(Path(find(), _TASK).read_bytes())
    return _held[key]


def _told(
    learner: Learner, rejected: Iterator[Rejected], keep: bool, group: str = ""
) -> Iterator[Told]:
    """Yields the rejected lines and counts of a worker."""
    while several := list(islice(rejected, _REJECTS_A_ROW)):
        if keep:
            yield _REJECTS, json.dumps(several).encode()
    yield f"{_COUNTS}{group}", learner.finish().packed(learner.task.marks)


def _added(
    told: Iterable[Told], task: Task, rejects: Callable[[Rejected], None] | None
) -> dict[str, Counts]:
    """Returns the counts of all parts by their groups; rejects in the order of the parts."""
    found: dict[str, list[Counts]] = {}
    for kind, content in told:
        if kind != _REJECTS:
            counts = Counts.unpacked(content, task.marks)
            found.setdefault(kind.removeprefix(_COUNTS), []).append(counts)
        elif rejects is not None:
            for each in json.loads(content):
                rejects(each)
    return {group: merged(several) for group, several in found.items()}
