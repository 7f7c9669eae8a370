"""Reads events and subscriptions from files: line by line, and why a line holds none.

Nothing a file holds stops a run: a line that cannot be read comes with the reason. What stops it
is a file that cannot be opened or read on, as `ReadingError`. Cost: linear in the bytes; one line
is held at a time.
"""

from __future__ import annotations

import contextlib
import glob
import gzip
import io
import json
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, repeat
from typing import IO, Any, NamedTuple

from tamis.errors import EventError, TamisError
from tamis.files.naming import Renamed, namings_of

STANDARD_INPUT = "-"
SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_WILDCARD = re.compile(r"[*?[]")
DEEPEST = 200
"""Levels of arrays and objects in an event."""
_STRINGS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
"""Possessive: nothing is kept of a picture's letters, to come back to."""
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


class ReadingError(TamisError):
    """A file that is not there, or that cannot be read to its end."""


class FileLine(NamedTuple):
    """A line of a file: what it holds, or the reason why it holds nothing."""

    file: str
    number: int
    document: object
    reason: str | None
    text: str | None
    """As it stands in the file; `None` for a row of a table."""

    def rejected(self, reason: str) -> dict[str, Any]:
        """Returns the line for the file of rejects."""
        text = self.text
        if text is None:
            text = json.dumps(self.document, ensure_ascii=False, default=str)
        return {"file": self.file, "line": self.number, "reason": reason, "text": text}


class Events:
    """The lines of files, folders and patterns, in order; `-` is standard input."""

    def __init__(self, places: Sequence[str], renamed: Renamed = ()) -> None:
        self.files = [file for place in places for file in _files(place)]
        self._namings = namings_of({file: file for file in self.files}, renamed)
        if self.files.count(STANDARD_INPUT) > 1:
            raise ReadingError("standard input (-) can be read only once")
        if any(is_table(file) for file in self.files):
            from tamis.files.parquet import require_arrow

            require_arrow()
        self._sizes = [_size(file) for file in self.files]
        self._finished = 0
        self._share: Callable[[], float] = lambda: 0.0

    @property
    def live(self) -> bool:
        """True if somebody may be waiting for the answer to each line."""
        return STANDARD_INPUT in self.files

    @property
    def share(self) -> float | None:
        """The share of all files that has been read, from 0 to 1; `None` when it is unknown."""
        sizes = [size for size in self._sizes if size is not None]
        total = sum(sizes)
        if len(sizes) < len(self._sizes) or not total:
            return None
        done = sum(sizes[: self._finished])
        if self._finished < len(sizes):
            done += int(self._share() * sizes[self._finished])
        return done / total

    def __iter__(self) -> Iterator[FileLine]:
        for self._finished, file in enumerate(self.files):  # noqa: B020 (read while it counts)
            lines = self._rows(file) if is_table(file) else self._lines(file)
            yield from self._namings[file].lines(lines)
            self._share = lambda: 0.0
        self._finished = len(self.files)

    def _lines(self, file: str) -> Iterator[FileLine]:
        with opened(file) as (stream, position):
            size = _size(file)
            if size:
                self._share = lambda: min(1.0, position() / size)
            yield from json_lines(file, stream)

    def _rows(self, file: str) -> Iterator[FileLine]:
        from tamis.files.parquet import rows

        for number, (share, row) in enumerate(rows(file), 1):
            self._share = lambda share=share: share  # type: ignore[misc]
            yield FileLine(file, number, row, None, None)


def read_lines(file: str) -> Iterator[FileLine]:
    """Yields the JSON lines of one file, or of standard input (`-`)."""
    with opened(file) as (stream, _):
        yield from json_lines(file, stream)


def read_whole(file: str) -> str:
    """Returns the text of a file, or of standard input (`-`)."""
    with opened(file) as (stream, _), _sentences(file):
        content = stream.read().removeprefix(_BYTE_ORDER_MARK)
    try:
        return content.decode()
    except UnicodeDecodeError as bad:
        raise ReadingError(f"{shown_name(file)} is {_not_utf8(bad)}") from None


def json_lines(file: str, stream: Iterable[bytes], first: int = 1) -> Iterator[FileLine]:
    """Yields the lines of an open file that are not blank, by their numbers from the first on."""
    number = 0
    with _sentences(file, lambda: number):
        for number, raw in enumerate(stream, first):
            if number == 1:
                raw = raw.removeprefix(_BYTE_ORDER_MARK)
            if raw.strip():
                yield _line(shown_name(file), number, raw.rstrip(b"\r\n"))


def shown_name(file: str) -> str:
    """Returns the name of a file for people."""
    return "standard input" if file == STANDARD_INPUT else file


