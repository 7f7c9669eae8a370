"""Prepares what the operators on pixels share: the gray picture of a frame, and its features.

Each is made at most once an event, after `FRAME`, whoever asks first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tamis import Preparation
from tamis_operators.image.frames import FRAME
from tamis_operators.image.vision import opencv

if TYPE_CHECKING:
    from tamis.kit import Bytes
    from tamis_operators.image.features import Features

__all__ = ["FEATURES", "GRAY", "gray_of"]


def gray_of(frame: Bytes) -> Bytes:
    """Returns the luma of a frame (ITU-R BT.601, as JPEG has it), read-only."""
    cv2 = opencv()
    gray: Bytes = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
    gray.setflags(write=False)
    return gray


def _gray(event: Any) -> Bytes:
    return gray_of(event.prepared)


def _features(event: Any) -> Features:
    from tamis_operators.image.features import features_of

    return features_of(event.prepared)


GRAY = Preparation("gray", _gray, inputs=(), cost_seconds=0.001, after=FRAME)
"""The gray picture of the frame."""
FEATURES = Preparation("features", _features, inputs=(), cost_seconds=0.04, after=GRAY)
"""The points of the frame that `looksLike` compares."""
EXTRA = "tamis[image]"
MODULES = ("cv2", "numpy")
