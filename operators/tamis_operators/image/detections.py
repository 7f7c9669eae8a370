"""Detects things on the frame of an event once, for all operators of a detector."""

from __future__ import annotations

import functools
from typing import Any

from tamis import Preparation
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Detections
from tamis_operators.image.frames import FRAME
from tamis_operators.image.scale import INPUTS, meters_per_pixel_of


@functools.lru_cache(maxsize=8)
def detections(configuration: DetectorConfiguration) -> Preparation:
    """The preparation that shows the frame to the detector; one object a configuration."""
    return Preparation(
        f"detections-{configuration.digest}",
        functools.partial(detected, configuration),
        inputs=(),
        optional_inputs=INPUTS,
        cost_seconds=configuration.cost_seconds,
        after=FRAME,
    )


def detected(configuration: DetectorConfiguration, event: Any) -> Detections:
    """Everything that the detector finds on the prepared frame."""
    from tamis_operators.image.detectors import detector_of

    frame = event.prepared
    height, width = frame.shape[:2]
    detector = detector_of(configuration)
    scale = meters_per_pixel_of(event, width, detector.looks_down)
    things = tuple(detector.detect(frame, scale))
    return Detections(things, width, height, detector.told(scale), scale, detector.marks)
