"""Makes the detector that a configuration names, once a process, when it is first needed."""

from __future__ import annotations

import functools
import importlib

from tamis_operators.image.configuration import ConfigurationError, DetectorConfiguration
from tamis_operators.image.detection import Detector


@functools.lru_cache(maxsize=8)
def detector_of(configuration: DetectorConfiguration) -> Detector:
    """Returns the detector, with its model loaded."""
    kind = configuration.kind
    if kind == "hog":
        from tamis_operators.image.detectors.hog import HogDetector

        return HogDetector()
    if kind == "cascade":
        from tamis_operators.image.detectors.cascade import CascadeDetector

        return CascadeDetector()
    if kind == "own":
        return _own(configuration.source)
    if kind == "yunet":
        from tamis_operators.image.detectors.yunet import YunetDetector

        return YunetDetector(configuration)
    from tamis_operators.image.detectors.network import NetworkDetector

    return NetworkDetector(configuration)


def _own(source: str) -> Detector:
    """Returns the detector of `module:attribute`: an object, or what makes one."""
    module, _, name = source.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
        made = found if isinstance(found, Detector) else found()
    except Exception as failure:
        raise ConfigurationError(
            f"the detector {source} cannot be made: {type(failure).__name__}: {failure}"
        ) from failure
    if not isinstance(made, Detector):
        raise ConfigurationError(f"{source} is not a tamis_operators.image.Detector: {made!r:.80}")
    return made
