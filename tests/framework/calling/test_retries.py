"""Checks that calls are retried as often as allowed, in time, after waits that block nothing."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
import types
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis import Limits, Transient
from tamis.calling import attempts
from tamis.testing import FakeClock

from .isolation.workers import matcher_with, reasons
from .patience import in_thread, join
from .test_batches import Everything
from .trying import KINDS, Final, Hurry, Waits, busy, model, operator_of

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")


def finals(matcher: tamis.Matcher, patterns: Sequence[str]) -> tuple[list[Final], tamis.Account]:
    """What came of the calls with these patterns; their attempts are those that were made."""
    with tempfile.TemporaryDirectory() as folder:
        result = matcher.match({"patterns": list(patterns), "folder": folder})
        sizes = [os.path.getsize(os.path.join(folder, str(at))) for at in range(len(patterns))]
    matched = {match.subscription for match in result.matches}
    found = []
    for at, size in enumerate(sizes):
        why = reasons(result).get(str(at), "").partition(": ")[2]
        found.append(Final(size, None if why else str(at) in matched, why))
    return found, result.account


def tried(kind: str, retries: int, patterns: Sequence[str], together: bool = False) -> None:
    """Holds what comes of calls against the model."""
    operator = operator_of(kind, retries, together)
    with matcher_with(operator, planner=Everything()) as matcher:
        for at in range(len(patterns)):
            matcher.subscribe(f"tries({at})", id=str(at))
        found, account = finals(matcher, patterns)
    expected = [model(pattern, retries) for pattern in patterns]
    assert found == expected
    total = sum(each.attempts for each in expected)
    assert (account.calls, account.attempts) == (len(patterns), total)
    assert account.operators["tries"].attempts == total
    assert account.operators["tries"].failed == sum(each.truth is None for each in expected)


patterns = st.lists(st.text("tfeebbbbl", min_size=6, max_size=6), min_size=1, max_size=4)


@settings(max_examples=60)
@given(st.sampled_from(["inline", "thread", "async"]), st.integers(0, 5), patterns, st.booleans())
def test_a_call_gives_what_its_attempts_mean(
    kind: str, retries: int, patterns: list[str], together: bool
) -> None:
    tried(kind, retries, patterns, together and kind != "async")


@needs_fork
@settings(max_examples=5)
@given(st.integers(0, 5), patterns, st.booleans())
def test_a_call_of_a_worker_process_gives_what_its_attempts_mean(
    retries: int, patterns: list[str], together: bool
) -> None:
    tried("process", retries, patterns, together)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_operator_is_tried_again(kind: str) -> None:
    if kind != "process" or hasattr(os, "fork"):
        tried(kind, 2, ["bbt", "bbb", "be-", "bf-", "bl-", "t--"])


def said(matcher: tamis.Matcher, **event: Any) -> str:
    """Whether `busily(1)` is true of an event, or why that is not known."""
    if not len(matcher):
        matcher.subscribe("busily(1)", id="s")
    result = matcher.match(event)
    return reasons(result).get("s", str(len(result.matches) == 1))


def test_waits_double_with_jitter_up_to_half_a_minute(waits: Waits) -> None:
    assert said(tamis.Matcher([busy(retries=12)])) == "busily(1): raised: Transient: busy"
    assert len(waits.seconds) == 12
    for number, seconds in enumerate(waits.seconds):
        most = min(30, 0.1 * 2**number)
        assert most / 2 <= seconds <= most
    assert len({round(each / min(30, 0.1 * 2**at), 6) for at, each in enumerate(waits.seconds)}) > 3


@pytest.mark.parametrize("after", [0, 2, 0.25, -3, 1e300])
def test_an_operator_may_say_how_long(after: float, waits: Waits) -> None:
    assert said(tamis.Matcher([busy(retries=1)]), times=1, after=after) == "True"
    assert waits.seconds == [min(max(0.0, after), threading.TIMEOUT_MAX)]


def test_a_wait_that_does_not_fit_is_not_begun(waits: Waits) -> None:
    matcher = tamis.Matcher([busy(retries=3, timeout=5)])
    assert said(matcher, after=5) == "busily(1): raised: Transient: busy"
    assert said(tamis.Matcher([busy(retries=3)]), after=float("inf")) == (
        "busily(1): raised: Transient: busy"
    )
    assert waits.seconds == []
    assert said(matcher, times=1, after=4) == "True"
    assert waits.seconds == [4]


def test_attempts_and_waits_together_take_no_longer_than_the_call_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, waits = FakeClock(100.0), []

    def pause(seconds: float) -> None:
        waits.append(seconds)
        clock.advance(seconds)

    monkeypatch.setattr(attempts, "time", types.SimpleNamespace(monotonic=clock))
    monkeypatch.setattr(attempts, "pause", pause)
    several = attempts.Attempts(9, 10.0)
    lefts = []
    for _ in range(9):
        lefts.append(several.begin())
        clock.advance(1)
        if not several.wait([2, None]):
            break
    assert lefts == [10, 7, 4, 1]
    assert waits == [2, 2, 2]
    several = attempts.Attempts(9, None)
    several.begin()
    clock.advance(1_000_000)
    assert several.wait([5])
    assert several.begin() is None


def test_an_attempt_that_is_late_says_of_how_many(hurry: Hurry) -> None:
    released = threading.Event()
    asked: list[int] = []

    @tamis.operator(retries=3, timeout=60)
    def hangs(event: Any) -> bool:
        asked.append(1)
        if len(asked) < 3:
            hurry.seconds = 0.05 if len(asked) == 2 else None
            raise Transient("busy", 0)
        return released.wait(30)

    matcher = tamis.Matcher([hangs])
    matcher.subscribe("hangs()", id="s")
    result = matcher.match({})
    released.set()
    assert reasons(result)["s"] == "hangs(): timed out: no answer within 60 s, in 3 attempts"
    assert result.account.attempts == 3


def test_without_retries_it_is_a_failure_like_others(waits: Waits) -> None:
    assert said(tamis.Matcher([busy()])) == "busily(1): raised: Transient: busy"
    assert waits.seconds == []


def test_other_exceptions_are_not_tried_again(waits: Waits) -> None:
    @tamis.operator(retries=5)
    def busily(event: Any, number: int) -> bool:
        raise TimeoutError("no server")

    assert said(tamis.Matcher([busily])) == "busily(1): raised: TimeoutError: no server"
    assert waits.seconds == []


def test_a_failure_is_not_remembered_and_an_answer_after_attempts_is(waits: Waits) -> None:
    asked: list[str] = []

    @tamis.operator(inputs=("v",), deterministic=True, retries=1)
    def busily(event: Any, number: int) -> bool:
        asked.append(event.id)
        if len(asked) < 4:
            raise Transient("busy", 0)
        return True

    matcher = tamis.Matcher([busily])
    assert said(matcher, id="a", v=1) == "busily(1): raised: Transient: busy"
    assert said(matcher, id="b", v=1) == "True"
    assert asked == ["a", "a", "b", "b"]
    result = matcher.match({"id": "c", "v": 1})
    assert (result.account.memoized, result.account.calls, result.account.attempts) == (1, 0, 0)
    assert asked == ["a", "a", "b", "b"]


# what waits holds nothing


@pytest.mark.parametrize("kind", ["inline", "thread", "process"])
def test_who_waits_holds_neither_a_place_nor_a_worker(kind: str, waits: Waits) -> None:
    if kind == "process" and not hasattr(os, "fork"):
        pytest.skip("needs a system that can fork")
    key = tamis.Resource("key", concurrency=1)
    limits = Limits(queue_seconds=5)
    inputs = ("times", "folder")

    @tamis.operator(inputs=inputs, retries=1, isolation=kind, concurrency=1, resource=key)
    def busily(event: Any, number: int) -> bool:
        file = os.path.join(event["folder"], "asked")
        with open(file, "a") as written:
            written.write(".")
        if os.path.getsize(file) <= event["times"]:
            raise Transient("busy", 7)
        return True

    @tamis.operator(resource=key)
    def other(event: Any) -> bool:
        return True

    with matcher_with(busily, other, limits=limits) as matcher, tempfile.TemporaryDirectory() as f:
        os.mkdir(os.path.join(f, "second"))
        matcher.subscribe("other()", id="other")
        matcher.subscribe("busily(1)", id="s")
        second: list[tamis.Result] = []
        event = {"times": 0, "folder": os.path.join(f, "second")}
        waits.meanwhile = lambda: second.append(matcher.match(event))
        first = matcher.match({"times": 1, "folder": f})
    assert waits.seconds == [7]
    for result in (first, *second):
        assert [match.subscription for match in result.matches] == ["other", "s"]
    assert (first.account.attempts, second[0].account.attempts) == (3, 2)


@pytest.mark.parametrize("workers", [1, 3])
def test_an_interrupt_ends_all_waits(workers: int) -> None:
    waiting, main = threading.Barrier(workers + 1), threading.main_thread().ident
    assert main is not None
    asked: list[int] = []

    @tamis.operator(retries=3, resource=tamis.Resource("key", concurrency=workers))
    def busily(event: Any, number: int) -> bool:
        asked.append(number)
        if event.get("well"):
            return True
        in_thread(lambda: waiting.wait(30))
        raise Transient("busy", 3_600)

    def interrupt() -> None:
        waiting.wait(30)
        time.sleep(0.2)  # one that comes just before a thread sleeps wakes nobody, in Python
        signal.pthread_kill(main, signal.SIGINT)

    matcher = tamis.Matcher([busily], planner=Everything(), workers=workers)
    matcher.subscribe_many([{"where": f"busily({number})"} for number in range(workers)])
    interrupts = in_thread(interrupt)
    with pytest.raises(KeyboardInterrupt):
        matcher.match({})
    join(interrupts)
    assert sorted(asked) == list(range(workers))
    assert len(matcher.match({"well": True}).matches) == workers
    matcher.close()


# breakers


@pytest.mark.parametrize("kind", ["thread", "process"])
def test_a_breaker_counts_a_call_once_after_its_last_attempt(
    kind: str, waits: Waits, hurry: Hurry
) -> None:
    if kind == "process" and not hasattr(os, "fork"):
        pytest.skip("needs a system that can fork")

    @tamis.operator(isolation=kind, retries=1, timeout=60)
    def busily(event: Any, how: int) -> bool:
        with open(event["file"], "a") as written:
            written.write(".")
        if os.path.getsize(event["file"]) == 1:
            raise Transient("busy", 0)
        if event["hangs"]:
            threading.Event().wait(30)
        return True

    clock, limits = FakeClock(), Limits(failures_in_a_row=2)
    with (
        tempfile.TemporaryDirectory() as folder,
        matcher_with(busily, clock=clock, limits=limits) as matcher,
    ):
        matcher.subscribe("busily(1)", id="s")

        def kinds(*hangs: bool) -> list[str]:
            found = []
            for at, each in enumerate(hangs):
                hurry.seconds = None
                left = 0.05 if each else None
                waits.meanwhile = lambda left=left: setattr(hurry, "seconds", left)  # type: ignore[misc]
                file = os.path.join(folder, f"{len(os.listdir(folder))}-{at}")
                result = matcher.match({"file": file, "hangs": each})
                found.append(reasons(result).get("s", ": matched").split(": ")[1])
            return found

        late, never = "timed out", "not called"
        # a Transient that is answered then closes it; one before a hang does not
        assert kinds(True, False, True) == [late, "matched", late]
        assert kinds(True, False) == [late, never]
        clock.advance(1)
        assert kinds(False, False) == ["matched", "matched"]
