"""Counts, mobs, chases and traffic from detections, and how subscriptions ask for them."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.operators.shipping import packed, unpacked
from tamis_operators.image import operators
from tamis_operators.image.chase_pattern import chases
from tamis_operators.image.configuration import ConfigurationError, DetectorConfiguration
from tamis_operators.image.counts import on_foot
from tamis_operators.image.detection import (
    Box,
    Detection,
    DetectionError,
    Detections,
    suppressed,
)
from tamis_operators.image.detection_records import detection_operators
from tamis_operators.image.labels import canonical
from tamis_operators.image.mob_pattern import LEAST, NEAR_M, NEIGHBORS, mobs
from tamis_operators.image.scale import meters_per_pixel_of
from tamis_operators.image.traffic_pattern import is_accident, is_congestion
from tests.operators.image.own import STREET, Street

FRAME = np.full((240, 320, 3), 90, np.uint8)
NAMES = {
    "peopleCount", "pedestrianCount", "vehicleCount", "policeCarCount", "tourBoatCount",
    "coastGuardBoatCount", "thingCount", "mobPattern", "chasePattern", "trafficPattern",
}  # fmt: skip
HERE = Path(__file__).resolve().parents[3]


def thing(
    label: str, x: float, y: float, heading: float | None = None, long: float = 46.0
) -> Detection:
    """A thing of a tenth of a meter a pixel."""
    short = long * 0.4
    box = Box(x - long / 2, y - short / 2, long, short)
    if heading is None:
        return Detection(label, 0.9, box)
    box = Box(x - long / 2, y - long / 2, long, long)
    return Detection(label, 0.9, box, long, short, heading % 180, heading % 360)


def man(x: float, y: float) -> Detection:
    return Detection("person", 0.9, Box(x - 2.5, y - 2.5, 5, 5))


PLACES = st.lists(
    st.tuples(st.floats(0, 120, allow_nan=False), st.floats(0, 120, allow_nan=False)), max_size=40
)


@given(PLACES)
@settings(max_examples=150, deadline=None)
def test_mobs_are_the_dense_clusters(places: list[tuple[float, float]]) -> None:
    people = [man(x, y) for x, y in places]
    graph = nx.Graph()
    graph.add_nodes_from(range(len(people)))
    for a in range(len(people)):
        for b in range(a):
            (ax, ay), (bx, by) = people[a].center, people[b].center
            if math.hypot(ax - bx, ay - by) * 0.1 <= NEAR_M:
                graph.add_edge(a, b)
    core = [node for node in graph if graph.degree(node) >= NEIGHBORS]
    expected = list(nx.connected_components(graph.subgraph(core)))
    found = mobs(people, 0.1)
    assert all(len(mob) >= LEAST for mob in found)
    assert [len(mob) for mob in found] == sorted((len(mob) for mob in found), reverse=True)
    by_core = {frozenset(set(mob) & set(core)) for mob in found}
    assert by_core <= {frozenset(each) for each in expected}
    members = [one for mob in found for one in mob]
    assert len(members) == len(set(members))
    for cluster in expected:
        near = set(cluster).union(*(graph[node] for node in cluster))
        if len(cluster) >= LEAST:
            assert frozenset(cluster) in by_core
        if len(near) < LEAST:
            assert frozenset(cluster) not in by_core


def test_a_queue_of_strollers_is_no_mob() -> None:
    assert mobs([man(14.0 * at, 0) for at in range(30)], 0.1) == []
    crowd = [Detection("person", 1, Box(30 * x, 5 * y, 30, 80)) for x in range(4) for y in range(3)]
    assert [len(each) for each in mobs(crowd, None)] == [12]


@given(
    st.lists(
        st.tuples(*[st.floats(0, 100)] * 2, *[st.floats(1, 40)] * 2, st.floats(0, 1)), max_size=25
    )
)
@settings(max_examples=100, deadline=None)
def test_suppression_leaves_one_a_thing(boxes: list[tuple[float, ...]]) -> None:
    given = [Detection("person", score, Box(*rest)) for *rest, score in boxes]
    kept = suppressed(given)
    assert set(kept) <= set(given)
    assert sorted(suppressed(kept), key=repr) == sorted(kept, key=repr)
    for thing in given:
        assert any(
            other == thing or (other.score >= thing.score and other.box.common(thing.box) > 0)
            for other in kept
        )


def test_who_is_carried_is_no_pedestrian() -> None:
    bus = Detection("bus", 0.9, Box(0, 0, 200, 100))
    before = Detection("person", 0.9, Box(40, 20, 30, 90))
    aboard = Detection("person", 0.9, Box(80, 20, 10, 20))
    found = Detections((bus, before, aboard), 300, 200, frozenset({"person", "bus"}))
    assert on_foot(found, [before, aboard]) == [before]
    boat = thing("tourBoat", 100, 100, 45.0, 300.0)
    above = Detections((boat,), 300, 300, frozenset({"person", "tourBoat"}))
    assert on_foot(above, [man(120, 120), man(120, 20)]) == [man(120, 20)]


@given(st.floats(0, 360), st.floats(-3, 3), st.floats(6, 40), st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_chase_is_behind_and_in_line(
    heading: float, aside: float, ahead: float, fronts: bool
) -> None:
    turn = math.radians(heading)
    x = (ahead * math.cos(turn) - aside * math.sin(turn)) * 10
    y = (ahead * math.sin(turn) + aside * math.cos(turn)) * 10
    police, car = thing("policeCar", 0, 0, heading), thing("car", x, y, heading + 5)
    assert chases(police, car, 0.1)
    assert not chases(car, police, 0.1)
    assert not chases(police, thing("car", x, y, heading + 60), 0.1)
    assert not chases(police, thing("car", x, y, heading + 180), 0.1)
    assert not chases(police, thing("car", 3 * x + 300 * math.sin(turn), 3 * y, heading), 0.05) or (
        ahead < 40
    )
    with pytest.raises(DetectionError, match="headed"):
        chases(police, thing("car", x, y), 0.1)


def test_congestion_is_many_vehicles_along_one_direction() -> None:
    packed_cars = [thing("car", 62.0 * a, 32.0 * b, 3.0) for a in range(5) for b in range(2)]
    assert is_congestion(packed_cars, 0.1)
    assert not is_congestion(packed_cars[:7], 0.1)
    assert not is_congestion([thing("car", 200.0 * a, 0, 3.0) for a in range(12)], 0.1)
    ahead = [each for each in packed_cars if each.center[0] < 170]
    behind = [thing("car", 350 + 62.0 * a, 18, 3.0) for a in range(2)]
    assert is_congestion([*ahead, *behind], 0.1)  # with a crossing between that is kept free
    assert not is_congestion([*ahead, thing("car", 350, 18, 3.0), thing("car", 550, 18, 3.0)], 0.1)
    crossing = [thing("car", 62.0 * a, 32.0 * b, 23.0 * a) for a in range(5) for b in range(2)]
    assert not is_congestion(crossing, 0.1)
    assert is_congestion(
        [thing("car", 50.0 * a, 20.0 * b) for a in range(5) for b in range(2)], 0.1
    )


def test_an_accident_is_two_vehicles_that_touch_at_an_angle() -> None:
    one = thing("car", 200, 200, 0.0)
    assert is_accident([one, thing("car", 232, 212, 60.0)], 500, 500, 0.1)
    assert not is_accident([one, thing("car", 240, 250, 60.0)], 500, 500, 0.1)
    assert not is_accident([one, thing("car", 245, 202, 5.0)], 500, 500, 0.1)
    assert not is_accident([one, thing("car", 232, 212, 60.0)], 240, 500, 0.1)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("person", "person"), ("Pedestrian", "person"), ("motorbike", "motorcycle"),
        ("police car", "policeCar"), ("police_car", "policeCar"), ("Police Car", "policeCar"),
        ("POLICE-CAR", "policeCar"), ("policeCar", "policeCar"), ("truck", "truck"), ("BUS", "bus"),
        ("traffic light", "trafficLight"), ("", ""),
    ],
)  # fmt: skip
def test_labels_of_models_are_ours(name: str, label: str) -> None:
    assert canonical(name) == label


def test_the_scale_of_a_frame() -> None:
    assert meters_per_pixel_of({"meters_per_pixel": 0.1, "altitude": 7}, 640, False) == 0.1
    tangent = math.tan(math.radians(35))
    event = {"altitude": 100, "field_of_view": 70}
    assert meters_per_pixel_of(event, 1000, True) == pytest.approx(0.2 * tangent)
    assert meters_per_pixel_of({"altitude": 100}, 1000, True) is not None
    assert meters_per_pixel_of({"altitude": 100}, 1000, False) is None
    assert meters_per_pixel_of({}, 1000, True) is None
    for broken in ({"altitude": 0}, {"altitude": "high"}, {"altitude": 9, "field_of_view": 180}):
        with pytest.raises(DetectionError):
            meters_per_pixel_of(broken, 100, True)


@pytest.mark.parametrize("detector", ["auto", "hog", "cascade"])
def test_samples_are_answered_as_said_also_after_travel(detector: str) -> None:
    records = unpacked(packed(operators(detector)))
    asked = 0
    for record in records:
        for sample in record.factory().samples():
            matcher = tamis.Matcher([record])
            matcher.subscribe(sample.predicate, id="s")
            result = matcher.match(sample.event)
            assert not result.undetermined
            values = [value for m in result.matches for b in m.bindings for value in b.values()]
            answer = sample.answer if isinstance(sample.answer, bool) else bool(sample.answer)
            assert bool(result.matches) == answer, sample.predicate
            if isinstance(sample.answer, list):
                assert sorted(values) == sorted(sample.answer), sample.predicate
            asked += 1
    assert asked >= 3


def test_operators_share_one_detection_of_one_frame() -> None:
    matcher = tamis.Matcher(operators(STREET))
    for at, where in enumerate(
        ("peopleCount(?n)", "vehicleCount(?n)", "mobPattern(?n)", "chasePattern(policeCar, anyCar)")
    ):
        matcher.subscribe(where, id=str(at))
    before = Street.calls
    near = matcher.match({"image": FRAME, "meters_per_pixel": 0.1})
    assert [match.subscription for match in near.matches] == ["0", "1", "3"]
    assert Street.calls == before + 1
    far = matcher.match({"image": FRAME, "meters_per_pixel": 0.3})
    assert [match.subscription for match in far.matches] == ["1", "3"]
    assert "(0.30 m a pixel)" in far.undetermined[0].reason
    assert "and not person" in far.undetermined[0].reason
    assert Street.calls == before + 2
    high = matcher.match({"image": FRAME, "altitude": 20, "field_of_view": 60})
    assert [match.subscription for match in high.matches] == ["0", "1", "3"]


def test_the_subscriptions_of_the_paper_are_taken() -> None:
    lines = (HERE / "examples/surveillance/subscriptions.jsonl").read_text(encoding="utf-8")

    @tamis.operator
    def locIn(event: Any, region: str) -> bool:
        return True

    @tamis.operator
    def locWithin(event: Any, place: str, far: float) -> bool:
        return True

    @tamis.operator(outputs=("far",))
    def distanceFrom(event: Any, place: str, far: Any) -> list[float]:
        return [500.0]

    matcher = tamis.Matcher([*operators(STREET), locIn, locWithin, distanceFrom])
    with pytest.warns(tamis.SubscriptionWarning, match="left out"):
        matcher.subscribe_many([json.loads(line) for line in lines.splitlines()])
    assert len(matcher) == 5


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("chasePattern(policeCra, anyCar)", "did you mean policeCar"),
        ("chasePattern(policeCar, 3)", "string"),
        ("trafficPattern(congestoin)", "did you mean congestion"),
        ("peopleCount(1, 2)", "peopleCount"),
    ],
)
def test_arguments_are_checked(where: str, reason: str) -> None:
    with pytest.raises(tamis.SubscriptionError, match=reason):
        tamis.Matcher(operators(STREET)).subscribe(where)


@pytest.mark.parametrize(
    "where",
    [
        *("vehicleCount(?n)", "policeCarCount(?n)", "tourBoatCount(?n)", "coastGuardBoatCount(?n)"),
        *("trafficPattern(congestion)", "trafficPattern(accident)"),
        "chasePattern(policeCar, anyCar)",
    ],
)
def test_what_needs_a_model_is_refused_without_one(where: str) -> None:
    matcher = tamis.Matcher(operators())
    with pytest.raises(tamis.SubscriptionError, match="set TAMIS_DETECTOR to "):
        matcher.subscribe(where)
    matcher.subscribe("{peopleCount(?n), pedestrianCount(?m), mobPattern(?k)}")


def test_an_altitude_says_nothing_to_a_detector_of_photographs() -> None:
    matcher = tamis.Matcher(operators())
    matcher.subscribe("peopleCount(?n)", id="people")
    noise = np.random.default_rng(1).integers(0, 256, (240, 320, 3), np.uint8)
    for event in ({"image": noise}, {"image": noise, "altitude": 60}):
        (match,) = matcher.match(event).matches
        assert list(match.bindings) == [{"n": 0}]


def test_directions_are_asked_of_detectors_that_tell_them(tmp_path: Path) -> None:
    (tmp_path / "cars.onnx").write_bytes(b"")
    (tmp_path / "cars.names").write_text("car\npoliceCar\n")
    matcher = tamis.Matcher(operators(str(tmp_path / "cars.onnx")))
    for where in ("chasePattern(policeCar, car)", "trafficPattern(accident)"):
        with pytest.raises(tamis.SubscriptionError, match="no detector of directions"):
            matcher.subscribe(where)
    matcher.subscribe("trafficPattern(congestion)")
    with pytest.raises(tamis.SubscriptionError, match=r"of bus is set up \(.*own:Street tells car"):
        tamis.Matcher(operators(STREET)).subscribe("chasePattern(bus, car)")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("tests.operators.image.nowhere:Street", "no module tests.operators.image.nowhere"),
        ("tests.operators.image.own:Strett", "has no attribute 'Strett'"),
        ("tests.operators.image.own:STREET", "not callable"),
        ("tests.operators.image.own:thing", "is not a tamis_operators.image.Detector"),
    ],
)
def test_a_detector_of_ones_own_that_is_none(source: str, reason: str) -> None:
    with pytest.raises((ConfigurationError, tamis.SubscriptionError), match=reason):
        tamis.Matcher(operators(source)).subscribe("peopleCount(?n)")


def test_a_detector_that_cannot_be_set_up_costs_its_operators_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TAMIS_DETECTOR", "nonsense")
    records = operators()
    troubled = {each.specification.name for each in records if each.trouble}
    assert troubled == NAMES
    matcher = tamis.Matcher(unpacked(packed(records)))
    matcher.subscribe("brightness(?value)")
    says = "peopleCount could not be set up: TAMIS_DETECTOR: 'nonsense' is not a detector"
    with pytest.raises(tamis.SubscriptionError, match=says):
        matcher.subscribe("peopleCount(?n)")


def test_versions_tell_detectors_apart() -> None:
    versions = {
        record.specification.version
        for name in ("hog", "cascade", STREET)
        for record in detection_operators(name)
    }
    assert len(versions) == 3
    assert DetectorConfiguration.of("auto") == DetectorConfiguration.of("hog")
    assert {each.specification.name for each in detection_operators("hog")} == NAMES


def test_listing_imports_nothing_heavy() -> None:
    code = (
        "import sys; from tamis_operators.image import operators; operators('auto'); "
        "print([name for name in ('cv2', 'onnx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
