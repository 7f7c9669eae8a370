"""Measures how bright the frame of an event is, from 0 to 255."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tamis

BRIGHT = {"image": "data:image/x-portable-graymap;base64,UDUgMSAxIDI1NQrI"}
DARK = {"image": "data:image/x-portable-graymap;base64,UDUgMSAxIDI1NQoU"}
SAMPLES = [
    tamis.Sample("newOperator(?value)", BRIGHT, [200]),
    tamis.Sample("newOperator(?value), ?value > 100", DARK, []),
    tamis.Sample("newOperator(20)", DARK, True),
]


def decoded(event: Mapping[str, Any]) -> Any:
    """The frame as an array: made once an event, for all operators that name FRAME."""
    import cv2  # imported here, so that listing the operator needs no OpenCV
    import numpy

    image = event["image"]
    if isinstance(image, str):
        head, _, data = image.partition(",")
        is_uri = head.startswith("data:") and head.endswith(";base64")
        image = base64.b64decode(data) if is_uri else Path(image).read_bytes()
    if not isinstance(image, bytes):
        raise ValueError("image is a path, a data: URI or bytes")
    content = numpy.frombuffer(image, numpy.uint8)
    frame = cv2.imdecode(content, cv2.IMREAD_GRAYSCALE) if len(content) else None
    if frame is None:
        raise ValueError("image holds no frame that OpenCV can decode")
    return frame


FRAME = tamis.Preparation("frame", decoded, inputs=("image",), cost_seconds=0.00005)


@tamis.operator(
    inputs=(),
    preparation=FRAME,
    outputs=("value",),
    deterministic=True,
    cost_seconds=1e-5,
    timeout=10,
    extra="tamis[image]",
    modules=("cv2",),
    samples=SAMPLES,
)
def newOperator(event: Any, value: tamis.Variable) -> list[int]:
    """How bright the frame of the event is on average."""
    return [round(float(event.prepared.mean()))]
