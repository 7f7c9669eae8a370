"""Gives the results of events as they come, for `async for`: events in flight, calls in a thread.

Invariant: at most `in_flight` events are read ahead; results come in the order of the events.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping
from typing import Any, TypeVar

from tamis.engine.window import EventInFlight, Window

R = TypeVar("R")
Events = Iterable[Mapping[str, Any]] | AsyncIterable[Mapping[str, Any]]


async def results(
    window: Window[R],
    begin: Callable[[Mapping[str, Any]], EventInFlight[R]],
    events: Events,
) -> AsyncIterator[R]:
    """Yields the results of events in their order."""
    coming = _ComingEvents(events)
    try:
        while True:
            if not window.is_full and await coming.within(await _patience(window)):
                try:
                    pending = await asyncio.to_thread(begin, coming.take())
                except Exception:
                    while len(window):  # what had begun comes first
                        yield await asyncio.to_thread(window.pop)
                    raise
                window.add(pending)
            elif len(window):
                if not window.is_ready:
                    await asyncio.to_thread(window.step)
                while len(window) and window.is_ready:
                    yield await asyncio.to_thread(window.pop)
            elif coming.has_ended:
                return
    finally:
        await coming.close()


async def _patience(window: Window[R]) -> float | None:
    """Returns how long to wait for one more event before anything is done; `None` is for ever."""
    if not len(window):
        return None
    if window.is_ready:
        return 0.0
    return await asyncio.to_thread(window.wait_seconds)


class _ComingEvents:
    """Awaits coming events, one at a time."""

    def __init__(self, events: Events) -> None:
        self.has_ended = False
        self._events = aiter(events) if isinstance(events, AsyncIterable) else _asynchronous(events)
        self._next: asyncio.Future[Mapping[str, Any]] | None = None

    async def within(self, seconds: float | None) -> bool:
        """Returns whether one more event comes within so many seconds."""
        if self.has_ended:
            return False
        if self._next is None:
            self._next = asyncio.ensure_future(anext(self._events))
        await asyncio.wait([self._next], timeout=seconds)
        if self._next.done() and isinstance(self._next.exception(), StopAsyncIteration):
            self._next, self.has_ended = None, True
        return self._next is not None and self._next.done()

    def take(self) -> Mapping[str, Any]:
        """Returns the event that came, or raises what came in its place."""
        assert self._next is not None
        came, self._next = self._next, None
        return came.result()

    async def close(self) -> None:
        """Gives up the awaited event."""
        if self._next is not None:
            self._next.cancel()
            await asyncio.gather(self._next, return_exceptions=True)


async def _asynchronous(events: Iterable[Mapping[str, Any]]) -> AsyncIterator[Mapping[str, Any]]:
    """Yields events one by one; other tasks of the loop get a turn."""
    for event in events:
        yield event
        await asyncio.sleep(0)
