"""How operators are called: measured, bounded, and with every failure made *unknown with a reason*.

Nothing an operator does reaches the engine but an `Answer`: a truth, or checked solutions, or a
failure. Calls of one batch are one invocation; whether they are asked together never changes an
answer: what fails together is asked again one by one.
"""

from __future__ import annotations

import inspect
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from tamis.engine.asking import Call, Solution
from tamis.engine.lanes import GRACE, Lanes, LateError, Throttle, awaited
from tamis.errors import PluginWarning
from tamis.event import Event, EventView
from tamis.limits import Limits
from tamis.specification import Preparation, Specification
from tamis.values import Scalar, as_scalar

RAISED, TIMED_OUT, NONSENSE, CUT = "raised", "timed out", "nonsense", "cut"
_MESSAGE = 500
_MOST_FAILED = 3


class Failure(NamedTuple):
    """Why something is unknown: the kind of failure, and its message."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class Preparing(NamedTuple):
    """A preparation that was made, and what that took."""

    preparation: Preparation
    seconds: float


class Answer(NamedTuple):
    """What a call gave: a truth, solutions (`cut` when there were too many), or a failure."""

    truth: bool = False
    solutions: list[Solution] | None = None
    failure: Failure | None = None
    cut: bool = False
    seconds: float = 0.0
    """What the call took by itself; of an invocation of several, an equal part."""
    prepared: tuple[Preparing, ...] = ()
    """What was prepared because this call was the first to need it."""
    together: int = 1
    """How many calls the invocation made."""

    @property
    def whole_seconds(self) -> float:
        """What it took altogether."""
        return self.seconds + sum(each.seconds for each in self.prepared)


class NonsenseError(Exception):
    """An answer that is none."""


class Asking:
    """One event being asked about: its views and its preparations, each made once."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self.prepared: dict[int, Prepared] = {}
        self._views: dict[tuple[tuple[str, ...] | None, int], EventView] = {}
        self._lock = threading.Lock()

    def view(self, specification: Specification) -> EventView:
        """What the operator sees; with the outcome of its preparation."""
        preparation = specification.preparation
        if preparation is None:
            return self.event.view(specification.visible)
        key = (specification.visible, id(preparation))
        view = self._views.get(key)
        if view is None:
            view = EventView(self.event, specification.visible)
            view.prepared = self.prepared[id(preparation)].value
            self._views[key] = view
        return view

    def before(self, preparation: Preparation) -> EventView:
        """What a preparation sees; with what the one gave that it builds on."""
        if preparation.after is None:
            return self.event.view(preparation.visible)
        view = EventView(self.event, preparation.visible)
        view.prepared = self.prepared[id(preparation.after)].value
        return view

    def preparing(self, preparation: Preparation) -> Prepared:
        """The place of what a preparation gives."""
        with self._lock:
            return self.prepared.setdefault(id(preparation), Prepared(preparation))


class Prepared:
    """What a preparation gave for an event, made by the first who needs it."""

    def __init__(self, preparation: Preparation) -> None:
        self.preparation = preparation
        self.value: object | Failure = None
        self._made = False
        self._lock = threading.Lock()

    def make(self, make: Callable[[], object], timer: Callable[[], float]) -> float | None:
        """Makes it; how long it took, `None` where somebody had made it before."""
        with self._lock:
            if self._made:
                return None
            started = timer()
            try:
                self.value = make()
            except KeyboardInterrupt:
                raise
            except BaseException as problem:
                self.value = failure_of(problem)
            self._made = True
            return timer() - started


