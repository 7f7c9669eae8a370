"""Checks containment against exact ray casting, at the antimeridian and the poles too."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import shapely
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tamis_operators.spatial.errors import GeometryError
from tamis_operators.spatial.gazetteer import MEETING
from tamis_operators.spatial.geojson import TYPES
from tests.operators.spatial.oracle import at, box, gazetteer, line, place, point_in_rings, polygon

# Eighths are exact in floating point, at every longitude: what is shifted stays what it was.
EIGHTHS = st.integers(-160, 160).map(lambda each: each / 8)
VERTICES = st.tuples(EIGHTHS, EIGHTHS)


@st.composite
def stars(draw: st.DrawFn) -> list[tuple[float, float]]:
    """A ring around a center: simple, and seldom convex."""
    angles = sorted(set(draw(st.lists(st.integers(0, 59), min_size=3, max_size=14))))
    assume(len(angles) >= 3)
    ring = []
    for angle in angles:
        reach = draw(st.integers(8, 100))
        turn = math.tau * angle / 60
        ring.append((round(reach * math.cos(turn)) / 8, round(reach * math.sin(turn)) / 8))
    assume(shapely.is_valid(shapely.Polygon(ring)))
    return ring


@given(stars(), st.lists(VERTICES, max_size=20))
def test_points_are_where_exact_ray_casting_says(
    ring: list[tuple[float, float]], points: list[tuple[float, float]]
) -> None:
    region = place(polygon(*ring))
    middles = [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in itertools.pairwise(ring)]
    for point in [*points, *ring, *middles]:
        expected = point_in_rings(point, [[*ring, ring[0]]])
        assert region.holds(at(list(point))) == expected
        assert region.meets(at(list(point))) == expected


@given(
    stars(), st.lists(VERTICES, min_size=1, max_size=10), st.sampled_from([-180, 165, 180, 190, -8])
)
def test_the_antimeridian_is_a_meridian_like_others(
    ring: list[tuple[float, float]], points: list[tuple[float, float]], east: int
) -> None:
    """A region and positions moved along their parallels answer alike, written in any way."""
    unmoved = place(polygon(*ring))
    moved = [(x + east, y) for x, y in ring]
    homed = [(x - 360 if x > 180 else x + 360 if x < -180 else x, y) for x, y in moved]
    assume(all(-360 <= x <= 360 for x, _ in moved))
    shape = shapely.Polygon(moved)
    halves = [
        shapely.transform(
            shapely.intersection(shape, shapely.box(180 + turn, -90, 540 + turn, 90)),
            lambda each, turn=turn: each - [360 + turn, 0],
        )
        for turn in (-720, -360, 0)
    ]
    ways = [place(polygon(*moved)), place(polygon(*homed))]
    split = [part for half in halves for part in shapely.get_parts(half) if part.area > 0]
    cut = place(shapely.geometry.mapping(shapely.multipolygons(split)))
    for x, y in [*points, *ring]:
        expected = unmoved.holds(at([x, y]))
        for longitude in (x + east, x + east - 360, x + east + 360):
            if -360 <= longitude <= 360:
                position = at([longitude, y])
                assert [way.holds(position) for way in ways] == [expected] * 2
                # a cut puts vertices where there were none: they are rounded
                if (
                    shapely.distance(shapely.boundary(shapely.Polygon(ring)), shapely.Point(x, y))
                    > 1e-9
                ):
                    assert cut.holds(position) == expected


@example(
    [(1.0, 0.0), (10.625, 4.75), (-10.75, -4.75), (-0.875, -0.5)],
    [(1.0, 0.0), (7.25, 3.25), (-1.0, -0.5)],
    187,
)
@given(stars(), stars(), st.sampled_from([180, -180, 187]))
def test_lines_and_areas_across_the_antimeridian(
    ring: list[tuple[float, float]], other: list[tuple[float, float]], east: int
) -> None:
    region, there = shapely.Polygon(ring), shapely.Polygon(other)
    assume(shapely.distance(shapely.boundary(region), shapely.boundary(there)) > 1e-6
           or shapely.crosses(shapely.boundary(region), shapely.boundary(there)))  # fmt: skip
    moved = place(polygon(*((x + east, y) for x, y in ring)))
    for geometry, shape in (
        (polygon(*((x + east, y) for x, y in other)), there),
        (line(*((x + east, y) for x, y in other)), shapely.LineString(other)),
    ):
        position = at(geometry)
        # what only a point of the border holds is decided by how the cut at 180° is rounded
        expected = shapely.covers(region, shape)
        if expected == shapely.covers(shapely.buffer(region, -1e-6), shape):
            assert moved.holds(position) == expected
        assert moved.meets(position) == shapely.intersects(region, shape)


def test_numbers_that_would_vanish_are_0() -> None:
    """Else a library that multiplies them takes a point beside a border for one on it."""
    region = place(polygon((1, 0), (0.875, 0.375), (-1.25, 0)))
    for tiny in (5e-324, -5e-324, 1e-200, 1e-31):
        assert region.holds(at([1, tiny])), tiny
    assert not region.holds(at([1, 1e-29]))
    assert not region.holds(at([1, -1e-29]))


def test_180_is_minus_180() -> None:
    east, west = place(box(170, -5, 180, 5)), place(box(-180, -5, -170, 5))
    for x in (180, -180):
        assert east.holds(at([x, 0]))
        assert west.holds(at([x, 0]))
        assert not west.holds(at([x, 6]))
    assert west.holds(at([185, 0]))
    along = at(line((180, -1), (180, 1)))
    assert east.holds(along)
    assert west.holds(along)
    both = place(
        {
            "type": "MultiPolygon",
            "coordinates": [
                box(178, -1, 180, 1)["coordinates"],
                box(-180, -5, -170, 5)["coordinates"],
            ],
        }
    )
    assert both.holds(at(line((179, 0), (180, 0), (180, 4))))
    assert not both.holds(at(line((179, 0), (180, 0), (180, 6))))
    assert both.holds(at(polygon((179, -1), (-179, -1), (-179, 1), (179, 1))))


NORTH = [
    {"type": "Polygon", "coordinates": [[[x, 66] for x in (-180, -90, 0, 90, 180)]]},
    polygon((-90, 66), (0, 66), (90, 66), (180, 66)),
    polygon((0, 66), (-90, 66), (-180, 66), (90, 66)),
    polygon((30, 66), (150, 66), (270, 66)),
    polygon((-180, 66), (180, 66), (180, 90), (-180, 90)),
]


@pytest.mark.parametrize("geometry", NORTH)
def test_a_ring_around_the_earth_holds_its_pole(geometry: dict[str, Any]) -> None:
    cap = place(geometry)
    for x in range(-360, 361, 15):
        assert cap.holds(at([x, 90]))
        assert cap.holds(at([x, 80]))
        assert cap.holds(at([x, 66]))
        assert not cap.holds(at([x, 65]))
        assert not cap.holds(at([x, -90]))
    assert cap.holds(at(line((170, 70), (-170, 70))))
    assert cap.holds(at(line((-100, 85), (0, 85), (100, 85))))


@given(st.lists(st.integers(0, 8 * 28), min_size=5, max_size=12), st.integers(0, 11), st.booleans())
def test_a_pole_by_its_distance_from_it(latitudes: list[int], first: int, south: bool) -> None:
    """A ring around the pole is a star around it: what is nearer than the ring is inside."""
    count, sign = len(latitudes), -1 if south else 1
    ring = [(round(2880 * at_ / count) / 8, 60 + each / 8) for at_, each in enumerate(latitudes)]
    turned = [*ring[first % count :], *ring[: first % count]]
    cap = place(polygon(*((x, sign * y) for x, y in turned)))
    closed = [*ring, (360.0, ring[0][1])]
    for (x1, y1), (x2, y2) in itertools.pairwise(closed):
        for part in (0, 0.25, 0.5, 0.75):
            x, y = x1 + part * (x2 - x1), y1 + part * (y2 - y1)
            if y < 89:
                assert cap.holds(at([x, sign * (y + 1e-6)]))
            assert not cap.holds(at([x, sign * (y - 1e-6)]))
            assert not cap.holds(at([x - 360, sign * (y - 1e-6)]))


def test_a_belt_has_a_hole_at_the_pole() -> None:
    outer = [[0, 60], [90, 60], [180, 60], [270, 60], [0, 60]]
    inner = [[x, 80] for x, _ in outer]
    belt = place({"type": "Polygon", "coordinates": [outer, inner]})
    assert [belt.holds(at([100, y])) for y in (59, 60, 70, 80, 81, 90)] == [
        False, True, True, True, False, False,
    ]  # fmt: skip


def test_holes_beyond_the_antimeridian() -> None:
    outer = [[170, 0], [-170, 0], [-170, 20], [170, 20], [170, 0]]
    for hole in ([178, 5], [-182, 5]):
        x, y = hole
        ring = [[x, y], [x + 4, y], [x + 4, y + 5], [x, y + 5], [x, y]]
        region = place({"type": "Polygon", "coordinates": [outer, ring]})
        assert [region.holds(at([each, 7])) for each in (175, 179, 180, -179, -177)] == [
            True, False, False, False, True,
        ]  # fmt: skip


def test_a_wedge_holds_the_pole_at_every_longitude() -> None:
    wedge = place(polygon((0, 80), (90, 80), (90, 90), (0, 90)))
    assert wedge.holds(at([-120, 90]))
    assert not wedge.holds(at([-120, 89.9]))
    assert place(polygon((180, 80), (200, 80), (200, 90), (180, 90))).meets(
        at(line((0, 85), (0, 90)))
    )


WRONG = [
    ([1], "two or three numbers, not 1"),
    ([1, 2, 3, 4], "two or three numbers, not 4"),
    ([1, "2"], "'2' in a position is not a number"),
    ([True, 2], "True in a position is not a number"),
    ([float("inf"), 2], "inf in a position is not a finite number"),
    ([1, 2, float("nan")], "nan in a position is not a finite number"),
    ([40.8, -173], "latitude -173 is not between -90 and 90 .longitude comes first"),
    ([361, 2], "longitude 361 is not between"),
    ([10**400, 2], "not a finite number"),
    ("Bronx", "'Bronx' is not a position"),
    ({"type": "Circle"}, "'Circle' is not a geometry"),
    ({"lat": 2, "lon": 1}, "without a type is not a geometry: write .longitude, latitude"),
    ({"type": "FeatureCollection", "features": []}, "not a geometry"),
    ({"type": "Feature", "geometry": None}, "the Feature has no geometry"),
    ({"type": "Point"}, "None is not a position"),
    ({"type": "MultiPoint", "coordinates": []}, "are empty"),
    ({"type": "LineString", "coordinates": [[0, 0]]}, "has one position"),
    ({"type": "LineString", "coordinates": [[1, 1], [1, 1]]}, "invalid"),
    ({"type": "LineString", "coordinates": 3}, "not an array"),
    ({"type": "Polygon", "coordinates": [[0, 0], [1, 0], [1, 1], [0, 0]]}, "0 is not a position"),
    ({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 0]]]}, "has 3 positions"),
    ({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]]}, "not closed"),
    (polygon((0, 0), (1, 1), (1, 0), (0, 1)), "invalid: Self-intersection"),
    (polygon((0, 0), (1, 0), (2, 0)), "invalid"),
    ({"type": "Polygon", "coordinates": [box(0, 0, 1, 1)["coordinates"][0],
                                         box(5, 5, 6, 6)["coordinates"][0]]}, "invalid: Hole lies"),
    ({"type": "MultiPolygon", "coordinates": [box(0, 0, 2, 2)["coordinates"],
                                              box(1, 1, 3, 3)["coordinates"]]}, "invalid"),
    (polygon((0, -10), (120, 10), (240, -10)), "both sides of the equator"),
    (polygon(*((x % 360, 60) for x in range(0, 720, 90))), "more than once"),
    ({"type": "GeometryCollection", "geometries": [[1, 2]]}, "is not a geometry"),
    ({"type": "GeometryCollection"}, "not an array"),
    (line(*((90 * x % 360, x / 100) for x in range(99))), "more than 10 times"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "reason"), WRONG)
def test_what_is_no_geometry_says_why(value: object, reason: str) -> None:
    with pytest.raises(GeometryError, match=f"^the position cannot be used: .*{reason}") as caught:
        at(value)
    assert "\n" not in str(caught.value)


def test_nested_too_deep() -> None:
    value: object = {"type": "Point", "coordinates": [0, 0]}
    for _ in range(50):
        value = {"type": "GeometryCollection", "geometries": [value]}
    with pytest.raises(GeometryError, match="nested deeper than 16"):
        at(value)


@pytest.mark.parametrize("type_", ["LineString", "MultiPoint", "Polygon"])
def test_vertices_are_counted_before_they_are_read(type_: str) -> None:
    many = ["never looked at"] * 10_001
    with pytest.raises(GeometryError, match="more than 10,000 vertices"):
        at({"type": type_, "coordinates": [many] if type_ == "Polygon" else many})


def test_all_types_are_taken() -> None:
    region = place(box(0, 0, 10, 10))
    point = {"type": "Point", "coordinates": [1, 1, 300]}
    inner: list[dict[str, Any]] = [
        point,
        {"type": "MultiPoint", "coordinates": [[1, 1], [10, 10]]},
        line((0, 0), (5, 5)),
        {"type": "MultiLineString", "coordinates": [[[0, 0], [10, 0]], [[1, 1], [2, 2]]]},
        box(0, 0, 10, 10),
        {"type": "MultiPolygon", "coordinates": [box(1, 1, 2, 2)["coordinates"]]},
    ]
    inner.append({"type": "GeometryCollection", "geometries": inner[:]})
    inner.append({"type": "Feature", "properties": {}, "geometry": box(1, 1, 2, 2)})
    for geometry in inner:
        assert region.holds(at(geometry)), geometry
        assert region.meets(at(geometry)), geometry
    partly = {"type": "GeometryCollection", "geometries": [point, line((9, 9), (11, 9))]}
    assert not region.holds(at(partly))
    assert region.meets(at(partly))
    assert not region.meets(at(box(10.5, 0, 11, 1)))
    assert region.meets(at(box(10, 0, 11, 1)))


def test_arrays_of_numpy_are_positions() -> None:
    import numpy as np

    region = place(box(0, 0, 10, 10))
    assert region.holds(at(np.array([1.0, 2.0])))
    assert region.holds(at([np.float32(1), np.int64(2)]))
    assert region.holds(at({"type": "LineString", "coordinates": np.array([[1, 1], [2, 2]])}))
    with pytest.raises(GeometryError, match="two or three numbers"):
        at(np.zeros(10**6))


@given(st.lists(stars(), min_size=5, max_size=12), st.lists(VERTICES, min_size=1, max_size=8))
def test_many_regions_answer_as_one_by_one(
    rings: list[list[tuple[float, float]]], points: list[tuple[float, float]]
) -> None:
    regions = gazetteer({
        f"r{number}": polygon(*((x + 15 * number, y) for x, y in ring))
        for number, ring in enumerate(rings)
    })  # fmt: skip
    numbers = [each.number for each in regions.places]
    positions = [at([x + 170, y]) for x, y in points] + [at([180, 0]), at([0, 90])]
    positions += [at(line((170, 0), (170 + x, y))) for x, y in points if (x, y) != (0, 0)]
    for position in positions:
        one_by_one = [each.holds(position) for each in regions.places]
        assert regions.answers(position, numbers) == one_by_one
        assert regions.answers(position, numbers[::-1]) == one_by_one[::-1]
        meeting = [each.meets(position) for each in regions.places]
        assert regions.answers(position, numbers, MEETING) == meeting


NUMBERS = st.one_of(
    st.integers(-400, 400), st.floats(-400, 400), st.sampled_from([180, -180, 90, -90, 360, 1e-320])
)
JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.floats(), st.text(max_size=3)),
    lambda inner: st.lists(inner, max_size=5),
    max_leaves=20,
)
RINGS = st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=1, max_size=9).map(
    lambda ring: [*ring, ring[0]]
)
TYPED = st.one_of(
    st.builds(lambda ring: {"type": "LineString", "coordinates": ring}, RINGS),
    st.builds(lambda rings: {"type": "Polygon", "coordinates": rings}, st.lists(RINGS, max_size=3)),
    st.builds(
        lambda type_, junk: {"type": type_, "coordinates": junk, "geometries": junk},
        st.sampled_from(TYPES),
        JUNK,
    ),
)


@given(st.one_of(JUNK, TYPED))
@settings(max_examples=300, deadline=None)
def test_anything_is_a_position_or_says_why_not(value: object) -> None:
    region = place(box(170, -80, 190, 90))
    reason = ""
    try:
        position = at(value)
    except GeometryError as wrong:
        reason = str(wrong)
    if reason:
        assert "\n" not in reason
        assert len(reason) < 400
        return
    if region.holds(position):
        assert region.meets(position)
    for part in position.parts:
        low_x, low_y, high_x, high_y = shapely.bounds(part.geometry).tolist()
        assert -180 <= low_x <= high_x <= 180
        assert -90 <= low_y <= high_y <= 90
