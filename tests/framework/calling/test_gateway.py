"""Checks that operators give truths, solutions, or a failure with a reason, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tamis
from tamis import Preparation
from tamis.calling.attempts import Attempts
from tamis.testing import FakeClock, counting, raising


def answered(answer: Any, where: str = "said(?x)", **how: Any) -> tamis.Result:
    """What comes of an operator that gives an answer, or what an answer makes when called."""

    @tamis.operator(name="said", **how)
    def said(event: Any, *arguments: Any) -> Any:
        return answer() if callable(answer) else answer

    matcher = tamis.Matcher(operators=[said])
    matcher.subscribe(where, id="s1")
    return matcher.match({})


def bindings(result: tamis.Result) -> list[Any]:
    (match,) = result.matches
    return [list(each.values()) for each in match.bindings]


def reason(result: tamis.Result) -> str:
    assert not result.matches
    (left,) = result.undetermined
    assert left.subscription == "s1"
    return left.reason


# solutions


def generated() -> Iterator[int]:
    yield 1
    yield 2


@pytest.mark.parametrize(
    ("answer", "values"),
    [
        ([1, 2], [1, 2]),
        ((1, 2), [1, 2]),
        ({7}, [7]),
        (range(2), [0, 1]),
        (generated, [1, 2]),
        ([(1,), [2]], [1, 2]),
        ([1, 1.0, True, "1"], [1, True, "1"]),
        (["fire", 2.5, False], ["fire", 2.5, False]),
        (np.array([1, 2]), [1, 2]),
        ([np.int64(3), np.float32(0.5)], [3, 0.5]),
        ([math.inf, 10**400], [math.inf, 10**400]),
        ({"a": 1}.keys(), ["a"]),
    ],
)
def test_solutions_of_one_variable(answer: Any, values: list[Any]) -> None:
    assert bindings(answered(answer)) == [[value] for value in values]


@pytest.mark.parametrize(
    ("answer", "values"),
    [
        ([(1, 2), (3, "a")], [[1, 2], [3, "a"]]),
        ([[1, 2]], [[1, 2]]),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        ([(1, 2), (1.0, 2)], [[1, 2]]),
    ],
)
def test_solutions_of_two_variables(answer: Any, values: list[Any]) -> None:
    assert bindings(answered(answer, "said(?x, ?y)")) == values


NO_SOLUTIONS: list[Any] = [[], (), set(), iter(()), np.array([])]


@pytest.mark.parametrize("answer", NO_SOLUTIONS)
def test_no_solution_is_false(answer: Any) -> None:
    result = answered(answer)
    assert not result.matches
    assert not result.undetermined


def test_repeated_variables_are_asked_by_position() -> None:
    assert bindings(answered([(1, 1), (1, 2), (1, True)], "said(?x, ?x)")) == [[1]]


# nonsense


ANYWHERE: list[Any] = [None, 1, "yes", b"", {}, 1.0, object()]
NO_TRUTH: list[Any] = [0, [], [True], (1,), np.array([True]), np.int64(1)]
NO_VALUES: list[Any] = [True, {"a": 1}, [None], [math.nan], [[1, 2]], [{}], [[]], [object()]]
NO_PAIRS: list[Any] = [
    *([1], [(1,)], [(1, 2, 3)], ["ab"], [(1, None)], [(1, math.nan)], [(1, [2])]),
    np.array([1, 2]),
]
NONSENSE: list[tuple[Any, str]] = [
    *((answer, "said()") for answer in (*ANYWHERE, *NO_TRUTH)),
    *((answer, "said(?x)") for answer in (*ANYWHERE, *NO_VALUES)),
    *((answer, "said(?x, ?y)") for answer in (*ANYWHERE, *NO_PAIRS)),
]


@pytest.mark.parametrize(("answer", "where"), NONSENSE)
def test_nonsense_is_unknown(answer: Any, where: str) -> None:
    assert ": invalid answer: " in reason(answered(answer, where))


def broken_generator() -> Iterator[int]:
    yield 1
    raise RuntimeError("half way")


@pytest.mark.parametrize("answer", [[1, None], [1, "ok", math.nan], broken_generator])
def test_good_solutions_beside_bad_ones_do_not_count(answer: Any) -> None:
    reason(answered(answer))


def test_the_negation_of_nonsense_is_unknown_too() -> None:
    assert reason(answered("yes", "not said()")).startswith("said(): invalid answer: ")


# failures


class Unspeakable(Exception):
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (ValueError("no model"), "ValueError: no model"),
        (KeyError("x"), "KeyError: 'x'"),
        (RuntimeError(), "RuntimeError"),
        (MemoryError(), "MemoryError"),
        (SystemExit(3), "SystemExit: 3"),
        (TimeoutError("its own"), "TimeoutError: its own"),
        (StopIteration(), "StopIteration"),
        (Unspeakable(), "Unspeakable"),
        (ValueError("long " * 1000), "long"),
    ],
)
@pytest.mark.parametrize("where", ["broken()", "not broken(1)", "broken(?x)"])
def test_what_raises_is_unknown(problem: BaseException, says: str, where: str) -> None:
    matcher = tamis.Matcher(operators=[raising("broken", problem)])
    matcher.subscribe(where, id="s1")
    text = reason(matcher.match({}))
    assert ": raised: " in text
    assert says in text
    assert len(text) < 700


def test_an_interrupt_of_the_user_is_no_failure() -> None:
    matcher = tamis.Matcher(operators=[raising("broken", KeyboardInterrupt())])
    matcher.subscribe("broken()")
    with pytest.raises(KeyboardInterrupt):
        matcher.match({})


def test_a_missing_key_names_the_operator_and_the_input() -> None:
    @tamis.operator(inputs=("a",))
    def curious(event: Any) -> bool:
        return bool(event["b"])

    matcher = tamis.Matcher(operators=[curious])
    matcher.subscribe("curious()", id="s1")
    assert "does not declare 'b'" in reason(matcher.match({"a": 1, "b": 2}))


# time


def test_the_seconds_of_a_call_are_measured_by_the_timer() -> None:
    clock = FakeClock()

    @tamis.operator
    def busy(event: Any, seconds: float) -> bool:
        clock.advance(seconds)
        return True

    matcher = tamis.Matcher(operators=[busy], timer=clock)
    matcher.subscribe("busy(2.5) and busy(0.25)", id="s1")
    result = matcher.match({})
    assert [(call.predicate, call.seconds) for call in result.calls] == [
        *(("busy(2.5)", 2.5), ("busy(0.25)", 0.25)),
    ]
    assert result.account.seconds["operators"] == 2.75
    assert result.account.operators["busy"].seconds == 2.75


# preparations


def prepared(
    prepare: Callable[[Any], object], *, inputs: tuple[str, ...] | None = None
) -> tamis.Matcher:
    """A matcher with two operators that share a preparation."""
    frame = Preparation("frame", prepare, inputs)

    @tamis.operator(preparation=frame, inputs=("image",))
    def people(event: Any, level: int) -> bool:
        return bool(event.prepared["people"] > level)

    @tamis.operator(preparation=frame, outputs=("n",))
    def boats(event: Any, n: Any) -> list[int]:
        return [event.prepared["boats"]]

    return tamis.Matcher(operators=[people, boats])


def test_a_preparation_is_made_once_an_event() -> None:
    decoded: list[str] = []

    def decode(event: Any) -> dict[str, int]:
        decoded.append(event["image"])
        return {"people": 7, "boats": 2}

    matcher = prepared(decode, inputs=("image",))
    matcher.subscribe("people(5) and not people(9) and boats(?n)", id="s1")
    assert bindings(matcher.match({"image": "a"})) == [[2]]
    assert decoded == ["a"]
    matcher.match({"image": "b"})
    assert decoded == ["a", "b"]


def test_a_preparation_is_not_made_when_nobody_asks() -> None:
    def decode(event: Any) -> object:
        raise AssertionError("not needed")

    matcher = prepared(decode)
    matcher.subscribe("people(5) and altitude < 3", id="s1")
    assert not matcher.match({"image": "a", "altitude": 9}).undetermined


def test_a_failing_preparation_fails_all_who_need_it_once() -> None:
    tried: list[int] = []

    def decode(event: Any) -> object:
        tried.append(1)
        raise ValueError("damaged image")

    matcher = prepared(decode)
    matcher.subscribe("people(5)", id="s1")
    matcher.subscribe("boats(?n)", id="s2")
    result = matcher.match({"image": "a"})
    assert [each.subscription for each in result.undetermined] == ["s1", "s2"]
    assert all("ValueError: damaged image" in each.reason for each in result.undetermined)
    assert tried == [1]


def test_an_operator_without_a_preparation_has_none() -> None:
    assert bindings(answered(lambda: [1])) == [[1]]

    @tamis.operator
    def asks(event: Any) -> bool:
        return event.prepared is None

    matcher = tamis.Matcher(operators=[asks])
    matcher.subscribe("asks()")
    assert len(matcher.match({}).matches) == 1


def test_whether_a_preparation_is_late_does_not_depend_on_who_asks_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it takes is not part of what a call that needs it may take."""
    begin = Attempts.begin
    order: list[str] = []

    def begun(attempts: Attempts) -> float | None:
        if attempts.seconds is not None:
            order.append("a call that may be late")
        return begin(attempts)

    monkeypatch.setattr(Attempts, "begin", begun)

    def answers(names: tuple[str, str]) -> tuple[list[str], list[str]]:
        frame = Preparation("frame", lambda event: order.append("preparation"))

        @tamis.operator(preparation=frame, timeout=30)
        def hurried(event: Any) -> bool:
            return True

        @tamis.operator(preparation=frame)
        def patient(event: Any) -> bool:
            return True

        matcher = tamis.Matcher(operators=[hurried, patient], planner="naive")
        for name in names:
            matcher.subscribe(f"{name}()", id=name)
        result = matcher.match({})
        return (
            [match.subscription for match in result.matches],
            [each.subscription for each in result.undetermined],
        )

    assert answers(("hurried", "patient")) == answers(("patient", "hurried"))
    assert order == ["preparation", "a call that may be late"] * 2


# bounds


def test_more_solutions_than_the_limit_are_cut() -> None:
    forever = counting(tamis.operator(name="forever")(lambda event, n: iter(int, 1)))

    @tamis.operator(outputs=("n",))
    def numbers(event: Any, n: Any) -> Iterator[int]:
        yield from range(10**9)

    matcher = tamis.Matcher(operators=[numbers, forever], limits=tamis.Limits(solutions=100))
    matcher.subscribe("numbers(?n)", id="cut")
    matcher.subscribe("numbers(?n) and ?n > 1000", id="none")
    matcher.subscribe("numbers(5)", id="there")
    matcher.subscribe("numbers(5000)", id="perhaps")
    matcher.subscribe("not numbers(5)", id="false")
    matcher.subscribe("forever(?n)", id="same")
    result = matcher.match({})
    assert {match.subscription: match.truncated for match in result.matches} == {
        "cut": True,
        "there": False,
        "same": True,
    }
    assert [each.subscription for each in result.undetermined] == ["none", "perhaps"]
    assert all("first 100 solutions" in each.reason for each in result.undetermined)
