"""A gazetteer that changes is taken anew, at once, while events are matched."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis_operators import spatial
from tamis_operators.spatial import PlaceSource
from tests.operators.spatial.oracle import box, collection, feature, polygon


def write(file: Path, **places: Any) -> None:
    features = [feature(name, geometry, kind="k") for name, geometry in places.items()]
    new = file.with_suffix(".new")
    new.write_text(json.dumps(collection(*features)))
    new.replace(file)


def matcher_of(file: Path, *texts: str, **settings: Any) -> tamis.Matcher:
    matcher = tamis.Matcher(spatial.operators(file, built_in=False), **settings)
    matcher.subscribe_many({"id": text, "where": text, "note": text} for text in texts)
    return matcher


def verdicts(result: tamis.Result) -> list[str]:
    return [each.subscription for each in result.matches]


HERE = {"position": [0.5, 0.5]}
THERE = {"position": [10.5, 10.5]}


def test_a_place_that_moved_is_where_it_is_now(tmp_path: Path) -> None:
    file = tmp_path / "places.geojson"
    write(file, Harbor=box(0, 0, 1, 1), Sea=box(-1, -1, 2, 2))
    texts = ("locIn(Harbor)", "not locIn(Harbor)", "locIn(?r)", "locIn(Sea) and altitude < 3")
    matcher = matcher_of(file, *texts)
    assert verdicts(matcher.match(HERE)) == ["locIn(?r)", "locIn(Harbor)"]
    assert verdicts(matcher.match(THERE)) == ["not locIn(Harbor)"]
    assert matcher.refresh() == []
    write(file, Harbor=box(10, 10, 11, 11), Sea=box(-1, -1, 2, 2))
    assert verdicts(matcher.match(HERE)) == ["locIn(?r)", "locIn(Harbor)"]
    assert matcher.refresh() == [
        "distanceFrom", "intersects", "locIn", "locWithin", "nearest",
    ]  # fmt: skip
    assert verdicts(matcher.match(THERE)) == ["locIn(?r)", "locIn(Harbor)"]
    assert verdicts(matcher.match(HERE)) == ["locIn(?r)", "not locIn(Harbor)"]
    assert matcher.subscription("locIn(Harbor)").data == {"note": "locIn(Harbor)"}
    fresh = matcher_of(file, *texts)
    for event in (HERE, THERE, {"position": [0.5, 0.5], "altitude": 2}):
        assert verdicts(matcher.match(event)) == verdicts(fresh.match(event))


def test_what_was_found_before_is_explained_by_the_places_of_then(tmp_path: Path) -> None:
    file = tmp_path / "places.geojson"
    write(file, Harbor=box(0, 0, 1, 1))
    matcher = matcher_of(file, "locIn(Harbor)", "not locIn(Harbor)")
    here, there = matcher.match(HERE), matcher.match(THERE)
    before = [str(each.explain("not locIn(Harbor)")) for each in (here, there)]
    write(file, Harbor=box(10, 10, 11, 11))
    assert matcher.refresh()
    assert [str(each.explain("not locIn(Harbor)")) for each in (here, there)] == before
    assert "the call gave true" in before[0]
    assert "not called: it declares position.west in " in before[1]


def test_a_place_that_vanished_is_unknown_and_may_come_back(tmp_path: Path) -> None:
    file = tmp_path / "places.geojson"
    write(file, Harbor=box(0, 0, 1, 1), Sea=box(-1, -1, 2, 2))
    matcher = matcher_of(file, "locIn(Harbor)", "not locIn(Harbor)", "locIn(Sea)", "locIn(?r)")
    write(file, Sea=box(-1, -1, 2, 2))
    assert matcher.refresh()
    result = matcher.match(HERE)
    assert verdicts(result) == ["locIn(?r)", "locIn(Sea)"]
    assert result.matches[0].bindings == [{"r": "Sea"}]
    unknown = {each.subscription: each.reason for each in result.undetermined}
    assert unknown.keys() == {"locIn(Harbor)", "not locIn(Harbor)"}
    assert "not taken any more: locIn: unknown region 'Harbor'" in unknown["locIn(Harbor)"]
    with pytest.raises(tamis.SubscriptionError, match="unknown region 'Harbor'"):
        matcher.subscribe("locIn(Harbor) and a = 1")
    write(file, Harbor=box(0, 0, 1, 1), Sea=box(-1, -1, 2, 2))
    assert matcher.refresh()
    assert verdicts(matcher.match(HERE)) == ["locIn(?r)", "locIn(Harbor)", "locIn(Sea)"]
    assert not matcher.match(HERE).undetermined


def test_remembered_answers_and_implications_are_dropped(tmp_path: Path) -> None:
    file = tmp_path / "places.geojson"
    write(file, Pier=box(0.4, 0.4, 0.6, 0.6), Harbor=box(0, 0, 1, 1))
    matcher = matcher_of(file, "locIn(Pier)", "locIn(Harbor)")
    assert verdicts(matcher.match(HERE)) == ["locIn(Harbor)", "locIn(Pier)"]
    assert matcher.match(HERE).account.calls == 0
    write(file, Pier=box(0.4, 0.4, 0.6, 0.6), Harbor=box(0, 0, 0.45, 1))
    matcher.refresh()
    again = matcher.match(HERE)
    assert again.account.calls > 0
    assert verdicts(again) == ["locIn(Pier)"]


def test_after_any_changes_it_is_as_if_it_had_been_read_so(tmp_path: Path) -> None:
    random_ = random.Random(11)
    names = [f"R{number}" for number in range(6)]
    atoms = [
        *(f"locIn({name})" for name in names), *(f"locWithin({name}, 90km)" for name in names[:3]),
        "locIn(?r)", "locWithin(?p, 90km)", "distanceFrom(?p, ?m), ?m < 90000",
        "locIn(?r), distanceFrom(?r, ?m)", "nearest(k, ?n, ?m), ?m < 90km",
    ]  # fmt: skip
    texts = {
        *atoms,
        *(f"not {each}" for each in atoms[:6]),
        *(f"{one} and {other}" for one, other in zip(atoms[:8], atoms[3:], strict=False)),
        *(f"a > 1 and {each}" for each in atoms[:4]),
    }
    file = tmp_path / "places.geojson"

    def changed() -> None:
        places = {}
        for name in random_.sample(names, random_.randint(4, 6)):
            x, y = random_.randint(0, 2), random_.randint(0, 2)
            corner = box(x, y, x + 2, y + 2)
            triangle = polygon((x, y), (x + 2, y), (x, y + 2))
            places[name] = random_.choice((corner, triangle))
        elsewhere = {name: box(50, 50, 51, 51) for name in names if name not in places}
        write(file, **places, **elsewhere, Fixed=box(0, 0, 1, 1))

    changed()
    matcher = matcher_of(file, *texts)
    for _ in range(8):
        changed()
        matcher.refresh()
        fresh = matcher_of(file, *texts)
        for _ in range(12):
            x, y = random_.uniform(-0.5, 4.5), random_.uniform(-0.5, 4.5)
            event = {"position": [x, y], "a": random_.randint(0, 3)}
            mine, other = matcher.match(event), fresh.match(event)
            assert {each.subscription: each.bindings for each in mine.matches} == {
                each.subscription: each.bindings for each in other.matches
            }
            assert not mine.undetermined


def test_what_cannot_be_read_leaves_the_old_places(tmp_path: Path) -> None:
    file = tmp_path / "places.geojson"
    write(file, Harbor=box(0, 0, 1, 1))
    matcher = matcher_of(file, "locIn(Harbor)")
    for broken in ("{", None):
        if broken is None:
            file.unlink()
        else:
            file.write_text(broken)
        with pytest.warns(tamis.PluginWarning, match="operators stay as they are: "):
            assert matcher.refresh() == []
        assert verdicts(matcher.match(HERE)) == ["locIn(Harbor)"]


def test_a_table_is_asked_again_and_validity_stays(tmp_path: Path) -> None:
    path = tmp_path / "places.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table places (name, geometry)")
        connection.execute("insert into places values ('Pier', 'POINT (0.5 0.5)')")
    source = PlaceSource(query="select * from places", connect=partial(sqlite3.connect, path))
    now = [100.0]
    matcher = tamis.Matcher(spatial.operators(source, built_in=False), clock=lambda: now[0])
    matcher.subscribe("locWithin(Pier, 1km)", id="near", validity=50)
    assert verdicts(matcher.match(HERE)) == ["near"]
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update places set geometry = 'POINT (9 9)'")
    assert "locWithin" in matcher.refresh()
    assert verdicts(matcher.match(HERE)) == []
    assert verdicts(matcher.match({"position": [9, 9]})) == ["near"]
    now[0] = 151.0
    assert len(matcher) == 0


def test_no_match_sees_two_versions(tmp_path: Path) -> None:
    file = tmp_path / "places.geojson"
    both = [
        {f"R{number}": box(0, 0, 1, 1) for number in range(40)},
        {f"R{number}": box(10, 10, 11, 11) for number in range(40)},
    ]
    write(file, **both[0])
    matcher = matcher_of(file, *(f"locIn(R{number})" for number in range(40)), "locIn(?r)")
    seen: set[int] = set()
    ended = threading.Event()
    problems: list[object] = []

    def matching() -> None:
        try:
            while not ended.is_set():
                seen.add(len(matcher.match(HERE).matches))
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=matching)
    thread.start()
    for turn in range(1, 9):
        write(file, **both[turn % 2])
        assert matcher.refresh()
    ended.set()
    thread.join()
    assert not problems
    assert seen <= {0, 41}
    assert len(matcher.match(HERE).matches) == 41


def test_it_is_refreshed_every_so_often(tmp_path: Path) -> None:
    file = tmp_path / "places.geojson"
    write(file, Harbor=box(0, 0, 1, 1))
    matcher = matcher_of(file, "locIn(Harbor)")
    with matcher.refreshing(0.01):
        write(file, Harbor=box(10, 10, 11, 11))
        ends = time.monotonic() + 30
        while not verdicts(matcher.match(THERE)) and time.monotonic() < ends:
            time.sleep(0.01)
    assert verdicts(matcher.match(THERE)) == ["locIn(Harbor)"]
    assert "tamis-refreshing" not in [each.name for each in threading.enumerate()]
