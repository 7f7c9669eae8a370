"""Checks the meaning of matches through the public interface."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tamis
from tamis import EventError, Limits
from tamis.testing import TableOperator, counting, nonsense, raising, truth_table


@tamis.operator(inputs=("loudness",))
def louderThan(event: Any, level: float) -> bool:
    return bool(event["loudness"] > level)


@tamis.operator(inputs=("people",), outputs=("count",))
def peopleCount(event: Any, count: Any) -> list[int]:
    return [event["people"]]


def run(
    where: str | dict[str, str], event: dict[str, Any], **settings: Any
) -> tuple[dict[str, list[dict[str, Any]]], tamis.Result]:
    """Bindings by subscription, and the result."""
    operators = [
        *(truth_table("seen"), truth_table("heard"), TableOperator("count", outputs=("n",))),
        *(TableOperator("near", outputs=("x", "y")), raising("broken"), nonsense("odd")),
        *(louderThan, peopleCount),
    ]
    one = tamis.Matcher(operators=operators, **settings)
    for id, text in ({"s1": where} if isinstance(where, str) else where).items():
        one.subscribe(text, id=id)
    result = one.match(event)
    return {match.subscription: match.bindings for match in result.matches}, result


def matches(where: str, event: dict[str, Any]) -> bool:
    found, result = run(where, event)
    assert not result.undetermined
    return bool(found)


def test_the_example_of_the_contract() -> None:
    matcher = tamis.Matcher(
        operators=[louderThan, peopleCount], index="scan", planner="sequential", statistics=None
    )
    matcher.subscribe("louderThan(3) and altitude < 400", id="s1")
    matcher.subscribe_many([{"id": "s2", "where": "peopleCount(?n), ?n > 5"}])
    result = matcher.match({"id": "e1", "loudness": 7, "people": 9, "altitude": 120})
    assert result.event == "e1"
    assert [m.subscription for m in result.matches] == ["s1", "s2"]
    assert result.matches[1].bindings == [{"n": 9}]
    assert result.undetermined == []
    assert sorted(call.predicate for call in result.calls) == ["louderThan(3)", "peopleCount(?1)"]
    assert sorted(result.evaluations) == [
        ("louderThan(3)", True, "called"),
        ("peopleCount(?1), ?1 > 5", True, "called"),
    ]
    assert result.as_dict() == {
        "event": "e1",
        "matches": [
            {"subscription": "s1", "bindings": [{}]},
            {"subscription": "s2", "bindings": [{"n": 9}]},
        ],
        "undetermined": [],
    }


@pytest.mark.parametrize(
    ("where", "event", "truth"),
    [
        ("a = 1", {"a": 1.0}, True),
        ("a = 1", {"a": True}, False),
        ("a != 1", {"a": "1"}, False),
        ("a != 1", {}, False),
        ("a not in {1}", {}, False),
        ("not (a < 3)", {"a": 3}, True),
        ("not (a < 3)", {"a": "x"}, False),
        ("not (a < 3)", {}, False),
        ("not (s starts with 'x')", {"s": 3}, False),
        ("not (s starts with 'x')", {"s": "y"}, True),
        ("not (s in {1, 'a'})", {"s": True}, False),
        ("not exists(a)", {}, True),
        ("not exists(a)", {"a": None}, True),
        ("not exists(a)", {"a": []}, False),
        ("not (a has 1)", {"a": [2]}, True),
        ("not (a has 1)", {"a": 2}, False),
        ("not (a in [1, 2] and b = 1)", {"a": 3}, True),
        ("not (a in [1, 2] and b = 1)", {"a": "x", "b": 1}, False),
        ("a > 3 and a < 9", {"a": 5}, True),
        ("a > 3 and a < 9", {"a": 9}, False),
        ("a > 9007199254740992", {"a": 2**53 + 1}, True),
        ("a = 9007199254740993", {"a": float(2**53)}, False),
        ("a > 1e308", {"a": math.inf}, True),
        ("a > 1", {"a": 10**1001}, True),
        ("meta.speed > 3", {"meta": {"speed": 4}}, True),
        ("meta.speed > 3", {"meta.speed": 2, "meta": {"speed": 4}}, False),
        ("tags has any {fire, smoke} and time.hour in [0, 6)", {"tags": ["fire"]}, False),
        (
            "tags has any {fire, smoke} and time.hour in [0, 6)",
            {"tags": ["fire"], "time": "2024-03-01T05:00:00+09:00"},
            True,
        ),
        ("speed > $limit", {"speed": 4, "limit": 3}, True),
        ("speed > $limit", {"speed": 4, "limit": "3"}, False),
        ("speed > $limit", {"speed": 4}, False),
        ("not (speed > $limit)", {"speed": 4}, False),
        ("load / capacity > 0.9", {"load": 1, "capacity": 1}, True),
        ("load / capacity > 0.9", {"load": 1, "capacity": 0}, False),
        ("not (load / capacity > 0.9)", {"load": 1, "capacity": 0}, False),
        ("a = $b", {"a": "x", "b": "x"}, True),
        ("a = $b", {"a": 1, "b": True}, False),
        ("a = b", {"a": "b", "b": 1}, True),
        ("a < b", {"a": 1, "b": 2}, True),
        ("`Camera ID` = 3", {"Camera ID": 3}, True),
        ("id = '7'", {"id": 7}, True),
        ("a = 1 or a = true", {"a": True}, True),
        ("a in {1, true}", {"a": True}, True),
        ("a in {1}", {"a": True}, False),
        ("tags has none {a}", {"tags": []}, True),
        ("tags has none {a}", {"tags": "b"}, False),
        ("s matches '^a.*z$'", {"s": "abcz"}, True),
    ],
)
def test_conditions_on_attributes(where: str, event: dict[str, Any], truth: bool) -> None:
    assert matches(where, event) is truth


@pytest.mark.parametrize(
    ("where", "bindings"),
    [
        ("seen(a)", [{}]),
        ("not seen(b)", [{}]),
        ("seen(a) and not seen(b)", [{}]),
        ("seen(b)", None),
        ("not seen(a)", None),
        ("seen(a) and count(k, ?n)", [{"n": 1}, {"n": 2}, {"n": 3}]),
        ("count(k, ?n), ?n > 1", [{"n": 2}, {"n": 3}]),
        ("count(k, ?n), ?n > 5", None),
        ("count(nobody, ?n)", None),
        ("count(k, 2)", [{}]),
        ("count(k, 2.0)", [{}]),
        ("count(k, 5)", None),
        ("not count(k, 5)", [{}]),
        ("not count(k, 2)", None),
        ("near(k, ?x, ?x)", [{"x": 7}]),
        ("near(k, ?x, ?y), ?x < ?y", [{"x": 1, "y": 2}]),
        ("near(k, 1, ?y)", [{"y": 2}]),
        ("near(k, ?x, ?y), count(k, ?x)", [{"x": 1, "y": 2}]),
        ("count(k, ?a), count(k, ?b), ?a + ?b = 6", [{"a": 3, "b": 3}]),
        ("count(k, ?a), count(k, ?b), ?a > ?b, ?b > 1", [{"a": 3, "b": 2}]),
        ("count(k, ?n), ?n > $limit", [{"n": 3}]),
        ("count(k, ?n), not (?n < 3)", [{"n": 3}]),
        ("count(k, ?n), ?n in {1, 3}", [{"n": 1}, {"n": 3}]),
        ("count(k, ?n), ?n not in {1, 3}", [{"n": 2}]),
        ("count(k, ?n), ?n between 2 and 9", [{"n": 2}, {"n": 3}]),
        ("count(k, ?n) or seen(a)", [{"n": 1}, {"n": 2}, {"n": 3}]),
        ("seen(a) or seen(b)", [{}]),
        ("(count(k, ?n), ?n > 2) or (count(k, ?n), ?n < 2)", [{"n": 1}, {"n": 3}]),
        ("(count(k, ?n), ?n > 1) or (count(k, ?m), ?m < 3)", 4),
        ("(count(k, ?n), ?n > 1) or (count(k, ?n), ?n < 3)", [{"n": 1}, {"n": 2}, {"n": 3}]),
        ("limit = 2 and count(k, ?n) or limit = 2", [{"n": 1}, {"n": 2}, {"n": 3}]),
        ("limit = 3 and count(k, ?n) or limit = 2", [{}]),
    ],
)
def test_assignments(where: str, bindings: list[dict[str, Any]] | int | None) -> None:
    event = {
        "limit": 2,
        "seen": {"a": True, "b": False},
        "count": {"k": [1, 2, 3, 2, 1.0]},
        "near": {"k": [[1, 2], [7, 7], [9, 8]]},
    }
    found, result = run(where, event)
    assert not result.undetermined
    if isinstance(bindings, int):
        assert len(found["s1"]) == bindings
    elif bindings is None:
        assert found == {}
    else:
        assert sorted(map(str, found["s1"])) == sorted(map(str, bindings))


# calls


def calls_of(where: dict[str, str], event: dict[str, Any]) -> list[str]:
    _, result = run(where, event)
    return sorted(call.predicate for call in result.calls)


def test_equal_predicates_share_a_call() -> None:
    event = {"near": {"k": [[1, 1]]}, "people": 5, "loudness": 4}
    assert calls_of({"a": "near(k, ?x, ?y)", "b": "near('k', ?a, ?b)"}, event) == [
        "near(k, ?1, ?2)"
    ]
    assert calls_of({"a": "near(k, ?x, ?y)", "b": "near(k, ?x, ?x)"}, event) == ["near(k, ?1, ?2)"]
    assert calls_of({"a": "peopleCount(5)", "b": "peopleCount(?n)"}, event) == ["peopleCount(?1)"]
    assert calls_of({"a": "peopleCount(5)", "b": "peopleCount(6)"}, event) == ["peopleCount(?1)"]
    assert calls_of({"a": "louderThan(3)", "b": "not louderThan(3.0)"}, event) == ["louderThan(3)"]
    assert len(calls_of({"a": "louderThan(3)", "b": "louderThan(2)"}, event)) == 2


def test_kinds_of_constants_are_told_apart() -> None:
    event = {"seen": {"1": True, "true": True}}
    assert len(calls_of({"a": "seen(1)", "b": "seen('1')", "c": "seen(true)"}, event)) == 3


def test_undeclared_outputs_share_nothing_with_constants() -> None:
    asked = counting(tamis.operator(name="free")(lambda event, x: [1] if x != 5 else True))
    one = tamis.Matcher(operators=[asked])
    one.subscribe("free(?x)", id="a")
    one.subscribe("free(5)", id="b")
    assert len(one.match({}).matches) == 2
    assert len(asked.calls) == 2


def test_every_evaluation_says_how() -> None:
    _, result = run({"a": "count(k, ?n), ?n > 1", "b": "count(k, 1)"}, {"count": {"k": [1]}})
    assert sorted(result.evaluations) == [
        ("count(k, 1)", True, "shared"),
        ("count(k, ?1), ?1 > 1", False, "called"),
    ]


def test_at_most_one_call_for_each_predicate_and_none_without_need() -> None:
    asked = counting(truth_table("seen"))
    one = tamis.Matcher(operators=[asked], planner="naive")
    for number in range(20):
        one.subscribe(f"seen(a) and seen(b) and seen(k{number})", id=f"s{number}")
    one.match({"id": "e1", "seen": {"a": True, "b": False}})
    assert asked.calls == [("e1", ("a",)), ("e1", ("b",))]
    one.match({"id": "e2", "seen": {"a": False, "b": False}})
    assert asked.calls[2:] == [("e2", ("a",))]
    assert asked.repeated == []


def test_attributes_are_decided_before_any_call() -> None:
    found, result = run("broken() and a = 1", {"a": 2})
    assert (found, result.calls, result.undetermined) == ({}, [], [])
    assert result.account.candidates == 0
    found, result = run("broken() and speed > $limit", {"speed": 2})
    assert (found, result.calls, result.undetermined) == ({}, [], [])


def test_a_true_sibling_without_variables_spares_the_rest() -> None:
    found, result = run("a = 1 or broken()", {"a": 1})
    assert (found, result.calls, result.undetermined) == ({"s1": [{}]}, [], [])
    found, result = run("seen(a) or broken()", {"seen": {"a": True}}, planner="naive")
    assert (found, [call.predicate for call in result.calls]) == ({"s1": [{}]}, ["seen(a)"])


def test_alternatives_with_variables_are_decided_all_the_same() -> None:
    found, result = run("a = 1 or count(k, ?n)", {"a": 1, "count": {"k": [3]}})
    assert found == {"s1": [{"n": 3}]}
    assert len(result.calls) == 1


# absent inputs


@pytest.mark.parametrize("value", [None, math.nan])
@pytest.mark.parametrize("where", ["louderThan(3)", "not louderThan(3)"])
def test_without_its_input_an_operator_is_false_and_so_is_its_negation(
    where: str, value: Any
) -> None:
    for event in ({}, {"loudness": value}):
        found, result = run(where, event)
        assert (found, result.undetermined, result.calls) == ({}, [], [])
        assert "loudness" in str(result.explain("s1"))


def test_an_optional_input_may_be_absent() -> None:
    seen: list[Any] = []

    @tamis.operator(inputs=("a",), optional_inputs=("b",))
    def flexible(event: Any) -> bool:
        seen.append((event["a"], event.get("b"), event.get("c")))
        return True

    one = tamis.Matcher(operators=[flexible])
    one.subscribe("flexible()")
    one.match({"a": 1, "c": 3})
    one.match({"a": 1, "b": [2]})
    assert seen == [(1, None, None), (1, [2], None)]


def test_an_operator_without_declared_inputs_is_always_called() -> None:
    one = tamis.Matcher(operators=[tamis.operator(name="any_")(lambda event: True)])
    one.subscribe("any_()")
    assert len(one.match({}).matches) == 1


def test_an_absent_input_of_one_alternative_leaves_the_other() -> None:
    found, _ = run("louderThan(3) or peopleCount(?n)", {"people": 2})
    assert found == {"s1": [{"n": 2}]}


# unknown


@pytest.mark.parametrize(
    ("where", "verdict"),
    [
        ("broken()", "unknown"),
        ("not broken()", "unknown"),
        ("odd(?x)", "unknown"),
        ("broken() and seen(no)", "false"),
        ("seen(no) and broken()", "false"),
        ("broken() and seen(yes)", "unknown"),
        ("broken() and not seen(yes)", "false"),
        ("broken() or seen(yes)", "true"),
        ("seen(yes) or broken()", "true"),
        ("broken() or seen(no)", "unknown"),
        ("not (broken() and seen(no))", "true"),
        ("not (broken() or seen(yes))", "false"),
        ("broken() or odd(?x)", "unknown"),
        ("odd(?x) and count(nobody, ?y)", "false"),
        ("odd(?x) and count(k, ?y) and ?y > 5", "false"),
        ("odd(?x) and count(k, ?y) and ?x > ?y", "unknown"),
        ("odd(?z) and count(k, ?x) and near(k, ?x, ?y) and ?x > 2", "false"),
        ("odd(?z) and count(k, ?x) and near(nobody, ?x, ?y)", "false"),
        ("odd(?z) and count(m, ?x) and near(k, ?x, ?y)", "false"),
        ("odd(?z) and count(k, ?x) and count(m, ?y) and ?x > ?y", "false"),
        ("odd(?z) and count(k, ?x) and count(m, ?y) and ?x < ?y", "unknown"),
        ("broken() and louderThan(3)", "false"),
        ("broken() and not louderThan(3)", "false"),
    ],
)
@pytest.mark.parametrize("planner", ["naive", "sequential"])
def test_the_logic_is_kleenes(where: str, verdict: str, planner: str) -> None:
    event = {
        "seen": {"yes": True, "no": False},
        "count": {"k": [1, 2, 3], "m": [9]},
        "near": {"k": [[1, 2]]},
    }
    found, result = run(where, event, planner=planner)
    undetermined = [each.subscription for each in result.undetermined]
    assert (bool(found), bool(undetermined)) == (verdict == "true", verdict == "unknown")


def test_an_undetermined_subscription_has_its_reason() -> None:
    _, result = run({"b": "broken() and odd(?x)", "a": "not broken()"}, {})
    assert [each.subscription for each in result.undetermined] == ["a", "b"]
    first, second = result.undetermined
    assert first.reason == "broken(): raised: RuntimeError: broken is broken"
    assert "broken(): raised: RuntimeError: broken is broken" in second.reason
    assert "odd(?1): invalid answer: " in second.reason
    assert result.as_dict()["undetermined"][0] == {"subscription": "a", "reason": first.reason}


def test_a_match_beside_an_unknown_alternative_with_variables_is_incomplete() -> None:
    event = {"count": {"k": [3]}, "seen": {"a": True}}
    for where, incomplete in (
        ("count(k, ?n) or odd(?n)", True),
        ("seen(a) or odd(?n)", True),
        ("count(k, ?n) or count(nobody, ?n)", False),
        ("count(k, ?n)", False),
    ):
        found, result = run(where, event)
        (match,) = result.matches
        assert match.incomplete is incomplete
        assert match.as_dict().get("incomplete", False) is incomplete
        assert result.undetermined == []
        assert found


# bounds


def test_more_than_1_000_assignments_are_cut() -> None:
    found, result = run("count(k, ?n)", {"count": {"k": list(range(1_000))}})
    assert len(found["s1"]) == 1_000
    assert not result.matches[0].truncated
    found, result = run("count(k, ?n)", {"count": {"k": list(range(1_001))}})
    assert len(found["s1"]) == 1_000
    assert result.matches[0].truncated
    assert result.matches[0].as_dict()["truncated"] is True


def test_products_and_unions_of_assignments_are_cut_too() -> None:
    event = {"count": {"k": list(range(40)), "m": list(range(40))}}
    for where in ("count(k, ?a), count(m, ?b)", "count(k, ?a), count(m, ?b), ?a + ?b >= 0"):
        found, result = run(where, event)
        assert (len(found["s1"]), result.matches[0].truncated) == (1_000, True)
    event = {"count": {"k": list(range(600)), "m": list(range(500, 1_100))}}
    found, result = run("count(k, ?a) or count(m, ?a)", event)
    assert (len(found["s1"]), result.matches[0].truncated) == (1_000, True)
    found, result = run("count(k, ?a) or count(m, ?a)", event, limits=Limits(assignments=1_100))
    assert (len(found["s1"]), result.matches[0].truncated) == (1_100, False)


@pytest.mark.parametrize("planner", ["naive", "sequential"])
def test_a_cut_search_that_found_none_is_unknown(planner: str) -> None:
    event = {"count": {"k": list(range(100)), "m": list(range(100))}, "seen": {"no": False}}
    where = {
        "cut": "count(k, ?a), count(m, ?b), ?a + ?b > 190",
        "found": "count(k, ?a), count(m, ?b), ?a + ?b > 10",
        "false": "count(k, ?a), count(m, ?b), ?a + ?b > 190, seen(no)",
        "small": "count(k, ?a), count(m, ?a), ?a > 98",
    }
    found, result = run(where, event, limits=Limits(join_steps=500), planner=planner)
    assert set(found) == {"found", "small"}
    assert [each.subscription for each in result.undetermined] == ["cut"]
    assert "cut" in result.undetermined[0].reason
    assert result.matches[0].truncated
    assert found["small"] == [{"a": 99}]


def test_without_a_cut_the_same_search_is_decided() -> None:
    event = {"count": {"k": list(range(100)), "m": list(range(100))}}
    found, result = run("count(k, ?a), count(m, ?b), ?a + ?b > 196", event)
    assert len(found["s1"]) == 3
    found, result = run("count(k, ?a), count(m, ?b), ?a + ?b > 198", event)
    assert (found, result.undetermined) == ({}, [])


# events


def test_what_is_no_event_is_an_event_error() -> None:
    one = tamis.Matcher(operators=[])
    for event in (None, 3, "a", [1], [("a", 1)]):
        with pytest.raises(EventError):
            one.match(event)  # type: ignore[arg-type]


def test_an_id_is_made_up_when_missing() -> None:
    one = tamis.Matcher(operators=[])
    first, second = one.match({}).event, one.match({}).event
    assert first
    assert first != second
    assert one.match({"id": 7}).event == "7"


def test_an_envelope_is_an_event() -> None:
    found, result = run(
        "a = 3 and source = '/camera'",
        {"specversion": "1.0", "id": "e9", "source": "/camera", "data": {"a": 3}},
    )
    assert found == {"s1": [{}]}
    assert result.event == "e9"


def test_the_event_is_left_as_it_was() -> None:
    event = {"id": 7, "a": [1, {"b": None}], "seen": {"a": True}, "time": "2024-03-01T00:00:00Z"}
    before = repr(event)
    run({"x": "seen(a) and time.hour = 0", "y": "a has 1"}, event)
    assert repr(event) == before


def test_nothing_subscribed() -> None:
    found, result = run({}, {"a": 1})
    assert (found, result.calls, result.evaluations, result.undetermined) == ({}, [], [], [])
    assert result.account.subscriptions == 0
