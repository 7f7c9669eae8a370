"""The example's detector: things of the palette, on textured ground, in any light and noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("cv2", reason="needs pip install 'tamis[image]'")

import tamis
from examples.uav.detector import SimulatedView, numbers_on
from examples.uav.operators import tamis_operators
from examples.uav.shades import in_daylight
from examples.uav.simulation import Simulation
from tamis_bench.scores import DetectorScores
from tamis_operators.image import Box, Detection, DetectionError
from tests.examples.uav.scenes import (
    THINGS,
    Placed,
    Scene,
    Weather,
    crowd,
    harbor,
    person,
    traffic,
)

Random = np.random.Generator
SCENES: dict[str, Callable[[Random, int], Scene]] = {
    "streets, 8 cm": lambda r, seed: traffic(r, police=2, people=15, seed=seed),
    "streets, 14 cm": lambda r, seed: traffic(
        r, police=2, people=15, meters_per_pixel=0.14, seed=seed
    ),
    "congestion, 8 cm": lambda r, seed: traffic(r, gap_m=(0.8, 2.5), police=1, seed=seed),
    "crowds, 6 cm": lambda r, seed: crowd(
        r,
        int(r.integers(20, 150)),
        strollers=12,
        spacing_m=float(r.uniform(0.75, 1.2)),
        ground=str(r.choice(["pavement", "grass", "asphalt"])),
        seed=seed,
    ),
    "crowds, 12 cm": lambda r, seed: crowd(
        r, int(r.integers(20, 150)), strollers=12, meters_per_pixel=0.12, seed=seed
    ),
    "harbor, 15 cm": lambda r, seed: harbor(
        r, int(r.integers(0, 5)), int(r.integers(0, 4)), seed=seed
    ),
}


def box_of(placed: Placed, scene: Scene) -> Box:
    """The upright box of what was drawn, in pixels; that of a person is a square, as detected."""
    thing = THINGS[placed.label]
    length, breadth = thing.length_m, thing.breadth_m
    turn = math.radians(placed.heading)
    wide = abs(length * math.cos(turn)) + abs(breadth * math.sin(turn))
    high = abs(length * math.sin(turn)) + abs(breadth * math.cos(turn))
    if placed.label == "person":
        wide = high = (length + breadth) / 2 * 1.6  # a person is found who is found nearly there
    scale = scene.meters_per_pixel
    x = placed.x / scale + scene.width / 2 - wide / scale / 2
    y = placed.y / scale + scene.height / 2 - high / scale / 2
    return Box(x, y, wide / scale, high / scale)


def rendered(make: Callable[[Random, int], Scene], frames: int, seed: int) -> DetectorScores:
    """The scores of the view from above on scenes of some seeds."""
    detector = SimulatedView()
    scores = DetectorScores()
    for at in range(seed, seed + frames):
        random = np.random.default_rng(at)
        scene = make(random, at)
        frame = scene.frame(Weather.any(random))
        found = detector.detect(frame, scene.meters_per_pixel)
        # what is cut by the edge of the frame counts neither way
        inside = [box_of(each, scene) for each in scene.things]
        whole = [_is_inside(box, scene) for box in inside]
        truth = [
            (each.label, box)
            for each, box, is_whole in zip(scene.things, inside, whole, strict=True)
            if is_whole
        ]
        cut = [box for box, is_whole in zip(inside, whole, strict=True) if not is_whole]
        scores.add(_grown(found), truth, cut)
    return scores


def _grown(found: list[Detection]) -> list[Detection]:
    return [
        replace(each, box=_around(each.box, 1.6)) if each.label == "person" else each
        for each in found
    ]


def _around(box: Box, times: float) -> Box:
    (x, y), wide, high = box.center, box.width * times, box.height * times
    return Box(x - wide / 2, y - high / 2, wide, high)


def _is_inside(box: Box, scene: Scene) -> bool:
    return (
        box.x >= 0
        and box.y >= 0
        and box.x + box.width <= scene.width
        and box.y + box.height <= scene.height
    )


def found_on(scene: Scene, weather: Weather | None = None) -> list[Detection]:
    return SimulatedView().detect(scene.frame(weather), scene.meters_per_pixel)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("streets, 8 cm", ("bus", "car", "person", "policeCar", "taxi", "truck")),
        ("congestion, 8 cm", ("bus", "car", "taxi", "truck")),
        ("crowds, 6 cm", ("person",)),
        ("harbor, 15 cm", ("tourBoat", "coastGuardBoat")),
    ],
)
def test_precision_and_recall(name: str, labels: tuple[str, ...]) -> None:
    scores = rendered(SCENES[name], 3, 70_000)
    for label in labels:
        score = scores.labels[label]
        assert score.precision >= 0.9, (label, score)
        assert score.recall >= 0.9, (label, score)


@pytest.mark.parametrize("brightness", [0.45, 0.7, 1.0, 1.15])
@pytest.mark.parametrize("warmth", [-0.07, 0.07])
def test_frames_are_seen_in_daylight(brightness: float, warmth: float) -> None:
    scene = traffic(np.random.default_rng(5), seed=5)
    plain = scene.frame(Weather(noise=0)).mean(axis=(0, 1))
    lit = in_daylight(scene.frame(Weather(brightness=brightness, warmth=warmth)))
    assert lit.mean(axis=(0, 1)) == pytest.approx(plain, rel=0.12)


@pytest.mark.parametrize("label", sorted(set(THINGS) - {"person"}))
@pytest.mark.parametrize("heading", [20.0, 110.0, 200.0, 290.0])
def test_each_thing_its_heading_and_its_marks(label: str, heading: float) -> None:
    thing = THINGS[label]
    water = thing.on_water
    scene = Scene(
        width=640, height=480, ground="water" if water else "asphalt",
        meters_per_pixel=0.12 if water else 0.08,
    )  # fmt: skip
    marks = frozenset(thing.marks)
    for body in thing.bodies:
        scene.things = [Placed(label, 1.0, -2.0, heading, body, marks)]
        (found,) = found_on(scene)
        assert (found.label, found.marks) == (label, marks)
        assert found.heading is not None
        if body != THINGS["car"].bodies[2]:  # black hides where its windows are
            assert abs((found.heading - heading + 180) % 360 - 180) < 10
        assert found.length is not None
        assert found.length * scene.meters_per_pixel == pytest.approx(thing.length_m, rel=0.02)


def test_people_who_stand_close_are_counted_one_by_one() -> None:
    random = np.random.default_rng(1)
    scene = Scene(width=480, height=480, meters_per_pixel=0.05)
    scene.things = [
        replace_heading(person(random, 0.75 * x, 0.7 * y)) for x in range(-2, 3) for y in range(4)
    ]
    found = found_on(scene)
    assert {each.label for each in found} == {"person"}
    assert 18 <= len(found) <= 21


def replace_heading(placed: Placed) -> Placed:
    return placed._replace(heading=90.0)


def test_vehicles_that_touch_at_an_angle_are_two() -> None:
    car = THINGS["car"]
    scene = Scene(width=480, height=480)
    scene.things = [
        Placed("car", 0.0, 0.0, 0.0, car.bodies[3]),
        Placed("car", 2.6, 1.7, 60.0, car.bodies[4]),
    ]
    found = found_on(scene)
    assert [each.label for each in found] == ["car", "car"]
    angles = sorted(each.angle or 0.0 for each in found)
    apart = angles[1] - angles[0]
    assert min(apart, 180 - apart) == pytest.approx(60, abs=12)


def test_what_it_cannot_tell_is_said() -> None:
    frame = Scene(width=64, height=64).frame()
    with pytest.raises(DetectionError, match="altitude"):
        SimulatedView().detect(frame)
    with pytest.raises(DetectionError, match="too coarse"):
        SimulatedView().detect(frame, 0.6)
    assert SimulatedView().detect(frame, 0.08) == []


def test_people_too_small_to_be_told_are_unknown_and_cars_are_counted() -> None:
    matcher = tamis.Matcher([*tamis_operators()])
    matcher.subscribe("peopleCount(?n)", id="people")
    matcher.subscribe("vehicleCount(?n)", id="vehicles")
    car = Placed("car", 1.0, -2.0, 20.0, THINGS["car"].bodies[0])
    scene = Scene(width=320, height=240, things=[car])
    near, far = (
        matcher.match({"image": scene.frame(), "meters_per_pixel": scale}) for scale in (0.08, 0.25)
    )
    assert [each.subscription for each in near.matches] == ["people", "vehicles"]
    assert [each.subscription for each in far.matches] == ["vehicles"]
    assert "(0.25 m a pixel)" in far.undetermined[0].reason
    assert "and not person" in far.undetermined[0].reason


def test_numbers_on_roofs_are_read_at_any_angle() -> None:
    """Nearly all of them, and no other one."""
    simulation, right, missed = Simulation(5, drones=12), 0, 0
    for number in range(0, 600, 7):
        if right + missed >= 12:
            break
        if simulation.observation(number, render=False).truth.roofs:
            seen = simulation.observation(number)
            read = set(numbers_on(seen.frame, seen.camera.meters_per_pixel))
            true = set(seen.truth.roofs)
            assert read <= true
            right, missed = right + len(read), missed + len(true - read)
    assert right >= 10
    assert missed <= 2


def test_searches_share_what_is_no_ground_and_nothing_else() -> None:
    preparations = {
        each.specification.name: each.specification.preparations for each in tamis_operators()
    }
    for one, other in (("peopleCount", "vehicleCount"), ("vehicleCount", "tourBoatCount")):
        shared = set(preparations[one]) & set(preparations[other])
        assert {each.name for each in shared} == {"frame", "uav-view"}
    assert preparations["peopleCount"] == preparations["mobPattern"]
