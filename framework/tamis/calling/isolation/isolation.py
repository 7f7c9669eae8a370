"""Makes calls in the worker processes of one matcher.

They are begun when an operator that needs them is first subscribed, and end with the matcher. Where
a worker was killed, or ended, another one takes its place, and the event goes on there. A
preparation that failed is not tried again for its event, like everywhere.
Cost: a look-up a call.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from tamis.calling.answers import CRASHED, TIMED_OUT, CallRefusedError, Failure, failure_of
from tamis.calling.breaker import Breakers
from tamis.calling.isolation.exchange import Exchange, InvocationOutcome, Means
from tamis.calling.isolation.pool import Pool, Stay
from tamis.calling.isolation.processes import ForkServer, StartError
from tamis.errors import OperatorError
from tamis.limits import Limits
from tamis.operators import Operator, OperatorRecord
from tamis.operators.asking import Call, shipped_call
from tamis.operators.specification import PROCESS, Preparation, Specification

if TYPE_CHECKING:
    from tamis.calling.event_calls import EventCalls

_TRIES = 5


class Isolation:
    """Calls in worker processes, for one matcher."""

    def __init__(
        self,
        records: Sequence[OperatorRecord],
        limits: Limits,
        timer: Callable[[], float],
        breakers: Breakers,
    ) -> None:
        self._records = [each for each in records if each.specification.isolation == PROCESS]
        self._limits = limits
        self._timer = timer
        self._breakers = breakers
        self._begin()

    def _begin(self) -> None:
        """Begins without processes; after a fork too, for those belong to the parent."""
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._pools: dict[str, Pool] = {}
        self._server = ForkServer()
        self._means = Means(self._limits, self._timer, self._breakers, self._server)
        weakref.finalize(self, self._server.end)

    def expect(self, record: OperatorRecord) -> None:
        """Begins what the calls of an operator will need, without waiting for it."""
        if record.specification.isolation != PROCESS:
            return
        if not hasattr(os, "fork"):
            raise OperatorError(
                f"{record.specification.name} runs in a worker process, which takes a system that "
                'can fork: set isolation="thread" here'
            )
        with suppress(StartError):  # the call says so, if it is still so then
            self._pool(record).begin(record.specification.name)

    def _pool(self, record: OperatorRecord) -> Pool:
        """Returns the pool of an operator's class."""
        specification = record.specification
        if self._process != os.getpid():
            self._begin()
        pool = self._pools.get(specification.name)
        if pool is None:
            with self._lock:
                pool = self._pools.get(specification.name)
                if pool is None:
                    pool = self._made(record)
        return pool

    def _made(self, record: OperatorRecord) -> Pool:
        name, root = record.specification.name, _root(record.specification)
        records = [
            each
            for each in self._records
            if _root(each.specification) is root
            and (root is not None or each.specification.name == name)
        ]
        if all(each.specification.name != name for each in records):
            records = [record]
        pool = Pool(records, self._server, self._limits.solutions)
        self._pools.update(dict.fromkeys((each.specification.name for each in records), pool))
        return pool

    def close(self) -> None:
        """Ends all processes; calls that are made later begin new ones."""
        if self._process == os.getpid():
            self._server.close()
            for pool in self._pools.values():
                pool.clear()

    # calls

    def call(
        self, calls: Sequence[Call], events: Sequence[EventCalls], seconds: float | None
    ) -> InvocationOutcome:
        """Makes calls of one operator, each about its event, as one invocation that may take so
        long; those about several events have no preparation."""
        specification = calls[0].specification
        try:
            pool = self._pools.get(specification.name)
            if pool is None or self._process != os.getpid():
                unannounced = partial(_itself, calls[0].operator)
                pool = self._pool(OperatorRecord(specification, unannounced))
            for call in calls:
                if call.shipped is None:
                    shipped_call(call)
            stay = events[0].stay(pool) if pool.stays else None
            if stay is not None:
                self._check_preparations(specification, stay)
            for _ in range(_TRIES):
                outcome = Exchange(self._means, pool, stay, calls, events, seconds).made()
                if isinstance(outcome, InvocationOutcome):
                    return outcome
            raise StartError(f"{outcome}, and so did those before it")
        except _CallPreventedError as problem:
            return InvocationOutcome([], problem.failure)
        except (CallRefusedError, OperatorError) as problem:
            return InvocationOutcome([], failure_of(problem))
        except StartError as problem:
            kind = TIMED_OUT if problem.late else CRASHED
            failure = Failure(kind, f"no worker could be started: {problem}")
            self._breakers.note(specification.name, failure)
            return InvocationOutcome([], failure)

    def _check_preparations(self, specification: Specification, stay: Stay) -> None:
        """Raises `_CallPreventedError` where a preparation has failed, or is not made now."""
        for preparation in specification.preparations:
            key = id(preparation)
            if key not in stay.failures and key not in stay.prepared:
                try:
                    self._breakers.check(preparation)
                except CallRefusedError as problem:
                    stay.failures[key] = failure_of(problem)
            if key in stay.failures:
                raise _CallPreventedError(stay.failures[key])


class _CallPreventedError(Exception):
    """A call that cannot be made, because of a preparation."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def _itself(operator: Operator) -> Operator:
    """Returns an operator that nobody has announced, as its own factory."""
    return operator


def _root(specification: Specification) -> Preparation | None:
    """Returns the preparation that makes a class of operators; an operator without is its own."""
    return next(iter(specification.preparations), None)
