"""Measures how long something took, and how much of that this process waited for others.

A thread that waits for a processor of a busy machine does not wait in this sense: where the system
tells how long it did (Linux), that is taken off. Cost: some microseconds a reading.
"""

from __future__ import annotations

import time


class Stopwatch:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self._queued = _queued_seconds()
        self._busy = time.process_time()
        self._wall = time.perf_counter()

    def read(self) -> tuple[float, float]:
        """Returns the seconds since, and those in which this process did not compute or want to."""
        wall = time.perf_counter() - self._wall
        busy = time.process_time() - self._busy
        queued = _queued_seconds() - self._queued
        return wall, max(0.0, wall - busy - queued)


def _queued_seconds() -> float:
    """Returns how long this thread has waited for a processor; 0 where that is unknown."""
    try:
        with open("/proc/thread-self/schedstat", "rb") as file:
            return int(file.read().split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):
        return 0.0
