"""The image operators: what they see is a frame, its pixels, and what a detector found on it.

Nothing heavy is imported before a frame is looked at.
"""

from __future__ import annotations

from tamis.operators import OperatorRecord
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.pixels import pixel_operators
from tamis_operators.image.things import detection_operators

__all__ = ["operators"]


def operators(
    detector: str | DetectorConfiguration | None = None, references: str | None = None
) -> list[OperatorRecord]:
    """The operators on frames.

    The detector is that of TAMIS_DETECTOR, the references are those of TAMIS_REFERENCES, when
    none are given."""
    return [*detection_operators(detector), *pixel_operators(references)]
