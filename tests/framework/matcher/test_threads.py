"""Several threads match while others subscribe and cancel: each sees one consistent set."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import tamis

ROUNDS = 250
IDS = [f"s{number}" for number in range(12)]


@tamis.operator(inputs=("level",))
def above(event: Mapping[str, int], threshold: int) -> bool:
    return event["level"] > threshold


@tamis.operator(inputs=("level",), outputs=("value",))
def levelIs(event: Mapping[str, int], value: object) -> list[int]:
    return [event["level"]]


class World:
    """A matcher, and what was subscribed at each version of its catalog."""

    def __init__(self, planner: str) -> None:
        self.matcher = tamis.Matcher([above, levelIs], planner=planner)
        self.writing = threading.Lock()
        self.live: dict[str, int] = {}
        self.history: dict[int, dict[str, int]] = {0: {}}
        self.failures: list[str] = []
        self.done = threading.Event()

    def change(self, chance: random.Random) -> None:
        """Subscribes, replaces or cancels one; what is live goes into the history."""
        id, threshold = chance.choice(IDS), chance.randrange(10)
        where = chance.choice(
            [
                f"level > {threshold}",
                f"above({threshold})",
                f"levelIs(?v), ?v > {threshold}",
                f"above({threshold}) and level > {threshold} and levelIs(?v), ?v > {threshold}",
                f"above({threshold}) or levelIs(?v), ?v > {threshold}".replace(", ", " and "),
            ]
        )
        with self.writing:
            if id in self.live and chance.random() < 0.4:
                self.matcher.unsubscribe(id)
                del self.live[id]
            else:
                self.matcher.subscribe(where, id=id, replace=True)
                self.live[id] = threshold
            self.history[self.matcher._catalog.version] = dict(self.live)

    def watch(self, chance: random.Random) -> None:
        """Matches and keeps results with the versions that they claim to have seen."""
        seen: list[tuple[tamis.Result, int]] = []
        while not self.done.is_set():
            level = chance.randrange(12)
            seen.append((self.matcher.match({"level": level}), level))
        for result, level in seen:
            live = self.history[result._seen.version]
            expected = sorted(id for id, threshold in live.items() if level > threshold)
            found = [match.subscription for match in result.matches]
            if found != expected:
                self.failures.append(f"level {level}: {found}, not {expected}")


@pytest.mark.parametrize("planner", ["naive", "sequential", "suborder"])
def test_every_answer_is_that_of_the_set_that_was_live(planner: str) -> None:
    world = World(planner)
    readers = [
        threading.Thread(target=world.watch, args=(random.Random(seed),)) for seed in range(3)
    ]

    def write(chance: random.Random) -> None:
        for _ in range(ROUNDS):
            world.change(chance)

    writers = [threading.Thread(target=write, args=(random.Random(seed),)) for seed in (7, 8)]
    run([*readers, *writers], until=writers, then=world.done.set)
    assert not world.failures


def test_a_failing_reader_does_not_block_writers() -> None:
    world = World("sequential")
    with pytest.raises(tamis.EventError):
        world.matcher.match("no event")  # type: ignore[arg-type]
    world.change(random.Random(1))
    assert world.matcher.match({"level": 20}).matches


def test_operators_are_called_once_a_match_in_many_threads() -> None:
    made: list[tuple[Any, int]] = []

    @tamis.operator
    def counted(event: Mapping[str, Any], number: int) -> bool:
        made.append((event["id"], number))
        return True

    matcher = tamis.Matcher([counted])
    matcher.subscribe_many({"where": f"counted({at}), counted({at + 1})"} for at in range(20))

    def work(name: str) -> None:
        for number in range(50):
            assert len(matcher.match({"id": f"{name}{number}"}).matches) == 20

    run([threading.Thread(target=work, args=(name,)) for name in "abcd"])
    assert len(made) == len(set(made)) == 4 * 50 * 21


def run(
    threads: list[threading.Thread],
    until: list[threading.Thread] | None = None,
    then: Callable[[], None] = lambda: None,
) -> None:
    """Runs threads to their end; some end when others have ended."""
    for thread in threads:
        thread.start()
    for thread in until or threads:
        thread.join()
    then()
    for thread in threads:
        thread.join()


def test_an_operator_may_match_while_it_is_asked_of_a_change_and_something_expires() -> None:
    now = [0.0]

    def look(*asked: object) -> tuple[Any, ...]:
        now[0] += 10.0
        assert len(matcher.match({"a": 3}).matches) + len(matcher) + ("s1" in matcher) > 0
        return ()

    @tamis.operator(inputs=("a",), implications=look)
    def isOver(event: Any, bound: float) -> bool:
        return bool(event["a"] > bound)

    @tamis.operator(inputs=("a",), necessary=look)
    def isUnder(event: Any, bound: float) -> bool:
        return bool(event["a"] < bound)

    matcher = tamis.Matcher([isOver, isUnder], clock=lambda: now[0])
    found: list[list[str]] = []

    def work() -> None:
        matcher.subscribe("a > 0", id="s1", validity=5)
        matcher.subscribe("isUnder(5)", id="s2")
        matcher.subscribe("a > 1", id="s3", validity=5)
        matcher.subscribe("isOver(1)", id="s4")
        matcher.subscribe("isOver(2)", id="s5")
        matcher.match({"a": 3})
        found.append([match.subscription for match in matcher.match({"a": 3}).matches])

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert found == [["s2", "s4", "s5"]]


def test_an_operator_that_subscribes_while_a_change_asks_it_is_told_so() -> None:
    @tamis.operator(inputs=("a",))
    def isOver(event: Any, bound: float) -> bool:
        matcher.subscribe("a > 0", id="while matching", replace=True)
        return bool(event["a"] > bound)

    def look(*asked: object) -> tuple[Any, ...]:
        matcher.subscribe("a > 0", id="while changing")
        return ()

    @tamis.operator(inputs=("a",), necessary=look)
    def isUnder(event: Any, bound: float) -> bool:
        return bool(event["a"] < bound)

    matcher = tamis.Matcher([isOver, isUnder])
    found: list[object] = []

    def work() -> None:
        matcher.subscribe("isOver(1)", id="s")
        matcher.match({"a": 3})
        found.append([match.subscription for match in matcher.match({"a": 3}).matches])
        try:
            matcher.subscribe("isUnder(5)")
        except tamis.SubscriptionError as error:
            found.append("cannot change subscriptions itself" in str(error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert found == [["s", "while matching"], True]
