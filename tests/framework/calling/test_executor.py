"""Rounds of work: results in order, exceptions as one after another, and nobody left waiting."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.calling import executor
from tamis.calling.executor import Executor, Inline, Threads

from .patience import PATIENCE_SECONDS, in_thread, join


@pytest.fixture
def threads() -> Iterator[Threads]:
    made = Threads(2)
    yield made
    made.close()


def passing(gate: threading.Event) -> None:
    assert gate.wait(PATIENCE_SECONDS)


def helpers() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "tamis-work"]


class Refused(Exception):
    """What a piece of work raises."""


def outcome(executor: Executor, raising: list[bool]) -> object:
    """The results, or which piece of work raised."""

    def work(at: int) -> int:
        if raising[at]:
            raise Refused(at)
        return at

    try:
        return executor.run([lambda at=at: work(at) for at in range(len(raising))])  # type: ignore[misc]
    except Refused as refused:
        return refused.args


SHARED = Threads(3)


@given(st.lists(st.sampled_from([False, False, False, True]), max_size=12))
@settings(deadline=None)
def test_threads_give_what_one_after_another_gives(raising: list[bool]) -> None:
    assert outcome(SHARED, raising) == outcome(Inline(), raising)


def test_the_order_is_that_of_the_work_whatever_ends_first(threads: Threads) -> None:
    ended = [threading.Event() for _ in range(3)]

    def work(at: int) -> int:
        if at + 1 < len(ended):
            passing(ended[at + 1])
        ended[at].set()
        return at

    assert threads.run([lambda at=at: work(at) for at in range(3)]) == [0, 1, 2]  # type: ignore[misc]


def test_the_workers_and_the_caller_work_at_once(threads: Threads) -> None:
    assert threads.at_once == 3
    barrier = threading.Barrier(3)
    who = threads.run([lambda: (barrier.wait(PATIENCE_SECONDS), threading.get_ident())[1]] * 3)
    assert len(set(who)) == 3
    assert threading.get_ident() in who


def test_threads_are_begun_when_they_are_needed_and_used_again() -> None:
    before = set(helpers())
    threads = Threads(3)
    assert set(helpers()) == before
    assert threads.run([threading.get_ident]) == [threading.get_ident()]
    assert set(helpers()) == before
    for size, at_most in ((2, 1), (2, 1), (9, 3), (9, 3)):
        barrier = threading.Barrier(min(size, at_most + 1))
        works = [lambda barrier=barrier: barrier.wait(PATIENCE_SECONDS)] * barrier.parties
        threads.run(works)
    begun = set(helpers()) - before
    assert 1 <= len(begun) <= 3
    threads.close()
    join(*begun)


@pytest.mark.parametrize("where", [True, False])
def test_begun_work_is_awaited_and_the_rest_is_not_begun(threads: Threads, where: bool) -> None:
    caller, barrier = threading.get_ident(), threading.Barrier(3)
    begun: list[int] = []
    ended: list[int] = []

    def work(at: int) -> None:
        begun.append(at)
        barrier.wait(PATIENCE_SECONDS)
        if (threading.get_ident() == caller) is where:
            raise Refused
        end = time.monotonic() + PATIENCE_SECONDS
        while threads._pool._rounds:
            assert time.monotonic() < end
            time.sleep(0.001)
        ended.append(at)

    with pytest.raises(Refused):
        threads.run([lambda at=at: work(at) for at in range(50)])  # type: ignore[misc]
    assert sorted(begun) == [0, 1, 2]
    assert len(ended) == (2 if where else 1)


@pytest.mark.parametrize("problem", [KeyboardInterrupt, SystemExit, GeneratorExit, Refused])
def test_whatever_work_raises_reaches_the_caller(
    threads: Threads, problem: type[BaseException]
) -> None:
    caller = threading.get_ident()
    barrier = threading.Barrier(2)

    def work(where: bool) -> None:
        barrier.wait(PATIENCE_SECONDS)
        if (threading.get_ident() == caller) is where:
            raise problem

    for where in (True, False):
        with pytest.raises(problem):
            threads.run([lambda where=where: work(where)] * 2)  # type: ignore[misc]
    assert threads.run([lambda: 1, lambda: 2]) == [1, 2]


def is_awaiting(thread: int) -> bool:
    """Whether a thread has done its own work of a round and waits for what others do of it."""
    frame = sys._current_frames()[thread]
    while frame.f_back is not None and frame.f_code is not executor._await.__code__:
        frame = frame.f_back
    return frame.f_code is executor._await.__code__


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals to threads are POSIX")
def test_an_interrupted_caller_awaits_what_was_begun(threads: Threads) -> None:
    main = threading.main_thread().ident
    assert main == threading.get_ident()
    barrier = threading.Barrier(2)
    ended: list[int] = []

    def work() -> None:
        barrier.wait(PATIENCE_SECONDS)
        if threading.get_ident() != main:
            while not is_awaiting(main):
                time.sleep(0.001)
            signal.pthread_kill(main, signal.SIGINT)
            with contextlib.suppress(KeyboardInterrupt):
                executor.pause(PATIENCE_SECONDS)  # until the caller has heard it
            threading.Event().wait(0.1)
        ended.append(1)

    with pytest.raises(KeyboardInterrupt):
        threads.run([work, work])
    assert ended == [1, 1]


def test_more_matches_than_workers_and_rounds_in_rounds_end() -> None:
    threads = Threads(2)

    def count(depth: int) -> int:
        if not depth:
            return 1
        return sum(threads.run([lambda: count(depth - 1)] * 3))

    found: list[int] = []
    callers = [in_thread(lambda: found.append(count(4))) for _ in range(8)]
    join(*callers)
    assert found == [3**4] * 8
    threads.close()


def test_a_round_ends_while_all_workers_hang_in_another(threads: Threads) -> None:
    gate, hanging = threading.Event(), threading.Barrier(4)

    def hang() -> None:
        hanging.wait(PATIENCE_SECONDS)
        passing(gate)

    other = in_thread(lambda: threads.run([hang] * 3))
    hanging.wait(PATIENCE_SECONDS)
    for _ in range(3):
        assert threads.run([lambda: 1, lambda: 2, lambda: 3]) == [1, 2, 3]
    gate.set()
    join(other)


def test_threads_take_from_rounds_in_turn() -> None:
    threads = Threads(1)
    gate, first, busy = threading.Event(), threading.Event(), threading.Barrier(3)
    order: list[str] = []

    def piece(name: str) -> Callable[[], None]:
        def work() -> None:
            if threading.current_thread() in callers:
                busy.wait(PATIENCE_SECONDS)
                passing(gate)
            else:
                order.append(name)
                if len(order) == 1:
                    passing(first)
                if len(order) == 8:
                    gate.set()

        return work

    callers: list[threading.Thread] = [
        threading.Thread(target=lambda name=name: threads.run([piece(name)] * 5), daemon=True)
        for name in "ab"
    ]
    for caller in callers:
        caller.start()
    busy.wait(PATIENCE_SECONDS)
    first.set()
    join(*callers)
    assert sorted(order) == ["a"] * 4 + ["b"] * 4
    both = order[1:7]  # both had work left
    assert all(both[at] != both[at + 1] for at in range(len(both) - 1))
    threads.close()


def test_closed_threads_leave_the_work_to_the_caller(threads: Threads) -> None:
    before = set(helpers())
    threads.run([lambda: 1, lambda: 2])
    begun = set(helpers()) - before
    threads.close()
    threads.close()
    join(*begun)
    assert threads.at_once == 1
    assert threads.run([threading.get_ident] * 3) == [threading.get_ident()] * 3


def test_threads_end_with_who_held_them() -> None:
    before = set(helpers())
    threads = Threads(2)
    barrier = threading.Barrier(3)
    threads.run([lambda: barrier.wait(PATIENCE_SECONDS)] * 3)
    begun = set(helpers()) - before
    assert len(begun) == 2
    del threads
    gc.collect()
    join(*begun)


def test_idle_threads_hold_nothing_of_the_work() -> None:
    class Thing:
        """What can be watched."""

    import weakref

    threads = Threads(2)
    thing = Thing()
    watched = weakref.ref(thing)
    barrier = threading.Barrier(3)
    threads.run([lambda thing=thing: (barrier.wait(PATIENCE_SECONDS), thing)[1]] * 3)  # type: ignore[misc]
    del thing
    end = time.monotonic() + PATIENCE_SECONDS
    while watched() is not None:
        assert time.monotonic() < end
        time.sleep(0.01)
        gc.collect()
    threads.close()


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, 10**9])
def test_workers_are_a_sensible_number(workers: int) -> None:
    with pytest.raises(tamis.TamisError, match="workers"):
        Threads(workers)


PROGRAMS = {
    "at exit": """
