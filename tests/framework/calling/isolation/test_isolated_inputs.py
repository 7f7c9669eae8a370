"""Checks that inputs, arguments and solutions come through workers unchanged."""

from __future__ import annotations

import json
import math
import os
import threading
from typing import Any, ClassVar

import numpy as np
import pytest

import tamis
from tamis import Matcher, OperatorError, SubscriptionError
from tamis.operators import FunctionOperator, OperatorRecord

from .abuse import (
    above,
)
from .workers import isolated, matcher_with, reason, values

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")


@isolated(inputs=("it",), outputs=("n",))
def told(event: Any, n: Any) -> list[Any]:
    return [event["it"], -0.0, 10**999, -math.inf, "\ud83d\ude00", "\U0001f600", "\ud800", False, 0]


def test_solutions_come_over_as_they_are() -> None:
    with matcher_with(told) as matcher:
        found = [value for (value,) in values(matcher, "told(?n)", {"it": "é"})]
    given = ["é", -0.0, 10**999, -math.inf, "\ud83d\ude00", "\U0001f600", "\ud800", False]
    assert [(type(each), each) for each in found] == [(type(each), each) for each in given]
    assert math.copysign(1, found[1]) == -1


def test_a_worker_that_garbles_is_ended() -> None:
    @isolated()
    def garbling(event: Any) -> bool:
        for number in range(3, 64):
            try:
                os.write(number, b"\xff\xff\xff\xff\xff garbage")
            except OSError:
                continue
        return True

    with matcher_with(garbling, above) as matcher:
        matcher.subscribe("above(1)", id="sound")
        for _ in range(3):
            assert "does not keep to the protocol" in reason(matcher, "garbling()", {"height": 3})
        assert matcher.match({"height": 3}).matches


CONTENTS: list[Any] = [
    *(0, 1.5, True, "", "\ud800", "x" * 100_000, "\ud800" * 70_000, b"", b"x" * 100_000),
    *(bytearray(b"x" * 70_000), [1, [2, {"a": b"x" * 70_000}]], {"a": {"b": [None]}}),
    *(np.arange(10), np.arange(100_000.0).reshape(100, 1000), np.arange(90_000)[::-3]),
    *(np.zeros((0, 3)), np.asfortranarray(np.arange(90_000).reshape(300, 300)), np.float32(0.5)),
    [np.arange(50_000), np.arange(3)],
]


@tamis.operator(inputs=("it",), outputs=("text",))
def described(event: Any, text: Any) -> list[str]:
    import hashlib

    def of(value: Any) -> str:
        if isinstance(value, np.ndarray):
            whole = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            return f"{value.dtype} {value.shape} {value.flags.writeable} {whole}"
        if isinstance(value, list):
            return f"{type(value).__name__} {[of(each) for each in value]}"
        if isinstance(value, dict):
            return f"{type(value).__name__} { ({name: of(each) for name, each in value.items()}) }"
        shown = repr(value).encode("utf-8", "backslashreplace")
        return f"{type(value).__name__} {hashlib.sha256(shown).hexdigest()}"

    return [of(event["it"])]


@pytest.fixture(scope="module")
def describing() -> Any:
    import dataclasses

    there = dataclasses.replace(described.specification, name="there", isolation="process")
    record = OperatorRecord(there, lambda: FunctionOperator(described.solve, there))
    with matcher_with(described, record) as matcher:
        matcher.subscribe("described(?x) and there(?x)", id="same")
        yield matcher


@pytest.mark.parametrize("content", CONTENTS, ids=lambda each: f"{type(each).__name__}")
def test_inputs_are_seen_as_inline(describing: Matcher, content: Any) -> None:
    result = describing.match({"it": content})
    assert not result.undetermined, result.undetermined
    assert result.matches, (result.explain("same"),)


