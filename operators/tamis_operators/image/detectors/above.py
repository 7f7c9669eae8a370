"""Things of a palette, seen from straight above on a frame whose scale is known.

What is not ground under the frame's light is a mask. On it, rectangles of the sizes of the
palette's things are fitted at all angles: much mask inside, little around, none twice; what each of
them shows says which thing it is, which way it heads, and which marks it has. People are small and
round: what is left of the mask is counted by its peaks at the size of a person.
Cost: tenths of a second a frame, more with more things on it. Limits: colors and sizes are those of
the palette, the camera looks straight down, and people need three pixels across.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tamis_operators.image.detection import Box, Detection, DetectionError
from tamis_operators.image.detectors.fitting import Field, Fit, fits
from tamis_operators.image.detectors.light import light_of, seen
from tamis_operators.image.detectors.peaks import people_on
from tamis_operators.image.detectors.templates import sizes_of
from tamis_operators.image.labels import PERSON
from tamis_operators.image.palette import Palette
from tamis_operators.image.vision import opencv

if TYPE_CHECKING:
    from tamis_operators.image.frames import Frame

_LAND_CELL_M, _WATER_CELL_M = 0.2, 0.5
_COARSEST = 0.45
"""Meters a pixel beyond which a car is no picture."""
_PERSON_PIXELS = 3.0
_LEAST_WATER, _MOST_WATER = 0.1, 0.75
_SHORE_M = 2.0
_BESIDE_M = 0.4
_REST_M2 = 1.5


class ViewFromAboveDetector:
    """The things of a palette."""

    def __init__(self, palette: Palette) -> None:
        self._palette = palette
        self.labels = palette.labels
        self.marks = frozenset(mark for thing in palette.things for mark in thing.marks)
        self._people = [thing for thing in palette.things if thing.label == PERSON]

    def told(self, meters_per_pixel: float | None) -> frozenset[str]:
        """The labels it can tell on such a frame: people only where they are large enough."""
        return self.labels if self._tells_people(meters_per_pixel) else self.labels - {PERSON}

    def _tells_people(self, meters_per_pixel: float | None) -> bool:
        if meters_per_pixel is None or not self._people:
            return False
        return self._people[0].breadth_m / meters_per_pixel >= _PERSON_PIXELS

    def detect(self, frame: Frame, meters_per_pixel: float | None = None) -> list[Detection]:
        """The things on the frame."""
        if meters_per_pixel is None:
            raise DetectionError(
                "a view from above needs the altitude of the camera, or meters_per_pixel"
            )
        if meters_per_pixel > _COARSEST:
            raise DetectionError(
                f"a pixel shows {meters_per_pixel:.2f} m of ground: nothing smaller than a boat "
                f"can be told above {_COARSEST} m"
            )
        cv2 = opencv()
        smooth = cv2.bilateralFilter(frame, 5, 40, 1.5)
        light = light_of(smooth, self._palette)
        view = seen(smooth, self._palette, light, meters_per_pixel)
        mask = view.things
        wet = float(view.water.mean())
        found: list[Detection] = []
        taken = np.zeros(mask.shape, np.uint8)
        for on_water, cell_m in ((True, _WATER_CELL_M), (False, _LAND_CELL_M)):
            if wet < _LEAST_WATER if on_water else wet > _MOST_WATER:
                continue
            mask[taken > 0] = 0
            field = Field.of(smooth, mask, view.water, meters_per_pixel, cell_m, light, on_water)
            blur_m = max(meters_per_pixel, cell_m / 2)
            sizes = sizes_of(self._palette, cell_m, on_water, round(blur_m, 2))
            for fit in fits(field, sizes):
                thing = _detection(fit, field.pixels_per_cell)
                x, y = thing.center
                if 0 <= x <= frame.shape[1] and 0 <= y <= frame.shape[0]:
                    found.append(thing)
                corners = np.array(thing.corners(_BESIDE_M / meters_per_pixel))
                cv2.fillPoly(taken, [np.round(corners).astype(np.int32)], 1)
        if self._tells_people(meters_per_pixel):
            mask[(taken > 0) | (view.strips > 0)] = 0
            mask = _without_rests(mask, taken, meters_per_pixel)
            near = 2 * round(_SHORE_M / meters_per_pixel) + 1
            water, land = (
                cv2.blur(each.astype(np.float32), (near, near)) for each in (view.water, view.land)
            )
            mask[water > land] = 0
            found += people_on(smooth, mask, meters_per_pixel, self._people[0], light, taken)
        return found


def _without_rests(
    mask: NDArray[np.uint8], taken: NDArray[np.uint8], meters_per_pixel: float
) -> NDArray[np.uint8]:
    """The mask less what sticks out of the things that were found: too little for a crowd there."""
    cv2 = opencv()
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(mask)
    beside = cv2.dilate(taken, np.ones((3, 3), np.uint8)) > 0
    rests = np.bincount(pieces[beside], minlength=count) > 0
    rests &= stats[:, cv2.CC_STAT_AREA] < _REST_M2 / meters_per_pixel**2
    rests[0] = False
    kept: NDArray[np.uint8] = np.where(rests[pieces], 0, mask).astype(np.uint8)
    return kept


def _detection(fit: Fit, scale: float) -> Detection:
    """What was fitted on the field, in pixels of the frame."""
    x, y = fit.x * scale, fit.y * scale
    length, breadth = fit.length * scale, fit.breadth * scale
    turn = math.radians(fit.angle)
    wide = abs(length * math.cos(turn)) + abs(breadth * math.sin(turn))
    high = abs(length * math.sin(turn)) + abs(breadth * math.cos(turn))
    template = fit.template
    return Detection(
        template.thing.label,
        round(fit.score, 4),
        Box(x - wide / 2, y - high / 2, wide, high),
        length,
        breadth,
        fit.angle % 180,
        (fit.angle + 180 * template.turned) % 360,
        template.marks,
    )
