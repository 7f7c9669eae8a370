"""The world: nobody drives through anybody, and what is said of it is right."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("cv2", reason="needs pip install 'tamis[image]'")
shapely = pytest.importorskip("shapely", reason="needs pip install 'tamis[spatial]'")

from examples.uav.chance import hashed, key_of, stream  # noqa: E402
from examples.uav.city import city  # noqa: E402
from examples.uav.director import BEATS  # noqa: E402
from examples.uav.flights import Camera  # noqa: E402
from examples.uav.incidents import Chase, Crowd, Jam  # noqa: E402
from examples.uav.plane import clipped, degrees, distance_m, inside, local, turned  # noqa: E402
from examples.uav.simulation import Simulation  # noqa: E402
from examples.uav.thing import KINDS, Thing  # noqa: E402
from examples.uav.truth import mobs_of, seen_on  # noqa: E402


def outline(thing: Thing) -> object:
    corners = turned(np.array(KINDS[thing.label].outline), thing.heading)
    return shapely.Polygon(corners + np.array([thing.x, thing.y]))


@pytest.mark.parametrize("seed", [3, 4])
def test_vehicles_only_meet_in_accidents(seed: int) -> None:
    simulation = Simulation(seed)
    met = 0
    for number in range(0, simulation.count(300), 15):
        seconds, camera = simulation.seconds(number), simulation.camera(number)
        there = simulation.world.things(seconds, camera.x, camera.y, camera.reach)
        vehicles = [each for each in there if each.label != "person"]
        shapes = [outline(each) for each in vehicles]
        for (one, a), (other, b) in combinations(zip(vehicles, shapes, strict=True), 2):
            if math.hypot(one.x - other.x, one.y - other.y) > 40:
                continue
            if shapely.area(shapely.intersection(a, b)) > 0.3:
                assert {one.part, other.part} <= {"crashed", "police"}, (number, one, other)
            if {one.part, other.part} == {"crashed"} and shapely.distance(a, b) < 0.5:
                met += 1
    assert met > 0


def test_the_same_keys_give_the_same_numbers_whatever_was_drawn_before() -> None:
    assert stream(1, 2).random() == stream(1, 2).random() != stream(1, 3).random()
    numbers = hashed(key_of(1, 2), 3, np.arange(20_000))
    assert (numbers == hashed(key_of(1, 2), 3, np.arange(20_000))).all()
    assert 0 <= numbers.min() < numbers.max() < 1
    assert abs(float(numbers.mean()) - 0.5) < 0.02
    assert abs(float(np.corrcoef(numbers[1:], numbers[:-1])[0, 1])) < 0.03


def test_degrees_and_meters_agree_with_the_ellipsoid() -> None:
    pyproj = pytest.importorskip("pyproj")
    geod = pyproj.Geod(ellps="WGS84")
    places = city().places
    square = places["TimesSquare"]
    for name, place in places.items():
        *_, far = geod.inv(*square, *place)
        assert distance_m(square, place) == pytest.approx(far, abs=0.02 + far / 1e5), name
        x, y = local([place])[0]
        assert degrees(float(x), float(y)) == pytest.approx(place, abs=1e-7)


@given(st.lists(st.tuples(*[st.floats(-40, 40)] * 2), min_size=3, max_size=12), st.floats(1, 30))
@settings(max_examples=60)
def test_clipping_is_the_intersection_with_a_square(
    corners: list[tuple[float, float]], reach: float
) -> None:
    hull = shapely.convex_hull(shapely.MultiPoint(corners))
    if hull.geom_type != "Polygon" or hull.area < 1e-3:
        return
    polygon = np.array(hull.exterior.coords[:-1])
    cut = clipped(polygon, reach, 2.0, -1.0)
    wanted = hull.intersection(shapely.box(2 - reach, -1 - reach, 2 + reach, -1 + reach)).area
    got = shapely.Polygon(cut).area if len(cut) > 2 else 0.0
    assert got == pytest.approx(wanted, abs=1e-6 + wanted * 1e-9)


@given(st.lists(st.tuples(*[st.floats(0, 12)] * 2), max_size=60))
@settings(max_examples=60)
def test_mobs_are_the_clusters_of_cores(places: list[tuple[float, float]]) -> None:
    near = [
        [other for other, b in enumerate(places) if other != at and math.dist(a, b) <= 1.6]
        for at, a in enumerate(places)
    ]
    cores = {at for at, each in enumerate(near) if len(each) >= 3}
    sizes: list[int] = []
    taken: set[int] = set()
    for core in sorted(cores):
        if core in taken:
            continue
        reached, todo = {core}, [core]
        while todo:
            at = todo.pop()
            if at in cores:
                todo += [other for other in near[at] if other not in reached]
                reached.update(near[at])
        sizes.append(len(reached - taken))
        taken |= reached
    wanted = sorted((size for size in sizes if size >= 5), reverse=True)
    assert list(mobs_of(np.array(places).reshape(-1, 2))) == wanted


@given(st.floats(-60, 60), st.floats(-50, 50), st.floats(0, 360), st.floats(0, 360))
@settings(max_examples=60)
def test_visible_shares_are_areas_on_the_frame(
    x: float, y: float, heading: float, course: float
) -> None:
    camera = Camera(10.0, -5.0, 80.0, course, 5.0, 45.0, "patrol")
    thing = Thing("bus", x, y, heading)
    shape = shapely.Polygon(
        camera.pixels(turned(np.array(KINDS["bus"].outline), heading) + np.array([x, y]))
    )
    share = shape.intersection(shapely.box(0, 0, camera.width, camera.height)).area / shape.area
    found = seen_on([thing], camera)
    assert (found[0][1].visible if found else 0.0) == pytest.approx(share, abs=2e-3)


def test_the_city_is_drawn_from_the_gazetteer() -> None:
    known = city()
    assert set(known.boroughs) == {"Bronx", "Brooklyn", "Manhattan", "Queens", "StatenIsland"}
    for name, borough in (("TimesSquare", "Manhattan"), ("BronxZoo", "Bronx")):
        assert known.borough_at(*local([known.places[name]])[0].tolist()) == borough
    statue = local([known.places["StatueOfLiberty"]])
    assert inside(known.harbor, statue)[0]
    assert inside(known.islands["StatueOfLiberty"], statue)[0]
    assert {each.borough for each in known.highways.values()} == set(known.boroughs)


def test_incidents_are_what_they_say() -> None:
    director = Simulation(5, drones=len(BEATS)).world.director
    kinds: Counter[str] = Counter()
    for drone in range(director.drones):
        for cycle in (0, 1, 7):
            for each in director.script(drone, cycle).incidents:
                assert 300 * cycle <= each.start < each.end <= 300 * (cycle + 1)
                kinds[type(each).__name__] += 1
                middle = (each.start + each.end) / 2
                parts = Counter(thing.part for thing in each.things(middle))
                if isinstance(each, Chase):
                    assert parts == {"chaser": 1, "chased": 1}
                elif isinstance(each, Crowd):
                    assert 0 < parts["gathered"] <= each.size
                    assert not list(each.things(each.start - 1))
                elif isinstance(each, Jam):
                    assert parts["queued"] >= 8
                    assert parts["crashed"] == 2 * each.accident
    assert set(kinds) == {"Chase", "Crowd", "Jam", "Boats"}
