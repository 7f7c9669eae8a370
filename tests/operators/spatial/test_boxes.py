"""Boxes of positions: what events have of `position`."""

from __future__ import annotations

import math

import pytest

import tamis
from tamis.plugins.loader import installed
from tests.operators.spatial.oracle import (
    box,
    line,
    polygon,
)

SIDES = ("west", "south", "east", "north")


def event_of(position: object) -> tamis.Event:
    return tamis.Event.of({"position": position}, str, installed().attributes)


def sides(position: object) -> list[object]:
    event = event_of(position)
    return [event.scalar(f"position.{side}") for side in SIDES]


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


BAD: list[object] = [
    *("x", [], [1], [1, 91], [400, 1], ["a", "b"], [math.nan, 1], {"type": "Ball"}, True, 3),
    line([1, 1]),
    polygon((0, 0), (2, 2), (2, 0), (0, 2)),
    {"type": "LineString", "coordinates": [[each / 1e3, 0] for each in range(10_001)]},
]


@pytest.mark.parametrize("position", BAD)
def test_a_bad_position_has_none(position: object) -> None:
    assert sides(position) == [None] * 4


def test_an_absent_position_is_absent() -> None:
    assert sides(None) == [None] * 4


def test_a_written_predicate_reads_them_as_any_attribute() -> None:
    matcher = tamis.Matcher([])
    matcher.subscribe("position.west < -70 and position.north > 40", id="s1")
    matcher.subscribe("not (position.west < -70)", id="s2")
    for position, ids in (([-73.9, 40.8], ["s1"]), ([3, 4], ["s2"]), ([180, 4], []), ("x", [])):
        found = matcher.match({"position": position}).matches
        assert [match.subscription for match in found] == ids
    found = matcher.match({"position": "x", "position.west": -71, "position.north": 41}).matches
    assert [match.subscription for match in found] == ["s1"]
