"""Ends a run: when Ctrl-C asks for it, or when its seconds are over.

The first Ctrl-C asks, so that what is being done ends in order; a second one interrupts.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType, TracebackType


class StopSignal:
    """Asked to stop or not; for `with`, in the main thread."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, object] = {}
        self._end: float | None = None

    def after(self, seconds: float | None) -> None:
        """Lets the time be over so many seconds from now."""
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def now(self) -> bool:
        """Whether to stop."""
        return self.asked or (self._end is not None and time.monotonic() >= self._end)

    def __enter__(self) -> StopSignal:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)  # type: ignore[arg-type]

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def wait(done: Callable[[], bool], stopping: StopSignal, patience: float) -> None:
    """Waits until something is done, it is asked to stop, or so many seconds are over."""
    end = time.monotonic() + patience
    while not done() and not stopping.asked and time.monotonic() < end:
        time.sleep(0.1)
