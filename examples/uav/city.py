"""Lays out the city: boroughs with a grid of streets each, parks, highways, islands.

Borders and landmarks are those of the bundled gazetteer; the grids, and where highways, lawns and
houses are, is made up around them. Invariant: the city is the same for every seed. A block is a
cell of its borough's grid, streets along its edges; it is there when it lies in the borough and in
neither park nor harbor. Cost: milliseconds a new block, nothing for one that was seen before.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from examples.uav.chance import hashed
from examples.uav.plane import Points, clipped, inside, local, smooth, turned

BLOCK_X, BLOCK_Y = 160.0, 80.0
"""Meters from avenue to avenue, and from street to street."""
AVENUE, STREET, SIDEWALK = 13.6, 7.4, 4.0
"""How broad they are."""
LANE = 3.4
HIGHWAY_LANE, HIGHWAY_LANES, MEDIAN = 3.6, 3, 2.0
HIGHWAY = 2 * (HIGHWAY_LANES * HIGHWAY_LANE + 2.0) + MEDIAN
"""With shoulders."""
_CITY = 0xC17
_TURNS = {
    "Manhattan": -61.0,
    "Bronx": -57.0,
    "Brooklyn": 38.0,
    "Queens": -12.0,
    "StatenIsland": 24.0,
}
"""How far the streets' direction is from the east; avenues run uptown, 29 degrees from north."""
_ORIGINS = {
    "Manhattan": (-73.9855, 40.7580), "Bronx": (-73.8900, 40.8480), "Brooklyn": (-73.9550, 40.6500),
    "Queens": (-73.8300, 40.7200), "StatenIsland": (-74.1300, 40.6000),
}  # fmt: skip
_PARKS = {
    "BronxZoo": 420, "NewYorkBotanicalGarden": 350, "Unisphere": 500, "SnugHarbor": 200,
}  # fmt: skip
"""Landmarks with a lawn around, and its radius."""
_ISLANDS = {"StatueOfLiberty": (150, 105), "EllisIsland": (170, 120), "GovernorsIsland": (500, 300)}
_HARBOR = [
    (-74.07, 40.6985), (-74.0195, 40.6985), (-74.0165, 40.7000), (-74.0080, 40.6960),
    (-74.0200, 40.6800), (-74.0260, 40.6720), (-74.0400, 40.6550), (-74.07, 40.6550),
]  # fmt: skip
_HIGHWAYS = {
    "CrossBronxExpressway": ("Bronx", [
        (-73.9230, 40.8455), (-73.9060, 40.8445), (-73.8880, 40.8400), (-73.8640, 40.8310),
        (-73.8420, 40.8300), (-73.8200, 40.8250),
    ]),
    "MajorDeeganExpressway": ("Bronx", [
        (-73.9120, 40.8050), (-73.9225, 40.8180), (-73.9215, 40.8330), (-73.9110, 40.8520),
        (-73.8990, 40.8700), (-73.8960, 40.8900),
    ]),
    "BrucknerExpressway": ("Bronx", [
        (-73.9050, 40.8060), (-73.8850, 40.8160), (-73.8600, 40.8250), (-73.8350, 40.8420),
        (-73.8280, 40.8650),
    ]),
    "BrooklynQueensExpressway": ("Brooklyn", [
        (-74.0080, 40.6500), (-73.9980, 40.6720), (-73.9850, 40.6920), (-73.9600, 40.7040),
        (-73.9450, 40.7200), (-73.9200, 40.7350), (-73.9050, 40.7550),
    ]),
    "LongIslandExpressway": ("Queens", [
        (-73.9350, 40.7400), (-73.9000, 40.7330), (-73.8600, 40.7370), (-73.8200, 40.7430),
        (-73.7600, 40.7550),
    ]),
    "FdrDrive": ("Manhattan", [
        (-73.9770, 40.7200), (-73.9690, 40.7420), (-73.9560, 40.7560), (-73.9450, 40.7720),
        (-73.9350, 40.7900),
    ]),
    "StatenIslandExpressway": ("StatenIsland", [
        (-74.0680, 40.6050), (-74.1000, 40.6080), (-74.1400, 40.6120), (-74.1900, 40.6180),
    ]),
}  # fmt: skip


