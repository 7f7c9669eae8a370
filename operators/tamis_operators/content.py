"""Reads what an event gives in the place of a file: the path of one, its bytes, or a `data:` URI.

Invariant: nothing is fetched, nothing but plain files is opened, and sizes are checked before
anything is read.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
from urllib.parse import unquote_to_bytes

from tamis.kit import is_address

_SPACE = re.compile(rb"\s+")
_OPENING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_content(given: object, what: str, most_bytes: int, refuse: type[Exception]) -> bytes:
    """Returns the bytes, not yet decoded; `refuse` says of the `what` why there are none."""
    if isinstance(given, (str, os.PathLike)):
        path = os.fspath(given)
        if isinstance(path, str) and path[:5].lower() == "data:":
            content = _of_uri(path, what, most_bytes, refuse)
        else:
            content = _of_file(path, what, most_bytes, refuse)
    elif isinstance(given, (bytes, bytearray, memoryview)):
        content = bytes(given)
    else:
        kind = type(given).__name__
        raise refuse(f"the {what} is a path, bytes, a data: URI or an array, not a {kind}")
    _check_size(len(content), what, most_bytes, refuse)
    return content


def open_plain(path: str, flags: int) -> int:
    """Opens plain files, as `open` takes it; they are known to be such before and after."""
    _check_plain(os.stat(path))
    descriptor = os.open(path, flags | _OPENING)  # a FIFO put there meanwhile must not block
    try:
        _check_plain(os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check_plain(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError("it is not a plain file")


def _check_size(count: int, what: str, most_bytes: int, refuse: type[Exception]) -> None:
    if count > most_bytes:
        raise refuse(f"the {what} has {count:,} bytes: {most_bytes:,} are allowed")


def _of_file(path: str | bytes, what: str, most_bytes: int, refuse: type[Exception]) -> bytes:
    if isinstance(path, str) and is_address(path):
        scheme = path.partition(":")[0]
        raise refuse(f"the {what} is a path or a data: URI: nothing is fetched by {scheme}:")
    shown = repr(os.fsdecode(path))
    shown = shown if len(shown) <= 120 else f"{shown[:60]}…{shown[-59:]}"
    try:
        with open(path, "rb", opener=open_plain) as file:
            size = os.fstat(file.fileno()).st_size
            content = file.read(most_bytes + 1) if size <= most_bytes else b""
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        if isinstance(problem, FileNotFoundError) and isinstance(path, str):
            reason += f" at {os.path.abspath(path)}; a path begins at the folder of the events"
        raise refuse(f"the {what} {shown} cannot be read: {reason}") from None
    if not size:
        raise refuse(f"the {what} {shown} is an empty file")
    _check_size(size, what, most_bytes, refuse)
    return content


def _of_uri(uri: str, what: str, most_bytes: int, refuse: type[Exception]) -> bytes:
    """Returns the data of a `data:` URI, in base64 or with percent signs."""
    kind, comma, data = uri[5:].partition(",")
    if not comma:
        raise refuse(f"the data: URI of the {what} has no comma before its data")
    if len(data) > 4 * most_bytes:  # spaces and escapes take the more
        raise refuse(f"the data: URI of the {what} has {len(data):,} letters: too many")
    content = unquote_to_bytes(data)
    if kind.lower().rstrip().endswith(";base64"):
        content = _SPACE.sub(b"", content)
        try:
            content = base64.b64decode(content + b"=" * (-len(content) % 4), validate=True)
        except binascii.Error as problem:
            raise refuse(f"the data: URI of the {what} is not base64: {problem}") from None
    return content
