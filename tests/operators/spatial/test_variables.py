"""Variables stand for places: what they give is what constants say, from one call."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.limits import Limits
from tamis_operators import spatial
from tamis_operators.spatial.configuration import configured
from tamis_operators.spatial.gazetteer import gazetteer_of
from tests.operators.spatial.oracle import box, collection, feature, line

ZOO = {"position": [-73.8770, 40.8506]}


def asking(*texts: str, **settings: Any) -> tamis.Matcher:
    matcher = tamis.Matcher(spatial.operators(), memo_bytes=0, **settings)
    matcher.subscribe_many({"id": text, "where": text} for text in texts)
    return matcher


def positions(count: int) -> list[Any]:
    random_ = random.Random(7)

    def at() -> list[float]:
        return [random_.uniform(-74.3, -73.6), random_.uniform(40.4, 41.0)]

    return [
        at() if number % 3 else {"type": "LineString", "coordinates": [at(), at()]}
        for number in range(count)
    ]


def written(folder: Path, *features: dict[str, Any]) -> Path:
    file = folder / "places.geojson"
    file.write_text(json.dumps(collection(*features)))
    return file


def test_one_call_tells_all_regions_and_decides_a_thousand_names(tmp_path: Path) -> None:
    squares = [
        feature(f"square{x}x{y}", box(x, y, x + 2, y + 2), aliases=[f"other{x}x{y}"])
        for x in range(25)
        for y in range(20)
    ]
    file = written(tmp_path, *squares)
    matcher = tamis.Matcher(spatial.operators(file, built_in=False), memo_bytes=0)
    names = [f"{word}{x}x{y}" for word in ("square", "other") for x in range(25) for y in range(20)]
    matcher.subscribe("locIn(?r)", id="?r")
    matcher.subscribe_many({"id": name, "where": f"not locIn({name})"} for name in names)
    result = matcher.match({"position": [10.5, 10.5]})
    assert len(names) == 1_000
    assert result.account.calls == 1
    inside = {f"{x}x{y}" for x in (9, 10) for y in (9, 10)}
    found = {each.subscription: each.bindings for each in result.matches}
    assert {each["r"] for each in found.pop("?r")} == {f"square{each}" for each in inside}
    assert found.keys() == {
        name for name in names if name.replace("square", "").replace("other", "") not in inside
    }
    corner = {"type": "MultiPoint", "coordinates": [[11, 11], [10, 10]]}
    two = matcher.match({"position": corner})
    assert two.account.calls == 1


@pytest.mark.parametrize(
    ("wide", "narrow", "kinds"),
    [
        ("locIn(?x)", "locIn({})", (2,)),
        ("intersects(?x)", "intersects({})", (1, 2)),
        ("locWithin(?x, 4km)", "locWithin({}, 4km)", (0, 1, 2)),
        ("distanceFrom(?x, ?m), ?m < 3000", "distanceFrom({}, ?m), ?m < 3000", (0, 1, 2)),
    ],
)
def test_variables_give_what_constants_say(wide: str, narrow: str, kinds: tuple[int, ...]) -> None:
    places = [each.name for each in gazetteer_of(configured(())).places if each.dimension in kinds]
    alone = asking(*(narrow.format(name) for name in places))
    with_all = asking(wide, *(narrow.format(name) for name in places))
    only = asking(wide)
    for position in positions(24):
        event = {"position": position}
        each = {match.subscription: match.bindings for match in alone.match(event).matches}
        found = {match.subscription: match.bindings for match in with_all.match(event).matches}
        bindings = found.pop(wide, [])
        assert found == each
        assert {narrow.format(one["x"]) for one in bindings} == each.keys()
        assert [match.bindings for match in only.match(event).matches] == (
            [bindings] if bindings else []
        )


def test_places_come_nearest_first_and_are_cut_where_asked() -> None:
    matcher = asking("distanceFrom(?x, ?m)", "distanceFrom(Bronx, ?m)", limits=Limits(solutions=5))
    result = matcher.match(ZOO)
    cut = next(each for each in result.matches if each.subscription == "distanceFrom(?x, ?m)")
    assert cut.truncated or cut.incomplete or len(cut.bindings) == 5
    far = [each["m"] for each in cut.bindings]
    assert sorted(far) == far
    whole = asking("distanceFrom(?x, ?m)").match(ZOO).matches[0]
    assert [each["x"] for each in whole.bindings[:5]] == [each["x"] for each in cut.bindings]
    assert "distanceFrom(Bronx, ?m)" in [each.subscription for each in result.matches]


def test_joins_and_negations() -> None:
    matcher = asking(
        "locIn(?r), nearest(?kind, ?r, ?m)",
        "locIn(?r) and not locIn(Manhattan)",
        "locWithin(?p, 5km), distanceFrom(?p, ?m), ?m > 0",
    )
    found = {each.subscription: each.bindings for each in matcher.match(ZOO).matches}
    assert {each["r"] for each in found["locIn(?r), nearest(?kind, ?r, ?m)"]} == {
        "Bronx", "NewYork",
    }  # fmt: skip
    assert len(found["locIn(?r) and not locIn(Manhattan)"]) == 2
    near = found["locWithin(?p, 5km), distanceFrom(?p, ?m), ?m > 0"]
    assert near
    assert all(0 < float(each["m"]) <= 5000 for each in near)


def test_far_away_nobody_is_asked() -> None:
    matcher = asking(
        "locIn(?r)", "intersects(?r)", "locWithin(?p, 1km)", "distanceFrom(?p, ?m), ?m < 1km",
        "nearest(park, ?p, ?m), ?m < 1km", "nearest(?k, BronxZoo, ?m), ?m < 1km",
    )  # fmt: skip
    result = matcher.match({"position": [3, 4]})
    assert (result.account.calls, result.account.candidates) == (0, 0)
    assert len(matcher.match(ZOO).matches) == 6


def test_a_bad_position_leaves_each_unknown_with_its_reason() -> None:
    result = asking("locIn(?r)", "locIn(Bronx)", "distanceFrom(?p, ?m)").match(
        {"position": [-73.9, 91]}
    )
    assert len(result.undetermined) == 3
    assert all("latitude" in each.reason for each in result.undetermined)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("locWithin(Bronx, ?d)", "distance of locWithin"),
        ("locIn(Brnox)", "did you mean Bronx"),
        ("distanceFrom(Brnox, ?x)", "did you mean Bronx"),
    ],
)
def test_what_cannot_be_asked(text: str, says: str) -> None:
    with pytest.raises(tamis.SubscriptionError, match=says):
        asking(text)


def test_the_same_with_lines_and_no_areas(tmp_path: Path) -> None:
    street = feature("Street", line([0, 0], [1, 0]))
    file = written(tmp_path, street)
    matcher = tamis.Matcher(spatial.operators(file, built_in=False))
    matcher.subscribe("locIn(?r)", id="in")
    matcher.subscribe("intersects(?r)", id="on")
    result = matcher.match({"position": [0.5, 0]})
    assert [(each.subscription, each.bindings) for each in result.matches] == [
        ("on", [{"r": "Street"}])
    ]


@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_answers_are_the_same_elsewhere(isolation: str) -> None:
    texts = ("locIn(?r)", "locIn(Bronx)", "not locIn(Queens)", "locWithin(?p, 3km)")
    records = [
        replace(each, specification=replace(each.specification, isolation=isolation))
        for each in spatial.operators()
    ]
    events = [{"position": position} for position in positions(12)]
    expected = [
        [(each.subscription, each.bindings) for each in asking(*texts).match(event).matches]
        for event in events
    ]
    with tamis.Matcher(records, memo_bytes=0, workers=2) as matcher:
        matcher.subscribe_many({"id": text, "where": text} for text in texts)
        results = list(matcher.match_many(events))
    assert [
        [(each.subscription, each.bindings) for each in result.matches] for result in results
    ] == expected
