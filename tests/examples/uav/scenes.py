"""Frames of known truth, seen from straight above: grounds with texture, things of the palette.

What is drawn shares the palette with the detector and no code: the ground is noise of several
sizes, things cast shadows, the frame gets a light of its own, blur, noise, and the losses of JPEG.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from examples.uav.palette import PALETTE, Color, ThingKind, rectangle

THINGS = {thing.label: thing for thing in PALETTE.things}
_FINE = 4
"""Bits of a pixel that polygons are drawn to."""


class Placed(NamedTuple):
    """A thing on the ground: the middle in meters from the frame's, heading in degrees."""

    label: str
    x: float
    y: float
    heading: float
    paint: Color
    marks: frozenset[str] = frozenset()


@dataclass
class Weather:
    """What lies between the scene and the frame."""

    brightness: float = 1.0
    warmth: float = 0.0
    noise: float = 2.0
    blur: float = 0.6
    quality: int = 92

    @classmethod
    def any(cls, random: np.random.Generator) -> Weather:
        return cls(
            brightness=float(random.uniform(0.5, 1.15)),
            warmth=float(random.uniform(-0.07, 0.07)),
            noise=float(random.uniform(1.0, 7.0)),
            blur=float(random.uniform(0.4, 1.1)),
            quality=int(random.integers(80, 96)),
        )


@dataclass
class Scene:
    """A piece of ground, and what is on it."""

    width: int = 960
    height: int = 640
    meters_per_pixel: float = 0.08
    ground: str = "asphalt"
    seed: int = 0
    strips: list[tuple[str, float, float, float, float, float]] = field(default_factory=list)
    """Surfaces on the ground: name, x, y, heading, length, breadth."""
    things: list[Placed] = field(default_factory=list)

    @property
    def size_m(self) -> tuple[float, float]:
        return self.width * self.meters_per_pixel, self.height * self.meters_per_pixel

    def truth(self, margin_m: float = 0.0) -> list[Placed]:
        """What is on the frame: things whose middle is inside of it."""
        wide, high = self.size_m
        return [
            thing
            for thing in self.things
            if abs(thing.x) <= wide / 2 - margin_m and abs(thing.y) <= high / 2 - margin_m
        ]

    def frame(self, weather: Weather | None = None) -> NDArray[np.uint8]:
        weather = weather or Weather()
        random = np.random.default_rng(self.seed)
        canvas = np.empty((self.height, self.width, 3), np.float32)
        canvas[:] = _bgr(self._surface(self.ground))
        for name, x, y, heading, length, breadth in self.strips:
            outline = _placed(rectangle(0, 0, length, breadth), x, y, heading)
            paint = (232, 232, 228) if name == "marking" else self._surface(name)
            self._fill(canvas, outline, paint)
        canvas *= _texture(random, self.height, self.width)[..., None]
        self._shadows(canvas)
        for placed in self.things:
            for paint, part in THINGS[placed.label].drawn(placed.paint, placed.marks):
                self._fill(canvas, _placed(part, placed.x, placed.y, placed.heading), paint)
        light = np.array([1 - weather.warmth, 1.0, 1 + weather.warmth]) * weather.brightness
        canvas *= light.astype(np.float32)
        canvas[:] = cv2.GaussianBlur(canvas, (0, 0), weather.blur)
        canvas += random.normal(0, weather.noise, canvas.shape).astype(np.float32)
        frame = np.clip(canvas, 0, 255).astype(np.uint8)
        coded = cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, weather.quality])[1]
        decoded: NDArray[np.uint8] = np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), np.uint8)
        return decoded

    def _surface(self, name: str) -> Color:
        return {**PALETTE.ground, **PALETTE.water}[name]

    def _pixels(self, outline: Iterable[tuple[float, float]]) -> NDArray[np.int32]:
        points = np.array(list(outline)) / self.meters_per_pixel
        points += np.array([self.width / 2 - 0.5, self.height / 2 - 0.5])
        return np.round(points * (1 << _FINE)).astype(np.int32)

    def _fill(
        self, canvas: NDArray[np.float32], outline: list[tuple[float, float]], paint: Color
    ) -> None:
        points = self._pixels(outline)
        low = np.maximum((points.min(axis=0) >> _FINE) - 2, 0)
        high = (points.max(axis=0) >> _FINE) + 3
        patch = canvas[low[1] : high[1], low[0] : high[0]]
        if not patch.size:
            return
        cover = np.zeros(patch.shape[:2], np.uint8)
        moved = points - (low << _FINE).astype(np.int32)
        cv2.fillPoly(cover, [moved], 255, cv2.LINE_AA, _FINE)
        share = (cover.astype(np.float32) / 255)[..., None]
        patch *= 1 - share
        patch += share * np.array(_bgr(paint), np.float32)

    def _shadows(self, canvas: NDArray[np.float32]) -> None:
        shadow = np.zeros(canvas.shape[:2], np.uint8)
        for placed in self.things:
            thing = THINGS[placed.label]
            far = 0.25 if placed.label == "person" else 0.3 if not thing.on_water else 0.6
            outline = _placed(thing.outline, placed.x + far, placed.y + far / 2, placed.heading)
            cv2.fillPoly(shadow, [self._pixels(outline)], 255, cv2.LINE_AA, _FINE)
        canvas *= 1 - (1 - PALETTE.shadow) * (shadow.astype(np.float32) / 255)[..., None]


