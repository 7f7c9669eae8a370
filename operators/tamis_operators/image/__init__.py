"""The image operators: what they see is a frame, its pixels, and what a detector found on it.

A detector of your own is a `Detector`, which gives `Detection`s.

Nothing heavy is imported before a frame is looked at.
"""

from __future__ import annotations

from tamis import OperatorRecord, hookimpl
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Box, Detection, DetectionError, Detector
from tamis_operators.image.pixels import pixel_operators
from tamis_operators.image.things import detection_operators

__all__ = [
    "Box",
    "Detection",
    "DetectionError",
    "Detector",
    "DetectorConfiguration",
    "operators",
]


def operators(
    detector: str | DetectorConfiguration | None = None, references: str | None = None
) -> list[OperatorRecord]:
    """The operators on frames.

    The detector is that of TAMIS_DETECTOR, the references are those of TAMIS_REFERENCES, when
    none are given."""
    return [*detection_operators(detector), *pixel_operators(references)]


@hookimpl
def tamis_operators() -> list[OperatorRecord]:
    """The operators as the environment sets them up."""
    return operators()
