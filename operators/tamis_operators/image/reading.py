"""Reads lines of text on a frame by PP-OCR: one network finds lines, the other reads each.

The frame is stretched or shrunk to a short side of `SHORT_SIDE` pixels, but to a long side of no
more than `LONG_SIDE`. A line is a rectangle around what the first network marks, grown as it was
trained to (Liao et al. 2020, section 3.4); upright ones are turned. Each line is read by itself, so
that none depends on others. At most `MOST_LINES` are read, the largest. Cost: half a second, and
20 ms a line.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.kit import Bytes, SmallFloats
from tamis_operators.image.detectors.engines import OnnxEngine
from tamis_operators.image.vision import opencv

SHORT_SIDE, LONG_SIDE = 736, 1_280
MOST_LINES = 200
_STEP = 32
_MARKED, _SURE_LINE, _SURE_TEXT = 0.3, 0.5, 0.5
_GROWN = 1.6
_LEAST_SIDE, _LEAST_GROWN = 3, 5
_UPRIGHT = 1.5
_HEIGHT, _LEAST_WIDTH, _MOST_WIDTH = 48, 320, 3_200

Corners = NDArray[np.float32]


class Reader:
    """The two networks."""

    def __init__(self, lines: str, letters: str) -> None:
        self._lines = OnnxEngine(lines)
        self._letters = OnnxEngine(letters)
        known = self._letters.metadata.get("character", "").splitlines()
        self._alphabet = ["", *known, " "]

    def texts(self, frame: Bytes) -> list[str]:
        """Returns the texts of the lines, each once, sorted."""
        found = {self._text(_cut(frame, corners)) for corners in self._corners(frame)}
        return sorted(found - {""})

    def _corners(self, frame: Bytes) -> list[Corners]:
        """Returns the rectangles of lines, the largest first, in pixels of the frame."""
        cv2 = opencv()
        height, width = frame.shape[:2]
        zoom = min(SHORT_SIDE / min(height, width), LONG_SIDE / max(height, width))
        wide, high = (max(1, round(side * zoom / _STEP)) * _STEP for side in (width, height))
        (marks,) = self._lines.run(_blob(cv2.resize(frame, (wide, high))))
        marked = np.asarray(marks[0, 0], np.float32)
        mask = cv2.dilate((marked > _MARKED).astype(np.uint8), np.ones((2, 2), np.uint8))
        outlines, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
        found: list[tuple[float, Corners]] = []
        for outline in outlines:
            center, (across, down), turn = cv2.minAreaRect(outline)
            if min(across, down) < _LEAST_SIDE or _mean(marked, outline) < _SURE_LINE:
                continue
            grown = 2 * _GROWN * across * down / (2 * (across + down))
            across, down = across + grown, down + grown
            if min(across, down) >= _LEAST_GROWN:
                corners = cv2.boxPoints((center, (across, down), turn))
                corners = corners * np.array([width / wide, height / high], np.float32)
                found.append((across * down, _ordered(corners)))
        found.sort(key=lambda each: -each[0])
        return [corners for _, corners in found[:MOST_LINES]]

    def _text(self, line: Bytes) -> str:
        """Reads a line; empty where that is not sure."""
        height, width = line.shape[:2]
        wide = min(max(1, math.ceil(_HEIGHT * width / height)), _MOST_WIDTH)
        shown = np.zeros((1, 3, _HEIGHT, max(wide, _LEAST_WIDTH)), np.float32)
        shown[..., :wide] = _blob(opencv().resize(line, (wide, _HEIGHT)))
        (scores,) = self._letters.run(shown)
        letters = scores[0].argmax(axis=1)
        kept = letters > 0
        kept[1:] &= letters[1:] != letters[:-1]
        if not kept.any() or float(scores[0].max(axis=1)[kept].mean()) < _SURE_TEXT:
            return ""
        return "".join(self._alphabet[at] for at in letters[kept].tolist()).strip()


@functools.lru_cache(maxsize=2)
def reader_of(lines: str, letters: str) -> Reader:
    """Returns the networks of two files, read once a process."""
    return Reader(lines, letters)


def _blob(picture: Bytes) -> SmallFloats:
    """Makes the input of both networks: -1 to 1, blue first."""
    scaled = np.asarray(picture, np.float32) / np.float32(127.5) - np.float32(1)
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])


def _mean(marked: SmallFloats, outline: Any) -> float:
    """Returns how sure the first network is of what lies within an outline."""
    cv2 = opencv()
    left, top, wide, high = cv2.boundingRect(outline)
    inside = np.zeros((high, wide), np.uint8)
    cv2.fillPoly(inside, [outline - np.array([left, top])], 1)
    return float(cv2.mean(marked[top : top + high, left : left + wide], inside)[0])


def _ordered(corners: Corners) -> Corners:
    """Returns the corners from the upper left one on, clockwise."""
    by_x = corners[np.argsort(corners[:, 0], kind="stable")]
    left, right = by_x[:2], by_x[2:]
    left = left[np.argsort(left[:, 1], kind="stable")]
    right = right[np.argsort(right[:, 1], kind="stable")]
    return np.array([left[0], right[0], right[1], left[1]], np.float32)


def _cut(frame: Bytes, corners: Corners) -> Bytes:
    """Returns the rectangle of a line, level."""
    cv2 = opencv()
    top, right, bottom, left = (
        float(np.linalg.norm(corners[at] - corners[at - 3])) for at in range(4)
    )
    wide, high = max(1, round(max(top, bottom))), max(1, round(max(left, right)))
    level = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], np.float32)
    view = cv2.getPerspectiveTransform(corners, level)
    cut = cv2.warpPerspective(
        frame, view, (wide, high), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    if high / wide >= _UPRIGHT:
        cut = np.rot90(cut)
    return np.ascontiguousarray(cut, np.uint8)
