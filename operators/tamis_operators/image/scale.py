"""Says how many meters of ground a pixel of a frame shows, as far as the event says.

An event says it itself (`meters_per_pixel`), or how high the camera is above what it sees, looking
straight down (`altitude`, in meters), and the angle that the width of the frame takes
(`field_of_view`, in degrees).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tamis_operators.image.detection import DetectionError

INPUTS = ("altitude", "field_of_view", "meters_per_pixel")
FIELD_OF_VIEW = 60.0
"""The default, in degrees: common cameras on drones have from 55 to 85."""


def meters_per_pixel_of(event: Mapping[str, Any], width: int, looks_down: bool) -> float | None:
    """Returns the scale of a frame of that width; `None` where the event does not tell.

    A height says nothing of the scale of a frame that was not taken straight down."""
    given = event.get("meters_per_pixel")
    if given is not None:
        return _above_zero("meters_per_pixel", given)
    altitude = event.get("altitude")
    if altitude is None or not looks_down:
        return None
    view = event.get("field_of_view")
    angle = FIELD_OF_VIEW if view is None else _above_zero("field_of_view", view)
    if angle >= 180:
        raise DetectionError(f"the field_of_view is below 180 degrees, not {angle:g}")
    return 2 * _above_zero("altitude", altitude) * math.tan(math.radians(angle / 2)) / width


def _above_zero(name: str, value: Any) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:
        raise DetectionError(f"{name} is a number above 0, not {value!r:.40}")
    return float(value)
