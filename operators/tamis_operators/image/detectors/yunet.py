"""Finds faces by YuNet, from the front and in profile, tilted and small ones too.

A frame longer than `LONG_SIDE` is shrunk first. Cost: 11 ms at 640 by 480.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Box, Detection, Detector
from tamis_operators.image.features import shrunk
from tamis_operators.image.vision import opencv

if TYPE_CHECKING:
    from tamis_operators.image.frames import Frame

LONG_SIDE = 1_280
_LEAST_SIDE = 10
_MOST_FACES = 5_000


class YunetDetector(Detector):
    """OpenCV's own reading of what YuNet puts out."""

    labels = frozenset({"face"})

    def __init__(self, configuration: DetectorConfiguration) -> None:
        self._lock = threading.Lock()
        cv2 = opencv()
        try:
            self._network = cv2.FaceDetectorYN.create(
                configuration.model,
                "",
                (320, 320),
                configuration.threshold,
                configuration.overlap,
                _MOST_FACES,
            )
        except cv2.error as problem:
            raise ValueError(f"OpenCV cannot read {configuration.model}: {problem.err}") from None

    def detect(self, frame: Frame, meters_per_pixel: float | None = None) -> list[Detection]:
        """Returns the faces on the frame."""
        small, zoom = shrunk(frame, LONG_SIDE)
        height, width = small.shape[:2]
        if min(height, width) < _LEAST_SIDE:
            return []
        with self._lock:
            self._network.setInputSize((width, height))
            _, found = self._network.detect(small)
        return [
            Detection("face", float(row[14]), Box(*(float(each) / zoom for each in row[:4])))
            for row in (() if found is None else found)
        ]
