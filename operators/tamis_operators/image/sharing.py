"""Prepares what was found on the frame of an event: one result, shared by all operators of a
detector, yours too (`image.detections()`).

A detector that is shown several frames at once is, where many events are in flight.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tamis import Preparation
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Detection, DetectionError, Detections, Detector
from tamis_operators.image.frames import FRAME
from tamis_operators.image.scale import INPUTS, meters_per_pixel_of

if TYPE_CHECKING:
    from tamis_operators.image.frames import Frame


def detections(detector: str | DetectorConfiguration | None = None) -> Preparation:
    """Makes the preparation whose `event.prepared` is the `Detections` of a detector.

    The detector is that of TAMIS_DETECTOR when none is given. An operator of your own that names
    it shares the decoded frame and what was found on it with all others of that detector."""
    if detector is None:
        return _detections(DetectorConfiguration.from_environment())
    if isinstance(detector, str):
        return _detections(DetectorConfiguration.of(detector))
    return _detections(detector)


@functools.lru_cache(maxsize=8)
def _detections(configuration: DetectorConfiguration) -> Preparation:
    together: dict[str, Any] = {}
    if configuration.batch > 1:
        together = {
            "prepare_events": functools.partial(_detected_together, configuration),
            "batch": configuration.batch,
        }
    return Preparation(
        f"detections-{configuration.digest}",
        functools.partial(_detected, configuration),
        inputs=(),
        optional_inputs=INPUTS,
        cost_seconds=configuration.cost_seconds,
        after=FRAME,
        **together,
    )


def _detected(configuration: DetectorConfiguration, event: Any) -> Detections:
    """Returns everything that the detector finds on the prepared frame."""
    from tamis_operators.image.detectors import detector_of

    detector = detector_of(configuration)
    scale = _scale(event, detector)
    return _told(detector, event.prepared, scale, detector.detect(event.prepared, scale))


def _detected_together(
    configuration: DetectorConfiguration, events: Sequence[Any]
) -> list[Detections | Exception]:
    """Returns the same for several events: a bad frame or scale is the failure of its own event."""
    from tamis_operators.image.detectors import detector_of
    from tamis_operators.image.detectors.network import NetworkDetector

    detector = detector_of(configuration)
    assert isinstance(detector, NetworkDetector)
    found: list[Detections | Exception] = []
    shown: list[tuple[int, Frame, float | None]] = []
    for at, event in enumerate(events):
        try:
            shown.append((at, event.prepared, _scale(event, detector)))
            found.append(DetectionError("the frame was not shown to the detector"))
        except Exception as problem:
            found.append(problem)
    many = detector.detect_many([frame for _, frame, _ in shown])
    for (at, frame, scale), things in zip(shown, many, strict=True):
        found[at] = _told(detector, frame, scale, things)
    return found


def _scale(event: Any, detector: Detector) -> float | None:
    return meters_per_pixel_of(event, event.prepared.shape[1], detector.looks_down)


def _told(
    detector: Detector, frame: Frame, scale: float | None, things: Sequence[Detection]
) -> Detections:
    height, width = frame.shape[:2]
    told = detector.told(scale)
    return Detections(tuple(things), width, height, told, scale, detector.marks)
