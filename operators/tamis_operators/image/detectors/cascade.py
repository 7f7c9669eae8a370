"""Faces and full bodies by the Haar cascades that come with OpenCV.

A face is a label of its own: counting people by faces would count those who look at the camera.
Cost: tens of milliseconds a frame.
"""

from __future__ import annotations

import math
import os
import threading
from typing import TYPE_CHECKING

from tamis_operators.image.detection import Box, Detection, Detector, suppressed
from tamis_operators.image.labels import PERSON
from tamis_operators.image.vision import opencv

if TYPE_CHECKING:
    from tamis_operators.image.frames import Frame

FACE = "face"
_PIXELS = 1_000_000
_FILES = {
    FACE: ("haarcascade_frontalface_default.xml", 6, 1.1),
    PERSON: ("haarcascade_fullbody.xml", 4, 1.05),
}


class CascadeDetector(Detector):
    """The cascades of `face` and `person`."""

    labels = frozenset(_FILES)

    def __init__(self) -> None:
        cv2 = opencv()
        self._lock = threading.Lock()  # a classifier works on one frame at a time
        self._classifiers = {
            label: cv2.CascadeClassifier(os.path.join(cv2.data.haarcascades, file))
            for label, (file, _, _) in _FILES.items()
        }

    def detect(self, frame: Frame, meters_per_pixel: float | None = None) -> list[Detection]:
        """Returns the faces and bodies on the frame."""
        cv2 = opencv()
        height, width = frame.shape[:2]
        zoom = min(1.0, math.sqrt(_PIXELS / (width * height)))
        size = max(1, round(width * zoom)), max(1, round(height * zoom))
        sized = cv2.resize(frame, size, interpolation=cv2.INTER_AREA)
        gray = cv2.equalizeHist(cv2.cvtColor(sized, cv2.COLOR_BGR2GRAY))
        found: list[Detection] = []
        with self._lock:
            for label, classifier in self._classifiers.items():
                _, neighbors, step = _FILES[label]
                boxes, _, weights = classifier.detectMultiScale3(
                    gray, scaleFactor=step, minNeighbors=neighbors, outputRejectLevels=True
                )
                found += [
                    Detection(label, float(weight), Box(*(float(each) / zoom for each in box)))
                    for box, weight in zip(boxes, weights, strict=True)
                ]
        return suppressed(found, 0.3, 0.6)
