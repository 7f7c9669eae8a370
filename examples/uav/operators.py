"""The plugin of the example: the bundled operators on frames, with the example's own detector.

`tamis match --operators examples.uav.operators …` takes them from here.
"""

from __future__ import annotations

import tamis
from tamis_operators import image

DETECTOR = "examples.uav.detector:SimulatedView"


@tamis.hookimpl
def tamis_operators() -> list[tamis.OperatorRecord]:
    """The operators on frames of the simulator."""
    return image.operators(DETECTOR)
