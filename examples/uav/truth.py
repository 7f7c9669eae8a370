"""Computes what is truly on a frame from the world, never from pixels.

A thing counts when at least half of it is on the frame. *Congestion*: eight vehicles or more of
one jam count; *accident*: both cars that crashed count; *chase*: chaser and chased count; *mobs*:
people within 1.6 m of three others or more, with all within 1.6 m of those, five or more in all.
S1 to S5 follow from these and from where the drone is. Cost: a millisecond or two.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from examples.uav.city import City
from examples.uav.flights import Camera
from examples.uav.palette import PLATE_M
from examples.uav.plane import Points, clipped, degrees, distance_m, turned
from examples.uav.thing import KINDS, Thing
from tamis_operators.image.labels import FAMILIES

COUNTED = 0.5
QUEUED = 8
_PLATE_M = PLATE_M * 0.75
"""From the middle of a plate to beyond its corners."""
NEAR_M, NEIGHBORS, LEAST = 1.6, 3, 5


@dataclass(frozen=True)
class VisibleThing:
    """A thing on the frame, in pixels: the middle, which may be outside, and its size."""

    label: str
    x: float
    y: float
    length: float
    breadth: float
    heading: float
    """Degrees clockwise from the right of the frame."""
    visible: float
    """How much of it is on the frame, from 0 to 1."""
    marks: tuple[str, ...] = ()
    part: str = ""


@dataclass(frozen=True)
class FrameTruth:
    """What holds of one frame."""

    event: str
    camera: str
    time: str
    light: str
    borough: str | None
    counts: dict[str, int]
    """By operator."""
    roofs: tuple[int, ...]
    """The numbers of buses whose plates are whole on the frame."""
    mobs: tuple[int, ...]
    """The sizes of the dense clusters, largest first."""
    chase: bool
    congestion: bool
    accident: bool
    times_square_m: float
    statue_m: float
    subscriptions: tuple[str, ...]
    """Which of S1 to S5 hold."""
    things: tuple[VisibleThing, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """For a line of JSON."""
        return asdict(self)


def seen_on(things: list[Thing], camera: Camera) -> list[tuple[Thing, VisibleThing]]:
    """The things of which something is on the frame."""
    if not things:
        return []
    scale = camera.meters_per_pixel
    middles = camera.pixels(np.array([(each.x, each.y) for each in things]))
    found = []
    for each, (x, y) in zip(things, middles.tolist(), strict=True):
        kind = KINDS[each.label]
        half = math.hypot(kind.length_m, kind.breadth_m) / 2 / scale
        if not (-half < x < camera.width + half and -half < y < camera.height + half):
            continue
        inner = half <= x <= camera.width - half and half <= y <= camera.height - half
        visible = 1.0 if inner else _visible(each, camera)
        if visible <= 0:
            continue
        heading = (each.heading + camera.turn) % 360
        seen = VisibleThing(
            each.label, round(x, 1), round(y, 1), round(kind.length_m / scale, 1),
            round(kind.breadth_m / scale, 1), round(heading, 1), round(visible, 3),
            tuple(sorted(each.marks)), each.part,
        )  # fmt: skip
        found.append((each, seen))
    return found


def _visible(thing: Thing, camera: Camera) -> float:
    """How much of a thing's outline is on the frame."""
    outline = turned(np.array(KINDS[thing.label].outline), thing.heading) + np.array(
        [thing.x, thing.y]
    )
    pixels = camera.pixels(outline) - (camera.width / 2, camera.height / 2)
    cut = clipped(pixels * (1 / camera.width, 1 / camera.height), 0.5, 0.0, 0.0)
    whole = _area(pixels) / camera.width / camera.height
    return min(1.0, _area(cut) / whole) if len(cut) > 2 else 0.0


def _area(outline: Points) -> float:
    x, y = outline.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def mobs_of(people: Points) -> tuple[int, ...]:
    """The sizes of the dense clusters, largest first."""
    if len(people) < LEAST:
        return ()
    apart = np.hypot(*(people[:, None] - people[None]).transpose(2, 0, 1))
    near = apart <= NEAR_M
    np.fill_diagonal(near, False)
    core = near.sum(axis=1) >= NEIGHBORS
    left, sizes = set(np.flatnonzero(core).tolist()), []
    taken = np.zeros(len(people), bool)
    while left:
        grown = np.zeros(len(people), bool)
        grown[min(left)] = True
        while True:
            more = grown | near[grown & core].any(axis=0)
            if (more == grown).all():
                break
            grown = more
        left -= set(np.flatnonzero(grown).tolist())
        sizes.append(int((grown & ~taken).sum()))
        taken |= grown
    return tuple(sorted((each for each in sizes if each >= LEAST), reverse=True))


def truth_of(
    event: str, name: str, time: str, light: str, city: City, things: list[Thing], camera: Camera
) -> FrameTruth:
    """What is true of a frame."""
    pairs = seen_on(things, camera)
    counted = [(thing, seen) for thing, seen in pairs if seen.visible >= COUNTED]
    labels = Counter(thing.label for thing, _ in counted)
    people = np.array([(thing.x, thing.y) for thing, _ in counted if thing.label == "person"])
    parts = Counter((thing.part, thing.incident) for thing, _ in counted)
    position = degrees(camera.x, camera.y)
    walkers = labels["person"]
    counts = {
        "peopleCount": walkers,
        "pedestrianCount": walkers,
        "vehicleCount": sum(labels[label] for label in FAMILIES["vehicle"]),
        "policeCarCount": labels["policeCar"],
        "tourBoatCount": labels["tourBoat"],
        "coastGuardBoatCount": labels["coastGuardBoat"],
    }
    mobs = mobs_of(people.reshape(-1, 2))
    margin = _PLATE_M / camera.meters_per_pixel
    roofs = {
        thing.roof
        for thing, seen in pairs
        if thing.roof >= 0
        and margin <= seen.x <= camera.width - margin
        and margin <= seen.y <= camera.height - margin
    }
    chase = any(part == "chaser" and parts[("chased", incident)] for part, incident in list(parts))
    congestion = any(part == "queued" and many >= QUEUED for (part, _), many in parts.items())
    accident = any(part == "crashed" and many >= 2 for (part, _), many in parts.items())
    borough = city.borough_at(camera.x, camera.y)
    square = distance_m(position, city.places["TimesSquare"])
    statue = distance_m(position, city.places["StatueOfLiberty"])
    bronx = borough == "Bronx"
    holds = {
        "S1": bronx and chase,
        "S2": bronx and any(size > 50 for size in mobs),
        "S3": square <= 5000 and congestion and walkers > 250,
        "S4": bronx and congestion and accident and labels["policeCar"] < 2,
        "S5": statue < 1000 and labels["tourBoat"] > 2 * labels["coastGuardBoat"],
    }
    return FrameTruth(
        event, name, time, light, borough, counts, tuple(sorted(roofs)), mobs, chase, congestion,
        accident,
        round(square, 1), round(statue, 1),
        tuple(each for each, true in holds.items() if true),
        tuple(seen for _, seen in pairs),
    )  # fmt: skip