def _bgr(color: Color) -> tuple[int, int, int]:
    return color[2], color[1], color[0]


def _placed(
    outline: Iterable[tuple[float, float]], x: float, y: float, heading: float
) -> list[tuple[float, float]]:
    cos, sin = math.cos(math.radians(heading)), math.sin(math.radians(heading))
    return [(x + a * cos - b * sin, y + a * sin + b * cos) for a, b in outline]


def _texture(random: np.random.Generator, height: int, width: int) -> NDArray[np.float32]:
    """Light and dark spots of several sizes, some hundredths each."""
    texture = np.ones((height, width), np.float32)
    for size, strength in ((80, 0.05), (20, 0.04), (5, 0.035), (1, 0.03)):
        spots = random.normal(0, strength, (height // size + 2, width // size + 2))
        texture += cv2.resize(spots.astype(np.float32), (width, height), interpolation=2)
    return texture


def paint_of(thing: ThingKind, random: np.random.Generator) -> Color:
    return thing.bodies[int(random.integers(len(thing.bodies)))]


# scenes


def traffic(
    random: np.random.Generator,
    *,
    gap_m: tuple[float, float] = (8.0, 25.0),
    lanes: int = 4,
    police: int = 0,
    people: int = 0,
    meters_per_pixel: float = 0.08,
    seed: int = 0,
) -> Scene:
    """A street across the frame with sidewalks, cars in lanes, and people beside it."""
    scene = Scene(meters_per_pixel=meters_per_pixel, ground="grass", seed=seed)
    wide, high = scene.size_m
    heading = float(random.uniform(0, 180))
    reach = math.hypot(wide, high)
    breadth = lanes * 3.4
    scene.strips.append(("pavement", 0, 0, heading, reach * 1.2, breadth + 7))
    scene.strips.append(("asphalt", 0, 0, heading, reach * 1.2, breadth))
    along = math.cos(math.radians(heading)), math.sin(math.radians(heading))
    for at in np.arange(-reach / 2, reach / 2, 9.0):
        for line in range(1, lanes):
            off = (line - lanes / 2) * 3.4
            x, y = at * along[0] - off * along[1], at * along[1] + off * along[0]
            scene.strips.append(("marking", x, y, heading, 3.0, 0.14))
    for lane in range(lanes):
        off = (lane - (lanes - 1) / 2) * 3.4
        turned = 180.0 if off < 0 else 0.0
        at = -reach / 2 + float(random.uniform(0, 8))
        while at < reach / 2:
            label = str(random.choice(["car", "car", "car", "taxi", "bus", "truck"]))
            thing = THINGS[label]
            at += thing.length_m / 2
            x, y = at * along[0] - off * along[1], at * along[1] + off * along[0]
            turn = heading + turned + float(random.normal(0, 1.5))
            scene.things.append(Placed(label, x, y, turn, paint_of(thing, random)))
            at += thing.length_m / 2 + float(random.uniform(*gap_m))
    for _ in range(police):
        inside = [
            at
            for at, each in enumerate(scene.things)
            if each.label == "car" and abs(each.x) < wide / 2 - 3 and abs(each.y) < high / 2 - 3
        ]
        if inside:
            at = int(random.choice(inside))
            old = scene.things[at]
            body = THINGS["policeCar"].bodies[0]
            scene.things[at] = Placed("policeCar", old.x, old.y, old.heading, body)
    walkers: list[tuple[float, float]] = []
    while len(walkers) < people:
        off = float(random.choice([-1, 1])) * (breadth / 2 + float(random.uniform(0.6, 3.0)))
        at = float(random.uniform(-reach / 2, reach / 2))
        x, y = at * along[0] - off * along[1], at * along[1] + off * along[0]
        if abs(x) > wide / 2 - 1 or abs(y) > high / 2 - 1:
            continue
        if all(math.hypot(x - a, y - b) > 0.9 for a, b in walkers):
            walkers.append((x, y))
            scene.things.append(person(random, x, y))
    return scene


def person(random: np.random.Generator, x: float, y: float) -> Placed:
    paint = paint_of(THINGS["person"], random)
    return Placed("person", x, y, float(random.uniform(0, 360)), paint)


def crowd(
    random: np.random.Generator,
    people: int,
    *,
    spacing_m: float = 0.9,
    strollers: int = 0,
    ground: str = "pavement",
    meters_per_pixel: float = 0.06,
    seed: int = 0,
) -> Scene:
    """A crowd on a square, no two nearer than most of the spacing, and some who stroll apart."""
    scene = Scene(meters_per_pixel=meters_per_pixel, ground=ground, seed=seed)
    places: list[tuple[float, float]] = []
    radius = spacing_m * math.sqrt(people) * 0.62
    while len(places) < people:
        x, y = (float(each) for each in random.normal(0, radius / 1.6, 2))
        if math.hypot(x, y) < radius and all(
            math.hypot(x - a, y - b) > 0.72 * spacing_m for a, b in places
        ):
            places.append((x, y))
        radius *= 1.0005
    wide, high = scene.size_m
    while len(places) < people + strollers:
        x = float(random.uniform(-wide / 2 + 1, wide / 2 - 1))
        y = float(random.uniform(-high / 2 + 1, high / 2 - 1))
        if math.hypot(x, y) > radius + 4 and all(
            math.hypot(x - a, y - b) > 3.5 for a, b in places[people:]
        ):
            places.append((x, y))
    scene.things += [person(random, x, y) for x, y in places]
    return scene


def harbor(
    random: np.random.Generator,
    tour_boats: int,
    coast_guard: int,
    *,
    meters_per_pixel: float = 0.15,
    seed: int = 0,
) -> Scene:
    """Boats with wakes on open water."""
    scene = Scene(meters_per_pixel=meters_per_pixel, ground="water", seed=seed)
    wide, high = scene.size_m
    taken: list[tuple[float, float, float]] = []
    for label, count in (("tourBoat", tour_boats), ("coastGuardBoat", coast_guard)):
        thing = THINGS[label]
        made = 0
        for _ in range(4000):
            if made == count:
                break
            reach = thing.length_m / 2
            x = float(random.uniform(-wide / 2 + reach, wide / 2 - reach))
            y = float(random.uniform(-high / 2 + reach, high / 2 - reach))
            if any(math.hypot(x - a, y - b) < reach + r + 2 for a, b, r in taken):
                continue
            taken.append((x, y, reach))
            made += 1
            heading = float(random.uniform(0, 360))
            back = math.cos(math.radians(heading)), math.sin(math.radians(heading))
            far = thing.length_m * 0.8
            wake = (x - back[0] * far, y - back[1] * far, heading)
            scene.strips.append(("wake", *wake, thing.length_m * 0.8, thing.breadth_m * 0.5))
            scene.things.append(Placed(label, x, y, heading, thing.bodies[0]))
    return scene
