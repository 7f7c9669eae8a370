"""Draws the ground: water, lawns, streets with their markings, houses, highways.

All of it in the palette's grounds, lines of roads in white; nothing moves. Cost: milliseconds.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from examples.uav import city as town
from examples.uav.chance import hashed
from examples.uav.city import AVENUE, BLOCK_X, BLOCK_Y, LANE, SIDEWALK, STREET, Cell, City, Highway
from examples.uav.flights import Camera
from examples.uav.palette import PALETTE, Color
from examples.uav.plane import Points, clipped

Image = NDArray[np.uint8]
Sun = tuple[float, float] | None
"""Meters of shadow a meter of height, if there is any."""
FINER = 2
"""Things are drawn on a finer canvas, and made smaller: edges are smooth then."""
_SHIFT = 4
_LINE = (226, 226, 222)
_GROUND = 0x6A0
_SURFACES = {**PALETTE.ground, **PALETTE.water}


class Canvas:
    """A frame in the making, in finer pixels."""

    def __init__(self, camera: Camera) -> None:
        self.camera = camera
        row = np.empty((1, camera.width * FINER, 3), np.uint8)
        row[:] = _SURFACES["water"][::-1]
        self.pixels: Image = np.repeat(row, camera.height * FINER, axis=0)
        scale = FINER * (1 << _SHIFT)
        self._matrix = (camera.pixels(np.eye(2)) - camera.pixels(np.zeros((1, 2)))) * scale
        middle = np.array([camera.width, camera.height]) / 2 * scale - (1 << _SHIFT) / 2
        self._offset = middle - np.array([camera.x, camera.y]) @ self._matrix

    def corners(self, outline: Points) -> NDArray[np.int32]:
        """An outline on the plane, as the drawing functions want it."""
        shifted: NDArray[np.int32] = np.rint(outline @ self._matrix + self._offset).astype(np.int32)
        return shifted

    def fill(self, outline: Points, color: Color, brightness: float = 1.0) -> None:
        """An outline in a color."""
        if len(outline) < 3:
            return
        paint = tuple(min(255.0, each * brightness) for each in reversed(color))
        cv2.fillPoly(self.pixels, [self.corners(outline)], paint, cv2.LINE_8, _SHIFT)

    def convex(self, corners: NDArray[np.int32], paint: tuple[float, float, float]) -> None:
        """Corners in a paint, blue first."""
        cv2.fillConvexPoly(self.pixels, corners, paint, cv2.LINE_8, _SHIFT)

    def line(self, points: Points, breadth: float, color: Color = _LINE) -> None:
        """A line so many meters broad."""
        across = max(1, round(breadth / self.camera.meters_per_pixel * FINER))
        paint = tuple(reversed(color))
        cv2.polylines(self.pixels, [self.corners(points)], False, paint, across, cv2.LINE_8, _SHIFT)

    def darken(self, outlines: list[NDArray[np.int32]], share: float) -> None:
        """Shadows: what of the light is left, however many fall on one place."""
        if not outlines:
            return
        mask = np.zeros(self.pixels.shape[:2], np.uint8)
        for outline in outlines:
            cv2.fillConvexPoly(mask, outline, 255, cv2.LINE_8, _SHIFT)
        table = (np.arange(256) * share).round().astype(np.uint8)
        cv2.copyTo(cv2.LUT(self.pixels, table), mask, self.pixels)


class House(NamedTuple):
    """A roof in meters of the grid, and how high it is."""

    outline: Points
    brightness: float
    height: float


def draw_ground(canvas: Canvas, city: City, sun: Sun) -> None:
    """Everything that does not move."""
    camera = canvas.camera
    x, y, reach = camera.x, camera.y, camera.reach + 10
    grass, water = _SURFACES["grass"], _SURFACES["water"]
    areas = [(borough.border, grass) for borough in city.boroughs.values()]
    areas += [(city.harbor, water), *((park, grass) for park in city.parks)]
    for area, color in areas:
        canvas.fill(clipped(area, reach, x, y), color)
    for island in city.islands.values():
        if np.abs(island.mean(axis=0) - (x, y)).max() < reach + 600:
            _draw_island(canvas, island)
    blocks = list(city.cells(x, y, reach))
    for cell, _ in blocks:
        _draw_streets(canvas, city, cell)
    for cell, kind in blocks:
        _draw_block(canvas, city, cell, kind)
    _draw_houses(canvas, city, [cell for cell, kind in blocks if kind == "houses"], sun)
    for cell, _ in blocks:
        _draw_markings(canvas, city, cell)
    for highway in city.highways.values():
        near = highway.near(x, y, reach)
        if near is not None:
            _draw_highway(canvas, highway, *near)


def _draw_houses(canvas: Canvas, city: City, cells: list[Cell], sun: Sun) -> None:
    """All shadows, then all roofs."""
    if sun is not None:
        shadows = [each for cell in cells for each in _shadows(canvas, city, cell, sun)]
        canvas.darken(shadows, PALETTE.shadow)
    for cell in cells:
        for house in _houses(cell):
            roof = city.boroughs[cell.borough].to_plane(house.outline)
            canvas.fill(roof, _SURFACES["roof"], house.brightness)


def _draw_highway(canvas: Canvas, highway: Highway, first: int, last: int) -> None:
    """A deck above the streets, its shadow beside it."""
    canvas.fill(highway.strip(1.5, town.HIGHWAY + 3, first, last), _SURFACES["asphalt"], 0.6)
    canvas.fill(highway.strip(0, town.HIGHWAY, first, last), _SURFACES["asphalt"])
    canvas.fill(highway.strip(0, town.MEDIAN, first, last), _SURFACES["pavement"])
    for side in (-1, 1):
        for off in (
            town.MEDIAN / 2 + 0.3,
            town.MEDIAN / 2 + town.HIGHWAY_LANES * town.HIGHWAY_LANE + 0.1,
        ):
            canvas.line(_offset(highway.strip(side * off, 0, first, last)), 0.14)
        for lane in range(1, town.HIGHWAY_LANES):
            off = side * (town.MEDIAN / 2 + lane * town.HIGHWAY_LANE)
            line = _offset(highway.strip(off, 0, first, last))
            for at in range(len(line) - 1):
                middle = line[at] + 0.3 * (line[at + 1] - line[at])
                canvas.line(np.array([line[at], middle]), 0.14)


def _offset(strip: Points) -> Points:
    return strip[: len(strip) // 2]


def _draw_island(canvas: Canvas, island: Points) -> None:
    middle = island.mean(axis=0)
    for share, surface in ((1.0, "pavement"), (0.92, "grass"), (0.45, "pavement"), (0.3, "grass")):
        canvas.fill(middle + (island - middle) * share, _SURFACES[surface])
    star = [
        (28 if at % 2 else 18) * np.array([np.cos(at * np.pi / 11), np.sin(at * np.pi / 11)])
        for at in range(22)
    ]
    canvas.fill(middle + np.array(star), _SURFACES["roof"])
    for at, (off_x, off_y) in enumerate(_spots(7, 40)):
        off = np.array([off_x - 0.5, off_y - 0.5]) * np.ptp(island, axis=0) * 0.7
        if np.hypot(*off) > 34:
            _tree(canvas, middle + off, 2.5 + 2 * (at % 3))


def _spots(key: int, count: int) -> list[list[float]]:
    numbers = np.arange(count)
    pairs = [hashed(_GROUND, key, axis, numbers) for axis in (0, 1)]
    spots: list[list[float]] = np.stack(pairs, axis=1).tolist()
    return spots


def _tree(canvas: Canvas, at: Points, radius: float) -> None:
    turns = np.arange(10) * np.pi / 5
    round_ = np.stack([np.cos(turns), np.sin(turns)], axis=1) * radius
    canvas.fill(at + round_, _SURFACES["tree"])


def _on_grid(cell: Cell, x0: float, y0: float, x1: float, y1: float) -> Points:
    """A rectangle of a block, in meters from its upper left corner."""
    corner = np.array([cell.column * BLOCK_X, cell.row * BLOCK_Y])
    outline: Points = corner + np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    return outline


def _draw_streets(canvas: Canvas, city: City, cell: Cell) -> None:
    borough = city.boroughs[cell.borough]
    grown = _on_grid(cell, -AVENUE / 2, -STREET / 2, BLOCK_X + AVENUE / 2, BLOCK_Y + STREET / 2)
    canvas.fill(borough.to_plane(grown), _SURFACES["asphalt"])


def _shadows(
    canvas: Canvas, city: City, cell: Cell, sun: tuple[float, float]
) -> Iterator[NDArray[np.int32]]:
    """Those of a block's houses."""
    for house in _houses(cell):
        outline = city.boroughs[cell.borough].to_plane(house.outline)
        far = np.array(sun) * min(house.height, 9.0)
        whole = cv2.convexHull(np.vstack([outline, outline + far]).astype(np.float32))
        yield canvas.corners(whole.reshape(-1, 2).astype(float))


