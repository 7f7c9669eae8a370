"""The image operators: what they see is a frame, and what they count a detector found on it.

Nothing heavy is imported before a frame is looked at.
"""

from __future__ import annotations

from tamis.operators import OperatorRecord
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.things import detection_operators

__all__ = ["operators"]


def operators(detector: str | DetectorConfiguration | None = None) -> list[OperatorRecord]:
    """The operators on frames; the detector is that of TAMIS_DETECTOR when none is given."""
    return detection_operators(detector)
