"""Checks against a closure of its own that implications spare calls and change no verdict."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tamis
from tamis.testing import counting

PLACES = {"bronx": (0, 2), "queens": (3, 5), "city": (0, 9), "state": (0, 20), "sea": (30, 40)}


class LocIn(tamis.Operator):
    """Regions are intervals: some inside of others, some apart."""

    specification = tamis.Specification(
        name="locIn", parameters=(tamis.Parameter("region"),), inputs=("at",)
    )

    def solve(self, event: Any, region: Any) -> bool:
        if region in event.get("fails", ()):
            raise RuntimeError("no map")
        low, high = PLACES[region]
        return bool(low <= event["at"] <= high)

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[tamis.Implication]:
        low, high = PLACES[arguments[0]]
        for place, (other,) in enumerate(others):
            other_low, other_high = PLACES[other]
            if other_low <= low and high <= other_high:
                yield tamis.Implication(True, place, True)
            elif high < other_low or other_high < low:
                yield tamis.Implication(True, place, False)


def loc_in() -> LocIn:
    operator = LocIn()
    operator.specification = tamis.Specification(
        name="locIn",
        parameters=(tamis.Parameter("region"),),
        inputs=("at",),
        optional_inputs=("fails",),
    )
    return operator


def matcher_of(texts: Iterable[str], planner: Any = "sequential") -> tuple[Any, Any]:
    counted = counting(loc_in())
    matcher = tamis.Matcher([counted], planner=planner)
    for number, text in enumerate(texts):
        matcher.subscribe(text, id=f"s{number}")
    return matcher, counted


def test_a_true_call_decides_what_it_implies() -> None:
    matcher, counted = matcher_of(["locIn(bronx)", "locIn(city)", "locIn(queens)", "locIn(sea)"])
    result = matcher.match({"id": "e", "at": 1})
    assert [match.subscription for match in result.matches] == ["s0", "s1"]
    assert counted.calls == [("e", ("bronx",))]
    assert [(each.predicate, each.truth, each.how) for each in result.evaluations] == [
        ("locIn(bronx)", True, "called"),
        ("locIn(city)", True, "implied"),
        ("locIn(queens)", False, "implied"),
        ("locIn(sea)", False, "implied"),
    ]
    account = result.account
    assert (account.calls, account.implied, account.spared, account.evaluations) == (1, 3, 3, 4)
    assert account.needed_at_least == 1
    assert account.operators["locIn"].implied == 3
    assert "not called: implied by locIn(bronx), true" in str(result.explain("s1"))


def test_what_is_declared_holds_the_other_way_round() -> None:
    matcher, counted = matcher_of(["locIn(city)", "locIn(bronx)"])
    result = matcher.match({"id": "e", "at": 15})
    assert result.matches[:] == []
    assert counted.calls == [("e", ("city",))]
    assert [each.how for each in result.evaluations] == ["called", "implied"]


def test_late_subscriptions_are_related_to_earlier_ones() -> None:
    matcher, counted = matcher_of(["locIn(bronx)"])
    matcher.match({"id": "e1", "at": 1})
    matcher.subscribe("locIn(state)", id="s1")
    counted.calls.clear()
    assert len(matcher.match({"id": "e2", "at": 1}).matches) == 2
    assert counted.calls == [("e2", ("bronx",))]
    matcher.unsubscribe("s0")
    counted.calls.clear()
    assert len(matcher.match({"id": "e3", "at": 1}).matches) == 1
    assert counted.calls == [("e3", ("state",))]


def test_a_failed_call_is_saved_by_what_implies_it() -> None:
    event = {"id": "e", "at": 1, "fails": ["city"]}
    for texts in (["locIn(city)", "locIn(bronx)"], ["locIn(bronx)", "locIn(city)"]):
        result = matcher_of(texts)[0].match(event)
        assert len(result.matches) == 2
        assert result.undetermined == []
    lonely = matcher_of(["locIn(city)"])[0].match(event)
    assert [each.subscription for each in lonely.undetermined] == ["s0"]


class Lying(LocIn):
    """Declares that nowhere is inside of anything else."""

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[tamis.Implication]:
        return [tamis.Implication(True, place, False) for place in range(len(others))]


class Both:
    """Asks for everything at once."""

    def begin(self, problem: tamis.Problem) -> Any:
        return _Both(problem.calls)


class _Both:
    def __init__(self, calls: int) -> None:
        self.calls = list(range(calls))

    def next(self, limit: int) -> list[int]:
        calls, self.calls = self.calls, []
        return calls

    def observe(self, tests: object, outcomes: object, decided: object) -> None:
        pass


def test_a_contradiction_is_reported_and_not_believed() -> None:
    counted = counting(Lying())
    matcher = tamis.Matcher([counted], planner=Both())
    matcher.subscribe_many([{"where": "locIn(bronx)"}, {"where": "locIn(city)"}])
    with pytest.warns(tamis.PluginWarning, match="locIn contradicts the implications it declares"):
        result = matcher.match({"id": "e", "at": 1})
    assert len(result.matches) == 2
    assert counted.repeated == []
    counted.calls.clear()
    assert len(matcher.match({"id": "e2", "at": 1}).matches) == 2
    assert len(counted.calls) == 2


@pytest.mark.parametrize("said", [[3], [(True, 7, True)], [(True, -1, True)], None])
def test_implications_that_are_none_are_not_used(said: Any) -> None:
    class Odd(LocIn):
        def implications(self, arguments: Any, others: Any) -> Any:
            return said

    matcher = tamis.Matcher([Odd()])
    matcher.subscribe_many([{"where": "locIn(bronx)"}, {"where": "locIn(city)"}])
    with pytest.warns(tamis.PluginWarning, match="implications of locIn failed"):
        assert len(matcher.match({"at": 1}).matches) == 2
    assert len(matcher.match({"at": 1}).matches) == 2


def closed(at: int, fails: Sequence[str], used: Iterable[str]) -> dict[str, bool | None]:
    """The truth of each region that is used: its own, else what any known one says of it."""
    inside = {name: low <= at <= high for name, (low, high) in PLACES.items()}
    truth: dict[str, bool | None] = {name: None if name in fails else inside[name] for name in used}
    known = [name for name in truth if truth[name] is not None]
    while known:
        name = known.pop()
        for other in [each for each in truth if truth[each] is None]:
            (low, high), (other_low, other_high) = PLACES[name], PLACES[other]
            covered = other_low <= low and high <= other_high
            apart = high < other_low or other_high < low
            covers = low <= other_low and other_high <= high
            if (truth[name] and (covered or apart)) or (not truth[name] and covers):
                truth[other] = bool(truth[name]) and covered
                known.append(other)
    return truth


def spelled(name: str, sign: bool) -> str:
    return f"{'' if sign else 'not '}locIn({name})"


LITERALS = st.tuples(st.sampled_from(sorted(PLACES)), st.booleans())
CONDITIONS = st.lists(st.lists(LITERALS, min_size=1, max_size=3), min_size=1, max_size=2)


@example([[[("city", True), ("bronx", True)]]], 0, ["city"], "naive", 1)
@example([[[("city", False), ("bronx", True)]]], 0, ["city"], "naive", 1)
@given(
    st.lists(CONDITIONS, min_size=1, max_size=4),
    st.integers(0, 41),
    st.lists(st.sampled_from(sorted(PLACES)), max_size=2),
    st.sampled_from(["naive", "sequential", "suborder"]),
    st.sampled_from([1, 2]),
)
def test_verdicts_are_those_of_the_closure(
    wanted: list[list[list[tuple[str, bool]]]],
    at: int,
    fails: list[str],
    planner: str,
    workers: int,
) -> None:
    texts = [
        " or ".join(
            f"({' and '.join(spelled(*literal) for literal in literals)})" for literals in each
        )
        for each in wanted
    ]
    counted = counting(loc_in())
    matcher = tamis.Matcher([counted], planner=planner, workers=workers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.SubscriptionWarning)
        for number, text in enumerate(texts):
            matcher.subscribe(text, id=f"s{number}")
    result = matcher.match({"id": "e", "at": at, "fails": fails})
    used = {name for name, _ in itertools.chain(*itertools.chain(*wanted))}
    truth = closed(at, fails, used)

    def verdict(literals: list[tuple[str, bool]]) -> bool | None:
        found = [None if truth[name] is None else truth[name] is sign for name, sign in literals]
        return False if False in found else None if None in found else True

    verdicts = [[verdict(literals) for literals in each] for each in wanted]
    assert [match.subscription for match in result.matches] == [
        f"s{at}" for at, each in enumerate(verdicts) if True in each
    ]
    assert [each.subscription for each in result.undetermined] == [
        f"s{at}" for at, each in enumerate(verdicts) if True not in each and None in each
    ]
    assert counted.repeated == []
    assert result.account.needed_at_least <= len(counted.calls)
