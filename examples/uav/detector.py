"""Finds the things of the palette on frames of the simulator, seen from straight above.

What is no ground in the frame's light is a mask. Rectangles of the sizes of vehicles and boats are
fitted on it; what they show says which thing each is, which way it heads, and which marks it has.
What is left, and what has a color of ground that is nowhere near, is people. Cost: a tenth of a
second a frame. Limits: colors and sizes are the palette's, the scale is known, and people need
three pixels across: of a real photograph it says nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from examples.uav.fitting import Fit, fits, sizes_of
from examples.uav.palette import PALETTE
from examples.uav.people import people_on
from examples.uav.shades import Pixels, in_daylight, seen
from tamis_operators.image import Box, Detection, DetectionError, Detector
from tamis_operators.image.labels import LIGHT_BAR, PERSON
from tamis_operators.image.vision import opencv

cv2 = opencv()

if TYPE_CHECKING:
    from tamis_operators.image.frames import Frame

_LAND_CELL_M, _WATER_CELL_M = 0.2, 0.5
_COARSEST, _PEOPLE = 0.45, 0.2
"""Meters a pixel beyond which a car is no picture, and somebody less than three pixels across."""
_LEAST_WATER, _MOST_WATER = 0.1, 0.75
_BESIDE_M, _STRIP_M = 0.4, 2.0


class SimulatedView(Detector):
    """The things of the palette."""

    labels = PALETTE.labels
    marks = frozenset({LIGHT_BAR})
    directions = True
    looks_down = True

    def told(self, meters_per_pixel: float | None) -> frozenset[str]:
        """The labels it can tell on such a frame: people only where they are large enough."""
        if meters_per_pixel is not None and meters_per_pixel <= _PEOPLE:
            return self.labels
        return self.labels - {PERSON}

    def detect(self, frame: Frame, meters_per_pixel: float | None = None) -> list[Detection]:
        """The things on the frame."""
        if meters_per_pixel is None:
            raise DetectionError("this detector needs the altitude of the camera")
        if meters_per_pixel > _COARSEST:
            raise DetectionError(f"a pixel shows {meters_per_pixel:.2f} m of ground: too coarse")
        lit = in_daylight(np.asarray(cv2.bilateralFilter(frame, 5, 40, 1.5), np.uint8))
        view = seen(lit, meters_per_pixel)
        mask, wet = view.things, float(view.water.mean())
        found: list[Detection] = []
        taken = np.zeros_like(mask)
        for on_water, cell_m in ((True, _WATER_CELL_M), (False, _LAND_CELL_M)):
            if wet < _LEAST_WATER if on_water else wet > _MOST_WATER:
                continue
            mask[taken > 0] = 0
            for thing in _large(lit, mask, view.water, on_water, cell_m, meters_per_pixel):
                x, y = thing.center
                if 0 <= x <= frame.shape[1] and 0 <= y <= frame.shape[0]:
                    found.append(thing)
                corners = np.array(thing.corners(_BESIDE_M / meters_per_pixel))
                cv2.fillPoly(taken, [np.round(corners).astype(np.int32)], (1,))
        if meters_per_pixel <= _PEOPLE:
            strips = _strips(view.foreign, meters_per_pixel)
            left = (view.things | view.foreign) & (1 - taken) & (1 - strips)
            found += people_on(lit, left, meters_per_pixel)
        return found


def _large(
    lit: Pixels, mask: Pixels, water: Pixels, on_water: bool, cell_m: float,
    meters_per_pixel: float,
) -> list[Detection]:  # fmt: skip
    """The vehicles on land, or the boats on water."""
    height, width = mask.shape
    zoom = meters_per_pixel / cell_m
    size = max(1, round(width * zoom)), max(1, round(height * zoom))
    method = cv2.INTER_AREA if zoom < 1 else cv2.INTER_LINEAR
    reach = max(3, 2 * round(0.5 / cell_m) + 1)
    square = np.ones((reach, reach), np.uint8)
    cells = cv2.morphologyEx(
        cv2.resize(mask * np.uint8(255), size, interpolation=method), cv2.MORPH_CLOSE, square
    )
    cells = cv2.morphologyEx(cells, cv2.MORPH_OPEN, square)  # markings of roads are narrow
    if on_water:
        cells *= _on_water(cells, cv2.resize(water, size, interpolation=cv2.INTER_NEAREST), reach)
    if not cells.any():
        return []
    sizes = sizes_of(cell_m, on_water, round(max(meters_per_pixel, cell_m / 2), 2))
    colors = np.asarray(cv2.resize(lit, size, interpolation=method), np.uint8)
    found = fits(np.asarray(cells, np.uint8), colors, sizes, cell_m)
    return [_detection(fit, width / size[0]) for fit in found]


def _on_water(cells: Pixels, water: Pixels, reach: int) -> Pixels:
    """1 for the pieces of the mask that lie mostly in water, 0 for those on land."""
    things = (cells > 127).astype(np.uint8)
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(things)
    afloat = np.zeros(count, np.uint8)
    kernel = np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)
    for number in range(1, count):
        if stats[number, cv2.CC_STAT_AREA] >= 40:
            around = (cv2.dilate((pieces == number).astype(np.uint8), kernel) > 0) & (things == 0)
            afloat[number] = bool(around.any()) and float(water[around].mean()) > 0.5
    wet: Pixels = np.take(afloat, pieces)
    return wet


def _strips(foreign: Pixels, meters_per_pixel: float) -> Pixels:
    """The pieces with a color of ground that are larger than people, or cut by the frame's edge."""
    height, width = foreign.shape
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(foreign)
    left, upper, wide, high = stats[:, :4].T
    cut = (left <= 1) | (upper <= 1) | (left + wide >= width - 1) | (upper + high >= height - 1)
    cut |= np.hypot(wide, high) * meters_per_pixel > _STRIP_M
    cut[0] = False
    strips: Pixels = np.take(cut.astype(np.uint8), pieces)
    return strips


def _detection(fit: Fit, scale: float) -> Detection:
    """What was fitted on cells, in pixels of the frame."""
    length, breadth = fit.size.length * scale, fit.size.breadth * scale
    turn = math.radians(fit.angle)
    wide = abs(length * math.cos(turn)) + abs(breadth * math.sin(turn))
    high = abs(length * math.sin(turn)) + abs(breadth * math.cos(turn))
    return Detection(
        fit.drawing.thing.label,
        round(fit.score, 4),
        Box(fit.x * scale - wide / 2, fit.y * scale - high / 2, wide, high),
        length,
        breadth,
        fit.angle % 180,
        (fit.angle + 180 * fit.drawing.turned) % 360,
        fit.drawing.marks,
    )
