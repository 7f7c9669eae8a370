"""Checks every number of the account of a match, counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

import tamis
from tamis import Account, Statistics
from tamis.engine.stages import STAGES
from tamis.testing import FakeClock, TableOperator, truth_table


def account(where: dict[str, str], event: dict[str, Any], **settings: Any) -> Account:
    settings.setdefault("planner", "naive")
    one = tamis.Matcher(
        operators=[
            *(truth_table("seen"), truth_table("heard")),
            TableOperator("count", outputs=("n",)),
        ],
        **settings,
    )
    for id, text in where.items():
        one.subscribe(text, id=id)
    return one.match(event).account


EVENT: dict[str, Any] = {
    "a": 1,
    "seen": {"yes": True, "no": False, "bad": "no model"},
    "count": {"k": [1, 2, 3]},
}


def test_the_numbers_of_one_event() -> None:
    found = account(
        {
            "s1": "a = 1 and seen(no) and seen(yes)",
            "s2": "seen(no) and heard(x)",
            "s3": "a = 2 and seen(other)",
            "s4": "count(k, ?n), ?n > 2",
            "s5": "count(k, 1) or count(k, 7)",
            "s6": "a = 1",
            "s7": "seen(bad)",
        },
        EVENT,
    )
    assert found.events == 1
    assert found.subscriptions == 7
    assert found.candidates == 6
    assert found.matches == 3
    assert found.undetermined == 1
    assert found.calls == 3
    assert found.evaluations == 5
    assert found.spared == 2
    assert (found.implied, found.memoized, found.rejected) == (0, 0, 0)
    assert found.needed_at_least == 3
    assert found.naive_expected is None
    assert {name: dict(each) for name, each in found.operators.items()} == {
        "seen": operator(
            calls=2,
            attempts=2,
            invocations=2,
            evaluations=2,
            failed=1,
            spared=1,
            seconds=pytest.approx(0, abs=1),
        ),
        "heard": operator(spared=1),
        "count": operator(
            calls=1, attempts=1, invocations=1, evaluations=3, seconds=pytest.approx(0, abs=1)
        ),
    }


def operator(**numbers: Any) -> dict[str, Any]:
    counted = ("calls", "attempts", "invocations", "batches", "batched", "evaluations", "failed")
    names = (*counted, "excluded", "implied", "memoized", "spared")
    return {**dict.fromkeys(names, 0), "seconds": 0.0, **numbers}


def test_without_operators_nothing_is_called() -> None:
    found = account({"s1": "a = 1", "s2": "a = 2"}, EVENT)
    assert (found.candidates, found.matches, found.calls, found.spared) == (1, 1, 0, 0)
    assert found.operators == {}
    assert found.needed_at_least == 0


def test_a_call_whose_input_is_absent_is_spared() -> None:
    found = account({"s1": "seen(yes)", "s2": "heard(x) and seen(yes)"}, EVENT)
    assert (found.calls, found.spared, found.needed_at_least) == (1, 1, 1)


def test_siblings_need_nothing_once_one_matches() -> None:
    found = account({"s1": "a = 1 or seen(yes)"}, EVENT)
    assert (found.calls, found.spared, found.needed_at_least) == (0, 1, 0)
    found = account({"s1": "seen(yes) or heard(x) or seen(no)"}, {**EVENT, "heard": {}})
    assert found.calls == 1
    assert found.needed_at_least <= 1


def test_the_naive_expectation() -> None:
    shares = {"seen(a)": 0.5, "seen(b)": 0.25, "seen(c)": 0.1}
    statistics = Statistics(selectivity=shares)
    event = {"seen": dict.fromkeys("abc", True)}

    def expected(*texts: str) -> float | None:
        where = {f"s{at}": text for at, text in enumerate(texts)}
        return account(where, event, statistics=statistics).naive_expected

    assert expected("seen(a) and seen(b) and seen(c)") == pytest.approx(1 + 0.5 + 0.5 * 0.25)
    assert expected("seen(a)", "seen(b)") == pytest.approx(2)
    assert expected("seen(a) and seen(c)", "seen(b) and seen(c)") == pytest.approx(
        2 + 1 - (1 - 0.5) * (1 - 0.25)
    )
    assert expected("not seen(c) and seen(b)") == pytest.approx(1 + 0.9)
    assert account({"s1": "a = 1"}, EVENT, statistics=statistics).naive_expected == 0


def test_seconds_by_stage() -> None:
    clock = FakeClock()

    @tamis.operator
    def busy(event: Any) -> bool:
        clock.advance(2)
        return True

    class Slow:
        """A planner that takes a second for everything it does."""

        def __init__(self) -> None:
            self.calls = [0]

        def begin(self, problem: tamis.Problem) -> Any:
            self.calls = [0]
            clock.advance(1)
            return self

        def next(self, limit: int) -> list[int]:
            clock.advance(1)
            now, self.calls = self.calls, []
            return now

        def observe(self, tests: object, outcomes: object, decided: object) -> None:
            clock.advance(1)

    one = tamis.Matcher(operators=[busy], planner=Slow(), timer=clock)
    one.subscribe("busy()")
    assert one.match({}).account.seconds == {
        **dict.fromkeys(STAGES, 0.0),
        "planner": 4.0,
        "operators": 2.0,
    }


def test_every_look_at_the_timer_belongs_to_a_stage() -> None:
    """The stages add up to the time from the first look to the last one."""
    looks: list[float] = []

    def timer() -> float:
        looks.append(len(looks) ** 2)
        return looks[-1]

    @tamis.operator(outputs=("value",))
    def one(event: Any, value: object) -> list[int]:
        return [1, 2]

    @tamis.operator(outputs=("value",))
    def two(event: Any, value: object) -> list[int]:
        return [2, 3]

    matcher = tamis.Matcher(operators=[one, two], timer=timer)
    matcher.subscribe("one(?x), two(?x), a < 3", id="s")
    looks.clear()
    seconds = matcher.match({"a": 1}).account.seconds
    assert sum(seconds.values()) == looks[-1] - looks[0]
    assert all(seconds[stage] > 0.0 for stage in STAGES)


def test_accounts_add_up() -> None:
    first = account({"s1": "seen(yes)", "s2": "count(k, ?n)"}, EVENT)
    second = account({"s1": "seen(no) and seen(bad)"}, EVENT)
    total = Account()
    for each in (first, second):
        total.add(each)
    assert (total.events, total.calls, total.matches) == (2, 3, 2)
    assert total.subscriptions == second.subscriptions
    assert total.operators["seen"].calls == 2
    assert total.operators["count"].calls == 1
    assert total.seconds["index"] == pytest.approx(first.seconds["index"] + second.seconds["index"])
    assert total.naive_expected is None


def test_an_account_is_a_mapping() -> None:
    found = account({"s1": "seen(yes)"}, EVENT)
    assert found["calls"] == found.calls == 1
    assert set(found) >= {
        *("events", "rejected", "subscriptions", "candidates", "calls", "evaluations"),
        *("excluded", "implied", "memoized", "spared"),
        *("needed_at_least", "naive_expected", "seconds"),
    }
    assert found.as_dict()["operators"]["seen"]["calls"] == 1
    with pytest.raises(KeyError):
        found["add"]


def test_a_condition_on_the_event_alone_needs_no_call() -> None:
    found = account({"s1": "seen(a)", "s2": "speed + altitude < 3"}, {"altitude": 0, "speed": 0})
    assert (found.calls, found.needed_at_least) == (0, 0)
