"""Pauses an operator whose latest calls were late, crashed or ran out of memory.

A breaker opens when so many calls in a row failed that way (`Limits.failures_in_a_row`): then
nothing is called, and every answer is unknown with a reason that says until when. After the pause
one call is made as a probe; if it fails that way too, the next pause is twice as long, up to the
longest one, and anything else that comes of it closes the breaker. Exceptions of single events
never open it, and close it: who raises is alive. Preparations have breakers of their own, so that
one that hangs does not cost operators that do without it.
Invariant: only what failed lately has a state; time is the matcher's clock.
Cost: a look at an empty dict a call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime

from tamis.calling.answers import CRASHED, SWELLED, TIMED_OUT, CallRefusedError, Failure
from tamis.limits import Limits
from tamis.log import log
from tamis.operators.specification import Preparation

COUNTED = frozenset((TIMED_OUT, CRASHED, SWELLED))
"""The kinds of failures that open a breaker."""

Key = str | Preparation
"""An operator by its name, or a preparation."""


class _State:
    """The recent failures of one thing: how many in a row, and when it is tried again."""

    __slots__ = ("failures", "kind", "opened", "pause", "probing", "until")

    def __init__(self) -> None:
        self.failures = 0
        self.kind = TIMED_OUT
        self.pause = 0.0
        self.opened = 0.0
        self.probing = False
        self.until: float | None = None


class Breakers:
    """The breakers of a matcher."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self.states: dict[Key, _State] = {}
        """Of what failed lately: while there are none, nobody needs to ask."""
        self._lock = threading.Lock()

    def check(self, key: Key) -> None:
        """Raises `CallRefusedError` where nothing is called now; a probe is let through."""
        state = self.states.get(key)
        if state is None or state.until is None:
            return
        with self._lock:
            now = self._clock()
            if state.until is None:
                return
            # a clock that was set back must not keep it open for ever
            if state.opened <= now < state.until:
                raise CallRefusedError(_words(state))
            # this thread probes; the others are refused for another pause, or until it is known
            state.opened, state.until = now, now + state.pause
            state.probing = True

    def note(self, key: Key, failure: Failure | None) -> None:
        """Takes what came of a call that was made."""
        if failure is not None and failure.kind in COUNTED:
            self._failed(key, failure.kind)
        elif self.states:
            with self._lock:
                self.states.pop(key, None)

    def told(self) -> list[dict[str, object]]:
        """Lists operators and preparations that failed lately, and until when they are paused."""
        with self._lock:
            return [
                {
                    "name": _name_of(key),
                    "failures": state.failures,
                    "kind": state.kind,
                    "open": state.until is not None,
                    "says": None if state.until is None else _words(state),
                }
                for key, state in self.states.items()
            ]

    def _failed(self, key: Key, kind: str) -> None:
        limits = self._limits
        with self._lock:
            state = self.states.setdefault(key, _State())
            state.failures += 1
            state.kind = kind
            if state.failures < limits.failures_in_a_row:
                return
            longest = float(limits.longest_pause_seconds)
            if state.until is None:
                state.pause = min(float(limits.pause_seconds), longest)
            elif state.probing:
                state.pause = min(state.pause * 2, longest)
            else:
                return  # it was under way when the breaker opened, and says nothing new
            state.probing = False
            now = self._clock()
            state.opened, state.until = now, now + state.pause
            log.warning("%s is not called for %g s: %s", _name_of(key), state.pause, _words(state))


def _name_of(key: Key) -> str:
    return key if isinstance(key, str) else key.name


def _words(state: _State) -> str:
    assert state.until is not None
    what = {TIMED_OUT: "were late", CRASHED: "crashed", SWELLED: "ran out of memory"}[state.kind]
    return f"the last {state.failures} calls {what}; it is tried again {_moment(state.until)}"


def _moment(seconds: float) -> str:
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return f"at {seconds} s"
    return f"at {moment.isoformat(timespec='milliseconds').replace('+00:00', 'Z')}"
