"""Decides what happens when and where, and which drone is there: five minutes at a time, for ever.

A drone has a beat, and a beat has a script: on its highway somebody is chased, on its streets a
crowd gathers and cars collide, by the statue boats gather. Times, places and sizes are drawn by
chance for each drone and cycle. Invariant: a cycle's incidents begin and end in it.
Cost: milliseconds a drone and cycle, kept.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from examples.uav.chance import stream
from examples.uav.city import BLOCK_X, BLOCK_Y, HIGHWAY, Cell, City, corners_of
from examples.uav.incidents import Boats, Chase, Crowd, Incident, Jam
from examples.uav.plane import local

CYCLE_SECONDS = 300.0
_ANCHORS = {
    "Bronx": ((-73.8855, 40.8618), (-73.9030, 40.8370), (-73.8720, 40.8390), (-73.8560, 40.8480)),
    "Brooklyn": ((-73.9550, 40.6500), (-73.9800, 40.6300), (-73.9250, 40.6700)),
    "Queens": ((-73.8300, 40.7200), (-73.8000, 40.7100), (-73.9000, 40.7550)),
    "StatenIsland": ((-74.1300, 40.6000), (-74.1500, 40.5850)),
    "Manhattan": ((-73.9500, 40.8050), (-73.9400, 40.8350)),
}
_HIGHWAYS = {
    "Bronx": ("CrossBronxExpressway", "BrucknerExpressway"),
    "Brooklyn": ("BrooklynQueensExpressway",),
    "Queens": ("LongIslandExpressway",),
    "Manhattan": ("FdrDrive",),
    "StatenIsland": ("StatenIslandExpressway",),
}


class Beat(NamedTuple):
    """What a drone looks after."""

    kind: str
    borough: str


BEATS = (
    Beat("streets", "Bronx"), Beat("harbor", "Manhattan"), Beat("midtown", "Manhattan"),
    Beat("highway", "Bronx"), Beat("streets", "Brooklyn"), Beat("highway", "Queens"),
    Beat("streets", "Queens"), Beat("highway", "Brooklyn"), Beat("streets", "StatenIsland"),
    Beat("highway", "Manhattan"), Beat("streets", "Manhattan"), Beat("highway", "StatenIsland"),
)  # fmt: skip
"""Of drones by number; with more of them the list begins again."""


class Station(NamedTuple):
    """Where a drone stays from one time to another, and what it follows there, if anything."""

    start: float
    end: float
    x: float
    y: float
    radius: float
    mission: str
    follows: Incident | None = None


class Script(NamedTuple):
    """A drone's next five minutes."""

    incidents: tuple[Incident, ...]
    stations: tuple[Station, ...]


