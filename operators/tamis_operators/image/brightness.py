"""Measures how light a frame looks: 0 is black, 1 is white, 0.5 what people call middle gray.

The mean over all pixels of CIE lightness (L* / 100): sRGB is taken back to linear light, weighted
to relative luminance (IEC 61966-2-1), and bent as eyes bend it (CIE 15). A few lamps do not make a
night bright, as they would in the mean of linear light. Every pixel counts; the value is within
0.001 of the formula, and rounded to three places. Cost: about 3 ms a megapixel.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tamis import Operator, Parameter, Sample, Specification
from tamis_operators.image.frames import FRAME
from tamis_operators.image.gray import EXTRA, MODULES
from tamis_operators.image.vision import opencv

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from tamis.kit import Bytes, Floats

_STEPS = 65_530
"""Of relative luminance; three rounded parts stay below 65,536."""
_WEIGHTS = (0.0722, 0.7152, 0.2126)
_PIXELS_AT_ONCE = 1 << 20


def brightness_of(frame: Bytes) -> float:
    """Returns the mean lightness of a frame, from 0 to 1."""
    cv2 = opencv()
    luminance, lightness = _tables()
    rows = max(1, _PIXELS_AT_ONCE // frame.shape[1])
    total = 0.0
    for top in range(0, frame.shape[0], rows):
        blue, green, red = cv2.split(cv2.LUT(frame[top : top + rows], luminance))
        whole = cv2.add(cv2.add(blue, green), red)
        total += float(lightness[whole].sum())
    mean: float = total / (frame.shape[0] * frame.shape[1])
    return round(min(mean, 1.0), 3)


@functools.cache
def _tables() -> tuple[NDArray[numpy.uint16], Floats]:
    """Returns the luminance of each channel's values, and the lightness of each luminance."""
    import numpy

    value = numpy.arange(256) / 255
    linear = numpy.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    parts = numpy.stack([weight * linear for weight in _WEIGHTS], axis=1)
    y = numpy.arange(_STEPS + 6) / _STEPS
    bent = numpy.where(y > (6 / 29) ** 3, 116 * numpy.cbrt(y) - 16, y * (29 / 3) ** 3)
    table = (parts * _STEPS).round().astype(numpy.uint16).reshape(1, 256, 3)
    return table, numpy.minimum(bent / 100, 1.0)


class Brightness(Operator):
    """`brightness(?value)`: one solution, always."""

    specification = Specification(
        name="brightness",
        description="How light the frame looks, from 0 (black) to 1 (white).",
        parameters=(Parameter("value"),),
        outputs=("value",),
        inputs=("image",),
        cost_seconds=0.002,
        deterministic=True,
        preparation=FRAME,
        extra=EXTRA,
        modules=MODULES,
    )

    def solve(self, event: Any, *arguments: Any) -> list[float]:
        """Returns the lightness of the frame."""
        return [brightness_of(event.prepared)]

    def samples(self) -> Iterable[Sample]:
        """Returns black, white, and middle gray."""
        import numpy

        for value, bright in ((0, 0.0), (255, 1.0), (119, 0.5)):
            image = numpy.full((24, 32, 3), value, numpy.uint8)
            yield Sample("brightness(?value)", {"image": image}, [bright])
        yield Sample("brightness(1)", {"image": numpy.full((1, 1), 255, numpy.uint8)}, True)
