"""Refuses events while too much waits, before it reads them, so that refusing costs little.

What comes faster than an event loop works is not seen by it: it waits in sockets. How late the loop
is with a timer says so. Cost: a timer twenty times a second, and a comparison a request.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

if TYPE_CHECKING:
    from tamis.server.service import Service

_EVERY_SECONDS = 0.05
MOST_LATE_SECONDS = 0.25
SMALL_BYTES = 64 * 1024
"""Larger bodies are read first: who is still sending one would not read the answer."""


class Lateness:
    """Tells how late the running event loop is with what it has to do."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._before = 0.0
        self._due = self._loop.time()
        self._look()

    def _look(self) -> None:
        self._before = self._loop.time() - self._due
        self._due = self._loop.time() + _EVERY_SECONDS
        self._loop.call_later(_EVERY_SECONDS, self._look)

    @property
    def seconds(self) -> float:
        """Returns how late it is now and was before: what holds it up once is no overload."""
        return max(0.0, min(self._before, self._loop.time() - self._due))


def full_queues(app: ASGIApp, service: Service) -> ASGIApp:
    """Returns an application that answers 429 to events that come while too much waits, without
    reading them; such a request counts as one event."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        problem = service.overload() if _is_small_event(scope) else None
        if problem is not None:
            service.counts.update(("offered", "shed"))
        await (app if problem is None else problem.response())(scope, receive, send)

    return serve


def _is_small_event(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["path"] != "/events" or scope["method"] != "POST":
        return False
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return lengths[:1] != [] and lengths[0].isdigit() and int(lengths[0]) <= SMALL_BYTES
