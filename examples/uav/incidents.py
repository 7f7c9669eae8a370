"""Makes things happen: chases, crowds, jams with and without an accident, boats that gather.

An incident knows who takes part in it at any time, and from where it keeps others away: nobody
drives through an accident. Invariant: what it says depends on nothing but itself and the time.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from examples.uav.chance import Floats, stream
from examples.uav.city import BLOCK_X, BLOCK_Y, LANE, STREET, Borough, Highway
from examples.uav.plane import Points, ahead, rectangle
from examples.uav.thing import KINDS, LIGHTS, NO_MARKS, ROOFS, Thing
from examples.uav.traffic import highway_lane

_FORWARD_M = 10.0
"""How far the front of a jam is beyond the middle of a block's side."""
_QUEUE = ["car"] * 10 + ["taxi"] * 4 + ["bus", "truck"]


class ClearArea(NamedTuple):
    """A rectangle without other vehicles."""

    x: float
    y: float
    heading: float
    length: float
    breadth: float


@dataclass(frozen=True)
class Incident(ABC):
    """Something that happens between two times."""

    number: int
    start: float
    end: float

    kind = ""

    @abstractmethod
    def place(self, seconds: float) -> tuple[float, float]:
        """Where it is."""

    @abstractmethod
    def things(self, seconds: float) -> Iterator[Thing]:
        """Who takes part."""

    def cleared(self, seconds: float) -> Iterator[ClearArea]:
        """Where nobody else drives."""
        return iter(())


@dataclass(frozen=True)
class Chase(Incident):
    """A police car with its lights on, close behind a fast car on a highway."""

    highway: Highway
    way: int
    origin: float
    speed: float
    gap: float
    body: int

    kind = "chase"
    lane = 1

    def _along(self, seconds: float) -> float:
        return self.origin + self.way * self.speed * (seconds - self.start)

    def place(self, seconds: float) -> tuple[float, float]:
        """Between the two."""
        along = np.array([self._along(seconds) - self.way * self.gap / 2])
        x, y = self.highway.at(along, self.way * highway_lane(self.lane))[0][0].tolist()
        return x, y

    def things(self, seconds: float) -> Iterator[Thing]:
        """The chased, and the chaser behind."""
        gap = self.gap + 2.5 * math.sin(seconds / 7 + self.number)
        along = self._along(seconds) - self.way * np.array([0.0, gap])
        points, headings = self.highway.at(along, self.way * highway_lane(self.lane))
        turn = 0 if self.way > 0 else 180
        for at, (label, body, marks, part) in enumerate(
            (("car", self.body, NO_MARKS, "chased"), ("policeCar", 0, LIGHTS, "chaser"))
        ):
            x, y = points[at].tolist()
            yield Thing(label, x, y, float(headings[at]) + turn, body, marks, part, self.number)

    def cleared(self, seconds: float) -> Iterator[ClearArea]:
        """Their lane, before and behind: others make way."""
        for off in range(-75, 80, 15):
            along = np.array([self._along(seconds) - self.way * self.gap / 2 + off])
            points, headings = self.highway.at(along, self.way * highway_lane(self.lane))
            x, y = points[0].tolist()
            yield ClearArea(x, y, float(headings[0]), 16.0, 2.2)


@dataclass(frozen=True)
class Crowd(Incident):
    """People who come from all sides, stand together for a while, and go."""

    x: float
    y: float
    size: int
    gathering: float
    """Seconds it takes until all are there, and until all are gone."""
    seed: int
    spacing: float = 1.12

    kind = "crowd"

    def place(self, seconds: float) -> tuple[float, float]:
        """Its middle."""
        return self.x, self.y

    def things(self, seconds: float) -> Iterator[Thing]:
        """Those who are there, or on their way."""
        if not self.start <= seconds <= self.end:
            return
        slots, doors, order, shirts, turns = _crowd(self.seed, self.size, self.spacing)
        walk = np.hypot(*(slots - doors).T) / 1.4
        leaves = self.end - self.gathering * 0.6 * order - walk
        arrives = self.start + self.gathering * order + walk
        inward = np.clip((seconds - arrives) / walk + 1, 0, 1)
        outward = np.clip((seconds - leaves) / walk, 0, 1)
        here = (inward > 0) & (outward < 1)
        share = np.minimum(inward, 1 - outward)[:, None]
        places = doors + (slots - doors) * share + (self.x, self.y)
        facing = turns + 3 * np.sin(seconds / 5 + 7 * turns)
        for at in np.flatnonzero(here).tolist():
            x, y = places[at].tolist()
            yield Thing(
                "person", x, y, float(facing[at]), int(shirts[at]), part="gathered",
                incident=self.number,
            )  # fmt: skip