class Director:
    """Plans cycles; every drone's are its own."""

    def __init__(self, seed: int, city: City, drones: int) -> None:
        self._seed, self._city, self.drones = seed, city, drones
        self._anchors = [self._anchor(drone) for drone in range(drones)]
        self.script = functools.lru_cache(maxsize=64 + 4 * drones)(self._script)

    def incidents(self, seconds: float) -> Iterator[Incident]:
        """Everything that goes on at a time."""
        for drone in range(self.drones):
            for each in self.script(drone, int(seconds // CYCLE_SECONDS)).incidents:
                if each.start <= seconds <= each.end:
                    yield each

    def _anchor(self, drone: int) -> tuple[float, float]:
        """Around where a drone flies, in all cycles."""
        beat = BEATS[drone % len(BEATS)]
        random = stream(self._seed, 30, drone)
        places = _ANCHORS[beat.borough]
        x, y = local([places[int(random.integers(len(places)))]])[0].tolist()
        return x + float(random.uniform(-150, 150)), y + float(random.uniform(-150, 150))

    def _script(self, drone: int, cycle: int) -> Script:
        beat = BEATS[drone % len(BEATS)]
        random = stream(self._seed, 31, drone, max(0, cycle + 10))
        plans: dict[str, Callable[[np.random.Generator, Beat, int, int], Script]] = {
            "streets": self._streets, "midtown": self._midtown, "harbor": self._harbor,
            "highway": self._highway,
        }  # fmt: skip
        return plans[beat.kind](random, beat, drone, cycle)

    def _streets(self, random: np.random.Generator, beat: Beat, drone: int, cycle: int) -> Script:
        """A crowd on a square; then a jam behind an accident, and later the police."""
        start, number = cycle * CYCLE_SECONDS, 1000 * drone + 10 * cycle
        seed = int(random.integers(1 << 30))
        x, y = self._anchors[drone]
        square = self._square(random, beat.borough, x, y)
        size = int(
            random.integers(95, 210) if beat.borough == "Bronx" else random.integers(25, 180)
        )
        at = start + float(random.uniform(0, 6))
        crowd = Crowd(number, at, at + 125, *square, size, float(random.uniform(18, 30)), seed)
        at = start + float(random.uniform(140, 148))
        first = at + float(random.uniform(60, 75))
        accident = beat.borough == "Bronx" or bool(random.random() < 0.6)
        police = (first, first + float(random.uniform(12, 25))) if accident else ()
        borough = self._city.boroughs[beat.borough]
        column, row, way = self._avenue(random, beat.borough, *square)
        length = float(random.uniform(100, 150))
        jam = Jam(
            number + 1, at, at + 135, borough, column, row, way, length, accident, police, seed
        )
        stations = (
            Station(start + 6, start + 112, *square, float(random.uniform(4, 14)), "crowd"),
            Station(
                start + 158, start + 270, *jam.place(at), float(random.uniform(3, 8)), "traffic"
            ),
        )
        return Script((crowd, jam), stations)

    def _midtown(self, random: np.random.Generator, beat: Beat, drone: int, cycle: int) -> Script:
        """A large crowd beside an avenue that is jammed; later a smaller one, and free traffic."""
        start, number = cycle * CYCLE_SECONDS, 1000 * drone + 10 * cycle
        seed = int(random.integers(1 << 30))
        borough = self._city.boroughs["Manhattan"]
        squares = [
            (cell, kind)
            for cell, kind in self._city.cells(*_on(local([self._city.places["TimesSquare"]])), 500)
            if kind == "plaza" and self._is_open(cell.column, cell.row, "Manhattan")
        ]
        chosen = random.permutation(len(squares))[:2].tolist()
        cells = [squares[at][0] for at in chosen] or [Cell("Manhattan", 0, 0)]
        here, there = cells[0], cells[-1]
        # the crowd is in the west of its square, beside the avenue there
        crowd_at = _on(borough.to_plane(corners_of(here)[:1] + np.array([38.0, 40.0])))
        at = start + float(random.uniform(0, 10))
        size = int(random.integers(330, 400))
        crowd = Crowd(number, at, at + 165, *crowd_at, size, float(random.uniform(35, 50)), seed)
        way = 1 if random.random() < 0.5 else -1
        jam = Jam(
            number + 1, at + 10, at + 172, borough, here.column, here.row + (1 if way > 0 else -1),
            way, 170.0, False, (), seed,
        )  # fmt: skip
        later = _on(borough.to_plane(corners_of(there)[:1] + np.array([70.0, 40.0])))
        small = Crowd(
            number + 2, start + 185, start + 295, *later, int(random.integers(30, 140)), 25.0,
            seed + 1,
        )  # fmt: skip
        watch = _on(borough.to_plane(corners_of(here)[:1] + np.array([20.0, 40.0])))
        stations = (
            Station(start + 12, start + 160, *watch, float(random.uniform(3, 7)), "march"),
            Station(start + 215, start + 280, *later, float(random.uniform(4, 14)), "crowd"),
        )
        return Script((crowd, jam, small), stations)

    def _harbor(self, random: np.random.Generator, beat: Beat, drone: int, cycle: int) -> Script:
        """Tour boats gather off the statue, twice, with more or fewer of the coast guard."""
        start, number = cycle * CYCLE_SECONDS, 1000 * drone + 10 * cycle
        statue = local([self._city.places["StatueOfLiberty"]])[0]
        seed = int(random.integers(1 << 30))
        many = [(3, 1), (4, 1), (5, 2), (3, 0), (2, 0), (5, 1)][int(random.integers(6))]
        even = [(2, 1), (1, 1), (3, 2), (1, 2), (4, 2)][int(random.integers(5))]
        found: list[Incident] = []
        stations: list[Station] = []
        pairs = [(many, 0.0), (even, 150.0)]
        for at, ((tours, guards), begins) in enumerate(pairs):
            angle = math.radians(float(random.uniform(-50, 60)))
            far = float(random.uniform(330, 520))
            x, y = statue[0] + far * math.cos(angle), statue[1] + far * math.sin(angle)
            boats = Boats(
                number + at, start + begins, start + begins + 135, float(x), float(y), tours,
                guards, seed + at,
            )  # fmt: skip
            found.append(boats)
            radius = float(random.uniform(8, 18))
            stations.append(
                Station(start + begins + 8, start + begins + 80, x, y, radius, "harbor")
            )
            away = math.radians(float(random.uniform(-60, 60)))
            x, y = statue[0] + 1000 * math.cos(away), statue[1] + 700 * math.sin(away)
            stations.append(
                Station(start + begins + 125, start + begins + 135, x, y, 20.0, "patrol")
            )
        return Script(tuple(found), tuple(stations))

    def _highway(self, random: np.random.Generator, beat: Beat, drone: int, cycle: int) -> Script:
        """A chase, followed from the air, there and back again in the next cycle."""
        start, number = cycle * CYCLE_SECONDS, 1000 * drone + 10 * cycle
        names = _HIGHWAYS[beat.borough]
        picks = stream(self._seed, 32, drone)
        highway = self._city.highways[names[int(picks.integers(len(names)))]]
        low, high = (float(each) for each in picks.uniform((0.12, 0.62), (0.3, 0.8)))
        way = 1 if (cycle + int(picks.integers(2))) % 2 == 0 else -1
        origin = highway.length * (low if way > 0 else high)
        target = highway.length * (high if way > 0 else low)
        speed = float(random.uniform(28, 31))
        at = start + float(random.uniform(35, 50))
        lasts = min(120.0, abs(target - origin) / speed)
        body = int(random.choice([0, 1, 2, 3, 4, 5]))
        chase = Chase(
            number, at, at + lasts, highway, way, origin, speed, float(random.uniform(13, 22)), body
        )
        ends = chase.place(at + lasts)
        begins = chase.place(at)
        waits = highway.at(np.array([target]), 0.0)[0]
        stations = (
            Station(start + 4, at, *begins, 40.0, "patrol"),
            Station(at, at + lasts, *ends, 6.0, "pursuit", chase),
            Station(start + 280, start + 296, *_on(waits), 40.0, "patrol"),
        )
        return Script((chase,), stations)

    def _is_open(self, column: int, row: int, borough: str, around: int = 2) -> bool:
        """Whether there are blocks on both sides of an avenue, a few rows up and down, and no
        highway."""
        cells = [
            Cell(borough, column - side, row + off)
            for side in (0, 1)
            for off in range(-around, around + 1)
        ]
        if any(self._city.kind(cell) is None for cell in cells):
            return False
        corners = np.vstack([self._city.boroughs[borough].to_plane(corners_of(c)) for c in cells])
        return all(
            float(highway.apart(corners).min()) > HIGHWAY
            for highway in self._city.highways.values()
        )

    def _square(
        self, random: np.random.Generator, borough: str, x: float, y: float
    ) -> tuple[float, float]:
        """Somewhere on a square or lawn not far from a point."""
        own = self._city.boroughs[borough]
        for reach in (250, 500, 1000, 2000):
            found = [
                cell
                for cell, kind in self._city.cells(x, y, reach)
                if cell.borough == borough
                and kind in ("plaza", "lawn")
                and self._is_open(cell.column, cell.row, borough, 1)
            ]
            if found:
                cell = found[int(random.integers(len(found)))]
                off = (BLOCK_X * float(random.uniform(0.38, 0.62)), BLOCK_Y / 2)
                return _on(own.to_plane(corners_of(cell)[:1] + np.array(off)))
        raise ValueError(f"there is no square near {x:.0f}, {y:.0f} in {borough}")

    def _avenue(
        self, random: np.random.Generator, borough: str, x: float, y: float
    ) -> tuple[int, int, int]:
        """The column and row of an avenue's piece some blocks from a point, and a direction."""
        own = self._city.boroughs[borough]
        column, row = (
            (own.to_grid(np.array([[x, y]]))[0] // (BLOCK_X, BLOCK_Y)).astype(int).tolist()
        )
        near = [
            (column + a, row + b)
            for a in range(-4, 5)
            for b in range(-7, 8)
            if 300 < math.hypot(a * BLOCK_X, b * BLOCK_Y) < 700
        ]
        way = 1 if random.random() < 0.5 else -1
        for at in random.permutation(len(near)).tolist():
            if self._is_open(near[at][0], near[at][1], borough, 3):
                return near[at][0], near[at][1], way
        raise ValueError(f"there is no avenue near {x:.0f}, {y:.0f} in {borough}")


def _on(points: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
    x, y = points[0].tolist()
    return x, y