def _draw_block(canvas: Canvas, city: City, cell: Cell, kind: str) -> None:
    borough = city.boroughs[cell.borough]
    x0, y0 = AVENUE / 2, STREET / 2
    curb = _on_grid(cell, x0, y0, BLOCK_X - x0, BLOCK_Y - y0)
    canvas.fill(borough.to_plane(curb), _SURFACES["pavement"])
    x0, y0 = x0 + SIDEWALK, y0 + SIDEWALK
    inner = _on_grid(cell, x0, y0, BLOCK_X - x0, BLOCK_Y - y0)
    if kind == "houses":
        canvas.fill(borough.to_plane(inner), _SURFACES["grass"])
        return
    if kind == "lawn":
        canvas.fill(borough.to_plane(inner), _SURFACES["grass"])
    for at, (x, y) in enumerate(_spots(hash_of(cell), 14)):
        if 0.22 < x < 0.78:  # the middle is kept free: people gather there
            continue
        place = _on_grid(
            cell, x0 + 3 + x * (BLOCK_X - 2 * x0 - 6), y0 + 3 + y * (BLOCK_Y - 2 * y0 - 6), 0, 0
        )[:1]
        if kind == "lawn" or at % 3 == 0:
            _tree(canvas, borough.to_plane(place)[0], 2.0 + 1.2 * (at % 3))


