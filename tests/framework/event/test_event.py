"""Events: attributes, paths, content, envelopes, ids, and what operators see of them."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import tamis
from tamis import DerivedAttribute, Event, EventError
from tamis.event import EventView, freeze, itself, plain_name
from tamis.files.reading import read_event_line


def event(document: object, **derived: Any) -> Event:
    attributes = {name: DerivedAttribute(name, derive) for name, derive in derived.items()}
    return Event.of(document, lambda: "made-up", attributes)


@pytest.mark.parametrize("value", ["a", "", 3, 0, 2.5, math.inf, True, False, 2**53 + 1])
def test_scalars_are_attributes(value: object) -> None:
    assert event({"a": value}).scalar("a") == value
    assert event({"a": value}).present("a")


@pytest.mark.parametrize("value", [None, math.nan, np.float64("nan")])
def test_null_and_nan_are_absent(value: object) -> None:
    assert event({"a": value}).scalar("a") is None
    assert not event({"a": value}).present("a")


@pytest.mark.parametrize("value", [[], [1], {}, {"b": 1}, b"bytes", np.zeros(3)])
def test_other_values_are_content(value: object) -> None:
    assert event({"a": value}).scalar("a") is None
    assert event({"a": value}).present("a")


@pytest.mark.parametrize(
    ("value", "elements"),
    [
        ([1, "a", True], (1, "a", True)),
        ((1, 2), (1, 2)),
        ([], ()),
        ([1, None, math.nan], (1,)),
        (np.array([1, 2]), (1, 2)),
        (np.array(["a"]), ("a",)),
        *((value, None) for value in ([[1]], [{"a": 1}], 3, "abc", {"a": 1}, None, b"ab")),
        (np.zeros((2, 2)), None),
    ],
)
def test_arrays_of_scalars(value: object, elements: tuple[object, ...] | None) -> None:
    assert event({"a": value}).array("a") == elements


def test_a_dotted_name_is_a_key_or_a_path() -> None:
    assert event({"meta.speed": 3, "meta": {"speed": 4}}).scalar("meta.speed") == 3
    assert event({"meta": {"speed": 4}}).scalar("meta.speed") == 4
    assert event({"a": {"b": {"c": 5}}}).scalar("a.b.c") == 5
    assert event({"a": {"b": {"c": 5}}}).present("a.b")
    assert event({"meta": {"speed": None}}).scalar("meta.speed") is None
    assert event({"meta": 3}).scalar("meta.speed") is None
    assert event({"a": {"b": [1]}}).array("a.b") == (1,)


def test_elements_of_arrays_are_not_addressed() -> None:
    assert event({"a": [{"b": 1}]}).scalar("a.0.b") is None
    assert event({"a": [{"b": 1}]}).scalar("a.b") is None


def test_large_numbers() -> None:
    assert event({"a": 10**999}).scalar("a") == 10**999
    assert event({"a": 10**1000}).scalar("a") == math.inf
    assert event({"a": -(10**5000)}).scalar("a") == -math.inf


def test_a_derived_attribute_is_made_when_it_is_asked_for() -> None:
    asked: list[str] = []

    def length(given: Event) -> int:
        asked.append(given.id)
        return len(str(given.value("text")))

    given = event({"id": "e", "text": "abc"}, length=length)
    assert not asked
    assert given.scalar("length") == 3
    assert given.scalar("length") == 3
    assert asked == ["e"]
    assert event({"length": 9, "text": "abc"}, length=length).scalar("length") == 9


# ids and envelopes


@pytest.mark.parametrize(
    ("id", "text"), [("e1", "e1"), (7, "7"), (2.5, "2.5"), (None, "made-up"), (math.nan, "made-up")]
)
def test_an_id_is_text(id: object, text: str) -> None:
    given = event({"id": id, "a": 1})
    assert given.id == text
    assert given.scalar("a") == 1


def test_a_number_in_id_is_its_text_for_conditions_too() -> None:
    assert event({"id": 7}).scalar("id") == "7"


@pytest.mark.parametrize("id", [True, [1], {"a": 1}])
def test_other_ids_are_refused(id: object) -> None:
    with pytest.raises(EventError, match="the id of an event is a string or a number, not a"):
        event({"id": id})


@pytest.mark.parametrize(
    ("document", "says"),
    [
        *(
            (None, "null"),
            (3, "a number"),
            ("a", "a string"),
            ([{}], "an array"),
            (True, "boolean"),
        ),
    ],
)
def test_an_event_is_an_object(document: object, says: str) -> None:
    with pytest.raises(EventError, match=f"an event is an object, and this is .*{says}"):
        event(document)


def test_any_mapping_is_an_event() -> None:
    assert event(MappingProxyType({"id": "e", "a": 1})).scalar("a") == 1


def test_a_cloud_events_envelope_is_opened() -> None:
    given = event(
        {
            "specversion": "1.0",
            "id": "outer",
            "time": "2024-03-01T00:00:00Z",
            "type": "frame",
            "source": "/camera",
            "subject": "harbor",
            "other": 1,
            "data": {"id": "inner", "time": "1999-01-01T00:00:00Z", "type": "mine", "a": 3},
        }
    )
    assert given.id == "outer"
    assert given.scalar("time") == "2024-03-01T00:00:00Z"
    assert given.scalar("a") == 3
    assert given.scalar("type") == "mine"
    assert given.scalar("source") == "/camera"
    assert given.scalar("subject") == "harbor"
    assert not given.present("other")
    assert not given.present("data")
    assert not given.present("specversion")


def test_an_envelope_needs_not_have_an_id_or_a_time() -> None:
    given = event({"specversion": "1.0", "data": {"id": "inner", "time": "now"}})
    assert given.id == "inner"
    assert given.scalar("time") == "now"


def test_data_alone_or_specversion_alone_make_no_envelope() -> None:
    assert event({"data": {"a": 1}}).scalar("data.a") == 1
    assert event({"specversion": "1.0"}).scalar("specversion") == "1.0"


@pytest.mark.parametrize("data", [None, 3, "text", [1]])
def test_the_data_of_an_envelope_is_an_object(data: object) -> None:
    with pytest.raises(EventError, match="data of a CloudEvents envelope"):
        event({"specversion": "1.0", "data": data})


# what operators see


def view(document: Mapping[str, Any], inputs: tuple[str, ...] | None) -> EventView:
    return event(document).view(inputs)


def test_a_view_shows_declared_inputs_only() -> None:
    shown = view({"id": "e", "a": 1, "b": 2}, ("a", "c"))
    assert shown["a"] == 1
    assert shown.id == "e"
    assert dict(shown) == {"a": 1}
    assert len(shown) == 1
    assert "b" not in shown
    assert shown.get("c") is None
    with pytest.raises(KeyError, match="does not declare 'b'"):
        shown["b"]
    with pytest.raises(KeyError, match="the event has no 'c'"):
        shown["c"]


def test_a_view_without_declared_inputs_shows_all() -> None:
    assert dict(view({"a": 1, "b": {"c": [2]}}, None)) == {"a": 1, "b": {"c": [2]}}


def test_a_view_follows_paths() -> None:
    assert view({"meta": {"speed": 3}}, ("meta.speed",))["meta.speed"] == 3


def test_a_view_cannot_be_changed() -> None:
    document: dict[str, Any] = {"list": [1, [2]], "object": {"a": {"b": 1}}, "array": np.zeros(2)}
    before = json.dumps({"list": document["list"], "object": document["object"]})
    shown = view(document, None)
    with pytest.raises(TypeError):
        shown["x"] = 1  # type: ignore[index]
    changes: tuple[Callable[[], object], ...] = (
        lambda: shown["list"].append(1),
        lambda: shown["list"][1].append(1),
        lambda: shown["list"].__setitem__(0, 9),
        lambda: shown["list"].sort(),
        lambda: shown["object"].__setitem__("c", 1),
        lambda: shown["object"]["a"].update(b=2),
        lambda: shown["object"].pop("a"),
        lambda: shown["object"].__ior__({"x": 1}),
    )
    for change in changes:
        with pytest.raises(TypeError, match="cannot change the event"):
            change()
    with pytest.raises(ValueError, match="read-only"):
        shown["array"][0] = 1
    assert json.dumps({"list": document["list"], "object": document["object"]}) == before
    assert document["array"].tolist() == [0, 0]


def test_times_of_numpy_are_shown_read_only() -> None:
    event = Event.of({"at": np.array(["2026-01-01"], "datetime64[D]")}, lambda: "e", {})
    shown = event.view(None)["at"]
    assert str(shown[0]) == "2026-01-01"
    with pytest.raises(ValueError, match="read-only"):
        shown[0] = shown[0]


def test_a_view_is_plain_data() -> None:
    shown = view({"list": [1, 2], "object": {"a": 1}}, None)
    assert isinstance(shown["list"], list)
    assert isinstance(shown["object"], dict)
    assert json.dumps(dict(shown)) == '{"list": [1, 2], "object": {"a": 1}}'
    assert shown["list"] is shown["list"]


def test_bytearrays_are_shown_as_bytes() -> None:
    assert freeze(bytearray(b"ab")) == b"ab"
    assert isinstance(freeze(bytearray(b"ab")), bytes)


def test_an_event_with_a_null_can_be_read_whole() -> None:
    @tamis.operator
    def count(event: Mapping[str, object]) -> bool:
        return dict(event) == {"a": 1} and len(event) == 1

    matcher = tamis.Matcher([count])
    matcher.subscribe("count()", id="s")
    assert len(matcher.match({"a": 1, "b": None, "c": float("nan")}).matches) == 1
    assert not matcher.match({"a": 1, "b": None, "id": "e"}).undetermined


def test_operators_cannot_change_the_event_and_may_copy_it() -> None:
    @tamis.operator
    def changes(event: Mapping[str, Any]) -> bool:
        event["t"][0]["x"] = 5
        return True

    @tamis.operator
    def paints(event: Mapping[str, Any]) -> bool:
        event["image"].setflags(write=True)
        return True

    @tamis.operator
    def copies(event: Mapping[str, Any]) -> bool:
        meta = copy.deepcopy(event["meta"])
        meta["a"].append(2)
        plain = pickle.loads(pickle.dumps(event["meta"]))
        return meta == {"a": [1, 2]} and plain == {"a": [1]} and type(plain) is dict

    matcher = tamis.Matcher([changes, paints, copies])
    for name in ("changes", "paints", "copies"):
        matcher.subscribe(f"{name}()", id=name)
    event = {"t": ({"x": 1},), "image": np.zeros(3), "meta": {"a": [1]}}
    result = matcher.match(event)
    assert [match.subscription for match in result.matches] == ["copies"]
    assert len(result.undetermined) == 2
    assert event["t"] == ({"x": 1},)


# lines


def test_a_line_of_json() -> None:
    assert read_event_line('{"a": 1, "b": [2.5, null]}') == {"a": 1, "b": [2.5, None]}
    assert read_event_line('{"a": 1e999}') == {"a": math.inf}
    assert read_event_line(f'{{"a": {"9" * 1000}}}') == {"a": 10**1000 - 1}
    assert read_event_line(f'{{"a": {"9" * 5000}}}') == {"a": math.inf}
    assert read_event_line(f'{{"a": -{"9" * 5000}}}') == {"a": -math.inf}
    with pytest.raises(json.JSONDecodeError):
        read_event_line("{")
    with pytest.raises(EventError, match="nested too deep"):
        read_event_line("[" * 100_000)


def test_what_is_derived_can_be_read_itself() -> None:
    taken = event({"a": 1, "double": 7, "\0itself:double": 8}, double=lambda e: 2 * e.value("a"))
    name = itself("double")
    assert (taken.scalar("double"), taken.scalar(name), plain_name(name)) == (7, 2, "double")
    assert taken.present(name)
    assert taken.array(name) is None
    assert event({"\0itself:double": 8}).value(name) is None


@pytest.mark.parametrize(
    ("document", "is_undecided"),
    [
        ({"a": 3, "b": 1}, False),
        ({"a": "x", "b": 1}, True),
        ({"a": [1], "b": 1, "double": 3}, True),
        ({"b": 1}, False),
        ({"a": None, "b": 1}, False),
        ({"a": "x"}, False),
    ],
)
def test_what_cannot_be_made_of_what_is_there_is_undecided(
    document: dict[str, Any], is_undecided: bool
) -> None:
    def derive(given: Event) -> int | None:
        value = given.value("a")
        return value * 2 if isinstance(value, int) else None

    derived = {"double": DerivedAttribute("double", derive, inputs=("a", "b"))}
    taken = Event.of(document, str, derived)
    assert taken.is_undecided(itself("double")) is is_undecided


def test_what_does_not_say_its_inputs_is_undecided_where_it_cannot_be_made() -> None:
    broken = event({}, odd=lambda given: 1 // 0, none=lambda given: None, fine=lambda given: 1)
    with pytest.warns(tamis.PluginWarning, match="odd is absent where it cannot be derived"):
        assert broken.is_undecided(itself("odd"))
    assert broken.is_undecided(itself("none"))
    assert broken.is_undecided(itself("nobody brings it"))
    assert not broken.is_undecided(itself("fine"))


def test_what_several_attributes_come_from_is_made_once() -> None:
    made = []

    def whole(given: Event) -> list[int]:
        made.append(given.id)
        return [3, 4]

    taken = event({"id": "e"}, first=lambda e: e.made(whole)[0], second=lambda e: e.made(whole)[1])
    assert [taken.scalar(name) for name in ("first", "second", "first")] == [3, 4, 3]
    assert made == ["e"]
