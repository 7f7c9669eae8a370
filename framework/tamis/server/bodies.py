"""Reads the bodies of requests: JSON, lines of it, CloudEvents, and parts with pictures.

What is wrong with one is a problem that says where. Nothing is read beyond the size that is
allowed, nor for longer than a slow line takes: bytes that wait for their rest keep others out.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
from collections.abc import Callable, Mapping
from email.message import Message
from email.parser import BytesHeaderParser
from itertools import islice
from typing import Any
from urllib.parse import unquote

from starlette.requests import ClientDisconnect, Request

from tamis.errors import EventError
from tamis.files.reading import DEEPEST, json_lines, read_event_line
from tamis.server.problems import HttpProblem

_CLOUD_EVENT = "ce-"
_LINES = ("application/x-ndjson", "application/jsonl", "application/x-jsonlines")
_PARTS = "multipart/form-data"
_EVENT_PART = "event"
_PLACE = "the request"
_PATIENCE_SECONDS = 30.0
_SLOWEST = 128 * 1024
"""Bytes a second: what has come gives the rest so much more time, and each part no more than the
patience."""
_MOST_PARTS = 100


async def body_of(request: Request, most: int, hold: Callable[[int], None]) -> bytes:
    """Returns the bytes of a request, each part told to `hold` as it comes; a problem where there
    are too many, or where they come too slowly."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most:
        raise _too_large(most)
    body = bytearray()
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS) as patience:
            ends = patience.when() or 0.0
            async for part in request.stream():
                if len(body) + len(part) > most:
                    raise _too_large(most)
                hold(len(part))
                body += part
                soon = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
                patience.reschedule(min(soon, ends + len(body) / _SLOWEST))
    except TimeoutError:
        raise _too_slow(len(body)) from None
    except ClientDisconnect:  # nobody reads the answer
        raise HttpProblem("malformed", "the request was broken off") from None
    return bytes(body)


def _too_large(most: int) -> HttpProblem:
    return HttpProblem("too-large", f"a request has {most:,} bytes at most", most_bytes=most)


def _too_slow(size: int) -> HttpProblem:
    """Returns the problem of a body whose rest is waited for no longer; nor is the connection."""
    return HttpProblem(
        "too-slow",
        f"{size:,} bytes came, and the rest not in time: a part may take "
        f"{_PATIENCE_SECONDS:g} s, and all as much and a second for each {_SLOWEST:,} bytes",
        headers={"Connection": "close"},
    )


def json_of(body: bytes) -> Any:
    """Returns the JSON of a body."""
    try:
        return read_event_line(body.decode())
    except UnicodeDecodeError as bad:
        raise HttpProblem("malformed", f"not UTF-8: byte {bad.start + 1}") from None
    except EventError:
        raise HttpProblem("malformed", f"nested too deep: {DEEPEST} levels at most") from None
    except json.JSONDecodeError as bad:
        place = f"line {bad.lineno}, column {bad.colno}"
        said = bad.msg.removesuffix(" at")
        raise HttpProblem(
            "malformed", f"not valid JSON: {said} at {place}", line=bad.lineno, column=bad.colno
        ) from None
    except ValueError as bad:
        raise HttpProblem("malformed", f"not valid JSON: {bad}") from None


def object_of(body: bytes) -> dict[str, Any]:
    """Returns the JSON object of a body; that of an empty one is empty."""
    found = json_of(body) if body.strip() else {}
    if not isinstance(found, dict):
        raise HttpProblem("malformed", "the body is a JSON object")
    return found


def documents_of(body: bytes, headers: Mapping[str, str], most: int) -> list[Any]:
    """Returns the documents of events that a body holds: one, an array or lines of them, or
    parts; a problem where there are too many."""
    found = _documents(body, headers, most)
    if len(found) > most:
        raise HttpProblem("too-large", f"a request has {most:,} events at most", most_events=most)
    return found


def _documents(body: bytes, headers: Mapping[str, str], most: int) -> list[Any]:
    """Returns the documents of a body, of lines not many more than may be."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == _PARTS:
        return [_of_parts(body, headers["content-type"])]
    if headers.get("ce-specversion"):
        return [_of_headers(body, headers)]
    if kind in _LINES or _is_lines(body):
        return _lines(body, most)
    found = json_of(body)
    return found if isinstance(found, list) else [found]


def _is_lines(body: bytes) -> bool:
    """Returns whether a body is whole at the end of its first line, and goes on."""
    first, _, rest = body.strip().partition(b"\n")
    if not rest.strip() or first.rstrip()[-1:] != b"}":
        return False
    try:
        read_event_line(first.decode())
    except (ValueError, EventError):
        return False
    return True


def _lines(body: bytes, most: int) -> list[Any]:
    found: list[Any] = []
    for line in islice(json_lines(_PLACE, io.BytesIO(body)), most + 1):
        if line.reason is not None:
            reason = f"line {line.number}: {line.reason}"
            raise HttpProblem("malformed", reason, line=line.number)
        found.append(line.document)
    return found


def _of_headers(body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """Returns a CloudEvent whose envelope is in the headers, where what is not ASCII is written
    `%XX`."""
    envelope: dict[str, Any] = {
        name.removeprefix(_CLOUD_EVENT): unquote(value)
        for name, value in headers.items()
        if name.startswith(_CLOUD_EVENT)
    }
    return {**envelope, "data": json_of(body)}


def _of_parts(body: bytes, content_type: str) -> dict[str, Any]:
    """Returns the event of the part `event`, with each file as a `data:` URI under the name of its
    part."""
    header = Message()
    header["content-type"] = content_type
    boundary = header.get_param("boundary")
    if not isinstance(boundary, str) or not boundary:
        raise HttpProblem("malformed", "multipart/form-data without its boundary")
    event: dict[str, Any] = {}
    files: dict[str, str] = {}
    limit = b"\r\n--" + boundary.encode()
    for number, part in enumerate((b"\r\n" + body).split(limit, _MOST_PARTS + 2)[1:], 1):
        if part.startswith(b"--"):
            break
        if number > _MOST_PARTS:
            raise HttpProblem("too-large", f"a request has {_MOST_PARTS} parts at most")
        head, found, content = part.partition(b"\r\n\r\n")
        headers = BytesHeaderParser().parsebytes(head.lstrip(b"\r\n"))
        name = headers.get_param("name", header="content-disposition")
        if not found or not isinstance(name, str):
            raise HttpProblem("malformed", "a part of multipart/form-data has a name and content")
        if name == _EVENT_PART:
            event = object_of(content)
        else:
            encoded = base64.b64encode(content).decode()
            files[name] = f"data:{headers.get_content_type()};base64,{encoded}"
    if not event and not files:
        raise HttpProblem("malformed", "multipart/form-data has a part 'event', or files, or both")
    return {**event, **files}
