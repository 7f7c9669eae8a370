"""Rounds on threads: calls run at once, and nothing depends on which of them is done first."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from typing import Any

import pytest

import tamis
from tamis.testing import counting

from .patience import PATIENCE_SECONDS


class Rounds:
    """Asks for as much as it may, in order."""

    def begin(self, problem: tamis.Problem) -> Any:
        return _Rounds(problem.calls)


class _Rounds:
    def __init__(self, calls: int) -> None:
        self.left = list(range(calls))

    def next(self, limit: int) -> list[int]:
        now, self.left = self.left[:limit], self.left[limit:]
        return now

    def observe(self, tests: object, outcomes: object, decided: object) -> None:
        pass


def test_workers_make_calls_at_once() -> None:
    together = threading.Barrier(3, timeout=PATIENCE_SECONDS)

    @tamis.operator
    def waits(event: Any, number: int) -> bool:
        together.wait()
        return True

    matcher = tamis.Matcher([waits], planner=Rounds(), workers=3)
    matcher.subscribe("waits(1) and waits(2) and waits(3)", id="s")
    assert len(matcher.match({}).matches) == 1


def test_asynchronous_operators_run_at_once() -> None:
    running, most = 0, 0

    @tamis.operator
    async def waits(event: Any, number: int) -> bool:
        nonlocal running, most
        running += 1
        most = max(most, running)
        end = time.monotonic() + PATIENCE_SECONDS
        while most < 2 and time.monotonic() < end:
            await asyncio.sleep(0.001)
        running -= 1
        return True

    matcher = tamis.Matcher([waits], planner=Rounds(), workers=4)
    matcher.subscribe("waits(1) and waits(2) and waits(3) and waits(4)", id="s")
    assert len(matcher.match({}).matches) == 1
    assert most > 1


def test_limits_of_the_specification_hold_among_workers() -> None:
    running, most = 0, 0
    lock, two = threading.Lock(), threading.Barrier(2)

    @tamis.operator(concurrency=2)
    def waits(event: Any, number: int) -> bool:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        two.wait(PATIENCE_SECONDS)
        time.sleep(0.01)  # in which a third one would come
        with lock:
            running -= 1
        return True

    matcher = tamis.Matcher([waits], planner=Rounds(), workers=6)
    matcher.subscribe(" and ".join(f"waits({number})" for number in range(12)), id="s")
    assert len(matcher.match({}).matches) == 1
    assert most == 2


def test_a_preparation_is_made_once_among_workers() -> None:
    made = []

    def decode(event: Any) -> str:
        made.append(event["picture"])
        time.sleep(0.02)
        return "decoded"

    decoding = tamis.Preparation("decoding", decode, inputs=("picture",))

    @tamis.operator(preparation=decoding, inputs=("picture",))
    def shows(event: Any, thing: int) -> bool:
        return bool(event.prepared == "decoded")

    matcher = tamis.Matcher([shows], planner=Rounds(), workers=4)
    matcher.subscribe(" and ".join(f"shows({number})" for number in range(8)), id="s")
    assert len(matcher.match({"picture": "p"}).matches) == 1
    assert made == ["p"]


@pytest.mark.parametrize("planner", ["naive", "sequential", "suborder"])
def test_nothing_depends_on_timing(planner: str) -> None:
    chance = random.Random(1)

    @tamis.operator
    def slow(event: Any, number: int) -> bool:
        time.sleep(chance.random() / 500)
        return bool(event["true"][number])

    def calls_of() -> tuple[list[str], list[str]]:
        matcher = tamis.Matcher([slow], planner=planner, workers=3)
        rng = random.Random(7)
        for number in range(30):
            members = rng.sample(range(20), 3)
            matcher.subscribe(" and ".join(f"slow({each})" for each in members), id=f"{number}")
        result = matcher.match({"true": [rng.random() < 0.7 for _ in range(20)]})
        return (
            [match.subscription for match in result.matches],
            [call.predicate for call in result.calls],
        )

    assert calls_of() == calls_of() == calls_of()


def test_no_call_is_made_twice_and_an_interrupt_ends_it() -> None:
    @tamis.operator
    def interrupts(event: Any, number: int) -> bool:
        if number == 3:
            raise KeyboardInterrupt
        return True

    counted = counting(interrupts)
    matcher = tamis.Matcher([counted], planner=Rounds(), workers=2)
    matcher.subscribe(" and ".join(f"interrupts({number})" for number in range(6)), id="s")
    with pytest.raises(KeyboardInterrupt):
        matcher.match({})
    assert counted.repeated == []


def test_remembered_answers_come_in_the_order_of_their_calls() -> None:
    """And not in the order in which threads have made them."""
    slow_first = True

    @tamis.operator(inputs=("v",), deterministic=True)
    def over(event: Any, bound: int) -> bool:
        time.sleep(0.05 if (bound == 1) == slow_first else 0)
        return bool(event["v"] > bound)

    def again() -> list[str]:
        matcher = tamis.Matcher([over], planner=Rounds(), workers=2)
        matcher.subscribe("over(1) and over(2)", id="s")
        matcher.match({"v": 9})
        matcher.subscribe("over(3)", id="t")
        return [each.predicate for each in matcher.match({"v": 9}).evaluations]

    before = again()
    slow_first = False
    assert again() == before
