"""How many people a mask shows: its peaks at the size of a person.

A person is a disk of half a meter, of which a crowd is full: the mask is smoothed at that size, and
every peak that is high enough, and far enough from a higher one, is a person. Long even stripes are
markings of a road.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis_operators.image.detection import Box, Detection
from tamis_operators.image.detectors.light import Array, Light, logs, logs_of
from tamis_operators.image.labels import PERSON
from tamis_operators.image.palette import Thing
from tamis_operators.image.vision import opencv

_CELL_M = 0.06
_LEAST_PEAK = 0.4
_APART_M = 0.42
_STRIPE_M, _STRIPE_ASPECT, _STRIPE_FILL = 1.3, 2.6, 0.7
_NARROW_M = 0.42
_LEAST_CONTRAST, _CROWDED = 0.25, 0.15
_SHOULDER_M, _RIPPLE = 0.6, 0.008
_HEAD_M2 = 0.06
_ALONE_M = 3.0
_WHITE, _HUELESS = 5.1, 0.25


def people_on(
    frame: NDArray[np.uint8],
    mask: NDArray[np.uint8],
    meters_per_pixel: float,
    person: Thing,
    light: Light,
    taken: NDArray[np.uint8],
) -> list[Detection]:
    """The people on the mask."""
    cv2 = opencv()
    bodies = logs_of(person.bodies)
    if not _is_white(bodies).any():
        mask = mask.copy()
        mask[_is_white(logs(frame, light))] = 0
    mask = _without_stripes(_filled(mask, meters_per_pixel), meters_per_pixel)
    reach = max(3, 2 * int(_NARROW_M / meters_per_pixel / 2) + 1)
    disk = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, disk)
    if not mask.any():
        return []
    height, width = mask.shape
    zoom = meters_per_pixel / _CELL_M
    size = max(1, round(width * zoom)), max(1, round(height * zoom))
    method = cv2.INTER_AREA if zoom < 1 else cv2.INTER_LINEAR
    cells = cv2.resize(mask.astype(np.float32), size, interpolation=method)
    sigma = math.sqrt(person.length_m * person.breadth_m) / 3.4 / _CELL_M
    smooth = cv2.GaussianBlur(cells, (0, 0), sigma)
    smooth += _grid(size) * _apart(taken, size)
    reach = 2 * round(_APART_M / _CELL_M / 2) + 1
    disk = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))
    peaks = (smooth >= cv2.dilate(smooth, disk) - 1e-6) & (smooth > _LEAST_PEAK)
    _, _, _, middles = cv2.connectedComponentsWithStats(peaks.astype(np.uint8))
    across = (person.length_m + person.breadth_m) / 2 / meters_per_pixel
    found = []
    contrast = _contrast(frame, mask, meters_per_pixel, light)
    for x, y in middles[1:].tolist():
        score = float(smooth[round(y), round(x)])
        at_x, at_y = (x + 0.5) * width / size[0], (y + 0.5) * height / size[1]
        if contrast[min(int(at_y), height - 1), min(int(at_x), width - 1)] < _LEAST_CONTRAST:
            continue
        box = Box(at_x - across / 2, at_y - across / 2, across, across)
        found.append(Detection(PERSON, round(min(1.0, score), 4), box))
    return found


def _grid(size: tuple[int, int]) -> Array:
    """Ripples that make peaks where shoulders touch and a crowd is even: one for each room that
    somebody takes in it; elsewhere they are too low to matter."""
    step = 2 * math.pi * _CELL_M / _SHOULDER_M
    columns, rows = (np.cos(step * np.arange(count)) for count in size)
    ripples: Array = (_RIPPLE * (rows[:, None] + columns[None, :])).astype(np.float32)
    return ripples


def _apart(taken: NDArray[np.uint8], size: tuple[int, int]) -> Array:
    """1 where no vehicle and no edge of the frame is near: scraps of vehicles are even as well."""
    cv2 = opencv()
    framed = np.ones((taken.shape[0] + 2, taken.shape[1] + 2), np.uint8)
    framed[1:-1, 1:-1] = taken
    cells = cv2.resize(framed, size, interpolation=cv2.INTER_NEAREST)
    far = cv2.distanceTransform(1 - cells, cv2.DIST_L2, 3)
    apart: Array = (far > _ALONE_M / _CELL_M).astype(np.float32)
    return apart


def _contrast(
    frame: NDArray[np.uint8], mask: NDArray[np.uint8], meters_per_pixel: float, light: Light
) -> Array:
    """How a person's size differs from what is around: spots of ground do so less than clothes.

    In a crowd, where people are around, all differs enough."""
    cv2 = opencv()

    def mean(pixels: NDArray[Any], across_m: float) -> NDArray[Any]:
        side = max(1, 2 * round(across_m / meters_per_pixel / 2) - 1)
        blurred: NDArray[Any] = cv2.blur(pixels, (side, side))
        return blurred

    colors = logs(frame, light)
    apart = mean(colors, 0.4) - mean(colors, 2.4)
    crowded = mean(mask.astype(np.float32), 2.4) > _CROWDED
    contrast: Array = np.sqrt((apart**2).sum(axis=2))
    contrast[crowded] = np.inf
    return contrast


def _filled(mask: NDArray[np.uint8], meters_per_pixel: float) -> NDArray[np.uint8]:
    """The mask without holes of the size of a head, whose color may be that of a shadow."""
    cv2 = opencv()
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(1 - mask, connectivity=4)
    holes = stats[:, cv2.CC_STAT_AREA] <= _HEAD_M2 / meters_per_pixel**2
    holes[0] = False
    filled: NDArray[np.uint8] = np.where(holes[pieces], 1, mask).astype(np.uint8)
    return filled


def _is_white(colors: Array) -> NDArray[np.bool_]:
    """What is as light as the markings of roads, and without a hue."""
    hue = np.abs(colors[..., 1:]).max(axis=-1)
    white: NDArray[np.bool_] = (colors[..., 0] > _WHITE) & (hue < _HUELESS)
    return white


def _without_stripes(mask: NDArray[np.uint8], meters_per_pixel: float) -> NDArray[np.uint8]:
    """The mask less long narrow rectangles, and less what is smaller than anybody."""
    cv2 = opencv()
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(mask)
    keep = np.ones(count, np.uint8)
    keep[0] = 0
    least = 0.035 / meters_per_pixel**2
    for number in range(1, count):
        x, y, wide, high, area = stats[number].tolist()
        if area < least:
            keep[number] = 0
        elif math.hypot(wide, high) * meters_per_pixel > _STRIPE_M:
            piece = (pieces[y : y + high, x : x + wide] == number).astype(np.uint8)
            keep[number] = not _is_stripe(piece, area, _NARROW_M / meters_per_pixel)
    kept: NDArray[np.uint8] = keep[pieces]
    return kept


def _is_stripe(piece: NDArray[Any], area: int, narrow: float) -> bool:
    cv2 = opencv()
    (_, _), (a, b), _ = cv2.minAreaRect(cv2.findNonZero(piece))
    long, short = max(a, b) + 1, min(a, b) + 1
    if short - 1 < narrow:
        return True
    return bool(long / short > _STRIPE_ASPECT and area / (long * short) > _STRIPE_FILL)
