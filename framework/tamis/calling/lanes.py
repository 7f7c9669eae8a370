"""Runs calls that may be late: in threads with deadlines, `async` ones on loops of their own."""

from __future__ import annotations

import os
import queue
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

GRACE = 0.1
_MOST_LATE = 32


class Lanes:
    """Worker threads for calls with a deadline; one that is late is left behind and replaced.

    An operator that has left too many behind is not called until one of them ends."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        """Begins without lanes; after a fork too, which takes no threads along."""
        self._process = os.getpid()
        self._idle: queue.SimpleQueue[queue.SimpleQueue[Any]] = queue.SimpleQueue()
        self._late: Counter[str] = Counter()
        self._lock = threading.Lock()

    def check(self, name: str) -> None:
        """Raises `NoPlaceError` where too many calls of an operator were left behind."""
        if self._process != os.getpid():
            self._begin()
        if self._late and self._late[name] >= _MOST_LATE:
            raise NoPlaceError(f"{self._late[name]} earlier calls of {name} have not ended yet")

    def run(
        self, work: Callable[[], Any], timeout: float | None, name: str, grace: float = 0.0
    ) -> Any:
        """Returns the result of the work, or its exception, or that it is late."""
        self.check(name)
        try:
            lane = self._idle.get_nowait()
        except queue.Empty:
            lane = queue.SimpleQueue()
            threading.Thread(
                target=self._serve, args=(lane,), name="tamis-lane", daemon=True
            ).start()
        errand = _Errand(work, name)
        lane.put(errand)
        try:
            result, problem = errand.outcome.get(timeout=timeout and timeout + grace)
        except queue.Empty:
            with self._lock:
                if not errand.done:
                    errand.late = True
                    self._late[name] += 1
            raise late(timeout) from None
        if problem is not None:
            raise problem
        return result

    def _serve(self, lane: queue.SimpleQueue[Any]) -> None:
        while True:
            errand = lane.get()
            done: tuple[Any, BaseException | None]
            try:
                done = (errand.work(), None)
            except BaseException as problem:
                done = (None, problem)
            with self._lock:
                errand.done = True
                self._late[errand.name] -= errand.late
            self._idle.put(lane)
            errand.outcome.put(done)
            del errand, done


_loops = threading.local()


def awaited(coroutine: Coroutine[Any, Any, Any], timeout: float | None) -> Any:
    """Awaits the result of an `async` operator on this thread's loop; cancels it when late."""
    import asyncio

    loop = getattr(_loops, "loop", None)
    if loop is None or loop.is_closed():
        loop = _loops.loop = asyncio.new_event_loop()
    task = loop.create_task(_caught(coroutine))
    try:
        loop.run_until_complete(asyncio.wait({task}, timeout=timeout))
    except BaseException:
        _loops.loop = None
        raise
    if not task.done():
        task.cancel()
        loop.run_until_complete(asyncio.wait({task}, timeout=GRACE))
        raise late(timeout)
    result, problem = task.result()
    if problem is not None:
        raise problem
    return result


async def _caught(coroutine: Coroutine[Any, Any, Any]) -> tuple[Any, BaseException | None]:
    """Returns the result of a coroutine or what it raised, which so never reaches the loop."""
    try:
        return await coroutine, None
    except BaseException as problem:
        return None, problem


class _Errand:
    """A call on its way through a lane."""

    def __init__(self, work: Callable[[], Any], name: str) -> None:
        self.work = work
        self.name = name
        self.outcome: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self.done = self.late = False


class LateError(Exception):
    """A call that passed its deadline."""


class NoPlaceError(LateError):
    """A call that was not begun in time."""


def late(timeout: float | None) -> LateError:
    """Returns the error of a call that passed its deadline."""
    return LateError(f"no answer within {timeout} s")
