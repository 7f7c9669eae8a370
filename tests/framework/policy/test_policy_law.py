"""Whatever happens, what is delivered is what the contract's words say, as the plain model does."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import tamis
from tamis.policy import deliveries as module
from tamis.testing import FakeClock

from .plain_policies import SECONDS, PlainEvent, PlainSubscription

FAILS = "fails"
REMEMBERED = 4
START = 1_700_000_000

PERS: tuple[list[str], ...] = (
    [],
    [],
    ["camera"],
    ["camera"],
    ["camera", "zone"],
    ["?plate"],
    ["?plate", "camera"],
)
IDS = ("s1", "s2", "s3")
seeds = st.integers(0, 2**32 - 1).map(random.Random)
"""Hypothesis draws short and plain things: what is to be long and mixed comes from a seed."""


def policy_by(draw: random.Random, *, behind: bool = False) -> dict[str, Any]:
    """A policy that is taken."""
    long, needed = draw.choice(list(SECONDS)), draw.randint(1, 3)
    measures: dict[str, Any] = {
        "every": True, "once": True, "cooldown": long, "for": long, "digest": long,
        "on": draw.choice(["enter", "exit", "both"]), "of": [needed, needed + draw.randint(0, 2)],
    }  # fmt: skip
    kind, per = draw.choice(list(measures)), draw.choice([*PERS, ["?color"]])
    policy = {kind: measures[kind]} | ({"per": per} if per else {})
    ends = kind == "for" or policy.get("on") in ("exit", "both")
    needs_gap = ends and (behind or any(name.startswith("?") for name in per))
    if needs_gap or (kind in ("for", "on") and draw.random() < 0.3):
        policy["gap"] = draw.choice(list(SECONDS))
    return policy


def deliver_by(draw: random.Random) -> Any:
    """A policy, or a list of them."""
    first, *others = (policy_by(draw, behind=at > 0) for at in range(draw.choice([1, 1, 1, 2, 3])))
    return [first, *others] if others or draw.random() < 0.1 else first


def answers_by(draw: random.Random) -> dict[str, Any]:
    """What an event shows to each subscription."""
    pairs = [[plate, color] for plate in "xy" for color in ("red", 1, 1.0, True)]
    return {
        id: draw.choice([[], [], [["x", "red"]], draw.sample(pairs, draw.randint(1, 3)), FAILS])
        for id in IDS
    }


def event_by(draw: random.Random) -> dict[str, Any]:
    """An event, now or late, with a time or without, new or with the id of an earlier one."""
    return {
        "later": draw.choice([0, 0, 0.5, 1, 1, 2, 3, 5, 10, 11, 61, -1, -2, -5]),
        "camera": draw.choice(["a", "a", "a", "b", None, 1, True]),
        "zone": draw.choice([1, 1.0, 2]),
        "answers": answers_by(draw),
        "timed": draw.random() < 0.8,
        "id": draw.choice(["new", "new", "new", "new", "last", "earlier"]),
    }


@tamis.operator(inputs=("answers",))
def seen(event: Mapping[str, Any], who: str, plate: object, color: object) -> list[tuple[Any, Any]]:
    """Every plate with its color that an event says it shows to a subscription."""
    found = event["answers"].get(who, [])
    if found == FAILS:
        raise RuntimeError(FAILS)
    return [(plate, color) for plate, color in found]


class Policies(RuleBasedStateMachine):
    """Subscriptions, events and restarts, beside the plain model."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock(START)
        self.matcher = tamis.Matcher([seen], clock=self.clock)
        self.deliveries = tamis.Deliveries(self.matcher)
        self.plain: dict[str, PlainSubscription] = {}
        self.time: float = START
        self.latest: float = 0
        self.number = 0
        self.remembered: list[str] = []
        self.last: dict[str, Any] | None = None

    @initialize(draw=seeds)
    def begin(self, draw: random.Random) -> None:
        for id in IDS[: draw.randint(1, 3)]:
            self.subscribe(id, draw)
        self.events(draw)

    @rule(id=st.sampled_from(IDS), draw=seeds)
    def subscribe(self, id: str, draw: random.Random) -> None:
        """A new subscription, or another policy for an old one."""
        deliver = deliver_by(draw)
        where = f"seen({id}, ?plate, ?color)"
        self.matcher.subscribe(where, id=id, deliver=deliver, replace=True)
        new = PlainSubscription(id, deliver)
        if id not in self.plain or self.plain[id].policies != new.policies:
            self.plain[id] = new

    @precondition(lambda self: self.plain)
    @rule(data=st.data())
    def replace_with_an_equal_policy(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.plain)))
        where = f"seen({id}, ?plate, ?color) and not exists(nothing)"
        self.matcher.subscribe(where, id=id, deliver=self.plain[id].deliver, replace=True)

    @precondition(lambda self: len(self.plain) > 1)
    @rule(data=st.data())
    def unsubscribe(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.plain)))
        self.matcher.unsubscribe(id)
        if data.draw(st.booleans()):
            self.matcher.subscribe(
                f"seen({id}, ?plate, ?color)", id=id, deliver=self.plain[id].deliver
            )
            self.plain[id] = PlainSubscription(id, self.plain[id].deliver)
        else:
            del self.plain[id]

    @rule(draw=seeds)
    def events(self, draw: random.Random) -> None:
        """Some events."""
        for _ in range(draw.randint(1, 25)):
            self.event(**event_by(draw))

    def event(self, later: float, id: str, timed: bool, **content: Any) -> None:
        """An event."""
        if later > 0:
            self.time += later
            self.clock.advance(later)
        self.number += id == "new"
        number = max(0, self.number - 2 * (id == "earlier"))
        if timed:
            content["time"] = self.time + min(0, later)
        self.take({**content, "id": f"e{number}"})

    @precondition(lambda self: self.last is not None)
    @rule(draw=seeds)
    def repeat(self, draw: random.Random) -> None:
        """The last event once more, of which other things may be known now."""
        assert self.last is not None
        self.take({**self.last, "answers": answers_by(draw)})

    def take(self, content: dict[str, Any]) -> None:
        """Takes an event here and there."""
        self.last = content
        timed = "time" in content
        time = content["time"] if timed else self.clock()
        self.latest = max(self.latest, time)
        attributes = {name: content[name] for name in ("camera", "zone")}
        event = PlainEvent(content["id"], time, timed, attributes)
        expected: list[Any] = []
        for id, plain in sorted(self.plain.items()):
            answer = content["answers"].get(id, [])
            if answer != FAILS:
                pairs = [dict(zip(("plate", "color"), each, strict=True)) for each in answer]
                expected += plain.take(event, pairs or None, self.remembered)
        if not timed and event.id not in self.remembered:
            self.remembered = [*self.remembered, event.id][-REMEMBERED:]
            for plain in self.plain.values():
                plain.timeless &= set(self.remembered)
        self.compare(self.deliveries.take(self.matcher.match(content)), expected)

    @rule()
    def save_and_open(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.deliveries.save(folder)
            self.deliveries = tamis.Deliveries.open(folder, self.matcher)

    @rule()
    def finish(self) -> None:
        expected: list[Any] = []
        for _, plain in sorted(self.plain.items()):
            expected += plain.finish(self.latest)
        self.compare(self.deliveries.finish(), expected)

    @staticmethod
    def compare(found: list[tamis.Delivery], expected: list[Any]) -> None:
        assert list(map(shown, found)) == list(map(shown, expected))


def shown(delivery: Any) -> tuple[Any, ...]:
    """A delivery with the kinds of the values of its key."""
    subscription, kind, key, events, time = delivery
    return subscription, kind, [(type(each) is bool, each) for each in key], events, time


@pytest.fixture(autouse=True)
def few_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", REMEMBERED)


TestPolicies = Policies.TestCase
TestPolicies.settings = settings(max_examples=300, stateful_step_count=8, deadline=None)