import atexit
atexit.register(lambda: print(sum(threads.run(works))))
""",
    "when modules are torn down": """
class Last:
    def __init__(self):
        self.run, self.works, self.print = threads.run, works, print
    def __del__(self):
        self.print(sum(self.run(self.works)))
import builtins
builtins.last = Last()
""",
    "while a worker hangs": """
import threading
hung = threading.Barrier(3)
threading.Thread(target=lambda: threads.run([lambda: (hung.wait(), time.sleep(1000))] * 2),
                 daemon=True).start()
hung.wait()
print(sum(threads.run(works)))
""",
    "after a fork": """
import os, threading, warnings
warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)  # which is what is tried
child = os.fork()
if not child:
    barrier = threading.Barrier(3)
    print(sum(2 + 0 * each for each in threads.run([lambda: barrier.wait(20)] * 3)), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
}


@pytest.mark.parametrize("when", PROGRAMS)
def test_programs_end(when: str) -> None:
    if when == "after a fork" and not hasattr(os, "fork"):
        pytest.skip("no fork here")
    program = (
        "import time\n"
        "from tamis.calling.executor import Threads\n"
        "threads = Threads(2)\n"
        "works = [lambda: 1, lambda: 2, lambda: 3]\n"
        "assert threads.run(works) == [1, 2, 3]\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program + PROGRAMS[when]],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (run.stdout.strip(), run.stderr) == ("6", "")
