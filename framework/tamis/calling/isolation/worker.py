"""Serves in a worker process: makes operators once, prepares once an event, answers calls.

It tells each step that it has come through (an operator was made, a preparation), so that who waits
knows which deadline holds, and whom to blame. What was prepared for an event stays until the event
is said to be over.
Cost: beside the operator, some microseconds a call.
"""

from __future__ import annotations

import inspect
import os
import pickle
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from tamis.calling.answers import (
    RAISED,
    Failure,
    failure_of,
)
from tamis.calling.isolation import confinement, messages
from tamis.calling.solving import solved, solved_for_events, solved_together
from tamis.event import DerivedAttribute, Event, EventView
from tamis.operators import Operator, OperatorRecord
from tamis.operators.asking import Call
from tamis.operators.shipping import unpacked
from tamis.operators.specification import Preparation, Specification

SWELLED_STATUS = 93
"""The exit status of a worker that cannot even report too much memory."""


class Class(NamedTuple):
    """A class of operators that share workers, as it is sent to one."""

    records: bytes
    memory_bytes: int | None
    solutions: int


class Content(NamedTuple):
    """The values sent of an event: those that operators declare, or all where they do not."""

    id: str
    folder: str
    declared: Mapping[str, object]
    whole: Mapping[str, object] | None
    derived: Mapping[str, object]


class Definition(NamedTuple):
    """A call that is made for the first time: from then on it is known by its number."""

    number: int
    operator: str
    arguments: bytes
    width: int
    text: str


class WorkerRequest(NamedTuple):
    """Calls of one operator about an event, or each about one of several."""

    over: tuple[int, ...]
    """Events that are over."""
    events: tuple[tuple[int, Content | None], ...]
    """The events by number, with what is new of them."""
    definitions: tuple[Definition, ...]
    forget: bool
    """True if no earlier definition will be used again."""
    operator: str
    calls: tuple[int, ...]
    about: tuple[int, ...]
    """The event of each call; empty where all are about one."""
    seconds: float | None
    """The seconds that they may take."""


def work(connection: socket.socket, server: int) -> None:
    """Serves calls until nobody can make any."""
    confinement.begin(server)
    confinement.refuse_network()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
    random = sys.modules.get("numpy.random")
    if random is not None:
        random.seed()  # workers must not draw the same numbers
    requests = messages.Requests(connection)
    worker: _Worker | None = None
    try:
        messages.send_reply(connection, messages.HELLO, messages.plain(os.getpid()))
        while True:
            request = requests.next()
            if type(request) is Class:
                worker = _Worker(connection, requests, request)
                continue
            assert worker is not None
            if type(request) is str:
                worker.made(request)
            else:
                worker.answer(WorkerRequest._make(request))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        os._exit(0)
    except MemoryError:
        os._exit(SWELLED_STATUS)


