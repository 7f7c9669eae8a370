"""Lets calls begin: at most so many at once and so many a second, of all that use a resource.

An operator's own limits are a resource that nobody else uses. A call waits for its turn first and
then for a place, so that what waits for a turn holds no place; turns are given in the order in
which they were asked for.
Invariant: two calls of a resource begin at least 1/`calls_per_second` apart, whatever woke up late.
Cost: nothing where there are no limits, else a few short locks a call.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterable, Sequence

from tamis.calling.executor import pause
from tamis.calling.lanes import NoPlaceError
from tamis.operators.specification import Resource, Specification


class Throttle:
    """The limits of a resource, and of others that are used with it."""

    def __init__(self, resource: Resource, others: Sequence[Throttle] = ()) -> None:
        limit, rate = resource.concurrency, resource.calls_per_second
        room = threading.BoundedSemaphore(limit) if limit else None
        pace = _Pace(1 / rate) if rate else None
        self._rooms: tuple[threading.Semaphore, ...] = (
            *([] if room is None else [room]),
            *(each for other in others for each in other._rooms),
        )
        self._paces: tuple[_Pace, ...] = (
            *([] if pace is None else [pace]),
            *(each for other in others for each in other._paces),
        )

    def enter(self, timeout: float | None, within: float | None = None) -> None:
        """Waits for a turn, and then so long for a place; `within` bounds both together.

        A call that is late keeps its place."""
        latest = math.inf if within is None else time.monotonic() + within
        turn = self._turn(latest) if self._paces else 0.0
        while True:
            wait = turn - time.monotonic()
            if wait > 0:
                pause(wait)
            self._take_places(timeout, latest)
            turn = self._begun() if self._paces else 0.0
            if not turn:
                return
            self.leave()  # others came between: what waits again holds no place
            _check_turn(turn, latest)

    def leave(self) -> None:
        """Gives the places back."""
        for room in self._rooms:
            room.release()

    def _take_places(self, timeout: float | None, latest: float) -> None:
        now = time.monotonic()
        deadline = latest if timeout is None else min(latest, now + timeout)
        with contextlib.ExitStack() as taken:
            for room in self._rooms:
                left = None if deadline == math.inf else max(0.0, deadline - time.monotonic())
                if not room.acquire(timeout=left):
                    waited = deadline - now
                    raise NoPlaceError(f"concurrency: no other call ended within {waited:g} s")
                taken.callback(room.release)
            taken.pop_all()

    def _turn(self, latest: float) -> float:
        """Returns the moment of this call's turn; no other call gets the same one."""
        with self._locked():
            turn = max(time.monotonic(), *(pace.turn for pace in self._paces))
            _check_turn(turn, latest)
            for pace in self._paces:
                pace.turn = turn + pace.gap
        return turn

    def _begun(self) -> float:
        """Begins a call now and gives 0, or gives the moment before which it may not begin."""
        with self._locked():
            now = time.monotonic()
            turn = max(pace.begun + pace.gap for pace in self._paces)
            if now < turn:
                return turn
            for pace in self._paces:
                pace.begun = now
        return 0.0

    def _locked(self) -> contextlib.ExitStack:
        """Locks all paces, in the order that is the same for all threads."""
        with contextlib.ExitStack() as stack:
            for pace in self._paces:
                stack.enter_context(pace.lock)
            return stack.pop_all()


class _Pace:
    """Spaces calls: the next turn, and when the latest call began."""

    __slots__ = ("begun", "gap", "lock", "turn")

    def __init__(self, gap: float) -> None:
        self.gap = gap
        self.turn = 0.0
        self.begun = -math.inf
        self.lock = threading.Lock()


class Throttles:
    """The throttles of a matcher, by operator."""

    def __init__(self) -> None:
        self._own: dict[str, Throttle] = {}
        self._shared: dict[str, Throttle] = {}
        self._lock = threading.Lock()

    def of(self, specification: Specification) -> Throttle:
        """Returns the throttle of an operator: of its own limits, and of its resources."""
        name = specification.name
        throttle = self._own.get(name)
        if throttle is None:
            with self._lock:
                shared = self._of_resources(specification.resources)
                limits = specification.concurrency, specification.calls_per_second
                throttle = self._own.setdefault(name, Throttle(Resource(name, *limits), shared))
        return throttle

    def _of_resources(self, resources: Iterable[Resource]) -> list[Throttle]:
        return [self._shared.setdefault(each.name, Throttle(each)) for each in resources]


def _check_turn(turn: float, latest: float) -> None:
    if turn > latest:
        raise NoPlaceError("calls_per_second: no turn before the deadline")
