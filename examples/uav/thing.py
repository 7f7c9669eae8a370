"""Holds what there is at a moment: a thing of the palette at a place, and what it takes part in.

Numbers on the roofs of buses are ArUco markers of 5 × 5 squares, which OpenCV reads.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import cv2
import numpy as np

from examples.uav.palette import NUMBER_M, PALETTE
from examples.uav.plane import Points
from tamis_operators.image.labels import LIGHT_BAR

KINDS = {thing.label: thing for thing in PALETTE.things}
LIGHTS = frozenset({LIGHT_BAR})
NO_MARKS: frozenset[str] = frozenset()
ROOFS = 16
"""How many numbers there are for the roofs of buses."""
_INNER, _SQUARES = 3, 5


class Thing(NamedTuple):
    """Something in meters on the plane; the heading is in degrees clockwise from the east."""

    label: str
    x: float
    y: float
    heading: float
    body: int = 0
    """Which of the paints of its kind it has."""
    marks: frozenset[str] = NO_MARKS
    part: str = ""
    """What it is in an incident: `chaser`, `chased`, `queued`, `crashed`; empty for none."""
    incident: int = -1
    roof: int = -1
    """The number on the roof of a bus."""


@functools.cache
def dictionary() -> Any:
    """Makes the markers, by number."""
    return cv2.aruco.extendDictionary(ROOFS, _INNER)


@functools.cache
def light_squares(number: int) -> Points:
    """Returns the corners of a number's light squares, in meters around its middle."""
    picture = cv2.aruco.generateImageMarker(dictionary(), number, _SQUARES)
    side = NUMBER_M / _SQUARES
    rows, columns = np.nonzero(np.asarray(picture))
    upper = np.stack([columns, rows], axis=1) * side - NUMBER_M / 2
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * side
    squares: Points = upper[:, None] + corners[None]
    return squares
