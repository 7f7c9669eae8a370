"""Checks implications of regions at any position, on borders and vertices too."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tamis
from tamis_operators import spatial
from tamis_operators.spatial.configuration import configured
from tamis_operators.spatial.gazetteer import MEETING, Gazetteer, gazetteer_of
from tamis_operators.spatial.position import Position
from tests.operators.spatial.oracle import (
    at,
    box,
    collection,
    feature,
    gazetteer,
    line,
    polygon,
)
from tests.operators.spatial.test_containment import stars


def new_york() -> Gazetteer:
    return gazetteer_of(configured(()))


def relation(regions: Gazetteer, one: str, other: str) -> tuple[bool, bool]:
    numbers = {each.name: each.number for each in regions.places}
    for _, around, away in regions.related(numbers[one], [numbers[other]]):
        return around, away
    return False, False


def probes(regions: Gazetteer, many: int, seed: int) -> list[tuple[float, float]]:
    """Vertices, places on borders, and their neighbors of one rounding; then anywhere."""
    chance = random.Random(seed)
    found: list[tuple[float, float]] = []
    rings = [
        shapely.get_coordinates(ring).tolist()
        for region in regions.places
        if region.dimension == 2
        for ring in shapely.get_rings(shapely.get_parts(region.geometry))
    ]
    while len(found) < many:
        ring = chance.choice(rings)
        place = chance.randrange(len(ring) - 1)
        (x1, y1), (x2, y2) = ring[place], ring[place + 1]
        part = chance.choice((0.0, 0.5, chance.random()))
        x, y = x1 + part * (x2 - x1), y1 + part * (y2 - y1)
        found.append((x, y))
        found.append((float(np.nextafter(x, chance.choice((-999, 999)))), y))
        found.append((x, float(np.nextafter(y, chance.choice((-99, 99))))))
        found.append((x + chance.gauss(0, 0.01), y + chance.gauss(0, 0.01)))
    return [(max(-180.0, min(180.0, x)), max(-90.0, min(90.0, y))) for x, y in found]


def held_to(regions: Gazetteer, points: list[tuple[float, float]]) -> int:
    """Checks what is declared on points; how many declared pairs there are."""
    areas = [each.prepare() for each in regions.places if each.dimension == 2]
    read = [at([x, y]) for x, y in points]
    inside = {each.number: np.array([each.holds(position) for position in read]) for each in areas}
    numbers = list(inside)
    declared = 0
    for number in numbers:
        for place, around, away in regions.related(number, numbers):
            declared += 1
            if around:
                assert not np.any(inside[number] & ~inside[numbers[place]])
            if away:
                assert not np.any(inside[number] & inside[numbers[place]])
    return declared


def test_those_of_new_york_hold_on_a_hundred_thousand_points() -> None:
    regions = new_york()
    assert held_to(regions, probes(regions, 100_000, seed=1)) > 60


def test_what_is_declared_of_new_york() -> None:
    regions = new_york()
    for borough in ("Bronx", "Brooklyn", "Manhattan", "Queens", "StatenIsland"):
        assert relation(regions, borough, "NewYork") == (True, False)
        assert relation(regions, "NewYork", borough) == (False, False)
    assert relation(regions, "Bronx", "StatenIsland") == (False, True)
    assert relation(regions, "Bronx", "Manhattan") == (False, False)  # a border is in both
    assert relation(regions, "CentralPark", "Manhattan") == (True, False)
    assert relation(regions, "CentralPark", "NewYork") == (True, False)
    assert relation(regions, "JFKAirport", "Airport") == (True, False)
    assert relation(regions, "CentralPark", "Airport") == (False, True)


@given(stars(), stars(), st.sampled_from([0, 0, 12, 180]), st.sampled_from([0, 2, 10, 30]))
@settings(max_examples=60, deadline=None)
def test_those_of_any_regions_hold(
    one: list[tuple[float, float]], other: list[tuple[float, float]], east: int, away: int
) -> None:
    first, second = shapely.Polygon(one), shapely.Polygon(other)
    both = shapely.union(first, second)
    common = shapely.intersection(first, second)
    assume(both.geom_type == "Polygon" or common.is_empty)
    shapes: dict[str, dict[str, Any]] = {
        "one": polygon(*((x + east, y) for x, y in one)),
        "other": polygon(*((x + east + away, y) for x, y in other)),
    }
    for name, shape in (("both", both), ("common", common)):
        if shape.geom_type == "Polygon" and shape.area > 0.01:
            moved = shapely.transform(shape, lambda each: each + np.array([east, 0]))
            shapes[name] = shapely.geometry.mapping(moved)
    regions = gazetteer(shapes)
    held_to(regions, probes(regions, 300, seed=len(one)))


@given(stars(), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_parts_of_a_region_with_its_vertices_lie_in_it(
    ring: list[tuple[float, float]], at_: int
) -> None:
    """A region cut at a diagonal: its parts have its vertices, as boroughs have a city's."""
    other = 1 + at_ % (len(ring) - 2) if len(ring) > 3 else 1
    parts = {"a": ring[: other + 2], "b": [ring[0], *ring[other + 1 :]]}
    shape = shapely.Polygon(ring)
    fitting = {
        name: polygon(*part)
        for name, part in parts.items()
        if len(part) > 2 and shapely.is_valid(shapely.Polygon(part))
        and shapely.covers(shape, shapely.Polygon(part))
    }  # fmt: skip
    assume(fitting)
    regions = gazetteer({"whole": polygon(*ring), **fitting})
    for name in fitting:
        assert relation(regions, name, "whole") == (True, False)
    held_to(regions, probes(regions, 200, seed=at_))


