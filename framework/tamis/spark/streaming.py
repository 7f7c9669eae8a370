"""Matches a stream exactly once: every batch is a folder that appears when it is whole.

Spark's checkpoint says which events a batch holds, and gives a batch that was not finished once
more, under its number. Workers write beside the place; the driver renames, dead letters first, then
the matches, and passes over a batch whose matches are there. Killed at any point, what is there
is whole, and what is not comes again. Output and checkpoint know each other by an id.
Subscriptions are looked at between batches; every line says which version of them it was matched
against. A version that cannot be used is said, and the one before stays, also over restarts.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.catalog.subscription_lines import SubscriptionLines, read_subscriptions
from tamis.errors import SparkError, SubscriptionError, TamisError
from tamis.files.manifest import read_manifest, replace_file, write_manifest
from tamis.files.naming import Renamed, namings_of
from tamis.files.reading import files_in
from tamis.operators import records_of
from tamis.operators.shipping import packed, unpacked
from tamis.spark.compiling import CompiledSubscriptions, compiled_of
from tamis.spark.matching import Job, kept_columns, match_files, matched, on_disk
from tamis.spark.working import checked_entries, checked_frame, last_line
from tamis.statistics import Statistics
from tamis.statistics.folder import generation_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

FORMAT_VERSION = 1
FORMATS = ("json", "parquet")
MATCHES, REJECTS = "matches", "rejects"
_FILES = "path string, modificationTime timestamp, length long, content binary"
_GLOB = "*.{jsonl,jsonl.gz,parquet}"
_VERSION_LETTERS = 12

Compile = Callable[[SubscriptionLines], CompiledSubscriptions]
Now = Callable[[], tuple[str, CompiledSubscriptions]]
"""The version of the subscriptions as they are now, and what is compiled of it."""
Say = Callable[[str], None]


def unheard(words: str) -> None:
    """Says nothing: nobody hears a driver that is elsewhere."""


class Versions:
    """The subscriptions of a file as they are now, or as they were when they last made sense."""

    def __init__(
        self, file: str, folder: Path, compile: Compile, say: Say, statistics: str | None = None
    ) -> None:
        """Follows a folder of statistics too, where one is given."""
        self._file = file
        self._folder = folder
        self._compile = compile
        self._say = say
        self._statistics = statistics
        self._generation: str | None = None
        self._seen: object = None
        self.version = ""
        self._compiled: CompiledSubscriptions | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state from which another process compiles."""
        return {**vars(self), "_seen": None, "version": "", "_compiled": None, "_say": unheard}

    def now(self) -> tuple[str, CompiledSubscriptions]:
        """Returns the version, and what is compiled of it."""
        try:
            status = os.stat(self._file)
            generation = self._statistics and generation_of(Path(self._statistics))
            seen: object = (status.st_mtime_ns, status.st_size, status.st_ino, generation)
            if seen != self._seen:
                self._take(Path(self._file).read_bytes(), generation)
                self._seen = seen
        except (TamisError, OSError) as bad:
            if self._compiled is None and not self._take_last():
                raise
            if str(bad) != self._seen:
                self._seen = str(bad)
                self._say(f"{self._file} cannot be used, version {self.version} of it stays: {bad}")
        assert self._compiled is not None
        return self.version, self._compiled

    def _take(self, content: bytes, generation: str | None = None) -> None:
        version = hashlib.sha256(content).hexdigest()[:_VERSION_LETTERS]
        if (version, generation) == (self.version, self._generation):
            return
        kept = self._folder / f"{version}.jsonl"
        if not kept.exists():
            replace_file(kept, content)
        try:
            lines = read_subscriptions(str(kept))
            lines.file = self._file
            lines.findings = [each._replace(file=self._file) for each in lines.findings]
            compiled = self._compile(lines)
        except BaseException:
            if version != self.version:
                kept.unlink()
            raise
        write_manifest(self._folder, FORMAT_VERSION, version=version)
        if self._compiled is not None:
            news = f"{self._file} has changed" if version != self.version else "new statistics"
            self._say(f"{news}: version {version}")
        self.version, self._generation, self._compiled = version, generation, compiled

    def _take_last(self) -> bool:
        """Takes the version that was the last to make sense, if there was one."""
        try:
            about = read_manifest(
                self._folder, "subscriptions", FORMAT_VERSION, SparkError, "version"
            )
            self._take((self._folder / f"{about['version']}.jsonl").read_bytes())
        except (TamisError, OSError):
            return False
        return True


