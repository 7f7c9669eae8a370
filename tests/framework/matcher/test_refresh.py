"""Checks refreshing operators whose sources change, in two threads, and results from before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import tamis
from tamis.operators import record_of
from tamis.planning import Problem, Run, Standing
from tamis.plugins.loader import installed


class Source:
    """A source of one operator, `NAME(number)`: whether a number is one of those that it holds."""

    def __init__(self, name: str, *held: int) -> None:
        self.name = name
        self.held = set(held)
        self.is_strict = False
        """Whether other numbers than those that it holds are refused."""
        self.version = 1
        self.before: Callable[[], object] = lambda: None
        """What is done while it is read."""

    def change(self, *held: int) -> None:
        self.held, self.version = set(held), self.version + 1

    def renewed(self) -> list[tamis.OperatorRecord]:
        held, version, is_strict = set(self.held), str(self.version), self.is_strict
        self.before()

        def check(number: int) -> None:
            if is_strict and number not in held:
                raise ValueError(f"{number} is gone")

        @tamis.operator(name=self.name, inputs=("a",), version=version, check=check)
        def holds(event: Any, number: int) -> bool:
            return number in held

        return [replace(record_of(holds), renewed=self.renewed)]


def matched(matcher: tamis.Matcher) -> list[str]:
    return [match.subscription for match in matcher.match({"a": 1}).matches]


def test_a_slow_refresh_does_not_undo_a_later_one() -> None:
    first, second = Source("first"), Source("second")
    matcher = tamis.Matcher([*first.renewed(), *second.renewed()])
    matcher.subscribe("first(1)", id="s1")
    matcher.subscribe("second(1)", id="s2")
    is_read, goes_on = Event(), Event()

    def wait() -> None:
        second.before = lambda: None
        is_read.set()
        goes_on.wait(0.5)

    second.change(1)
    second.before = wait  # the first source has been read by then, and is as it was
    slow = Thread(target=matcher.refresh)
    slow.start()
    assert is_read.wait(30)
    first.change(1, 2)

    def refresh() -> None:
        matcher.refresh()
        goes_on.set()

    quick = Thread(target=refresh)
    quick.start()
    slow.join()
    quick.join()
    matcher.subscribe("first(2)", id="s3")
    assert matched(matcher) == ["s1", "s2", "s3"]
    assert matcher.refresh() == []


def test_what_an_operator_refuses_by_now_is_explained_of_a_result_from_before() -> None:
    source = Source("holds", 1, 2)
    matcher = tamis.Matcher(source.renewed())
    matcher.subscribe("holds(1)", id="s1")
    matcher.subscribe("holds(1) and holds(2)", id="s2")
    result = matcher.match({"a": 1})
    source.change(2)
    source.is_strict = True
    assert matcher.refresh() == ["holds"]
    matcher.unsubscribe("s1")
    matcher.unsubscribe("s2")
    explained = result.explain("s1")
    assert explained.data["verdict"] == "matched"
    assert explained.data["alternatives"][0]["predicates"][0]["truth"] is True
    assert result.explain("s2").data["verdict"] == "matched"


def test_the_graph_tells_of_what_an_operator_refuses_by_now() -> None:
    source = Source("holds", 1, 2)
    matcher = tamis.Matcher(source.renewed())
    with pytest.warns(tamis.SubscriptionWarning):
        matcher.subscribe("holds(1) or (a < 1 and a > 2 and holds(2))", id="s1")
    before = set(matcher.graph())
    source.change(1)
    source.is_strict = True
    assert matcher.refresh() == ["holds"]
    assert set(matcher.graph()) == before


def test_an_operator_is_refreshed_beside_another_one_that_refuses_what_can_never_hold() -> None:
    first, second = Source("first", 1, 2), Source("second", 1)
    matcher = tamis.Matcher([*first.renewed(), *second.renewed()])
    with pytest.warns(tamis.SubscriptionWarning):
        matcher.subscribe("second(1) or (a < 1 and a > 2 and first(2))", id="s1")
    first.change(1)
    first.is_strict = True
    assert matcher.refresh() == ["first"]
    second.change(2)
    assert matcher.refresh() == ["second"]
    assert matched(matcher) == []


def with_one_that_is_refused(source: Source, **settings: Any) -> tamis.Matcher:
    matcher = tamis.Matcher(source.renewed(), **settings)
    matcher.subscribe("holds(1)", id="s1")
    matcher.subscribe("holds(2)", id="s2")
    source.change(1)
    source.is_strict = True
    assert matcher.refresh() == ["holds"]
    return matcher


def check_refused_until_refreshed(matcher: tamis.Matcher, source: Source) -> None:
    result = matcher.match({"a": 1})
    assert [match.subscription for match in result.matches] == ["s1"]
    assert [tuple(each) for each in result.undetermined] == [
        ("s2", "holds(2): raised: OperatorError: not taken any more: holds: 2 is gone")
    ]
    source.change(1, 2)
    assert matcher.refresh() == ["holds"]
    assert matched(matcher) == ["s1", "s2"]


def test_a_matcher_is_saved_and_opened_of_which_an_operator_refuses_something(
    tmp_path: Path,
) -> None:
    source = Source("holds", 1, 2)
    with_one_that_is_refused(source).save(tmp_path / "saved")
    opened = tamis.Matcher.open(tmp_path / "saved", source.renewed())
    check_refused_until_refreshed(opened, source)


def test_a_database_is_opened_again_that_keeps_what_an_operator_refuses(tmp_path: Path) -> None:
    source = Source("holds", 1, 2)
    settings: dict[str, Any] = {"index": "dbms", "index_options": {"path": str(tmp_path / "rows")}}
    with_one_that_is_refused(source, **settings).close()
    with tamis.Matcher(source.renewed(), **settings) as matcher:
        check_refused_until_refreshed(matcher, source)


class Follower:
    """A planner that follows, and fails to when it is told so."""

    is_failing = False

    def begin(self, problem: Problem) -> Run:
        return installed().planner("naive").factory().begin(problem)

    def reset(self, standing: Standing) -> None:
        return

    def subscribed(self, standing: Standing) -> None:
        if self.is_failing:
            raise ValueError("fails")

    def unsubscribed(self, keys: Sequence[int]) -> None:
        return

    def in_order(self) -> Sequence[int]:
        return ()


def test_implications_are_asked_after_a_refresh_that_ends_with_a_warning() -> None:
    asked: list[int] = []
    version = 0

    def renewed() -> list[tamis.OperatorRecord]:
        declared = [("a", "<", 10 + version)]

        def implications(arguments: Sequence[int], others: object) -> tuple[()]:
            asked.append(arguments[0])
            return ()

        @tamis.operator(
            inputs=("a",),
            version=str(version),
            necessary=lambda arguments: declared,
            implications=implications,
        )
        def isUnder(event: Any, number: int) -> bool:
            return bool(event["a"] < number)

        return [replace(record_of(isUnder), renewed=renewed)]

    planner = Follower()
    matcher = tamis.Matcher(renewed(), planner=planner)
    matcher.subscribe("isUnder(1)")
    version, planner.is_failing = 1, True
    with pytest.raises(tamis.PluginWarning, match="failed in subscribed"):
        matcher.refresh()
    planner.is_failing = False
    matcher.subscribe("isUnder(2)")
    matcher.match({"a": 1})
    assert sorted(asked) == [1, 2]