class Cell(NamedTuple):
    """A block: its borough, and its column and row in that borough's grid."""

    borough: str
    column: int
    row: int


@dataclass(frozen=True, eq=False)
class Borough:
    """A borough: its border, and its grid."""

    name: str
    border: Points
    turn: float
    origin: Points

    def to_grid(self, points: Points) -> Points:
        """Points in meters along the streets and along the avenues."""
        return turned(points - self.origin, -self.turn)

    def to_plane(self, points: Points) -> Points:
        """Points of the grid on the plane."""
        return turned(points, self.turn) + self.origin


@dataclass(frozen=True, eq=False)
class Highway:
    """A highway: the line of its middle, in even steps."""

    name: str
    borough: str
    line: Points
    normals: Points
    """To the right of the way along it, one long."""
    headings: Points
    step: float

    @property
    def length(self) -> float:
        """Meters from end to end."""
        return self.step * (len(self.line) - 1)

    def at(self, along: Points, aside: float) -> tuple[Points, Points]:
        """Points so far along and so far to the right, and the headings there."""
        place = np.clip(along / self.step, 0, len(self.line) - 1)
        index = np.arange(len(self.line))
        columns = [
            np.interp(place, index, self.line[:, axis] + aside * self.normals[:, axis])
            for axis in (0, 1)
        ]
        return np.stack(columns, axis=1), np.interp(place, index, self.headings)

    def strip(self, aside: float, breadth: float, first: int, last: int) -> Points:
        """The outline of a strip along a piece of it."""
        piece = slice(max(0, first), last + 1)
        left = self.line[piece] + (aside - breadth / 2) * self.normals[piece]
        right = self.line[piece] + (aside + breadth / 2) * self.normals[piece]
        return np.vstack([left, right[::-1]])

    def near(self, x: float, y: float, reach: float) -> tuple[int, int] | None:
        """The steps of it from the first to the last within reach; `None` for none."""
        close = np.flatnonzero(np.hypot(*(self.line - (x, y)).T) < reach + self.step + HIGHWAY)
        return (int(close[0]), int(close[-1])) if len(close) else None

    def apart(self, points: Points) -> Points:
        """How far points are from its middle; infinitely, where none is near it."""
        if not len(points):
            return np.zeros(0)
        low, high = points.min(axis=0), points.max(axis=0)
        x, y = ((low + high) / 2).tolist()
        near = self.near(x, y, float(np.hypot(*(high - low))) / 2)
        if near is None:
            return np.full(len(points), np.inf)
        piece = self.line[near[0] : near[1] + 1]
        squares = (points[:, :1] - piece[:, 0]) ** 2 + (points[:, 1:] - piece[:, 1]) ** 2
        far: Points = np.sqrt(np.maximum(squares.min(axis=1) - (self.step / 4) ** 2, 0.0))
        return far


@dataclass(frozen=True, eq=False)
class City:
    """All of it."""

    boroughs: dict[str, Borough]
    parks: tuple[Points, ...]
    islands: dict[str, Points]
    harbor: Points
    highways: dict[str, Highway]
    places: dict[str, tuple[float, float]]
    """Longitude and latitude of landmarks that are points."""

    def borough_at(self, x: float, y: float) -> str | None:
        """The borough of a point, by its border."""
        point = np.array([[x, y]])
        for name, borough in self.boroughs.items():
            if inside(borough.border, point)[0]:
                return name
        return None

    def cells(self, x: float, y: float, reach: float) -> Iterator[tuple[Cell, str]]:
        """The blocks within reach, and what is on them."""
        window = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * reach + (x, y)
        for name, borough in self.boroughs.items():
            if not len(clipped(borough.border, reach, x, y)):
                continue
            corners = borough.to_grid(window) / (BLOCK_X, BLOCK_Y)
            (left, low), (right, high) = (
                np.floor(corners.min(axis=0)),
                np.floor(corners.max(axis=0)),
            )
            for column in range(int(left), int(right) + 1):
                for row in range(int(low), int(high) + 1):
                    cell = Cell(name, column, row)
                    kind = self.kind(cell)
                    if kind is not None:
                        yield cell, kind

    def kind(self, cell: Cell) -> str | None:
        """What is on a block: `houses`, `plaza` or `lawn`; `None` where there is no block."""
        return _kind(cell)


