"""Operators for tests: they count, answer from the event, and fail as they should."""

from __future__ import annotations

from typing import Any

import pytest

import tamis
from tamis.testing import CountingOperator, TableOperator, counting, raising, slow, truth_table


def test_counting_changes_nothing_but_the_count() -> None:
    def check(level: Any) -> list[Any]:
        if level == 13:
            raise tamis.ArgumentError("unlucky")
        return [level * 2]

    @tamis.operator(inputs=("a",), check=check, cost_seconds=0.5)
    def above(event: Any, level: int) -> bool:
        return bool(event["a"] > level)

    asked = counting(above)
    assert asked.specification == above.specification
    one = tamis.Matcher(operators=[asked])
    one.subscribe("above(3)", id="s1")
    with pytest.raises(tamis.SubscriptionError, match="unlucky"):
        one.subscribe("above(13)")
    assert [match.subscription for match in one.match({"id": "e", "a": 7}).matches] == ["s1"]
    assert not one.match({"id": "f", "a": 6}).matches
    assert asked.calls == [("e", (6,)), ("f", (6,))]
    assert asked.repeated == []
    assert "2 calls of above(level)" in repr(asked)


def test_repeated_calls_are_found() -> None:
    asked = counting(truth_table("seen"))
    view = tamis.Event({"seen": {"a": True}}, "e").view(("seen",))
    for key in ("a", "b", "a"):
        asked.solve(view, key)
    asked.solve(tamis.Event({"seen": {}}, "f").view(("seen",)), "b")
    assert asked.repeated == [("e", ("a",))]
    asked.solve_many(view, [("b",), ("c",)])
    assert sorted(asked.repeated) == [("e", ("a",)), ("e", ("b",))]
    assert list(asked.solve_events([view], ("a",))) == [True]
    assert len(asked.calls) == 7


@pytest.mark.parametrize(
    "given",
    [
        *(TableOperator("seen"), counting(TableOperator("seen"))),
        tamis.OperatorRecord(TableOperator("seen").specification, lambda: TableOperator("seen")),
    ],
)
def test_any_form_of_operator_can_be_counted(given: Any) -> None:
    assert CountingOperator(given).specification.signature == "seen(key)"


def test_calls_that_fail_count_too() -> None:
    asked = counting(raising("broken"))
    one = tamis.Matcher(operators=[asked])
    one.subscribe("broken(1)")
    one.match({"id": "e"})
    assert asked.calls == [("e", (1,))]


def test_async_operators_can_be_counted() -> None:
    @tamis.operator
    async def later(event: Any) -> bool:
        return True

    asked = counting(later)
    one = tamis.Matcher(operators=[asked])
    one.subscribe("later()")
    assert len(one.match({"id": "e"}).matches) == 1
    assert asked.calls == [("e", ())]


def test_tables_take_any_key() -> None:
    table = TableOperator("seen")
    answers = {"1": True, "true": False, "2.5": True, "a b": True}
    assert [table.solve({"seen": answers}, key) for key in (1, True, 2.5, "a b", "x")] == [
        *(True, False, True, True, False),
    ]
    assert TableOperator("count", outputs=("n",)).solve({"count": {}}, "x", object()) == []


def test_a_slow_operator_can_be_let_go() -> None:
    late = slow("late", seconds=30, timeout=20)
    late.released.set()
    one = tamis.Matcher(operators=[late])
    one.subscribe("late()")
    assert len(one.match({}).matches) == 1
