"""How operators are called: measured, bounded, and with every failure made *unknown with a reason*.

Nothing an operator does reaches the engine but an `Answer`: a truth, or checked solutions, or a
failure.
"""

from __future__ import annotations

import inspect
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, NamedTuple

from tamis.engine.asking import Call, Solution
from tamis.event import Event, EventView
from tamis.limits import Limits
from tamis.specification import Preparation, Specification
from tamis.values import Scalar, as_scalar

RAISED, TIMED_OUT, NONSENSE, CUT = "raised", "timed out", "nonsense", "cut"
_MESSAGE = 500
_MOST_LATE = 32
_GRACE = 0.1


class Failure(NamedTuple):
    """Why something is unknown: the kind of failure, and its message."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class Answer(NamedTuple):
    """What a call gave: a truth, solutions (`cut` when there were too many), or a failure."""

    truth: bool = False
    solutions: list[Solution] | None = None
    failure: Failure | None = None
    cut: bool = False
    seconds: float = 0.0


class NonsenseError(Exception):
    """An answer that is none."""


class Asking:
    """One event being asked about: its views and its preparations, each made once."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self.prepared: dict[int, object | Failure] = {}
        self._views: dict[tuple[tuple[str, ...] | None, int], EventView] = {}

    def view(self, specification: Specification) -> EventView:
        """What the operator sees; with the outcome of its preparation."""
        preparation = specification.preparation
        if preparation is None:
            return self.event.view(specification.visible)
        key = (specification.visible, id(preparation))
        view = self._views.get(key)
        if view is None:
            view = self._views[key] = EventView(self.event, specification.visible)
            view.prepared = self.prepared[id(preparation)]
        return view


class Gateway:
    """The only way to an operator."""

    def __init__(self, limits: Limits, timer: Callable[[], float] = time.perf_counter) -> None:
        self._limits = limits
        self._timer = timer
        self._lanes = _Lanes()
        self._lock = threading.Lock()
        self._throttles: dict[str, _Throttle] = {}

    def call(self, call: Call, asking: Asking) -> Answer:
        """Makes a call about an event."""
        specification = call.specification
        started = self._timer()
        if specification.preparation is not None:
            failure = self._prepare(specification.preparation, asking)
            if failure is not None:
                return Answer(failure=failure, seconds=self._timer() - started)
        try:
            view = asking.view(specification)
            raw = self._raw(call, view)
            if call.width == 0:
                truth = raw if type(raw) is bool else _truth(raw)
                return Answer(truth, seconds=self._timer() - started)
            solutions, cut = raw
            return Answer(False, solutions, None, cut, self._timer() - started)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            return Answer(failure=failure_of(problem), seconds=self._timer() - started)

    def _raw(self, call: Call, view: EventView) -> Any:
        """What the operator gives, where it runs: here or in a thread."""
        specification = call.specification
        throttle = None
        if specification.concurrency or specification.calls_per_second:
            throttle = self._throttle(specification)
            throttle.enter(specification.timeout)

        def work() -> Any:
            try:
                return self._solved(call, view)
            finally:
                if throttle is not None:
                    throttle.leave()

        timeout = specification.timeout
        if call.asynchronous:
            # a loop of the lane's own: what blocks or ends it harms no other call
            return self._lanes.run(work, timeout, specification.name, _GRACE)
        if timeout is None and specification.isolation == "inline":
            return work()
        return self._lanes.run(work, timeout, specification.name)

    def _solved(self, call: Call, view: EventView) -> Any:
        """The raw truth, or the checked solutions: generators run where the operator runs."""
        raw = call.operator.solve(view, *call.arguments)
        if inspect.iscoroutine(raw):
            raw = _awaited(raw, call.specification.timeout)
        if call.width:
            return checked_solutions(raw, call.width, self._limits.solutions)
        return raw

    def _prepare(self, preparation: Preparation, asking: Asking) -> Failure | None:
        key = id(preparation)
        if key not in asking.prepared:
            try:
                view = asking.event.view(preparation.inputs)
                asking.prepared[key] = (
                    preparation.prepare(view)
                    if preparation.timeout is None
                    else self._lanes.run(
                        lambda: preparation.prepare(view), preparation.timeout, preparation.name
                    )
                )
            except KeyboardInterrupt:
                raise
            except BaseException as problem:
                asking.prepared[key] = failure_of(problem)
        prepared = asking.prepared[key]
        return prepared if isinstance(prepared, Failure) else None

    def _throttle(self, specification: Specification) -> _Throttle:
        with self._lock:
            return self._throttles.setdefault(specification.name, _Throttle(specification))


