"""Checks that enough points of a reference lie in a frame as one view of it would put them.

A point of the frame and a point of the reference are a pair when each looks most like the other and
the second is clearly less like it (Lowe 2004, section 7.1), seen from both sides. A homography over
the pairs is found by RANSAC with a fixed seed; it counts when it is a view (not mirrored, not
folded, not squeezed to a line), and when the pairs that agree are more than chance gives (Brown and
Lowe 2007, section 3.2). Cost: about 6 ms a reference.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray

from tamis.kit import Flags, Floats, SmallFloats
from tamis_operators.image.features import Features
from tamis_operators.image.vision import opencv

cv2 = opencv()

RATIO = 0.85
LEAST_AGREEING = 8
"""Pairs that agree, at distinct places of both pictures."""
_CHANCE = 5.9, 0.22
_PIXELS = 4.0
"""The error allowed for a pair, in pixels of a frame of 640."""
_ITERATIONS = 2_000
_LEAST_AREA = 0.0015
_MOST_SQUEEZED = 0.08
_MOST_STRETCH = 25.0

Pairs = NDArray[numpy.intp]


def paired(frame: Features, references: Sequence[Features]) -> list[Pairs]:
    """Returns for each reference the pairs (point of the frame, point of the reference)."""
    whole = numpy.concatenate([each.descriptors for each in references])
    if not len(frame) or not len(whole):
        return [numpy.empty((0, 2), numpy.intp) for _ in references]
    products = frame.descriptors @ whole.T
    squares = numpy.einsum("ij,ij->i", whole, whole)
    own = numpy.einsum("ij,ij->i", frame.descriptors, frame.descriptors)
    found, start = [], 0
    for each in references:
        stop = start + len(each)
        distances = squares[start:stop] - 2 * products[:, start:stop] + own[:, None]
        found.append(_clear(distances))
        start = stop
    return found


def _clear(distances: SmallFloats) -> Pairs:
    """Returns each row and the column that is clearly nearest to it, where that holds both ways."""
    if min(distances.shape) < 2:
        return numpy.empty((0, 2), numpy.intp)
    rows = numpy.arange(len(distances))
    column, own = _nearest(distances)
    row, other = _nearest(numpy.ascontiguousarray(distances.T))
    kept = own & other[column] & (row[column] == rows)
    return numpy.stack((rows[kept], column[kept]), axis=1)


def _nearest(
    distances: SmallFloats,
) -> tuple[NDArray[numpy.intp], Flags]:
    """Returns for each row the nearest column, and whether the second is clearly farther."""
    least = distances.argmin(axis=1)
    two = numpy.partition(distances, 1, axis=1)
    return least, two[:, 0] < RATIO * RATIO * two[:, 1]


def agreeing(frame: Features, reference: Features, pairs: Pairs) -> int:
    """Counts the pairs that agree on one view of the reference; 0 when no more than chance."""
    if len(pairs) < LEAST_AGREEING:
        return 0
    there = frame.points[pairs[:, 0]]
    here = reference.points[pairs[:, 1]]
    scale = max(frame.width, frame.height, 640) / 640
    parameters = cv2.UsacParams()
    parameters.threshold = _PIXELS * scale
    parameters.confidence = 0.999
    parameters.maxIterations = _ITERATIONS
    parameters.randomGeneratorState = 0
    parameters.score = cv2.SCORE_METHOD_MSAC
    parameters.sampler = cv2.SAMPLING_UNIFORM
    parameters.loMethod = cv2.LOCAL_OPTIM_INNER_LO
    parameters.loIterations = 10
    parameters.loSampleSize = 14
    view, mask = cv2.findHomography(here, there, parameters)
    if view is None or mask is None:
        return 0
    inside = mask.ravel().astype(bool)
    count = min(_distinct(here[inside], scale), _distinct(there[inside], scale))
    outline = _outline(view, here[inside])
    if count < LEAST_AGREEING or outline is None or not _is_view(outline, frame):
        return 0
    around = sum(cv2.pointPolygonTest(outline, (float(x), float(y)), False) >= 0 for x, y in there)
    base, share = _CHANCE
    return count if count > base + share * around else 0


def _distinct(points: SmallFloats, scale: float) -> int:
    """Counts the places of the points: several points of one place are one."""
    return len(numpy.unique((points / (2 * scale)).astype(numpy.int32), axis=0))


def _outline(view: Floats, here: SmallFloats) -> SmallFloats | None:
    """Returns the outline of the found part of the reference; `None` where the view folds it."""
    (left, top), (right, bottom) = here.min(axis=0), here.max(axis=0)
    corners = numpy.array(
        [[left, top, 1], [right, top, 1], [right, bottom, 1], [left, bottom, 1]], numpy.float64
    )
    seen = corners @ view.T
    if not numpy.isfinite(seen).all() or (seen[:, 2] * seen[0, 2] <= 0).any():
        return None
    outline: SmallFloats = (seen[:, :2] / seen[:, 2:]).astype(numpy.float32)
    return outline


def _is_view(outline: SmallFloats, frame: Features) -> bool:
    """Returns whether the outline is that of a large enough flat thing seen from its front."""
    sides = numpy.roll(outline, -1, axis=0) - outline
    following = numpy.roll(sides, -1, axis=0)
    turns = sides[:, 0] * following[:, 1] - sides[:, 1] * following[:, 0]
    if (turns <= 0).any():  # mirrored, or not convex
        return False
    area = abs(float(cv2.contourArea(outline)))
    if area < _LEAST_AREA * frame.width * frame.height:
        return False
    lengths = numpy.hypot(sides[:, 0], sides[:, 1])
    if lengths.max() > _MOST_STRETCH * lengths.min():
        return False
    return area > _MOST_SQUEEZED * float(lengths.max()) ** 2 * 0.5
