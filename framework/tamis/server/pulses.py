"""Wakens who waits for deliveries of a subscription, or for a verdict; nobody else.

Invariant: who clears its watch, reads and then waits misses nothing that is committed afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Hashable, Iterable, Iterator

EVERYTHING = "everything"


class Pulses:
    """Holds what is watched, in one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._watches: dict[Hashable, set[asyncio.Event]] = {}
        self.ended = False
        """Whether the server is ending, and nobody should wait any more."""

    @contextlib.contextmanager
    def watch(self, what: Hashable) -> Iterator[asyncio.Event]:
        """Gives an event that is set whenever something comes of what is watched, and at the
        end."""
        watch = asyncio.Event()
        self._watches.setdefault(what, set()).add(watch)
        try:
            yield watch
        finally:
            watches = self._watches[what]
            watches.discard(watch)
            if not watches:
                del self._watches[what]

    def notify(self, what: Iterable[Hashable]) -> None:
        """Tells that something came; from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits
            self._loop.call_soon_threadsafe(self._set, {EVERYTHING, *what})

    def _set(self, what: Iterable[Hashable]) -> None:
        for each in what:
            for watch in self._watches.get(each, ()):
                watch.set()

    def end(self) -> None:
        """Wakens everybody, for the last time; from any thread."""
        self.ended = True
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._set_all)

    def _set_all(self) -> None:
        self._set(list(self._watches))


async def waited(watch: asyncio.Event, seconds: float) -> bool:
    """Waits until a watch is set, for so long at most; whether it was."""
    try:
        await asyncio.wait_for(watch.wait(), max(0.0, seconds))
    except TimeoutError:
        return False
    return True
