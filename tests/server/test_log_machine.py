"""The log does what a plain model does, whatever happens in whatever order, restarts included."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tamis.server import changes
from tamis.server.errors import (
    IdTaken,
    OtherContent,
    UnknownDelivery,
    UnknownSubscription,
    UnknownWebhook,
)
from tamis.server.log import Log
from tamis.server.webhooks import outbox
from tests.server.follower import Follower
from tests.server.model import Model

IDS = st.sampled_from(["a", "b", "c"])
LEVELS = st.integers(0, 4)
WHICH = st.integers(0, 2)
"""One of the last subscriptions that ever came."""
MEMORY = Path("/dev/shm")
"""Where syncing takes no time; what it is for, no test of one process can tell."""
OUTCOMES = st.sampled_from(["taken", "again", "dead"])
HOOK = changes.Webhook("https://x", "whsec_", is_made=False)
HOOKS = st.none() | st.just(HOOK)
SECONDS = st.integers(1, 6).map(float)


class LogMachine(RuleBasedStateMachine):
    @initialize(id=IDS, threshold=LEVELS, seconds=SECONDS, hook=HOOKS)
    def begin(self, id: str, threshold: int, seconds: float, hook: changes.Webhook | None) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.exists() else None))
        self.model = Model()
        self.births: list[int] = []
        self.sent: tuple[int, int, str] | None = None
        self.open(self.folder / "log")
        self.subscribe(id, threshold, seconds, hook)

    def open(self, folder: Path) -> None:
        self.place = folder
        self.log = Log(folder, clock=lambda: self.model.clock)
        if self.model.position % 2:  # then each change is a commit
            self.log.writer.most_together = 1
        self.follower = Follower(self.log)

    def born(self, which: int) -> int:
        return self.births[-1 - which % len(self.births)]

    def does(self, change: Any) -> Any:
        return self.log.submit(change).result(timeout=60)

    @rule(id=IDS, threshold=LEVELS, seconds=SECONDS, hook=HOOKS)
    def subscribe(
        self, id: str, threshold: int, seconds: float, hook: changes.Webhook | None
    ) -> None:
        new = self.model.subscribe(id, threshold, seconds, hook is not None)
        document = {"where": str(threshold)}
        change = changes.Subscribe(document, b"t" * 32, id, seconds, webhook=hook)
        if new is None:
            with pytest.raises(IdTaken):
                self.does(change)
        else:
            self.births.append(new.born)
            assert self.does(change) == (id, new.born, new.expires, None, None)

    @rule(which=WHICH, threshold=LEVELS, hook=HOOKS)
    def replace(self, which: int, threshold: int, hook: changes.Webhook | None) -> None:
        born = self.born(which)
        change = changes.Replace(born, {"where": str(threshold)}, webhook=hook)
        self.agrees(self.model.replace(born, threshold, hook is not None), change)

    @rule(which=WHICH, outcome=OUTCOMES)
    def send(self, which: int, outcome: str) -> None:
        """Sends what comes next to a webhook; something else may happen before it is known."""
        born = self.born(which)
        message = outbox.upcoming(self.log.reading, born, float("inf"))
        if isinstance(message, outbox.Message):
            each = self.model.kept[born]
            assert message.number in each.upcoming
            assert each.has_webhook
            self.sent = born, message.number, outcome
            self.is_known()

    @rule(which=WHICH, count=st.integers(1, 3), outcome=OUTCOMES)
    def match(self, which: int, count: int, outcome: str) -> None:
        """Publishes what every subscription matches, decides it, and sends it."""
        for number in range(count):
            self.publish(f"{self.model.position}.{number}", 6)
        self.decide(1_000)
        for _ in range(count):
            self.send(which, outcome)

    @rule()
    def is_known(self) -> None:
        """What became of the last message is known, late or again."""
        if self.sent is not None:
            born, number, outcome = self.sent
            again = self.model.clock if outcome == "again" else None
            reason = None if outcome == "taken" else "no"
            self.model.attempt(born, number, outcome)
            self.does(changes.Attempt(born, number, HOOK.url, reason, again))

    @rule(which=WHICH, number=st.integers(1, 3))
    def redeliver(self, which: int, number: int) -> None:
        born = self.born(which)
        change = changes.Redeliver(born, number)
        if self.model.redeliver(born, number):
            self.does(change)
        else:
            with pytest.raises((UnknownDelivery, UnknownWebhook)):
                self.does(change)

    @rule(which=WHICH, seconds=SECONDS)
    def renew(self, which: int, seconds: float) -> None:
        born = self.born(which)
        self.agrees(self.model.renew(born, seconds), changes.Renew(born, seconds))

    @rule(which=WHICH)
    def unsubscribe(self, which: int) -> None:
        born = self.born(which)
        self.agrees(self.model.unsubscribe(born), changes.Unsubscribe(born))

    def agrees(self, is_done: bool, change: Any) -> None:
        if is_done:
            self.does(change)
        else:
            with pytest.raises(UnknownSubscription):
                self.does(change)

    @rule(id=st.integers(0, 12).map(str), level=st.integers(3, 6))
    def publish(self, id: str, level: int) -> None:
        position = self.model.publish(id, level)
        change = changes.Publish([{"id": id, "level": level}])
        if position is None:
            with pytest.raises(OtherContent):
                self.does(change)
        else:
            assert self.does(change).positions == [position]

    @rule(seconds=SECONDS)
    def passes(self, seconds: float) -> None:
        self.model.clock += seconds

    @rule(most=st.integers(1, 8))
    def decide(self, most: int) -> None:
        cursor = min(self.model.position, self.follower.cursor + most)
        assert self.follower.decide(most) == cursor
        self.model.decide(cursor)

    @rule(which=WHICH, number=st.integers(0, 2))
    def acknowledge(self, which: int, number: int) -> None:
        born = self.born(which)
        if self.model.acknowledge(born, number):
            self.does(changes.Acknowledge(born, number))
        else:
            with pytest.raises((UnknownDelivery, UnknownSubscription)):
                self.does(changes.Acknowledge(born, number))

    @precondition(lambda self: self.model.cursor > 3)
    @rule(seconds=SECONDS)
    def retain(self, seconds: float) -> None:
        self.model.expire()
        oldest = self.model.clock - seconds
        rows = self.log.reading.rows("SELECT position, at FROM entries ORDER BY position")
        removed = self.does(changes.Retain(older_than=seconds))
        until = self.model.floor
        for position, at in rows:
            if position <= self.model.cursor and at < oldest and position == until:
                until += 1
        assert removed.entries == until - self.model.floor
        self.model.retain(until)

    @rule()
    def restart(self) -> None:
        self.log.close()
        self.open(self.place)

    @rule()
    def go_on_with_a_backup(self) -> None:
        copy = self.place.with_name(self.place.name + "+")
        self.log.backup(copy)
        self.log.close()
        self.open(copy)

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        state = self.log.reading.state()
        model = self.model
        assert (state.position, state.cursor, state.floor) == (
            *(model.position, model.cursor, model.floor),
        )
        found = {each.born: each for each in self.log.reading.standings()}
        assert found.keys() == model.kept.keys()
        for born, each in model.kept.items():
            standing = found[born]
            assert (standing.id, standing.ended is not None) == (each.id, each.ended)
            assert (standing.expires, standing.due) == (each.expires, len(each.deliveries))
            assert (standing.acknowledged, standing.gap) == (each.acknowledged, each.lost)
            assert (standing.retrying, standing.dead) == (len(each.retrying), len(each.dead))
            counts = standing.delivered, standing.pending, standing.dead, standing.gap
            assert standing.due == sum(counts)
            assert min(counts) >= 0
            listed = outbox.dead(self.log.reading, standing, 0, 100)
            assert {int(one["id"].split("-")[1]) for one in listed} == each.dead
            assert standing.floor == each.floor
            delivered = self.log.reading.deliveries(born, 0, 1000)
            kept = list(enumerate(each.deliveries, 1))[each.floor - 1 :]
            assert [(one.number, (one.position, one.body["level"])) for one in delivered] == kept

    def teardown(self) -> None:
        if hasattr(self, "log"):
            self.log.close()
            shutil.rmtree(self.folder)


LogMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=50, deadline=None)
TestLog = LogMachine.TestCase
