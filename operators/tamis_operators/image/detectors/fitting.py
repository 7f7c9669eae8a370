"""Where rectangles of known sizes lie on a mask: much of it inside, little of it around.

Every size is tried at all angles by correlation, the best places are turned and moved until they
fit best and compared with the pictures of things, and the best of all are kept that do not cover
one another. Invariant: what lies outside of the frame counts neither way.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis_operators.image.detectors.light import Array, Light, logs
from tamis_operators.image.detectors.templates import Size, Template, likeness, likeness_to
from tamis_operators.image.vision import opencv

_STEP = 15
_RING_M = 0.5
_LEAST_INSIDE, _LEAST_SCORE, _LEAST_LIKENESS = 0.62, 0.42, 0.5
_LEAST_SETTLED = 0.655
_RING_WEIGHT = 0.35
_VISIBLE = 0.3
_MOST_PLACES = 1_200
_COVERED = 0.3
_MUCH_WORSE = 0.85
_LEAST_PIECE = 0.3


@dataclass
class Field:
    """The frame in cells of one size: mask, colors, and what of it there is, with a border."""

    mask: Array
    colors: Array
    valid: Array
    cell_m: float
    pixels_per_cell: float
    left: int
    """Of the frame, in cells."""
    top: int
    width: int
    height: int

    @classmethod
    def of(
        cls,
        frame: NDArray[np.uint8],
        mask: NDArray[np.uint8],
        water: NDArray[np.uint8],
        meters_per_pixel: float,
        cell_m: float,
        light: Light,
        on_water: bool,
    ) -> Field:
        """The frame at the scale of the things to be found."""
        cv2 = opencv()
        height, width = mask.shape
        zoom = meters_per_pixel / cell_m
        size = max(1, round(width * zoom)), max(1, round(height * zoom))
        method = cv2.INTER_AREA if zoom < 1 else cv2.INTER_LINEAR
        cells = cv2.resize(mask.astype(np.float32), size, interpolation=method)
        reach = max(3, 2 * round(0.5 / cell_m) + 1)
        square = np.ones((reach, reach), np.uint8)
        closed = cv2.morphologyEx(cells, cv2.MORPH_CLOSE, square)
        closed = cv2.morphologyEx(closed, cv2.MORPH_OPEN, square)  # markings of roads are narrow
        if on_water:
            closed *= _on_water(closed, cv2.resize(water.astype(np.float32), size), reach)
        colors = cv2.resize(frame, size, interpolation=method)
        border = math.ceil(18.0 / cell_m) if on_water else math.ceil(7.0 / cell_m)
        edges = (border, border, border, border, cv2.BORDER_CONSTANT)
        return cls(
            cv2.copyMakeBorder(closed, *edges, value=0),
            cv2.copyMakeBorder(logs(colors, light), *edges, value=0),
            cv2.copyMakeBorder(np.ones(size[::-1], np.float32), *edges, value=0),
            cell_m,
            width / size[0],
            border,
            border,
            *size,
        )


def _on_water(mask: Array, water: Array, reach: int) -> Array:
    """1 for the pieces of the mask that lie mostly in water, 0 for those on land."""
    cv2 = opencv()
    count, pieces = cv2.connectedComponents((mask > 0.5).astype(np.uint8))
    result = np.zeros(mask.shape, np.float32)
    kernel = np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)
    for number in range(1, count):
        piece = (pieces == number).astype(np.uint8)
        if piece.sum() < 40:
            continue
        around = (cv2.dilate(piece, kernel) > 0) & (mask <= 0.5)
        if around.any() and float(water[around].mean()) > 0.5:
            result[piece > 0] = 1.0
    return result


class Fit(NamedTuple):
    """A thing where it was found, in cells of the frame."""

    x: float
    y: float
    angle: float
    length: float
    breadth: float
    score: float
    template: Template
    size: Size


class _Place(NamedTuple):
    """Somewhere a thing could be, in cells of the field."""

    x: float
    y: float
    angle: float
    score: float
    size: Size


def fits(field: Field, sizes: Sequence[Size]) -> Iterator[Fit]:
    """The things on the field, surest first; the middle of one may lie outside of the frame."""
    cv2 = opencv()
    if not sizes:
        return
    region = _worth(field, sizes[-1])
    if region is None:
        return
    field = region
    found: list[Fit] = []
    for size in sizes:
        for place in _places(field, size):
            fit = _fitted(field, place)
            if fit is not None:
                found.append(fit)
    found.sort(key=lambda fit: -fit.score * (fit.length * fit.breadth) ** 0.05)
    taken = np.zeros(field.mask.shape, np.uint8)
    for fit in found:
        corners = cv2.boxPoints(((fit.x, fit.y), (fit.length, fit.breadth), fit.angle))
        low = np.maximum(np.floor(corners.min(axis=0)).astype(int), 0)
        high = np.ceil(corners.max(axis=0)).astype(int) + 1
        there = taken[low[1] : high[1], low[0] : high[0]]
        own = np.zeros(there.shape, np.uint8)
        cv2.fillConvexPoly(own, np.round(corners - low).astype(np.int32), 1)
        if float(there[own > 0].mean()) > _COVERED:
            continue
        fit = _settled(field, fit)
        if fit.score < _LEAST_SETTLED:
            continue
        corners = cv2.boxPoints(((fit.x, fit.y), (fit.length, fit.breadth), fit.angle))
        cv2.fillConvexPoly(taken, np.round(corners).astype(np.int32), 1)
        x, y = fit.x + 0.5 - field.left, fit.y + 0.5 - field.top
        yield fit._replace(x=x, y=y)


def _worth(field: Field, smallest: Size) -> Field | None:
    """The part of the field where something as large as the smallest thing is; `None` for none."""
    cv2 = opencv()
    _, pieces, stats, _ = cv2.connectedComponentsWithStats((field.mask > 0.5).astype(np.uint8))
    least = _LEAST_PIECE * smallest.length_m * smallest.breadth_m / field.cell_m**2
    large = stats[:, cv2.CC_STAT_AREA] >= least
    large[0] = False
    if not large.any():
        return None
    mask = field.mask * cv2.dilate(large[pieces].astype(np.uint8), np.ones((3, 3), np.uint8))
    left, top = stats[large, 0].min(), stats[large, 1].min()
    right = (stats[large, 0] + stats[large, 2]).max()
    low = (stats[large, 1] + stats[large, 3]).max()
    reach = field.left
    rows = slice(max(0, top - reach), low + reach)
    columns = slice(max(0, left - reach), right + reach)
    return replace(
        field,
        mask=np.ascontiguousarray(mask[rows, columns]),
        colors=np.ascontiguousarray(field.colors[rows, columns]),
        valid=np.ascontiguousarray(field.valid[rows, columns]),
        left=field.left - int(columns.start),
        top=field.top - int(rows.start),
    )


def _places(field: Field, size: Size) -> list[_Place]:
    """Local maxima of inside less around, over all angles."""
    cv2 = opencv()
    length, breadth = size.length_m / field.cell_m, size.breadth_m / field.cell_m
    ring = _RING_M / field.cell_m
    found: list[_Place] = []
    edge = max(3, 2 * int(breadth / 4) + 1)
    local = np.ones((edge, edge), np.uint8)
    for angle in range(0, 180, _STEP):
        inner = _kernel(length, breadth, angle, length + 2 * ring + 2)
        outer = _kernel(length + 2 * ring, breadth + 2 * ring, angle, length + 2 * ring + 2) - inner
        outer = np.maximum(outer, 0)
        inside, visible = _share(field, inner)
        around, _ = _share(field, outer)
        score = inside - _RING_WEIGHT * around
        peak = (score == cv2.dilate(score, local)) & (score > _LEAST_SCORE - 0.12)
        peak &= (inside > _LEAST_INSIDE - 0.1) & (visible > _VISIBLE)
        for y, x in np.argwhere(peak).tolist():
            found.append(_Place(x, y, float(angle), float(score[y, x]), size))
    found.sort(key=lambda place: -place.score)
    return _distinct(found, breadth)[:_MOST_PLACES]


def _distinct(places: list[_Place], breadth: float) -> list[_Place]:
    """The best of places that are nearly the same."""
    kept: list[_Place] = []
    near: dict[tuple[int, int], list[_Place]] = {}
    for place in places:
        cell = int(place.x // breadth), int(place.y // breadth)
        others = [
            each
            for a in (-1, 0, 1)
            for b in (-1, 0, 1)
            for each in near.get((cell[0] + a, cell[1] + b), ())
        ]
        if any(
            math.hypot(place.x - each.x, place.y - each.y) < 0.4 * breadth
            and (
                place.score < _MUCH_WORSE * each.score
                or abs((place.angle - each.angle + 90) % 180 - 90) < 2 * _STEP
            )
            for each in others
        ):
            continue
        near.setdefault(cell, []).append(place)
        kept.append(place)
    return kept


def _kernel(length: float, breadth: float, angle: float, reach: float) -> Array:
    cv2 = opencv()
    half = math.ceil(reach / 2) + 1
    fine = 4
    canvas = np.zeros(((2 * half + 1) * fine, (2 * half + 1) * fine), np.float32)
    middle = (half + 0.5) * fine - 0.5
    corners = cv2.boxPoints(((middle, middle), (length * fine, breadth * fine), float(angle)))
    cv2.fillConvexPoly(canvas, np.round(corners).astype(np.int32), 1.0)
    small: Array = cv2.resize(canvas, (2 * half + 1,) * 2, interpolation=cv2.INTER_AREA)
    return small


def _share(field: Field, kernel: Array) -> tuple[Array, Array]:
    """How much of a shape around each cell is mask, and how much of it is on the frame."""
    cv2 = opencv()
    total = float(kernel.sum())
    edge = {"borderType": cv2.BORDER_CONSTANT}
    there = _there(field, kernel)
    covered = cv2.filter2D(field.mask, -1, kernel, **edge)
    return covered / np.maximum(there, total * 0.2), there / total


def _there(field: Field, kernel: Array) -> Array:
    """What of a shape around each cell is on the frame, which is a rectangle: by running sums."""
    high, wide = kernel.shape
    sums = np.zeros((high + 1, wide + 1), np.float32)
    sums[1:, 1:] = kernel.cumsum(axis=0).cumsum(axis=1)
    rows, columns = field.mask.shape
    y, x = np.arange(rows), np.arange(columns)
    first_y = np.clip(field.top - y + high // 2, 0, high)[:, None]
    last_y = np.clip(field.top + field.height - y + high // 2, 0, high)[:, None]
    first_x = np.clip(field.left - x + wide // 2, 0, wide)[None, :]
    last_x = np.clip(field.left + field.width - x + wide // 2, 0, wide)[None, :]
    there: Array = (
        sums[last_y, last_x]
        - sums[first_y, last_x]
        - sums[last_y, first_x]
        + sums[first_y, first_x]
    )
    return there


def _fitted(field: Field, place: _Place) -> Fit | None:
    """The thing there, after small turns and moves; `None` where it resembles none."""
    x, y, angle = place.x, place.y, place.angle
    best = _measured(field, place.size, x, y, angle)
    for turn, move in ((8.0, 1.0), (4.0, 0.5)):
        for _ in range(2):
            moved = False
            for dx, dy, da in (
                (0, 0, turn), (0, 0, -turn), (move, 0, 0), (-move, 0, 0), (0, move, 0),
                (0, -move, 0),
            ):  # fmt: skip
                at = x + dx, y + dy, angle + da
                score = _measured(field, place.size, *at)
                if score > best + 1e-4:
                    best, (x, y, angle), moved = score, at, True
            if not moved:
                break
    if best < _LEAST_SCORE:
        return None
    picture, valid = _picture(field, place.size, x, y, angle)
    like = likeness(place.size, picture, valid)
    if like.value < _LEAST_LIKENESS:
        return None
    return Fit(
        x,
        y,
        angle % 180,
        place.size.length_m / field.cell_m,
        place.size.breadth_m / field.cell_m,
        best * 0.4 + like.value * 0.6,
        _facing(like.template, angle),
        place.size,
    )


def _settled(field: Field, fit: Fit) -> Fit:
    """The fit where it is most like its thing: what is drawn on it says more than its outline."""
    best = _agreement(field, fit)
    for turn, move in ((6.0, 1.0), (3.0, 0.5), (1.5, 0.25)):
        for _ in range(3):
            far = 3 * move
            along = far * math.cos(math.radians(fit.angle)), far * math.sin(math.radians(fit.angle))
            around = [
                fit._replace(x=fit.x + dx, y=fit.y + dy, angle=fit.angle + da)
                for dx, dy, da in (
                    (0, 0, turn), (0, 0, -turn), (move, 0, 0), (-move, 0, 0), (0, move, 0),
                    (0, -move, 0), (*along, 0), (-along[0], -along[1], 0),
                )
            ]  # fmt: skip
            values = [_agreement(field, each) for each in around]
            if max(values) <= best + 1e-4:
                break
            best = max(values)
            fit = around[values.index(best)]
    return fit._replace(
        angle=fit.angle % 180, template=_facing(fit.template, fit.angle), score=min(1.0, best)
    )


def _agreement(field: Field, fit: Fit) -> float:
    """How well outline and picture agree with the field."""
    outline = _measured(field, fit.size, fit.x, fit.y, fit.angle)
    picture, valid = _picture(field, fit.size, fit.x, fit.y, fit.angle)
    return outline * 0.4 + likeness_to(fit.template, picture, valid) * 0.6


def _facing(template: Template, angle: float) -> Template:
    """The angle was taken modulo 180: the front may have changed sides."""
    return template if (angle % 360) < 180 else template._replace(turned=not template.turned)


def _measured(field: Field, size: Size, x: float, y: float, angle: float) -> float:
    """Inside less around, at any place and angle."""
    patch = _turned(field.mask, size, x, y, angle)
    valid = _valid(field, size, x, y, angle)
    rows, columns = size.shape
    edge = round(0.4 / size.cell_m)
    inner = patch[edge : rows - edge, edge : columns - edge].sum()
    outer = float(patch.sum() - inner)
    if valid is _ones(size.shape):
        inner_valid = float((rows - 2 * edge) * (columns - 2 * edge))
        outer_valid = rows * columns - inner_valid
    else:
        inner_valid = float(valid[edge : rows - edge, edge : columns - edge].sum())
        outer_valid = float(valid.sum() - inner_valid)
    if inner_valid < 1:
        return 0.0
    inside = float(inner) / inner_valid
    return inside - _RING_WEIGHT * (outer / outer_valid if outer_valid > 0 else 0.0)


def _picture(field: Field, size: Size, x: float, y: float, angle: float) -> tuple[Array, Array]:
    return _turned(field.colors, size, x, y, angle), _valid(field, size, x, y, angle)


def _valid(field: Field, size: Size, x: float, y: float, angle: float) -> Array:
    """What of the rectangle is on the frame: mostly all."""
    reach = max(size.shape)
    inside_x = field.left + reach / 2 <= x <= field.left + field.width - reach / 2
    if inside_x and field.top + reach / 2 <= y <= field.top + field.height - reach / 2:
        return _ones(size.shape)
    turned: Array = _turned(field.valid, size, x, y, angle)
    return turned


@functools.lru_cache(maxsize=32)
def _ones(shape: tuple[int, int]) -> Array:
    return np.ones(shape, np.float32)


def _turned(cells: Array, size: Size, x: float, y: float, angle: float) -> Any:
    """The rectangle around a place, turned upright."""
    cv2 = opencv()
    rows, columns = size.shape
    turn = math.radians(angle)
    cos, sin = math.cos(turn), math.sin(turn)
    middle_x, middle_y = (columns - 1) / 2, (rows - 1) / 2
    matrix = np.array(
        [
            [cos, -sin, x - cos * middle_x + sin * middle_y],
            [sin, cos, y - sin * middle_x - cos * middle_y],
        ]
    )
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(cells, matrix, (columns, rows), flags=flags)
