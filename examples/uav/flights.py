"""Flies drones and aims their cameras: between stations, around them, along with a chase.

Invariant: a drone moves from where a station ends to where the next one begins, in the time between
them; positions are a function of the time. Cost: microseconds.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from examples.uav.chance import stream
from examples.uav.director import BEATS, CYCLE_SECONDS, Director, Station
from examples.uav.plane import Points, degrees, turned

WIDTH, HEIGHT = 960, 720
_SCALES = {
    "streets": (0.095, 0.135), "midtown": (0.115, 0.135), "harbor": (0.17, 0.26),
    "highway": (0.09, 0.15),
}  # fmt: skip
"""Meters a pixel that each beat asks of camera and altitude."""
_VIEWS = (35.0, 45.0, 60.0)
_LOWEST, _HIGHEST = 60.0, 300.0


class Camera(NamedTuple):
    """What looks down: a place on the plane, altitude, and the direction that is up in frames."""

    x: float
    y: float
    altitude: float
    heading: float
    """Of the flight, in degrees clockwise from the east; up in the frame."""
    speed: float
    field_of_view: float
    mission: str
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def meters_per_pixel(self) -> float:
        """Of ground."""
        return 2 * self.altitude * math.tan(math.radians(self.field_of_view / 2)) / self.width

    @property
    def reach(self) -> float:
        """Meters from the middle to a corner."""
        return math.hypot(self.width, self.height) / 2 * self.meters_per_pixel

    @property
    def turn(self) -> float:
        """By how much frames are turned against the plane."""
        return -90.0 - self.heading

    @property
    def compass(self) -> float:
        """The heading as a compass says it."""
        return (self.heading + 90) % 360

    @property
    def position(self) -> tuple[float, float]:
        """Longitude and latitude."""
        return degrees(self.x, self.y)

    def pixels(self, points: Points) -> Points:
        """Points of the plane on the frame."""
        moved = turned(points - (self.x, self.y), self.turn) / self.meters_per_pixel
        shifted: Points = moved + np.array([self.width, self.height]) / 2
        return shifted


class DroneFlights:
    """The drones."""

    def __init__(self, seed: int, director: Director) -> None:
        self._seed, self._director = seed, director
        self._view = functools.lru_cache(maxsize=1024)(self._drawn_view)

    def camera(self, drone: int, seconds: float) -> Camera:
        """What the drone's camera is at a time."""
        x, y, mission, follows = self._place(drone, seconds)
        before, after = self._place(drone, seconds - 1.0), self._place(drone, seconds + 1.0)
        dx, dy = (after[0] - before[0]) / 2, (after[1] - before[1]) / 2
        speed = math.hypot(dx, dy)
        altitude, view, drift = self._view(drone, int(seconds // CYCLE_SECONDS))
        wave = math.sin(seconds / 41 + drift)
        altitude = min(_HIGHEST, max(_LOWEST, altitude * (1 + 0.06 * wave)))
        heading = math.degrees(math.atan2(dy, dx)) if follows or speed > 8 else drift * 57 + seconds
        return Camera(
            round(x, 3), round(y, 3), round(altitude, 2), round(heading % 360, 2), round(speed, 2),
            view, mission,
        )  # fmt: skip

    def _drawn_view(self, drone: int, cycle: int) -> tuple[float, float, float]:
        """Altitude, field of view, and how the drone sways, for a cycle."""
        low, high = _SCALES[BEATS[drone % len(BEATS)].kind]
        view = _VIEWS[int(stream(self._seed, 50, drone).integers(len(_VIEWS)))]
        random = stream(self._seed, 51, drone, max(0, cycle + 10))
        scale = float(random.uniform(low, high))
        altitudes = {each: scale * WIDTH / 2 / math.tan(math.radians(each / 2)) for each in _VIEWS}
        if altitudes[view] < _LOWEST * 1.07:
            view = _VIEWS[0]
        elif altitudes[view] > _HIGHEST * 0.94:
            view = _VIEWS[-1]
        return altitudes[view], view, float(random.uniform(0, 2 * math.pi))

    def _place(self, drone: int, seconds: float) -> tuple[float, float, str, bool]:
        cycle = int(seconds // CYCLE_SECONDS)
        before: Station | None = None
        for station in self._stations(drone, cycle):
            if seconds < station.start:
                if before is None:
                    break
                return *_between(before, station, seconds, drone), "patrol", False
            if seconds <= station.end:
                x, y = _around(station, seconds)
                return x, y, station.mission, station.follows is not None
            before = station
        x, y = _around(self._stations(drone, cycle)[0], seconds)
        return x, y, "patrol", False

    def _stations(self, drone: int, cycle: int) -> list[Station]:
        """The last station of the cycle before, this cycle's, and the first of the next."""
        last = self._director.script(drone, cycle - 1).stations[-1]
        following = self._director.script(drone, cycle + 1).stations[0]
        return [last, *self._director.script(drone, cycle).stations, following]


def _around(station: Station, seconds: float) -> tuple[float, float]:
    """On a circle around the station's place, or around whom it follows."""
    x, y = station.x, station.y
    if station.follows is not None:
        x, y = station.follows.place(min(max(seconds, station.start), station.end))
    turn = seconds * 2 * math.pi / 60
    return x + station.radius * math.cos(turn), y + station.radius * math.sin(turn)


def _between(one: Station, other: Station, seconds: float, drone: int) -> tuple[float, float]:
    """On the way, swaying to a side."""
    share = (seconds - one.end) / (other.start - one.end)
    share = share * share * (3 - 2 * share)
    start, end = np.array(_around(one, one.end)), np.array(_around(other, other.start))
    way = end - start
    length = float(np.hypot(*way))
    aside = np.array([-way[1], way[0]]) / max(length, 1.0)
    sway = math.sin(math.pi * share) * min(120.0, length / 4) * (1 if drone % 2 else -1)
    x, y = (start + share * way + sway * aside).tolist()
    return x, y