def test_a_hair_outside_is_not_inside() -> None:
    outer = box(0, 0, 10, 10)
    hair = float(np.nextafter(10, 11))
    regions = gazetteer({
        "outer": outer,
        "same": box(0, 0, 10, 10),
        "hair": polygon((5, 5), (hair, 5), (6, 6)),
        "touching": polygon((5, 5), (10, 5), (6, 6)),
        "beside": box(10, 0, 20, 10),
        "filled": box(2, 2, 8, 8),
        "ring": {"type": "Polygon", "coordinates": [box(1, 1, 9, 9)["coordinates"][0],
                                                    box(2, 2, 8, 8)["coordinates"][0]]},
        "diagonal": polygon((0, 0), (10, 10), (10, 0)),
        "third": polygon((0, 0), (1 / 3, 1 / 3), (1 / 3, 0)),
    })  # fmt: skip
    assert relation(regions, "same", "outer") == (True, False)
    assert relation(regions, "outer", "same") == (True, False)
    assert relation(regions, "hair", "outer") == (False, False)
    assert relation(regions, "touching", "outer") == (True, False)
    assert relation(regions, "beside", "outer") == (False, False)
    assert relation(regions, "filled", "ring") == (False, False)
    assert relation(regions, "ring", "outer") == (True, False)
    assert relation(regions, "filled", "outer") == (True, False)
    assert relation(regions, "third", "diagonal") == (True, False)


def test_at_the_antimeridian_and_the_poles() -> None:
    regions = gazetteer({
        "east": box(170, -5, 180, 5),
        "west": box(-180, -5, -170, 5),
        "both": box(165, -9, 195, 9),
        "far": box(0, -5, 10, 5),
        "cap": polygon((0, 66), (90, 66), (180, 66), (270, 66)),
        "wedge": polygon((0, 80), (30, 80), (30, 90), (0, 90)),
        "other": polygon((90, 80), (120, 80), (120, 90), (90, 90)),
    })  # fmt: skip
    assert relation(regions, "east", "west") == (False, False)
    assert relation(regions, "east", "far") == (False, True)
    assert relation(regions, "east", "both") == (True, False)
    assert relation(regions, "wedge", "other") == (False, False)
    assert relation(regions, "wedge", "cap") == (True, False)
    points = [(x, y) for x in (-180.0, 180.0, 0.0, 15.0) for y in (-5.0, 0.0, 5.0, 85.0, 90.0)]
    held_to(regions, points)


@given(stars(), stars(), stars())
@settings(max_examples=60, deadline=None)
def test_lines_and_areas_keep_to_what_is_declared(
    one: list[tuple[float, float]],
    other: list[tuple[float, float]],
    third: list[tuple[float, float]],
) -> None:
    common = shapely.intersection(shapely.Polygon(one), shapely.Polygon(other))
    assume(common.geom_type == "Polygon" and common.area > 0.01)
    regions = gazetteer({
        "one": polygon(*one),
        "other": polygon(*other),
        "common": shapely.geometry.mapping(common),
        "line": line(*one[:2]),
    })  # fmt: skip
    inner = shapely.get_coordinates(common).tolist()
    shapes = [polygon(*third), line(*third), line(*inner[:2]), shapely.geometry.mapping(common)]
    positions: list[Position] = [at(shape) for shape in shapes]
    numbers = [each.number for each in regions.places]
    for position in positions:
        meets = regions.answers(position, numbers, MEETING)
        holds = regions.answers(position, numbers[:3])
        for number in numbers:
            for place, around, away in regions.related(number, numbers):
                assert not (around and meets[number] and not meets[place])
                if number < 3 and place < 3:
                    assert not (around and holds[number] and not holds[place])
                    assert not (away and holds[number] and holds[place])


def test_what_operators_say() -> None:
    made = {each.specification.name: each.factory() for each in spatial.operators(())}
    within = made["locWithin"]
    lists = [within.check("Bronx", metres) for metres in (100, 1000.5, 1000.5)]
    assert [list(each or ()) for each in lists] == [[lists[0][0], m] for m in (100, 1000.5, 1000.5)]  # type: ignore[index]
    assert list(within.implications(lists[1] or (), [x or () for x in lists])) == [
        tamis.Implication(True, 1, True),
        tamis.Implication(True, 2, True),
    ]
    meets = made["intersects"]
    names = [meets.check(name) or () for name in ("StatenIsland", "NewYork", "Queens")]
    assert list(meets.implications(names[0], names)) == [
        tamis.Implication(True, 0, True),
        tamis.Implication(True, 1, True),
    ]


def test_in_a_gazetteer_of_many_areas_only_containment_is_declared(tmp_path: Path) -> None:
    """Disjointness is true of most pairs there, and one query answers all of them."""
    cells = [feature(f"c{at_}", box(2 * at_, 0, 2 * at_ + 1, 1)) for at_ in range(70)]
    said = {}
    for many in (60, 70):
        file = tmp_path / f"{many}.json"
        whole = feature("whole", box(0, 0, 150, 1))
        file.write_text(json.dumps(collection(*cells[:many], whole)))
        loc_in = spatial.operators(file, built_in=False)[0].factory()
        lists = [loc_in.check(f"c{at_}") or () for at_ in range(3)] + [loc_in.check("whole") or ()]
        said[many] = list(loc_in.implications(lists[0], lists[1:]))
    assert said[70] == [tamis.Implication(True, 2, True)]
    assert sorted(said[60]) == [(True, 0, False), (True, 1, False), (True, 2, True)]
