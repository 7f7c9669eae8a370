"""Defines what a detector gives: things on a frame as plain data, which travels between processes.

Boxes are in pixels of the frame, from its upper left corner. Angles are in degrees, clockwise as
the frame is seen, 0 to the right. Lengths on the ground need the frame's scale.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tamis_operators.image.frames import Frame


class DetectionError(ValueError):
    """A frame on which the detector cannot decide what is asked, with the reason in one line."""


class Box(NamedTuple):
    """An upright rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def center(self) -> tuple[float, float]:
        """Its middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def area(self) -> float:
        """Its area in pixels."""
        return self.width * self.height

    def common(self, other: Box) -> float:
        """Returns the area that both cover."""
        wide = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
        high = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
        return max(0.0, wide) * max(0.0, high)

    def overlap(self, other: Box) -> float:
        """Returns the common area over that of both together."""
        common = self.common(other)
        return common / (self.area + other.area - common) if common else 0.0


@dataclass(frozen=True)
class Detection:
    """One thing on a frame."""

    label: str
    score: float
    box: Box
    length: float | None = None
    """Along its axis, in pixels, as `breadth` across: where the detector tells directions."""
    breadth: float | None = None
    angle: float | None = None
    """Of its longer axis, 0 to 180."""
    heading: float | None = None
    """The direction of its front, 0 to 360, if the detector tells front from back."""
    marks: frozenset[str] = frozenset()
    """Further marks on it: `lightBar` where its lights are on."""

    @property
    def center(self) -> tuple[float, float]:
        """Its middle."""
        return self.box.center

    def corners(self, grown: float = 0.0) -> list[tuple[float, float]]:
        """Returns the oriented rectangle around it, with a margin; without direction the box."""
        x, y = self.center
        long, short, turn = self.box.width / 2, self.box.height / 2, 0.0
        if self.angle is not None and self.length is not None and self.breadth is not None:
            long, short, turn = self.length / 2, self.breadth / 2, math.radians(self.angle)
        long, short = long + grown, short + grown
        cos, sin = math.cos(turn), math.sin(turn)
        return [
            (x + a * long * cos - b * short * sin, y + a * long * sin + b * short * cos)
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        ]


@dataclass(frozen=True)
class Detections:
    """Everything that a detector found on one frame."""

    things: tuple[Detection, ...]
    width: int
    height: int
    told: frozenset[str]
    """The labels that the detector can tell: of others it cannot say that there are none."""
    meters_per_pixel: float | None = None
    marks: frozenset[str] = frozenset()
    """The marks that it can tell."""

    def of(self, labels: Iterable[str]) -> list[Detection]:
        """Returns the things of these labels; `DetectionError` if the detector tells none."""
        wanted = frozenset(labels)
        if not wanted & self.told:
            scale = self.meters_per_pixel
            raise DetectionError(
                f"the detector of this frame{'' if scale is None else f' ({scale:.2f} m a pixel)'} "
                f"tells {', '.join(sorted(self.told))}, and not {' or '.join(sorted(wanted))}"
            )
        return [thing for thing in self.things if thing.label in wanted]


class Detector(ABC):
    """Finds things on a frame; one result a frame is shared by all operators.

    A detector of your own is a subclass: it says its `labels` and answers in `detect`."""

    labels: frozenset[str]
    """The labels it can tell."""
    marks: frozenset[str] = frozenset()
    """The marks it can tell."""
    directions: bool = False
    """True if it tells which way things are headed."""
    looks_down: bool = False
    """True if it is made for frames that were taken straight down, whose altitude says a scale."""

    def told(self, meters_per_pixel: float | None) -> frozenset[str]:
        """Returns the labels it can tell on a frame of such a scale."""
        return self.labels

    @abstractmethod
    def detect(self, frame: Frame, meters_per_pixel: float | None = None) -> list[Detection]:
        """Returns the things on the frame, whose scale on the ground may be known."""


def suppressed(
    found: Iterable[Detection], overlap: float = 0.45, contained: float = 0.75
) -> list[Detection]:
    """Non-maximum suppression for counts: one detection a thing, the surest one.

    A box is also given up when most of the smaller of two lies in the other: a person found once
    whole and once from the waist up is one person."""
    kept: list[Detection] = []
    for thing in sorted(found, key=lambda each: (-each.score, each.box)):
        for other in kept:
            if other.label != thing.label:
                continue
            common = thing.box.common(other.box)
            least = min(thing.box.area, other.box.area)
            if common > contained * least or thing.box.overlap(other.box) > overlap:
                break
        else:
            kept.append(thing)
    return kept
