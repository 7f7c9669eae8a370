"""Holds what there is at a moment: a thing of the palette at a place, and what it takes part in."""

from __future__ import annotations

from typing import NamedTuple

from examples.uav.palette import PALETTE
from tamis_operators.image.labels import LIGHT_BAR

KINDS = {thing.label: thing for thing in PALETTE.things}
LIGHTS = frozenset({LIGHT_BAR})
NO_MARKS: frozenset[str] = frozenset()
ROOFS = 16
"""How many numbers there are for the roofs of buses."""


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
