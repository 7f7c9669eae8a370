"""Feeds the demo with frames: a short history in files, and live ones one by one.

Live frames are drawn when they are wanted. Where the seconds of a run are limited, drones take more
than can be matched: frames are left out evenly, so that the time allowed spans the whole of the
flights and not just their beginning, and of drones on patrol rather than of those on a mission. How
many were left out is said.
"""

from __future__ import annotations

import datetime
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from examples.uav.dataset import write
from examples.uav.simulation import DRONES, Simulation

HISTORY_SEED = 11
"""Flights of another day than those that are matched."""


def write_history(folder: Path, minutes: float, told: Callable[[int, int], None]) -> None:
    """Writes the flights that are learned from; frames are far apart, to see much in few."""
    start = Simulation(1).world.start - datetime.timedelta(days=1)
    simulation = Simulation(HISTORY_SEED, interval=30.0, start=start)
    write(simulation, minutes * 60, folder, told)


def first_of(folder: Path) -> dict[str, Any]:
    """The first event of a history, with its picture."""
    with (folder / "events.jsonl").open(encoding="utf-8") as lines:
        event: dict[str, Any] = json.loads(next(lines))
    return event | {"image": str((folder / event["image"]).resolve())}


class LiveFrames:
    """The live frames, one after the other."""

    def __init__(
        self,
        seed: int,
        minutes: float,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._simulation = Simulation(seed)
        self._seconds, self._clock = seconds, clock
        self.total = max(1, self._simulation.count(minutes * 60))
        self.number = 0
        """Of frames that were taken until now, those that were left out too."""
        self.skipped = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        began = self._clock()
        looked = [-1.0] * DRONES
        on_mission = [True] * DRONES
        given = 0
        while self.number < self.total:
            at = self.number
            event = self._simulation.observation(at).event
            yield event
            given += 1
            looked[at % DRONES], on_mission[at % DRONES] = at, event["mission"] != "patrol"
            stride = self._stride(self._clock() - began, given, at)
            if stride == 1:
                self.number += 1
            else:
                from_, to = at + stride - DRONES // 2, at + stride + DRONES // 2
                self.number = max(
                    range(max(at + 1, from_), max(at + 2, to)),
                    key=lambda next_: (
                        (next_ - looked[next_ % DRONES]) * (1 + on_mission[next_ % DRONES])
                    ),
                )
            self.skipped += min(self.number, self.total) - at - 1

    def _stride(self, spent: float, given: int, at: int) -> int:
        """By how many frames to go on, for the rest of them to take the rest of the time."""
        if self._seconds is None:
            return 1
        left = max(1.0, (self._seconds - spent) / (spent / given))
        return max(1, math.ceil((self.total - at - 1) / left))
