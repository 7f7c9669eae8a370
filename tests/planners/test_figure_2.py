"""The example of the paper's Figure 2: three subscriptions over four predicates, by hand.

S1 holds P1 and P2, S2 holds P2 and P3, S3 holds P3 and P4; P2 is false and P3 is true.
"""

from __future__ import annotations

from typing import Any

import pytest

import tamis
from tamis.testing import truth_table

SUBSCRIPTIONS = {
    "S1": "seen(P1) and seen(P2)",
    "S2": "seen(P2) and seen(P3)",
    "S3": "seen(P3) and seen(P4)",
}


def match(planner: str, order: str, **truths: bool) -> tuple[list[str], Any]:
    matcher = tamis.Matcher(operators=[truth_table("seen")], planner=planner)
    for id in order.split():
        matcher.subscribe(SUBSCRIPTIONS[id], id=id)
    result = matcher.match({"seen": {"P1": True, "P2": False, "P3": True, "P4": True, **truths}})
    assert [each.subscription for each in result.matches] == (
        ["S3"] if truths.get("P4", True) else []
    )
    return [call.predicate[5:-1] for call in result.calls], result.account


def test_sequential_that_takes_s2_first_does_not_need_p1() -> None:
    calls, account = match("sequential", "S2 S1 S3")
    assert calls == ["P2", "P3", "P4"]
    assert (account.calls, account.spared, account.needed_at_least) == (3, 1, 2)


def test_sequential_in_the_order_of_the_figure() -> None:
    calls, account = match("sequential", "S1 S2 S3")
    assert calls == ["P1", "P2", "P3", "P4"]
    assert (account.calls, account.spared, account.needed_at_least) == (4, 0, 2)


def test_sequential_finishes_what_it_marked_while_anybody_needs_it() -> None:
    calls, account = match("sequential", "S1 S2 S3", P1=False)
    assert calls == ["P1", "P2", "P3", "P4"]
    calls, account = match("sequential", "S3 S1 S2", P3=True)
    assert calls == ["P3", "P4", "P1", "P2"]
    assert account.needed_at_least == 2


@pytest.mark.parametrize(
    ("order", "calls"),
    [
        ("S1 S2 S3", ["P1", "P2", "P3", "P4"]),
        ("S2 S1 S3", ["P2", "P1", "P3", "P4"]),
        ("S3 S2 S1", ["P3", "P4", "P2", "P1"]),
    ],
)
def test_naive_takes_every_subscription_in_its_turn(order: str, calls: list[str]) -> None:
    found, account = match("naive", order)
    assert found == calls
    assert (account.calls, account.spared) == (4, 0)


def test_naive_stops_at_the_first_false_predicate() -> None:
    found, _ = match("naive", "S1 S2 S3", P1=False, P4=False)
    assert found == ["P1", "P2", "P3", "P4"]
    found, _ = match("naive", "S2 S1 S3", P1=False)
    assert found == ["P2", "P1", "P3", "P4"]


def test_every_installed_planner_finds_the_match_with_at_least_three_calls() -> None:
    for name in tamis.plugins.loader.installed().planners:
        calls, account = match(name, "S1 S2 S3")
        assert {"P3", "P4"} <= set(calls)
        assert len(calls) >= 3
        assert 2 <= account.needed_at_least <= len(calls)
