"""Every installed planner obeys the planner law, and a broken one is caught in a small world."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

import tamis
from tamis.planning import FALSE, TRUE, Planner, Problem, Run, Standing
from tamis.plugins.loader import installed
from tamis.testing import check_planner


@pytest.mark.parametrize(
    "name", [name for name, record in sorted(installed().planners.items()) if not record.is_small]
)
def test_installed_planner_obeys_the_law(name: str) -> None:
    check_planner(name)


class WhereSmall:
    """A planner for small problems, which leaves larger ones to the engine."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner

    def begin(self, problem: Problem) -> Run:
        return WhereSmallRun(self.planner.begin(problem))


class WhereSmallRun:
    def __init__(self, run: Run) -> None:
        self.run = run
        self.observe = run.observe

    def next(self, limit: int) -> Sequence[int]:
        try:
            return self.run.next(limit)
        except tamis.PlannerError:
            return []


@pytest.mark.long
def test_the_planner_for_small_problems_obeys_the_law() -> None:
    optimal = installed().planner("optimal")
    check_planner(lambda: WhereSmall(optimal.factory()), examples=15)


@pytest.mark.parametrize("name", sorted(installed().planners))
@pytest.mark.parametrize("where", ["altitude / 2 > 1", "altitude > $limit or a = 1"])
def test_a_constraint_on_attributes_needs_no_operator(name: str, where: str) -> None:
    matcher = tamis.Matcher(operators=[], planner=name)
    matcher.subscribe(where, id="s1")
    assert len(matcher.match({"altitude": 3, "limit": 2}).matches) == 1
    assert len(matcher.match({"altitude": 1, "limit": 2}).matches) == 0


class Everything:
    """Asks for every call in order: wasteful, and right."""

    def begin(self, problem: Problem) -> Run:
        return InOrder(list(range(problem.calls)))


class InOrder:
    def __init__(self, calls: Sequence[int]) -> None:
        self.left = list(calls)

    def next(self, limit: int) -> Sequence[int]:
        now, self.left = self.left[:limit], self.left[limit:]
        return now

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None:
        pass


class Backwards(Everything):
    def begin(self, problem: Problem) -> Run:
        return InOrder(list(reversed(range(problem.calls))))


class Lazy(Everything):
    """Stops at once: the engine finishes what is left over."""

    def begin(self, problem: Problem) -> Run:
        return InOrder([])


class StopsEarly(Everything):
    def begin(self, problem: Problem) -> Run:
        return InOrder(range(problem.calls // 2))


@pytest.mark.parametrize("planner", [Everything, Backwards, Lazy, StopsEarly])
def test_a_planner_may_waste_calls_or_stop_early(planner: Callable[[], Planner]) -> None:
    check_planner(planner)


def test_a_planner_is_given_by_name_by_itself_or_by_what_makes_it() -> None:
    for planner in ("naive", Lazy, Lazy(), lambda: Lazy()):
        check_planner(planner, examples=3)


class AsksTwice(Everything):
    def begin(self, problem: Problem) -> Run:
        return InOrder([*range(problem.calls), 0])


class OutOfRange(Everything):
    def begin(self, problem: Problem) -> Run:
        return InOrder([problem.calls])


class Negative(Everything):
    def begin(self, problem: Problem) -> Run:
        return InOrder([-1])


class Random(Everything):
    def begin(self, problem: Problem) -> Run:
        calls = list(range(problem.calls))
        random.shuffle(calls)
        return InOrder(calls)


class Remembers(Everything):
    """Asks in another order for every event."""

    def __init__(self) -> None:
        self.begun = 0

    def begin(self, problem: Problem) -> Run:
        self.begun += 1
        calls = list(range(problem.calls))
        return InOrder(calls if self.begun % 2 else calls[::-1])


class TooMany(Everything):
    """Does not care how many are wanted."""

    def begin(self, problem: Problem) -> Run:
        return AllAtOnce(list(range(problem.calls)))


class AllAtOnce(InOrder):
    def next(self, limit: int) -> Sequence[int]:
        return super().next(len(self.left))


class Raises(Everything):
    def begin(self, problem: Problem) -> Run:
        return Raising(range(problem.calls))


class Raising(InOrder):
    """Fails when it is told of an outcome."""

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None:
        if FALSE in outcomes or TRUE in outcomes:
            raise ZeroDivisionError("no such thing")


class Changes(Everything):
    """Writes into the problem."""

    def begin(self, problem: Problem) -> Run:
        problem.edge_sign[:] = 1
        return InOrder([])


@pytest.mark.parametrize(
    ("planner", "says"),
    [
        (AsksTwice, "planner AsksTwice asks for call 0 twice"),
        (OutOfRange, "planner OutOfRange asks for call 1 where there are 1"),
        (Negative, "planner Negative asks for call -1 where there are 1"),
        (TooMany, "planner TooMany asks for 2 calls at once, not for 1 at most"),
        (Remembers, "planner Remembers "),
        (Random, "planner Random "),
        (Raises, "planner Raises raises ZeroDivisionError: no such thing"),
        (Changes, "planner Changes raises ValueError: assignment destination is read-only"),
    ],
)
def test_a_broken_planner_is_caught(planner: Callable[[], Planner], says: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check_planner(planner, examples=200)
    assert str(caught.value).startswith(says)


def test_the_world_that_catches_is_small_and_readable() -> None:
    with pytest.raises(AssertionError) as caught:
        check_planner(AsksTwice)
    assert str(caught.value) == (
        "planner AsksTwice asks for call 0 twice\n  s1: seen(a)\n  event {}"
    )


class Forgetful(Everything):
    """Follows what is subscribed, and is surprised when something goes."""

    def reset(self, standing: Standing) -> None:
        pass

    def subscribed(self, standing: Standing) -> None:
        pass

    def unsubscribed(self, keys: Sequence[int]) -> None:
        raise KeyError("never heard of it")

    def in_order(self) -> Sequence[int]:
        return []


def test_a_planner_that_follows_what_is_subscribed_is_watched_too() -> None:
    with pytest.raises(AssertionError, match=r"does not follow.*KeyError: 'never heard"):
        check_planner(Forgetful)
