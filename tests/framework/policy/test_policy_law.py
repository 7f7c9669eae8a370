"""Whatever happens, what is delivered is what the contract's words say, as the plain model does."""

from __future__ import annotations

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

durations = st.sampled_from(list(SECONDS))
pers = st.sampled_from(
    [[], ["camera"], ["camera"], ["camera", "zone"], ["?plate"], ["?plate", "camera"], ["?color"]]
)
kinds = st.one_of(
    st.just({"every": True}),
    st.just({"once": True}),
    st.builds(lambda long: {"cooldown": long}, durations),
    st.builds(lambda long: {"for": long}, durations),
    st.builds(lambda long: {"digest": long}, durations),
    st.builds(lambda edge: {"on": edge}, st.sampled_from(["enter", "exit", "both"])),
    st.builds(
        lambda needed, more: {"of": [needed, needed + more]}, st.integers(1, 3), st.integers(0, 3)
    ),
)


@st.composite
def policies(draw: st.DrawFn, *, behind: bool = False) -> dict[str, Any]:
    """A policy that is taken."""
    policy, per = dict(draw(kinds)), draw(pers)
    ends = "for" in policy or policy.get("on") in ("exit", "both")
    needs_gap = ends and (behind or any(name.startswith("?") for name in per))
    if needs_gap or (("for" in policy or "on" in policy) and draw(st.booleans())):
        policy["gap"] = draw(durations)
    if per:
        policy["per"] = per
    return policy


delivers = st.one_of(
    policies(),
    st.builds(lambda first, second: [first, second], policies(), policies(behind=True)),
    st.builds(lambda *found: list(found), policies(), policies(behind=True), policies(behind=True)),
)
answers: st.SearchStrategy[Any] = st.one_of(
    st.just([]),
    st.just([["x", "red"]]),
    st.lists(
        st.tuples(st.sampled_from(["x", "y"]), st.sampled_from(["red", 1, 1.0, True])).map(list),
        min_size=1,
        max_size=3,
    ),
    st.just(FAILS),
)
ids = st.sampled_from(["s1", "s2", "s3", "s4"])


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
        self.count = 0

    @initialize(deliver=delivers, more=st.one_of(st.none(), delivers))
    def begin(self, deliver: Any, more: Any) -> None:
        for id, each in (("s1", deliver), ("s2", more)):
            if each is not None:
                self.subscribe(id, each)

    @rule(id=ids, deliver=delivers)
    def subscribe(self, id: str, deliver: Any) -> None:
        """A new subscription, or another policy for an old one."""
        where = f"seen({id}, ?plate, ?color)"
        self.matcher.subscribe(where, id=id, deliver=deliver, replace=True)
        if id not in self.plain or self.plain[id].deliver != deliver:
            self.plain[id] = PlainSubscription(id, deliver)

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

    @rule(
        later=st.sampled_from([0, 0, 0.5, 1, 1, 2, 3, 5, 10, 11, 61, -1, -2, -5]),
        camera=st.sampled_from(["a", "a", "a", "b", None, 1, True]),
        zone=st.sampled_from([1, 1.0, 2]),
        found=st.dictionaries(ids, answers),
        timed=st.sampled_from([True, True, True, False]),
        again=st.sampled_from([False, False, False, True]),
    )
    def event(
        self,
        later: float,
        camera: Any,
        zone: Any,
        found: dict[str, Any],
        timed: bool,
        again: bool,
    ) -> None:
        """An event, now or late, or one with the id of the last one."""
        if later > 0:
            self.time += later
            self.clock.advance(later)
        self.number += not again
        content: dict[str, Any] = {"id": f"e{self.number}", "camera": camera, "zone": zone}
        if timed:
            content["time"] = self.time + min(0, later)
        self.take({**content, "answers": found})

    @precondition(lambda self: self.last is not None)
    @rule(changed=st.dictionaries(ids, answers))
    def repeat(self, changed: dict[str, Any]) -> None:
        """The last event once more, of which something may be known now, or no more."""
        assert self.last is not None
        self.take({**self.last, "answers": {**self.last["answers"], **changed}})

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
TestPolicies.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