def hash_of(cell: Cell) -> int:
    """A number of the block."""
    name = sum(ord(letter) * 31**at for at, letter in enumerate(cell.borough))
    return int(hashed(_GROUND, name, cell.column, cell.row) * (1 << 40))


@functools.lru_cache(maxsize=4096)
def _houses(cell: Cell) -> list[House]:
    """Two rows of houses, with yards between."""
    x0, y0 = AVENUE / 2 + SIDEWALK, STREET / 2 + SIDEWALK
    found: list[House] = []
    key = hash_of(cell)
    for row in (0, 1):
        at, number = x0, 0
        deep = (BLOCK_Y - 2 * y0) * (0.34 + 0.12 * float(hashed(key, row, 9)))
        while at < BLOCK_X - x0 - 8:
            a, b, c, d = (float(hashed(key, row, number, each)) for each in range(4))
            wide = min(13 + 16 * a, BLOCK_X - x0 - at)
            low = y0 if row == 0 else BLOCK_Y - y0 - deep
            if c > 0.08:
                outline = _on_grid(cell, at, low, at + wide, low + deep)
                found.append(House(outline, 0.93 + 0.14 * d, 6 + 30 * a * d))
            at += wide + (0.0 if b < 0.7 else 3.0)
            number += 1
    return found


def _draw_markings(canvas: Canvas, city: City, cell: Cell) -> None:
    """Lanes and stop lines along the upper and the left side of a block."""
    borough = city.boroughs[cell.borough]

    def line(x0: float, y0: float, x1: float, y1: float, breadth: float = 0.14) -> None:
        corner = np.array([cell.column * BLOCK_X, cell.row * BLOCK_Y])
        canvas.line(borough.to_plane(corner + np.array([[x0, y0], [x1, y1]])), breadth)

    near, far = STREET / 2 + 4.5, BLOCK_Y - STREET / 2 - 4.5
    if city.kind(cell._replace(column=cell.column - 1)) is not None:
        line(-0.15, near, -0.15, far)
        line(0.15, near, 0.15, far)
        for side in (-LANE, LANE):
            at = near
            while at < far - 3:
                line(side, at, side, at + 3)
                at += 9
        line(-AVENUE / 2, far, 0, far, 0.3)
        line(0, near, AVENUE / 2, near, 0.3)
    near, far = AVENUE / 2 + 4.5, BLOCK_X - AVENUE / 2 - 4.5
    if city.kind(cell._replace(row=cell.row - 1)) is not None:
        line(near, 0, far, 0)
        line(far, 0, far, STREET / 2, 0.3)
        line(near, -STREET / 2, near, 0, 0.3)
