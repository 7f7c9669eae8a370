"""Makes what operators share once an event, in one worker; it fails for all of them at once."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis import Limits, Preparation
from tamis.operators import OperatorRecord
from tests.framework.calling.patience import PATIENCE_SECONDS, in_thread, join

from .abuse import CallsAtOnce
from .workers import hurry_starts, isolated, matcher_with, reasons, values

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")


def test_a_preparation_is_made_once_an_event_in_one_worker(tmp_path: Path) -> None:
    def note(what: str) -> None:
        with open(tmp_path / "made", "a") as made:
            made.write(f"{what} {os.getpid()}\n")

    def decode(event: Any) -> str:
        note("decode")
        return str(event["shot"])

    def detect(event: Any) -> list[str]:
        note("detect")
        return sorted(event.prepared)

    frame = Preparation("frame", decode, inputs=("shot",))
    things = Preparation("things", detect, inputs=(), after=frame)

    @isolated(preparation=things, inputs=(), outputs=("n",), concurrency=3)
    def counted(event: Any, n: Any) -> list[int]:
        return [len(event.prepared)]

    @isolated(preparation=things, inputs=())
    def shows(event: Any, thing: str) -> bool:
        return thing in event.prepared

    @isolated(preparation=frame, inputs=("least",))
    def longer(event: Any) -> bool:
        return bool(len(event.prepared) > event["least"])

    with matcher_with(counted, shows, longer, planner=CallsAtOnce(), workers=3) as matcher:
        matcher.subscribe("counted(?n) and shows(a) and not shows(z) and longer()", id="s")
        for at, shot in enumerate(["abc", "ad", "aef"]):
            result = matcher.match({"shot": shot, "least": 1})
            assert [each.bindings for each in result.matches] == [[{"n": len(shot)}]]
            made = (tmp_path / "made").read_text().split("\n")[:-1][2 * at :]
            assert [each.split()[0] for each in made] == ["decode", "detect"]
            assert len({each.split()[1] for each in made}) == 1
        prices = matcher.learned().prices([things, frame])
        assert (prices > 0).all()


def test_events_that_are_matched_at_once_keep_what_was_prepared(tmp_path: Path) -> None:
    """One worker, two events in turns: each is prepared once."""

    def prepare(event: Any) -> int:
        with open(tmp_path / "made", "a") as made:
            made.write(f"{event.id}\n")
        return int(event["n"])

    doubled = Preparation("doubled", prepare, inputs=("n",))

    @isolated(preparation=doubled, inputs=(), concurrency=1)
    def more(event: Any, than: int) -> bool:
        return bool(event.prepared > than)

    barrier = threading.Barrier(2)

    @tamis.operator
    def met(event: Any, number: int) -> bool:
        barrier.wait(PATIENCE_SECONDS)
        return True

    with matcher_with(more, met) as matcher:
        rounds = " and ".join(f"more({at}) and met({at})" for at in range(6))
        matcher.subscribe(rounds, id="s")
        found: list[tamis.Result] = []
        threads = [
            in_thread(lambda at=at: found.append(matcher.match({"id": f"e{at}", "n": 9})))  # type: ignore[misc]
            for at in range(2)
        ]
        join(*threads)
        assert [len(result.matches) for result in found] == [1, 1]
        assert sorted((tmp_path / "made").read_text().split()) == ["e0", "e1"]


def test_after_a_kill_the_event_goes_on_in_a_fresh_worker(tmp_path: Path) -> None:
    def prepare(event: Any) -> int:
        with open(tmp_path / "made", "a") as made:
            made.write(f"{os.getpid()}\n")
        return 5

    five = Preparation("five", prepare, inputs=())

    @isolated(preparation=five, inputs=(), timeout=0.05)
    def stops(event: Any) -> bool:
        time.sleep(1_000)
        return True

    @isolated(preparation=five, inputs=())
    def is_five(event: Any, number: int) -> bool:
        return bool(event.prepared == number)

    with matcher_with(stops, is_five) as matcher:
        matcher.subscribe("is_five(5)", id="before")
        matcher.subscribe("stops()", id="stops")
        matcher.subscribe("is_five(5) and not is_five(6)", id="after")
        result = matcher.match({})
        assert [each.subscription for each in result.matches] == ["after", "before"]
        assert reasons(result) == {"stops": "stops(): timed out: no answer within 0.05 s"}
        made = (tmp_path / "made").read_text().split()
        assert len(made) == len(set(made)) == 2


@pytest.mark.parametrize("how", ["raises", "hangs", "exits"])
def test_a_preparation_that_fails_fails_once_for_all_that_need_it(tmp_path: Path, how: str) -> None:
    def first(event: Any) -> int:
        return 1

    def second(event: Any) -> int:
        with open(tmp_path / "tried", "a") as tried:
            tried.write("x")
        if how == "raises":
            raise ValueError("damaged")
        if how == "exits":
            os._exit(3)
        time.sleep(1_000)
        return 2

    one = Preparation("one", first, inputs=())
    timeout = 0.05 if how == "hangs" else PATIENCE_SECONDS
    two = Preparation("two", second, inputs=(), after=one, timeout=timeout)

    @isolated(preparation=two, inputs=())
    def needs(event: Any, number: int) -> bool:
        return True

    @isolated(preparation=one, inputs=())
    def does_not(event: Any) -> bool:
        return bool(event.prepared == 1)

    with matcher_with(needs, does_not) as matcher:
        matcher.subscribe_many([{"id": f"s{at}", "where": f"needs({at})"} for at in range(3)])
        matcher.subscribe("does_not()", id="well")
        result = matcher.match({})
    says = {
        "raises": "raised: ValueError: damaged",
        "hangs": "timed out: no answer within 0.05 s",
        "exits": "crashed: the worker exited with status 3",
    }[how]
    assert reasons(result) == {f"s{at}": f"needs({at}): {says}" for at in range(3)}
    assert [each.subscription for each in result.matches] == ["well"]
    assert (tmp_path / "tried").read_text() == "x"


def test_events_that_are_over_are_forgotten_by_their_worker() -> None:
    class Heavy:
        """What can be counted."""

        alive = 0

        def __init__(self) -> None:
            type(self).alive += 1

        def __del__(self) -> None:
            type(self).alive -= 1

    def prepare(event: Any) -> Heavy:
        return Heavy()

    heavy = Preparation("heavy", prepare, inputs=())

    @isolated(preparation=heavy, inputs=(), outputs=("n",))
    def alive(event: Any, n: Any) -> list[int]:
        return [type(event.prepared).alive]

    with matcher_with(alive) as matcher:
        assert [values(matcher, "alive(?n)") for _ in range(5)] == [[[1]]] * 5


def test_operators_of_one_class_see_what_each_declares() -> None:
    def prepare(event: Any) -> int:
        return len(event)

    size = Preparation("size", prepare)

    @isolated(preparation=size)
    def whole(event: Any) -> bool:
        return bool(sorted(event) == ["a", "b"] and event.prepared == 2)

    @isolated(preparation=size, inputs=("a",))
    def first(event: Any) -> bool:
        return bool(event["a"] == 1 and "b" not in event)

    for order in (["whole()", "first()"], ["first()", "whole()"]):
        with matcher_with(whole, first) as matcher:
            matcher.subscribe(" and ".join(order), id="s")
            result = matcher.match({"a": 1, "b": 2})
            assert result.matches, result.undetermined


def test_what_is_slow_to_make_delays_only_itself() -> None:
    here = os.getpid()
    one = Preparation("one", lambda event: 1, inputs=())

    @isolated(preparation=one, inputs=())
    def well(event: Any) -> bool:
        return bool(event.prepared == 1)

    @isolated(preparation=one, inputs=())
    def slow(event: Any) -> bool:
        return True

    def factory() -> tamis.Operator:
        if os.getpid() != here:
            time.sleep(1_000)
        return slow

    record = OperatorRecord(slow.specification, factory)
    limits = Limits(start_seconds=PATIENCE_SECONDS)
    with matcher_with(record, well, limits=limits) as matcher:
        matcher.subscribe("slow() and camera = 1", id="slow")  # it is begun to be made
        matcher.subscribe("well()", id="well")
        assert matcher.match({}).matches
        hurry_starts(limits)
        assert list(reasons(matcher.match({"camera": 1}))) == ["slow"]
