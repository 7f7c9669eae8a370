"""Keeps the cases that the law of policies found once."""

from __future__ import annotations

import tamis

from .test_policies import HIGH, LOW, Lines, delivered, events_of, ids, matcher_of


def finished(deliver: object, levels: list[int]) -> tuple[tamis.Matcher, tamis.Deliveries]:
    """Deliveries that took events, and then gave what was open."""
    matcher = matcher_of(deliver)
    deliveries = tamis.Deliveries(matcher)
    for event in events_of(levels):
        deliveries.take(matcher.match(event))
    return matcher, deliveries


def test_who_unsubscribed_gets_no_digest_at_the_end() -> None:
    matcher, deliveries = finished({"digest": "1h"}, [HIGH])
    matcher.unsubscribe("s")
    assert deliveries.finish() == []


def test_events_are_counted_at_the_end_too() -> None:
    policies = [{"digest": "1h"}, {"of": [1, 1]}, {"of": [1, 2]}]
    levels = [HIGH, LOW, HIGH]
    assert ids(delivered(policies, events_of(levels))) == ["e0", "e2"]
    assert finished(policies, levels)[1].finish() != []


def test_a_digest_goes_on_by_its_plate() -> None:
    policies = [{"digest": "1h", "per": ["?plate"]}, {"every": True, "per": ["?plate"]}]
    events = [{**each, "plates": ["x"]} for each in events_of([HIGH])]
    expected: Lines = [("digest", ("x",), ("e0",))]
    assert delivered(policies, events, "plates(?plate)") == expected


def test_what_begins_at_the_end_ends_by_its_gap() -> None:
    policies = [{"digest": "1h"}, {"on": "exit", "gap": "2s"}]
    matcher, deliveries = finished(policies, [HIGH])
    assert deliveries.finish() == []
    [later] = events_of([LOW] * 2)[1:]
    assert [each.kind for each in deliveries.take(matcher.match(later))] == ["exit"]
