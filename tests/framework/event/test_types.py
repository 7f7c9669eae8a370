"""Event types: what does not fit is refused with the reason, what cannot hold is warned of."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis import Event, EventError, EventType, Matcher, NeverMatches, TamisError
from tamis.event.types import read_types

FRAME = EventType(
    "frame",
    attributes={
        "altitude": ("number", (0, 500)),
        "camera": ("string", ["uav-1", "uav-2"]),
        "tags": "array",
        "night": "boolean",
        "level": ("number", [1, 2, 5]),
    },
    required=("altitude",),
)
NOTE = EventType("note", attributes={"text": "string", "altitude": ("number", (0, 9))})


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        ({"altitude": 0, "camera": "uav-2", "tags": [1], "night": True, "other": {}}, None),
        ({"altitude": 500.0, "level": 5.0}, None),
        ({}, "altitude is absent"),
        ({"altitude": None}, "altitude is absent"),
        ({"altitude": 501}, "altitude is 501, not from 0 to 500"),
        ({"altitude": "3"}, "altitude is not a number"),
        ({"altitude": True}, "altitude is not a number"),
        ({"altitude": 3, "camera": "uav-3"}, "camera is 'uav-3', not one of 'uav-1', 'uav-2'"),
        ({"altitude": 3, "camera": ["uav-1"]}, "camera is not a string"),
        ({"altitude": 3, "tags": "fire"}, "tags is not an array of scalars"),
        ({"altitude": 3, "night": 1}, "night is not a boolean"),
        ({"altitude": 3, "level": 3}, "level is 3, not one of 1, 2, 5"),
    ],
)
def test_what_fits_and_why_it_does_not(event: dict[str, Any], problem: str | None) -> None:
    assert FRAME.problem(Event(event, "e")) == problem


def test_an_event_that_fits_no_type_is_refused_with_each_reason() -> None:
    matcher = Matcher(operators=[], types=[FRAME, NOTE])
    matcher.subscribe("altitude < 400", id="low")
    assert matcher.match({"altitude": 300}).matches
    assert matcher.match({"text": "hello"}).event
    words = "it is not of type frame: altitude is 700, not from 0 to 500; it is not of type note:"
    with pytest.raises(EventError, match=f"the event fits no type: {words}"):
        matcher.match({"altitude": 700})


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("altitude > 500", False),
        ("altitude >= 500", True),
        ("altitude < 0 or altitude > 600", False),
        ("altitude < 0 or altitude > 6", True),
        ('altitude = "low"', False),
        ("camera = uav", False),
        ('camera starts with "uav" and camera != "uav-1"', True),
        ('camera starts with "uav" and camera not in {"uav-1", "uav-2"}', False),
        ("level > 2 and level < 5", False),
        ("level > 2 and level <= 5", True),
        ("tags has fire", True),
        ("altitude has 3", False),
        ("tags = fire", False),
        ("exists(camera) and not exists(level)", True),
        ("not exists(altitude)", False),
        ("night = true", True),
        ("night = 1", False),
        ("(altitude > 700 or level = 3) and (camera = x or night = true)", False),
        ("(altitude > 700 or level = 5) and (camera = x or night = true)", True),
        ("unheard = 3", True),
    ],
)
def test_a_condition_that_can_hold_for_no_type_is_warned_of(where: str, holds: bool) -> None:
    matcher = Matcher(operators=[], types=[FRAME])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        matcher.subscribe(where, id="s")
    said = [str(each.message) for each in caught if issubclass(each.category, NeverMatches)]
    assert said == [] if holds else said == ["subscription 's' can hold for no event type (frame)"]
    assert len(matcher) == 1


def test_one_type_that_allows_a_condition_is_enough() -> None:
    matcher = Matcher(operators=[], types=[FRAME, NOTE])
    matcher.subscribe("not exists(altitude)")
    with pytest.warns(NeverMatches, match="never matches") as caught:
        matcher.subscribe("altitude > 3 and altitude < 2")
    assert len(caught) == 1


VALUES = st.sampled_from([-1, 0, 3, 500, 501, 1, 2, 5, "uav-1", "uav-3", True, None, [1], ["x"]])
EVENTS = st.dictionaries(st.sampled_from(list(FRAME.attributes)), VALUES)
TEXTS = st.sampled_from(
    [
        *("altitude > 3", "altitude <= 3", "altitude = 501", "altitude != 3", "not exists(level)"),
        *("level in {1, 7}", "level > 4", 'camera = "uav-1"', 'camera != "uav-1"', "tags has 1"),
        *('camera ends with "3"', "night = true", "exists(tags)", "altitude in [490, 600]"),
        *("tags has none {1}", "(level = 1 or level = 2)", "(altitude < 0 or night = false)"),
    ]
)


@given(event=EVENTS, texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_what_matches_an_event_of_a_type_is_never_warned_of(
    event: dict[str, Any], texts: list[str]
) -> None:
    if FRAME.problem(Event(event, "e")) is not None:
        return
    matcher = Matcher(operators=[], types=[FRAME])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        matcher.subscribe(" and ".join(texts))
    if matcher.match(event).matches:
        assert [str(each.message) for each in caught] == []


@pytest.mark.parametrize(
    ("attributes", "required", "said"),
    [
        ({"a": "text"}, (), "a kind is one of number, string, boolean, array, not 'text'"),
        ({"a": ("number", (5, 1))}, (), "an interval is its lower and upper bound"),
        ({"a": ("number", (1, 2, 3))}, (), "an interval is its lower and upper bound"),
        ({"a": ("string", [1])}, (), "1 of its domain is not a string"),
        ({"a": ("string", [])}, (), "a domain has at least one value"),
        ({"a": ("string", "x")}, (), "two bounds or a list of values"),
        ({"a": "string"}, ("b",), "requires b, which it does not declare"),
    ],
)
def test_declarations_that_cannot_be(attributes: Any, required: Any, said: str) -> None:
    with pytest.raises(TamisError, match=said):
        EventType("t", attributes, required)


def test_types_have_names_of_their_own() -> None:
    with pytest.raises(TamisError, match="two event types have the name frame"):
        Matcher(operators=[], types=[FRAME, EventType("frame", {})])
    with pytest.raises(TamisError, match="types are "):
        Matcher(operators=[], types=["frame"])  # type: ignore[list-item]
    assert repr(NOTE) == "<event type note: text, altitude>"


def test_listed_values_are_the_tables_of_counting() -> None:
    for options, values in (({}, {"uav-1", "uav-2"}), ({"domains": {"camera": ["x"]}}, set())):
        matcher = Matcher(operators=[], types=[FRAME], index="counting", index_options=options)
        matcher.subscribe('camera != "uav-1" and altitude > 3', id="s")
        for camera in ("uav-1", "uav-2"):
            event = {"altitude": 9, "camera": camera}
            assert bool(matcher.match(event).matches) is (camera == "uav-2")
        index: Any = matcher._sieve._all
        assert {value for _, value in index._columns["camera"].rows} == values


def test_types_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "types.json"
    frame = {
        "name": "frame",
        "attributes": {"altitude": ["number", [0, 500]], "camera": ["string", ["a", "b"]]},
        "required": ["altitude"],
    }
    path.write_text(json.dumps([frame, {"name": "any"}]))
    first, second = read_types(path)
    assert first.problem(Event({"altitude": 250}, "e")) is None
    assert first.problem(Event({"altitude": 501}, "e")) == "altitude is 501, not from 0 to 500"
    assert second.problem(Event({"altitude": "x"}, "e")) is None
    path.write_text(json.dumps(frame))
    assert [each.name for each in read_types(path)] == ["frame"]
    for wrong in ("[", '{"nam": "x"}', "[3]", '{"name": "x", "attributes": 3}'):
        path.write_text(wrong)
        with pytest.raises(TamisError, match=r"types\.json"):
            read_types(path)
    assert tamis.EventType is EventType