@functools.lru_cache(maxsize=64)
def _crowd(seed: int, size: int, spacing: float) -> tuple[Points, Points, Floats, Floats, Floats]:
    """Where each stands, from where they come, when in turn, what they wear, how they face.

    The middle fills first, and everyone comes straight from outside: nobody walks through."""
    random = stream(seed, 20)
    squeezed = float(random.uniform(0.75, 1.0))
    steps = math.ceil(math.sqrt(size)) + 4
    grid = np.stack(np.meshgrid(np.arange(-steps, steps), np.arange(-steps, steps)), axis=-1)
    slots = grid.reshape(-1, 2) * (1.0, math.sqrt(0.75)) + 0.0
    slots[:, 0] += 0.5 * (grid.reshape(-1, 2)[:, 1] % 2)
    slots = slots * spacing + random.uniform(-0.13, 0.13, slots.shape) * spacing
    far = np.hypot(slots[:, 0] * squeezed, slots[:, 1]) * random.uniform(0.9, 1.1, len(slots))
    chosen = slots[np.argsort(far)[:size]]
    angles = np.arctan2(chosen[:, 1], chosen[:, 0]) + random.normal(0, 0.05, size)
    reach = np.hypot(*chosen.T) + random.uniform(12, 15, size)
    doors = np.stack([np.cos(angles) * reach, np.sin(angles) * reach], axis=1)
    order = (np.arange(size) + random.uniform(0, 1, size)) / size
    shirts = random.integers(0, len(KINDS["person"].bodies), size).astype(float)
    return chosen, doors, order, shirts, random.uniform(0, 360, size)


@dataclass(frozen=True)
class Jam(Incident):
    """A stretch of an avenue packed in one direction, before an accident or a truck that stands.

    Police comes to accidents, from where the road is free, and stands askew before it."""

    borough: Borough
    column: int
    row: int
    """It begins beside this block and goes back from there."""
    way: int
    length: float
    accident: bool
    police: tuple[float, ...]
    """When police cars come."""
    seed: int

    kind = "jam"

    @property
    def heading(self) -> float:
        """Where its vehicles want to go."""
        return self.borough.turn + 90 + (0 if self.way > 0 else 180)

    def _at(self, back: float, aside: float) -> tuple[float, float]:
        """A point so far behind the front, and so far to the right of the avenue's middle."""
        x = self.column * BLOCK_X
        y = (self.row + 0.5) * BLOCK_Y + self.way * _FORWARD_M
        front = self.borough.to_plane(np.array([[x, y]]))[0]
        place = ahead(float(front[0]), float(front[1]), self.heading, -back, aside)
        return float(place[0]), float(place[1])

    def place(self, seconds: float) -> tuple[float, float]:
        """Behind the front, in the middle of the avenue."""
        return self._at(21.0, 0.0)

    def things(self, seconds: float) -> Iterator[Thing]:
        """Who stands in it, who crashed, and the police."""
        if not self.start <= seconds <= self.end:
            return
        if self.accident:
            yield from _crash(self)
            yield from self._police(seconds)
        else:
            x, y = self._at(2.0, 0.5 * LANE)
            yield Thing("truck", x, y, self.heading, 0, part="queued", incident=self.number)
        grown = 40 + 6.0 * (seconds - self.start)
        for thing, back in _queued(self):
            if back < min(grown, self.length):
                yield thing

    def _police(self, seconds: float) -> Iterator[Thing]:
        """Cars that come against the direction, where nobody drives now, and stop before it."""
        for at, comes in enumerate(self.police):
            if seconds < comes:
                continue
            left = max(0.0, 1 - (seconds - comes) / 6) ** 2 * 18
            x, y = self._at(-(11 + 8.5 * at + left), (0.5 + at % 2) * LANE)
            askew = (42 if at % 2 else -38) * (1 - left / 18)
            yield Thing(
                "policeCar", x, y, self.heading + 180 + askew, 0, LIGHTS, "police", self.number
            )

    def cleared(self, seconds: float) -> Iterator[ClearArea]:
        """The lanes of its direction, from the next block before to the last one behind."""
        x, y = self._at((self.length - 20) / 2, LANE)
        yield ClearArea(x, y, self.heading, self.length + 105, 2 * LANE)


