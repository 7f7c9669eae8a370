"""The image operators: what they see is a frame, its pixels, and what a detector found on it.

A detector of your own is a `Detector`, which gives `Detection`s; an operator of your own that looks
at frames comes after `FRAME`, and one on what was found on them after `detections()`. Others may
import what stands here, and from `frames`, `labels`, `scale` and `vision`.

Nothing heavy is imported before a frame is looked at.
"""

from __future__ import annotations

from tamis import ModelRecord, OperatorRecord, hookimpl
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import (
    Box,
    Detection,
    DetectionError,
    Detections,
    Detector,
)
from tamis_operators.image.detection_records import detection_operators
from tamis_operators.image.frames import FRAME, FrameError
from tamis_operators.image.models import MODELS
from tamis_operators.image.pictures import drawn_card
from tamis_operators.image.pixel_records import pixel_operators
from tamis_operators.image.sharing import detections

__all__ = [
    "FRAME",
    "Box",
    "Detection",
    "DetectionError",
    "Detections",
    "Detector",
    "DetectorConfiguration",
    "FrameError",
    "detections",
    "drawn_card",
    "operators",
    "pixel_operators",
]


def operators(
    detector: str | DetectorConfiguration | None = None, references: str | None = None
) -> list[OperatorRecord]:
    """Returns the operators on frames.

    The detector is that of TAMIS_DETECTOR, the references are those of TAMIS_REFERENCES, when
    none are given."""
    return [*detection_operators(detector), *pixel_operators(references)]


@hookimpl
def tamis_operators() -> list[OperatorRecord]:
    """Returns the operators as the environment sets them up."""
    return operators()


@hookimpl
def tamis_models() -> list[ModelRecord]:
    """Returns the models that they can use."""
    return list(MODELS)