class Sink:
    """Writes batches, each as a whole."""

    def __init__(self, output: str, checkpoint: str) -> None:
        self._output, self._checkpoint = (
            Path(os.path.abspath(each)) for each in (output, checkpoint)
        )
        self._staging = self._output / "_staging"
        self._is_ready = False
        self.prepare()

    def __getstate__(self) -> dict[str, Any]:
        """Returns what another process, maybe on another machine, has to prepare."""
        return {**vars(self), "_is_ready": False}

    def prepare(self) -> None:
        """Makes the folders, and drops what was staged by an earlier process."""
        if self._is_ready:
            return
        self._is_ready = True
        self._check()
        shutil.rmtree(self._staging, ignore_errors=True)
        for folder in (self._output / MATCHES, self._output / REJECTS, self._staging):
            folder.mkdir(parents=True, exist_ok=True)

    def _check(self) -> None:
        """Refuses output of another stream: its batches would be taken for those of this one."""
        self._checkpoint.mkdir(parents=True, exist_ok=True)
        mine, theirs = (self._identity(each) for each in (self._checkpoint, self._output))
        if theirs is not None and mine != theirs:
            raise SparkError(
                f"{self._output} was written with another checkpoint than {self._checkpoint}: "
                "choose another output, or the checkpoint that belongs to it"
            )
        if theirs is None and (self._output / MATCHES).exists():
            raise SparkError(f"{self._output} holds matches that no stream of tamis wrote")
        if mine is None:
            mine = uuid.uuid4().hex
            write_manifest(self._checkpoint, FORMAT_VERSION, stream=mine)
        if theirs is None:
            self._output.mkdir(parents=True, exist_ok=True)
            write_manifest(self._output, FORMAT_VERSION, stream=mine)

    @staticmethod
    def _identity(folder: Path) -> str | None:
        if not (folder / "manifest.json").exists():
            return None
        about = read_manifest(folder, "stream", FORMAT_VERSION, SparkError, "stream")
        return str(about["stream"])

    def place(self, what: str, batch: int) -> Path:
        """Returns the folder of a batch when it is whole."""
        return self._output / what / f"batch={batch}"

    def is_done(self, batch: int) -> bool:
        """Returns whether the matches of a batch are there."""
        return self.place(MATCHES, batch).exists()

    def staged(self, batch: int) -> Path:
        """Returns an empty folder beside the places."""
        folder = self._staging / f"batch-{batch}-{uuid.uuid4().hex[:8]}"
        folder.mkdir(parents=True)
        return folder

    def commit(self, batch: int, staged: Path) -> None:
        """Puts a batch in its place: dead letters, then, as the last step, the matches."""
        for what in (REJECTS, MATCHES):
            beside, place = staged / what, self.place(what, batch)
            if beside.exists() and not place.exists():
                on_disk(str(beside))
                os.replace(beside, place)
                on_disk(str(place.parent))
        shutil.rmtree(staged, ignore_errors=True)


