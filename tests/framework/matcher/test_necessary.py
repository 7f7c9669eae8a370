"""Checks that necessary conditions are asked for once, believed, and hide no error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis import Matcher, SubscriptionError, Variable
from tamis.event.clock import moment
from tamis.testing import CountingOperator, counting

GOOD = "2026-05-02T04:00:00Z"
"""Four in the morning."""


class Early(tamis.Operator):
    """Whether it is before an hour, by a time that is read again when it is called."""

    specification = tamis.Specification(
        name="early", parameters=(tamis.Parameter("hour"),), inputs=("time",), deterministic=True
    )

    def __init__(self) -> None:
        self.asked: list[Sequence[Any]] = []

    def solve(self, event: Any, hour: int) -> bool:
        found = moment(event["time"])
        if found is None:
            raise ValueError(f"{event['time']!r} is no time")
        return found.hour < hour

    def necessary(self, arguments: Sequence[Any]) -> list[tuple[str, str, object]]:
        self.asked.append(arguments)
        return [("time.hour", "<", arguments[0])]


def matcher_of(*texts: str, **settings: Any) -> tuple[Matcher, CountingOperator]:
    counted = counting(Early())
    matcher = Matcher(operators=[counted], **settings)
    for at, text in enumerate(texts):
        matcher.subscribe(text, id=f"s{at}")
    return matcher, counted


def matched(result: tamis.Result) -> list[str]:
    return [match.subscription for match in result.matches]


# asking


def test_it_is_asked_once_at_subscription() -> None:
    operator = Early()
    matcher = Matcher([operator])
    matcher.subscribe("early(3) and a = 1", id="s1")
    matcher.subscribe_many({"where": f"not early(3) or early(3) and a = {at}"} for at in range(9))
    for _ in range(3):
        matcher.match({"time": GOOD, "a": 1})
    matcher.match({"time": GOOD, "a": 1}).explain("s1")
    assert operator.asked == [(3,)]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, "a list of clauses"),
        ("a < 3", "a list of clauses"),
        ([("a", "<")], "a clause is (attribute, op, value)"),
        ([("a", "below", 3)], "unknown op 'below'"),
        ([("", "<", 3)], "is a name"),
        ([("a", "<", [3])], "takes a number"),
        ([("a", "between", (3,))], "two bounds"),
        ([("a", "matches", "(")], "missing"),
        ([3], "a clause is (attribute, op, value)"),
        (RuntimeError("no map"), "RuntimeError: no map"),
        (ValueError("no such place"), "no such place"),
        (SystemExit(3), "SystemExit: 3"),
    ],
)
def test_what_is_malformed_is_an_error_that_names_it(given: object, says: str) -> None:
    def necessary(arguments: object) -> Any:
        if isinstance(given, BaseException):
            raise given
        return given

    @tamis.operator(inputs=("a",), necessary=necessary)
    def near(event: Any, place: str) -> bool:
        return True

    matcher = Matcher([near])
    with pytest.raises(SubscriptionError) as caught:
        matcher.subscribe_many([{"where": "b = 1", "id": "s0"}, {"where": "near(x)", "id": "s1"}])
    text = str(caught.value)
    assert "s1" in text
    assert "what near declares necessary of near(x) cannot be used" in text
    assert says in text
    assert len(matcher) == 0
    assert not matcher.match({"a": 1}).matches


def test_necessary_is_a_function() -> None:
    with pytest.raises(tamis.OperatorError, match="necessary of near is a function"):
        tamis.operator(name="near", necessary=[("a", "<", 3)])(bool)  # type: ignore[call-overload]


def test_arguments_are_those_of_the_predicate_as_it_is_written() -> None:
    asked: list[Sequence[Any]] = []

    def note(arguments: Sequence[Any]) -> Iterable[Any]:
        asked.append(arguments)
        return iter(())

    @tamis.operator(
        inputs=("a",),
        outputs=("n", "m"),
        check=lambda kind, n, m: [kind.upper(), n, m],
        necessary=note,
    )
    def count(event: Any, kind: str, n: Any, m: Any) -> list[tuple[int, int]]:
        return [(1, 2)]

    matcher = Matcher([count])
    matcher.subscribe("count(x, ?n, 2) and not count(x, 1, 2)")
    matcher.subscribe("count(x, ?a, ?a)")
    matcher.subscribe("count(x, ?a, ?b), ?a < 5, ?b in {3, 4}, ?a > 1, ?b != 9, ?a + ?b < 3")
    matcher.subscribe("count(x, ?a, ?b), ?a between 2 and 7, ?a >= $limit, ?b < z")
    one, two = Variable(1), Variable(2)
    assert asked == [
        ("X", one, 2),
        ("X", 1, 2),
        ("X", one, one),
        ("X", Variable(1, 1, 5), Variable(2, 3, 4)),
        ("X", Variable(1, 2, 7), two),
    ]


# excluding


def people_count() -> CountingOperator:
    def bounds(arguments: Sequence[Any]) -> list[tuple[str, str, object]]:
        (count,) = arguments
        if isinstance(count, Variable):
            return [("most", ">=", count.least)]
        return [("most", ">=", count)]

    @tamis.operator(inputs=("people",), outputs=("count",), necessary=bounds)
    def peopleCount(event: Any, count: Any) -> list[int]:
        if isinstance(event["people"], str):
            raise RuntimeError(event["people"])
        return list(event["people"])

    return counting(peopleCount)


def test_predicates_that_share_a_call_declare_for_themselves() -> None:
    counted = people_count()
    matcher = Matcher([counted])
    matcher.subscribe("not peopleCount(9)", id="nine")
    matcher.subscribe("peopleCount(?n)", id="any")
    matcher.subscribe("not peopleCount(3)", id="three")
    # the answer breaks what is declared: it is believed all the same
    result = matcher.match({"id": "e", "people": [3, 9], "most": 5})
    assert matched(result) == ["any", "nine"]
    assert result.matches[0].bindings == [{"n": 3}, {"n": 9}]
    assert [(each.predicate, each.truth, each.how) for each in result.evaluations] == [
        ("peopleCount(9)", False, "excluded"),
        ("peopleCount(?1)", True, "called"),
        ("peopleCount(3)", True, "shared"),
    ]
    assert len(counted.calls) == 1
    account = result.account
    assert (account.calls, account.excluded, account.evaluations, account.spared) == (1, 1, 3, 0)
    assert account.operators["peopleCount"].excluded == 1
    assert account.needed_at_least == 1


def test_what_guards_leave_of_a_variable_can_be_declared() -> None:
    counted = people_count()
    matcher = Matcher([counted])
    matcher.subscribe("peopleCount(?n), ?n > 7", id="many")
    matcher.subscribe("peopleCount(?n), ?n > 3", id="some")
    result = matcher.match({"people": [4, 5], "most": 5})
    assert matched(result) == ["some"]
    assert result.account.candidates == 1
    assert "peopleCount(?n)" in str(result.explain("many"))
    assert "it declares most >= 7, and most is 5" in str(result.explain("many"))


def test_what_is_excluded_is_false_where_the_call_would_have_failed() -> None:
    counted = people_count()
    matcher = Matcher([counted])
    matcher.subscribe("not peopleCount(9)", id="not")
    matcher.subscribe("peopleCount(9)", id="nine")
    matcher.subscribe("peopleCount(9) or a = 1", id="or")
    result = matcher.match({"people": "no model", "most": 5, "a": 1})
    assert (matched(result), result.undetermined, counted.calls) == (["not", "or"], [], [])
    result = matcher.match({"people": "no model", "most": 9, "a": 1})
    assert matched(result) == ["or"]
    assert [each.subscription for each in result.undetermined] == ["nine", "not"]


def test_an_absent_input_comes_first() -> None:
    matcher, counted = matcher_of("early(9)", "not early(9)", "not early(9) or a = 1")
    result = matcher.match({"a": 1})
    assert matched(result) == ["s2"]
    assert "its input time is absent" in str(result.explain("s0"))
    assert "its input time is absent" in str(result.explain("s1"))
    assert (result.account.excluded, counted.calls) == (0, [])


def test_what_cannot_be_made_of_what_is_there_decides_nothing() -> None:
    matcher, counted = matcher_of("early(9)", "not early(3)", "a = 1 and time.hour < 9")
    result = matcher.match({"id": "e", "time": "noon", "a": 1})
    assert [each.subscription for each in result.undetermined] == ["s0", "s1"]
    assert "'noon' is no time" in result.undetermined[0].reason
    assert (matched(result), result.account.candidates, len(counted.calls)) == ([], 2, 2)
    assert result.account.excluded == 0


def test_declarations_read_what_is_derived_whatever_keys_there_are() -> None:
    matcher, counted = matcher_of("early(9)", "not early(3)", "time.hour = 20")
    found = matcher.match({"id": "e", "time": GOOD, "time.hour": 20})
    assert matched(found) == ["s0", "s1", "s2"]
    assert counted.calls == [("e", (9,))]
    assert "it declares time.hour < 3, and time.hour is 4" in str(found.explain("s1"))
    found = matcher.match({"time": GOOD, "time.hour": "x", "\0itself:time.hour": 23})
    assert matched(found) == ["s0", "s1"]


def test_a_plain_attribute_may_be_declared_too() -> None:
    @tamis.operator(inputs=("a",), necessary=lambda arguments: [("meta.b", "has", arguments[0])])
    def tagged(event: Any, word: str) -> bool:
        return True

    matcher = Matcher([tagged])
    matcher.subscribe("tagged(x)", id="s1")
    matcher.subscribe("not tagged(x)", id="s2")
    assert matched(matcher.match({"a": 1, "meta": {"b": ["x", "y"]}})) == ["s1"]
    assert matched(matcher.match({"a": 1, "meta": {"b": ["y"]}})) == ["s2"]
    assert matched(matcher.match({"a": 1})) == ["s2"]
    assert matched(matcher.match({})) == []


def test_an_attribute_that_nobody_brings_decides_nothing() -> None:
    unknown = tamis.DerivedAttribute("nowhere.at", lambda event: 3)

    @tamis.operator(inputs=("a",), necessary=lambda arguments: [(unknown, "=", 3)])
    def there(event: Any) -> bool:
        return bool(event["a"] == 1)

    matcher = Matcher([there])
    matcher.subscribe("there()", id="s1")
    assert matched(matcher.match({"a": 1})) == ["s1"]
    assert matched(matcher.match({"a": 2})) == []


def test_what_the_index_drops_is_no_candidate() -> None:
    matcher, counted = matcher_of(*(f"early({hour}) and a = 1" for hour in range(24)))
    result = matcher.match({"id": "e", "time": GOOD, "a": 1})
    assert result.account.candidates == 19
    assert result.account.excluded == 0
    assert [hour for _, (hour,) in counted.calls] == list(range(5, 24))
    assert matched(result) == sorted(f"s{hour}" for hour in range(5, 24))
    assert matcher.match({"time": GOOD, "a": 2}).account.candidates == 0


def test_an_alternative_that_cannot_be_left_is_still_undecided() -> None:
    @tamis.operator(inputs=("time",), necessary=lambda arguments: [("time.hour", ">", 9)])
    def late(event: Any) -> bool:
        found = moment(event["time"])
        if found is None:
            raise ValueError("no time")
        return found.hour > 9

    matcher = Matcher([Early(), late])
    matcher.subscribe("early(3) and late()", id="s1")
    for time in (GOOD, "2026-05-02T12:00:00Z"):
        assert matcher.match({"time": time}).account.candidates == 0
    result = matcher.match({"time": "noon"})
    assert [each.subscription for each in result.undetermined] == ["s1"]


def test_another_declaration_excludes_where_one_is_undecided() -> None:
    def both(arguments: Sequence[Any]) -> list[tuple[str, str, object]]:
        return [("time.hour", "<", 9), ("a", "=", arguments[0])]

    @tamis.operator(inputs=("time", "a"), necessary=both)
    def seen(event: Any, a: int) -> bool:
        raise RuntimeError("no model")

    matcher = Matcher([seen])
    matcher.subscribe_many({"id": f"s{at}", "where": f"seen({at})"} for at in range(4))
    matcher.subscribe("not seen(1)", id="not")
    result = matcher.match({"time": "noon", "a": 2})
    assert (result.account.candidates, result.account.excluded) == (2, 1)
    assert matched(result) == ["not"]
    assert [each.subscription for each in result.undetermined] == ["s2"]


class Chained(Early):
    """What is before an hour is before all later ones; only some of them declare anything."""

    def __init__(self, *declaring: int) -> None:
        super().__init__()
        self.declaring = declaring

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[tamis.Implication]:
        for place, (hour,) in enumerate(others):
            if hour >= arguments[0]:
                yield tamis.Implication(True, place, True)

    def necessary(self, arguments: Sequence[Any]) -> list[tuple[str, str, object]]:
        return super().necessary(arguments) if arguments[0] in self.declaring else []


def test_exclusion_comes_before_implications_and_memory() -> None:
    counted = counting(Chained(1, 3))
    matcher = Matcher([counted])
    matcher.subscribe_many({"id": f"s{at}", "where": f"not early({at})"} for at in range(1, 9))
    for how in ("called", "memo"):
        found = [tuple(each) for each in matcher.match({"id": "e", "time": GOOD}).evaluations]
        assert found[:2] == [(f"early({hour})", False, "excluded") for hour in (1, 3)]
        assert ("early(2)", False, "implied") in found
        assert {each for _, _, each in found} == {"excluded", "implied", how}
        assert {truth for text, truth, _ in found if text in ("early(4)", "early(5)")} == {
            False,
            True,
        }
    assert not {1, 2, 3}.intersection(hour for _, (hour,) in counted.calls)
    assert counted.repeated == []


def test_an_outcome_that_an_exclusion_implies_costs_nothing() -> None:
    counted = counting(Chained(4))
    matcher = Matcher([counted], memo_bytes=0)
    matcher.subscribe("not early(4)", id="four")
    matcher.subscribe("not early(2)", id="two")
    matcher.subscribe("early(2)", id="early")
    result = matcher.match({"time": GOOD})
    assert (matched(result), counted.calls) == (["four", "two"], [])
    account = result.account
    assert (account.excluded, account.implied, account.needed_at_least) == (1, 1, 0)
    assert "implied by early(4), false" in str(result.explain("two"))


@pytest.mark.parametrize("planner", ["naive", "sequential", "suborder", "savings", "greedy"])
def test_no_planner_calls_for_what_is_excluded(planner: str) -> None:
    counted = people_count()
    matcher = Matcher([counted], planner=planner, memo_bytes=0)
    # once nine is excluded, only the second wants the call, and there a comes first or is decided
    matcher.subscribe("not peopleCount(9) or b = 1", id="s1")
    matcher.subscribe("not peopleCount(8) and not peopleCount(9)", id="s2")
    result = matcher.match({"people": [3], "most": 5, "b": 2})
    assert (matched(result), counted.calls) == (["s1", "s2"], [])
    assert (result.account.excluded, result.account.needed_at_least) == (2, 0)
    assert result.account.naive_expected is None


def test_expected_calls_begin_after_exclusion() -> None:
    known = tamis.Statistics(selectivity={"early(3)": 0.5, "early(9)": 0.5})
    matcher, _ = matcher_of("not early(3) and early(9)", statistics=known)
    assert matcher.match({"time": GOOD}).account.naive_expected == pytest.approx(1.0)
    early = {"time": "2026-05-02T01:00:00Z"}
    assert matcher.match(early).account.naive_expected == pytest.approx(1.5)


def test_the_explanation_names_the_declaration() -> None:
    matcher, _ = matcher_of("early(3) and a = 1", "not early(3) and a = 1")
    result = matcher.match({"time": GOOD, "a": 1})
    first, second = result.explain("s0"), result.explain("s1")
    assert first.data["verdict"] == "not matched"
    (predicate, _), (negated, _) = (
        each.data["alternatives"][0]["predicates"] for each in (first, second)
    )
    assert (predicate["truth"], predicate["how"]) == (False, "excluded")
    assert (negated["truth"], negated["how"]) == (True, "excluded")
    detail = "not called: it declares time.hour < 3, and time.hour is 4"
    assert predicate["detail"] == negated["detail"] == detail
    assert first.data["because"] == f"early(3) is false ({detail})"


def test_rejections_name_the_predicate() -> None:
    counted = people_count()
    matcher = Matcher([counted])
    matcher.subscribe("peopleCount(9) or (peopleCount(?n) and not peopleCount(4))", id="s1")
    result = matcher.match({"people": [4], "most": 5})
    assert result.rejections == [("s1", ("not peopleCount(4)",))]


# what stays


def test_declarations_go_with_their_subscription() -> None:
    matcher, counted = matcher_of("early(3)", "early(9) and a = 1")
    matcher.unsubscribe("s0")
    assert matcher.match({"time": "noon"}).account.candidates == 0
    matcher.subscribe("early(9) and a = 2", id="s1", replace=True)
    assert matcher.match({"time": "noon", "a": 1}).account.candidates == 0
    assert matcher.match({"time": "noon", "a": 2}).account.candidates == 1
    matcher.unsubscribe("s1")
    assert not matcher._catalog.declared_names
    matcher.subscribe("early(3)", id="s0")
    assert len(counted.inner.asked) == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("index", ["pstbloom", "psthash", "lanes", "opindex", "pbtree", "scan"])
def test_a_saved_matcher_keeps_declarations(tmp_path: Path, index: str) -> None:
    matcher, _ = matcher_of("early(3)", "early(9) and a = 1", "not early(3)", "b = 1", index=index)
    matcher.save(tmp_path / "saved")
    operator = Early()
    opened = Matcher.open(tmp_path / "saved", [operator])
    assert operator.asked == []
    events: list[dict[str, Any]] = [
        {"time": time, "time.hour": own, "a": a, "b": a}
        for time in (GOOD, "2026-05-02T01:00:00Z", "2026-05-02T12:00:00Z", "noon", None)
        for own in (2, None)
        for a in (1, 2)
    ]
    for event in events:
        one, other = matcher.match(event), opened.match(event)
        assert one.as_dict()["matches"] == other.as_dict()["matches"]
        assert one.account.candidates == other.account.candidates
        assert one.account.excluded == other.account.excluded
    opened.unsubscribe("s1")
    opened.subscribe("early(3) and b = 2", id="s4")
    assert operator.asked == []
    assert opened.match({"time": "noon", "b": 2}).account.candidates == 3


def test_statistics_count_where_declarations_hold() -> None:
    matcher, _ = matcher_of("not early(3) and a = 1", "early(9)")
    for hour in (1, 2, 4, 5, 6, 12, 13, 20):
        matcher.match({"time": f"2026-05-02T{hour:02}:00:00Z", "a": 1})
    learned = matcher.learned()
    three, nine = (learned.predicates[f"early({hour})"] for hour in (3, 9))
    assert (three.tested, three.satisfied) == (2, 2)
    assert (nine.tested, nine.satisfied) == (5, 5)


def test_every_worker_sees_the_same(tmp_path: Path) -> None:
    texts = [f"{'not ' * (hour % 2)}early({hour}) and a = {hour % 3}" for hour in range(24)]
    events = [
        {"id": f"e{at}", "time": f"2026-05-02T{at:02}:00:00Z" if at % 5 else "noon", "a": at % 3}
        for at in range(24)
    ]
    alone, _ = matcher_of(*texts)
    with matcher_of(*texts, workers=4)[0] as together:
        for event in events:
            one, other = alone.match(event), together.match(event)
            assert one.as_dict() == other.as_dict()
            assert one.account.excluded == other.account.excluded


def with_necessary(necessary: Callable[..., Any], **settings: Any) -> tamis.Operator:
    @tamis.operator(inputs=("a",), necessary=necessary, **settings)
    def near(event: Any, place: str) -> bool:
        return bool(event["a"] == place)

    return near


def test_a_process_is_not_asked() -> None:
    operator = with_necessary(
        lambda arguments: [("a", "=", arguments[0])], isolation="process", timeout=30
    )
    with Matcher([operator]) as matcher:
        matcher.subscribe("near(x)", id="s1")
        matcher.subscribe("not near(x)", id="s2")
        result = matcher.match({"a": "y"})
        assert (matched(result), result.account.calls) == (["s2"], 0)
        assert matched(matcher.match({"a": "x"})) == ["s1"]
