"""Boxes of positions, and those that operators declare: never in the way of what is true."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tamis
from tamis.event import itself
from tamis.plugins.loader import installed
from tamis.testing import counting
from tamis_operators import spatial
from tamis_operators.spatial.boxes import Declaration, lying_in, meeting, near, position_box
from tests.operators.spatial.oracle import (
    GEOD,
    at,
    box,
    collection,
    feature,
    gazetteer,
    line,
    polygon,
)

SIDES = ("west", "south", "east", "north")


def event_of(position: object) -> tamis.Event:
    return tamis.Event.of({"position": position}, str, installed().attributes)


def sides(position: object) -> list[object]:
    event = event_of(position)
    return [event.scalar(f"position.{side}") for side in SIDES]


def holds(declared: Sequence[Declaration], position: object) -> bool:
    """Whether all declarations hold, or decide nothing."""
    found = position_box(event_of(position))
    if found is None:
        return True
    for attribute, op, value in declared:
        assert isinstance(attribute, tamis.DerivedAttribute)
        side = getattr(found, attribute.name.removeprefix("position."))
        low: Any = value
        high: Any = value
        if op == "between":
            low, high = low
        if (op != "<=" and side < low) or (op != ">=" and side > high):
            return False
    return True


# what events have


@pytest.mark.parametrize(
    ("position", "found"),
    [
        ([-73.9, 40.8], [-73.9, 40.8, -73.9, 40.8]),
        ((-73.9, 40.8, 120), [-73.9, 40.8, -73.9, 40.8]),
        ([286.1, 40.8], [286.1 - 360, 40.8] * 2),
        ([-200, 1], [160, 1] * 2),
        (line([1, 2], [3, -4], [-5, 0]), [-5, -4, 3, 2]),
        (line([350, 2], [358, 1]), [-10, 1, -2, 2]),
        (box(0, 1, 2, 3), [0, 1, 2, 3]),
        ({"type": "Feature", "geometry": box(0, 1, 2, 3)}, [0, 1, 2, 3]),
        ({"type": "MultiPoint", "coordinates": [[1, 2], [-3, 4]]}, [-3, 2, 1, 4]),
        (
            {"type": "GeometryCollection", "geometries": [box(0, 1, 2, 3), line([9, 9], [8, 8])]},
            [0, 1, 9, 9],
        ),
    ],
)
def test_a_position_has_a_box(position: object, found: list[float]) -> None:
    assert sides(position) == found


@pytest.mark.parametrize(
    "position",
    [
        [180, 4],
        [-180, 4],
        [540 - 360, 4],
        [3, 90],
        [3, -90],
        line([179, 1], [-179, 1]),
        line([179, 1], [180, 1]),
        box(170, 0, 190, 10),
        polygon((-120, 60), (0, 60), (120, 60)),
        {"type": "MultiPoint", "coordinates": [[1, 2], [180, 4]]},
    ],
)
def test_what_touches_the_edge_of_the_plane_has_none(position: object) -> None:
    assert sides(position) == [None] * 4
    assert event_of(position).is_undecided(itself("position.west"))


BAD: list[object] = [
    *("x", [], [1], [1, 91], [400, 1], ["a", "b"], [math.nan, 1], {"type": "Ball"}, True, 3),
    line([1, 1]),
    polygon((0, 0), (2, 2), (2, 0), (0, 2)),
    {"type": "LineString", "coordinates": [[each / 1e3, 0] for each in range(10_001)]},
]


@pytest.mark.parametrize("position", BAD)
def test_a_bad_position_has_none_and_is_undecided(position: object) -> None:
    assert sides(position) == [None] * 4
    assert event_of(position).is_undecided(itself("position.west"))


def test_an_absent_position_is_absent() -> None:
    assert sides(None) == [None] * 4
    assert not event_of(None).is_undecided(itself("position.west"))


def test_a_written_predicate_reads_them_as_any_attribute() -> None:
    matcher = tamis.Matcher([])
    matcher.subscribe("position.west < -70 and position.north > 40", id="s1")
    matcher.subscribe("not (position.west < -70)", id="s2")
    for position, ids in (([-73.9, 40.8], ["s1"]), ([3, 4], ["s2"]), ([180, 4], []), ("x", [])):
        found = matcher.match({"position": position}).matches
        assert [match.subscription for match in found] == ids
    found = matcher.match({"position": "x", "position.west": -71, "position.north": 41}).matches
    assert [match.subscription for match in found] == ["s1"]


# what operators declare


COORDINATES = st.one_of(
    st.integers(-180, 180), st.sampled_from([-180, -179.5, 0, 179.9, 180]), st.floats(-180, 180)
)
HEIGHTS = st.one_of(
    st.integers(-90, 90), st.sampled_from([-90, -89.99, 0, 89.9, 90]), st.floats(-90, 90)
)
POINTS = st.tuples(COORDINATES, HEIGHTS).map(list)
STEPS = st.floats(-3, 3)


@st.composite
def geometries(draw: st.DrawFn) -> Any:
    """A point, a line or a box, small or wide, that may lie across the edge of the plane."""
    x, y = draw(POINTS)
    east, north = x + draw(STEPS), max(-90, min(90, y + draw(STEPS)))
    is_wide, is_high = abs(east - x) > 1e-3, abs(north - y) > 1e-3
    kind = draw(st.sampled_from(("point", "point", "line", "box")))
    if kind == "point" or not (is_wide or is_high):
        return {"type": "Point", "coordinates": [x, y]}
    return (
        box(x, y, east, north)
        if kind == "box" and is_wide and is_high
        else line([x, y], [east, north])
    )


@given(geometries(), geometries(), st.floats(0, 1e5))
@example(line([179, 1], [-179, 1]), {"type": "Point", "coordinates": [179.5, 1]}, 1.0)
@example({"type": "Point", "coordinates": [179.9, 1]}, line([-179.9, 1], [-179, 1]), 50_000.0)
@example({"type": "Point", "coordinates": [10, 89.9]}, line([-170, 89.9], [-170, 89]), 30_000.0)
def test_what_is_true_is_in_what_is_declared(
    there: Mapping[str, Any], here: Mapping[str, Any], metres: float
) -> None:
    places = gazetteer({"there": there})
    place, position = places.places[0].prepare(), at(here)
    if place.dimension == 2:
        assert not place.holds(position) or holds(lying_in(place.bounds), here)
    if place.dimension:
        assert not place.meets(position) or holds(meeting(place.bounds), here)
    distance = places.distance_m(position, 0)
    for most in (metres, distance, 0):
        if distance <= most:
            assert holds(near(place.bounds, most), here), (distance, most)


@given(POINTS, st.floats(0, 2e7), st.floats(-360, 360))
def test_a_point_at_a_distance_is_in_the_box_around(
    there: list[float], metres: float, heading: float
) -> None:
    x, y, _ = GEOD.fwd(there[0], there[1], heading, metres)
    assert holds(near((*there, *there), metres), [float(x), float(y)])  # type: ignore[arg-type]


@given(st.tuples(st.floats(-170, 170), st.floats(-60, 60)), st.floats(1, 1e5))
def test_a_box_around_is_hardly_larger_than_it_has_to_be(
    there: tuple[float, float], metres: float
) -> None:
    x, y = there
    for heading in (0, 90, 180, 270):
        far = GEOD.fwd(x, y, heading, 1.1 * metres + 5)
        assert not holds(near((x, y, x, y), metres), list(far[:2]))


def test_bounds_are_rounded_outwards() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        west, south = chance.uniform(-170, 0), chance.uniform(-80, 0)
        east, north = west + chance.random(), south + chance.random()
        for x, y in ((west, south), (west, north), (east, south), (east, north)):
            assert holds(lying_in((west, south, east, north)), [x, y])
        assert not holds(lying_in((west, south, east, north)), [west - 1e-5, south])


def test_only_a_distance_that_is_bounded_declares() -> None:
    records = {each.specification.name: each for each in spatial.operators(())}
    matcher = tamis.Matcher(records.values())
    matcher.subscribe_many(
        {"id": str(at), "where": f"distanceFrom(TimesSquare, {text}"}
        for at, text in enumerate(
            ("?m), ?m < 500", "?m), ?m > 500", "500)", "?m), ?m between 3 and 9km", "?m)")
        )
    )
    for position, left in (([-73.9855, 40.758], 5), ([-73.9855, 40.8], 3), ([3, 4], 2), ("x", 5)):
        assert matcher.match({"position": position}).account.candidates == left


# thousands of regions


def districts(folder: Path, count: int) -> dict[str, dict[str, Any]]:
    """Stars in a grid that overlap a little, as a gazetteer file."""
    chance = random.Random(count)
    across = math.isqrt(count) + 1
    found = {}
    for number in range(count):
        x, y = -75 + number % across / 20, 40 + number // across / 20
        ring = []
        for step in range(12):
            turn, reach = math.tau * step / 12, 0.02 + 0.02 * chance.random()
            ring.append((x + reach * math.cos(turn), y + reach * math.sin(turn)))
        found[f"d{number}"] = polygon(*ring)
    features = [feature(name, geometry) for name, geometry in found.items()]
    (folder / "districts.geojson").write_text(json.dumps(collection(*features)))
    return found


def test_thousands_of_districts_leave_those_whose_box_holds_the_position(tmp_path: Path) -> None:
    known = gazetteer(districts(tmp_path, 900))
    bounds = {place.name: place.bounds for place in known.places}
    names: dict[object, str] = {place.number: place.name for place in known.places}
    operators = [counting(each) for each in spatial.operators(tmp_path, built_in=False)]
    matcher = tamis.Matcher(operators, memo_bytes=0)
    matcher.subscribe_many({"id": name, "where": f"locIn({name})"} for name in bounds)
    matcher.subscribe_many(
        {"id": f"not-{name}", "where": f"not locIn({name}) and kind = other"} for name in bounds
    )
    chance = random.Random(7)
    in_one = several = 0
    for number in range(150):
        position = [chance.uniform(-75.1, -73.4), chance.uniform(39.9, 41.6)]
        if number % 3 == 0:
            west, south, east, north = bounds[f"d{number}"]
            position = [chance.choice((west, east)), chance.uniform(south, north)]
        result = matcher.match({"id": f"e{number}", "position": position})
        inside = {
            name
            for name, (west, south, east, north) in bounds.items()
            if west <= position[0] <= east and south <= position[1] <= north
        }
        true = sorted(place.name for place in known.places if place.has_point(*position))
        assert [match.subscription for match in result.matches] == true
        candidates = {match.subscription for match in result.matches}
        candidates |= {each.subscription for each in result.rejections}
        assert candidates == inside
        calls = operators[0].calls
        asked = {names[region] for event, (region,) in calls if event == f"e{number}"}
        assert asked == inside, "each is needed, and no other one"
        in_one += bool(inside)
        several += len(inside) > 1
    assert operators[0].repeated == []
    assert in_one > 50
    assert several > 5
    everywhere = matcher.match({"id": "bad", "position": [1, 91]})
    assert len(everywhere.undetermined) == 900
    assert "the latitude 91" in everywhere.undetermined[0].reason
    none = matcher.match({"id": "none", "kind": "other"})
    assert (none.account.candidates, len(none.matches), len(none.undetermined)) == (900, 0, 0)
    away = matcher.match({"id": "away", "position": [3, 4], "kind": "other"})
    assert (len(away.matches), away.account.calls, away.account.excluded) == (900, 0, 900)
