"""Measures how bright the frame of an event is, from 0 to 255."""

from __future__ import annotations

from typing import Any

import tamis
from tamis_operators import image

BRIGHT = {"image": "data:image/webp;base64,UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAAAdQ5CIXuf+BiOh/AAA="}
DARK = {"image": "data:image/webp;base64,UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAAAdQilKUov+BiOh/AAA="}
SAMPLES = [
    tamis.Sample("newOperator(?value)", BRIGHT, [200]),
    tamis.Sample("newOperator(?value), ?value > 100", DARK, []),
    tamis.Sample("newOperator(20)", DARK, True),
]


# image.FRAME is decoded once an event, for all operators that come after it; what the detector
# found on it comes by preparation=image.detections()
@tamis.operator(
    inputs=(),
    preparation=image.FRAME,
    outputs=("value",),
    deterministic=True,
    cost_seconds=2e-5,
    timeout=10,
    extra="tamis[image]",
    modules=("cv2",),
    samples=SAMPLES,
)
def newOperator(event: Any, value: tamis.Variable) -> list[int]:
    """Measures how bright the frame of the event is on average."""
    return [round(float(event.prepared.mean()))]
