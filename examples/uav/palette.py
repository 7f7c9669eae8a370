"""Says what things look like from straight above: plain data that renderer and detector share.

A thing is an outline in meters with its front to the right (x forward, y to its right-hand side,
the middle at 0), a paint for its body, and parts drawn on it in order. Colors are red, green, blue
as under plain daylight; the light of a frame makes them darker, brighter, warmer or colder.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from tamis_operators.image.labels import (
    CAR,
    COAST_GUARD_BOAT,
    LIGHT_BAR,
    PERSON,
    POLICE_CAR,
    TOUR_BOAT,
)

Color = tuple[int, int, int]
Outline = tuple[tuple[float, float], ...]


def rectangle(x: float, y: float, length: float, breadth: float) -> Outline:
    """A rectangle around a point."""
    long, short = length / 2, breadth / 2
    left, right, upper, lower = x - long, x + long, y - short, y + short
    return (left, upper), (right, upper), (right, lower), (left, lower)


def ellipse(x: float, y: float, length: float, breadth: float, corners: int = 16) -> Outline:
    """An ellipse around a point, as a polygon."""
    turns = [2 * math.pi * at / corners for at in range(corners)]
    return tuple((x + length / 2 * math.cos(t), y + breadth / 2 * math.sin(t)) for t in turns)


def hull(length: float, breadth: float) -> Outline:
    """A ship's hull: a square stern, and a bow that comes to a point."""
    long, short = length / 2, breadth / 2
    return (
        (-long, -short), (0.2 * length, -short), (0.38 * length, -0.72 * short), (long, 0.0),
        (0.38 * length, 0.72 * short), (0.2 * length, short), (-long, short),
    )  # fmt: skip


@dataclass(frozen=True)
class PaintedPart:
    """Something painted on a thing; one with a `mark` is there only where the mark is."""

    name: str
    paint: Color
    outline: Outline
    mark: str | None = None


@dataclass(frozen=True)
class ThingKind:
    """What a kind of thing looks like."""

    label: str
    length_m: float
    breadth_m: float
    outline: Outline
    bodies: tuple[Color, ...]
    parts: tuple[PaintedPart, ...] = ()
    on_water: bool = False

    @property
    def marks(self) -> tuple[str, ...]:
        """What may be there or not."""
        return tuple(sorted({part.mark for part in self.parts if part.mark is not None}))

    def drawn(
        self, body: Color, marks: frozenset[str] = frozenset()
    ) -> Iterator[tuple[Color, Outline]]:
        """What to paint, in order: colors and polygons in meters."""
        yield body, self.outline
        for part in self.parts:
            if part.mark is None or part.mark in marks:
                yield part.paint, part.outline


WHITE, SILVER, BLACK = (238, 238, 236), (208, 211, 214), (16, 16, 18)
RED, BLUE, GREEN = (186, 38, 38), (38, 76, 172), (30, 104, 64)
GLASS, HAIR = (22, 30, 40), (52, 38, 30)
TAXI, ORANGE, NAVY = (242, 196, 52), (242, 96, 22), (26, 44, 112)


def _car(label: str, bodies: tuple[Color, ...], *more: PaintedPart) -> ThingKind:
    windows = (
        PaintedPart("windshield", GLASS, rectangle(0.65, 0.0, 0.7, 1.5)),
        PaintedPart("rear window", GLASS, rectangle(-1.45, 0.0, 0.45, 1.4)),
    )
    return ThingKind(label, 4.6, 1.9, rectangle(0.0, 0.0, 4.6, 1.9), bodies, (*windows, *more))


