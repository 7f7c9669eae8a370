"""A call with variables answers those with constants in their places; no verdict depends on it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

import tamis
from tamis.engine import wider
from tamis.engine.wider import narrowed_answers
from tamis.limits import Limits
from tamis.operators.asking import Call


def same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


class Pairs(tamis.Operator):
    """Which pairs of letters and numbers an event has."""

    def __init__(self, **settings: Any) -> None:
        self.asked: list[tuple[object, ...]] = []
        self.failing = settings.pop("failing", False)
        self.specification = tamis.Specification(
            name="pairs",
            parameters=(tamis.Parameter("letter"), tamis.Parameter("number")),
            inputs=("pairs",),
            **settings,
        )

    def solve(self, event: Any, *arguments: Any) -> Any:
        self.asked.append(arguments)
        letter, number = arguments
        pairs = [tuple(each) for each in event["pairs"]]
        free = [isinstance(each, tamis.Variable) for each in arguments]
        if self.failing and all(free):
            raise ValueError("too many")
        found = [
            pair
            for pair in pairs
            if (free[0] or same(pair[0], letter)) and (free[1] or same(pair[1], number))
        ]
        if not any(free):
            return bool(found)
        return [tuple(v for v, f in zip(pair, free, strict=True) if f) for pair in found]

    def in_solutions(self, arguments: Sequence[Any]) -> Sequence[Any]:
        return arguments

    def samples(self) -> Iterable[tamis.Sample]:
        event = {"pairs": [["a", 1], ["b", 2]]}
        yield tamis.Sample("pairs(a, 1)", event, True)
        yield tamis.Sample("pairs(a, 2)", event, False)
        yield tamis.Sample("pairs(?x, 1)", event, ["a"])
        yield tamis.Sample("pairs(?x, ?y)", event, [("a", 1), ("b", 2)])


EVENT = {"pairs": [["a", 1], ["a", 2], ["b", 2]]}


def asking(operator: tamis.Operator, texts: Iterable[str], **settings: Any) -> tamis.Matcher:
    matcher = tamis.Matcher([operator], memo_bytes=0, **settings)
    matcher.subscribe_many({"id": text, "where": text} for text in texts)
    return matcher


def verdicts(result: tamis.Result) -> dict[str, Any]:
    found: dict[str, Any] = {
        each.subscription: sorted(map(str, each.bindings)) for each in result.matches
    }
    return found | {each.subscription: "unknown" for each in result.undetermined}


def test_one_call_answers_all_narrower_ones() -> None:
    operator = Pairs()
    narrower = [f"pairs({letter}, {number})" for letter in "abc" for number in range(300)]
    result = asking(
        operator, ["pairs(?x, ?y)", *narrower, "pairs(?x, 2)", "not pairs(c, 5)"]
    ).match(EVENT)
    assert len(operator.asked) == result.account.calls == 1
    assert result.account.implied == len(narrower) + 1
    found = verdicts(result)
    assert found.pop("pairs(?x, 2)") == ["{'x': 'a'}", "{'x': 'b'}"]
    assert found.keys() == {
        "pairs(?x, ?y)",
        "pairs(a, 1)",
        "pairs(a, 2)",
        "pairs(b, 2)",
        "not pairs(c, 5)",
    }
    assert "implied by pairs(?1, ?2), true" in str(result.explain("pairs(a, 1)"))


def test_guards_repeated_variables_and_kinds_count() -> None:
    texts = [
        "pairs(?x, ?y)", "pairs(?x, 2), ?x = b", "pairs(?x, ?x)", "pairs(2, ?y)", 'pairs("2", ?y)',
        "pairs(?x, true)", "pairs(?x, 1)", "pairs(?x, ?y), pairs(?x, 1), ?y > 1",
    ]  # fmt: skip
    event = {"pairs": [["a", 1], ["b", 2], [2, 2], [3, True], ["a", 7]]}
    operator = Pairs()
    together = verdicts(asking(operator, texts).match(event))
    assert len(operator.asked) == 1
    alone: dict[str, Any] = {}
    for text in texts:
        alone |= verdicts(asking(Pairs(), [text]).match(event))
    assert together == alone
    assert together["pairs(?x, ?y), pairs(?x, 1), ?y > 1"] == ["{'x': 'a', 'y': 7}"]
    assert together["pairs(?x, true)"] == ["{'x': 3}"]


def test_a_wider_call_that_fails_or_is_cut_changes_no_verdict() -> None:
    texts = [
        "pairs(?x, ?y)",
        "pairs(a, 1)",
        "pairs(b, 2)",
        "not pairs(c, 3)",
        "pairs(b, ?n), ?n > 1",
    ]
    for operator, limits in ((Pairs(failing=True), Limits()), (Pairs(), Limits(solutions=1))):
        found = verdicts(asking(operator, texts, limits=limits).match(EVENT))
        assert found.keys() - {"pairs(?x, ?y)"} == {*texts[1:]}
        assert "unknown" not in [found[text] for text in texts[1:]]
        assert len(operator.asked) == len(set(map(str, operator.asked)))


def test_a_wider_call_that_may_not_be_needed_is_made_if_it_costs_no_more() -> None:
    narrower = [f"pairs(a, {number})" for number in range(9)]
    statistics = tamis.Statistics(cost={"pairs(?1, ?2)": 1.0, **dict.fromkeys(narrower, 0.01)})
    wide = ["pairs(?x, ?y) and never(?x)"]

    @tamis.operator(outputs=("x",), cost_seconds=1e-6)
    def never(event: Any, x: object) -> list[str]:
        return []

    for known, calls in ((statistics, len(narrower)), (None, 1)):
        operator = Pairs()
        matcher = tamis.Matcher([operator, never], memo_bytes=0, statistics=known, learning=False)
        matcher.subscribe_many({"id": text, "where": text} for text in [*wide, *narrower])
        result = matcher.match(EVENT)
        assert len(operator.asked) == calls
        assert [each.subscription for each in result.matches] == ["pairs(a, 1)", "pairs(a, 2)"]


@pytest.mark.parametrize("planner", ["savings", "sequential", "naive", "greedy", "suborder"])
def test_verdicts_are_those_of_each_alone(planner: str) -> None:
    random_ = random.Random(planner)
    atoms = [f"pairs({x}, {y})" for x, y in itertools.product("ab", (1, 2))]
    for _ in range(30):
        texts = {"pairs(?x, ?y)", "pairs(?x, 2)", "pairs(a, ?n)"} & {
            *random_.sample(["pairs(?x, ?y)", "pairs(?x, 2)", "pairs(a, ?n)"], 2)
        }
        for _ in range(6):
            one, other = random_.sample(atoms, 2)
            word = random_.choice(("and", "or", "and not"))
            texts.add(f"{one} {word} {other}")
        pairs = [[x, y] for x in "ab" for y in (1, 2) if random_.random() < 0.5]
        event = {"pairs": pairs}
        together = verdicts(asking(Pairs(), sorted(texts), planner=planner).match(event))
        alone: dict[str, Any] = {}
        for text in texts:
            alone |= verdicts(asking(Pairs(), [text]).match(event))
        assert together == alone


def test_remembered_answers_serve() -> None:
    operator = Pairs(deterministic=True)
    matcher = tamis.Matcher([operator])
    matcher.subscribe("pairs(a, 1)", id="one")
    matcher.match(EVENT)
    matcher.subscribe("pairs(?x, ?y)", id="all")
    assert matcher.match(EVENT).account.calls == 1
    again = matcher.match(EVENT)
    assert again.account.calls == 0
    assert [each.subscription for each in again.matches] == ["all", "one"]


@pytest.mark.parametrize("planner", ["savings", "sequential", "naive", "greedy", "suborder"])
def test_remembered_solutions_serve_where_the_wider_call_is_not_made(planner: str) -> None:
    @tamis.operator(outputs=("x",), cost_seconds=1e-6)
    def never(event: Any, x: object) -> list[str]:
        return []

    operator = Pairs(deterministic=True, cost_seconds=1.0)
    matcher = tamis.Matcher([operator, never], planner=planner)
    matcher.subscribe("pairs(a, ?n)", id="numbers")
    matcher.subscribe("pairs(?l, 2)", id="letters")
    matcher.match(EVENT)
    matcher.subscribe("never(?l), pairs(?l, ?n)", id="wide")
    result = matcher.match(EVENT)
    assert [arguments for arguments in operator.asked if arguments[0] != "a"] == [
        (tamis.Variable(1), 2)
    ]
    assert verdicts(result) == {
        "letters": ["{'l': 'a'}", "{'l': 'b'}"],
        "numbers": ["{'n': 1}", "{'n': 2}"],
    }
    assert "remembered from an earlier event: the call gave 1, 2" in str(result.explain("numbers"))


def test_a_wider_call_that_fails_and_had_nothing_to_answer_implies_nothing() -> None:
    operator = Pairs(deterministic=True)
    matcher = tamis.Matcher([operator])
    matcher.subscribe("pairs(a, 1)", id="one")
    matcher.match(EVENT)
    matcher.subscribe("pairs(?x, ?y)", id="all")
    operator.failing = True
    result = matcher.match(EVENT)
    assert verdicts(result) == {"one": ["{}"], "all": "unknown"}
    decision = result.decision
    assert decision is not None
    assert decision.skeleton.narrower
    assert narrowed_answers(decision.skeleton.narrower, decision.answers) == {}


def test_many_wider_calls_are_each_held_against_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[tuple[int, int]] = []

    def narrower_call(call: Call, number: int, wide: Call, at: int) -> wider.Narrower | None:
        looked_at.append((number, at))
        return found(call, number, wide, at)

    found = wider.narrower_call
    monkeypatch.setattr(wider, "narrower_call", narrower_call)
    operator = Pairs()
    wide = [f"pairs(?x, {number})" for number in range(40)]
    narrow = [f"pairs(l{letter}, {number})" for letter in range(5) for number in range(80)]
    result = asking(operator, [*wide, *narrow]).match(EVENT)
    assert len(operator.asked) == result.account.calls == 40 + 5 * 40
    assert len(looked_at) <= len(wide) + len(narrow)


def test_values_are_checked_at_subscription() -> None:
    class Wrong(Pairs):
        def in_solutions(self, arguments: Sequence[Any]) -> Sequence[Any]:
            return (arguments[0],)

    with pytest.raises(tamis.SubscriptionError, match="a value for each of 2 arguments"):
        asking(Wrong(), ["pairs(a, 1)"])


def test_a_matcher_in_a_folder_knows_it(tmp_path: Any) -> None:
    asking(Pairs(), ["pairs(?x, ?y)", "pairs(a, 1)"]).save(tmp_path / "m")
    operator = Pairs()
    opened = tamis.Matcher.open(tmp_path / "m", [operator])
    assert len(opened.match(EVENT).matches) == 2
    assert len(operator.asked) == 1


def test_many_events_and_workers_answer_alike() -> None:
    texts = ["pairs(?x, ?y)", "pairs(a, 1)", "not pairs(b, 2)"]
    random_ = random.Random(3)
    events = [
        {"pairs": [[x, y] for x in "ab" for y in (1, 2) if random_.random() < 0.5]}
        for _ in range(40)
    ]
    expected = [verdicts(asking(Pairs(), texts).match(event)) for event in events]
    for settings in ({}, {"isolation": "thread"}):
        with asking(Pairs(**settings), texts, workers=3) as matcher:
            assert [verdicts(each) for each in matcher.match_many(events)] == expected
