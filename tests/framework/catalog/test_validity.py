"""Checks that subscriptions expire by the matcher's clock."""

from __future__ import annotations

import math

import pytest

import tamis
from tamis import SubscriptionError
from tamis.testing import FakeClock


def matcher() -> tuple[tamis.Matcher, FakeClock]:
    clock = FakeClock(1_000.0)
    return tamis.Matcher(operators=[], clock=clock), clock


def matched(one: tamis.Matcher) -> list[str]:
    return [match.subscription for match in one.match({"a": 1}).matches]


def test_it_expires_after_its_validity() -> None:
    one, clock = matcher()
    one.subscribe("a = 1", id="short", validity=60)
    one.subscribe("a = 1", id="long", validity=3600)
    one.subscribe("a = 1", id="ever")
    clock.advance(59.9)
    assert matched(one) == ["ever", "long", "short"]
    clock.advance(0.1)
    assert matched(one) == ["ever", "long"]
    assert len(one) == 2
    assert "short" not in one
    with pytest.raises(KeyError):
        one.unsubscribe("short")
    clock.advance(10**9)
    assert matched(one) == ["ever"]


def test_what_has_expired_is_gone_without_a_match() -> None:
    one, clock = matcher()
    one.subscribe("a = 1", id="s1", validity=1)
    clock.advance(1)
    assert len(one) == 0
    with pytest.raises(KeyError):
        one.renew("s1", validity=5)
    with pytest.raises(KeyError):
        one.subscription("s1")
    assert one.subscribe("a = 1", id="s1") == "s1"


def test_many_at_once() -> None:
    one, clock = matcher()
    one.subscribe_many([{"id": f"s{number}", "where": "a = 1"} for number in range(9)], validity=5)
    clock.advance(5)
    assert matched(one) == []


def test_renewing_counts_from_now() -> None:
    one, clock = matcher()
    one.subscribe("a = 1", id="s1", validity=60)
    clock.advance(50)
    one.renew("s1", validity=60)
    clock.advance(50)
    assert matched(one) == ["s1"]
    clock.advance(10)
    assert matched(one) == []


def test_renewing_may_shorten_or_lift_the_validity() -> None:
    one, clock = matcher()
    one.subscribe("a = 1", id="shorter", validity=60)
    one.subscribe("a = 1", id="ever", validity=60)
    one.subscribe("a = 1", id="limited")
    one.renew("shorter", validity=5)
    one.renew("ever", validity=None)
    one.renew("limited", validity=30)
    clock.advance(5)
    assert matched(one) == ["ever", "limited"]
    clock.advance(1000)
    assert matched(one) == ["ever"]


def test_a_replacement_has_a_validity_of_its_own() -> None:
    one, clock = matcher()
    one.subscribe("a = 1", id="s1", validity=60)
    one.subscribe("a = 1", id="s1", replace=True)
    one.subscribe("a = 1", id="s2", validity=60)
    one.subscribe("a = 1", id="s2", replace=True, validity=10)
    one.subscribe("a = 1", id="s3", validity=10)
    one.unsubscribe("s3")
    one.subscribe("a = 1", id="s3", validity=60)
    clock.advance(10)
    assert matched(one) == ["s1", "s3"]
    clock.advance(50)
    assert matched(one) == ["s1"]


def test_a_failed_replacement_changes_no_validity() -> None:
    one, clock = matcher()
    one.subscribe("a = 1", id="s1", validity=60)
    with pytest.raises(SubscriptionError):
        one.subscribe("a =", id="s1", replace=True, validity=5)
    clock.advance(59)
    assert matched(one) == ["s1"]


@pytest.mark.parametrize("validity", [0, -1, math.nan, True, "60", [60]])
def test_a_validity_is_a_number_of_seconds_above_zero(validity: float) -> None:
    one, _ = matcher()
    with pytest.raises(SubscriptionError, match=r"'s1'.*validity is a number of seconds above 0"):
        one.subscribe("a = 1", id="s1", validity=validity)
    assert len(one) == 0
    one.subscribe("a = 1", id="s2")
    with pytest.raises(SubscriptionError, match=r"'s2'.*validity"):
        one.renew("s2", validity=validity)
    assert matched(one) == ["s2"]


def test_an_infinite_validity_is_for_ever() -> None:
    one, clock = matcher()
    one.subscribe("a = 1", id="s1", validity=math.inf)
    clock.advance(10**12)
    assert matched(one) == ["s1"]


def test_a_held_result_outlives_what_it_shows() -> None:
    one, clock = matcher()
    one.subscribe("a = 1", id="s1", validity=1, data={"k": 1})
    result = one.match({"a": 1})
    clock.advance(1)
    one.subscribe_many([{"id": f"t{number}", "where": "a = 2"} for number in range(20)])
    assert [(each.subscription, each.data) for each in result.matches] == [("s1", {"k": 1})]
    assert result.explain("s1").data["verdict"] == "matched"


def test_very_many_renewals_take_no_memory() -> None:
    one, clock = matcher()
    one.subscribe("a = 1", id="s1", validity=100)
    for _ in range(20_000):
        one.renew("s1", validity=100)
    clock.advance(1)
    assert matched(one) == ["s1"]
    assert len(one._expiry._queue) < 1_000
