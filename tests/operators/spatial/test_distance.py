"""Distances: geodesics, least over dense samples, at the antimeridian and the poles too."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import Point

from tamis_operators.spatial.distance import apart, pieces_of, widest_chord
from tamis_operators.spatial.errors import GeometryError
from tamis_operators.spatial.gazetteer import Gazetteer
from tests.operators.spatial.oracle import (
    GEOD,
    at,
    box,
    gazetteer,
    line,
    polygon,
    sampled_distance,
)

LONGITUDES = st.floats(-180, 180, allow_subnormal=False)
LATITUDES = st.floats(-90, 90, allow_subnormal=False)
POINTS = st.tuples(LONGITUDES, LATITUDES)


def distance(geometry: dict[str, Any], position: object) -> float:
    return gazetteer({"there": geometry}).distance_m(at(position), 0)


@given(POINTS, POINTS)
def test_of_points_it_is_the_geodesic(
    here: tuple[float, float], there: tuple[float, float]
) -> None:
    expected = GEOD.inv(*here, *there)[2]
    found = distance({"type": "Point", "coordinates": list(there)}, list(here))
    assert abs(found - expected) <= 0.0006
    assert distance({"type": "Point", "coordinates": list(here)}, list(there)) == found


@given(
    POINTS,
    POINTS,
    st.tuples(st.floats(-30, 30), st.floats(-30, 30)),
    st.sampled_from([1.0, 0.1, 0.001]),
)
@settings(max_examples=150)
def test_from_a_point_to_a_line(
    here: tuple[float, float],
    start: tuple[float, float],
    step: tuple[float, float],
    scale: float,
) -> None:
    """Never more than to any of ten thousand places on it, and at most half a step less."""
    end = (
        max(-180.0, min(180.0, start[0] + scale * step[0])),
        max(-90.0, min(90.0, start[1] + scale * step[1])),
    )
    if max(abs(end[0] - start[0]), abs(end[1] - start[1])) < 1e-20:  # one place
        return
    steps = 10_000
    sampled = sampled_distance(here, [[start, end]], steps)
    found = distance(line(start, end), list(here))
    gap = 111_700 * max(abs(end[0] - start[0]), abs(end[1] - start[1])) / steps
    assert found <= sampled + 0.001
    # beside a foot a distance grows with the square of the way along the line
    assert found >= sampled - min(2 * gap + 0.001, 0.002 + 4 * gap * gap / max(found, 1e-9))


@given(
    st.tuples(LONGITUDES, st.floats(-80, 80)),
    st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=2, max_size=5),
    st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=2, max_size=5),
    st.sampled_from([1.0, 0.05]),
)
@settings(max_examples=30, deadline=None)
def test_between_lines_within_a_metre(
    origin: tuple[float, float],
    one: list[tuple[float, float]],
    other: list[tuple[float, float]],
    scale: float,
) -> None:
    """Against samples of one line: points to the other, which is tested above."""
    x, y = origin
    mine = [(x + scale * a, y + scale * b) for a, b in dict.fromkeys(one)]
    theirs = [(x + scale * (a + 4), y + scale * b) for a, b in dict.fromkeys(other)]
    if len(mine) < 2 or len(theirs) < 2:
        return
    try:
        here = at(line(*(((a + 180) % 360 - 180, b) for a, b in mine)))
        there = gazetteer({"l": line(*(((a + 180) % 360 - 180, b) for a, b in theirs))})
    except GeometryError:  # all vertices are one
        return
    found = there.distance_m(here, 0)
    steps = 300
    samples = [
        ((a + (c - a) * step / steps + 180) % 360 - 180, b + (d - b) * step / steps)
        for (a, b), (c, d) in itertools.pairwise(mine)
        for step in range(steps + 1)
    ]
    targets = there.places[0].pieces
    least = min(
        apart(pieces_of([at([*sample]).parts[0].geometry]), targets) for sample in samples[::7]
    )
    gap = 7 * 111_700 * scale * 7 / steps
    assert found <= least + 1.0
    assert found >= least - gap - 1.0


def test_areas_are_at_distance_0_of_what_they_hold() -> None:
    there = box(-74.1, 40.6, -73.7, 40.9)
    assert distance(there, [-73.9, 40.7]) == 0
    assert distance(there, [-74.1, 40.6]) == 0
    assert distance(there, line((-75, 40.7), (-73, 40.7))) == 0
    assert distance(there, box(-75, 40, -73, 41)) == 0
    assert distance({"type": "Point", "coordinates": [-74, 40.7]}, box(-75, 40, -73, 41)) == 0
    assert distance(line((-74, 40), (-74, 41)), line((-75, 40.7), (-73, 40.7))) == 0
    hole = {"type": "Polygon", "coordinates": [box(0, 0, 10, 10)["coordinates"][0],
                                               box(4, 4, 6, 6)["coordinates"][0]]}  # fmt: skip
    assert distance(hole, [5, 5]) == pytest.approx(GEOD.inv(5, 5, 5, 4)[2], abs=1e-3)


def test_across_the_antimeridian_and_over_the_pole() -> None:
    """Nothing is farther than the way that is shortest on the ground."""
    fiji = polygon((177, -19), (180, -19), (-178, -19), (-178, -16), (177, -16))
    assert distance(fiji, [-177.9, -17]) == pytest.approx(
        sampled_distance((-177.9, -17), [[(-178, -19), (-178, -16)]], 30_000), abs=0.01
    )
    assert distance(fiji, [182.1, -17]) == distance(fiji, [-177.9, -17])
    assert distance(fiji, [180, -17]) == 0
    point = {"type": "Point", "coordinates": [0, 89]}
    assert distance(point, [180, 89]) == pytest.approx(GEOD.inv(0, 89, 180, 89)[2], abs=0.001)
    cap = polygon((0, 80), (90, 80), (180, 80), (270, 80))
    assert distance(cap, [45, 79]) == pytest.approx(GEOD.inv(45, 79, 45, 80)[2], abs=0.01)
    assert distance(cap, [200, 90]) == 0


@pytest.mark.parametrize("east", [0, 100, 180, 253.5])
@pytest.mark.parametrize("position", [[3, 40], [-20, 77], [3, 88], [150, -40]])
def test_distances_do_not_depend_on_where_longitudes_begin(
    east: float, position: list[float]
) -> None:
    ring = [(0, 41), (2, 50), (9, 47), (5, 42)]
    there = distance(polygon(*ring), position)
    moved = [((x + east + 180) % 360 - 180, y) for x, y in ring]
    shifted = (position[0] + east + 180) % 360 - 180
    assert distance(polygon(*moved), [shifted, position[1]]) == pytest.approx(there, abs=0.002)


def test_far_points_and_the_antipode() -> None:
    ring = box(10, 10, 10.5, 10.5)
    closed = ring["coordinates"][0]
    for position in ([-170.25, -10.2], [-169.7, -10.5], [100, 0], [-80, 5]):
        sampled = sampled_distance((position[0], position[1]), [closed], 5_000)
        assert distance(ring, position) == pytest.approx(sampled, abs=0.1)


def test_edges_that_are_far_too_long_are_refused() -> None:
    zigzag = [[170 * (at_ % 2), at_ / 100] for at_ in range(4_000)]  # 76 times around the Earth
    with pytest.raises(GeometryError, match="edges are too long"):
        distance(box(0, -10, 1, -9), {"type": "LineString", "coordinates": zigzag})


def test_the_nearest_of_a_kind_is_that_of_all_distances() -> None:
    places: Gazetteer = gazetteer(
        {
            **{f"p{x}": {"type": "Point", "coordinates": [x * 11 % 360 - 180, x % 80]}
               for x in range(60)},
            "area": box(170, -30, 190, -20),
            "line": line((-10, 50), (10, 60)),
        },
        kind="stop",
    )  # fmt: skip
    for x in range(-180, 180, 24):
        for y in (-90, -25, 0, 55, 90):
            position = at([x, y])
            all_ = {each.name: places.distance_m(at([x, y]), each.number) for each in places.places}
            least = min(all_.values())
            expected = sorted((name, far) for name, far in all_.items() if far == least)
            assert places.nearest(position, "stop") == expected


def test_equally_near_places_are_all_solutions() -> None:
    places = gazetteer(
        {"west": {"type": "Point", "coordinates": [-1, 0]},
         "east": {"type": "Point", "coordinates": [1, 0]}},
        kind="stop",
    )  # fmt: skip
    assert [name for name, _ in places.nearest(at([0, 0]), "stop")] == ["east", "west"]


@given(POINTS, POINTS)
@settings(max_examples=300)
def test_a_way_is_never_wider_through_the_earth(
    here: tuple[float, float], there: tuple[float, float]
) -> None:
    """What pieces are left out by: it holds with a micrometre to spare."""
    ends = pieces_of([Point(here), Point(there)]).middle
    chord = float(np.sqrt(((ends[0] - ends[1]) ** 2).sum()))
    assert chord <= widest_chord(GEOD.inv(*here, *there)[2])


def test_long_tracks_of_many_vertices() -> None:
    """Ten thousand vertices along a border, and far from everything: the least of all vertices'."""
    border = box(-74, 40, -73, 41)
    track = [(-73.9 + at_ / 12_500, 41.2 + 0.1 * np.sin(at_ / 100)) for at_ in range(9_999)]
    found = distance(border, line(*track))
    lowest = sorted(track, key=lambda at_: at_[1])[:50]
    least = min(sampled_distance(at_, [[(-74, 41), (-73, 41)]], 4_000) for at_ in lowest)
    assert least - 1 < found <= least + 1
    cap = polygon((0, 80), (90, 80), (180, 80), (270, 80))
    north = max(track, key=lambda at_: at_[1])
    assert distance(cap, line(*track)) == pytest.approx(distance(cap, list(north)), abs=1)
