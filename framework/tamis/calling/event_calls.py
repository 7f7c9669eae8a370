"""Keeps what calls about one event share: its views, and its preparations, each made once.

Invariant: a preparation has one value for an event, whoever needed it first, also where it was made
together with those of other events; who needed it first pays for it.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable

from tamis.calling.answers import Failure, failure_of
from tamis.calling.isolation.pool import Pool, Stay
from tamis.event import Event, EventView
from tamis.operators.specification import Preparation, Specification


class EventCalls:
    """One event that operators are asked about."""

    _numbers = itertools.count()

    def __init__(self, event: Event, seconds: float | None = None) -> None:
        self.event = event
        self.deadline = None if seconds is None else time.monotonic() + seconds
        """The end of all calls, on the monotonic clock."""
        self.number = next(self._numbers)
        """Its number in worker processes."""
        self._stays: dict[Pool, Stay] = {}
        self.prepared: dict[int, PreparationValue] = {}
        self._views: dict[tuple[tuple[str, ...] | None, int], EventView] = {}
        self._lock = threading.Lock()

    @property
    def seconds_left(self) -> float | None:
        """The seconds until the deadline of the event, if it has one."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def view(self, specification: Specification) -> EventView:
        """Returns the event as the operator sees it, with the outcome of its preparation."""
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
        """Returns the event as a preparation sees it, with the value of the one before it."""
        if preparation.after is None:
            return self.event.view(preparation.visible)
        view = EventView(self.event, preparation.visible)
        view.prepared = self.prepared[id(preparation.after)].value
        return view

    def preparing(self, preparation: Preparation) -> PreparationValue:
        """Returns the place of what a preparation gives."""
        with self._lock:
            return self.prepared.setdefault(id(preparation), PreparationValue(preparation))

    def next_preparation(self, specification: Specification) -> Preparation | None:
        """Returns an operator's first preparation that is not made; `None` where one failed."""
        for preparation in specification.preparations:
            prepared = self.prepared.get(id(preparation))
            if prepared is None or not prepared.is_made:
                return preparation
            if isinstance(prepared.value, Failure):
                return None
        return None

    def stay(self, pool: Pool) -> Stay:
        """Returns its stay among the workers of a class."""
        stay = self._stays.get(pool)
        if stay is None:
            with self._lock:
                stay = self._stays.setdefault(pool, Stay(self.number))
        return stay


class PreparationValue:
    """The value of a preparation for an event, made by the first call that needs it."""

    def __init__(self, preparation: Preparation) -> None:
        self.preparation = preparation
        self.value: object | Failure = None
        self.is_made = False
        self._unpaid: float | None = None
        self._lock = threading.Lock()

    def make(self, make: Callable[[], object], timer: Callable[[], float]) -> float | None:
        """Makes it; how long it took, `None` where somebody had paid for it before."""
        with self._lock:
            if self.is_made:
                seconds, self._unpaid = self._unpaid, None
                return seconds
            started = timer()
            try:
                self.value = make()
            except KeyboardInterrupt:
                raise
            except BaseException as problem:
                self.value = failure_of(problem)
            self.is_made = True
            return timer() - started

    def put(self, value: object, seconds: float) -> None:
        """Takes what was made together with those of other events, and an equal part of the time:
        who needs it first pays."""
        with self._lock:
            if not self.is_made:
                self.value, self._unpaid, self.is_made = value, seconds, True

    def owe(self, seconds: float | None) -> None:
        """Leaves what it took to whoever needs it first."""
        with self._lock:
            self._unpaid = seconds