_POLICE = (
    PaintedPart("hood", NAVY, rectangle(1.75, 0.0, 0.8, 1.9)),
    PaintedPart("trunk", NAVY, rectangle(-2.0, 0.0, 0.6, 1.9)),
    PaintedPart("light bar, off", GLASS, rectangle(-0.3, 0.0, 0.45, 1.5)),
    PaintedPart("light bar, red", (255, 30, 30), rectangle(-0.3, -0.4, 0.6, 0.8), LIGHT_BAR),
    PaintedPart("light bar, blue", (40, 90, 255), rectangle(-0.3, 0.4, 0.6, 0.8), LIGHT_BAR),
)
PLATE_M, NUMBER_M = 2.5, 2.1
"""The plate on the roof of a bus, and the square on it in which the number is light."""
_SHIRTS = ((24, 150, 160), RED, BLUE, TAXI, (122, 44, 130), (238, 120, 150), BLACK)
THINGS = (
    ThingKind(
        PERSON, 0.45, 0.6, ellipse(0.0, 0.0, 0.45, 0.6), _SHIRTS,
        (PaintedPart("head", HAIR, ellipse(0.0, 0.0, 0.24, 0.2, 10)),),
    ),
    _car(CAR, (WHITE, SILVER, BLACK, RED, BLUE, GREEN)),
    _car("taxi", (TAXI,)),
    _car(POLICE_CAR, (WHITE,), *_POLICE),
    ThingKind(
        "bus", 12.0, 2.6, rectangle(0.0, 0.0, 12.0, 2.6), (WHITE, BLUE),
        (
            PaintedPart("windshield", GLASS, rectangle(5.8, 0.0, 0.4, 2.3)),
            PaintedPart("front hatch", SILVER, rectangle(2.8, 0.0, 1.4, 1.4)),
            PaintedPart("rear hatch", SILVER, rectangle(-3.2, 0.0, 2.2, 1.8)),
            PaintedPart("roof plate", WHITE, rectangle(0.0, 0.0, PLATE_M, PLATE_M)),
            PaintedPart("roof number", BLACK, rectangle(0.0, 0.0, NUMBER_M, NUMBER_M)),
        ),
    ),
    ThingKind(
        "truck", 8.5, 2.5, rectangle(0.0, 0.0, 8.5, 2.5), (WHITE, RED),
        (
            PaintedPart("gap", BLACK, rectangle(2.1, 0.0, 0.4, 2.5)),
            PaintedPart("windshield", GLASS, rectangle(3.6, 0.0, 0.5, 2.2)),
            PaintedPart("tarpaulin", (120, 126, 60), rectangle(-1.2, 0.0, 5.8, 2.3)),
        ),
    ),
    ThingKind(
        TOUR_BOAT, 34.0, 9.5, hull(34.0, 9.5), (WHITE,),
        (
            PaintedPart("deck", TAXI, rectangle(-4.5, 0.0, 20.0, 6.6)),
            PaintedPart("bridge", GLASS, rectangle(9.0, 0.0, 2.2, 5.0)),
        ),
        on_water=True,
    ),
    ThingKind(
        COAST_GUARD_BOAT, 14.0, 4.6, hull(14.0, 4.6), (ORANGE,),
        (
            PaintedPart("deck", SILVER, hull(11.4, 2.9)),
            PaintedPart("cabin", WHITE, rectangle(-1.0, 0.0, 4.0, 2.2)),
            PaintedPart("windows", GLASS, rectangle(1.2, 0.0, 0.8, 2.0)),
        ),
        on_water=True,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Palette:
    """Everything that can be seen: the ground, and the things on it."""

    ground: dict[str, Color] = field(
        default_factory=lambda: {
            "asphalt": (78, 80, 84),
            "pavement": (148, 144, 136),
            "grass": (92, 122, 64),
            "tree": (52, 82, 44),
            "roof": (140, 104, 88),
        }
    )
    water: dict[str, Color] = field(
        default_factory=lambda: {"water": (48, 84, 98), "wake": (118, 148, 156)}
    )
    shadow: float = 0.55
    """How much of its light a place in the shadow has."""
    things: tuple[ThingKind, ...] = THINGS

    @property
    def labels(self) -> frozenset[str]:
        """What it can tell."""
        return frozenset(thing.label for thing in self.things)


PALETTE = Palette()
