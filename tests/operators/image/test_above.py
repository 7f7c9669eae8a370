"""Things of the palette are found from above, on textured ground, in any light, noise and blur."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tamis
from tamis_operators import image
from tamis_operators.image.detection import Detection, DetectionError
from tamis_operators.image.detectors.above import ViewFromAboveDetector
from tamis_operators.image.detectors.light import light_of
from tamis_operators.image.palette import Palette

from .bench import SCENES, rendered
from .rendering import PALETTE, THINGS, Placed, Scene, Weather, person, traffic

DETECTOR = ViewFromAboveDetector(PALETTE)


def found_on(scene: Scene, weather: Weather | None = None) -> list[Detection]:
    return DETECTOR.detect(scene.frame(weather), scene.meters_per_pixel)


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
def test_the_light_of_a_frame_is_found(brightness: float, warmth: float) -> None:
    scene = traffic(np.random.default_rng(5), seed=5)
    light = light_of(scene.frame(Weather(brightness=brightness, warmth=warmth)), PALETTE)
    assert np.exp(light.lightness) == pytest.approx(brightness, rel=0.12)
    assert light.warmth == pytest.approx(warmth, abs=0.05)


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


def test_people_who_touch_are_counted_one_by_one() -> None:
    random = np.random.default_rng(1)
    scene = Scene(width=480, height=480, meters_per_pixel=0.05)
    scene.things = [
        replace_heading(person(random, 0.62 * x, 0.55 * y)) for x in range(-2, 3) for y in range(4)
    ]
    found = found_on(scene)
    assert {each.label for each in found} == {"person"}
    assert 14 <= len(found) <= 22  # shoulder to shoulder, some are taken for one


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
        DETECTOR.detect(frame)
    with pytest.raises(DetectionError, match=r"0\.45 m"):
        DETECTOR.detect(frame, 0.6)
    assert DETECTOR.detect(frame, 0.08) == []


def test_a_palette_travels_as_text() -> None:
    again = Palette.from_json(PALETTE.to_json())
    assert again == PALETTE
    assert hash(again) == hash(PALETTE)
    assert replace(PALETTE, shadow=0.4) != PALETTE
    with pytest.raises(ValueError, match="format_version"):
        Palette.from_json("{}")


def test_people_too_small_to_be_told_are_unknown_and_cars_are_counted() -> None:
    matcher = tamis.Matcher([*image.operators("above")])
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
