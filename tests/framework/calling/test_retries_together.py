"""Calls that are made together and preparations are tried again like single calls."""

from __future__ import annotations

import asyncio
import copy
import os
import pickle
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import tamis
from tamis import Preparation, Transient

from .isolation.workers import matcher_with, reasons
from .test_batches import Everything
from .test_retries import said
from .trying import Waits

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")


class Batches(tamis.Operator):
    """Answers together as its function says."""

    def __init__(self, together: Callable[[list[int]], Any], **settings: Any) -> None:
        self.specification = tamis.Specification("busily", **settings)
        self.asked: list[list[int]] = []
        self._together = together

    def solve(self, event: Any, number: int) -> Any:
        self.asked.append([number])
        return True

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Any:
        numbers = [number for (number,) in lists]
        self.asked.append(numbers)
        return self._together(numbers)

    def matched(self) -> tamis.Result:
        """What comes of three calls that are made together."""
        matcher = tamis.Matcher([self], planner=Everything())
        matcher.subscribe_many([{"id": f"{at}", "where": f"busily({at})"} for at in range(3)])
        return matcher.match({})


def test_a_batch_is_tried_again_as_a_whole_and_then_its_calls_one_by_one(waits: Waits) -> None:
    def together(numbers: list[int]) -> list[bool]:
        raise Transient("busy")

    batches = Batches(together, retries=2)
    with pytest.warns(tamis.PluginWarning, match="solve_many of busily failed"):
        result = batches.matched()
    assert batches.asked == [[0, 1, 2]] * 3 + [[0], [1], [2]]
    assert len(result.matches) == 3
    assert len(waits.seconds) == 2
    assert (result.account.calls, result.account.attempts) == (3, 12)


def test_a_batch_that_comes_through_is_one_invocation(waits: Waits) -> None:
    def together(numbers: list[int]) -> list[bool]:
        if len(batches.asked) < 3:
            raise Transient("busy")
        return [True for _ in numbers]

    batches = Batches(together, retries=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = batches.matched()
    assert batches.asked == [[0, 1, 2]] * 3
    assert (len(result.matches), result.account.attempts, result.account.invocations) == (3, 9, 1)


def test_what_is_busy_in_a_batch_is_tried_again_without_the_others(waits: Waits) -> None:
    def together(numbers: list[int]) -> list[object]:
        if len(numbers) == 3:
            return [True, Transient("busy", 3), Transient("busy", 1)]
        return [False, Transient("busy", 2)]

    batches = Batches(together, retries=2)
    result = batches.matched()
    assert batches.asked == [[0, 1, 2], [1, 2], [2]]
    assert [match.subscription for match in result.matches] == ["0", "2"]
    assert waits.seconds == [3, 2]
    assert (result.account.calls, result.account.attempts) == (3, 6)


# preparations


def test_a_preparation_may_be_tried_again(waits: Waits) -> None:
    made: list[int] = []

    def fetched(event: Any) -> int:
        made.append(1)
        if len(made) < 3:
            raise Transient("busy", 4)
        return 7

    for timeout in (None, 60):
        made.clear()
        waits.seconds.clear()
        page = Preparation("page", fetched, retries=2, timeout=timeout)

        @tamis.operator(preparation=page)
        def is_it(event: Any, number: int) -> bool:
            return bool(event.prepared == number)

        matcher = tamis.Matcher([is_it])
        matcher.subscribe("is_it(7) and not is_it(8)", id="s")
        result = matcher.match({})
        assert len(result.matches) == 1
        assert (waits.seconds, len(made)) == ([4, 4], 3)
        assert (result.account.calls, result.account.attempts) == (2, 2)


@pytest.mark.parametrize("isolation", ["inline", pytest.param("process", marks=needs_fork)])
def test_a_preparation_without_retries_fails_once_for_its_event(
    isolation: str, waits: Waits
) -> None:
    def fetched(event: Any) -> int:
        raise Transient("busy", 0)

    page = Preparation("page", fetched, inputs=())

    @tamis.operator(preparation=page, inputs=(), retries=5, isolation=isolation)
    def busily(event: Any, number: int) -> bool:
        return True

    with matcher_with(busily) as matcher:
        matcher.subscribe("busily(1) or busily(2)", id="s")
        assert "busily(1): raised: Transient: busy" in reasons(matcher.match({}))["s"]
    assert waits.seconds == []


def test_a_preparation_that_gives_up_says_why(waits: Waits) -> None:
    def fetched(event: Any) -> int:
        raise Transient("busy", 4)

    @tamis.operator(preparation=Preparation("page", fetched, retries=9, timeout=3))
    def busily(event: Any, number: int) -> bool:
        return True

    assert said(tamis.Matcher([busily])) == "busily(1): raised: Transient: busy"
    assert waits.seconds == []


def test_a_preparation_with_retries_needs_another_isolation() -> None:
    page = Preparation("page", len, retries=1)
    with pytest.raises(tamis.OperatorError, match="the preparation page of f has retries"):
        tamis.Specification("f", preparation=page, isolation="process")


# the exception


def test_a_transient_travels() -> None:
    class Own(Transient):
        pass

    problem = Transient("busy", 3)
    for same in (pickle.loads(pickle.dumps(problem)), copy.copy(problem)):
        assert (type(same), str(same), same.after_seconds) == (Transient, "busy", 3.0)
    assert Own("busy").after_seconds is None
    assert isinstance(problem, tamis.TamisError)


@pytest.mark.parametrize("after", ["120", True, float("nan"), [1]])
def test_a_transient_says_seconds(after: Any) -> None:
    with pytest.raises(tamis.OperatorError, match="after_seconds is a number of seconds, not"):
        Transient("busy", after)


def test_async_batches_are_tried_again(waits: Waits) -> None:
    class Asynchronous(Batches):
        async def solve_many(  # type: ignore[override]
            self, event: Any, lists: Sequence[Sequence[Any]]
        ) -> Any:
            await asyncio.sleep(0)
            return super().solve_many(event, lists)

    def together(numbers: list[int]) -> list[bool]:
        if len(batches.asked) < 2:
            raise Transient("busy")
        return [True for _ in numbers]

    batches = Asynchronous(together, retries=1, timeout=30)
    assert len(batches.matched().matches) == 3
    assert batches.asked == [[0, 1, 2]] * 2
