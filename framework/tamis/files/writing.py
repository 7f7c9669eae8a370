"""Writes results: JSON that every reader takes, in files that are whole or not there.

A file grows beside its place, as `NAME.partial`, and takes its place when it is complete; after a
failure the old file is untouched and the partial one holds what was written until then.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import sys
from typing import IO, Any

from tamis.errors import TamisError

STANDARD_OUTPUT = "-"
PARTIAL = ".partial"
_NO_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN')
_NUMBERS = {"Infinity": "1e999", "-Infinity": "-1e999", "NaN": "null"}

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


class WritingError(TamisError):
    """A file that cannot be written."""


def json_text(value: object, *, indent: int | None = None) -> str:
    """Returns the value as JSON; an infinite number as one beyond every double, NaN as null."""
    try:
        if indent is None:
            return _ENCODER.encode(value)
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except ValueError:
        text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _NO_JSON.sub(lambda found: _NUMBERS.get(found.group(), found.group()), text)


def json_bytes(value: object, *, indent: int | None = None) -> bytes:
    """Returns the value as a line of UTF-8; a lone surrogate, which has none, stays escaped."""
    return json_text(value, indent=indent).encode(errors="backslashreplace") + b"\n"


def lines_to(path: str, *, prompt: bool = False) -> Lines:
    """Lines into a file, or to standard output (`-`); `prompt` writes each at once.

    What is no regular file (a pipe, a device, `/dev/stdout`) is written to directly."""
    if path == STANDARD_OUTPUT:
        return Lines(sys.stdout.buffer, prompt=prompt, owned=False)
    try:
        if is_direct(path):
            return Lines(open(path, "ab"), prompt=prompt, owned=True)
        return _FileLines(path, prompt=prompt)
    except OSError as bad:
        raise WritingError(f"cannot write {path}: {bad.strerror or bad}") from bad


def is_direct(path: str) -> bool:
    """Returns whether a path must be written directly: it is a stream, a device or no file."""
    if path.startswith(("/dev/", "/proc/")):
        return True
    return os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode)


class Lines:
    """Lines of JSON, into something that is open."""

    partial: str | None = None
    """The file that holds them until all are written."""

    def __init__(self, stream: IO[bytes], *, prompt: bool, owned: bool) -> None:
        self._stream = stream
        self._prompt = prompt
        self._owned = owned

    def write(self, value: object, *, indent: int | None = None) -> None:
        """Writes one line; several with `indent`."""
        self.write_bytes(json_bytes(value, indent=indent))

    def write_bytes(self, line: bytes) -> None:
        """Writes a line that is made."""
        self._stream.write(line)
        if self._prompt:
            self._stream.flush()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, kind: type[BaseException] | None, *about: Any) -> None:
        with contextlib.nullcontext() if kind is None else contextlib.suppress(OSError):
            if self._owned:
                self._stream.close()
            else:
                self._stream.flush()


class _FileLines(Lines):
    """Lines into a file that takes its place when it is complete."""

    def __init__(self, path: str, *, prompt: bool) -> None:
        self._place = os.path.realpath(path) if os.path.islink(path) else path
        self._beside = self.partial = self._place + PARTIAL
        super().__init__(open(self._beside, "wb"), prompt=prompt, owned=True)  # noqa: SIM115

    def __exit__(self, kind: type[BaseException] | None, *about: Any) -> None:
        with self._stream:
            self._stream.flush()
            if kind is None:
                os.fsync(self._stream.fileno())
        if kind is None:
            os.replace(self._beside, self._place)
