"""Writes what the server logs to standard error: for people, or a line of JSON each for programs.

What looks like a ticket, a key or a secret is left out, whoever wrote it into a message.
"""

from __future__ import annotations

import json
import logging
import re
import time
from datetime import UTC, datetime
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tamis.log import log

FORMS = ("text", "json")
_SOURCES = ("tamis", "uvicorn.error")
_SECRET = re.compile(
    r"whsec_[\w+/=-]*|(?i:bearer)\s+[^\s\"']+|(?<![\w-])[\w-]{43}(?![\w-])|data:[^\s\"']{64,}"
)


def without_secrets(text: str) -> str:
    """Returns a text without what nobody should read in a log."""
    return _SECRET.sub("…", text)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


class _Lines(logging.Formatter):
    """A line of JSON for each record."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
            **getattr(record, "said", {}),
        }
        if record.exc_info:
            line["exception"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(line)


def write_journal(form: str) -> None:
    """Writes what is logged from now on; as JSON also each request."""
    handler = logging.StreamHandler()
    if form == "json":
        handler.setFormatter(_Lines())
        log.setLevel(logging.INFO)
    else:
        handler.setFormatter(_Text("%(levelname)s: %(message)s"))
        handler.setLevel(logging.WARNING)
    for name in _SOURCES:
        logging.getLogger(name).addHandler(handler)


def request_journal(app: ASGIApp) -> ASGIApp:
    """Returns an application that logs each request by its route: an address may hold what nobody
    should read."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not log.isEnabledFor(logging.INFO):
            await app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await app(scope, receive, sent)
        finally:
            said = {
                "method": scope["method"],
                "route": getattr(scope.get("route"), "path", None),
                "status": status,
                "seconds": round(time.perf_counter() - began, 6),
            }
            log.info("request", extra={"said": said})

    return serve
