"""A result stays right whatever is subscribed, replaced or cancelled before or meanwhile."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tamis
from tamis.testing import TableOperator, truth_table

EVENT: dict[str, Any] = {
    "id": "e1",
    "a": 1,
    "seen": {"yes": True, "no": False, "bad": "no model"},
    "count": {"k": [1, 2, 3]},
}
SUBSCRIPTIONS = {
    "attribute": "a = 1",
    "binds": "count(k, ?n), ?n > 1",
    "bound-not": "count(k, ?n), ?n > 9",
    "false": "seen(no)",
    "filtered": "a = 2 and seen(yes)",
    "mixed": "a = 1 and seen(yes) or count(k, ?n)",
    "true": "seen(yes)",
    "unknown": "seen(bad)",
}


def matcher() -> tamis.Matcher:
    one = tamis.Matcher(operators=[truth_table("seen"), TableOperator("count", outputs=("n",))])
    one.subscribe_many(
        [{"id": id, "where": where, "note": id} for id, where in SUBSCRIPTIONS.items()]
    )
    return one


def shown(result: tamis.Result) -> dict[str, Any]:
    """Everything a result says, explanations included."""
    return {
        "line": result.as_dict(),
        "calls": [call.predicate for call in result.calls],
        "evaluations": list(result.evaluations),
        "account": {**result.account.as_dict(), "seconds": None, "operators": None},
        "data": [match.data for match in result.matches],
        "explanations": {id: str(result.explain(id)) for id in SUBSCRIPTIONS},
    }


def test_what_is_shown() -> None:
    result = matcher().match(EVENT)
    assert [match.subscription for match in result.matches] == [
        *("attribute", "binds", "mixed", "true"),
    ]
    assert [each.subscription for each in result.undetermined] == ["unknown"]
    verdicts = {id: result.explain(id).data["verdict"] for id in SUBSCRIPTIONS}
    assert verdicts == {
        **dict.fromkeys(("attribute", "binds", "mixed", "true"), "matched"),
        **dict.fromkeys(("bound-not", "false", "filtered"), "not matched"),
        "unknown": "undetermined",
    }


@pytest.mark.parametrize("read_first", [True, False])
def test_after_everything_was_cancelled(read_first: bool) -> None:
    expected = shown(matcher().match(EVENT))
    one = matcher()
    result = one.match(EVENT)
    if read_first:
        assert shown(result) == expected
    for id in SUBSCRIPTIONS:
        one.unsubscribe(id)
    for number in range(50):
        one.subscribe(f"a = {number} or seen(k{number}) or count(k, ?m)", id=f"t{number}")
    assert shown(result) == expected


def test_after_everything_was_replaced() -> None:
    expected = shown(matcher().match(EVENT))
    one = matcher()
    result = one.match(EVENT)
    for id in SUBSCRIPTIONS:
        one.subscribe("b = 7 and seen(other)", id=id, replace=True, data={"note": "new"})
    assert shown(result) == expected


def test_many_held_results_through_much_turnover() -> None:
    chance = random.Random(3)
    one = matcher()
    held: list[tuple[tamis.Result, list[tuple[str, Any]], list[str]]] = []
    for number in range(300):
        id = f"s{chance.randrange(20)}"
        one.subscribe(
            chance.choice(["a = 1", "seen(yes)", "count(k, ?n)", "seen(no)", "seen(bad)"]),
            id=id,
            replace=True,
            data={"number": number},
        )
        if number % 7 == 0:
            one.unsubscribe(id)
        result = one.match(EVENT)
        expected = [(match.subscription, match.data) for match in result.matches]
        undetermined = [each.subscription for each in result.undetermined]
        again = one.match(EVENT)
        held.append((again, expected, undetermined))
        if len(held) > 30:
            held.pop(chance.randrange(30))
    for kept, expected, undetermined in held:
        assert [(match.subscription, match.data) for match in kept.matches] == expected
        assert [each.subscription for each in kept.undetermined] == undetermined


def test_an_unknown_id_cannot_be_explained() -> None:
    one = matcher()
    result = one.match(EVENT)
    one.subscribe("a = 1", id="later")
    for id in ("never", "later"):
        with pytest.raises(KeyError):
            result.explain(id)


def test_a_result_is_readable_twice_and_in_any_order() -> None:
    result = matcher().match(EVENT)
    first = result.as_dict()
    assert result.account.matches == 4
    assert result.as_dict() == first
    assert next(iter(result.matches)).bindings == [{}]
    assert "e1" in repr(result)
    assert "binds" in repr(result.matches[1])


def test_which_assignments_are_cut_does_not_depend_on_what_was_subscribed_before() -> None:
    for before in (False, True):
        matcher = tamis.Matcher(
            [TableOperator("p", outputs=("n",)), TableOperator("q", outputs=("n",))],
            limits=tamis.Limits(assignments=1),
        )
        if before:
            matcher.subscribe("a = 1 or a = 2", id="o")
            matcher.unsubscribe("o")
        matcher.subscribe("p(k, ?x) or q(k, ?x)", id="s")
        result = matcher.match({"p": {"k": [1]}, "q": {"k": [2]}})
        assert result.matches[0].bindings == [{"x": 1}]
        assert result.matches[0].truncated