class Stream:
    """A query that runs; `trouble` is what ended it."""

    def __init__(self, now: Now, sink: Sink, format: str, say: Say) -> None:
        if format not in FORMATS:
            raise SparkError(f"the format of a stream is {' or '.join(FORMATS)}, not {format}")
        self._now, self._sink, self._format, self._say = now, sink, format, say
        self.trouble: Exception | None = None
        self.query: StreamingQuery | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state with which a driver elsewhere works."""
        return {**vars(self), "trouble": None, "query": None, "_say": unheard}

    def once(self, work: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
        """Returns the work on a batch, done unless it was."""

        def do(frame: Any, batch: int) -> None:
            self._sink.prepare()
            if self._sink.is_done(batch):
                return
            try:
                work(frame, batch)
            except Exception as bad:
                self.trouble = bad
                # a sentence: patterns of the JVM's overflow its stack on long tracebacks
                words = str(bad) if isinstance(bad, TamisError) else last_line(bad)
                raise SparkError(words) from None

        return do

    def files(
        self, given: str, renamed: Renamed, keep: tuple[str, ...]
    ) -> Callable[[Any, int], None]:
        """Returns the work on a batch of names of files."""
        top = os.path.realpath(given)

        def work(frame: Any, batch: int) -> None:
            found = sorted(_path(row.path) for row in frame.select("path").collect())
            names = {each: os.path.join(given, os.path.relpath(each, top)) for each in found}
            namings = namings_of({**{each: each for each in files_in(given)}, **names}, renamed)
            version, compiled = self._now()
            staged = self._sink.staged(batch)
            job = Job(
                str(staged / MATCHES),
                True,
                keep,
                {"version": version},
                self._format == "parquet",
                True,
            )
            written = match_files(
                frame.sparkSession, found, compiled, job, names=names, namings=namings
            )
            _move([*written.rejects], staged / REJECTS)
            self._keep_only(written.results, staged / MATCHES)
            self._sink.commit(batch, staged)
            account = written.totals.account
            self._say(
                f"batch {batch}: {account.events:,} events, {account.matches:,} matches, "
                f"{written.totals.rejected:,} rejected, version {version}"
            )

        return work

    @staticmethod
    def _keep_only(parts: Sequence[str], folder: Path) -> None:
        """Drops what workers wrote that did not come to an end."""
        kept = {os.path.basename(each) for each in parts}
        for path in folder.iterdir():
            if path.name not in kept:
                path.unlink()

    def rows(self, keep: Sequence[str], frame: Any, batch: int) -> None:
        """Does the work on a batch of events, of which some columns come along."""
        from pyspark.sql import functions

        version, compiled = self._now()
        staged = self._sink.staged(batch)
        found = (
            matched(frame, compiled, keep=keep)
            .withColumn("version", functions.lit(version))
            .persist()
        )
        try:
            good = found.filter("rejected is null").drop("rejected", "text")
            bad = found.filter("rejected is not null").selectExpr("rejected as reason", "text")
            good.write.format(self._format).save(str(staged / MATCHES))
            if bad.limit(1).count():
                bad.write.format("json").save(str(staged / REJECTS))
        finally:
            found.unpersist()
        for path in staged.rglob("part-*"):
            on_disk(str(path))
        self._sink.commit(batch, staged)


def stream(
    events: DataFrame,
    subscriptions: str | os.PathLike[str] | Iterable[Mapping[str, Any] | str],
    operators: Iterable[object] | None = None,
    *,
    output: str,
    checkpoint: str,
    format: str = "json",
    trigger: Mapping[str, Any] | None = None,
    follow_statistics: str | None = None,
    keep: Sequence[str] = (),
    say: Say = lambda words: None,
    **settings: Any,
) -> StreamingQuery:
    """Matches a streaming data frame, an event a row, into folders of batches, exactly once.

    `subscriptions` that are a path are read again between batches, and so is a folder of
    statistics that is followed. `trigger` is what Spark's `trigger` takes, as
    `{"availableNow": True}`; `keep` and `settings` are those of `match`."""
    checked_frame(events)
    if not events.isStreaming:
        raise SparkError("a stream matches what spark.readStream reads; tamis.spark.match a frame")
    kept_columns(events, keep)
    content = None if operators is None else packed(records_of(operators))
    settings["also"] = packed(records_of(settings.get("also", ())))
    versions: Versions | FixedVersion
    if isinstance(subscriptions, (str, os.PathLike)):
        compile = partial(_compiled, content, settings, follow_statistics)
        kept = Path(checkpoint) / "subscriptions"
        versions = Versions(os.fspath(subscriptions), kept, compile, say, follow_statistics)
    elif follow_statistics is not None:
        raise SparkError("statistics are followed beside subscriptions that are a file")
    else:
        entries = checked_entries(subscriptions)
        versions = FixedVersion(partial(_compiled_entries, content, settings, entries))
    versions.now()
    running = Stream(versions.now, Sink(output, checkpoint), format, say)
    return _started(events, running.once(partial(running.rows, keep)), checkpoint, trigger)


def stream_files(
    spark: SparkSession,
    folder: str,
    subscriptions: str,
    compile: Compile,
    *,
    output: str,
    checkpoint: str,
    format: str = "json",
    trigger: Mapping[str, Any] | None = None,
    files_a_batch: int | None = None,
    renamed: Renamed = (),
    follow_statistics: str | None = None,
    keep: tuple[str, ...] = (),
    say: Say = lambda words: None,
) -> Stream:
    """Returns the same for the files that come into a folder, by the rules of `tamis match`.

    A file has to come whole, by renaming, and stay as it is."""
    if not os.path.isdir(folder):
        raise SparkError(f"there is no folder {folder}: a stream reads what comes into one")
    sink = Sink(output, checkpoint)
    kept = Path(checkpoint) / "subscriptions"
    versions = Versions(subscriptions, kept, compile, say, follow_statistics)
    versions.now()
    running = Stream(versions.now, sink, format, say)
    reader = spark.readStream.format("binaryFile").schema(_FILES)
    reader = reader.option("pathGlobFilter", _GLOB).option("recursiveFileLookup", "true")
    if files_a_batch is not None:
        reader = reader.option("maxFilesPerTrigger", files_a_batch)
    frame = reader.load(os.path.realpath(folder)).select("path")
    work = running.once(running.files(folder, renamed, keep))
    running.query = _started(frame, work, checkpoint, trigger)
    return running


class FixedVersion:
    """Subscriptions that do not change, compiled once a process."""

    def __init__(self, compile: Callable[[], CompiledSubscriptions]) -> None:
        self._compile = compile
        self._compiled: CompiledSubscriptions | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state from which another process compiles."""
        return {**vars(self), "_compiled": None}

    def now(self) -> tuple[str, CompiledSubscriptions]:
        """Returns the version, and what is compiled of it."""
        if self._compiled is None:
            self._compiled = self._compile()
        digest = hashlib.sha256("".join(self._compiled.fingerprints).encode()).hexdigest()
        return digest[:_VERSION_LETTERS], self._compiled


