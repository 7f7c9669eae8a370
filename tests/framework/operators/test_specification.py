"""Checks specifications of operators, made of a function, a class or a record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tamis
from tamis import (
    Operator,
    OperatorError,
    OperatorRecord,
    Parameter,
    Resource,
    Specification,
    operator,
)
from tamis.language.text import RESERVED
from tamis.operators import record_of, records_of


@operator
def bare(event: Any, level: Any) -> bool:
    """Looks at everything.

    And more."""
    return True


@operator(
    name="loud",
    version="7",
    inputs=("loudness",),
    optional_inputs=["unit"],
    outputs=("level",),
    cost_seconds=0.5,
    timeout=2,
    deterministic=False,
)
def declared(event: Any, place: str, level: int, note: str | float = "x") -> list[int]:
    return [3]


def test_a_bare_operator_declares_nothing() -> None:
    specification = bare.specification
    assert specification.name == "bare"
    assert specification.description == "Looks at everything."
    assert specification.inputs is None
    assert specification.visible is None
    assert specification.outputs == ()
    assert specification.parameters == (Parameter("level"),)
    assert specification.signature == "bare(level)"


def test_what_is_declared_is_in_the_specification() -> None:
    specification = declared.specification
    assert specification.name == "loud"
    assert specification.version == "7"
    assert specification.visible == ("loudness", "unit")
    assert specification.signature == "loud(place, ?level, note)"
    assert specification.expected_cost_seconds == 0.5
    assert specification.deterministic is False
    place, level, note = specification.parameters
    assert (place.required, note.required) == (True, False)
    assert place.problem(3) == "is a string"
    assert place.problem("x") is None
    assert level.problem(2.5) == "is a whole number"
    assert level.problem(True) == "is a number"
    assert note.problem(True) == "is a number or a string"


def test_an_operator_is_still_the_function() -> None:
    assert bare({}, 3) is True
    assert declared({}, "here", 1) == [3]
    assert "loud(place, ?level, note)" in repr(declared)


def test_a_specification_is_frozen() -> None:
    with pytest.raises(AttributeError):
        bare.specification.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("name", [*sorted(RESERVED), "NOT", "In"])
def test_a_keyword_is_no_name(name: str) -> None:
    with pytest.raises(OperatorError, match="keyword"):
        operator(name=name)(lambda event: True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"name": ""}, "non-empty"),
        ({"outputs": ("levle",)}, r"did you mean level\?"),
        ({"outputs": ("level", "level")}, "declares an output twice"),
        ({"inputs": "loudness"}, r"write \('loudness',\)"),
        ({"outputs": "level"}, "tuple of names"),
        ({"timeout": 0}, "timeout of f is a number above 0"),
        ({"timeout": -1}, "above 0"),
        ({"concurrency": 0}, "concurrency of f"),
        ({"calls_per_second": 0}, "calls_per_second of f"),
        ({"cost_seconds": -1}, "cost_seconds of f is a number 0 or more, not -1"),
        ({"isolation": "moon"}, "isolation of f is one of"),
        ({"resource": "key"}, "resource of f is a tamis.Resource, or a tuple of them, not 'key'"),
        ({"resource": ("key",)}, "resource of f is a tamis.Resource"),
        ({"resource": [Resource("key")]}, "resource of f is a tamis.Resource"),
        ({"retries": -1}, "retries of f are a whole number from 0 to 100, not -1"),
        ({"retries": 101}, "retries of f are a whole number"),
        ({"retries": 2.0}, "retries of f are a whole number"),
        ({"retries": True}, "retries of f are a whole number"),
        ({"retires": 2}, r"did you mean retries\?"),
        ({"input": ("loudness",)}, r"no setting 'input'; did you mean inputs\?"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, Any], says: str) -> None:
    def f(event: Any, level: Any) -> bool:
        return True

    with pytest.raises(OperatorError, match=says):
        operator(**arguments)(f)


def test_a_cost_may_be_zero() -> None:
    assert operator(cost_seconds=0)(lambda event: True).specification.expected_cost_seconds == 0


def test_none_beside_a_kind_is_what_is_left_out() -> None:
    def f(event: Any, level: float | None = None, turn: int | None = None, other: Any = 3) -> bool:
        return True

    level, turn, other = operator(f).specification.parameters
    assert level.problem("x") == "is a number"
    assert turn.problem(2.5) == "is a whole number"
    assert other.problem("x") is None
    assert not any(each.required for each in (level, turn, other))


def test_an_operator_takes_the_event() -> None:
    with pytest.raises(OperatorError, match="takes no parameter"):
        operator(lambda: True)
    with pytest.raises(OperatorError, match="keyword-only parameter 'level'"):
        operator(name="f")(lambda event, *, level: True)


def test_an_operator_may_take_any_number_of_arguments() -> None:
    variadic = operator(name="f")(lambda event, first, *rest: True)
    assert variadic.specification.signature == "f(first, …)"


class Classy(Operator):
    """An operator of a class."""

    specification = Specification("classy", inputs=("a",))

    def solve(self, event: Any, level: int) -> bool:
        return bool(event["a"] > level)


@pytest.mark.parametrize(
    "given", [Classy, Classy(), OperatorRecord(Classy.specification, Classy), bare]
)
def test_operators_come_in_four_forms(given: object) -> None:
    record = record_of(given)
    assert isinstance(record.factory(), Operator)


def test_parameters_are_those_of_solve() -> None:
    for given in (Classy, Classy()):
        (level,) = record_of(given).specification.parameters
        assert (level.name, level.whole) == ("level", True)


def test_a_class_is_made_when_it_is_first_needed() -> None:
    made: list[object] = []

    class Counted(Classy):
        def __init__(self) -> None:
            made.append(self)

    matcher = tamis.Matcher(operators=[Counted])
    assert not made
    matcher.subscribe("classy(3)")
    matcher.subscribe("classy(4)")
    assert len(made) == 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([lambda event: True], "plain function: put @tamis.operator above it"),
        ([3], "3 is not an operator"),
        ({"a": bare}, "operators are a list"),
        ("bare", "operators are a list"),
        ([Operator], "has no specification"),
    ],
)
def test_what_is_no_operator(given: Any, says: str) -> None:
    with pytest.raises(OperatorError, match=says):
        records_of(given)


def test_two_operators_of_one_name_are_refused() -> None:
    other = operator(name="bare")(lambda event: True)
    with pytest.raises(tamis.PluginError, match="two of the given operators are named bare"):
        tamis.Matcher(operators=[bare, other])


def test_the_defaults_of_solve_many_and_solve_events() -> None:
    twice = operator(name="twice")(lambda event, level: event["a"] > level)
    assert list(twice.solve_many({"a": 3}, [(2,), (3,)])) == [True, False]
    assert list(twice.solve_events([{"a": 3}, {"a": 2}], [(2,), (2,)])) == [True, False]
    assert list(twice.implications((1,), [(2,)])) == []
    assert twice.check(1) is None


def test_an_operator_without_solve_says_so() -> None:
    class Empty(Operator):
        specification = Specification("empty", parameters=(Parameter("x"),))

    matcher = tamis.Matcher(operators=[Empty()])
    matcher.subscribe("empty(1)", id="s1")
    (left,) = matcher.match({}).undetermined
    assert "empty does not define solve" in left.reason


# what a subscription may ask


@operator(inputs=("a",), outputs=("y",))
def strict(event: Any, x: int, y: float, note: str = "") -> list[float]:
    return [1.0]


@pytest.mark.parametrize(
    ("where", "says", "column"),
    [
        ("strict(1)", r"strict\(x, \?y, note\) takes 2 arguments, not 1", 1),
        ("strict()", "takes 2 arguments, not 0", 1),
        ("strict(1, 2, a, 3)", "takes 3 arguments, not 4", 1),
        ("a = 1 and strict('x', ?y)", r"x of strict\(x, \?y, note\) is a number", 18),
        ("strict(2.5, ?y)", "is a whole number", 8),
        ("strict(1, x)", "is a number", 11),
        ("strict(?x, ?y)", r"takes a constant; variables stand for y", 8),
        ("strict(1, ?y, 3)", "is a string, not 3", 15),
        ("strickt(1, ?y)", "unknown operator strickt; did you mean strict\\?", 1),
        ("moon(1)", r"unknown operator moon \(known: bare, strict\)", 1),
        ("strict() and ?z > 1 and moon(1)", "unknown operator moon", 25),
        ("strict(), ?z > 1, moon(1)", "unknown operator moon", 19),
        ("(strict() or a = 1) and moon(1)", "unknown operator moon", 25),
    ],
)
def test_arguments_are_checked_at_subscription(where: str, says: str, column: int) -> None:
    matcher = tamis.Matcher(operators=[strict, bare])
    with pytest.raises(tamis.SubscriptionError, match=says) as caught:
        matcher.subscribe(where, id="s1")
    assert (caught.value.subscription, caught.value.column) == ("s1", column)
    assert len(matcher) == 0


def test_check_refuses_with_a_suggestion_and_a_place() -> None:
    def check(region: Any, radius: Any) -> None:
        if region not in ("Bronx", "Queens"):
            raise tamis.ArgumentError.unknown("region", region, ("Bronx", "Queens"))
        if radius == 13:
            raise tamis.ArgumentError("an unlucky radius", 1)

    near = operator(name="near", check=check)(lambda event, region, radius: True)
    matcher = tamis.Matcher(operators=[near])
    with pytest.raises(tamis.SubscriptionError, match=r"did you mean Bronx\?") as caught:
        matcher.subscribe("a = 1 and near(Bronks, 5km)")
    assert caught.value.column == 16
    with pytest.raises(tamis.SubscriptionError, match="unlucky") as caught:
        matcher.subscribe("near(Bronx,\n 13)")
    assert (caught.value.line, caught.value.column) == (2, 2)


def test_check_compiles_arguments() -> None:
    seen: list[tuple[Any, ...]] = []

    def check(region: Any, radius: Any) -> list[Any]:
        return [region.upper(), radius]

    @operator(name="near", check=check)
    def near(event: Any, region: Any, radius: Any) -> bool:
        seen.append((region, radius))
        return True

    matcher = tamis.Matcher(operators=[near])
    matcher.subscribe("near(Bronx, 5km)")
    result = matcher.match({})
    assert seen == [("BRONX", 5000)]
    assert [call.predicate for call in result.calls] == ["near(Bronx, 5000)"]


@pytest.mark.parametrize("problem", [KeyError("k"), ZeroDivisionError("z")])
def test_a_check_that_fails_is_an_error_of_the_subscription(problem: Exception) -> None:
    def check(level: Any) -> None:
        raise problem

    broken = operator(name="broken", check=check)(lambda event, level: True)
    with pytest.raises(tamis.SubscriptionError, match=type(problem).__name__):
        tamis.Matcher(operators=[broken]).subscribe("broken(1)")


def test_integral_numbers_reach_the_operator_as_int() -> None:
    seen: list[Any] = []

    @operator
    def keep(event: Any, *values: Any) -> bool:
        seen.extend(values)
        return True

    matcher = tamis.Matcher(operators=[keep])
    matcher.subscribe("keep(5.0, 5km, 2.5, bare, 'text', true, -0.0, 1e3)")
    matcher.match({})
    assert [(type(each).__name__, each) for each in seen] == [
        *(("int", 5), ("int", 5000), ("float", 2.5), ("str", "bare"), ("str", "text")),
        *(("bool", True), ("int", 0), ("int", 1000)),
    ]


def test_operators_see_variables_by_number() -> None:
    seen: list[Any] = []

    @operator
    def keep(event: Any, *values: Any) -> list[tuple[int, int]]:
        seen.append(values)
        return [(1, 1)]

    matcher = tamis.Matcher(operators=[keep])
    matcher.subscribe("keep(?a, 7, ?b)")
    matcher.match({})
    ((first, seven, second),) = seen
    assert isinstance(first, tamis.Variable)
    assert (first.number, seven, second.number) == (1, 7, 2)


def test_the_booleans_of_numpy_are_booleans() -> None:
    for answer in (np.True_, np.array(True), np.bool_(1)):
        said = operator(name="said")(lambda event, answer=answer: answer)
        matcher = tamis.Matcher(operators=[said])
        matcher.subscribe("said()")
        assert len(matcher.match({}).matches) == 1


def test_a_missing_module_is_a_sentence_at_subscription() -> None:
    @tamis.operator(extra="tamis[harbor]", modules=("json", "no_such_module", "no.such.one"))
    def docked(event: object) -> bool:
        return True

    with pytest.raises(
        tamis.SubscriptionError,
        match=r"docked needs no_such_module and no\.such\.one, which are not installed: "
        r"pip install 'tamis\[harbor\]'",
    ):
        tamis.Matcher([docked]).subscribe("docked()")


def test_what_is_to_be_set_up_is_a_sentence_at_subscription() -> None:
    @tamis.operator(lacking="set TAMIS_HARBOR to a chart")
    def docked(event: object) -> bool:
        return True

    assert docked.specification.missing == "docked: set TAMIS_HARBOR to a chart"
    with pytest.raises(tamis.SubscriptionError, match="docked: set TAMIS_HARBOR to a chart"):
        tamis.Matcher([docked]).subscribe("docked()")
    with pytest.raises(OperatorError, match="lacking of x says what has to be set up"):
        Specification("x", lacking="")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"solve_many": 5}, "solve_many of over is a function"),
        ({"implications": {}}, "implications of over is a function"),
        ({"check": 3}, "check of over is a function"),
        ({"concurrency": 1.5}, "concurrency of over is a whole number"),
        ({"deterministic": "no"}, "deterministic of over is True or False"),
    ],
)
def test_a_wrong_setting_is_told_what_it_should_be(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(tamis.OperatorError, match=words):
        operator(name="over", **settings)(lambda event: True)


def test_an_operator_may_answer_many_alone() -> None:
    class Louder(Operator):
        specification = Specification(name="louder", parameters=(Parameter("level"),))

        def solve_many(self, event: Any, lists: Any) -> list[Any]:
            """Answers several, with a failure in the place of one."""
            return [event["level"] > each or ValueError("too quiet") for (each,) in lists]

    class Waiting(Operator):
        specification = Specification(name="waiting", parameters=(Parameter("level"),))

        async def solve_many(self, event: Any, lists: Any) -> list[Any]:  # type: ignore[override]
            """Waits for its answers."""
            return [True for _ in lists]

    made = Louder()
    assert made.answers_many
    assert made.solve({"level": 7}, 3) is True
    with pytest.raises(ValueError, match="too quiet"):
        made.solve({"level": 7}, 9)
    with pytest.raises(OperatorError, match="waiting does not define solve"):
        Waiting().solve({"level": 7}, 3)
