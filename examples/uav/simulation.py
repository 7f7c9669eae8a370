"""Events with their frames and truth, in the order of time, for as long as they are asked for.

Every drone takes a frame in turn, `interval` seconds apart. Invariant: the same seed, start, drones
and interval give the same bytes; each moment can be had without those before. Cost: rendering.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examples.uav.chance import key_of, stream
from examples.uav.facts import NEAR_M, Radio
from examples.uav.flights import Camera, DroneFlights
from examples.uav.rendering import encoded, rendered
from examples.uav.truth import FrameTruth, truth_of
from examples.uav.weather import Weather, weather_of
from examples.uav.world import CityWorld

DRONES, INTERVAL_SECONDS = 6, 4.0


class Observation(NamedTuple):
    """What a drone sends, and what is true of it."""

    event: dict[str, Any]
    """As in the contract; `image` is the frame's JPEG file, as bytes."""
    frame: NDArray[np.uint8]
    """Before it was encoded."""
    truth: FrameTruth
    camera: Camera
    weather: Weather


class Simulation:
    """A world, drones above it, and what they send."""

    def __init__(
        self,
        seed: int = 1,
        *,
        drones: int = DRONES,
        interval: float = INTERVAL_SECONDS,
        start: datetime | None = None,
    ) -> None:
        if drones < 1 or interval <= 0:
            raise ValueError("there is a drone at least, and an interval above 0 seconds")
        self.seed, self.drones, self.interval = seed, drones, interval
        self.world = CityWorld(seed, start, drones)
        self._flights = DroneFlights(seed, self.world.director)
        self._radio = Radio(seed, self.world.director)

    def count(self, seconds: float) -> int:
        """How many observations there are in so many seconds."""
        return round(seconds / self.interval * self.drones)

    def observations(
        self, first: int = 0, last: int | None = None, render: bool = True
    ) -> Iterator[Observation]:
        """The observations from a number on: of `count(seconds)`, or without an end."""
        at = first
        while last is None or at < last:
            yield self.observation(at, render)
            at += 1

    def seconds(self, number: int) -> float:
        """When an observation is made, from the start on."""
        turn, drone = divmod(number, self.drones)
        return (turn + drone / self.drones) * self.interval

    def camera(self, number: int) -> Camera:
        """What the camera of an observation is."""
        return self._flights.camera(number % self.drones, self.seconds(number))

    def observation(self, number: int, render: bool = True) -> Observation:
        """One of them; without rendering, the frame is empty and the event has no image."""
        turn, drone = divmod(number, self.drones)
        seconds, camera = self.seconds(number), self.camera(number)
        world = self.world
        things = world.things(seconds, camera.x, camera.y, camera.reach)
        name = f"uav-{drone + 1}"
        identity = f"{name}-{turn:06d}"
        time = world.time(seconds).isoformat(timespec="milliseconds")
        weather = weather_of(self.seed, drone, seconds, world.hour(seconds))
        truth = truth_of(identity, name, time, weather.name, world.city, things, camera)
        boats = list(world.harbor.things(seconds, camera.x, camera.y, NEAR_M))
        event: dict[str, Any] = {
            "id": identity,
            "time": time,
            "camera": name,
            "position": list(camera.position),
            "altitude": camera.altitude,
            "field_of_view": camera.field_of_view,
            "speed": camera.speed,
            "heading": round(camera.compass, 2),
            "battery": round(100 - (seconds / 18 + 11 * drone) % 80, 1),
            "mission": camera.mission,
            "facts": self._radio.facts(name, camera, truth.borough, boats, seconds),
        }
        frame = np.zeros((0, 0, 3), np.uint8)
        if render:
            key = key_of(self.seed, 90, drone, turn)
            frame = rendered(world.city, things, camera, weather, key)
            event["image"] = encoded(frame, weather)
        return Observation(event, frame, truth, camera, weather)


def moments(
    count: int, seed: int, *, drones: int = DRONES, a_seed: int = 25, key: int = 99
) -> Iterator[tuple[Simulation, int]]:
    """Draws moments of a quarter of an hour: flights of so many seeds, and numbers on them; other
    moments by another key."""
    for at in range(0, count, a_seed):
        flights = Simulation(seed + at // a_seed, drones=drones)
        every = flights.count(900.0)
        picks = stream(flights.seed, key).choice(every, min(a_seed, count - at), replace=False)
        yield from ((flights, number) for number in sorted(picks.tolist()))
