"""Cuts history into parts that are read on their own, by the rules of `tamis match`.

A part of a file of lines knows the number of its first line, so that made-up ids and rejects are
those of a match; a compressed file is one part; a Parquet file is cut by its row groups.
Cost: files of lines are read once to count their lines, at the speed of memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from tamis.files.naming import UNNAMED, EventDefaults
from tamis.files.parquet import batches_of, dicts, require_arrow
from tamis.files.reading import (
    FileLine,
    ReadingError,
    is_packed,
    is_table,
    json_lines,
    opened,
    shown_name,
)
from tamis.learning.counts import Counts
from tamis.learning.learner import Learner, Task
from tamis.learning.tables import learn_batch

ROWS = 1 << 15
"""Rows of a table that are read at once."""
_ROWS_AS_EVENTS = 1 << 10


class Chunk(NamedTuple):
    """A part of a file: bytes of lines from `start` to `end`, or row groups."""

    file: str
    name: str
    """As ids and rejects have it."""
    start: int
    end: int | None
    first: int
    """The number of its first line or row."""
    size: int
    """About how much there is to read, in bytes."""
    folder: str = ""
    """The folder of relative paths in events."""
    naming: EventDefaults = UNNAMED

    def elsewhere(self, name: str | None = None) -> Chunk:
        """Returns the same for a process that may stand in another folder."""
        folder = os.path.dirname(self.name) if name is None else ""
        return self._replace(
            file=os.path.abspath(self.file),
            name=self.name if name is None else name,
            folder=os.path.abspath(folder),
        )


def chunks_of(
    files: Iterable[str], most_bytes: int, namings: Mapping[str, EventDefaults] | None = None
) -> list[Chunk]:
    """Returns the parts of files, none much larger than so many bytes where it can be cut."""
    chunks: list[Chunk] = []
    for file in files:
        cut = _row_groups if is_table(file) else _stretches
        naming = (namings or {}).get(file, UNNAMED)
        chunks += (each._replace(naming=naming) for each in cut(file, most_bytes))
    return chunks


def in_parts(chunks: Sequence[Chunk], parts: int) -> list[list[Chunk]]:
    """Deals chunks into at most so many parts of about equal size, in the order of files."""
    total = sum(chunk.size for chunk in chunks)
    found: list[list[Chunk]] = []
    done = 0
    for chunk in chunks:
        if not found or done + chunk.size / 2 >= total * len(found) / parts:
            found.append([])
        found[-1].append(chunk)
        done += chunk.size
    return found


def counts_of(
    chunks: Iterable[Chunk], task: Task, reject: Callable[[dict[str, Any]], None] | None = None
) -> Counts:
    """Counts the events of some parts, in this process."""
    learner = Learner(task)
    for chunk in chunks:
        for rejected in learn_chunk(learner, chunk):
            if reject is not None:
                reject(rejected)
    return learner.finish()


def learn_chunk(learner: Learner, chunk: Chunk) -> Iterator[dict[str, Any]]:
    """Teaches a part; gives what it rejects, as `--rejects` has it."""
    if is_table(chunk.file):
        with _batches(chunk, ROWS) as batches:
            for first, batch in batches:
                yield from learn_batch(
                    learner,
                    batch,
                    name=chunk.name,
                    first=first,
                    folder=chunk.folder,
                    naming=chunk.naming,
                )
        return
    name = os.path.basename(chunk.name)
    for line in lines_of(chunk):
        rejected = learner.line(line, chunk.folder, f"{name}:{line.number}")
        if rejected is not None:
            yield rejected


def lines_of(chunk: Chunk) -> Iterator[FileLine]:
    """Yields the lines or rows of a part, numbered as in their file."""
    yield from chunk.naming.lines(_as_read(chunk))


def _as_read(chunk: Chunk) -> Iterator[FileLine]:
    if is_table(chunk.file):
        with _batches(chunk, _ROWS_AS_EVENTS) as batches:
            for first, batch in batches:
                for number, row in enumerate(dicts(batch), first):
                    yield FileLine(chunk.name, number, row, None, None)
        return
    with opened(chunk.file) as (stream, _):
        if chunk.start:
            stream.seek(chunk.start)
        lines = stream if chunk.end is None else _until(stream, chunk.end - chunk.start)
        yield from json_lines(chunk.name, lines, chunk.first)


@contextmanager
def _batches(chunk: Chunk, rows: int) -> Iterator[Iterator[tuple[int, Any]]]:
    """Yields the rows of a part of a table, with the number of the first of each batch."""
    groups = None if chunk.end is None else range(chunk.start, chunk.end)
    with _parquet(chunk.file) as parquet, parquet.ParquetFile(chunk.file) as table:
        yield _numbered(batches_of(table, rows, groups), chunk.first)


def _numbered(batches: Iterable[Any], first: int) -> Iterator[tuple[int, Any]]:
    for batch in batches:
        yield first, batch
        first += batch.num_rows


@contextmanager
def _parquet(file: str) -> Iterator[Any]:
    """pyarrow's Parquet; what goes wrong meanwhile is the file's."""
    arrow = require_arrow()
    try:
        yield arrow.parquet
    except (OSError, ValueError, arrow.ArrowException) as bad:
        raise ReadingError(f"{file} cannot be read as Parquet: {bad}") from bad


def _until(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """Yields the lines of the next so many bytes."""
    for raw in stream:
        yield raw
        size -= len(raw)
        if size <= 0:
            return


def _stretches(file: str, most_bytes: int) -> Iterator[Chunk]:
    """Yields the parts of a file of lines."""
    name, size = shown_name(file), os.path.getsize(file)
    if size <= most_bytes or is_packed(file) or not os.path.isfile(file):
        yield Chunk(file, name, 0, None, 1, size, os.path.dirname(name))
        return
    first = 1
    with open(file, "rb") as stream:
        while block := stream.read(most_bytes):
            start = stream.tell() - len(block)
            rest = stream.readline()
            size, folder = len(block) + len(rest), os.path.dirname(name)
            yield Chunk(file, name, start, stream.tell(), first, size, folder)
            first += block.count(b"\n") + rest.count(b"\n")


def _row_groups(file: str, most_bytes: int) -> Iterator[Chunk]:
    """Yields the parts of a Parquet file: as many row groups together as fit."""
    with _parquet(file) as parquet:
        about = parquet.read_metadata(file)
    start, first, rows, size = 0, 1, 0, 0
    for at in range(about.num_row_groups):
        group = about.row_group(at)
        rows, size = rows + group.num_rows, size + group.total_byte_size
        if size >= most_bytes or at + 1 == about.num_row_groups:
            yield Chunk(file, file, start, at + 1, first, size, os.path.dirname(file))
            start, first, rows, size = at + 1, first + rows, 0, 0