def _line(file: str, number: int, raw: bytes) -> FileLine:
    try:
        text = raw.decode()
    except UnicodeDecodeError as bad:
        return FileLine(file, number, None, _not_utf8(bad), raw.decode(errors="backslashreplace"))
    try:
        return FileLine(file, number, read_event_line(text), None, text)
    except EventError:
        reason = "nested too deep"
    except json.JSONDecodeError as bad:
        reason = f"not valid JSON: {bad.msg.removesuffix(' at')} at column {bad.colno}"
    except ValueError as bad:
        reason = f"not valid JSON: {bad}"
    return FileLine(file, number, None, reason, text)


def read_event_line(line: str) -> Any:
    """Returns the JSON of one line; integers beyond what Python reads are infinite.

    What is nested deeper than `DEEPEST` is an `EventError`: it could be read, and not written
    again where the stack is higher."""
    try:
        found = json.loads(line, parse_int=_integer)
    except RecursionError:
        raise EventError("the event is nested too deep") from None
    if line.count("[") + line.count("{") > DEEPEST and _depth(line) > DEEPEST:
        raise EventError(f"the event is nested too deep: {DEEPEST} levels at most")
    return found


def _depth(line: str) -> int:
    """Returns how deep the arrays and objects of valid JSON are nested."""
    steps = map(_STEPS.get, _STRINGS.sub("", line), repeat(0))
    return max(accumulate(steps))


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= 1001 else float(digits)


def _not_utf8(bad: UnicodeDecodeError) -> str:
    return f"not UTF-8: byte {bad.start + 1} is 0x{bad.object[bad.start]:02x}"


@contextlib.contextmanager
def _sentences(file: str, line: Callable[[], int] = lambda: 0) -> Iterator[None]:
    """Makes one sentence of whatever a stream raises."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as bad:
        place = f" after line {line():,}" if line() else ""
        raise ReadingError(
            f"{shown_name(file)} cannot be read{place}: its compressed data is damaged ({bad})"
        ) from bad
    except OSError as bad:
        raise ReadingError(f"cannot read {shown_name(file)}: {bad.strerror or bad}") from bad


@contextlib.contextmanager
def opened(file: str) -> Iterator[tuple[IO[bytes], Callable[[], int]]]:
    """Opens a file, unpacked where it is packed; tells how far its bytes have been read."""
    with contextlib.ExitStack() as closing:
        with _sentences(file):
            if file == STANDARD_INPUT:
                if sys.stdin is None:
                    raise ReadingError("standard input is closed")
                raw: Any = sys.stdin.buffer
            else:
                raw = closing.enter_context(open(file, "rb"))
            buffered: Any = raw if hasattr(raw, "peek") else io.BufferedReader(raw)
            packed = buffered.peek(2)[:2] == _GZIP
        stream: IO[bytes] = buffered
        if packed:
            unpacked = closing.enter_context(gzip.GzipFile(fileobj=buffered))
            stream = io.BufferedReader(unpacked)
        yield stream, buffered.tell


def is_packed(file: str) -> bool:
    """Returns whether a file is compressed."""
    with _sentences(file), open(file, "rb") as raw:
        return raw.read(2) == _GZIP


def _files(place: str) -> list[str]:
    """Returns the files that a place stands for, sorted by name."""
    if place == STANDARD_INPUT:
        return [place]
    if os.path.isdir(place):
        found = list(files_in(place))
        if not found:
            raise ReadingError(f"the folder {place} holds no {', '.join(SUFFIXES)} file")
        return found
    if os.path.exists(place):
        return [place]
    found = list(dict.fromkeys(_matching(place)))
    if not found:
        raise ReadingError(f"there is no file, folder or pattern {place}")
    return found


def _matching(pattern: str) -> Iterator[str]:
    """Yields the files that a pattern matches; only those of events where it ends in a wildcard."""
    wildcard = _WILDCARD.search(pattern)
    fixed = len(os.path.dirname(pattern[: wildcard.start()])) if wildcard else 0
    choosy = pattern.endswith(("*", "?", "]"))
    for name in sorted(glob.glob(pattern, recursive=True)):
        if choosy and any(step[:1] in ("_", ".") for step in name[fixed:].split(os.sep)):
            continue
        if os.path.isdir(name):
            yield from files_in(name)
        elif name.endswith(SUFFIXES) or not choosy:
            yield name


def files_in(folder: str) -> Iterator[str]:
    """Returns the files of events below a folder, without names that begin with `.` or `_`."""
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        for name in sorted(files):
            if name[0] not in "._" and name.endswith(SUFFIXES):
                yield os.path.join(path, name)


def is_table(file: str) -> bool:
    """Returns whether a file is one of Parquet."""
    return file.endswith(".parquet")


def _size(file: str) -> int | None:
    if file == STANDARD_INPUT:
        return None
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
