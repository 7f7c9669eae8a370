"""Subscribing: ids, all or nothing, replacing, warnings, errors."""

from __future__ import annotations

import warnings
from types import MappingProxyType
from typing import Any

import pytest

import tamis
from tamis import NeverMatches, SubscriptionError, SubscriptionErrors, SubscriptionWarning
from tamis.testing import TableOperator, counting, truth_table


def matcher(**settings: Any) -> tamis.Matcher:
    operators = [truth_table("seen"), TableOperator("count", outputs=("n",))]
    return tamis.Matcher(operators=operators, **settings)


def matched(one: tamis.Matcher, event: dict[str, Any]) -> list[str]:
    return [match.subscription for match in one.match(event).matches]


# ids


def test_an_id_is_returned_and_made_up_when_not_given() -> None:
    one = matcher()
    assert one.subscribe("a = 1", id="s1") == "s1"
    ids = [one.subscribe("a = 1") for _ in range(3)]
    ids += one.subscribe_many([{"where": "a = 2"}, {"where": "a = 3"}])
    assert len(set(ids)) == 5
    assert all(isinstance(id, str) and id for id in ids)
    assert len(one) == 6
    assert "s1" in one
    assert "s2" not in one


def test_a_made_up_id_is_never_a_taken_one() -> None:
    one, other = matcher(), matcher()
    made_up = other.subscribe("a = 1")
    assert one.subscribe_many([{"where": "a = 1"}, {"id": made_up, "where": "a = 2"}])[1] == made_up
    assert len(one) == 2


@pytest.mark.parametrize("id", ["", 3, True, ["s1"], {"id": 1}, 2.5])
def test_an_id_is_a_non_empty_string(id: Any) -> None:
    one = matcher()
    with pytest.raises(SubscriptionError, match="non-empty string") as refused:
        one.subscribe("a = 1", id=id)
    assert ('write "3"' in str(refused.value)) is (id == 3)
    assert len(one) == 0


@pytest.mark.parametrize("id", ["é", "a b", "s\n1", "😀", "\ud800", "x" * 10_000, "None"])
def test_any_other_string_is_an_id(id: str) -> None:
    one = matcher()
    one.subscribe("a = 1", id=id)
    assert matched(one, {"a": 1}) == [id]
    one.unsubscribe(id)
    assert matched(one, {"a": 1}) == []


def test_matches_are_sorted_by_id() -> None:
    one = matcher()
    for id in ("b", "a10", "a2", "B", "é", "c"):
        one.subscribe("a = 1 or seen(k)", id=id)
    ids = sorted(["b", "a10", "a2", "B", "é", "c"])
    assert matched(one, {"a": 1}) == ids
    assert matched(one, {"seen": {"k": True}}) == ids
    result = one.match({"a": 1})
    assert [each.subscription for each in result.matches[1:3]] == ids[1:3]
    assert result.matches[-1].subscription == ids[-1]
    assert len(result.matches) == 6
    with pytest.raises(IndexError):
        result.matches[6]


def test_a_taken_id_is_an_error() -> None:
    one = matcher()
    one.subscribe("a = 1", id="s1")
    with pytest.raises(SubscriptionError, match=r"'s1'.*taken.*replace=True") as caught:
        one.subscribe("a = 2", id="s1")
    assert caught.value.subscription == "s1"
    assert matched(one, {"a": 1}) == ["s1"]
    with pytest.raises(SubscriptionError, match=r"'s2'.*taken"):
        one.subscribe_many([{"id": "s2", "where": "a = 1"}, {"id": "s2", "where": "a = 2"}])
    assert len(one) == 1


def test_one_subscription_is_not_a_list() -> None:
    entry: Any = {"id": "s1", "where": "a = 1"}
    with pytest.raises(SubscriptionError, match="are a list, and this is a single one"):
        matcher().subscribe_many(entry)


# errors


