"""Checks that what a matcher is done with is let go: events, results, refreshed operators."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import tamis
from tamis.operators import record_of


class Thing:
    """Something large that can be seen to go."""


@tamis.operator(inputs=("a", "frame"))
def isAbove(event: Any, level: float) -> bool:
    return bool(event["a"] > level and event["frame"])


@tamis.operator(inputs=("a",), outputs=("count",))
def countOf(event: Any, count: Any) -> list[int]:
    return [event["a"], event["a"] + 1]


@tamis.operator(inputs=("a",))
def isOdd(event: Any) -> bool:
    raise ValueError(event["a"])


@tamis.operator(inputs=("a",), solve_events=lambda events, lists: [True] * len(events))
def isSeen(event: Any) -> bool:
    return True


@pytest.fixture
def without_garbage_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_garbage_collection")
@pytest.mark.parametrize("workers", [1, 3])
def test_no_circle_keeps_an_event_or_its_result(workers: int) -> None:
    matcher = tamis.Matcher([isAbove, countOf, isOdd, isSeen], workers=workers)
    wheres = ["isAbove(1)", "countOf(?n) and ?n > 2", "countOf(?n), countOf(?m), ?n < ?m"]
    for where in [*wheres, "isOdd()", "isSeen() and a > 0"]:
        matcher.subscribe(where, id=where)
    frames: list[weakref.ref[Thing]] = []

    def events() -> Iterator[dict[str, Any]]:
        for number in range(20):
            frame = Thing()
            frames.append(weakref.ref(frame))
            yield {"a": number, "frame": frame}

    for event in events():
        matcher.match(event)
    for result in matcher.match_many(events()):
        assert [match.bindings for match in result.matches]
        assert result.undetermined
        assert str(result)
        assert str(result.explain("isAbove(1)"))
    del event, result
    assert len(frames) == 40
    assert not any(frame() is not None for frame in frames)


@pytest.mark.parametrize("is_prepared", [False, True])
def test_what_a_refreshed_operator_had_read_is_let_go(is_prepared: bool) -> None:
    tables: list[weakref.ref[Thing]] = []

    def renewed() -> list[tamis.OperatorRecord]:
        table = Thing()
        tables.append(weakref.ref(table))
        read = tamis.Preparation("read", lambda event: table) if is_prepared else None

        @tamis.operator(inputs=("a",), version=str(len(tables)), preparation=read)
        def isRead(event: Any, number: int) -> bool:
            return bool(table)

        return [replace(record_of(isRead), renewed=renewed)]

    matcher = tamis.Matcher(renewed())
    matcher.subscribe("isRead(1)")
    matcher.subscribe("isRead(2)")
    for number in range(5):
        assert len(matcher.match({"a": number}).matches) == 2
        assert matcher.forecast("isRead(3)").events
        assert matcher.refresh() == ["isRead"]
    assert len(matcher.match({"a": 5}).matches) == 2
    gc.collect()
    assert sum(table() is not None for table in tables) <= 2  # the last forecast knows the other
