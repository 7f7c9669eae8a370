"""The operators in a matcher: one invocation for all regions, failures with a reason, travel."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.operators.shipping import packed, unpacked
from tamis_operators import spatial
from tests.operators.spatial.oracle import box, collection, feature, line

BRONX = [-73.897, 40.8448]
RECORDS = {each.specification.name: each for each in spatial.operators(())}


def solutions(predicate: str, event: Mapping[str, Any]) -> object:
    """Whether a predicate holds, or the values of its variables, as a matcher finds them."""
    matcher = tamis.Matcher(spatial.operators(()))
    matcher.subscribe(predicate, id="s")
    result = matcher.match(event)
    assert not result.undetermined
    if "?" not in predicate:
        return bool(result.matches)
    found = [tuple(each.values()) for match in result.matches for each in match.bindings]
    return [each[0] if len(each) == 1 else each for each in found]


SAMPLES = [
    (name, sample) for name, record in RECORDS.items() for sample in record.factory().samples()
]


@pytest.mark.parametrize(("name", "sample"), SAMPLES)
def test_samples(name: str, sample: tamis.Sample) -> None:
    found = solutions(sample.predicate, sample.event)
    assert sample.predicate.startswith(name)
    assert found == sample.answer or sample.answer is ...


def test_every_operator_has_samples() -> None:
    assert {name for name, _ in SAMPLES} == set(RECORDS)


def test_the_paper_s_predicates() -> None:
    assert solutions("locIn(Bronx)", {"position": BRONX}) is True
    assert solutions("locWithin(TimesSquare,5000m)", {"position": [-73.98, 40.75]}) is True
    assert solutions("locWithin(TimesSquare,5000m)", {"position": BRONX}) is False
    found = solutions("distanceFrom(StatueOfLiberty,?x), (?x<1000m)", {"position": [-74.05, 40.69]})
    assert isinstance(found, list)
    assert 400 < found[0] < 500
    assert solutions("not locIn(Airport)", {"position": BRONX}) is True
    far = solutions("distanceFrom(LaGuardiaAirport, ?x)", {"position": BRONX})
    assert isinstance(far, list)
    nearest = solutions("nearest(airport, ?name, ?far), ?far < 10km", {"position": BRONX})
    assert nearest == [("LaGuardiaAirport", *far)]


def grid(folder: Path, side: int) -> Path:
    file = folder / "grid.geojson"
    cells = [
        feature(f"c{x}_{y}", box(x, y, x + 1, y + 1)) for x in range(side) for y in range(side)
    ]
    file.write_text(json.dumps(collection(*cells)))
    return file


def test_all_regions_are_one_invocation(tmp_path: Path) -> None:
    matcher = tamis.Matcher(spatial.operators(grid(tmp_path, 15), built_in=False), memo_bytes=0)
    for x in range(15):
        for y in range(15):
            matcher.subscribe(f"locIn(c{x}_{y}) and level > {y}", id=f"{x}_{y}")
    result = matcher.match({"position": [3.5, 4.5], "level": 100})
    assert [each.subscription for each in result.matches] == ["3_4"]
    assert result.account.invocations == 1
    corner = matcher.match({"position": [3, 4], "level": 100})
    assert len(corner.matches) == 4
    assert corner.account.invocations == 1


def test_without_a_position_nothing_is_called() -> None:
    matcher = tamis.Matcher(spatial.operators(()))
    matcher.subscribe("locIn(Bronx) or distanceFrom(Bronx, ?x)", id="s")
    result = matcher.match({"place": BRONX})
    assert (result.account.calls, len(result.matches), len(result.undetermined)) == (0, 0, 0)


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        ([0, 91], "latitude 91 is not between"),
        (
            {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]},
            "Self-inter",
        ),
        ({"type": "LineString", "coordinates": [[0, 0]] * 100_000}, "more than 10,000 vertices"),
    ],
)
def test_a_bad_position_is_unknown_with_a_reason(position: object, reason: str) -> None:
    matcher = tamis.Matcher(spatial.operators(()))
    for where in (
        *("locIn(Bronx)", "not locIn(Queens)", "locWithin(Bronx, 5)"),
        *("nearest(park, ?n, ?m)", "distanceFrom(Bronx, ?x)", "intersects(Bronx)"),
    ):
        matcher.subscribe(where, id=where)
    result = matcher.match({"position": position})
    assert len(result.matches) == 0
    assert len(result.undetermined) == 6
    for each in result.undetermined:
        assert "GeometryError: the position cannot be used: " in each.reason
        assert reason in each.reason


def test_how_many_vertices_is_a_setting() -> None:
    matcher = tamis.Matcher(spatial.operators((), max_vertices=3))
    matcher.subscribe("intersects(Bronx)", id="s")
    short, long = line(BRONX, (-73, 41), (-72, 41)), line(BRONX, (-73, 41), (-72, 41), (-71, 40))
    assert len(matcher.match({"position": short}).matches) == 1
    assert "more than 3 vertices" in matcher.match({"position": long}).undetermined[0].reason


def test_containment_spares_calls() -> None:
    """Whatever is asked first: inside Central Park, the borough and the city need no call."""
    matcher = tamis.Matcher(spatial.operators(()), memo_bytes=0)
    matcher.subscribe("locIn(CentralPark)", id="park")
    matcher.subscribe("locIn(Manhattan)", id="borough")
    matcher.subscribe("locIn(NewYork)", id="city")
    park = matcher.match({"position": [-73.9654, 40.7829]})
    assert len(park.matches) == 3
    outside = matcher.match({"position": [10, 10]})
    assert len(outside.matches) == 0
    assert park.account.invocations + outside.account.invocations <= 4


def test_the_memo_keeps_answers() -> None:
    matcher = tamis.Matcher(spatial.operators(()))
    matcher.subscribe("locIn(Bronx)", id="s")
    assert matcher.match({"position": BRONX}).account.calls == 1
    again = matcher.match({"position": BRONX})
    assert (again.account.calls, len(again.matches)) == (0, 1)


def test_several_threads_get_the_same_answers(tmp_path: Path) -> None:
    matcher = tamis.Matcher(spatial.operators(grid(tmp_path, 8), built_in=False), memo_bytes=0)
    for x in range(8):
        for y in range(8):
            matcher.subscribe(f"locIn(c{x}_{y})", id=f"in {x}_{y}")
            matcher.subscribe(f"intersects(c{x}_{y})", id=f"on {x}_{y}")
    events: list[dict[str, object]] = [{"position": [at / 25, at % 8 + 0.5]} for at in range(200)]
    events += [{"position": line((at / 25, 0.5), (at / 25 + 0.5, 3.5))} for at in range(100)]

    def matched(event: Mapping[str, Any]) -> list[str]:
        return [each.subscription for each in matcher.match(event).matches]

    expected = [matched(event) for event in events]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(matched, events * 3)) == expected * 3


TRAVELLED = """
import sys, json
from tamis import Matcher
from tamis.operators.shipping import unpacked
matcher = Matcher(unpacked(sys.stdin.buffer.read()))
matcher.subscribe("locIn(Bronx) and nearest(park, ?name, ?far)", id="s")
print(json.dumps(matcher.match({"position": [-73.897, 40.8448]}).matches[0].bindings))
"""


def test_operators_travel_by_name() -> None:
    content = packed(RECORDS.values())
    assert len(content) < 4_000
    assert [each.specification.name for each in unpacked(content)] == list(RECORDS)
    run = subprocess.run(
        [sys.executable, "-c", TRAVELLED], input=content, capture_output=True, check=True
    )
    (bindings,) = json.loads(run.stdout)
    assert bindings["name"] == "BronxZoo"


def test_listing_them_imports_nothing_heavy() -> None:
    program = (
        "import sys, tamis_operators.spatial\n"
        "assert len(tamis_operators.spatial.tamis_operators()) >= 5\n"
        "print(*{'shapely', 'pyproj'} & sys.modules.keys())"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert run.stdout.split() == []


def test_what_is_missing_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "pyproj" else found(name, *a)
    )
    matcher = tamis.Matcher(spatial.operators(()))
    with pytest.raises(
        tamis.SubscriptionError,
        match=r"locIn needs pyproj, which is not installed: pip install 'tamis\[spatial\]'",
    ):
        matcher.subscribe("locIn(Bronx)")
