"""Finds standing and walking people on photographs by histograms of oriented gradients.

OpenCV's people detector looks for windows of 64 by 128 pixels in which a person is about 96 high:
small frames are enlarged, so that people from about 50 pixels on are found, and large ones reduced.
Windows overlap, so what is left after suppression is one box a person, cut down to the body.
Cost: a fraction of a second a frame.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tamis_operators.image.detection import Box, Detection, Detector, suppressed
from tamis_operators.image.labels import PERSON
from tamis_operators.image.vision import opencv

if TYPE_CHECKING:
    from tamis_operators.image.frames import Frame

_PIXELS = 1_600_000
_MOST_ENLARGED = 2.0
_STRIDE, _PADDING, _STEP = (8, 8), (16, 16), 1.06
_LEAST_SCORE = 0.55
_BODY = (0.2, 0.09, 0.6, 0.82)
"""The place of a person in a window: from the left, from the top, width, height."""


class HogDetector(Detector):
    """OpenCV's people detector at the sizes that people have on a frame."""

    labels = frozenset({PERSON})

    def __init__(self) -> None:
        cv2 = opencv()
        self._hog = cv2.HOGDescriptor()
        self._hog.setSVMDetector(cv2.HOGDescriptor.getDefaultPeopleDetector())

    def detect(self, frame: Frame, meters_per_pixel: float | None = None) -> list[Detection]:
        """Returns the people on the frame."""
        cv2 = opencv()
        height, width = frame.shape[:2]
        zoom = min(_MOST_ENLARGED, math.sqrt(_PIXELS / (width * height)))
        size = max(1, round(width * zoom)), max(1, round(height * zoom))
        if size[0] < 64 or size[1] < 128:
            return []
        method = cv2.INTER_AREA if zoom < 1 else cv2.INTER_LINEAR
        sized = cv2.resize(frame, size, interpolation=method)
        windows, scores = self._hog.detectMultiScale(
            sized,
            hitThreshold=_LEAST_SCORE,
            winStride=_STRIDE,
            padding=_PADDING,
            scale=_STEP,
            groupThreshold=0,
        )
        left, top, wide, high = _BODY
        found = [
            Detection(
                PERSON,
                float(score),
                Box(
                    (x + left * w) / zoom,
                    (y + top * h) / zoom,
                    wide * w / zoom,
                    high * h / zoom,
                ),
            )
            for (x, y, w, h), score in zip(windows, scores, strict=True)
        ]
        return suppressed(found, 0.3, 0.6)
