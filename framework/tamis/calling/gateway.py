"""How operators are called: measured, bounded, and with every failure made *unknown with a reason*.

Nothing an operator does reaches the engine but an `Answer`: a truth, or checked solutions, or a
failure. Calls of one batch are one invocation; whether they are asked together never changes an
answer: what fails together is asked again one by one. What is transient is tried again, from here:
who waits holds no place, no thread of an operator and no worker process. A breaker hears of a call
once, after its last attempt.
"""

from __future__ import annotations

import itertools
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from tamis.calling.answers import (
    REFUSED,
    Answer,
    Failure,
    Preparing,
    RefusedError,
    failure_of,
)
from tamis.calling.attempts import Attempts
from tamis.calling.breaker import Breakers
from tamis.calling.isolation import Isolation
from tamis.calling.isolation.exchange import Outcome
from tamis.calling.isolation.pool import Pool, Stay
from tamis.calling.lanes import GRACE, Lanes, LateError, NoPlaceError, late
from tamis.calling.solving import solved, solved_together
from tamis.calling.throttles import Throttle, Throttles
from tamis.errors import PluginWarning, Transient
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
        self._throttles = Throttles()
        self._failed_together: Counter[str] = Counter()

    def expect(self, record: OperatorRecord) -> None:
        """Begins what the calls of an operator will need, without waiting for it."""
        self._isolation.expect(record)

    def close(self) -> None:
        """Ends worker processes; calls that are made later begin new ones."""
        self._isolation.close()

    def call(self, call: Call, asking: Asking) -> Answer:
        """Makes a call about an event."""
        if call.asynchronous or not call.specification.is_bare:
            return self._answers([call], asking)[0]
        # most calls: nothing bounds them, so that nothing is spent on bounds
        name, began = call.specification.name, self._timer()
        try:
            self._breakers.check(name)
            view = asking.event.view(call.specification.visible)
            found = solved(call, view, self._limits.solutions, None)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            failure = failure_of(problem)
            made = failure.kind != REFUSED
            if made and not isinstance(problem, NoPlaceError):
                self._breakers.note(name, failure)
            return Answer(failure=failure, seconds=self._timer() - began, made=made)
        self._breakers.note(name, None)
        return Answer(found.truth, found.solutions, None, found.cut, self._timer() - began)

    def call_together(self, calls: Sequence[Call], asking: Asking) -> list[Answer]:
        """Makes calls of one batch about an event as one invocation."""
        name = calls[0].specification.name
        if len(calls) == 1 or self._failed_together[name] >= _MOST_FAILED:
            return [self.call(call, asking) for call in calls]
        return self._answers(calls, asking)

    def _answers(self, calls: Sequence[Call], asking: Asking) -> list[Answer]:
        """The answers to calls of one invocation; one by one where it fails as a whole."""
        specification, count = calls[0].specification, len(calls)
        name = specification.name
        prepared, failure = self._prepare(specification, asking)
        if failure is None:
            try:
                self._breakers.check(name)
            except RefusedError as problem:
                failure = failure_of(problem)
        if failure is not None:
            return _first_prepared(_failed(failure, count), prepared)
        outcome = self._invoke(calls, asking)
        seconds, failure = outcome.seconds / count, outcome.failure
        answers = [each._replace(seconds=seconds) for each in outcome.answers]
        if failure is None or outcome.answered:
            self._breakers.note(name, failure)
        if count > 1 and failure is None:
            self._failed_together.pop(name, None)
        elif count > 1 and failure is not None and outcome.answered:
            self._one_by_one(calls, asking, answers, failure)
        return _first_prepared(answers, prepared or outcome.prepared)

    def _one_by_one(
        self, calls: Sequence[Call], asking: Asking, answers: list[Answer], failure: Failure
    ) -> None:
        """Makes the calls alone that have failed together, if there are several."""
        together = [at for at, each in enumerate(answers) if each.failure is failure]
        if len(together) > 1:
            self._note_failed_together(calls[0].specification.name, failure)
            for at in together:
                alone, tried = self.call(calls[at], asking), answers[at].attempts
                answers[at] = alone._replace(attempts=tried + alone.attempts)

    def _invoke(self, calls: Sequence[Call], asking: Asking) -> Outcome:
        """What comes of calls after all their attempts, with an answer to each."""
        specification, count = calls[0].specification, len(calls)
        timeout = specification.timeout and specification.timeout * count
        attempts = Attempts(specification.retries, timeout)
        try:
            outcome = self._attempt(calls, asking, attempts)
        except NoPlaceError as problem:
            failure = failure_of(problem)
            return Outcome(_failed(failure, count), failure)
        while specification.retries and (again := attempts.open(outcome.answers)):
            try:
                later = self._attempt([calls[at] for at in again], asking, attempts)
            except NoPlaceError:  # the next attempt would come too late
                break
            outcome = outcome.followed_by(later, again)
        return outcome

    def _attempt(self, calls: Sequence[Call], asking: Asking, attempts: Attempts) -> Outcome:
        """What comes of calls where they run; `NoPlaceError` where they do not begin in time."""
        specification, count = calls[0].specification, len(calls)
        isolated = specification.isolation == PROCESS
        began, left = self._timer(), attempts.left
        self._lanes.check(specification.name)  # before it holds a place
        throttle = self._throttles.of(specification)
        patience = self._limits.queue_seconds if isolated else left
        throttle.enter(patience, left if attempts.made else None)
        seconds = attempts.begin()
        try:
            if isolated:
                try:
                    outcome = self._isolation.call(calls, asking, seconds)
                finally:
                    throttle.leave()
                attempts.count(outcome.seconds)  # and not for how long a worker was waited for
            else:
                answers = self._here(calls, asking, throttle, seconds)
                outcome = Outcome(answers, None, (), self._timer() - began)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            asked = not isolated and not isinstance(problem, NoPlaceError)
            outcome = Outcome([], failure_of(problem), (), self._timer() - began, asked)
        return _counted(outcome, count, attempts, seconds)

    def _here(
        self, calls: Sequence[Call], asking: Asking, throttle: Throttle, seconds: float | None
    ) -> list[Answer]:
        """What calls give here or in a thread, which keeps its place until it ends."""
        first, specification, together = calls[0], calls[0].specification, len(calls) > 1
        most = self._limits.solutions

        def work() -> list[Answer]:
            try:
                view = asking.view(specification)
                if together:
                    return solved_together(calls, view, most, seconds)
                return [solved(first, view, most, seconds)]
            finally:
                throttle.leave()

        asynchronous = first.asynchronous_together if together else first.asynchronous
        if not asynchronous and seconds is None and specification.isolation == "inline":
            return work()
        # a loop of the lane's own: what blocks or ends it harms no other call
        grace = GRACE if asynchronous else 0.0
        answers: list[Answer] = self._lanes.run(work, seconds, specification.name, grace)
        return answers

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

    def _prepare(
        self, specification: Specification, asking: Asking
    ) -> tuple[tuple[Preparing, ...], Failure | None]:
        """Sees to it that all is prepared: what was made here for it, and the failure."""
        made: tuple[Preparing, ...] = ()
        if specification.preparation is None or specification.isolation == PROCESS:
            return made, None  # a worker prepares for itself
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
        """What a preparation gives after all its attempts, where it runs: here or in a thread."""
        view = asking.before(preparation)
        attempts = Attempts(preparation.retries, preparation.timeout)
        if preparation.timeout is not None:
            self._breakers.check(preparation)
        while True:
            seconds = attempts.begin()
            try:
                if seconds is None:
                    return preparation.prepare(view)
                value: object = self._lanes.run(
                    lambda: preparation.prepare(view), seconds, preparation.name
                )
                self._breakers.note(preparation, None)
                return value
            except LateError as problem:
                if seconds is not None and not isinstance(problem, NoPlaceError):
                    self._breakers.note(preparation, failure_of(problem))
                raise
            except Transient as problem:
                if not attempts.wait([problem.after_seconds]):
                    raise


def _failed(failure: Failure, count: int) -> list[Answer]:
    """The answers to calls that have failed together."""
    return [Answer(failure=failure, made=failure.kind != REFUSED)] * count


def _counted(outcome: Outcome, count: int, attempts: Attempts, seconds: float | None) -> Outcome:
    """An outcome with an answer to each call, which says of how many calls and attempts it is."""
    made, failure = attempts.made, outcome.failure
    if failure is not None and made > 1 and failure.message == str(late(seconds)):
        words = f"no answer within {attempts.seconds} s, in {made} attempts"
        failure = failure._replace(message=words)
    if failure is not None:
        answers = [each._replace(attempts=made) for each in _failed(failure, count)]
    else:
        answers = [each._replace(together=count, attempts=made) for each in outcome.answers]
    spent = outcome.seconds + attempts.waited
    return Outcome(answers, failure, outcome.prepared, spent, outcome.answered)


def _first_prepared(answers: list[Answer], prepared: tuple[Preparing, ...]) -> list[Answer]:
    """The answers of which the first paid for what was prepared."""
    if prepared:
        answers[0] = answers[0]._replace(prepared=prepared)
    return answers
