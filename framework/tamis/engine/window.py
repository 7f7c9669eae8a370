"""Decides many events at once: calls of one operator on several events are made together.

Events are decided in turns: each is led on as far as calls go that are made by themselves; when all
wait for operators that answer about several events at once, the largest of these batches is made.
Results come in the order of the events, and what is learned follows it: an event begins with what
all events taught that are not in flight with it.
Invariant: an event's calls and verdicts are those of deciding it by itself; which calls are made
together depends on the events alone, never on time.
Cost: that of deciding the events one by one, less what batches save.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

from tamis.calling.answers import Answer
from tamis.calling.gateway import Gateway
from tamis.calling.memo import compute_for_several
from tamis.engine.deciding import Decider, Underway
from tamis.engine.decision import CALLED, MEMO
from tamis.errors import TamisError
from tamis.operators.asking import Call
from tamis.operators.specification import Preparation, Specification

R = TypeVar("R", covariant=True)
T = TypeVar("T")
_MOST = 65_536


class _Batch(NamedTuple):
    """A preparation or operator with the calls of several events that wait for it."""

    asked: Preparation | Specification
    calls: list[tuple[Underway, int]]


class EventInFlight(Protocol[R]):
    """An event in flight, and how it ends."""

    underway: Underway | None
    """Nothing where no operator is asked."""

    def resume(self) -> None:
        """Counts time to the event again: others were worked on."""

    def end(self) -> R:
        """Learns from the event, and returns its result."""


class Window(Generic[R]):
    """The events in flight, in order."""

    def __init__(self, most: int, decider: Decider, gateway: Gateway) -> None:
        self._most = most
        self._decider = decider
        self._gateway = gateway
        self._pending: deque[EventInFlight[R]] = deque()

    def __len__(self) -> int:
        return len(self._pending)

    def run(
        self, items: Iterable[T], begin: Callable[[T], EventInFlight[R] | None]
    ) -> Iterator[tuple[T, R | None]]:
        """Yields items in order, with the results of those of which an event begins.

        What the items or `begin` raise comes after the results of what had begun."""
        waiting: deque[tuple[T, bool]] = deque()
        coming = iter(items)
        while True:
            try:
                item = next(coming)
                pending = begin(item)
            except StopIteration:
                break
            except Exception:
                while waiting:
                    yield self._next(waiting)
                raise
            waiting.append((item, pending is not None))
            if pending is not None:
                self.add(pending)
            while waiting and (self.is_full or not waiting[0][1]):
                yield self._next(waiting)
        while waiting:
            yield self._next(waiting)

    def _next(self, waiting: deque[tuple[T, bool]]) -> tuple[T, R | None]:
        item, is_pending = waiting.popleft()
        return item, self.pop() if is_pending else None

    @property
    def is_full(self) -> bool:
        """True if an event has to end before another one begins."""
        return len(self._pending) >= self._most

    def add(self, pending: EventInFlight[R]) -> None:
        """Takes one more event."""
        self._pending.append(pending)

    def pop(self) -> R:
        """Decides until the first event is decided; its result."""
        while not self.is_ready:
            self.step()
        first = self._pending.popleft()
        first.resume()
        if first.underway is not None:
            first.underway.check()
        return first.end()

    @property
    def is_ready(self) -> bool:
        """True if the first event is decided."""
        first = self._pending[0].underway
        return first is None or first.due is None

    def step(self) -> None:
        """Leads all events on, then asks for the batch that most of them wait for."""
        self._lead()
        batches = self._wanted()[1]
        if batches:
            self._make(max(batches, key=lambda each: len(each.calls)))

    def wait_seconds(self) -> float:
        """Returns how long the batches that are wanted may wait for more events: no time where
        one is full, or none is wanted."""
        self._lead()
        batches = self._wanted()[1]
        if any(len(each.calls) >= each.asked.batch for each in batches):
            return 0.0
        return min((each.asked.wait_seconds for each in batches), default=0.0)

    def _lead(self) -> None:
        """Makes the calls that are made by themselves, as far as they go."""
        timer = self._decider.timer
        while alone := self._wanted()[0]:
            works = [partial(each.make, places, timer) for each, places in alone]
            for (each, _), given in zip(alone, self._decider.executor.run(works), strict=True):
                each.give(*given)

    def _wanted(self) -> tuple[list[tuple[Underway, list[int]]], list[_Batch]]:
        """Sorts wanted calls: those made by themselves, by event, and the others by operator."""
        alone: list[tuple[Underway, list[int]]] = []
        batches: dict[int, _Batch] = {}
        for pending in self._pending:
            each = pending.underway
            if each is None or each.due is None:
                continue
            by_themselves: list[int] = []
            for place, asked in each.wanted():
                if asked is None:
                    by_themselves.append(place)
                else:
                    batches.setdefault(id(asked), _Batch(asked, [])).calls.append((each, place))
            if by_themselves:
                alone.append((each, by_themselves))
        return alone, list(batches.values())

    def _make(self, batch: _Batch) -> None:
        """Asks for several events at once: a preparation, or the answers of an operator."""
        calls, timer = batch.calls[: batch.asked.batch], self._decider.timer
        if isinstance(batch.asked, Preparation):
            events = {id(each): each for each, _ in calls}
            began = timer()
            self._gateway.prepare_events(
                batch.asked, [each.calls.event_calls for each in events.values()]
            )
            seconds = (timer() - began) / len(events)
            for each in events.values():
                each.decision.stages.add("operators", seconds)
            return
        began = timer()
        found = self._answers(calls)
        seconds = (timer() - began) / len(calls)
        for (each, place), (answer, how) in zip(calls, found, strict=True):
            each.give([(place, answer, how)], seconds)

    def _answers(self, batch: Sequence[tuple[Underway, int]]) -> list[tuple[Answer, str]]:
        """Returns the answers to a batch; equal calls are made once if they may be remembered."""
        calls = [each.call(place) for each, place in batch]
        shelves = [each.calls.shelf_of(calls[0].specification.name) for each, _ in batch]

        def make(places: Sequence[int]) -> list[Answer]:
            return self._gateway.call_events(
                [(calls[at], batch[at][0].calls.event_calls) for at in places]
            )

        found: dict[int, tuple[Answer, str]] = {}
        kept = [(at, shelf) for at, shelf in enumerate(shelves) if shelf is not None]
        if kept:
            given = compute_for_several(
                [(shelf, calls[at]) for at, shelf in kept],
                lambda places: make([kept[place][0] for place in places]),
            )
            for (at, _), (answer, made) in zip(kept, given, strict=True):
                found[at] = answer, CALLED if made else MEMO
        others = [at for at, shelf in enumerate(shelves) if shelf is None]
        if others:
            answers = make(others)
            found.update((at, (each, CALLED)) for at, each in zip(others, answers, strict=True))
        return [found[at] for at in range(len(batch))]


def checked_in_flight(count: object) -> int:
    """Returns how many events may be in flight, `TamisError` where that is no such number."""
    if type(count) is not int or not 1 <= count <= _MOST:
        raise TamisError(f"in_flight is a whole number from 1 to {_MOST:,}, not {count!r}")
    return count


def is_batched(call: Call) -> bool:
    """Returns whether a call, or its preparation, may be made for several events at once."""
    preparations = call.specification.preparations
    return call.answers_events or any(each.prepare_events for each in preparations)
