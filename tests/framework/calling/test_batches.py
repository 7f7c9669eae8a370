"""Calls that are made together: one invocation, the same answers, failures each for itself."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import tamis


class Everything:
    """Asks for everything at once."""

    def begin(self, problem: tamis.Problem) -> Any:
        return _Run(problem)


class _Run:
    def __init__(self, problem: tamis.Problem) -> None:
        self.problem = problem
        self.calls = list(range(problem.calls))

    def next(self, limit: int) -> list[int]:
        calls, self.calls = self.calls, []
        return calls

    def observe(self, tests: object, outcomes: object, decided: object) -> None:
        pass


class Shows(tamis.Operator):
    """Answers from the event; `solve_many` does as its class says."""

    def __init__(self, **settings: Any) -> None:
        self.specification = tamis.Specification(
            name="shows",
            parameters=(tamis.Parameter("thing"), tamis.Parameter("count")),
            outputs=("count",),
            **settings,
        )
        self.asked: list[list[str]] = []

    def solve(self, event: Any, thing: Any, count: Any) -> Any:
        self.asked.append([thing])
        if thing == "bad":
            raise ValueError("cannot look")
        return [event[thing]]

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
        self.asked.append([thing for thing, _ in lists])
        return [[event[thing]] for thing, _ in lists]


def matcher_of(operator: tamis.Operator, *things: str, **settings: Any) -> tamis.Matcher:
    matcher = tamis.Matcher([operator], planner=Everything(), **settings)
    for thing in things:
        matcher.subscribe(f"shows({thing}, ?n), ?n > 1", id=thing)
    return matcher


def matched(result: tamis.Result) -> list[str]:
    return [match.subscription for match in result.matches]


def test_calls_of_a_batch_are_one_invocation() -> None:
    shows = Shows()
    result = matcher_of(shows, "a", "b", "c").match({"a": 1, "b": 2, "c": 3})
    assert matched(result) == ["b", "c"]
    assert shows.asked == [["a", "b", "c"]]
    assert [call.predicate for call in result.calls] == [
        "shows(a, ?1)",
        "shows(b, ?1)",
        "shows(c, ?1)",
    ]
    assert (result.account.calls, result.account.invocations) == (3, 1)
    assert result.account.operators["shows"].invocations == 1
    assert result.account.calls_text.startswith("called 3 in 1 invocation, at least ")


def test_what_fails_together_is_asked_one_by_one() -> None:
    class Fragile(Shows):
        def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
            raise ValueError("one of them is bad")

    shows = Fragile()
    matcher = matcher_of(shows, "a", "bad", "c")
    with pytest.warns(tamis.PluginWarning, match="solve_many of shows failed"):
        result = matcher.match({"a": 1, "bad": 2, "c": 3})
    assert matched(result) == ["c"]
    assert [each.subscription for each in result.undetermined] == ["bad"]
    assert shows.asked == [["a"], ["bad"], ["c"]]


def test_a_batch_that_always_fails_is_not_tried_any_more() -> None:
    tries = []

    class Broken(Shows):
        def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
            tries.append(len(lists))
            return "nonsense"

    matcher = matcher_of(Broken(), "a", "c")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for _ in range(5):
            assert matched(matcher.match({"a": 1, "c": 3})) == ["c"]
    assert tries == [2, 2, 2]
    assert [str(each.message).rpartition(" one by one ")[2] for each in heard] == [
        "this time",
        "from now on",
    ]


@pytest.mark.parametrize(
    ("answers", "ended"),
    [
        ([[1], [2]], []),
        ([ValueError("too dark"), [2]], ["a"]),
        (["nonsense", [2]], ["a"]),
        ([[(1, 2)], [2]], ["a"]),
        (iter([[1], iter([2])]), []),
    ],
)
def test_an_answer_that_is_none_is_a_failure_of_its_own(answers: Any, ended: list[str]) -> None:
    class Each(Shows):
        def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Any:
            return answers

    result = matcher_of(Each(), "a", "b").match({})
    assert matched(result) == ["b"]
    assert [each.subscription for each in result.undetermined] == ended


def test_a_batch_may_be_a_generator_in_a_thread_and_asynchronous() -> None:
    class Generating(Shows):
        def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Any:
            def answers() -> Iterator[list[int]]:
                for thing, _ in lists:
                    yield [event[thing]]

            return answers()

    class Asynchronous(Shows):
        async def solve(self, event: Any, thing: Any, count: Any) -> Any:
            raise AssertionError("asked one by one")

        async def solve_many(  # type: ignore[override]
            self, event: Any, lists: Sequence[Sequence[Any]]
        ) -> Any:
            return [[event[thing]] for thing, _ in lists]

    for shows in (Generating(), Generating(isolation="thread"), Asynchronous(timeout=5)):
        assert matched(matcher_of(shows, "a", "b").match({"a": 1, "b": 2})) == ["b"]


def test_the_problem_tells_which_calls_can_be_made_together() -> None:
    seen: list[tamis.Problem] = []

    class Looks(Everything):
        def begin(self, problem: tamis.Problem) -> Any:
            seen.append(problem)
            return super().begin(problem)

    @tamis.operator
    def alone(event: Any) -> bool:
        return True

    shows = Shows(cost_seconds=0.5, marginal_cost_seconds=0.01)
    matcher = tamis.Matcher([shows, alone], planner=Looks())
    matcher.subscribe("shows(a, ?n) and alone() and shows(b, ?m)")
    matcher.match({"a": 1, "b": 2})
    assert seen[0].call_batch.tolist() == [0, -1, 0]
    assert seen[0].call_cost.tolist() == [0.5, 0.001, 0.5]
    assert seen[0].call_marginal.tolist() == [0.01, 0.001, 0.01]


def test_an_asynchronous_batch_leaves_the_loop_of_the_caller_alone() -> None:
    asked = []

    async def many(event: Any, lists: Sequence[Sequence[Any]]) -> list[bool]:
        asked.append(len(lists))
        return [event["v"] > bound for (bound,) in lists]

    together: Any = many

    @tamis.operator(inputs=("v",), solve_many=together)
    def over(event: Any, bound: float) -> bool:
        return bool(event["v"] > bound)

    matcher = tamis.Matcher([over], planner=Everything())
    matcher.subscribe("over(1) and over(2)", id="s")

    async def within() -> int:
        return len(matcher.match({"v": 9}).matches)

    assert asyncio.run(within()) == 1
    assert asked == [2]
