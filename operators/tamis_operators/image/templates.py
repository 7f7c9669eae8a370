"""Looks for the places where a template may be in a frame, and decides whether it is there.

The frame is brought to sizes at which the template would be about `_COARSE` pixels wide and high,
and turned, so that one small template stands for all scales and turns. The best places of the
normalized correlation are then fitted (Evangelidis and Psarakis 2008) at `_FINE` pixels and count
when both the light there and its gradients correlate with the template's: light alone is much alike
wherever there is an edge. Light and contrast do not count, colors neither. Cost: 45 correlations of
small pictures, 15 to 100 ms: the smaller the template, the more.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy

from tamis.kit import Bytes, Floats
from tamis_operators.image.features import shrunk
from tamis_operators.image.vision import opencv

cv2 = opencv()

LONG_SIDE = 1_280
"""Frames are not looked at larger than this."""
SCALES = tuple(2 ** (step / 4) for step in range(-4, 5))
TURNS = (0.0, -7.5, 7.5, -15.0, 15.0)
LEAST_SIDE = 12
"""A template has more pixels a side than this, as it is and as the frame would show it."""
LEAST_CONTRAST = 8.0
"""The standard deviation of a template, in levels of 256: a plain one is everywhere."""
LEAST_CORRELATION = 0.8
LEAST_ALIKE = 0.83
"""The correlation of gradients, by place and direction."""
LEAST_CROSSING = 0.03
"""The least share of change in a template's other direction: an edge is everywhere."""
LEAST_SEEN = 0.9
_COARSE = 22.0
_FINE = 56.0
_PROMISING = 0.45
_MOST_CANDIDATES = 8
_PER_VIEW = 2
_SLACK = 1.15
_TURN_SLACK = 5.0
_ROUNDS = 40


class Template(NamedTuple):
    """A template, ready to be looked for."""

    coarse: Bytes
    fine: Bytes
    width: int
    height: int


class _Candidate(NamedTuple):
    """A place: how well it correlates, and the map from the template's pixels to the frame's."""

    correlation: float
    order: int
    place: Floats


def template_of(gray: Bytes) -> Template:
    """Returns a gray picture as a template; `ValueError` says why it cannot be one."""
    height, width = gray.shape
    if min(height, width) < LEAST_SIDE:
        raise ValueError(f"has {width} by {height} pixels: a template has {LEAST_SIDE} a side")
    contrast = float(gray.std())
    if contrast < LEAST_CONTRAST:
        raise ValueError(
            f"is too plain for a template: its contrast is {contrast:.1f} of 256 levels, and "
            f"{LEAST_CONTRAST:g} are needed"
        )
    fine = _resized(gray, _FINE)
    across, down = _gradients(fine)
    tensor = numpy.cov(numpy.stack((across.ravel(), down.ravel())))
    least, most = numpy.linalg.eigvalsh(tensor)
    if least < LEAST_CROSSING * most:
        raise ValueError("is one straight edge, of which there are many: take more of the thing")
    return Template(_resized(gray, _COARSE), fine, width, height)


def _resized(gray: Bytes, side: float) -> Bytes:
    """Returns the picture with about side² pixels, and no side shorter than half of that."""
    height, width = gray.shape
    factor = max(side / math.sqrt(height * width), 0.45 * side / min(height, width))
    size = max(2, round(width * factor)), max(2, round(height * factor))
    method = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    return numpy.asarray(cv2.resize(gray, size, interpolation=method), numpy.uint8)


def shows(frame: Bytes, template: Template) -> bool:
    """Returns whether the frame shows the template."""
    frame, shrinking = shrunk(frame, LONG_SIDE)
    found: list[_Candidate] = []
    for number, scale in enumerate(SCALES):
        width, height = (side * scale * shrinking for side in (template.width, template.height))
        if min(width, height) >= LEAST_SIDE * 0.99:
            found += _candidates(frame, template, (width, height), number)
    found.sort(key=lambda each: (-each.correlation, each.order))
    return any(
        _fits(frame, template, each.place, shrinking) for each in _apart(found)[:_MOST_CANDIDATES]
    )