def test_only_what_is_declared_is_seen_and_all_of_it_without_declaration() -> None:
    @isolated(inputs=("a",), optional_inputs=("time.hour", "meta.x", "image"), outputs=("it",))
    def some(event: Any, it: Any) -> list[Any]:
        names = ["a", "b", "time.hour", "meta.x", "image"]
        return [json.dumps({name: event.get(name) for name in names} | {"id": event.id})]

    @isolated(outputs=("it",))
    def every(event: Any, it: Any) -> list[Any]:
        derived = {name: event.get(name) for name in ("time.hour", "meta.x")}
        return [json.dumps(dict(event) | derived)]

    content = {
        "id": "e1",
        "a": 1,
        "b": 2,
        "time": "2026-01-01T07:00:00Z",
        "meta": {"x": 5},
        "image": "a.png",
        "none": None,
    }
    with matcher_with(some, every) as matcher:
        matcher.subscribe("some(?x) and every(?y)", id="s")
        (match,) = matcher.match(content, folder="/frames").matches
    (both,) = match.bindings
    seen = json.loads(str(both["x"]))
    assert seen == {
        "a": 1,
        "b": None,
        "time.hour": 7,
        "meta.x": 5,
        "image": "/frames/a.png",
        "id": "e1",
    }
    whole = json.loads(str(both["y"]))
    assert whole == {
        **{name: value for name, value in content.items() if value is not None},
        "image": "/frames/a.png",
        "time.hour": 7,
        "meta.x": 5,
    }


def test_what_cannot_be_sent_is_unknown_and_the_next_event_is_not() -> None:
    @isolated(inputs=("it",))
    def takes(event: Any) -> bool:
        return bool(event["it"] == 1)

    with matcher_with(takes) as matcher:
        said = reason(matcher, "takes()", {"it": threading.Lock()})
        assert "the event cannot be sent to a worker: TypeError" in said
        assert values(matcher, "takes()", {"it": 1}) == [[]]


def test_operators_and_arguments_that_cannot_travel_are_refused() -> None:
    lock = threading.Lock()

    @isolated()
    def locked(event: Any) -> bool:
        return lock.locked()

    @isolated(check=lambda level: [lock])
    def checked(event: Any, level: int) -> bool:
        return True

    @isolated(check=lambda level: [lambda height: height > level], inputs=("height",))
    def compiled(event: Any, level: Any) -> bool:
        return bool(level(event["height"]))

    for operator, where in ((locked, "locked()"), (checked, "checked(3)")):
        with matcher_with(operator) as matcher, pytest.raises(SubscriptionError, match="be sent"):
            matcher.subscribe(where)
    with matcher_with(compiled) as matcher:
        matcher.subscribe("compiled(3) and not compiled(7)", id="s")
        assert matcher.match({"height": 5}).matches


def test_a_system_that_cannot_fork_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with matcher_with(above) as matcher, pytest.raises(SubscriptionError, match="that can fork"):
        matcher.subscribe("above(3)")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"isolation": "process", "memory_bytes": 0}, "memory_bytes of f is a whole number"),
        ({"isolation": "process", "memory_bytes": 1.5}, "memory_bytes of f is a whole number"),
        ({"memory_bytes": 10**9}, 'set isolation="process" too'),
    ],
)
def test_memory_is_bounded_in_bytes(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(OperatorError, match=says):
        tamis.operator(name="f", **settings)(lambda event: True)


def test_memory_that_an_operator_still_looks_into_is_not_filled_again() -> None:
    """Operators keep nothing between calls; one that does must not see it change."""

    class Kept:
        """What an operator should not have."""

        arrays: ClassVar[list[Any]] = []

    @isolated(inputs=("it", "number"), outputs=("n",))
    def keeps(event: Any, n: Any) -> list[int]:
        if event["number"] % 3 == 0:
            Kept.arrays.append((event["number"], event["it"][10:]))
        return [sum(bool((array == number).all()) for number, array in Kept.arrays)]

    with matcher_with(keeps) as matcher:
        for number in range(20):
            event = {"it": np.full(100_000, number), "number": number}
            assert values(matcher, "keeps(?n)", event) == [[number // 3 + 1]]