class _Throttle:
    """At most so many calls at once, and so many a second."""

    def __init__(self, specification: Specification) -> None:
        limit = specification.concurrency
        self._room = threading.Semaphore(limit) if limit else None
        rate = specification.calls_per_second
        self._gap = 1 / rate if rate else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def enter(self, timeout: float | None) -> None:
        """Waits for a place, as long as the call may take; a call that is late keeps its place."""
        if self._room is not None and not self._room.acquire(timeout=timeout):
            raise _LateError(f"no place among the calls that may run at once within {timeout} s")
        if self._gap:
            with self._lock:
                now = time.monotonic()
                wait = max(0.0, self._next - now)
                self._next = max(now, self._next) + self._gap
            time.sleep(wait)

    def leave(self) -> None:
        """Gives the place back."""
        if self._room is not None:
            self._room.release()


class _Lanes:
    """Worker threads for calls with a deadline; one that is late is left behind and replaced.

    An operator that has left too many behind is not called until one of them ends."""

    def __init__(self) -> None:
        self._idle: queue.SimpleQueue[queue.SimpleQueue[Any]] = queue.SimpleQueue()
        self._late: Counter[str] = Counter()
        self._lock = threading.Lock()

    def run(
        self, work: Callable[[], Any], timeout: float | None, name: str, grace: float = 0.0
    ) -> Any:
        """The result of the work, or its exception, or that it is late."""
        if self._late[name] >= _MOST_LATE:
            raise _LateError(f"{self._late[name]} earlier calls of {name} have not ended yet")
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


def _awaited(coroutine: Coroutine[Any, Any, Any], timeout: float | None) -> Any:
    """The result of an `async` operator, on the event loop of this thread; cancelled when late."""
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
        loop.run_until_complete(asyncio.wait({task}, timeout=_GRACE))
        raise late(timeout)
    result, problem = task.result()
    if problem is not None:
        raise problem
    return result


async def _caught(coroutine: Coroutine[Any, Any, Any]) -> tuple[Any, BaseException | None]:
    """The result of a coroutine or what it raised, which so never reaches the loop."""
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


class _LateError(Exception):
    """A call that passed its deadline."""


def late(timeout: float | None) -> _LateError:
    """The error of a call that passed its deadline."""
    return _LateError(f"no answer within {timeout} s")


def failure_of(problem: BaseException) -> Failure:
    """An exception as a reason."""
    if isinstance(problem, _LateError):
        return Failure(TIMED_OUT, str(problem))
    if isinstance(problem, NonsenseError):
        return Failure(NONSENSE, str(problem))
    try:
        message = str(problem)
    except KeyboardInterrupt:
        raise
    except BaseException as broken:
        message = f"(its message cannot be shown: {type(broken).__name__})"
    name = type(problem).__name__
    return Failure(RAISED, (f"{name}: {message}" if message else name)[:_MESSAGE])


def _truth(raw: object) -> bool:
    """A bool of NumPy's, or nonsense."""
    dtype = getattr(raw, "dtype", None)
    if (
        dtype is not None
        and getattr(dtype, "kind", "") == "b"
        and getattr(raw, "shape", None) == ()
    ):
        return bool(raw)
    raise NonsenseError(f"expected a bool, got {_shown(raw)}")


def checked_solutions(raw: object, width: int, limit: int) -> tuple[list[Solution], bool]:
    """The solutions as tuples of scalars, and whether there were more than the limit."""
    if isinstance(raw, (str, bytes, bytearray, Mapping)) or not isinstance(raw, Iterable):
        raise NonsenseError(f"expected solutions (a list), got {_shown(raw)}")
    solutions: list[Solution] = []
    for each in raw:
        if len(solutions) == limit:
            return solutions, True
        if width == 1 and type(each) in _PLAIN:
            value = as_scalar(each)
            if value is None:
                raise NonsenseError("a solution is NaN")
            solutions.append((value,))
        else:
            solutions.append(_solution(each, width))
    return solutions, False


_PLAIN = frozenset((bool, int, float, str))


def _solution(raw: Any, width: int) -> Solution:
    if hasattr(raw, "tolist") and getattr(raw, "ndim", 0) == 1:
        raw = raw.tolist()
    values = raw if isinstance(raw, (tuple, list)) else (raw,)
    if len(values) != width:
        raise NonsenseError(
            f"expected {width} value{'s' * (width > 1)} a solution, got {_shown(raw)}"
        )
    return tuple(_scalar(value) for value in values)


def _scalar(value: object) -> Scalar:
    scalar = as_scalar(value)
    if scalar is None:
        raise NonsenseError(f"a value of a solution is no scalar: {_shown(value)}")
    return scalar


def _shown(value: object) -> str:
    try:
        words = repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:
        words = f"a {type(value).__name__}"
    return words if len(words) <= 80 else words[:79] + "…"
