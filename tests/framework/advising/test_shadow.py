"""Checks shadows of a run: exact counts of other planners, bounds, and untrue declarations."""

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


def within() -> tamis.Operator:
    """Whether a number is below another, which declares as much, or more than is true."""

    @tamis.operator(
        inputs=("n",),
        outputs=("m",),
        necessary=lambda arguments: [("n", "<", arguments[0] - arguments[0] % 10)],
    )
    def below(event: Any, most: int, m: Any = None) -> Any:
        if event["n"] == 99:
            raise RuntimeError("no model")
        return [event["n"]] if event["n"] < most else []

    return below


def test_what_declarations_exclude_is_counted_and_asked_for() -> None:
    operator = counting(within())
    matcher = tamis.Matcher([operator], memo_bytes=0)
    texts = ["below(15, ?m)", "below(15, ?m) and a = 1", "below(20, ?m)", "below(25, ?m), ?m > 3"]
    matcher.subscribe_many({"where": text} for text in texts)
    matcher.subscribe("not below(15, 12)", id="not")
    shadows = Shadows(matcher, ["naive"])
    result = matcher.match({"id": "e", "n": 12})
    assert [match.bindings for match in result.matches] == [[{}], [{"m": 12}], [{"m": 12}]]
    calls = list(operator.calls)
    shadow = shadows.of(result)
    assert (shadow.excluded, shadow.every, shadow.calls) == (1, 2, {"naive": 2})
    assert shadow.clairvoyant == 2.0
    # the first two are dropped by the index, the constant is excluded: the answers say otherwise
    assert shadow.broken == {
        "below(15, ?1), which declares n < 10": 1,
        "below(15, 12), which declares n < 10": 1,
    }
    assert [most for _, (most, _) in operator.calls[len(calls) :]] == [15]
    for event in ({"n": 99}, {"n": 3}, {}):
        assert shadows.of(matcher.match(event)).broken == {}
    assert shadows.of(matcher.match({})).excluded == 0
    total = Shadow()
    total.add(shadow)
    total.add(shadow)
    assert (total.excluded, set(total.broken.values())) == (2, {2})
    assert set(total.as_dict()) >= {"excluded", "broken"}


def test_an_event_without_candidates_has_a_shadow_too() -> None:
    matcher = tamis.Matcher([within()])
    matcher.subscribe("below(15, ?m)", id="s1")
    result = matcher.match({"n": 12})
    assert result.account.candidates == 0
    shadow = Shadows(matcher, ["naive"]).of(result)
    assert (shadow.excluded, shadow.every, len(shadow.broken)) == (1, 0, 1)


@pytest.mark.parametrize("seed", range(5))
def test_planners_begin_after_exclusion(seed: int) -> None:
    chance = random.Random(seed)
    matcher = tamis.Matcher([within(), truth_table("seen")], learning=False, memo_bytes=0)
    for _ in range(20):
        parts = [f"not below({chance.randrange(10, 60, 10)}, {chance.randrange(5)})"]
        parts += [f"seen(k{chance.randrange(4)})" for _ in range(2)]
        matcher.subscribe(" and ".join(chance.sample(parts, 2)))
    shadows = Shadows(matcher, PLANNERS)
    for n in (0, 3, 15, 25, 45, 70):
        result = matcher.match(
            {"n": n, "seen": {f"k{at}": chance.random() < 0.5 for at in range(4)}}
        )
        shadow = shadows.of(result)
        assert shadow.broken == {}
        assert shadow.clairvoyant is not None
        assert shadow.clairvoyant <= min(shadow.calls.values()) + 1e-9
        assert max(shadow.calls.values()) <= shadow.every
        assert result.account.needed_at_least <= min(shadow.calls.values())


def test_what_is_remembered_needs_no_wider_call() -> None:
    class Pairs(tamis.Operator):
        specification = tamis.Specification(
            name="pairs",
            parameters=(tamis.Parameter("letter"), tamis.Parameter("number")),
            inputs=("pairs",),
            deterministic=True,
        )

        def solve(self, event: Any, *arguments: Any) -> Any:
            free = [isinstance(each, tamis.Variable) for each in arguments]
            return [
                [part for part, is_free in zip(pair, free, strict=True) if is_free]
                for pair in event["pairs"]
                if all(
                    is_free or p == a for p, a, is_free in zip(pair, arguments, free, strict=True)
                )
            ]

        def in_solutions(self, arguments: Sequence[Any]) -> Sequence[Any]:
            return arguments

    matcher = tamis.Matcher([Pairs, truth_table("seen")], planner="naive", learning=False)
    matcher.subscribe("pairs(a, ?n)", id="numbers")
    matcher.subscribe("pairs(?l, 2)", id="letters")
    event = {"pairs": [["a", 1], ["b", 2]], "seen": {}}
    matcher.match(event)
    matcher.subscribe("seen(k) and pairs(?l, ?n)", id="all")
    result = matcher.match(event)
    assert [each.predicate for each in result.calls] == ["seen(k)"]
    assert Shadows(matcher, ["naive"]).of(result).clairvoyant == 1.0


def test_a_call_that_fails_is_not_required_where_others_imply_its_answer() -> None:
    def solve(event: Any, level: int) -> bool:
        if level == 1:
            raise ValueError("too low")
        return bool(event["level"] >= level)

    def implications(arguments: Any, others: Any) -> Iterable[tamis.Implication]:
        return [
            tamis.Implication(True, at, True)
            for at, (level,) in enumerate(others)
            if level <= arguments[0]
        ]

    above = tamis.operator(name="above", inputs=("level",), implications=implications)(solve)
    matcher = tamis.Matcher([above, truth_table("seen")], planner="naive", learning=False)
    matcher.subscribe("above(3)", id="high")
    matcher.subscribe("above(1) and seen(k)", id="seen")
    result = matcher.match({"level": 5, "seen": {"k": True}})
    assert [each.predicate for each in result.calls] == ["above(3)", "seen(k)"]
    shadow = Shadows(matcher, ["naive"]).of(result)
    assert shadow.calls == {"naive": 2}
    assert shadow.clairvoyant is not None
    assert shadow.clairvoyant <= 2.0
