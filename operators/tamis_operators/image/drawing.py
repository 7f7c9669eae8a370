"""Small frames of known content, drawn from a palette: what operators on detections are tried with.

They are plain: even ground, even light. The tests of the detectors draw harder ones themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.labels import CAR, PERSON, POLICE_CAR, TOUR_BOAT
from tamis_operators.image.palette import LIGHT_BAR, Color, Outline, Palette
from tamis_operators.image.vision import opencv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OVERSAMPLED = 4
_METERS_PER_PIXEL = 0.08
_WIDTH, _HEIGHT = 432, 272


class Placed(NamedTuple):
    """A thing of the palette: meters from the middle of the frame, and its heading in degrees."""

    label: str
    x: float
    y: float
    heading: float = 0.0
    body: int = 0
    marks: frozenset[str] = frozenset()


def moved(outline: Outline, x: float, y: float, heading: float) -> list[tuple[float, float]]:
    """An outline where a thing is."""
    cos, sin = math.cos(math.radians(heading)), math.sin(math.radians(heading))
    return [(x + a * cos - b * sin, y + a * sin + b * cos) for a, b in outline]


def drawn(
    palette: Palette,
    ground: Color,
    things: Iterable[Placed],
    size: tuple[int, int] = (_WIDTH, _HEIGHT),
    meters_per_pixel: float = _METERS_PER_PIXEL,
) -> NDArray[np.uint8]:
    """A frame of even ground with things on it."""
    import numpy as np

    cv2 = opencv()
    width, height = size
    canvas = np.full((height * _OVERSAMPLED, width * _OVERSAMPLED, 3), ground[::-1], np.uint8)
    known = {thing.label: thing for thing in palette.things}
    for placed in things:
        thing = known[placed.label]
        for paint, outline in thing.drawn(thing.bodies[placed.body], placed.marks):
            points = np.array(moved(outline, placed.x, placed.y, placed.heading))
            pixels = points / meters_per_pixel + np.array([width / 2, height / 2])
            corners = np.round(pixels * _OVERSAMPLED).astype(np.int32)
            cv2.fillPoly(canvas, [corners], tuple(reversed(paint)))
    frame: NDArray[np.uint8] = cv2.resize(canvas, size, interpolation=cv2.INTER_AREA)
    return frame


def samples_of(
    configuration: DetectorConfiguration,
) -> Iterable[tuple[dict[str, Any], dict[str, int]]]:
    """Events, and what is to be found on them: counts by operator, and patterns."""
    import numpy as np

    if configuration.kind not in ("auto", "above"):
        yield {"image": np.full((240, 320, 3), 128, np.uint8)}, {}
        return
    palette = configuration.palette
    if not {PERSON, CAR, POLICE_CAR, TOUR_BOAT} <= palette.labels:
        return
    asphalt, water = palette.ground["asphalt"], palette.water["water"]
    chase = [
        Placed(POLICE_CAR, -8.0, -3.0, marks=frozenset({LIGHT_BAR})),
        Placed(CAR, 4.0, -3.0, body=3),
        Placed(PERSON, 0.0, 5.0, 30.0),
    ]
    yield _event(drawn(palette, asphalt, chase)), {
        "peopleCount": 1, "pedestrianCount": 1, "vehicleCount": 2, "policeCarCount": 1,
        "chasePattern": 1,
    }  # fmt: skip
    jam = [
        Placed(CAR, -14.5 + 6.2 * column, -5.0 + 3.2 * row, body=column % 2 + 3)
        for column in range(5)
        for row in range(2)
    ]
    crash = [Placed(CAR, -5.0, 7.0, body=0), Placed(CAR, -1.2, 8.0, 65.0, body=4)]
    yield _event(drawn(palette, asphalt, [*jam, *crash])), {
        "vehicleCount": 12, "congestion": 1, "accident": 1,
    }  # fmt: skip
    mob = [
        Placed(PERSON, x * 0.9, y * 0.9, 40.0 * x, x % 3 + 1) for x in range(4) for y in range(3)
    ]
    yield _event(drawn(palette, asphalt, mob)), {
        "peopleCount": 12, "pedestrianCount": 12, "mobPattern": 12,
    }  # fmt: skip
    boats = drawn(palette, water, [Placed(TOUR_BOAT, 0.0, 0.0, 20.0)], meters_per_pixel=0.15)
    yield {"image": boats, "meters_per_pixel": 0.15}, {"tourBoatCount": 1}


def _event(frame: NDArray[np.uint8]) -> dict[str, Any]:
    return {"image": frame, "meters_per_pixel": _METERS_PER_PIXEL}
