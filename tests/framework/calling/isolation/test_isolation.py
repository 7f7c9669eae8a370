"""Calls in worker processes answer like calls in the thread, and fail alone."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis import Limits, Matcher
from tamis.calling.isolation import exchange
from tamis.operators import OperatorRecord
from tests.framework.calling.patience import PATIENCE_SECONDS, in_thread, join
from tests.framework.calling.trying import Hurry

from .abuse import (
    PATIENT,
    CallsAtOnce,
    above,
    abuse,
    left,
    marked,
)
from .workers import hurry_starts, isolated, matcher_with, reason, reasons, values

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc: run it on Linux")


# the rig


@LINUX
def test_what_hangs_crashes_and_swells_changes_no_other_answer_and_leaves_nothing() -> None:
    gc.collect()
    kinds = abuse(60, 4)
    assert kinds["hanging timed out"] == kinds["crashing crashed"] == 60
    assert kinds["swelling out of memory"] == 60
    assert kinds["stuck timed out"] > 20


# where calls run


@isolated(outputs=("pid",))
def process(event: Any, pid: Any) -> list[int]:
    return [os.getpid()]


def test_a_worker_stays_for_the_next_events() -> None:
    with matcher_with(process) as matcher:
        pids = {tuple(values(matcher, "process(?p)")[0]) for _ in range(5)}
        assert len(pids) == 1
        assert (os.getpid(),) not in pids


def test_calls_run_at_once_in_as_many_workers_as_are_allowed(tmp_path: Path) -> None:
    """Each call waits until three are running."""

    @isolated(concurrency=3, outputs=("pid",), timeout=PATIENCE_SECONDS)
    def meeting(event: Any, number: int, pid: Any) -> list[int]:
        (tmp_path / str(number)).touch()
        while len(list(tmp_path.iterdir())) < 3:
            time.sleep(0.002)
        return [os.getpid()]

    with matcher_with(meeting, planner=CallsAtOnce(), workers=3) as matcher:
        matcher.subscribe("meeting(1, ?a) and meeting(2, ?b) and meeting(3, ?c)", id="s")
        (match,) = matcher.match({}).matches
        assert len(set(match.bindings[0].values())) == 3


def test_a_class_that_hangs_delays_no_other(tmp_path: Path) -> None:
    release = tmp_path / "release"

    @isolated(concurrency=1, timeout=PATIENCE_SECONDS)
    def waiting(event: Any) -> bool:
        (tmp_path / "begun").touch()
        while not release.exists():
            time.sleep(0.002)
        return True

    with matcher_with(waiting, above) as matcher:
        matcher.subscribe("waiting() and camera = 1", id="slow")
        matcher.subscribe("above(3)", id="quick")
        found: list[tamis.Result] = []
        thread = in_thread(lambda: found.append(matcher.match({"camera": 1})))
        while not (tmp_path / "begun").exists():
            time.sleep(0.002)
        assert [each.subscription for each in matcher.match({"height": 5}).matches] == ["quick"]
        assert not found
        release.touch()
        join(thread)
        assert [each.subscription for each in found[0].matches] == ["slow"]


def test_who_finds_no_worker_says_so(tmp_path: Path) -> None:
    release = tmp_path / "release"

    @isolated(inputs=("who",), concurrency=1)
    def waiting(event: Any) -> bool:
        (tmp_path / "begun").touch()
        while not release.exists():
            time.sleep(0.002)
        return True

    with matcher_with(waiting, limits=Limits(queue_seconds=1)) as matcher:
        matcher.subscribe("waiting()", id="s")
        thread = in_thread(lambda: matcher.match({"who": 1}))
        while not (tmp_path / "begun").exists():
            time.sleep(0.002)
        assert "concurrency: no other call ended" in reasons(matcher.match({"who": 2}))["s"]
        release.touch()
        join(thread)


def test_many_threads_share_few_workers() -> None:
    with matcher_with(above, process) as matcher:
        matcher.subscribe("above(3) and process(?p)", id="s")
        wrong: list[int] = []

        def match(first: int) -> None:
            for height in range(first, first + 40):
                if bool(matcher.match({"height": height % 8}).matches) != (height % 8 > 3):
                    wrong.append(height)

        threads = [in_thread(lambda first=first: match(first)) for first in range(6)]  # type: ignore[misc]
        join(*threads)
        assert not wrong


# kinds of operators


def test_async_operators_run_on_a_loop_in_the_worker(
    hurry: Hurry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "GRACE_SECONDS", PATIENCE_SECONDS)

    @isolated(timeout=PATIENCE_SECONDS, outputs=("pid",))
    async def quick(event: Any, pid: Any) -> list[int]:
        await asyncio.sleep(0)
        return [os.getpid()]

    @isolated(timeout=PATIENCE_SECONDS, outputs=("pid",))
    async def slow(event: Any, seconds: float, pid: Any) -> list[int]:
        await asyncio.sleep(seconds)
        return [os.getpid()]

    with matcher_with(quick, slow) as matcher:
        assert values(matcher, "quick(?p)")
        before = values(matcher, "slow(0, ?p)")
        hurry.seconds = 0.05
        assert reason(matcher, "slow(1000, ?p)").endswith("timed out: no answer within 0.05 s")
        hurry.seconds = None
        assert values(matcher, "slow(0, ?p)") == before  # it was cancelled, not killed


def test_solve_many_is_one_invocation() -> None:
    calls = 0

    def many(event: Any, lists: Any) -> list[Any]:
        nonlocal calls
        calls += 1
        if any(number == 13 for (number,) in lists):
            raise RuntimeError("not that one")
        return [ValueError("odd") if number == 3 else number < calls + 4 for (number,) in lists]

    @isolated(
        solve_many=many,
        marginal_cost_seconds=1e-9,
        cost_seconds=1.0,
        inputs=(),
        timeout=PATIENCE_SECONDS,
    )
    def small(event: Any, number: int) -> bool:
        return number != 13

    with Matcher([small], limits=PATIENT, learning=False) as matcher:
        matcher.subscribe_many([{"id": f"s{at}", "where": f"small({at})"} for at in range(8)])
        result = matcher.match({})
        assert [each.subscription for each in result.matches] == ["s0", "s1", "s2", "s4"]
        assert reasons(result) == {"s3": "small(3): raised: ValueError: odd"}
        assert (result.account.calls, result.account.invocations) == (8, 1)
        matcher.subscribe("small(13)", id="bad")
        with pytest.warns(tamis.PluginWarning, match="solve_many of small failed"):
            result = matcher.match({})
        assert len(result.matches) == 8
        assert not result.undetermined


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda: 1, "invalid answer: expected a bool, got 1"),
        (lambda: sys.exit(3), "raised: SystemExit: 3"),
        (lambda: (_ for _ in ()).throw(KeyboardInterrupt), "raised: KeyboardInterrupt"),
        (lambda: int("\ud800"), "raised: ValueError"),
        (lambda: exec("raise MemoryError('own')"), "raised: MemoryError: own"),
    ],
)
def test_failures_are_those_of_calls_inline(answer: Any, says: str) -> None:
    @isolated()
    def said(event: Any) -> Any:
        return answer()

    with matcher_with(said) as matcher:
        assert says in reason(matcher, "said()")


def test_an_operator_that_cannot_be_made_in_a_worker_says_so() -> None:
    here = os.getpid()

    def factory() -> tamis.Operator:
        if os.getpid() != here:
            raise ValueError("no model")
        return above

    specification = dataclasses.replace(above.specification, name="modelled")
    with matcher_with(OperatorRecord(specification, factory), above) as matcher:
        for _ in range(2):
            said = reason(matcher, "modelled(3)", {"height": 4})
            assert said == "modelled(3): raised: cannot be made: ValueError: no model"
        assert values(matcher, "above(3)", {"height": 4})


def test_an_operator_that_takes_for_ever_to_make_says_so() -> None:
    here = os.getpid()

    def factory() -> tamis.Operator:
        if os.getpid() != here:
            time.sleep(1_000)
        return above

    specification = dataclasses.replace(above.specification, name="modelled")
    record = OperatorRecord(specification, factory)
    limits = Limits(start_seconds=PATIENCE_SECONDS)
    with matcher_with(record, above, limits=limits) as matcher:
        assert values(matcher, "above(3)", {"height": 4})  # there is a worker
        hurry_starts(limits)
        said = reason(matcher, "modelled(3)", {"height": 4})
        assert said == "modelled(3): timed out: a worker has not made it within 0.2 s"
        object.__setattr__(limits, "start_seconds", PATIENCE_SECONDS)
        assert values(matcher, "above(3)", {"height": 4})


def test_signals_put_no_deadline_off() -> None:
    @isolated(timeout=0.1)
    def hangs(event: Any) -> bool:
        time.sleep(1_000)
        return True

    ticks: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: ticks.append(number))
    try:
        with matcher_with(hangs) as matcher:
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
            assert reason(matcher, "hangs()").endswith("timed out: no answer within 0.1 s")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ticks


def test_too_little_memory_says_so() -> None:
    @isolated(memory_bytes=1_000)
    def tiny(event: Any) -> bool:
        return True

    with matcher_with(tiny) as matcher:
        assert "memory_bytes is 1,000, and a worker takes" in reason(matcher, "tiny()")


@LINUX
def test_what_a_worker_began_ends_with_it() -> None:
    @isolated(timeout=0.2)
    def begins(event: Any, apart: int) -> bool:
        program = ["sh", "-c", "sleep 1000 & sleep 1000"]
        subprocess.Popen(program, start_new_session=bool(apart))
        time.sleep(1_000)
        return True

    with marked() as mark:
        with matcher_with(begins) as matcher:
            for apart in (0, 1):
                assert "timed out" in reason(matcher, f"begins({apart})")
        assert left(mark) == []


def test_a_module_that_ends_the_interpreter_costs_its_operator_only(tmp_path: Path) -> None:
    (tmp_path / "ends_whoever_imports_it.py").write_text("import os\nos._exit(4)\n")

    @isolated(modules=("ends_whoever_imports_it",))
    def fatal(event: Any) -> bool:
        import ends_whoever_imports_it  # type: ignore[import-not-found]

        return bool(ends_whoever_imports_it)

    sys.path.insert(0, str(tmp_path))
    try:
        with matcher_with(above, fatal) as matcher:
            matcher.subscribe("above(3)", id="well")
            assert matcher.match({"height": 4}).matches
            said = reason(matcher, "fatal()", {"height": 4})
            assert said == "fatal(): crashed: the worker exited with status 4"
            assert [each.subscription for each in matcher.match({"height": 4}).matches] == ["well"]
    finally:
        sys.path.remove(str(tmp_path))
