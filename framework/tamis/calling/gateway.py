"""How operators are called: measured, bounded, and with every failure made *unknown with a reason*.

Nothing an operator does reaches the engine but an `Answer`: a truth, or checked solutions, or a
failure. Calls of one batch are one invocation; whether they are asked together never changes an
answer: what fails together is asked again one by one.
"""

from __future__ import annotations

import itertools
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from tamis.calling.answers import (
    REFUSED,
    Answer,
    Failure,
    Preparing,
    failure_of,
)
from tamis.calling.breaker import Breakers, Key
from tamis.calling.isolation import Isolation
from tamis.calling.isolation.pool import Pool, Stay
from tamis.calling.lanes import GRACE, Lanes, LateError, NoPlaceError, Throttle
from tamis.calling.solving import solved, solved_together
from tamis.errors import PluginWarning
from tamis.event import Event, EventView
from tamis.limits import Limits
from tamis.operators import OperatorRecord
from tamis.operators.asking import Call
from tamis.operators.specification import PROCESS, Preparation, Specification

_MOST_FAILED = 3


class Asking:
    """One event being asked about: its views and its preparations, each made once."""

    _numbers = itertools.count()

    def __init__(self, event: Event) -> None:
        self.event = event
        self.number = next(self._numbers)
        """What worker processes know it by."""
        self._stays: dict[Pool, Stay] = {}
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

    def stay(self, pool: Pool) -> Stay:
        """Where it stays among the workers of a class."""
        stay = self._stays.get(pool)
        if stay is None:
            with self._lock:
                stay = self._stays.setdefault(pool, Stay(self.number))
        return stay


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

    def __init__(
        self,
        limits: Limits,
        timer: Callable[[], float] = time.perf_counter,
        clock: Callable[[], float] = time.time,
        records: Iterable[OperatorRecord] = (),
    ) -> None:
        self._limits = limits
        self._timer = timer
        self._lanes = Lanes()
        self._breakers = Breakers(limits, clock)
        self._isolation = Isolation(list(records), limits, timer, self._breakers)
        self._lock = threading.Lock()
        self._throttles: dict[str, Throttle] = {}
        self._failed_together: Counter[str] = Counter()

    def expect(self, record: OperatorRecord) -> None:
        """Begins what the calls of an operator will need, without waiting for it."""
        self._isolation.expect(record)

    def close(self) -> None:
        """Ends worker processes; calls that are made later begin new ones."""
        self._isolation.close()

    def call(self, call: Call, asking: Asking) -> Answer:
        """Makes a call about an event."""
        specification = call.specification
        if specification.isolation == PROCESS:
            answers, _ = self._isolated([call], asking)
            return answers[0]
        prepared, failure = self._prepare(specification, asking)
        if failure is not None:
            return Answer(failure=failure, prepared=prepared, made=failure.kind != REFUSED)
        started = self._timer()
        try:
            view = asking.view(specification)
            self._breakers.check(specification.name)
            found: Answer = self._run(call, lambda: solved(call, view, self._limits.solutions))
            self._breakers.note(specification.name, None)
            seconds = self._timer() - started
            return Answer(found.truth, found.solutions, None, found.cut, seconds, prepared)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            seconds = self._timer() - started
            failure = self._noted(specification.name, problem)
            made = failure.kind != REFUSED
            return Answer(False, None, failure, False, seconds, prepared, 1, made)

    def _noted(self, key: Key, problem: BaseException) -> Failure:
        """An exception as a reason, which a breaker is told of."""
        failure = failure_of(problem)
        if failure.kind != REFUSED and not isinstance(problem, NoPlaceError):
            self._breakers.note(key, failure)
        return failure

    def call_together(self, calls: Sequence[Call], asking: Asking) -> list[Answer]:
        """Makes calls of one batch about an event as one invocation."""
        first, specification = calls[0], calls[0].specification
        if len(calls) == 1 or self._failed_together[specification.name] >= _MOST_FAILED:
            return [self.call(call, asking) for call in calls]
        if specification.isolation == PROCESS:
            return self._isolated_together(calls, asking)
        prepared, failure = self._prepare(specification, asking)
        if failure is not None:
            made = failure.kind != REFUSED
            return _first_prepared([Answer(failure=failure, made=made) for _ in calls], prepared)
        started = self._timer()
        try:
            view = asking.view(specification)
            self._breakers.check(specification.name)
            most = self._limits.solutions
            answers = self._run(first, lambda: solved_together(calls, view, most), len(calls))
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            failure = self._noted(specification.name, problem)
            if failure.kind == REFUSED:
                refused = [Answer(failure=failure, made=False) for _ in calls]
                return _first_prepared(refused, prepared)
            self._note_failed_together(specification.name, failure)
            return _first_prepared([self.call(call, asking) for call in calls], prepared)
        self._breakers.note(specification.name, None)
        self._failed_together.pop(specification.name, None)
        seconds = (self._timer() - started) / len(calls)
        answers = [answer._replace(seconds=seconds, together=len(calls)) for answer in answers]
        return _first_prepared(answers, prepared)

    def _isolated(
        self, calls: Sequence[Call], asking: Asking, together: bool = False
    ) -> tuple[list[Answer], Failure | None]:
        """The answers of a worker process; with the failure of an invocation of several."""
        specification, throttle = calls[0].specification, None
        try:
            if specification.concurrency or specification.calls_per_second:
                throttle = self._throttle(specification)
                throttle.enter(self._limits.queue_seconds)
            try:
                outcome = self._isolation.call(calls, asking, together)
            finally:
                if throttle is not None:
                    throttle.leave()
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            return [Answer(failure=failure_of(problem)) for _ in calls], None
        seconds, count, failure = outcome.seconds / len(calls), len(calls), outcome.failure
        if failure is None:
            answers = [each._replace(seconds=seconds, together=count) for each in outcome.answers]
        else:
            made = failure.kind != REFUSED
            answers = [Answer(failure=failure, seconds=seconds, made=made) for _ in calls]
        return _first_prepared(answers, outcome.prepared), failure if outcome.answered else None

    def _isolated_together(self, calls: Sequence[Call], asking: Asking) -> list[Answer]:
        answers, failure = self._isolated(calls, asking, True)
        name = calls[0].specification.name
        if failure is None:
            if answers[0].failure is None:
                self._failed_together.pop(name, None)
            return answers
        self._note_failed_together(name, failure)
        return _first_prepared([self.call(call, asking) for call in calls], answers[0].prepared)

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

    def _prepare(
        self, specification: Specification, asking: Asking
    ) -> tuple[tuple[Preparing, ...], Failure | None]:
        """Sees to it that all is prepared: what was made here for it, and the failure."""
        made: tuple[Preparing, ...] = ()
        for preparation in specification.preparations:
            prepared = asking.preparing(preparation)
            seconds = prepared.make(partial(self._made, preparation, asking), self._timer)
            failure = prepared.value if isinstance(prepared.value, Failure) else None
            if seconds is not None and (failure is None or failure.kind != REFUSED):
                made = (*made, Preparing(preparation, seconds))
            if failure is not None:
                return made, failure
        return made, None

    def _made(self, preparation: Preparation, asking: Asking) -> object:
        """What a preparation gives, where it runs: here or in a thread."""
        view = asking.before(preparation)
        if preparation.timeout is None:
            return preparation.prepare(view)
        self._breakers.check(preparation)
        try:
            value: object = self._lanes.run(
                lambda: preparation.prepare(view), preparation.timeout, preparation.name
            )
        except LateError as problem:
            self._noted(preparation, problem)
            raise
        self._breakers.note(preparation, None)
        return value

    def _throttle(self, specification: Specification) -> Throttle:
        with self._lock:
            return self._throttles.setdefault(specification.name, Throttle(specification))


def _first_prepared(answers: list[Answer], prepared: tuple[Preparing, ...]) -> list[Answer]:
    """The answers of which the first paid for what was prepared."""
    if prepared:
        answers[0] = answers[0]._replace(prepared=prepared)
    return answers
