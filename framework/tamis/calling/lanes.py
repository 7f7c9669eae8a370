"""Runs calls that may be late: in threads with deadlines, `async` ones on loops of their own."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

GRACE = 0.1
_MOST_LATE = 32


class Lanes:
    """Worker threads for calls with a deadline; one that is late is left behind and replaced.

    An operator that has left too many behind is not called until one of them ends. Threads end with
    `close()`, or when nobody holds this any more, each after what it is doing."""

    def __init__(self) -> None:
        self._begin(_LanePool())

    def _begin(self, pool: _LanePool) -> None:
        self._pool = pool
        self._end = weakref.finalize(self, pool.end)
        self._end.atexit = False

    def close(self) -> None:
        """Ends the threads; work that is handed in later begins new ones."""
        end = self._end
        self._begin(_LanePool(self._pool))
        end()

    def check(self, name: str) -> None:
        """Raises `NoPlaceError` where too many calls of an operator were left behind."""
        if self._pool.process != os.getpid():
            self._begin(_LanePool())  # a fork takes no threads along
        late = self._pool.late
        if late and late[name] >= _MOST_LATE:
            raise NoPlaceError(f"{late[name]} earlier calls of {name} have not ended yet")

    def run(
        self, work: Callable[[], Any], timeout: float | None, name: str, grace: float = 0.0
    ) -> Any:
        """Returns the result of the work, or its exception, or that it is late."""
        self.check(name)
        pool = self._pool
        errand = _Errand(work, name)
        pool.lane().put(errand)
        try:
            result, problem = errand.outcome.get(timeout=timeout and timeout + grace)
        except queue.Empty:
            with pool.lock:
                errand.late = not errand.done
                pool.late[name] += errand.late
            if errand.late:
                raise late(timeout) from None
            result, problem = errand.outcome.get()  # there, when who waits was held up itself
        if problem is not None:
            raise problem
        return result


class _LanePool:
    """The state that threads share; they hold this and not its owner, so that they end with it.

    Who takes a lane from those that idle is the only one to put something into it."""

    def __init__(self, before: _LanePool | None = None) -> None:
        self.process = os.getpid()
        self.ended = False
        self.idle: queue.SimpleQueue[_Lane] = queue.SimpleQueue()
        self.late: Counter[str] = Counter() if before is None else before.late
        self.lock: threading.Lock = threading.Lock() if before is None else before.lock

    def lane(self) -> _Lane:
        """Returns a lane that nobody else has."""
        try:
            return self.idle.get_nowait()
        except queue.Empty:
            lane: _Lane = queue.SimpleQueue()
            threading.Thread(
                target=_serve, args=(lane, self), name="tamis-lane", daemon=True
            ).start()
            return lane

    def end(self) -> None:
        """Ends the threads that idle, and the others once they do; without the lock, for garbage is
        collected at any moment."""
        self.ended = True
        with contextlib.suppress(queue.Empty):
            while True:
                self.idle.get_nowait().put(None)


def _serve(lane: _Lane, pool: _LanePool) -> None:
    """Runs as a thread of a pool."""
    while (errand := lane.get()) is not None:
        done: tuple[Any, BaseException | None]
        try:
            done = (errand.work(), None)
        except BaseException as problem:
            done = (None, problem)
        with pool.lock:
            errand.done = True
            pool.late[errand.name] -= errand.late
        pool.idle.put(lane)
        errand.outcome.put(done)
        del errand, done
        if pool.ended:
            pool.end()
    loop = getattr(_loops, "loop", None)
    if loop is not None:
        loop.close()


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


_Lane = queue.SimpleQueue[_Errand | None]


class LateError(Exception):
    """A call that passed its deadline."""


class NoPlaceError(LateError):
    """A call that was not begun in time."""


def late(timeout: float | None) -> LateError:
    """Returns the error of a call that passed its deadline."""
    return LateError(f"no answer within {timeout} s")
