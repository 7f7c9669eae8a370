"""Checks the lanes of calls: threads with deadlines, a loop for asynchronous ones, their bounds."""

from __future__ import annotations

import asyncio
import gc
import os
import queue
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import tamis
from tamis.calling import lanes
from tamis.testing import nonsense, slow

from .test_gateway import answered, bindings, reason


def test_a_late_operator_is_unknown_and_the_next_one_is_not_kept_waiting() -> None:
    late = slow("late", seconds=30, timeout=0.02)
    matcher = tamis.Matcher(operators=[late, nonsense("odd", answer=True)])
    matcher.subscribe("late()", id="s1")
    matcher.subscribe("odd()", id="s2")
    for _ in range(3):
        result = matcher.match({})
        assert [match.subscription for match in result.matches] == ["s2"]
        assert result.undetermined[0].reason == "late(): timed out: no answer within 0.02 s"
    late.released.set()


def test_a_timeout_that_is_kept_changes_nothing() -> None:
    assert bindings(answered([1, 2], timeout=30)) == [[1], [2]]
    assert "ValueError: invalid" in reason(answered(lambda: int("no"), timeout=30))


def test_an_answer_counts_that_is_there_once_who_waited_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who waits is held up itself, until the time is over and the call has ended."""
    released = threading.Event()

    class HeldUp(queue.SimpleQueue[Any]):
        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            if timeout is None:
                return super().get(block)
            released.set()
            while self.empty():
                time.sleep(0.001)
            raise queue.Empty

    monkeypatch.setattr(lanes, "queue", SimpleNamespace(SimpleQueue=HeldUp, Empty=queue.Empty))

    def waits() -> list[int]:
        assert released.wait(30)
        return [1, 2]

    assert bindings(answered(waits, timeout=0.01)) == [[1], [2]]


def test_a_slow_generator_is_late_too() -> None:
    released = threading.Event()

    def drip() -> Iterator[int]:
        yield 1
        released.wait(30)
        yield 2

    assert "timed out" in reason(answered(drip, timeout=0.02))
    released.set()


def test_an_operator_may_have_a_thread_of_its_own() -> None:
    here = threading.current_thread()
    ran: list[threading.Thread] = []

    def where() -> bool:
        ran.append(threading.current_thread())
        return True

    answered(where, "said()")
    answered(where, "said()", isolation="thread")
    assert ran[0] is here
    assert ran[1] is not here


def test_async_operators_are_awaited() -> None:
    @tamis.operator(outputs=("n",))
    async def fetched(event: Any, n: Any) -> list[int]:
        await asyncio.sleep(0)
        return [1, 2]

    @tamis.operator
    async def checked(event: Any) -> bool:
        return True

    matcher = tamis.Matcher(operators=[fetched, checked])
    matcher.subscribe("fetched(?n) and checked()", id="s1")
    assert bindings(matcher.match({})) == [[1], [2]]


def test_async_operators_fail_like_others() -> None:
    @tamis.operator
    async def failing(event: Any) -> bool:
        raise ValueError("no network")

    @tamis.operator(timeout=0.02)
    async def hanging(event: Any) -> bool:
        await asyncio.sleep(30)
        return True

    for each, says in ((failing, "ValueError: no network"), (hanging, "timed out")):
        matcher = tamis.Matcher(operators=[each])
        matcher.subscribe(f"{each.specification.name}()", id="s1")
        assert says in reason(matcher.match({}))


def test_async_operators_work_inside_a_running_loop() -> None:
    @tamis.operator
    async def checked(event: Any) -> bool:
        await asyncio.sleep(0)
        return True

    matcher = tamis.Matcher(operators=[checked])
    matcher.subscribe("checked()", id="s1")

    async def main() -> int:
        return len(matcher.match({}).matches)

    assert asyncio.run(main()) == 1


def test_concurrency_is_bounded() -> None:
    running, most, lock, two = 0, 0, threading.Lock(), threading.Barrier(2)

    @tamis.operator(concurrency=2)
    def narrow(event: Any) -> bool:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        two.wait(30)
        threading.Event().wait(0.01)  # in which a third one would come
        with lock:
            running -= 1
        return True

    matcher = tamis.Matcher(operators=[narrow])
    matcher.subscribe("narrow()")
    threads = [threading.Thread(target=matcher.match, args=({},)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2


def test_calls_a_second_are_bounded() -> None:
    began: list[float] = []

    @tamis.operator(calls_per_second=50)
    def metered(event: Any) -> bool:
        began.append(time.monotonic())
        return True

    matcher = tamis.Matcher(operators=[metered])
    matcher.subscribe("metered()")
    start = time.monotonic()
    for _ in range(5):
        matcher.match({})
    assert began[-1] - start >= 4 / 50


def test_a_failing_call_gives_its_place_back() -> None:
    @tamis.operator(concurrency=1)
    def failing(event: Any) -> bool:
        raise ValueError

    matcher = tamis.Matcher(operators=[failing])
    matcher.subscribe("failing()")
    assert all(len(matcher.match({}).undetermined) == 1 for _ in range(3))


def test_an_async_call_that_blocks_or_exits_harms_no_other() -> None:
    released = threading.Event()

    @tamis.operator(timeout=0.1)
    async def blocks(event: object) -> bool:
        return released.wait(30)

    @tamis.operator
    async def exits(event: object) -> bool:
        raise SystemExit

    @tamis.operator(timeout=20)
    async def fine(event: object) -> bool:
        return True

    matcher = tamis.Matcher([blocks, exits, fine], planner="naive")
    matcher.subscribe("blocks() and fine()", id="a")
    matcher.subscribe("exits()", id="b")
    matcher.subscribe("fine()", id="c")
    result = matcher.match({})
    released.set()
    assert [match.subscription for match in result.matches] == ["c"]
    assert [tuple(each) for each in result.undetermined] == [
        ("a", "blocks(): timed out: no answer within 0.1 s"),
        ("b", "exits(): raised: SystemExit"),
    ]


@pytest.mark.parametrize("closes", [True, False])
def test_threads_and_their_loops_end_with_the_matcher(closes: bool) -> None:
    @tamis.operator(timeout=20)
    async def awaited(event: Any) -> bool:
        return True

    def lanes() -> set[threading.Thread]:
        return {each for each in threading.enumerate() if each.name == "tamis-lane"}

    before, open_files = lanes(), len(os.listdir("/dev/fd"))
    late = slow("late", seconds=30, timeout=0.02)
    matcher = tamis.Matcher([late, awaited])
    matcher.subscribe("late()")
    matcher.subscribe("awaited()")
    assert len(matcher.match({}).matches) == 1
    own = lanes() - before
    assert len(own) == 2
    if closes:
        matcher.close()
        assert len(matcher.match({}).matches) == 1  # which begins new ones
        own |= lanes() - before
        matcher.close()
    else:
        del matcher
        gc.collect()
    late.released.set()
    for each in own:
        each.join(30)
    assert not own & lanes()
    assert len(os.listdir("/dev/fd")) <= open_files


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("settings", [{"timeout": 20}, {"isolation": "thread"}])
def test_threads_of_operators_are_begun_anew_after_a_fork(settings: dict[str, Any]) -> None:
    @tamis.operator(inputs=("v",), **settings)
    def over(event: Any, bound: float) -> bool:
        return bool(event["v"] > bound)

    matcher = tamis.Matcher([over])
    matcher.subscribe("over(1)")
    assert len(matcher.match({"v": 2}).matches) == 1
    child = os.fork()
    if not child:
        os._exit(7 if len(matcher.match({"v": 2}).matches) == 1 else 8)
    for _ in range(3_000):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert ended
    assert os.waitstatus_to_exitcode(status) == 7
