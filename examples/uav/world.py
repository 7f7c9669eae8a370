"""Shows all there is within reach of a point at a time, of ordinary life and incidents.

Invariant: nothing is kept between two moments, and one depends on seed, time and place alone;
so a drone may look at any of them, in any order. Cost: a few milliseconds.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from examples.uav.chance import stream
from examples.uav.city import City, city
from examples.uav.director import Director
from examples.uav.harbor import Harbor
from examples.uav.incidents import ClearArea, without
from examples.uav.thing import Thing
from examples.uav.traffic import Traffic

_DAY = "2026-06-12T00:00:00-04:00"


class CityWorld:
    """A city with people in it, from a start on."""

    def __init__(self, seed: int = 1, start: datetime | None = None, drones: int = 6) -> None:
        self.seed = seed
        self.city: City = city()
        self.start = start or start_of(seed)
        self.traffic = Traffic(seed, self.city)
        self.harbor = Harbor(seed, self.city)
        self.director = Director(seed, self.city, drones)

    def time(self, seconds: float) -> datetime:
        """The time of day."""
        return self.start + timedelta(seconds=seconds)

    def hour(self, seconds: float) -> float:
        """Hours since midnight."""
        now = self.time(seconds)
        return now.hour + now.minute / 60 + now.second / 3600

    def things(self, seconds: float, x: float, y: float, reach: float) -> list[Thing]:
        """What is within reach."""
        things = self.traffic.things(seconds, self.hour(seconds), x, y, reach)
        things += self.harbor.things(seconds, x, y, reach)
        cleared: list[ClearArea] = []
        taking_part: list[Thing] = []
        for each in self.director.incidents(seconds):
            at = each.place(seconds)
            if abs(at[0] - x) > reach + 300 or abs(at[1] - y) > reach + 300:
                continue
            cleared += each.cleared(seconds)
            taking_part += each.things(seconds)
        there = without(things, cleared) + taking_part
        far = reach + 20
        return [each for each in there if abs(each.x - x) < far and abs(each.y - y) < far]


def start_of(seed: int) -> datetime:
    """When a run begins that nobody gave a time: at the busy end of an afternoon for the default
    seed, at some hour for others."""
    hour = 17.5 if seed == 1 else round(float(stream(seed, 40).uniform(0, 24)), 2)
    return datetime.fromisoformat(_DAY) + timedelta(seconds=int(hour * 3600))
