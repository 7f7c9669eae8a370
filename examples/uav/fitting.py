"""Finds rectangles of known sizes on a frame: much that is no ground inside, little around.

The mask is turned to many angles, where boxes are sums over rows and columns; the best places are
moved until they fit best, all at once, and compared with drawings of things. Of those that
cover one another the surest is kept. Cost: some 30 ms a frame.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from examples.uav.palette import PALETTE, Color, ThingKind
from examples.uav.shades import Array, Pixels, logs
from tamis_operators.image.vision import opencv

cv2 = opencv()

_STEP = 15
_RING_M, _MARGIN_M = 0.5, 0.4
_RING_WEIGHT = 0.35
_UNKNOWN = 100
"""How much there may be outside of the frame, of 255."""
_LEAST_PLACE, _LEAST_SCORE, _LEAST_LIKENESS, _LEAST_AGREEMENT = 115, 0.5, 0.5, 0.655
_HOPE = 0.1
_MUCH_WORSE, _NEAR = 0.85, 0.3
_MOST_PLACES = 400
_COVERED = 0.3
_OVERSAMPLED = 4
_HUES = np.array([1.0, 0.35, 0.35], np.float32)
"""Hues of paints are far apart, and codecs blur them."""


class ThingDrawing(NamedTuple):
    """A thing as it would look, and whether its front is to the left."""

    thing: ThingKind
    marks: frozenset[str]
    turned: bool


class Lattice(NamedTuple):
    """Points around the middle of things of one size, and what each thing shows there."""

    points: Array
    outline: Array
    """What the mask at each point says for a thing: inside of it, and against it around."""
    colors: Array
    """Drawings × points × 3."""
    covers: Array
    """Drawings × points, 1 where the thing is."""


class Size(NamedTuple):
    """Things of one size, in cells of the frame, and what each would look like."""

    length: float
    breadth: float
    drawings: tuple[ThingDrawing, ...]
    fine: Lattice
    coarse: Lattice


class Fit(NamedTuple):
    """A thing where it was found, in cells."""

    x: float
    y: float
    angle: float
    score: float
    size: Size
    drawing: ThingDrawing


@functools.lru_cache(maxsize=32)
def sizes_of(cell_m: float, on_water: bool, blur_m: float) -> tuple[Size, ...]:
    """The sizes of things on water or on land, largest first; people are too small for drawings."""
    found: dict[tuple[float, float], list[ThingKind]] = {}
    for thing in PALETTE.things:
        if thing.on_water == on_water and thing.length_m >= 1.5:
            found.setdefault((thing.length_m, thing.breadth_m), []).append(thing)
    return tuple(
        _size(things, cell_m, blur_m)
        for _, things in sorted(found.items(), key=lambda item: -item[0][0] * item[0][1])
    )


def _size(things: list[ThingKind], cell_m: float, blur_m: float) -> Size:
    length, breadth = things[0].length_m / cell_m, things[0].breadth_m / cell_m
    margin = 2 * _MARGIN_M / cell_m
    columns, rows = round(length + margin), round(breadth + margin)
    x, y = np.meshgrid(np.arange(columns) - (columns - 1) / 2, np.arange(rows) - (rows - 1) / 2)
    drawings, colors, covers = [], [], []
    for thing in things:
        for body in thing.bodies:
            for count in range(len(thing.marks) + 1):
                for marks in map(frozenset, combinations(thing.marks, count)):
                    for turned in (False, True):
                        drawings.append(ThingDrawing(thing, marks, turned))
                        drawn = _drawn(drawings[-1], body, cell_m, (columns, rows), blur_m)
                        colors.append(drawn[0])
                        covers.append(drawn[1])
    points = np.stack([x, y], axis=-1).astype(np.float32)
    fine, coarse = (
        _lattice(
            points[::step, ::step],
            np.stack(colors)[:, ::step, ::step],
            np.stack(covers)[:, ::step, ::step],
            (length / 2, breadth / 2),
        )
        for step in (1, 2)
    )
    return Size(length, breadth, tuple(drawings), fine, coarse)


def _lattice(points: Array, colors: Array, covers: Array, half: tuple[float, float]) -> Lattice:
    points, count = points.reshape(-1, 2), len(colors)
    inside = (np.abs(points) <= half).all(axis=1)
    outline = np.where(inside, 1 / inside.sum(), -_RING_WEIGHT / (~inside).sum()) / 255
    return Lattice(
        points, outline.astype(np.float32), colors.reshape(count, -1, 3), covers.reshape(count, -1)
    )


def _drawn(
    drawing: ThingDrawing, body: Color, cell_m: float, size: tuple[int, int], blur_m: float
) -> tuple[Array, Array]:
    """The picture of a thing, and where it is."""
    fine = cell_m / _OVERSAMPLED
    wide, high = size[0] * _OVERSAMPLED, size[1] * _OVERSAMPLED
    canvas, cover = np.zeros((high, wide, 3), np.float32), np.zeros((high, wide), np.float32)
    for at, (paint, outline) in enumerate(drawing.thing.drawn(body, drawing.marks)):
        sign = -1 if drawing.turned else 1
        corners = np.array(outline) * sign / fine + (wide / 2 - 0.5, high / 2 - 0.5)
        fixed = [np.round(corners).astype(np.int32)]
        cv2.fillPoly(canvas, fixed, tuple(float(each) for each in reversed(paint)))
        if at == 0:
            cv2.fillPoly(cover, fixed, (1.0,))
    # colors run into one another inside of the thing, not into the black around
    inside = cv2.GaussianBlur(cover, (0, 0), blur_m / fine)
    canvas = cv2.GaussianBlur(canvas, (0, 0), blur_m / fine) / np.maximum(inside, 1e-3)[..., None]
    small = cv2.resize(canvas, size, interpolation=cv2.INTER_AREA)
    covered = cv2.resize(cover, size, interpolation=cv2.INTER_AREA) > 0.9
    return logs(small.round().astype(np.uint8)), covered.astype(np.float32)


def fits(mask: Pixels, lit: Pixels, sizes: Sequence[Size], cell_m: float) -> Iterator[Fit]:
    """The things on a mask of 0 and 255 and its colors, in cells, surest first."""
    reach = math.ceil(max(size.length for size in sizes) / 2 + 2)
    edges = (reach, reach, reach, reach, cv2.BORDER_CONSTANT)
    field = cv2.copyMakeBorder(mask, *edges, value=(_UNKNOWN,)).astype(np.float32)
    colors = cv2.copyMakeBorder(logs(lit), *edges, value=(0, 0, 0))
    whole = cv2.copyMakeBorder(np.ones(mask.shape, np.float32), *edges, value=(0,))
    layers = cv2.merge([field, *cv2.split(colors), whole])
    found = []
    for size, places in zip(sizes, _places(mask, sizes, cell_m), strict=True):
        if len(places):
            places[:, :2] += reach
            found += list(_fitted(layers, size, places))
    found.sort(key=lambda fit: -fit.score * (fit.size.length * fit.size.breadth) ** 0.05)
    taken = np.zeros(field.shape, np.uint8)
    for fit in found:
        corners = cv2.boxPoints(((fit.x, fit.y), (fit.size.length, fit.size.breadth), fit.angle))
        own = np.zeros(field.shape, np.uint8)
        cv2.fillConvexPoly(own, np.round(corners).astype(np.int32), 1)
        if cv2.mean(taken, own)[0] <= _COVERED:
            cv2.bitwise_or(taken, own, taken)
            yield fit._replace(x=fit.x + 0.5 - reach, y=fit.y + 0.5 - reach)


def _places(mask: Pixels, sizes: Sequence[Size], cell_m: float) -> list[Array]:
    """For each size rows of x, y and angle: local maxima of inside less around, over all angles."""
    high, wide = mask.shape
    found: list[list[Array]] = [[] for _ in sizes]
    for angle in range(0, 180, _STEP):
        turn = math.radians(angle)
        cos, sin = math.cos(turn), math.sin(turn)
        columns = math.ceil(wide * abs(cos) + high * abs(sin)) + 1
        rows = math.ceil(wide * abs(sin) + high * abs(cos)) + 1
        back = np.array([[cos, -sin], [sin, cos]])
        offset = np.array([wide - 1, high - 1]) / 2 - back @ np.array([columns - 1, rows - 1]) / 2
        turned = cv2.warpAffine(
            mask, np.column_stack([back, offset]), (columns, rows),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderValue=(_UNKNOWN,),
        )  # fmt: skip
        for size, places in zip(sizes, found, strict=True):
            score = _boxes(turned, size, _RING_M / cell_m)
            edge = max(3, 2 * int(0.4 * size.breadth) + 1)
            highest = cv2.max(cv2.dilate(score, np.ones((edge, edge), np.uint8)), _LEAST_PLACE)
            peaks = cv2.findNonZero(cv2.compare(score, highest, cv2.CMP_EQ))
            if peaks is None:
                continue
            peaks = peaks.reshape(-1, 2)
            points = peaks @ back.T + offset
            inside = ((points > -1) & (points < (wide, high))).all(axis=1)
            scores = score[peaks[:, 1], peaks[:, 0]][inside]
            turns = np.full(len(scores), angle)
            places.append(np.column_stack([points[inside], turns, scores]))
    return [
        _distinct(np.concatenate([*each, np.empty((0, 4))]), size.breadth)
        for each, size in zip(found, sizes, strict=True)
    ]


def _boxes(turned: Pixels, size: Size, ring: float) -> Pixels:
    """Inside less around at every place, of 255."""
    inner = max(1, round(size.length)), max(1, round(size.breadth))
    outer = max(1, round(size.length + 2 * ring)), max(1, round(size.breadth + 2 * ring))
    edge = {"borderType": cv2.BORDER_REPLICATE}
    share = inner[0] * inner[1] / max(1, outer[0] * outer[1] - inner[0] * inner[1])
    boxes: Pixels = cv2.addWeighted(
        cv2.boxFilter(turned, -1, inner, **edge), 1 + _RING_WEIGHT * share,
        cv2.boxFilter(turned, -1, outer, **edge), -_RING_WEIGHT * (1 + share), 0,
    )  # fmt: skip
    return boxes


def _distinct(places: Array, breadth: float, turn: float = 2 * _STEP) -> Array:
    """The best of places that are nearly the same."""
    places = places[np.argsort(-places[:, 3], kind="stable")]
    kept: list[Array] = []
    while len(places) and len(kept) < _MOST_PLACES:
        best = places[0]
        kept.append(best)
        near = np.hypot(places[:, 0] - best[0], places[:, 1] - best[1]) < _NEAR * breadth
        apart = np.abs((places[:, 2] - best[2] + 90) % 180 - 90)
        worse = (places[:, 3] < _MUCH_WORSE * best[3]) | (apart <= turn)
        places = places[~(near & worse)]
    return np.array(kept).reshape(-1, 4)


def _fitted(layers: Array, size: Size, places: Array) -> Iterator[Fit]:
    """The things at places, moved until they fit best; none where nothing is like one."""
    field = np.ascontiguousarray(layers[..., 0])
    coarse = size.coarse
    states = places[:, :3].astype(np.float32)
    for turn, move in ((5.0, 1.0), (5.0, 1.0), (2.5, 0.5), (2.5, 0.5)):
        tried = _around(states, turn, move)
        states, scores = _best(tried, _sampled(field, coarse.points, tried) @ coarse.outline)
        states, scores = states[scores >= _LEAST_SCORE], scores[scores >= _LEAST_SCORE]
        if not len(states):
            return
    places = _distinct(np.column_stack([states, scores]), size.breadth, 5.0)
    states = places[:, :3].astype(np.float32)
    sampled = _sampled(layers, coarse.points, states)
    likeness = np.array([_likeness(each, coarse.colors, coarse.covers) for each in sampled])
    good = likeness.max(axis=1) >= _LEAST_LIKENESS
    states, drawn = states[good], likeness.argmax(axis=1)[good]
    scores = likeness[good].max(axis=1)
    for lattice, turn, move in (
        (coarse, 8.0, 1.0), (coarse, 8.0, 1.0), (coarse, 6.0, 0.5),
        (size.fine, 6.0, 0.5), (size.fine, 3.0, 0.5), (size.fine, 1.5, 0.25),
    ):  # fmt: skip
        if not len(states):
            return
        tried = _around(states, turn, move, 3 * move)
        sampled = _sampled(layers, lattice.points, tried)
        like = _likeness(sampled, lattice.colors[drawn][:, None], lattice.covers[drawn][:, None])
        agreement = 0.4 * (sampled[..., 0] @ lattice.outline) + 0.6 * like
        states, scores = _best(tried, agreement)
        hopeful = scores >= _LEAST_AGREEMENT - _HOPE
        states, scores, drawn = states[hopeful], scores[hopeful], drawn[hopeful]
    for (x, y, angle), score, at in zip(states.tolist(), scores.tolist(), drawn, strict=True):
        if score >= _LEAST_AGREEMENT:
            yield Fit(x, y, angle, min(1.0, score), size, size.drawings[at])


def _around(states: Array, turn: float, move: float, far: float = 0.0) -> Array:
    """States × moves × 3: each as it is, turned, and moved along and across."""
    steps = [(0, 0, 0), (0, 0, turn), (0, 0, -turn), (move, 0, 0), (-move, 0, 0), (0, move, 0),
             (0, -move, 0)]  # fmt: skip
    if far:
        steps += [(far, 0, 0), (-far, 0, 0)]
    along, across, turns = np.array(steps, np.float32).T
    cos, sin = (each(np.radians(states[:, 2:])) for each in (np.cos, np.sin))
    x = states[:, :1] + along * cos - across * sin
    y = states[:, 1:2] + along * sin + across * cos
    tried: Array = np.stack([x, y, states[:, 2:] + turns], axis=-1).astype(np.float32)
    return tried


def _best(tried: Array, values: Array) -> tuple[Array, Array]:
    at = values.argmax(axis=1)
    rows = np.arange(len(at))
    return tried[rows, at], values[rows, at]


def _sampled(layers: Array, points: Array, states: Array) -> Array:
    """What the layers show at the points of a thing, for each state of it."""
    shape = states.shape[:-1]
    flat = states.reshape(-1, 3)
    cos, sin = np.cos(np.radians(flat[:, 2:])), np.sin(np.radians(flat[:, 2:]))
    x = flat[:, :1] + points[:, 0] * cos - points[:, 1] * sin
    y = flat[:, 1:2] + points[:, 0] * sin + points[:, 1] * cos
    parts = [
        cv2.remap(layers, x[at : at + 30_000], y[at : at + 30_000], cv2.INTER_LINEAR)
        for at in range(0, len(x), 30_000)
    ]
    sampled: Array = np.concatenate(parts)
    return sampled.reshape(*shape, len(points), *sampled.shape[2:])


def _likeness(sampled: Array, colors: Array, covers: Array) -> Array:
    """How much colors, and what of them is on the frame, are like those of drawings."""
    apart = np.sqrt(((colors - sampled[..., 1:4]) ** 2) @ _HUES)
    weights = covers * sampled[..., 4]
    total = np.maximum(weights.sum(axis=-1), 1.0)
    likeness: Array = 1 - (np.minimum(apart, 1.0) * weights).sum(axis=-1) / total
    return likeness
