"""Boats under way: tour boats on their round by the islands, coast guard boats on patrol.

Each round is a belt with places on it, as lanes of streets are. Cost: microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from examples.uav.chance import hashed, key_of
from examples.uav.city import City
from examples.uav.plane import Points, local, smooth
from examples.uav.thing import Thing

_ROUNDS = (
    ("tourBoat", 5.5, 330.0, 0.65, [
        (-74.0170, 40.6975), (-74.0300, 40.6955), (-74.0410, 40.6935), (-74.0405, 40.6880),
        (-74.0425, 40.6862), (-74.0370, 40.6850), (-74.0260, 40.6800), (-74.0215, 40.6860),
        (-74.0225, 40.6945), (-74.0170, 40.6975),
    ]),
    ("tourBoat", 7.0, 900.0, 0.6, [
        (-74.0180, 40.6960), (-74.0280, 40.6890), (-74.0330, 40.6780), (-74.0420, 40.6620),
        (-74.0390, 40.6600), (-74.0290, 40.6770), (-74.0240, 40.6880), (-74.0180, 40.6960),
    ]),
    ("coastGuardBoat", 8.0, 800.0, 0.6, [
        (-74.0350, 40.6930), (-74.0375, 40.6895), (-74.0385, 40.6855), (-74.0330, 40.6830),
        (-74.0290, 40.6870), (-74.0310, 40.6920), (-74.0350, 40.6930),
    ]),
)  # fmt: skip
"""Of each: who, meters a second, meters from place to place, how many are taken, and the way."""


class Harbor:
    """All boats that are under way."""

    def __init__(self, seed: int, city: City) -> None:
        self._key = key_of(seed, 2)
        self._city = city
        self._lines: list[Points] = [smooth(local(way), 10.0) for *_, way in _ROUNDS]

    def things(self, seconds: float, x: float, y: float, reach: float) -> Iterator[Thing]:
        """The boats within reach."""
        for number, (label, speed, place_m, taken, _) in enumerate(_ROUNDS):
            line = self._lines[number]
            if np.hypot(*(line - (x, y)).T).min() > reach + 60:
                continue
            steps = np.hypot(*np.diff(line, axis=0).T)
            lengths = np.r_[0, np.cumsum(steps)]
            count = int(lengths[-1] / place_m)
            places = np.arange(count)
            jitter = (hashed(self._key, number, places, 1) - 0.5) * 0.3
            there = hashed(self._key, number, places, 2) < taken
            along = (places + jitter)[there] / count * lengths[-1] + speed * seconds
            along %= lengths[-1]
            for at in along.tolist():
                here, front = (
                    np.array([np.interp(each, lengths, line[:, axis]) for axis in (0, 1)])
                    for each in (at, min(at + 5, float(lengths[-1])))
                )
                dx, dy = (front - here).tolist()
                if abs(here[0] - x) < reach + 25 and abs(here[1] - y) < reach + 25:
                    heading = math.degrees(math.atan2(dy, dx))
                    yield Thing(label, float(here[0]), float(here[1]), heading, part="sailing")
