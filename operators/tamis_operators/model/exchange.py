"""Sends one request to a model and takes its reply, bounded in bytes and in seconds.

What may pass (429, 408, 5xx, a broken or late connection) is a `tamis.Transient`, with the seconds
of `Retry-After`; everything else is a failure in one line. Redirections are not followed, for the
key is meant for one server; no message holds the key.
Cost: a connection a request.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import math
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, NoReturn

from tamis import Transient
from tamis_operators.model.endpoint import KEY, Endpoint
from tamis_operators.model.usage import count

_MOST_BYTES, _CHUNK, _SHOWN = 4 << 20, 1 << 16, 200
_LATER = (408, 425, 429)


def exchanged(endpoint: Endpoint, operator: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the reply to a request, as an object; it is counted whatever comes of it."""
    reply = None
    try:
        reply = _reply(endpoint, json.dumps(body).encode())
    finally:
        count(endpoint, operator, reply)
    return reply


def _reply(endpoint: Endpoint, content: bytes) -> dict[str, Any]:
    ends = time.monotonic() + endpoint.attempt_seconds
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    key = endpoint.key.read()
    if key:
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(endpoint.address, content, headers, method="POST")
    try:
        with _opener(endpoint).open(request, timeout=endpoint.attempt_seconds) as answer:
            text = _read(answer, ends)
    except urllib.error.HTTPError as refusal:
        with refusal:
            _refuse(endpoint, refusal, ends)
    except http.client.InvalidURL:
        raise ValueError(f"{endpoint.shown} is not an address") from None
    except (OSError, http.client.HTTPException) as problem:
        _break(endpoint, problem)
    if key and key in text:
        raise ValueError("the reply of the model holds the key, and is not read")
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"the model's reply is not JSON: {_line(text)}") from None
    if not isinstance(reply, dict):
        raise ValueError(f"the model's reply is not an object of JSON: {_line(text)}")
    return reply


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _opener(endpoint: Endpoint) -> urllib.request.OpenerDirector:
    proxies = [urllib.request.ProxyHandler({})] if endpoint.is_here else []
    return urllib.request.build_opener(_NoRedirection(), *proxies)


def _read(answer: Any, ends: float) -> str:
    """Reads an answer that comes in time, is not too long, and ends where it should."""
    parts, size = [], 0
    while part := answer.read1(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > _MOST_BYTES:
            raise ValueError(f"the model's reply has more than {_MOST_BYTES:,} bytes")
        if time.monotonic() > ends:
            raise TimeoutError
    if answer.length:
        raise ConnectionError("the reply was cut off")
    return b"".join(parts).decode("utf-8", "replace")


def _refuse(endpoint: Endpoint, refusal: urllib.error.HTTPError, ends: float) -> NoReturn:
    """Raises what a status says that is not 200."""
    try:
        told = _message(_read(refusal.fp, ends))
    except (OSError, ValueError, AttributeError, http.client.HTTPException):
        told = ""
    said = _line(endpoint.key.hidden(told))
    message = f"the model's server answered {refusal.code}{said and f': {said}'}"
    if refusal.code in _LATER or refusal.code >= 500:
        raise Transient(message, _seconds(refusal.headers.get("Retry-After"))) from None
    if refusal.code in (401, 403):
        message += f" ({KEY} is the key where no other is given)"
    raise ValueError(message) from None


def _message(text: str) -> str:
    """Returns a server's error message, from its JSON or as it is."""
    try:
        error = json.loads(text)["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, LookupError, TypeError, RecursionError):
        return text


def _break(endpoint: Endpoint, problem: Exception) -> NoReturn:
    """Raises what became of a connection."""
    reason = getattr(problem, "reason", problem)
    if isinstance(reason, ssl.SSLCertVerificationError):
        raise ValueError(f"{endpoint.shown} is not trusted: {reason.verify_message}") from None
    if isinstance(reason, TimeoutError):
        raise Transient(f"the model did not answer in {endpoint.attempt_seconds:g} s") from None
    told = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    told = _line(endpoint.key.hidden(told))
    raise Transient(f"no answer of the model at {endpoint.shown}: {told}") from None


def _seconds(given: str | None) -> float | None:
    """Returns the seconds of a `Retry-After`: a number, or the moment of a date."""
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(given).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _line(text: str) -> str:
    return " ".join(text[: 4 * _SHOWN].split())[:_SHOWN]
