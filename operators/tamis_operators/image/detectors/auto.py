"""The detector of a fresh installation: by palette where a frame's scale on the ground is known,
and people by gradients elsewhere.

An event that says how high its camera is, is a view from above; see `meters_per_pixel_of`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tamis_operators.image.detection import Detection
from tamis_operators.image.detectors.above import ViewFromAboveDetector
from tamis_operators.image.detectors.hog import HogDetector
from tamis_operators.image.palette import Palette

if TYPE_CHECKING:
    from tamis_operators.image.frames import Frame


class AutoDetector:
    """One of two detectors, chosen by the event alone."""

    def __init__(self, palette: Palette) -> None:
        self._above = ViewFromAboveDetector(palette)
        self._ahead = HogDetector()
        self.labels = self._above.labels | self._ahead.labels
        self.marks = self._above.marks

    def told(self, meters_per_pixel: float | None) -> frozenset[str]:
        """The labels it can tell on such a frame."""
        if meters_per_pixel is None:
            return self._ahead.labels
        return self._above.told(meters_per_pixel)

    def detect(self, frame: Frame, meters_per_pixel: float | None = None) -> list[Detection]:
        """What the one that fits finds."""
        chosen = self._ahead if meters_per_pixel is None else self._above
        return chosen.detect(frame, meters_per_pixel)
