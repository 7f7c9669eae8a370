"""Which detector a configuration names; each is made once a process, when it is first needed."""

from __future__ import annotations

import functools

from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Detector


@functools.lru_cache(maxsize=8)
def detector_of(configuration: DetectorConfiguration) -> Detector:
    """The detector, with its model loaded."""
    kind = configuration.kind
    if kind == "hog":
        from tamis_operators.image.detectors.hog import HogDetector

        return HogDetector()
    if kind == "cascade":
        from tamis_operators.image.detectors.cascade import CascadeDetector

        return CascadeDetector()
    if kind == "above":
        from tamis_operators.image.detectors.above import ViewFromAboveDetector

        return ViewFromAboveDetector(configuration.palette)
    if kind == "auto":
        from tamis_operators.image.detectors.auto import AutoDetector

        return AutoDetector(configuration.palette)
    from tamis_operators.image.detectors.network import NetworkDetector

    return NetworkDetector(configuration)
