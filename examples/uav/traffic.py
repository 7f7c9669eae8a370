"""Puts on the way who is there at a moment: vehicles on streets and highways, people on sidewalks.

Everybody moves at the speed of their lane, so that a lane is a belt with places on it, taken or not
by chance, which can be asked for at any time without those before. Streets have green waves: blocks
are as long as a wave moves in half a cycle, all vehicles on a lane pass all lights in the same
phase, and those that would meet a red one are not there. Cost: a hash a place in sight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from examples.uav import city as town
from examples.uav.chance import Floats, hashed, key_of
from examples.uav.city import AVENUE, BLOCK_X, BLOCK_Y, LANE, STREET, Borough, Cell, City
from examples.uav.thing import KINDS, ROOFS, Thing

SPEED = 10.0
CYCLE_SECONDS = 2 * BLOCK_Y / SPEED
_PLACE_M, _JITTER_M = 16.0, 1.5
_GREEN = (1.5, 6.5)
"""Seconds of a phase in which vehicles pass the middle of a crossing, none when it ends."""
_HIGHWAY_PLACE_M, _HIGHWAY_JITTER_M = 34.0, 8.0
_HIGHWAY_SPEEDS = (27.0, 24.0, 21.0)
"""Of lanes, from the median."""
_SHARES = ((0.70, "car"), (0.84, "taxi"), (0.87, "policeCar"), (0.93, "bus"), (1.0, "truck"))
_WALK_M, _WALKS, _WALK_SPEED = 3.2, (0.9, 2.0, 3.1), 1.3
"""A walker's room, how far from the curb they walk, and how fast."""


def busyness(hour: float) -> float:
    """How full streets are, from 0 to 1: two peaks a day, and little at night."""
    peaks = math.exp(-(((hour - 8.5) / 2) ** 2)) + math.exp(-(((hour - 17.5) / 2.5) ** 2))
    day = 1 / (1 + math.exp(-(hour - 6.5) * 2)) - 1 / (1 + math.exp(-(hour - 22.5) * 1.5))
    return min(1.0, 0.2 + 0.45 * day + 0.35 * peaks)


