"""What a rectangle on a frame shows: the thing of the palette whose picture it resembles most.

Every thing in every paint, with and without its marks, with its front ahead and behind, is drawn
once a palette and scale; what was cut from a frame and turned is compared with all of that size.
Invariant: colors are compared as in `light`, so light is a shift. Cost: microseconds a picture.
"""

from __future__ import annotations

import functools
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis_operators.image.detectors.light import Array, logs
from tamis_operators.image.palette import Color, Outline, Palette, Thing
from tamis_operators.image.vision import opencv

_OVERSAMPLED = 4
_MARGIN_M = 0.4
"""Around a thing: a picture shows that it ends there."""
_CAP = 1.0
_NOTHING = np.zeros(0, np.float32)
_WEIGHTS = np.array([1.0, 0.35, 0.35], np.float32)
"""Hues of paints are far apart, and codecs blur them."""


class Template(NamedTuple):
    """A thing as it would look."""

    thing: Thing
    marks: frozenset[str]
    turned: bool
    """Whether its front is to the left."""
    colors: Array
    cover: NDArray[np.bool_]


class Size(NamedTuple):
    """Things of one size, and their pictures."""

    length_m: float
    breadth_m: float
    cell_m: float
    templates: tuple[Template, ...]
    colors: Array
    """Of all of them: templates × pixels × 3."""
    covers: Array
    """Templates × pixels, 1 where the thing is."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of a picture."""
        return (
            round((self.breadth_m + 2 * _MARGIN_M) / self.cell_m),
            round((self.length_m + 2 * _MARGIN_M) / self.cell_m),
        )


class Likeness(NamedTuple):
    """The most similar thing, how similar it is (1 is the same), and what it is not."""

    template: Template
    value: float


@functools.lru_cache(maxsize=32)
def sizes_of(palette: Palette, cell_m: float, on_water: bool, blur_m: float) -> tuple[Size, ...]:
    """The sizes of things on water or on land, largest first; people are too small for pictures."""
    found: dict[tuple[float, float], list[Thing]] = {}
    for thing in palette.things:
        if thing.on_water == on_water and thing.length_m >= 1.5:
            found.setdefault((thing.length_m, thing.breadth_m), []).append(thing)
    return tuple(
        _size(things, cell_m, blur_m)
        for _, things in sorted(found.items(), key=lambda item: -item[0][0] * item[0][1])
    )


def _size(things: list[Thing], cell_m: float, blur_m: float) -> Size:
    bare = Size(things[0].length_m, things[0].breadth_m, cell_m, (), _NOTHING, _NOTHING)
    templates = [
        _drawn(bare, thing, body, frozenset(marks), turned, blur_m)
        for thing in things
        for body in thing.bodies
        for count in range(len(thing.marks) + 1)
        for marks in combinations(thing.marks, count)
        for turned in (False, True)
    ]
    return bare._replace(
        templates=tuple(templates),
        colors=np.stack([each.colors.reshape(-1, 3) for each in templates]),
        covers=np.stack([each.cover.reshape(-1).astype(np.float32) for each in templates]),
    )


def _drawn(
    size: Size, thing: Thing, body: Color, marks: frozenset[str], turned: bool, blur_m: float
) -> Template:
    cv2 = opencv()
    rows, columns = size.shape
    fine = size.cell_m / _OVERSAMPLED
    canvas = np.zeros((rows * _OVERSAMPLED, columns * _OVERSAMPLED, 3), np.float32)
    cover = np.zeros(canvas.shape[:2], np.float32)
    for at, (paint, outline) in enumerate(thing.drawn(body, marks)):
        points = _points(outline, -1 if turned else 1, fine, canvas.shape)
        cv2.fillPoly(canvas, [points], tuple(float(each) for each in reversed(paint)))
        if at == 0:
            cv2.fillPoly(cover, [points], 1.0)
    sigma = blur_m / fine
    if sigma > 0.3:  # colors run into one another inside of the thing, not into the black around
        inside = cv2.GaussianBlur(cover, (0, 0), sigma)
        canvas = cv2.GaussianBlur(canvas, (0, 0), sigma) / np.maximum(inside, 1e-3)[..., None]
    small = cv2.resize(canvas, (columns, rows), interpolation=cv2.INTER_AREA)
    covered = cv2.resize(cover, (columns, rows), interpolation=cv2.INTER_AREA) > 0.9
    return Template(thing, marks, turned, logs(small), covered)


def _points(outline: Outline, sign: int, fine: float, shape: tuple[int, ...]) -> NDArray[np.int32]:
    points = np.array(outline, float) * sign / fine
    points += np.array([shape[1] / 2 - 0.5, shape[0] / 2 - 0.5])
    rounded: NDArray[np.int32] = np.round(points).astype(np.int32)
    return rounded


def likeness(size: Size, picture: Array, valid: Array) -> Likeness:
    """The template that the picture resembles most, where the frame shows it."""
    cells = picture.reshape(-1, 3)
    squares = ((size.colors - cells) ** 2 * _WEIGHTS).sum(axis=2)
    apart = np.minimum(np.sqrt(squares), _CAP)
    weights = size.covers * valid.reshape(-1)
    total = np.maximum(weights.sum(axis=1), 1.0)
    means = (apart * weights).sum(axis=1) / total
    best = int(means.argmin())
    return Likeness(size.templates[best], 1.0 - float(means[best]) / _CAP)


def likeness_to(template: Template, picture: Array, valid: Array) -> float:
    """How much the picture resembles one template."""
    squares = ((template.colors - picture) ** 2 * _WEIGHTS).sum(axis=2)
    weights = template.cover * valid
    apart = (np.minimum(np.sqrt(squares), _CAP) * weights).sum()
    return 1.0 - float(apart / max(float(weights.sum()), 1.0)) / _CAP