class _Worker:
    """Answers requests with its operators, its calls by number, and its events by number."""

    def __init__(
        self, connection: socket.socket, requests: messages.Requests, given: Class
    ) -> None:
        self._connection = connection
        self._requests = requests
        self._most = given.solutions
        self._bounded = given.memory_bytes is not None
        self._records: dict[str, OperatorRecord] = {}
        self._operators: dict[str, Operator] = {}
        self._calls: dict[int, Call] = {}
        self._events: dict[int, _Event] = {}
        problem = None
        try:
            records = unpacked(given.records)
            self._records = {each.specification.name: each for each in records}
            if given.memory_bytes is not None:
                problem = confinement.limit_memory(given.memory_bytes)
        except BaseException as raised:
            problem = failure_of(raised).message
        failure = None if problem is None else Failure(RAISED, problem)
        self._say(messages.READY, failure)

    def _say(self, letter: int, failure: Failure | None) -> None:
        content = b"" if failure is None else messages.plain(failure)
        messages.send_reply(self._connection, letter, content)

    def made(self, name: str) -> bool:
        """Makes an operator that was not made before, says so, and whether there is one."""
        if name in self._operators:
            return True
        failure = None
        try:
            made = self._records[name].factory()
            if isinstance(made, Operator):
                self._operators[name] = made
                ways = (made.solve, made.solve_many, made.solve_events)
                if any(map(inspect.iscoroutinefunction, ways)):
                    import asyncio  # noqa: F401 - before a deadline holds
            else:
                failure = Failure(RAISED, f"the factory made {made!r:.80}, no tamis.Operator")
        except BaseException as problem:
            if isinstance(problem, MemoryError):
                self._swelled()
            failure = Failure(RAISED, f"cannot be made: {failure_of(problem).message}")
        self._say(messages.MADE, failure)
        return failure is None

    def answer(self, asked: WorkerRequest) -> None:
        """Answers calls, after what has to be made and prepared for them."""
        for number in asked.over:
            self._events.pop(number, None)
        freed = self._requests.freed()
        if freed:
            messages.send_reply(self._connection, messages.FREED, freed)
        if asked.forget:
            self._calls.clear()
        if not self.made(asked.operator):
            self._forget(asked)
            return
        specification = self._records[asked.operator].specification
        if not self._read(asked, specification):
            return
        first = self._events[asked.events[0][0]]  # several have nothing to prepare
        if not self._prepared(first, specification):
            return
        try:
            letter, content = self._answered(first, specification, asked)
        except BaseException as problem:
            if isinstance(problem, MemoryError):
                self._swelled()
            letter, content = messages.FAILED, messages.plain(failure_of(problem))
        messages.send_reply(self._connection, letter, content)

    def _read(self, asked: WorkerRequest, specification: Specification) -> bool:
        """Reads what was sent of events and calls; whether all is readable."""
        try:
            for number, content in asked.events:
                self._learn(number, content)
            for each in asked.definitions:
                self._calls[each.number] = self._call(each, specification)
            return True
        except BaseException as problem:
            if isinstance(problem, MemoryError):
                self._swelled()
            self._forget(asked)
            self._say(messages.UNREAD, failure_of(problem))
            return False

    def _forget(self, asked: WorkerRequest) -> None:
        """Knows nothing of what it was sent just now, as who sent it will have it."""
        for number, _ in asked.events:
            self._events.pop(number, None)
        for number in asked.calls:
            self._calls.pop(number, None)

    def _answered(
        self, event: _Event, specification: Specification, asked: WorkerRequest
    ) -> tuple[int, bytes]:
        """Returns the reply to the calls."""
        calls = [self._calls[number] for number in asked.calls]
        if asked.about:
            views = [self._events[number].view(specification) for number in asked.about]
            return messages.answers_reply(
                solved_for_events(calls, views, self._most, asked.seconds)
            )
        view = event.view(specification)
        if len(calls) > 1:
            return messages.answers_reply(solved_together(calls, [view], self._most, asked.seconds))
        (call,) = calls
        return messages.answers_reply([solved(call, view, self._most, asked.seconds)])

    def _prepared(self, event: _Event, specification: Specification) -> bool:
        """Prepares what is not prepared yet and says so; whether all is there."""
        for at, preparation in enumerate(specification.preparations):
            if id(preparation) in event.prepared:
                continue
            started = time.perf_counter()
            failure = None
            try:
                event.prepared[id(preparation)] = preparation.prepare(event.before(preparation))
            except BaseException as problem:
                if isinstance(problem, MemoryError):
                    self._swelled()
                failure = failure_of(problem)
            seconds = time.perf_counter() - started
            content = messages.plain([at, seconds, failure])
            messages.send_reply(self._connection, messages.PREPARED, content)
            if failure is not None:
                return False
        return True

    def _swelled(self) -> None:
        """Says that the limit is reached, and ends: what is left may be damaged."""
        if not self._bounded:
            return
        confinement.spend_reserve()
        messages.send_reply(self._connection, messages.SWELLED)
        os._exit(SWELLED_STATUS)

    def _call(self, given: Definition, specification: Specification) -> Call:
        arguments = pickle.loads(given.arguments)
        operator = self._operators[given.operator]
        return Call((), operator, specification, arguments, given.width, given.text)

    def _learn(self, number: int, content: Content | None) -> None:
        """Takes what was sent of an event."""
        event = self._events.get(number)
        if event is None:
            assert content is not None
            self._events[number] = _Event(content)
        elif content is not None:
            event.add(content)


class _Event:
    """An event as far as it was sent, and what was prepared of it."""

    def __init__(self, content: Content) -> None:
        self.prepared: dict[int, object] = {}
        self._declared: dict[str, object] = {}
        self._event = Event(self._declared, content.id, {}, content.folder)
        self._whole: Event | None = None
        self._views: dict[tuple[tuple[str, ...] | None, int], EventView] = {}
        self.add(content)

    def add(self, content: Content) -> None:
        """Takes what was sent of it besides."""
        for name, value in content.declared.items():
            self._declared[name] = messages.unparceled(value)
        if content.whole is not None:
            whole = {name: messages.unparceled(each) for name, each in content.whole.items()}
            derived = {
                name: DerivedAttribute(
                    name, _Known(value).derive
                )  # it was derived where it came from
                for name, value in content.derived.items()
            }
            self._whole = Event(whole, content.id, derived, content.folder)

    def _shown(self, visible: tuple[str, ...] | None) -> EventView:
        if visible is not None:
            return EventView(self._event, visible)
        assert self._whole is not None
        return EventView(self._whole, None)

    def view(self, specification: Specification) -> EventView:
        """Returns the event as an operator sees it."""
        visible, preparation = specification.visible, specification.preparation
        key = (visible, id(preparation))
        view = self._views.get(key)
        if view is None:
            view = self._views[key] = self._shown(visible)
            if preparation is not None:
                view.prepared = self.prepared[id(preparation)]
        return view

    def before(self, preparation: Preparation) -> EventView:
        """Returns the event as a preparation sees it."""
        view = self._shown(preparation.inputs)
        if preparation.after is not None:
            view.prepared = self.prepared[id(preparation.after)]
        return view


class _Known(NamedTuple):
    """A derived attribute as it was derived where the event came from."""

    value: Any

    def derive(self, event: Event) -> Any:
        return self.value
