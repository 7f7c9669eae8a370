"""Names the color that covers most of a frame.

Each pixel has one of eleven names (`color_names`); the name with the most pixels is the one
solution, and of names with equally many the first in the alphabet. Cost: about 3 ms a megapixel.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tamis import Operator, Parameter, Sample, Specification
from tamis.kit import STRING
from tamis_operators.image.frames import FRAME
from tamis_operators.image.gray import EXTRA, MODULES

if TYPE_CHECKING:
    from tamis.kit import Bytes

_PIXELS_AT_ONCE = 1 << 20


def shares_of(frame: Bytes) -> dict[str, float]:
    """Returns the share of the frame that each name covers, the names in order."""
    import numpy

    from tamis_operators.image.color_names import BITS, NAMES, table

    rows = max(1, _PIXELS_AT_ONCE // frame.shape[1])
    counts = numpy.zeros(1 << (3 * BITS), numpy.int64)
    for top in range(0, frame.shape[0], rows):
        first = (frame[top : top + rows] >> (8 - BITS)).astype(numpy.uint16)
        place = first[..., 0] | (first[..., 1] << BITS) | (first[..., 2] << (2 * BITS))
        counts += numpy.bincount(place.ravel(), minlength=len(counts))
    by_name = numpy.bincount(table(), weights=counts, minlength=len(NAMES))
    total = frame.shape[0] * frame.shape[1]
    return {name: float(count) / total for name, count in zip(NAMES, by_name, strict=True)}


class DominantColor(Operator):
    """`dominantColor(?name)`: one solution, always."""

    specification = Specification(
        name="dominantColor",
        description="The named color that covers most of the frame.",
        parameters=(Parameter("name", frozenset({STRING})),),
        outputs=("name",),
        inputs=("image",),
        cost_seconds=0.002,
        deterministic=True,
        preparation=FRAME,
        extra=EXTRA,
        modules=MODULES,
    )

    def solve(self, event: Any, *arguments: Any) -> list[str]:
        """Returns the name that covers most."""
        shares = shares_of(event.prepared)
        return [max(shares, key=shares.__getitem__)]

    def samples(self) -> Iterable[Sample]:
        """Returns plain frames, and one of two colors."""
        import numpy

        image = numpy.zeros((24, 32, 3), numpy.uint8)
        image[:] = (0, 0, 200)
        yield Sample("dominantColor(?name)", {"image": image}, ["red"])
        for rows, is_red in ((10, True), (14, False)):
            half = image.copy()
            half[:rows] = (0, 160, 0)
            yield Sample("dominantColor(red)", {"image": half}, is_red)