def test_a_bad_subscription_names_itself_and_the_place() -> None:
    one = matcher()
    with pytest.raises(SubscriptionError) as caught:
        one.subscribe("a = 1 and\n  sean(k)", id="s7")
    assert str(caught.value) == (
        "subscription 's7': line 2, column 3: unknown operator sean; did you mean seen?\n"
        "      sean(k)\n"
        "      ^"
    )


def test_subscribe_many_is_all_or_nothing_and_lists_every_error() -> None:
    one = matcher()
    with pytest.raises(SubscriptionErrors) as caught:
        one.subscribe_many(
            [
                {"id": "good", "where": "a = 1"},
                {"id": "bad", "where": "a = "},
                {"id": "unbound", "where": "?x > 3"},
                {"id": "", "where": "a = 1"},
                {"where": 3},
                {"id": "no condition"},
                {"id": "good", "where": "a = 2"},
                "a = 1",  # type: ignore[list-item]
            ]
        )
    errors = caught.value.errors
    assert len(errors) == 7
    assert [each.subscription for each in errors[:2]] == ["bad", "unbound"]
    for each in errors:
        assert each.problem in str(caught.value)
    assert len(one) == 0
    assert matched(one, {"a": 1}) == []
    assert one.subscribe("a = 1", id="good") == "good"


def test_one_error_of_many_is_that_error() -> None:
    with pytest.raises(SubscriptionError) as caught:
        matcher().subscribe_many([{"id": "a", "where": "a = 1"}, {"id": "b", "where": "a ="}])
    assert not isinstance(caught.value, SubscriptionErrors)
    assert caught.value.subscription == "b"


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("?x > 3", r"no operator predicate of its alternative binds \?x"),
        ("count(a, ?n) or ?n > 3", r"no operator predicate of its alternative binds \?n"),
        ("count(a, ?people) and ?poeple > 3", r"did you mean \?people\?"),
        ("count(a, ?x) and (count(b, ?y) or seen(c)) and ?y > 1", r"binds \?y"),
    ],
)
def test_an_unbound_variable_is_an_error(where: str, says: str) -> None:
    with pytest.raises(SubscriptionError, match=says):
        matcher().subscribe(where)


def test_unsubscribing_what_is_not_there_is_a_key_error() -> None:
    one = matcher()
    one.subscribe("a = 1", id="s1")
    one.unsubscribe("s1")
    for refused in (
        lambda: one.unsubscribe("s1"),
        lambda: one.renew("s1", validity=3),
        lambda: one.subscription("s1"),
        lambda: one.unsubscribe("zzz"),
    ):
        with pytest.raises(KeyError):
            refused()


def test_other_keys_are_handed_back() -> None:
    one = matcher()
    rest = {"owner": {"name": "é", "list": [1, None, True]}, "priority": 2.5}
    one.subscribe_many([{"id": "s1", "where": "a = 1", **rest}, {"id": "s2", "where": "a = 1"}])
    one.subscribe("a = 1", id="s3", data=MappingProxyType({"k": 1}))
    first, second, third = one.match({"a": 1}).matches
    assert first.data == rest
    assert second.data == {}
    assert third.data == {"k": 1}
    assert first.as_dict() == {"subscription": "s1", "bindings": [{}], "data": rest}
    assert second.as_dict() == {"subscription": "s2", "bindings": [{}]}


def test_other_keys_are_kept_as_they_were() -> None:
    one = matcher()
    owner = {"name": "a"}
    one.subscribe("a = 1", id="s1", data=owner)
    owner["name"] = "b"
    assert one.match({"a": 1}).matches[0].data == {"name": "a"}
    one.match({"a": 1}).matches[0].data["name"] = "c"
    assert one.match({"a": 1}).matches[0].data == {"name": "a"}


def test_other_keys_are_json() -> None:
    with pytest.raises(SubscriptionError, match=r"'s1'.*JSON"):
        matcher().subscribe("a = 1", id="s1", data={"owner": object()})


# replacing


