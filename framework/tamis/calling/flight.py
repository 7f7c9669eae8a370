"""Lets one thread make a call that several want at once: the first; the others wait for it.

Invariant: a flight lands once, with an answer or given up, and then nobody waits for it.
Cost: nothing but an object as long as nobody waits.
"""

from __future__ import annotations

import threading
import time

from tamis.calling.answers import Answer


class Flight:
    """A call on its way; without an answer when it has landed, it was given up."""

    __slots__ = ("_landing", "_lock", "answer", "landed", "thread", "together")

    def __init__(self, lock: threading.Lock) -> None:
        self.thread = threading.get_ident()
        self.answer: Answer | None = None
        self.landed = False
        self.together = 1
        """The number of calls made with it, which may take so many times as long."""
        self._lock = lock
        self._landing: threading.Event | None = None

    @property
    def is_own(self) -> bool:
        """True if this very thread is making the call: it would wait for itself."""
        return not self.landed and self.thread == threading.get_ident()

    def land(self, answer: Answer | None) -> None:
        """Lets go who waits; called with the lock held."""
        self.answer = answer
        self.landed = True
        if self._landing is not None:
            self._landing.set()

    def wait(self, deadline: float | None) -> bool:
        """Returns whether it has landed by then, on the monotonic clock."""
        with self._lock:
            if self.landed:
                return True
            if self._landing is None:
                self._landing = threading.Event()
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        return self._landing.wait(left)
