"""Gazetteers: what they hold, what is refused and how it is named, and the bundled one."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.errors import ArgumentError, OperatorError
from tamis_operators import spatial
from tamis_operators.spatial import boroughs
from tamis_operators.spatial.configuration import configured
from tamis_operators.spatial.errors import GazetteerError
from tamis_operators.spatial.gazetteer import MEETING, Gazetteer, gazetteer_of
from tests.operators.spatial.oracle import at, box, collection, feature, line, point_in_rings

POINT = {"type": "Point", "coordinates": [1, 2]}


def written(folder: Path, document: object, name: str = "mine.geojson") -> Path:
    file = folder / name
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return file


def loaded(*paths: Path, built_in: bool = False) -> Gazetteer:
    return gazetteer_of(configured(paths, built_in=built_in))


def test_names_and_kinds(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        collection(
            feature("Harbor", box(0, 0, 1, 1), names=["The Harbor"], aliases="Port", kind="water"),
            feature("Lighthouse", POINT, kind="building"),
            feature("Pier", line((0, 0), (1, 1))),
        ),
    )
    places = loaded(file)
    assert [each.name for each in places.places] == ["Harbor", "Lighthouse", "Pier"]
    assert places.region("Port") is places.region("The Harbor") is places.place("Harbor")
    assert places.region("Pier", MEETING).name == "Pier"
    assert places.kind("water") == "water"
    with pytest.raises(ArgumentError, match=r"unknown region 'Harbour'; did you mean Harbor\?"):
        places.region("Harbour")
    with pytest.raises(ArgumentError, match="Pier is a line, not an area: locWithin"):
        places.region("Pier")
    with pytest.raises(ArgumentError, match="Lighthouse is a point, not a line or an area"):
        places.region("Lighthouse", MEETING)
    with pytest.raises(ArgumentError, match=r"unknown kind 'watr'; did you mean water\?"):
        places.kind("watr")


def test_a_folder_and_a_single_feature(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    written(inner, feature("One", POINT), "one.json")
    file = written(tmp_path, collection(feature("Two", POINT)), "two.geojson")
    written(tmp_path, "not read", "three.txt")
    assert [each.name for each in loaded(tmp_path, file).places] == ["One", "Two"]


WRONG: list[tuple[object, str]] = [
    ("{", "cannot be read: Expecting"),
    ({"type": "Topology"}, "not a GeoJSON FeatureCollection"),
    (collection({"type": "Point"}), "feature 1: it is not a Feature"),
    (collection(feature("A", POINT), feature(3, POINT)), "feature 2: it has no name"),
    (collection(feature("A", POINT, names=[3])), r"feature 1 \(A\): its names are strings"),
    (collection(feature("A", POINT, kind=[])), r"feature 1 \(A\): its kind is a string"),
    (collection(feature("A", None)), r"feature 1 \(A\): it has no geometry"),
    (
        collection(
            feature("A", POINT),
            feature("Bow", {"type": "Polygon",
                            "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}),
        ),
        r"feature 2 \(Bow\): it is invalid: Self-intersection",
    ),
    (collection(feature("A", {"type": "Point", "coordinates": [0, 99]})), "latitude 99"),
    (
        collection(
            feature("A", {"type": "GeometryCollection", "geometries": [POINT, box(0, 0, 1, 1)]})
        ),
        r"feature 1 \(A\): it mixes points and areas",
    ),
    (
        collection(feature("A", POINT), feature("B", POINT, names=["A"])),
        r"feature 2 \(B\): the name 'A' is taken by .*feature 1 \(A\)$",
    ),
    (
        collection(feature("A", POINT), feature("A", POINT, replaces=True)),
        r"feature 2 \(A\): the name 'A' is taken",
    ),
    (collection(feature("A", None, union=["B"])), "its union names 'B', which is not a place"),
    (
        collection(feature("A", None, union=["B"]), feature("B", POINT)),
        r"\(A\): its union names 'B', which is not an area",
    ),
    (
        collection(feature("A", None, union=["B"]), feature("B", None, union=["A"])),
        "its union contains itself",
    ),
    (
        collection(feature("A", POINT, union=["B"]), feature("B", box(0, 0, 1, 1))),
        "a geometry and a union",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("document", "reason"), WRONG)
def test_what_is_wrong_is_named(document: object, reason: str, tmp_path: Path) -> None:
    file = written(tmp_path, document)
    with pytest.raises(GazetteerError, match=reason) as caught:
        loaded(file)
    assert str(file) in str(caught.value)
    matcher = tamis.Matcher(spatial.operators(file))
    with pytest.raises(tamis.SubscriptionError, match="locIn could not be set up: "):
        matcher.subscribe("locIn(Bronx)")


def test_nothing_bundled_is_overridden_silently(tmp_path: Path) -> None:
    mine = feature("Bronx", box(0, 0, 1, 1))
    file = written(tmp_path, collection(mine))
    with pytest.raises(
        GazetteerError, match=r"'Bronx' is taken by .*boroughs.geojson, feature 1 .Bronx.; to"
    ):
        loaded(file, built_in=True)
    mine["properties"]["replaces"] = True
    replaced = loaded(written(tmp_path, collection(mine)), built_in=True)
    assert replaced.region("Bronx").holds(at([0.5, 0.5]))
    assert replaced.region("NewYork").holds(at([0.5, 0.5]))
    with pytest.raises(ArgumentError, match="unknown region 'Bronx County'; did you mean Bronx"):
        replaced.region("Bronx County")
    assert [each.name for each in loaded(file).places] == ["Bronx"]


def test_files_that_are_not_there_are_said_at_subscription(tmp_path: Path) -> None:
    records = spatial.operators(tmp_path / "none.geojson")
    matcher = tamis.Matcher(records)
    with pytest.raises(
        tamis.SubscriptionError, match=r"there is no file or folder .*none\.geojson"
    ):
        matcher.subscribe("locIn(Bronx)")
    matcher = tamis.Matcher(spatial.operators([tmp_path]))
    with pytest.raises(tamis.SubscriptionError, match=r"has no file of \.geojson, \.json"):
        matcher.subscribe("locIn(Bronx)")


def test_the_environment_lists_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = written(tmp_path, feature("One", box(0, 0, 1, 1)), "one.json")
    two = written(tmp_path, feature("Two", box(1, 0, 2, 1)), "two.json")
    monkeypatch.setenv("TAMIS_GAZETTEER", f"{one}{os.pathsep}{two}")
    matcher = tamis.Matcher(spatial.operators())
    for name in ("One", "Two", "Bronx"):
        matcher.subscribe(f"locIn({name})", id=name)
    assert [each.subscription for each in matcher.match({"position": [1, 1]}).matches] == [
        "One",
        "Two",
    ]
    plain = tamis.Matcher(spatial.operators(()))
    with pytest.raises(tamis.SubscriptionError, match="unknown region 'One'"):
        plain.subscribe("locIn(One)")


def test_the_version_is_that_of_what_the_files_hold(tmp_path: Path) -> None:
    def version(*paths: Path, **settings: Any) -> str:
        return spatial.operators(paths, **settings)[0].specification.version

    file = written(tmp_path, feature("One", POINT))
    copy = written(tmp_path, feature("One", POINT), "copy.json")
    assert version(file) == version(copy) != version()
    assert version(file) != version(file, built_in=False) != version(file, max_vertices=5)
    before, records = version(file), spatial.operators(file)
    written(tmp_path, feature("One", {"type": "Point", "coordinates": [1, 3]}))
    assert version(file) != before
    with pytest.raises(GazetteerError, match="are not those it was configured with"):
        records[0].factory()


def test_settings_of_a_wrong_kind_are_refused() -> None:
    for wrong in (0, True, 2.5, "9"):
        with pytest.raises(OperatorError, match="max_vertices is a whole number above 0"):
            spatial.operators((), max_vertices=wrong)  # type: ignore[arg-type]


INLAND: Mapping[str, list[str]] = {
    "Bronx": ["YankeeStadium", "BronxZoo", "NewYorkBotanicalGarden", "FordhamUniversity"],
    "Manhattan": ["TimesSquare", "EmpireStateBuilding", "ColumbiaUniversity", "CityHall",
                  "ApolloTheater", "MetropolitanMuseum", "CentralPark", "TheCloisters"],
    "Brooklyn": ["BarclaysCenter", "BrooklynMuseum", "ConeyIslandCyclone"],
    "Queens": ["CitiField", "Unisphere", "JFKAirport", "LaGuardiaAirport"],
    "StatenIsland": ["SnugHarbor", "StGeorgeTerminal"],
}  # fmt: skip


def test_landmarks_are_in_their_boroughs() -> None:
    import shapely

    places = loaded(built_in=True)
    named = {each.name: each for each in places.places}
    for borough, landmarks in INLAND.items():
        for landmark in landmarks:
            position = at(shapely.geometry.mapping(shapely.centroid(named[landmark].geometry)))
            holding = [each for each in INLAND if named[each].holds(position)]
            assert holding == [borough], landmark
            assert named["NewYork"].holds(position)
    for bridge in ("GoethalsBridge", "GeorgeWashingtonBridge"):
        position = at(shapely.geometry.mapping(named[bridge].geometry))
        assert places.distance_m(position, named["NewYork"].number) < 1_000


def test_the_boroughs_hold_what_ray_casting_says() -> None:
    import shapely

    places = loaded(built_in=True)
    areas = [each for each in places.places if each.dimension == 2]
    rings = {
        each.number: [
            [shapely.get_coordinates(ring).tolist() for ring in shapely.get_rings(part)]
            for part in shapely.get_parts(each.geometry)
        ]
        for each in areas
    }
    chance = random.Random(3)
    for _ in range(400):
        point = (chance.uniform(-74.3, -73.65), chance.uniform(40.48, 40.95))
        expected = [
            any(point_in_rings(point, part) for part in rings[each.number]) for each in areas
        ]
        assert places.answers(at(list(point)), [each.number for each in areas]) == expected


DISTANCES = [
    # between landmarks, by what maps say
    ("TimesSquare", "EmpireStateBuilding", 1_050, 60),
    ("TimesSquare", "StatueOfLiberty", 9_120, 100),
    ("YankeeStadium", "CitiField", 10_500, 200),
    ("GrandCentralTerminal", "PennStation", 1_400, 60),
]


@pytest.mark.parametrize(("one", "other", "metres", "give"), DISTANCES)
def test_landmarks_are_as_far_apart_as_they_are(
    one: str, other: str, metres: int, give: int
) -> None:
    places = loaded(built_in=True)
    position = at(list(places.place(one).point or ()))
    assert abs(places.distance_m(position, places.place(other).number) - metres) < give


def test_runways_are_in_their_airports() -> None:
    places = loaded(built_in=True)
    for airport, ends in {
        "JFKAirport": [(-73.8167, 40.6484), (-73.7712, 40.6279), (-73.7902, 40.6577)],
        "LaGuardiaAirport": [(-73.8841, 40.7692), (-73.8785, 40.7823), (-73.8726, 40.7772)],
        "NewarkAirport": [(-74.1687, 40.6925)],
    }.items():  # fmt: skip
        for end in ends:
            assert places.region(airport).holds(at(list(end)))
            assert places.region("Airport").holds(at(list(end)))


def test_the_outlines_are_what_the_script_makes() -> None:
    if shutil.which("npm") is None:
        pytest.skip("install npm to make the outlines of the boroughs again")
    try:
        topology = boroughs.fetched()
    except (OSError, subprocess.SubprocessError):
        pytest.skip("npm cannot fetch us-atlas, of which the outlines of the boroughs are made")
    assert boroughs.written(boroughs.outlines(topology)) == boroughs.DATA.read_text(
        encoding="utf-8"
    )


def test_an_unknown_region_gets_a_word_on_gazetteers() -> None:
    matcher = tamis.Matcher(spatial.operators())
    for where in ("locIn(Foo)", "locWithin(Foo, 5m)"):
        with pytest.raises(
            tamis.SubscriptionError, match=r"'Foo'; bring places of your own by TAMIS_GAZ"
        ):
            matcher.subscribe(where)
    with pytest.raises(tamis.SubscriptionError, match=r"'Bronks'; did you mean Bronx\?"):
        matcher.subscribe("locIn(Bronks)")