def corners_of(cell: Cell) -> Points:
    """The corners of a block, in the middle of its streets, on the grid."""
    box = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) + np.array([cell.column, cell.row])
    corners: Points = box * (BLOCK_X, BLOCK_Y)
    return corners


@functools.lru_cache(maxsize=100_000)
def _kind(cell: Cell) -> str | None:
    known = city()
    borough = known.boroughs[cell.borough]
    corners = borough.to_plane(corners_of(cell))
    middle = corners.mean(axis=0, keepdims=True)
    if not inside(borough.border, corners).all() or inside(known.harbor, corners).any():
        return None
    if any(inside(park, middle)[0] for park in known.parks):
        return None
    if (cell.column, cell.row) == (0, 0) or cell in _squares():
        return "plaza"
    chance = float(hashed(_CITY, list(_TURNS).index(cell.borough), cell.column, cell.row))
    return "plaza" if chance < 0.1 else "lawn" if chance < 0.16 else "houses"


@functools.lru_cache(maxsize=1)
def _squares() -> frozenset[Cell]:
    """The blocks of the squares that the gazetteer knows."""
    found = set()
    for name in ("UnionSquare", "ColumbusCircle", "RockefellerCenter", "NewYorkPublicLibrary"):
        borough = city().boroughs["Manhattan"]
        column, row = borough.to_grid(local([city().places[name]]))[0] // (BLOCK_X, BLOCK_Y)
        found.add(Cell("Manhattan", int(column), int(row)))
    return frozenset(found)


@functools.lru_cache(maxsize=1)
def city() -> City:
    """The city."""
    boroughs: dict[str, Borough] = {}
    for name, geometry in _geometries("boroughs.geojson"):
        if name in _TURNS:
            # Times Square, and its like, are in the west of their blocks
            origin = local([_ORIGINS[name]])[0] - turned(np.array([[42.0, 40.0]]), _TURNS[name])[0]
            boroughs[name] = Borough(name, local(geometry["coordinates"][0]), _TURNS[name], origin)
    places: dict[str, tuple[float, float]] = {}
    parks: list[Points] = []
    for name, geometry in _geometries("landmarks.geojson"):
        if geometry["type"] == "Point":
            longitude, latitude = geometry["coordinates"][:2]
            places[name] = (float(longitude), float(latitude))
        elif name == "CentralPark":
            parks.append(local(geometry["coordinates"][0]))
    parks += [_oval(places[name], radius, radius) for name, radius in _PARKS.items()]
    islands = {name: _oval(places[name], *radii) for name, radii in _ISLANDS.items()}
    highways = {name: _highway(name, *given) for name, given in _HIGHWAYS.items()}
    return City(boroughs, tuple(parks), islands, local(_HARBOR), highways, places)


def _geometries(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The names and geometries of a file of the gazetteer that comes with the operators."""
    data = files("tamis_operators.spatial") / "data" / name
    for feature in json.loads(data.read_text(encoding="utf-8"))["features"]:
        if feature["geometry"] is not None:
            yield feature["properties"]["name"], feature["geometry"]


def _oval(place: tuple[float, float], wide: float, high: float) -> Points:
    turns = np.linspace(0, 2 * math.pi, 40, endpoint=False)
    bumps = 1 + 0.06 * np.sin(3 * turns + 1) + 0.04 * np.cos(5 * turns)
    shape = np.stack([wide * np.cos(turns) * bumps, high * np.sin(turns) * bumps], axis=1)
    moved: Points = shape + local([place])[0]
    return moved


def _highway(name: str, borough: str, degrees: list[tuple[float, float]]) -> Highway:
    line = smooth(local(degrees))
    along = np.gradient(line, axis=0)
    headings = np.degrees(np.unwrap(np.arctan2(along[:, 1], along[:, 0])))
    turns = np.radians(headings)
    normals = np.stack([-np.sin(turns), np.cos(turns)], axis=1)
    step = float(np.hypot(*np.diff(line, axis=0).T).mean())
    return Highway(name, borough, line, normals, headings, step)
