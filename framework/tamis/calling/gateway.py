"""Calls operators: measured, bounded, and with every failure made *unknown with a reason*.

Nothing an operator does reaches the engine but an `Answer`: a truth, or checked solutions, or a
failure. Calls of one batch are one invocation; whether they are asked together never changes an
answer: what fails together is asked again one by one. What is transient is tried again, from here:
who waits holds no place, no thread of an operator and no worker process. A breaker hears of a call
once, after its last attempt.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from tamis.calling.answers import (
    DEADLINE,
    REFUSED,
    TIMED_OUT,
    Answer,
    CallRefusedError,
    Failure,
    PreparationSeconds,
    failure_of,
)
from tamis.calling.attempts import Attempts
from tamis.calling.breaker import Breakers
from tamis.calling.event_calls import EventCalls
from tamis.calling.isolation import Isolation
from tamis.calling.isolation.exchange import InvocationOutcome
from tamis.calling.lanes import GRACE, Lanes, LateError, NoPlaceError, late
from tamis.calling.solving import (
    checked,
    prepared_together,
    solved_alone,
    solved_for_events,
    solved_together,
)
from tamis.calling.throttles import Throttle, Throttles
from tamis.errors import PluginWarning, Transient
from tamis.event import EventView
from tamis.limits import Limits
from tamis.operators import OperatorRecord
from tamis.operators.asking import Call
from tamis.operators.specification import PROCESS, Preparation, Specification

_MOST_FAILED = 3


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
        """Ends threads and worker processes; calls that are made later begin new ones."""
        self._lanes.close()
        self._isolation.close()

    def failing(self) -> list[dict[str, object]]:
        """Lists what failed lately, and is perhaps not called for a while."""
        return self._breakers.told()

    def call(self, call: Call, event_calls: EventCalls) -> Answer:
        """Makes a call about an event."""
        specification = call.specification
        # most calls: nothing bounds them, so that nothing is spent on bounds
        timer, breakers = self._timer, self._breakers
        if call.is_direct:
            event = event_calls.event
            view = event.views.get(call.visible)
            if view is None:
                view = event.view(call.visible)
        elif call.asynchronous or not specification.is_bare:
            return self._answers([call], [event_calls])[0]
        else:
            prepared, failure = self._prepare(specification, event_calls)
            if prepared or failure is not None:  # the first call that needs it
                return self._just_prepared(call, event_calls, prepared, failure)
            view = event_calls.view(specification)
        began = timer()
        try:
            if breakers.states:
                breakers.check(specification.name)
            raw = call.operator.solve(view, *call.arguments)
            if type(raw) is bool and not call.width:
                found = None
            else:
                found = checked(call, raw, self._limits.solutions, None)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            failure = failure_of(problem)
            made = failure.kind != REFUSED and not isinstance(problem, NoPlaceError)
            if made:
                breakers.note(specification.name, failure)
            return Answer(failure=failure, seconds=timer() - began, made=made)
        if breakers.states:
            breakers.note(specification.name, None)
        if found is None:
            # the fields of an `Answer`, which names need three times as long
            fields = raw, None, None, False, timer() - began, (), 1, True, 1, True
            return tuple.__new__(Answer, fields)
        return Answer(found.truth, found.solutions, None, found.cut, timer() - began)

    def _just_prepared(
        self,
        call: Call,
        event_calls: EventCalls,
        prepared: tuple[PreparationSeconds, ...],
        failure: Failure | None,
    ) -> Answer:
        """Returns the answer to a call for which something was prepared, or failed to be."""
        if failure is not None:
            return _unprepared(failure, event_calls, 1, prepared)[0]
        return self.call(call, event_calls)._replace(prepared=prepared)

    def call_together(self, calls: Sequence[Call], event_calls: EventCalls) -> list[Answer]:
        """Makes calls of one batch about an event as one invocation."""
        name = calls[0].specification.name
        if len(calls) == 1 or self._failed_together[name] >= _MOST_FAILED:
            return [self.call(call, event_calls) for call in calls]
        return self._answers(calls, [event_calls] * len(calls))

    def call_events(self, calls: Sequence[tuple[Call, EventCalls]]) -> list[Answer]:
        """Makes calls of one operator, each about its event, as one invocation.

        Events whose preparation fails take no part in it."""
        name = calls[0][0].specification.name
        if len(calls) == 1 or self._failed_together[name] >= _MOST_FAILED:
            return [self.call(*each) for each in calls]
        payments = [self._prepare(call.specification, about) for call, about in calls]
        asked = [at for at, (_, failure) in enumerate(payments) if failure is None]
        answers = [_failed(failure, 1)[0] if failure else Answer() for _, failure in payments]
        if asked:
            found = self._answers([calls[at][0] for at in asked], [calls[at][1] for at in asked])
            for at, answer in zip(asked, found, strict=True):
                answers[at] = answer
        return [
            answer._replace(prepared=paid) if paid else answer
            for answer, (paid, _) in zip(answers, payments, strict=True)
        ]

    def prepare_events(self, preparation: Preparation, events: Sequence[EventCalls]) -> None:
        """Makes a preparation for several events at once; one by one where that fails."""
        name, count = preparation.name, len(events)
        together = preparation.prepare_events is not None  # one that it builds on may have none
        if together and count > 1 and self._failed_together[name] < _MOST_FAILED:
            views = [each.before(preparation) for each in events]
            began = self._timer()
            try:
                values = self._prepared_together(preparation, views)
            except KeyboardInterrupt:
                raise
            except BaseException as problem:
                self._note_failed_together(name, failure_of(problem), "prepare_events")
            else:
                self._failed_together.pop(name, None)
                seconds = (self._timer() - began) / count
                for each, value in zip(events, values, strict=True):
                    each.preparing(preparation).put(value, seconds)
        for each in events:
            prepared = each.preparing(preparation)
            if not prepared.is_made:
                made = partial(self._made, preparation, each)
                prepared.owe(prepared.make(made, self._timer))

    def _prepared_together(
        self, preparation: Preparation, views: Sequence[EventView]
    ) -> list[object]:
        """Prepares several events together, here or in a thread."""
        timeout = preparation.timeout
        if timeout is None:
            return prepared_together(preparation, views)
        self._breakers.check(preparation)
        values: list[object] = self._lanes.run(
            lambda: prepared_together(preparation, views), timeout * len(views), preparation.name
        )
        return values

    def _answers(self, calls: Sequence[Call], events: Sequence[EventCalls]) -> list[Answer]:
        """Returns the answers to calls of one invocation; one by one where it fails as a whole."""
        specification, count = calls[0].specification, len(calls)
        name = specification.name
        prepared, failure = self._prepare(specification, events[0])
        if failure is None:
            try:
                self._breakers.check(name)
            except CallRefusedError as problem:
                failure = failure_of(problem)
        if failure is not None:
            return _unprepared(failure, events[0], count, prepared)
        outcome = self._invoke(calls, events)
        seconds, failure = outcome.seconds / count, outcome.failure
        if failure is not None and failure.kind == TIMED_OUT and events[0].seconds_left == 0.0:
            return _first_prepared(_failed(Failure(DEADLINE, str(failure)), count), prepared)
        answers = [each._replace(seconds=seconds) for each in outcome.answers]
        if failure is None or (outcome.answered and outcome.sent):
            self._breakers.note(name, failure)
        if count > 1 and failure is None:
            self._failed_together.pop(name, None)
        elif count > 1 and failure is not None and outcome.answered:
            self._one_by_one(calls, events, answers, outcome)
        return _first_prepared(answers, prepared or outcome.prepared)

    def _one_by_one(
        self,
        calls: Sequence[Call],
        events: Sequence[EventCalls],
        answers: list[Answer],
        outcome: InvocationOutcome,
    ) -> None:
        """Makes the calls alone that have failed together, if there are several; the method is not
        to blame where it was not asked."""
        failure = outcome.failure
        together = [at for at, each in enumerate(answers) if each.failure is failure]
        if len(together) > 1:
            method = "solve_many" if _is_one(events) else "solve_events"
            if outcome.sent and failure is not None:
                self._note_failed_together(calls[0].specification.name, failure, method)
            for at in together:
                alone, tried = self.call(calls[at], events[at]), answers[at].attempts
                answers[at] = alone._replace(attempts=tried + alone.attempts)

    def _invoke(self, calls: Sequence[Call], events: Sequence[EventCalls]) -> InvocationOutcome:
        """Makes all attempts at some calls; the outcome has an answer to each."""
        specification, count = calls[0].specification, len(calls)
        timeout = specification.timeout and specification.timeout * count
        bounds = [each for each in (timeout, events[0].seconds_left) if each is not None]
        attempts = Attempts(specification.retries, min(bounds, default=None))
        try:
            outcome = self._attempt(calls, events, attempts)
        except NoPlaceError as problem:
            failure = failure_of(problem)
            return InvocationOutcome(_failed(failure, count, made=False), failure)
        while specification.retries and (again := attempts.open(outcome.answers)):
            try:
                later = self._attempt(
                    [calls[at] for at in again], [events[at] for at in again], attempts
                )
            except NoPlaceError:  # the next attempt would come too late
                break
            outcome = outcome.followed_by(later, again)
        return outcome

    def _attempt(
        self, calls: Sequence[Call], events: Sequence[EventCalls], attempts: Attempts
    ) -> InvocationOutcome:
        """Attempts calls where they run; `NoPlaceError` where they do not begin in time."""
        specification, count = calls[0].specification, len(calls)
        isolated = specification.isolation == PROCESS
        began, left = self._timer(), attempts.left
        self._lanes.check(specification.name)  # before it holds a place
        throttle = self._throttles.of(specification)
        patience = left
        if isolated:
            waits = [each for each in (self._limits.queue_seconds, left) if each is not None]
            patience = min(waits) if events[0].seconds_left is not None else waits[0]
        throttle.enter(patience, left if attempts.made else None)
        seconds = attempts.begin()
        try:
            if isolated:
                try:
                    outcome = self._isolation.call(calls, events, seconds)
                finally:
                    throttle.leave()
                attempts.count(outcome.seconds)  # and not for how long a worker was waited for
            else:
                answers = self._here(calls, events, throttle, seconds)
                outcome = InvocationOutcome(answers, None, (), self._timer() - began)
        except (KeyboardInterrupt, NoPlaceError):
            raise
        except BaseException as problem:
            outcome = InvocationOutcome(
                [], failure_of(problem), (), self._timer() - began, not isolated
            )
        return _counted(outcome, count, attempts, seconds)

    def _here(
        self,
        calls: Sequence[Call],
        events: Sequence[EventCalls],
        throttle: Throttle,
        seconds: float | None,
    ) -> list[Answer]:
        """Makes calls here or in a thread, which keeps its place until it ends."""
        first, specification = calls[0], calls[0].specification
        most, is_one = self._limits.solutions, _is_one(events)
        solve, asynchronous = solved_alone, first.asynchronous
        if not is_one:
            solve, asynchronous = solved_for_events, first.asynchronous_for_events
        elif len(calls) > 1:
            solve, asynchronous = solved_together, first.asynchronous_together

        begun: list[bool] = []

        def work() -> list[Answer]:
            begun.append(True)
            try:
                views = [each.view(specification) for each in events]
                return solve(calls, views, most, seconds)
            finally:
                throttle.leave()

        is_bounded = specification.timeout is not None or specification.isolation != "inline"
        if not (asynchronous or is_bounded):
            return work()
        # a loop of the lane's own: what blocks or ends it harms no other call
        grace = GRACE if asynchronous else 0.0
        try:
            answers: list[Answer] = self._lanes.run(work, seconds, specification.name, grace)
        except Exception as problem:
            is_handed_in = isinstance(problem, LateError) and not isinstance(problem, NoPlaceError)
            if not (begun or is_handed_in):  # no thread could be had
                throttle.leave()
            raise
        return answers

    def _note_failed_together(self, name: str, failure: Failure, method: str) -> None:
        """Warns of a method for several that fails; one that always does is not used any more."""
        self._failed_together[name] += 1
        if self._failed_together[name] in (1, _MOST_FAILED):
            words = "this time" if self._failed_together[name] == 1 else "from now on"
            warnings.warn(
                f"{method} of {name} failed ({failure}): its calls are made one by one {words}",
                PluginWarning,
                stacklevel=2,
            )

    def _prepare(
        self, specification: Specification, event_calls: EventCalls
    ) -> tuple[tuple[PreparationSeconds, ...], Failure | None]:
        """Sees to it that all is prepared: what was made here for it, and the failure."""
        made: tuple[PreparationSeconds, ...] = ()
        if specification.preparation is None or specification.isolation == PROCESS:
            return made, None  # a worker prepares for itself
        for preparation in specification.preparations:
            prepared = event_calls.preparing(preparation)
            seconds = prepared.make(partial(self._made, preparation, event_calls), self._timer)
            failure = prepared.value if isinstance(prepared.value, Failure) else None
            if seconds is not None and (failure is None or failure.kind != REFUSED):
                made = (*made, PreparationSeconds(preparation, seconds))
            if failure is not None:
                return made, failure
        return made, None

    def _made(self, preparation: Preparation, event_calls: EventCalls) -> object:
        """Makes the value of a preparation, with all its attempts, here or in a thread."""
        view = event_calls.before(preparation)
        timeout, left = preparation.timeout, event_calls.seconds_left
        if timeout is not None and left is not None:
            timeout = min(timeout, left)
        attempts = Attempts(preparation.retries, timeout)
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
                is_own = event_calls.seconds_left != 0.0 and not isinstance(problem, NoPlaceError)
                if seconds is not None and is_own:
                    self._breakers.note(preparation, failure_of(problem))
                raise
            except Transient as problem:
                if not attempts.wait([problem.after_seconds]):
                    raise


def _is_one(events: Sequence[EventCalls]) -> bool:
    """Returns whether all are the same event."""
    return all(each is events[0] for each in events)


def _failed(failure: Failure, count: int, made: bool = True) -> list[Answer]:
    """Returns the answers to calls that have failed together, or that found no place to begin."""
    return [Answer(failure=failure, made=made and failure.kind != REFUSED)] * count


def _unprepared(
    failure: Failure,
    event_calls: EventCalls,
    count: int,
    prepared: tuple[PreparationSeconds, ...],
) -> list[Answer]:
    """Returns the answers to calls that are not made, as something before them failed."""
    if failure.kind == TIMED_OUT and event_calls.seconds_left == 0.0:
        failure = Failure(DEADLINE, str(failure))
    return _first_prepared(_failed(failure, count), prepared)


def _counted(
    outcome: InvocationOutcome, count: int, attempts: Attempts, seconds: float | None
) -> InvocationOutcome:
    """Counts calls and attempts in an outcome with an answer to each call."""
    made, failure = attempts.made, outcome.failure
    if failure is not None and made > 1 and failure.message == str(late(seconds)):
        words = f"no answer within {attempts.seconds} s, in {made} attempts"
        failure = failure._replace(message=words)
    if failure is not None:
        answers = [each._replace(attempts=made) for each in _failed(failure, count)]
    else:
        answers = [
            each._replace(together=count, leads=at == 0, attempts=made)
            for at, each in enumerate(outcome.answers)
        ]
    spent = outcome.seconds + attempts.waited
    return outcome._replace(answers=answers, failure=failure, seconds=spent)


def _first_prepared(
    answers: list[Answer], prepared: tuple[PreparationSeconds, ...]
) -> list[Answer]:
    """Returns the answers of which the first paid for what was prepared."""
    if prepared:
        answers[0] = answers[0]._replace(prepared=prepared)
    return answers