def _candidates(
    frame: Bytes, template: Template, size: tuple[float, float], number: int
) -> list[_Candidate]:
    """Returns the best places of one scale, at all turns."""
    rows, columns = template.coarse.shape
    factors = columns / size[0], rows / size[1]
    width, height = (
        max(1, round(side * by)) for side, by in zip(frame.shape[::-1], factors, strict=True)
    )
    if width < columns or height < rows:
        return []
    method = cv2.INTER_AREA if factors[0] < 1 else cv2.INTER_LINEAR
    small = cv2.resize(frame, (width, height), interpolation=method)
    back = numpy.diag([frame.shape[1] / width, frame.shape[0] / height, 1.0])
    found = []
    for turn_number, turn in enumerate(TURNS):
        turning = numpy.eye(3)
        turning[:2] = cv2.getRotationMatrix2D((width / 2, height / 2), turn, 1.0)
        view = small
        if turn:
            view = cv2.warpAffine(
                small, turning[:2], (width, height), borderMode=cv2.BORDER_REPLICATE
            )
        scores = cv2.matchTemplate(view, template.coarse, cv2.TM_CCOEFF_NORMED)
        # plain parts of a view have no correlation: rounding may give them any
        scores = numpy.where(numpy.isfinite(scores) & (scores <= 1.01), scores, 0)
        for peak in range(_PER_VIEW):
            _, best, _, (x, y) = cv2.minMaxLoc(scores)
            if best < _PROMISING:
                break
            scores[
                max(0, y - rows // 2) : y + rows // 2, max(0, x - columns // 2) : x + columns // 2
            ] = 0
            place = numpy.linalg.inv(turning) @ numpy.array([[1.0, 0, x], [0, 1, y], [0, 0, 1]])
            order = (number * len(TURNS) + turn_number) * _PER_VIEW + peak
            found.append(_Candidate(round(float(best), 6), order, back @ place))
    return found


def _apart(candidates: list[_Candidate]) -> list[_Candidate]:
    """Returns the candidates without those that a better one stands for: same place, next scale."""
    kept: list[_Candidate] = []
    for each in candidates:
        size = math.hypot(*each.place[:2, 0]) * _COARSE
        near = (
            numpy.abs(each.place[:2, 2] - other.place[:2, 2]).max() < size / 4 for other in kept
        )
        if sum(near) < 2:
            kept.append(each)
    return kept


def _fits(frame: Bytes, template: Template, place: Floats, shrinking: float) -> bool:
    """Returns whether what lies at the place, after fitting, is the template."""
    rows, columns = template.fine.shape
    to_coarse = numpy.diag([template.coarse.shape[1] / columns, template.coarse.shape[0] / rows, 1])
    place = place @ to_coarse
    # a view of about the template's resolution, with room around
    factor = min(1.0, 1 / max(math.hypot(*place[:2, 0]), math.hypot(*place[:2, 1])))
    corners = place @ numpy.array([[0, columns, columns, 0], [0, 0, rows, rows], [1, 1, 1, 1]])
    room = 0.25 * max(numpy.ptp(corners[0]), numpy.ptp(corners[1]))
    left, top = (max(0, math.floor(corners[axis].min() - room)) for axis in (0, 1))
    right, bottom = (math.ceil(corners[axis].max() + room) for axis in (0, 1))
    part = frame[top:bottom, left:right]
    if min(part.shape) < 4:
        return False
    size = max(4, round(part.shape[1] * factor)), max(4, round(part.shape[0] * factor))
    view = cv2.resize(part, size, interpolation=cv2.INTER_AREA)
    scaling = numpy.diag([size[0] / part.shape[1], size[1] / part.shape[0], 1.0])
    shift = numpy.array([[1.0, 0, -left], [0, 1, -top], [0, 0, 1]])
    start = scaling @ shift @ place
    criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, _ROUNDS, 1e-4)
    fitted = start.copy()
    try:
        _, found = cv2.findTransformECC(
            template.fine,
            view,
            start[:2].astype(numpy.float32),
            cv2.MOTION_AFFINE,
            criteria,
            None,
            5,
        )
        fitted[:2] = found
    except cv2.error:  # it does not converge where there is nothing to fit
        return False
    whole = numpy.linalg.inv(scaling @ shift) @ fitted
    return _is_allowed(whole, template, shrinking) and _is_alike(template.fine, view, fitted)


def _is_allowed(place: Floats, template: Template, shrinking: float) -> bool:
    """Returns whether a place is within the scales and turns that are promised, with some slack."""
    rows, columns = template.fine.shape
    across = place[:2, 0] * columns / template.width / shrinking
    down = place[:2, 1] * rows / template.height / shrinking
    scale, other = math.hypot(*across), math.hypot(*down)
    turns = (
        math.degrees(math.atan2(across[1], across[0])),
        math.degrees(math.atan2(-down[0], down[1])),
    )
    return (
        SCALES[0] / _SLACK <= min(scale, other)
        and max(scale, other) <= SCALES[-1] * _SLACK
        and max(scale, other) <= _SLACK * _SLACK * min(scale, other)
        and all(abs(turn) <= max(TURNS) + _TURN_SLACK for turn in turns)
    )


def _is_alike(template: Bytes, view: Bytes, place: Floats) -> bool:
    """Returns whether the view, which must show it nearly whole, is like the template."""
    size = template.shape[1], template.shape[0]
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    there = cv2.warpAffine(view, place[:2], size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    seen = cv2.warpAffine(numpy.full_like(view, 255), place[:2], size, flags=flags) > 127
    if seen.mean() < LEAST_SEEN:
        return False
    light = [_smooth(each)[seen] for each in (template, there)]
    if light[1].std() < LEAST_CONTRAST / 4:
        return False
    if _correlation(*(each - each.mean() for each in light)) < LEAST_CORRELATION:
        return False
    inner = seen[2:-2, 2:-2]
    slopes = [
        numpy.concatenate([slope[inner] for slope in _gradients(each)])
        for each in (template, there)
    ]
    return _correlation(*slopes) >= LEAST_ALIKE


def _correlation(one: Floats, other: Floats) -> float:
    both = float(one @ one) * float(other @ other)
    return float(one @ other) / math.sqrt(both) if both > 0 else 0.0


def _gradients(gray: Bytes) -> tuple[Floats, Floats]:
    """Returns the gradients across and down, without the border."""
    smooth = _smooth(gray)
    across, down = (cv2.Sobel(smooth, cv2.CV_64F, *way)[2:-2, 2:-2] for way in ((1, 0), (0, 1)))
    return across, down


def _smooth(gray: Bytes) -> Floats:
    return numpy.asarray(cv2.GaussianBlur(gray, (0, 0), 1.0), numpy.float64)
