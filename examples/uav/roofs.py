"""Paints numbers on the roofs of buses: ArUco markers of 5 × 5 squares, which OpenCV reads."""

from __future__ import annotations

import functools
from typing import Any

import cv2
import numpy as np

from examples.uav.palette import NUMBER_M
from examples.uav.plane import Points
from examples.uav.thing import ROOFS

_INNER, _SQUARES = 3, 5


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