class Traffic:
    """All that move by themselves."""

    def __init__(self, seed: int, city: City) -> None:
        self._key = key_of(seed, 1)
        self._city = city
        self._boroughs = list(city.boroughs)

    def things(self, seconds: float, hour: float, x: float, y: float, reach: float) -> list[Thing]:
        """Who is within reach at a time."""
        busy = busyness(hour)
        cells = dict(self._city.cells(x, y, reach + 20))
        found: list[Thing] = []
        for name in {cell.borough: None for cell in cells}:
            borough = self._city.boroughs[name]
            here = {cell for cell in cells if cell.borough == name}
            found += self._on_streets(seconds, busy, borough, here)
            for cell in sorted(here):
                found += self._on_foot(seconds, busy * _crowded(cell), borough, cell)
        found = _outside_of_highways(found, self._city)
        found += self._on_highways(seconds, busy, x, y, reach)
        square = reach + 10
        return [each for each in found if abs(each.x - x) < square and abs(each.y - y) < square]

    def _on_streets(
        self, seconds: float, busy: float, borough: Borough, cells: set[Cell]
    ) -> Iterator[Thing]:
        """Vehicles between blocks that are both there, on avenues and on streets."""
        name, number = borough.name, self._boroughs.index(borough.name)
        avenues: dict[int, list[int]] = {}
        streets: dict[int, list[int]] = {}
        for cell in cells:
            if Cell(name, cell.column - 1, cell.row) in cells:
                avenues.setdefault(cell.column, []).append(cell.row)
            if Cell(name, cell.column, cell.row - 1) in cells:
                streets.setdefault(cell.row, []).append(cell.column)
        for along_y, lines, lanes in ((True, avenues, (0.5, 1.5)), (False, streets, (0.53,))):
            length = BLOCK_Y if along_y else BLOCK_X
            for line, pieces in sorted(lines.items()):
                phase = 0.0 if along_y else (0.5 - line * 0.5) * CYCLE_SECONDS
                low, high = min(pieces) * length, (max(pieces) + 1) * length
                for way in (1, -1):
                    for lane, off in enumerate(lanes):
                        key = (number, int(along_y), line, 2 * lane + (way > 0))
                        at, body = self._belt(key, seconds, low, high, way, phase, busy)
                        keep = np.isin(at // length, pieces)
                        # driving on the right: south along an avenue is in its west
                        aside = (-way if along_y else way) * off * LANE
                        across = line * (BLOCK_X if along_y else BLOCK_Y) + aside
                        others = np.full(keep.sum(), across)
                        pairs = (others, at[keep]) if along_y else (at[keep], others)
                        places = borough.to_plane(np.stack(pairs, axis=1))
                        heading = borough.turn + (90 if along_y else 0) + (0 if way > 0 else 180)
                        yield from _vehicles(places, np.full(len(places), heading), body[keep])

    def _belt(
        self, key: tuple[int, ...], seconds: float, low: float, high: float, way: int, phase: float,
        busy: float,
    ) -> tuple[Floats, Floats]:  # fmt: skip
        """Where vehicles are between two points of a lane with lights, and a number of each."""
        moved = way * SPEED * seconds
        first, last = math.floor((low - moved) / _PLACE_M), math.ceil((high - moved) / _PLACE_M)
        places = np.arange(first, last + 1)
        jitter = (hashed(self._key, *key, places, 1) * 2 - 1) * _JITTER_M
        start = places * _PLACE_M + jitter
        passing = (-way * start / SPEED - phase) % CYCLE_SECONDS
        taken = hashed(self._key, *key, places, 2) < 0.15 + 0.8 * busy
        taken &= (passing > _GREEN[0]) & (passing < _GREEN[1])
        at = start + moved
        taken &= (at >= low) & (at < high)
        return at[taken], hashed(self._key, *key, places, 3)[taken]

    def _on_highways(
        self, seconds: float, busy: float, x: float, y: float, reach: float
    ) -> Iterator[Thing]:
        for number, highway in enumerate(self._city.highways.values()):
            near = highway.near(x, y, reach * 1.5)
            if near is None:
                continue
            low, high = near[0] * highway.step, near[1] * highway.step
            for way in (1, -1):
                for lane in range(town.HIGHWAY_LANES):
                    key = (90 + number, lane, way + 1)
                    moved = way * _HIGHWAY_SPEEDS[lane] * seconds
                    first, last = (
                        math.floor((each - moved) / _HIGHWAY_PLACE_M) for each in (low, high)
                    )
                    places = np.arange(first, last + 2)
                    jitter = (hashed(self._key, *key, places, 1) * 2 - 1) * _HIGHWAY_JITTER_M
                    at = places * _HIGHWAY_PLACE_M + jitter + moved
                    taken = hashed(self._key, *key, places, 2) < 0.1 + 0.55 * busy
                    taken &= (at >= low) & (at < high)
                    points, headings = highway.at(at[taken], way * highway_lane(lane))
                    if way < 0:
                        headings = headings + 180
                    body = hashed(self._key, *key, places, 3)[taken]
                    yield from _vehicles(points, headings, body)

    def _on_foot(
        self, seconds: float, busy: float, borough: Borough, cell: Cell
    ) -> Iterator[Thing]:
        """People who walk around a block, three abreast at most."""
        number = self._boroughs.index(cell.borough)
        middle = np.array([cell.column + 0.5, cell.row + 0.5]) * (BLOCK_X, BLOCK_Y)
        for track, off in enumerate(_WALKS):
            wide, high = BLOCK_X - AVENUE - 2 * off, BLOCK_Y - STREET - 2 * off
            around = 2 * (wide + high)
            count = int(around / _WALK_M)
            room = around / count
            places = np.arange(count)
            key = (number, cell.column, cell.row, track)
            taken = hashed(self._key, 50, *key, places) < busy
            jitter = (hashed(self._key, 51, *key, places) - 0.5) * 1.2
            way = 1 if track % 2 else -1
            at = (places * room + jitter + way * _WALK_SPEED * seconds)[taken] % around
            shirts = hashed(self._key, 52, *key, places)[taken]
            points = borough.to_plane(_on_edge(at, wide, high) + middle)
            headings = borough.turn + (at // (around / 4)) * 90
            for (px, py), heading, shirt in zip(
                points.tolist(), headings.tolist(), shirts.tolist(), strict=True
            ):
                yield Thing("person", px, py, heading, int(shirt * len(KINDS["person"].bodies)))


def highway_lane(lane: int) -> float:
    """How far the middle of a lane is from the highway's, 0 beside the median."""
    return town.MEDIAN / 2 + (lane + 0.5) * town.HIGHWAY_LANE


def _crowded(cell: Cell) -> float:
    """How many walk around a block: most in the middle of Manhattan."""
    if cell.borough != "Manhattan":
        return 0.12
    return 0.14 + 0.22 * math.exp(-(cell.column**2 + (cell.row / 2) ** 2) / 60)


def _on_edge(at: Floats, wide: float, high: float) -> Floats:
    """Points so far along the edge of a rectangle around 0, from its upper left corner."""
    stops = np.array([0, wide, wide + high, 2 * wide + high, 2 * (wide + high)])
    x = np.interp(at, stops, np.array([-1, 1, 1, -1, -1]) * wide / 2)
    y = np.interp(at, stops, np.array([-1, -1, 1, 1, -1]) * high / 2)
    return np.stack([x, y], axis=1)


def _vehicles(points: Floats, headings: Floats, numbers: Floats) -> Iterator[Thing]:
    for (x, y), heading, number in zip(
        points.tolist(), headings.tolist(), numbers.tolist(), strict=True
    ):
        label = next(label for share, label in _SHARES if number <= share)
        body = int(number * 9973) % len(KINDS[label].bodies)
        roof = int(number * 7919) % ROOFS if label == "bus" else -1
        yield Thing(label, x, y, heading, body, roof=roof)


def _outside_of_highways(things: list[Thing], city: City) -> list[Thing]:
    """Those that no highway covers: it passes above them."""
    if not things:
        return things
    points = np.array([(each.x, each.y) for each in things])
    covered = np.zeros(len(things), bool)
    for highway in city.highways.values():
        covered |= highway.apart(points) < town.HIGHWAY / 2 + 6.5
    return [each for each, under in zip(things, covered.tolist(), strict=True) if not under]