@functools.lru_cache(maxsize=64)
def _queued(jam: Jam) -> list[tuple[Thing, float]]:
    """All who may stand in the queue, and how far behind the front; nobody blocks a crossing."""
    random = stream(jam.seed, 21)
    found: list[tuple[Thing, float]] = []
    for lane in (0, 1):
        back = 9.0 + float(random.uniform(0, 2)) if jam.accident or lane == 0 else 3.0
        while back < jam.length:
            label = str(random.choice(_QUEUE))
            length = KINDS[label].length_m
            middle = back + length / 2
            off = (middle + BLOCK_Y / 2 - _FORWARD_M) % BLOCK_Y  # behind the crossing ahead
            if min(off, BLOCK_Y - off) < STREET / 2 + 4.5 + length / 2:
                back += 1.0
                continue
            x, y = jam._at(middle, (0.5 + lane) * LANE + float(random.normal(0, 0.12)))
            heading = jam.heading + float(random.normal(0, 1.2))
            body = int(random.integers(len(KINDS[label].bodies)))
            roof = int(random.integers(ROOFS)) if label == "bus" else -1
            thing = Thing(label, x, y, heading, body, NO_MARKS, "queued", jam.number, roof)
            found.append((thing, middle))
            back = middle + length / 2 + float(random.uniform(1.1, 3.2))
    return found


@functools.lru_cache(maxsize=64)
def _crash(jam: Jam) -> list[Thing]:
    """Two cars that touch at an angle, across both lanes."""
    random = stream(jam.seed, 22)
    turn = float(random.uniform(-8, 8))
    angle = float(random.uniform(50, 85))
    bodies = random.permutation(len(KINDS["car"].bodies))[:2].tolist()
    x, y = jam._at(3.0, 1.45 * LANE)
    first = Thing("car", x, y, jam.heading + turn, bodies[0], NO_MARKS, "crashed", jam.number)
    mine = rectangle(x, y, first.heading, 4.6, 1.9)
    back = -6.0
    while True:  # the other one comes nearer until they touch
        x, y = jam._at(back, 0.6 * LANE)
        heading = jam.heading - angle
        if touch(mine, rectangle(x, y, heading, 4.6 + 0.16, 1.9 + 0.16)):
            break
        back += 0.04
    return [first, Thing("car", x, y, heading, bodies[1], NO_MARKS, "crashed", jam.number)]


def touch(one: Points, other: Points) -> bool:
    """Whether two convex outlines have a point in common."""
    for outline in (one, other):
        sides = np.roll(outline, -1, axis=0) - outline
        for across in np.stack([-sides[:, 1], sides[:, 0]], axis=1):
            mine, its = one @ across, other @ across
            if mine.max() < its.min() or its.max() < mine.min():
                return False
    return True


@dataclass(frozen=True)
class Boats(Incident):
    """Tour boats and coast guard boats that wait off the Statue of Liberty."""

    x: float
    y: float
    tours: int
    guards: int
    seed: int

    kind = "boats"

    def place(self, seconds: float) -> tuple[float, float]:
        """Where they wait."""
        return self.x, self.y

    def things(self, seconds: float) -> Iterator[Thing]:
        """The boats, which drift a little."""
        if not self.start <= seconds <= self.end:
            return
        random = stream(self.seed, 23)
        spots = random.permutation(9)
        for at in range(min(9, self.tours + self.guards)):
            label = "tourBoat" if at < self.tours else "coastGuardBoat"
            column, row = divmod(int(spots[at]), 3)
            drift = 3 * math.sin(seconds / 23 + at), 3 * math.cos(seconds / 29 + 2 * at)
            x = self.x + (column - 1) * 47 + float(random.uniform(-2, 2)) + drift[0]
            y = self.y + (row - 1) * 40 + float(random.uniform(-2, 2)) + drift[1]
            heading = float(random.uniform(-35, 35)) + (180 if random.random() < 0.5 else 0)
            yield Thing(label, x, y, heading + 4 * math.sin(seconds / 31), 0, NO_MARKS, "waiting",
                        self.number)  # fmt: skip

    def cleared(self, seconds: float) -> Iterator[ClearArea]:
        """The water around."""
        yield ClearArea(self.x, self.y, 0.0, 240.0, 220.0)


def without(things: list[Thing], cleared: list[ClearArea]) -> list[Thing]:
    """The vehicles that are not where others are kept away, and all who walk."""
    if not cleared or not things:
        return things
    points = np.array([(each.x, each.y) for each in things])
    reach = np.array([KINDS[each.label].length_m / 2 for each in things])
    walks = np.array([each.label == "person" for each in things])
    away = np.zeros(len(things), bool)
    for each in cleared:
        turn = math.radians(each.heading)
        off = points - (each.x, each.y)
        along = np.abs(off[:, 0] * math.cos(turn) + off[:, 1] * math.sin(turn))
        aside = np.abs(off[:, 1] * math.cos(turn) - off[:, 0] * math.sin(turn))
        away |= ~walks & (along < each.length / 2 + reach) & (aside < each.breadth / 2)
    return [each for each, gone in zip(things, away.tolist(), strict=True) if not gone]