def test_replacing() -> None:
    one = matcher()
    one.subscribe("a = 1", id="s1", data={"version": 1})
    one.subscribe("seen(k)", id="s1", replace=True, data={"version": 2})
    assert len(one) == 1
    assert matched(one, {"a": 1}) == []
    (match,) = one.match({"seen": {"k": True}}).matches
    assert match.data == {"version": 2}
    assert one.subscription("s1").text == "seen(k)"


def test_replacing_what_is_not_there_adds_it() -> None:
    one = matcher()
    one.subscribe("a = 1", id="s1", replace=True)
    assert matched(one, {"a": 1}) == ["s1"]


def test_a_replacement_that_is_bad_leaves_the_old_one() -> None:
    one = matcher()
    one.subscribe("a = 1", id="s1", data={"version": 1})
    with pytest.raises(SubscriptionError):
        one.subscribe("a = ", id="s1", replace=True)
    with pytest.raises(SubscriptionError):
        one.subscribe_many(
            [{"id": "s1", "where": "a = 2"}, {"id": "s2", "where": "zzz(1)"}], replace=True
        )
    (match,) = one.match({"a": 1}).matches
    assert match.data == {"version": 1}


# warnings


NEVER = [
    "a > 3 and a < 2",
    "a = 1, a = 2",
    "seen(k) and not seen(k)",
    "count(k, ?n) and ?n > 3 and ?n < 2",
    "a = 1 and a starts with 'x'",
    "exists(a) and not exists(a)",
    "a between 3 and 1",
    "a in (1, 1)",
    "count(k, ?n) and 2 * ?n = fire",
]


@pytest.mark.parametrize("where", NEVER)
def test_a_condition_that_never_matches_is_taken_with_a_warning(where: str) -> None:
    one = matcher()
    with pytest.warns(NeverMatches, match="subscription 's1' never matches"):
        one.subscribe(where, id="s1")
    assert len(one) == 1
    assert matched(one, {"a": 1, "seen": {"k": True}, "count": {"k": [1]}}) == []
    assert one.match({"a": 1}).undetermined == []
    one.unsubscribe("s1")
    assert len(one) == 0


@pytest.mark.parametrize("where", NEVER)
def test_an_alternative_that_never_holds_is_warned_of_too(where: str) -> None:
    one = matcher()
    with pytest.warns(NeverMatches, match=r"'s1' has an alternative that never holds"):
        one.subscribe(f"({where}) or b = 1", id="s1")
    assert matched(one, {"b": 1}) == ["s1"]


@pytest.mark.parametrize("where", NEVER)
def test_a_warning_that_is_an_error_leaves_nothing_half_inserted(where: str) -> None:
    one = matcher()
    one.subscribe("b = 1", id="s1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NeverMatches):
            one.subscribe_many([{"id": "s2", "where": "b = 1"}, {"id": "s3", "where": where}])
        with pytest.raises(NeverMatches):
            one.subscribe(where, id="s1", replace=True)
    assert len(one) == 1
    assert matched(one, {"b": 1}) == ["s1"]
    assert one.subscribe("b = 1", id="s2") == "s2"


def test_the_warning_points_at_the_caller() -> None:
    one = matcher()
    with pytest.warns(SubscriptionWarning) as caught:
        one.subscribe("a > 3 and a < 2")
    assert [each.filename for each in caught] == [__file__]
    with pytest.warns(SubscriptionWarning) as caught:
        one.subscribe_many([{"where": "a > 3 and a < 2"}])
    assert [each.filename for each in caught] == [__file__]
    assert issubclass(NeverMatches, SubscriptionWarning)


def test_a_bad_subscription_is_seen_by_no_operator() -> None:
    asked = counting(truth_table("seen"))
    one = tamis.Matcher(operators=[asked])
    with pytest.raises(SubscriptionError):
        one.subscribe_many([{"where": "seen(a)"}, {"where": "seen("}])
    one.match({"seen": {"a": True}})
    assert asked.calls == []


def test_text_in_the_place_of_subscriptions_is_one_error() -> None:
    with pytest.raises(SubscriptionError, match=r"this is text: lines of a file are read by map"):
        matcher().subscribe_many("subscriptions.jsonl")  # type: ignore[arg-type]
