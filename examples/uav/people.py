"""Counts the people that a mask shows: its peaks at the size of a person.

A person is a disk of half a meter, of which a crowd is full: the mask is smoothed at that size, and
every peak that is high enough, and far enough from a higher one, is a person. Long even stripes are
markings of a road. Cost: some 15 ms a frame, more in crowds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from examples.uav.palette import PALETTE
from examples.uav.shades import Array, Pixels, logs
from tamis_operators.image import Box, Detection
from tamis_operators.image.labels import PERSON
from tamis_operators.image.vision import opencv

cv2 = opencv()

_WALKER = next(thing for thing in PALETTE.things if thing.label == PERSON)
_CELL_M = 0.08
_LEAST_PEAK = 0.4
_APART_M, _NARROW_M = 0.42, 0.42
_STRIPE_M, _STRIPE_ASPECT, _STRIPE_FILL = 1.3, 2.6, 0.7
_LEAST_M2 = 0.035
_LEAST_CONTRAST, _CROWDED = 0.25, 0.15
_TILT = 1e-5
_WHITE, _HUELESS = 5.1, 0.25


def people_on(lit: Pixels, mask: Pixels, meters_per_pixel: float) -> Iterator[Detection]:
    """The people on a mask, of a frame in daylight."""
    mask = _without_stripes(mask, meters_per_pixel)
    reach = max(3, 2 * int(_NARROW_M / meters_per_pixel / 2) + 1)
    disk = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))
    mask = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_OPEN, disk), np.uint8)
    if not mask.any():
        return
    height, width = mask.shape
    zoom = meters_per_pixel / _CELL_M
    size = max(1, round(width * zoom)), max(1, round(height * zoom))
    sigma = math.sqrt(_WALKER.length_m * _WALKER.breadth_m) / 3.4 / _CELL_M
    smooth = cv2.GaussianBlur(cv2.resize(mask.astype(np.float32), size), (0, 0), sigma)
    smooth = _tilted(smooth)
    reach = 2 * round(_APART_M / _CELL_M / 2) + 1
    disk = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))
    highest = cv2.max(cv2.dilate(smooth, disk), _LEAST_PEAK)
    peaks = cv2.findNonZero(cv2.compare(smooth, highest, cv2.CMP_EQ))
    if peaks is None:
        return
    columns, rows = peaks.reshape(-1, 2).T
    scores = np.minimum(smooth[rows, columns], 1.0).round(4)
    places = (peaks.reshape(-1, 2) + 0.5) * (width / size[0], height / size[1])
    across = (_WALKER.length_m + _WALKER.breadth_m) / 2 / meters_per_pixel
    stands_out = _stands_out(lit, mask, places.astype(int), meters_per_pixel)
    for (x, y), score in zip(places[stands_out], scores[stands_out].tolist(), strict=True):
        box = Box(float(x) - across / 2, float(y) - across / 2, across, across)
        yield Detection(PERSON, score, box)


def _tilted(smooth: Array) -> Array:
    """The same with no two places alike: what is even has one peak."""
    rows, columns = (_TILT * np.arange(count, dtype=np.float32) for count in smooth.shape)
    tilted: Array = smooth + (0.7 * rows[:, None] + columns[None, :])
    return tilted


def _stands_out(
    lit: Pixels, mask: Pixels, places: NDArray[np.int_], meters_per_pixel: float
) -> NDArray[np.bool_]:
    """Whether places differ from what is around: spots of ground do so less than clothes. In a
    crowd, where people are around, all differs enough."""
    near, around = (
        (max(1, 2 * round(across / meters_per_pixel / 2) - 1),) * 2 for across in (0.4, 2.4)
    )
    columns, rows = np.minimum(places.T, np.array([[mask.shape[1]], [mask.shape[0]]]) - 1)
    here, there = (
        logs(np.ascontiguousarray(cv2.blur(lit, side)[rows, columns][None]))[0]
        for side in (near, around)
    )
    crowded = cv2.blur(mask.astype(np.float32), around)[rows, columns] > _CROWDED
    apart = np.sqrt(((here - there) ** 2).sum(axis=1))
    white = (here[:, 0] > _WHITE) & (np.abs(here[:, 1:]).max(axis=1) < _HUELESS)  # nobody's shirt
    stands_out: NDArray[np.bool_] = (crowded | (apart >= _LEAST_CONTRAST)) & ~white
    return stands_out


def _without_stripes(mask: Pixels, meters_per_pixel: float) -> Pixels:
    """The mask less long narrow rectangles, and less what is smaller than anybody."""
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(mask)
    keep = (stats[:, cv2.CC_STAT_AREA] >= _LEAST_M2 / meters_per_pixel**2).astype(np.uint8)
    keep[0] = 0
    long = np.hypot(stats[:, 2], stats[:, 3]) * meters_per_pixel > _STRIPE_M
    for number in np.flatnonzero(long & (keep > 0)).tolist():
        x, y, wide, high, area = stats[number].tolist()
        piece = (pieces[y : y + high, x : x + wide] == number).astype(np.uint8)
        keep[number] = not _is_stripe(piece, area, _NARROW_M / meters_per_pixel)
    kept: Pixels = np.take(keep, pieces)
    return kept


def _is_stripe(piece: Pixels, area: int, narrow: float) -> bool:
    (_, _), sides, _ = cv2.minAreaRect(cv2.findNonZero(piece))
    long, short = max(sides) + 1, min(sides) + 1
    if short - 1 < narrow:
        return True
    return bool(long / short > _STRIPE_ASPECT and area / (long * short) > _STRIPE_FILL)
