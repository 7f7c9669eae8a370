"""Says whether a call that failed for the moment is tried again, and waits until then.

Waits double from a tenth of a second up to half a minute, with jitter; where the operator knows
how long, it is that. A wait that does not fit into what is left of the call is not begun.
Invariant: attempts and the waits between them take no longer than the call may.
Cost: nothing for a call that does not fail so.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Iterable, Sequence

from tamis.calling.answers import Answer
from tamis.calling.executor import pause

FIRST_SECONDS, LONGEST_SECONDS = 0.1, 30.0
_random = random.Random()


class Attempts:
    """The attempts of a call, of several that are made together, or of a preparation."""

    __slots__ = ("_began", "_deadline", "_retries", "made", "seconds", "waited")

    def __init__(self, retries: int, seconds: float | None) -> None:
        self.made = 0
        self.waited = 0.0
        """The seconds of waiting before the latest one."""
        self._retries = retries
        self.seconds = seconds
        self._began = 0.0
        self._deadline: float | None = None

    @property
    def left(self) -> float | None:
        """The seconds that are left for it, `None` where nothing bounds it."""
        if self._deadline is None:
            return self.seconds
        return max(0.0, self._deadline - time.monotonic())

    def begin(self) -> float | None:
        """Counts an attempt that begins now, and says how long it may take."""
        self.made += 1
        if self.seconds is None:
            return None
        self._began = time.monotonic()
        if self._deadline is None:
            self._deadline = self._began + self.seconds
            return self.seconds
        return self.left

    def count(self, seconds: float) -> None:
        """Lets the latest attempt, which has ended, count for so many seconds."""
        if self._deadline is not None:
            self._deadline += time.monotonic() - self._began - seconds

    def open(self, answers: Sequence[Answer]) -> list[int]:
        """Waits for a retry; returns the places of the answers to try again, none at the end."""
        left = math.inf if self.left is None else self.left
        again = [
            (at, each.failure.after_seconds)
            for at, each in enumerate(answers)
            if each.failure is not None
            and each.failure.transient
            and (each.failure.after_seconds or 0) < left
        ]
        waited = bool(again) and self.wait([after for _, after in again])
        return [at for at, _ in again] if waited else []

    def wait(self, after: Iterable[float | None]) -> bool:
        """Waits for the next attempt; whether there is one."""
        if self.made > self._retries:
            return False
        seconds = self._next_wait([each for each in after if each is not None])
        left = self.left
        if left is not None and seconds >= left:
            return False
        began = time.monotonic()
        pause(seconds)
        self.waited = time.monotonic() - began
        return self.left != 0

    def _next_wait(self, given: Sequence[float]) -> float:
        if given:
            return min(max(0.0, *given), threading.TIMEOUT_MAX)
        longest = min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** (self.made - 1))
        return _random.uniform(longest / 2, longest)