class Gateway:
    """The only way to an operator."""

    def __init__(self, limits: Limits, timer: Callable[[], float] = time.perf_counter) -> None:
        self._limits = limits
        self._timer = timer
        self._lanes = Lanes()
        self._lock = threading.Lock()
        self._throttles: dict[str, Throttle] = {}
        self._failed_together: Counter[str] = Counter()

    def call(self, call: Call, asking: Asking) -> Answer:
        """Makes a call about an event."""
        prepared, failure = self._prepare(call.specification, asking)
        if failure is not None:
            return Answer(failure=failure, prepared=prepared)
        started = self._timer()
        try:
            view = asking.view(call.specification)
            raw = self._run(call, lambda: self._solved(call, view))
            if call.width == 0:
                truth = raw if type(raw) is bool else _truth(raw)
                return Answer(truth, None, None, False, self._timer() - started, prepared)
            solutions, cut = raw
            return Answer(False, solutions, None, cut, self._timer() - started, prepared)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            seconds = self._timer() - started
            return Answer(False, None, failure_of(problem), False, seconds, prepared)

    def call_together(self, calls: Sequence[Call], asking: Asking) -> list[Answer]:
        """Makes calls of one batch about an event as one invocation."""
        first, specification = calls[0], calls[0].specification
        if len(calls) == 1 or self._failed_together[specification.name] >= _MOST_FAILED:
            return [self.call(call, asking) for call in calls]
        prepared, failure = self._prepare(specification, asking)
        if failure is not None:
            return _first_prepared([Answer(failure=failure) for _ in calls], prepared)
        started = self._timer()
        try:
            view = asking.view(specification)
            answers = self._run(first, lambda: self._solved_together(calls, view), len(calls))
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            self._note_failed_together(specification.name, failure_of(problem))
            return _first_prepared([self.call(call, asking) for call in calls], prepared)
        self._failed_together.pop(specification.name, None)
        seconds = (self._timer() - started) / len(calls)
        answers = [answer._replace(seconds=seconds, together=len(calls)) for answer in answers]
        return _first_prepared(answers, prepared)

    def _note_failed_together(self, name: str, failure: Failure) -> None:
        """Warns of a `solve_many` that fails; one that always does is not used any more."""
        self._failed_together[name] += 1
        if self._failed_together[name] in (1, _MOST_FAILED):
            words = "this time" if self._failed_together[name] == 1 else "from now on"
            warnings.warn(
                f"solve_many of {name} failed ({failure}): its calls are made one by one {words}",
                PluginWarning,
                stacklevel=2,
            )

    def _run(self, call: Call, solve: Callable[[], Any], calls: int = 1) -> Any:
        """What the operator gives, where it runs: here or in a thread."""
        specification = call.specification
        timeout = specification.timeout and specification.timeout * calls
        throttle = None
        if specification.concurrency or specification.calls_per_second:
            throttle = self._throttle(specification)
            throttle.enter(timeout)

        def work() -> Any:
            try:
                return solve()
            finally:
                if throttle is not None:
                    throttle.leave()

        if call.asynchronous if calls == 1 else call.asynchronous_together:
            # a loop of the lane's own: what blocks or ends it harms no other call
            return self._lanes.run(work, timeout, specification.name, GRACE)
        if timeout is None and specification.isolation == "inline":
            return work()
        return self._lanes.run(work, timeout, specification.name)

    def _solved(self, call: Call, view: EventView) -> Any:
        """The raw truth, or the checked solutions: generators run where the operator runs."""
        raw = call.operator.solve(view, *call.arguments)
        if inspect.iscoroutine(raw):
            raw = awaited(raw, call.specification.timeout)
        if call.width:
            return checked_solutions(raw, call.width, self._limits.solutions)
        return raw

    def _solved_together(self, calls: Sequence[Call], view: EventView) -> list[Answer]:
        """The answer to each call; an exception in its place is its failure."""
        timeout = calls[0].specification.timeout
        raw: Any = calls[0].operator.solve_many(view, [call.arguments for call in calls])
        if inspect.iscoroutine(raw):
            raw = awaited(raw, timeout and timeout * len(calls))
        if isinstance(raw, (str, bytes, Mapping)) or not isinstance(raw, Iterable):
            raise NonsenseError(f"expected {len(calls)} answers (a list), got {_shown(raw)}")
        found = list(raw)
        if len(found) != len(calls):
            raise NonsenseError(f"expected {len(calls)} answers, got {len(found)}")
        return [self._answer(call, each) for call, each in zip(calls, found, strict=True)]

    def _answer(self, call: Call, raw: Any) -> Answer:
        try:
            if isinstance(raw, BaseException):
                return Answer(failure=failure_of(raw))
            if call.width == 0:
                return Answer(raw if type(raw) is bool else _truth(raw))
            solutions, cut = checked_solutions(raw, call.width, self._limits.solutions)
            return Answer(False, solutions, None, cut)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            return Answer(failure=failure_of(problem))

    def _prepare(
        self, specification: Specification, asking: Asking
    ) -> tuple[tuple[Preparing, ...], Failure | None]:
        """Sees to it that all is prepared: what was made here for it, and the failure."""
        made: tuple[Preparing, ...] = ()
        for preparation in specification.preparations:
            prepared = asking.preparing(preparation)
            seconds = prepared.make(partial(self._made, preparation, asking), self._timer)
            if seconds is not None:
                made = (*made, Preparing(preparation, seconds))
            if isinstance(prepared.value, Failure):
                return made, prepared.value
        return made, None

    def _made(self, preparation: Preparation, asking: Asking) -> object:
        """What a preparation gives, where it runs: here or in a thread."""
        view = asking.before(preparation)
        if preparation.timeout is None:
            return preparation.prepare(view)
        return self._lanes.run(
            lambda: preparation.prepare(view), preparation.timeout, preparation.name
        )

    def _throttle(self, specification: Specification) -> Throttle:
        with self._lock:
            return self._throttles.setdefault(specification.name, Throttle(specification))


def _first_prepared(answers: list[Answer], prepared: tuple[Preparing, ...]) -> list[Answer]:
    """The answers of which the first paid for what was prepared."""
    if prepared:
        answers[0] = answers[0]._replace(prepared=prepared)
    return answers


def failure_of(problem: BaseException) -> Failure:
    """An exception as a reason."""
    if isinstance(problem, LateError):
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
