"""What is evaluated beside a run: exact counts of other planners, bounds, and declared untruths."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

import tamis
from tamis.advising.shadow import Shadow, Shadows
from tamis.plugins.loader import installed
from tamis.testing import counting, truth_table

pytest.importorskip("scipy")

PLANNERS = ["naive", "sequential", "suborder"]


def texts(seed: int) -> list[str]:
    chance = random.Random(seed)
    keys = [f"k{number}" for number in range(12)]
    return [
        " and ".join(
            f"{'not ' if chance.random() < 0.3 else ''}seen({key})"
            for key in chance.sample(keys, chance.randint(1, 4))
        )
        for _ in range(25)
    ]


def event_of(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    return {"seen": {f"k{number}": chance.random() < 0.6 for number in range(12)}}


def matcher_of(planner: str, seed: int, **settings: Any) -> tamis.Matcher:
    matcher = tamis.Matcher([truth_table("seen")], planner=planner, learning=False, **settings)
    matcher.subscribe_many({"where": text} for text in texts(seed))
    return matcher


@pytest.mark.parametrize("seed", range(5))
def test_the_calls_of_each_planner_are_those_it_makes(seed: int) -> None:
    matcher = matcher_of("sequential", seed)
    shadows = Shadows(matcher, PLANNERS)
    total = Shadow()
    calls = dict.fromkeys(PLANNERS, 0)
    for number in range(3):
        event = event_of(10 * seed + number)
        result = matcher.match(event)
        total.add(shadows.of(result))
        for planner in PLANNERS:
            other = matcher_of("naive", seed)
            other.planner = planner
            calls[planner] += other.match(event).account.calls
        assert result.account.calls == len(result.calls)
    assert total.calls == calls
    assert total.events == 3
    assert max(calls.values()) <= total.every
    assert total.clairvoyant is not None
    assert total.clairvoyant <= min(calls.values())
    assert total.seconds.keys() == calls.keys()
    assert total.left_out == {}


def test_a_shadow_leaves_no_trace() -> None:
    operator = counting(truth_table("seen"))
    matcher = tamis.Matcher([operator])
    matcher.subscribe("seen(a) and seen(b)", id="s1")
    result = matcher.match({"id": "e", "seen": {}})
    learned = matcher.learned().predicates
    shadow = Shadows(matcher, ["naive"]).of(result)
    assert operator.calls == [("e", ("a",)), ("e", ("b",))]
    assert (shadow.every, shadow.calls, shadow.clairvoyant) == (2, {"naive": 1}, 1.0)
    assert result.account.calls == 1
    assert matcher.learned().predicates == learned


def test_what_is_declared_is_held_against_all_answers() -> None:
    class Lying(tamis.Operator):
        specification = tamis.Specification(name="at", parameters=(tamis.Parameter("place"),))

        def solve(self, event: Any, place: Any) -> bool:
            return True

        def implications(
            self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
        ) -> Iterable[tamis.Implication]:
            return [tamis.Implication(True, place, False) for place in range(len(others))]

    matcher = tamis.Matcher([Lying()])
    matcher.subscribe_many([{"where": "at(1)"}, {"where": "at(2)"}])
    result = matcher.match({"id": "e"})
    shadows = Shadows(matcher, ["naive"])
    with pytest.warns(tamis.PluginWarning, match="at contradicts the implications it declares"):
        shadow = shadows.of(result)
    assert shadow.contradictions == {"at(1) and at(2)": 1}
    assert shadow.clairvoyant is None
    result = matcher.match({"id": "e2"})
    assert (len(result.matches), result.account.implied) == (2, 0)
    assert shadows.of(result).contradictions == {}


def test_events_without_calls_and_subscriptions_that_change() -> None:
    matcher = matcher_of("naive", 1)
    shadows = Shadows(matcher)
    assert shadows.of(matcher.match({})).every == 0
    matcher.subscribe("seen(k1) and altitude < 3", id="late")
    event = {**event_of(4), "altitude": 1}
    shadow = shadows.of(matcher.match(event))
    assert set(shadow.calls) == set(installed().planners) - {"optimal"}
    assert shadow.left_out == {}
    assert shadow.calls["naive"] == matcher.match(event).account.calls
