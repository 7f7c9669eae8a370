"""Sends calls to a worker and read their answers, step by step, whatever becomes of the worker.

They wait for a worker of their class, then for their operator to be made there, then for what has
to be prepared, then for the answer; each has its own bound, and the deadline of an operator holds
for nothing but its answer. A worker that is late, garbles or is out of memory is killed; one that
ends by itself has crashed.
Invariant: whatever a worker does, the outcome is answers or a failure; an exception means that the
user interrupts, and then the worker is killed too.
Cost: some 30 microseconds over the operator itself.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tamis.calling.answers import (
    CRASHED,
    NONSENSE,
    RAISED,
    SWELLED,
    TIMED_OUT,
    Answer,
    Failure,
    PreparationSeconds,
    failure_of,
)
from tamis.calling.breaker import Breakers
from tamis.calling.isolation import messages
from tamis.calling.isolation.pool import Pool, Stay
from tamis.calling.isolation.processes import (
    DeadlineError,
    ForkServer,
    StartError,
    Worker,
    WorkerEvent,
)
from tamis.calling.isolation.worker import SWELLED_STATUS, Content, Definition, WorkerRequest
from tamis.calling.lanes import late
from tamis.event import Event
from tamis.limits import Limits
from tamis.operators.asking import Call
from tamis.operators.specification import Preparation

if TYPE_CHECKING:
    from tamis.calling.event_calls import EventCalls

GRACE_SECONDS = 0.05
"""The seconds for a cancelled `async` call to end, before its worker is killed."""
_KNOWN_CALLS, _KNOWN_BYTES = 4_096, 64 << 20


class Means(NamedTuple):
    """The means by which all calls of a matcher are made."""

    limits: Limits
    timer: Callable[[], float]
    breakers: Breakers
    server: ForkServer


class InvocationOutcome(NamedTuple):
    """The outcome of calls of one invocation: answers, or why there are none."""

    answers: list[Answer]
    failure: Failure | None = None
    prepared: tuple[PreparationSeconds, ...] = ()
    seconds: float = 0.0
    answered: bool = False
    """True if a failure is that of the calls themselves, and not of what came before."""
    sent: bool = True
    """False if nobody was asked, because an event cannot be sent."""

    def followed_by(self, later: InvocationOutcome, again: Sequence[int]) -> InvocationOutcome:
        """Joins this outcome with that of a later attempt at some of its calls."""
        answers = list(self.answers)
        for at, answer in zip(again, later.answers, strict=True):
            answers[at] = answer
        prepared, seconds = self.prepared + later.prepared, self.seconds + later.seconds
        return InvocationOutcome(
            answers, later.failure, prepared, seconds, later.answered, later.sent
        )


class Exchange:
    """Calls on their way to a worker and back."""

    def __init__(
        self,
        means: Means,
        pool: Pool,
        stay: Stay | None,
        calls: Sequence[Call],
        events: Sequence[EventCalls],
        seconds: float | None,
    ) -> None:
        self._limits, self._timer, self._breakers, self._server = means
        self._pool = pool
        self._stay = stay
        self._calls = calls
        self._numbers = [each.number for each in events]
        """The event of each call."""
        self._events = {each.number: each.event for each in events}
        self._answer_seconds = seconds
        self._specification = calls[0].specification
        self._prepared: tuple[PreparationSeconds, ...] = ()
        self._step: str | Preparation = ""
        """The awaited step: the operator by its name, or a preparation."""
        self._seconds: float | None = None
        """The seconds that it may take."""
        self._started = 0.0
        self._making = False
        """True if it is waited for the operator to be made."""

    def made(self) -> InvocationOutcome | Failure:
        """Makes the calls; a failure where the worker ended before it was asked."""
        pool, number = self._pool, self._numbers[0]
        queue_seconds = self._limits.queue_seconds
        worker = pool.take(number, self._stay, queue_seconds)
        if worker is None:
            words = (
                f"none of the {pool.size} workers was free within {queue_seconds} s (concurrency "
                "says how many there are)"
            )
            return InvocationOutcome([], Failure(TIMED_OUT, words))
        try:
            outcome = self._with(worker)
        except StartError:
            raise
        except BaseException:  # an interrupt: what it answers is for nobody
            self._end(worker, killed=True)
            raise
        if worker.replies.waiting:
            self._end(worker, killed=True)  # it says more than it was asked
        pool.release(worker)
        return outcome

    def _with(self, worker: Worker) -> InvocationOutcome | Failure:
        if worker.expected:
            ended = self._heard(worker)
            if ended is not None:
                return ended
        self._step = self._specification.name
        self._started = self._timer()
        try:
            self._send(worker)
        except OSError:
            return self._crash(self._end(worker, killed=False))
        except _Unsendable as problem:
            is_for_several = len(self._events) > 1  # one of them may be to blame
            failure = Failure(RAISED, str(problem))
            return InvocationOutcome([], failure, answered=is_for_several, sent=False)
        try:
            return self._answered(worker)
        except DeadlineError:
            self._end(worker, killed=True)
            words = str(late(self._seconds))
            if self._making:
                words = f"a worker has not made it within {self._seconds} s"
            failure = Failure(TIMED_OUT, words)
        except EOFError:
            failure = self._crash(self._end(worker, killed=False))
            if worker.abandoned:
                return failure  # the server was to blame, not the call
        except _SwollenWorker:
            self._end(worker, killed=True)
            failure = self._crash(SWELLED_STATUS)
        except messages.GarbledError as problem:
            self._end(worker, killed=True)
            failure = Failure(NONSENSE, f"the worker does not keep to the protocol: {problem}")
        return self._failed(failure)

    def _heard(self, worker: Worker) -> Failure | None:
        """Waits for a worker that was begun; how it ended where it did."""
        deadline = time.monotonic() + self._limits.start_seconds
        try:
            worker.hear(deadline)
        except DeadlineError:
            making = worker.expected[0] == messages.MADE
            self._give_up_start(worker)
            words = f"none was ready within {self._limits.start_seconds} s"
            if making:  # in advance, and perhaps not what is called now; the next one does not
                return Failure(TIMED_OUT, words)
            raise StartError(words, late=True) from None
        except StartError:
            self._end(worker, killed=True)
            raise
        except messages.GarbledError as problem:
            self._end(worker, killed=True)
            raise StartError(str(problem)) from None
        except EOFError:
            if worker.pid is None:
                self._give_up_start(worker)
                return Failure(CRASHED, "the fork server ended")
            return self._crash(self._end(worker, killed=False))
        self._server.started()
        return None

    def _give_up_start(self, worker: Worker) -> None:
        """Ends a worker that did not come up, and the server with it if that is to blame."""
        if worker.pid is None:
            self._pool.drop(worker)
            self._server.failed_to_start(worker)
        else:
            self._end(worker, killed=True)

    def _end(self, worker: Worker, *, killed: bool) -> int | None:
        """Gives a worker up; how it ended if that is known."""
        if killed:
            worker.kill()  # before anything is waited for
        self._pool.drop(worker)
        return self._server.gone(worker, killed=killed)

    # what is sent

    def _send(self, worker: Worker) -> None:
        """Asks: with what the worker does not know yet of the events and of the calls."""
        name, events = self._specification.name, self._events
        is_known = all(number in worker.events for number in events)
        over = () if is_known else self._over(worker)
        news = tuple((number, self._content(worker, number)) for number in events)
        worker.latest = self._numbers[0]
        about = tuple(self._numbers) if len(events) > 1 else ()
        numbers = []
        definitions: tuple[Definition, ...] = ()
        forget = len(worker.calls) > _KNOWN_CALLS or worker.calls_bytes > _KNOWN_BYTES
        if forget:
            worker.calls.clear()
            worker.calls_bytes = 0
        for call in self._calls:
            shipped = call.shipped
            assert shipped is not None
            numbers.append(shipped.number)
            if shipped.number not in worker.calls:
                worker.calls.add(shipped.number)
                worker.calls_bytes += len(shipped.arguments)
                definitions += (
                    Definition(shipped.number, name, shipped.arguments, call.width, call.text),
                )
        calls, seconds = tuple(numbers), self._answer_seconds
        asked = WorkerRequest(over, news, definitions, forget, name, calls, about, seconds)
        try:
            worker.send(tuple(asked), any(content is not None for _, content in news))
        except (OSError, MemoryError):
            raise
        except Exception as problem:  # pickle raises what it likes; nothing was sent
            worker.over.extend((*over, *events))
            self._forget(worker)
            raise _Unsendable(
                f"the event cannot be sent to a worker: {failure_of(problem).message}"
            ) from None

    def _forget(self, worker: Worker) -> None:
        """Forgets what the worker was sent just now."""
        for number in self._events:
            worker.events.pop(number, None)
        for call in self._calls:
            assert call.shipped is not None
            worker.calls.discard(call.shipped.number)

    def _over(self, worker: Worker) -> tuple[int, ...]:
        """Returns the events that a worker can forget."""
        if self._stay is None:
            worker.over.extend(worker.events)
        found = []
        while worker.over:
            found.append(worker.over.popleft())
            worker.events.pop(found[-1], None)
        return tuple(found)

    def _content(self, worker: Worker, number: int) -> Content | None:
        """Returns the part of an event that its calls need and the worker lacks."""
        first = number not in worker.events
        sent, event = worker.events.setdefault(number, WorkerEvent()), self._events[number]
        reads = self._pool.reads[self._specification.name]
        needs_whole = reads.whole and not sent.whole
        names = reads.names - sent.names
        if not (first or names or needs_whole):
            return None
        declared = {name: messages.parceled(event.value(name)) for name in names}
        declared = {name: value for name, value in declared.items() if value is not None}
        sent.names |= names
        whole: Mapping[str, object] | None = None
        derived: Mapping[str, object] = {}
        if needs_whole:
            sent.whole = True
            whole, derived = _whole(event)
        return Content(event.id, event.folder, declared, whole, derived)

    # what comes back

    def _answered(self, worker: Worker) -> InvocationOutcome:
        """Reads the reply, step by step."""
        specification, name = self._specification, self._specification.name
        if name not in worker.made:
            self._seconds = self._limits.start_seconds
            self._making = True
            letter, content = self._reply(worker)
            self._making = False
            if letter != messages.MADE:
                raise messages.GarbledError("an operator was not made")
            if content:
                return self._unread(worker, content)
            worker.made.add(name)
            self._started = self._timer()
        sent = worker.events[self._numbers[0]]
        for at, preparation in enumerate(specification.preparations):
            if id(preparation) not in sent.prepared:
                self._step = preparation
                self._seconds = preparation.timeout
                outcome = self._preparation(worker, at, preparation)
                if outcome is not None:
                    return outcome
                sent.prepared.add(id(preparation))
                if self._stay is not None:
                    self._stay.prepared.add(id(preparation))
        self._step = name
        self._seconds = self._answer_seconds
        first, asynchronous = self._calls[0], self._calls[0].asynchronous
        if len(self._events) > 1:
            asynchronous = first.asynchronous_for_events
        elif len(self._calls) > 1:
            asynchronous = first.asynchronous_together
        letter, content = self._reply(worker, GRACE_SECONDS if asynchronous else 0.0)
        if letter == messages.UNREAD:
            return self._unread(worker, content)
        seconds = self._elapsed()
        if letter == messages.FAILED:
            failure = messages.read_failure(content)
            return InvocationOutcome([], failure, self._prepared, seconds, answered=True)
        return InvocationOutcome(self._read(letter, content), None, self._prepared, seconds)

    def _read(self, letter: int, content: bytes) -> list[Answer]:
        if letter in (messages.TRUE, messages.FALSE):
            if len(self._calls) > 1 or self._calls[0].width:
                raise messages.GarbledError("a truth is not an answer to this")
            return [Answer(letter == messages.TRUE)]
        if letter != messages.ANSWERS:
            raise messages.GarbledError("a reply is not an answer")
        widths = [call.width for call in self._calls]
        return messages.read_answers(content, widths, self._limits.solutions)

    def _preparation(
        self, worker: Worker, at: int, preparation: Preparation
    ) -> InvocationOutcome | None:
        """Waits for a preparation; what came of the calls where it failed."""
        letter, content = self._reply(worker)
        if letter == messages.UNREAD:
            return self._unread(worker, content)
        given = messages.read_plain(content)
        if letter != messages.PREPARED or not isinstance(given, list) or len(given) != 3:
            raise messages.GarbledError("nothing was prepared")
        place, seconds, words = given
        if place != at or type(seconds) is not float or not 0 <= seconds < float("inf"):
            raise messages.GarbledError("something else was prepared")
        self._prepared = (*self._prepared, PreparationSeconds(preparation, seconds))
        if words is not None:
            return self._failed(messages.read_failure(messages.plain(words)))
        self._breakers.note(preparation, None)
        return None

    def _reply(self, worker: Worker, grace: float = 0.0) -> tuple[int, bytes]:
        """Returns the next reply, within the seconds of this step."""
        seconds = self._seconds
        deadline = None if seconds is None else time.monotonic() + seconds + grace
        letter, content = worker.reply(deadline)
        if letter == messages.SWELLED:
            raise _SwollenWorker
        return letter, content

    def _unread(self, worker: Worker, content: bytes) -> InvocationOutcome:
        """Reports the operator, arguments or event that the worker could not read."""
        self._step = self._specification.name
        self._forget(worker)
        return self._failed(messages.read_failure(content))

    def _crash(self, status: int | None) -> Failure:
        """Returns a worker that ended by itself, as a reason."""
        most = self._pool.memory_bytes
        if status == SWELLED_STATUS and most is not None:
            return Failure(SWELLED, f"the worker needed more than {most:,} bytes (memory_bytes)")
        if status is None:
            return Failure(CRASHED, "the worker ended")
        if status >= 0:
            return Failure(CRASHED, f"the worker exited with status {status}")
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        hint = ""
        if most is not None and name in ("SIGABRT", "SIGKILL", "SIGTRAP"):
            hint = f", perhaps for want of memory (memory_bytes is {most:,})"
        return Failure(CRASHED, f"the worker was ended by {name}{hint}")

    def _failed(self, failure: Failure) -> InvocationOutcome:
        """Makes the outcome of a failed step; a failed preparation fails for the event."""
        if isinstance(self._step, Preparation):
            assert self._stay is not None
            self._breakers.note(self._step, failure)
            failure = failure._replace(transient=False)  # it is not made again for this event
            self._stay.failures[id(self._step)] = failure
            return InvocationOutcome([], failure, self._prepared)
        return InvocationOutcome([], failure, self._prepared, self._elapsed(), answered=True)

    def _elapsed(self) -> float:
        """Returns the seconds of the calls without preparations."""
        prepared = sum(each.seconds for each in self._prepared)
        return max(0.0, self._timer() - self._started - prepared)


class _SwollenWorker(Exception):
    """A worker that reports that it is out of memory."""


class _Unsendable(Exception):
    """Content of an event that cannot be sent."""


def _whole(event: Event) -> tuple[dict[str, object], dict[str, object]]:
    """Returns all of an event, and what can be derived from it."""
    content = {name: messages.parceled(value) for name, value in event.content.items()}
    derived = {name: event.derived[name] for name in event.derived if name not in event.content}
    known = {name: event.value(name) for name in derived}
    return content, {name: value for name, value in known.items() if value is not None}