def _compiled_entries(
    operators: bytes | None,
    settings: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any] | str],
) -> CompiledSubscriptions:
    records = None if operators is None else unpacked(operators)
    return compiled_of(entries, records, **{**settings, "also": unpacked(settings["also"])})


def _compiled(
    operators: bytes | None,
    settings: Mapping[str, Any],
    folder: str | None,
    lines: SubscriptionLines,
) -> CompiledSubscriptions:
    if folder is not None:
        settings = {**settings, "statistics": Statistics.load(folder)}
    if lines.findings:
        raise SubscriptionError("; ".join(str(each) for each in lines.findings[:3]))
    return _compiled_entries(operators, settings, [each.document for each in lines.entries])


def _started(
    frame: DataFrame,
    work: Callable[[Any, int], None],
    checkpoint: str,
    trigger: Mapping[str, Any] | None,
) -> StreamingQuery:
    writer = frame.writeStream.foreachBatch(work)
    writer = writer.option("checkpointLocation", os.path.abspath(os.path.join(checkpoint, "spark")))
    if trigger:
        writer = writer.trigger(**trigger)
    return writer.start()


def _path(uri: str) -> str:
    """Returns the path of a local file as Spark names it."""
    return "/" + uri.removeprefix("file:").lstrip("/")


def _move(parts: Iterable[str], folder: Path) -> None:
    """Puts parts that hold something into a folder, which is made when there is one."""
    for part in parts:
        if os.path.getsize(part):
            folder.mkdir(exist_ok=True)
            os.replace(part, folder / os.path.basename(part).removeprefix("rejects-"))
        else:
            os.unlink(part)
