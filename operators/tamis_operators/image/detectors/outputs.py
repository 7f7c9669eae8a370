"""Reads the outputs of a network, classes, scores and boxes, by the shape of the arrays.

- `N × (5 + classes)`, Darknet's: center and size as fractions of the picture, then the scores,
  with the objectness in them;
- `1 × N × (5 + classes)`, YOLO up to version 7: the same in pixels, and scores without
  the objectness;
- `1 × (4 + classes) × N`, YOLO from version 8: no objectness;
- `1 × N × 6`: corners in pixels, score, class, after the model's own suppression;
- `1 × 1 × N × 7`, SSD's: picture, class, score, and corners as fractions; class 0 is the
  background;
- two arrays `1 × N × 4` and `1 × N × classes`: corners as fractions, and scores, class 0 likewise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis_operators.image.detection import DetectionError

Corners = tuple[float, float, float, float]
Found = tuple[int, float, Corners]
_MOST_FINAL = 1000
"""More rows than this are not what a model's own suppression leaves."""


class Layout(NamedTuple):
    """The facts that are needed to read an output."""

    classes: int
    size: tuple[int, int]
    threshold: float


def found_in(outputs: Sequence[NDArray[Any]], layout: Layout) -> Iterator[Found]:
    """Class, score and corners in pixels of what the network was shown."""
    shapes = [output.shape for output in outputs]
    if all(len(shape) == 2 and shape[1] == 5 + layout.classes for shape in shapes):
        for output in outputs:
            yield from _darknet(output, layout)
    elif len(outputs) == 1 and len(shapes[0]) == 4 and shapes[0][3] == 7:
        yield from _ssd(outputs[0].reshape(-1, 7), layout)
    elif len(outputs) == 1 and len(shapes[0]) == 3 and shapes[0][0] == 1:
        yield from _single(outputs[0][0], layout)
    elif len(outputs) == 2 and all(len(shape) == 3 for shape in shapes):
        yield from _boxes_and_scores(outputs, layout)
    else:
        raise _unknown(shapes, layout)


def _unknown(shapes: Sequence[tuple[int, ...]], layout: Layout) -> DetectionError:
    shown = " and ".join("×".join(map(str, shape)) for shape in shapes)
    return DetectionError(
        f"the outputs of the model ({shown}) are not detections of {layout.classes} classes"
    )


def _single(rows: NDArray[Any], layout: Layout) -> Iterator[Found]:
    high, wide = rows.shape
    if high == 4 + layout.classes and wide != 5 + layout.classes:
        columns = rows.T
        yield from _centered(columns[:, :4], columns[:, 4:], layout)
    elif wide == 6 and (layout.classes != 1 or high <= _MOST_FINAL):
        for row in rows[rows[:, 4] >= layout.threshold].tolist():
            yield int(row[5]), row[4], (row[0], row[1], row[2], row[3])
    elif wide == 5 + layout.classes:
        yield from _centered(rows[:, :4], rows[:, 5:] * rows[:, 4:5], layout)
    else:
        raise _unknown([(1, high, wide)], layout)


def _darknet(rows: NDArray[Any], layout: Layout) -> Iterator[Found]:
    wide, high = layout.size
    yield from _centered(rows[:, :4] * np.array([wide, high, wide, high]), rows[:, 5:], layout)


def _centered(boxes: NDArray[Any], scores: NDArray[Any], layout: Layout) -> Iterator[Found]:
    classes = scores.argmax(axis=1)
    best = scores[np.arange(len(scores)), classes]
    for at in np.flatnonzero(best >= layout.threshold).tolist():
        x, y, w, h = boxes[at].tolist()
        yield int(classes[at]), float(best[at]), (x - w / 2, y - h / 2, x + w / 2, y + h / 2)


def _ssd(rows: NDArray[Any], layout: Layout) -> Iterator[Found]:
    wide, high = layout.size
    for row in rows[rows[:, 2] >= layout.threshold].tolist():
        x1, y1, x2, y2 = row[3:]
        yield int(row[1]) - 1, row[2], (x1 * wide, y1 * high, x2 * wide, y2 * high)


def _boxes_and_scores(outputs: Sequence[NDArray[Any]], layout: Layout) -> Iterator[Found]:
    wide, high = layout.size
    boxes, scores = sorted((output[0] for output in outputs), key=lambda each: each.shape[1] != 4)
    if boxes.shape[1] != 4 or scores.shape[1] != layout.classes + 1 or len(boxes) != len(scores):
        raise _unknown([output.shape for output in outputs], layout)
    classes = scores[:, 1:].argmax(axis=1)
    best = scores[:, 1:].max(axis=1)
    for at in np.flatnonzero(best >= layout.threshold).tolist():
        x1, y1, x2, y2 = boxes[at].tolist()
        corners = x1 * wide, y1 * high, x2 * wide, y2 * high
        yield int(classes[at]), float(best[at]), corners
