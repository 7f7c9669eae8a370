"""Of threads that ask for one call at once one makes it, and none waits in vain."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from tamis import Preparation
from tamis.calling import memo as module
from tamis.calling.answers import RAISED, TIMED_OUT, Answer, Failure
from tamis.calling.flight import Flight
from tamis.calling.memo import KnownAnswer, Memo, MemoAccount
from tamis.operators.asking import Call
from tamis.testing import FakeClock

from .patience import PATIENCE_SECONDS, in_thread, join
from .remembering import call_of, computed, get, keep, kept, made_operator, shelf_of


def waiting() -> int:
    """How many threads wait for the flight of another."""
    count = 0
    for frame in sys._current_frames().values():
        walked = frame
        while walked is not None:
            count += walked.f_code is Flight.wait.__code__
            walked = walked.f_back  # type: ignore[assignment]
    return count


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


class Crowd:
    """Several threads that ask for one call while the first of them is making it."""

    def __init__(self, memo: Memo, size: int = 5, **how: Any) -> None:
        self.operator = made_operator(**how)
        self.call = call_of(self.operator, 1)
        self.memo = memo
        self.made: list[int] = []
        self.given: list[KnownAnswer] = []
        self.interrupted: list[BaseException] = []
        self.size = size

    def ask(self, make: Callable[[], Answer]) -> None:
        def counted() -> Answer:
            self.made.append(1)
            return make()

        try:
            self.given.append(computed(shelf_of(self.memo, self.operator, 7), self.call, counted))
        except BaseException as problem:
            self.interrupted.append(problem)

    def gather(self, first: Callable[[], Answer], others: Callable[[], Answer]) -> None:
        begun, gate = threading.Event(), threading.Event()

        def make() -> Answer:
            begun.set()
            assert gate.wait(PATIENCE_SECONDS)
            return first()

        threads = [in_thread(lambda: self.ask(make))]
        assert begun.wait(PATIENCE_SECONDS)
        threads += [in_thread(lambda: self.ask(others)) for _ in range(self.size - 1)]
        until(lambda: waiting() == self.size - 1)
        gate.set()
        join(*threads)


SHARED = [
    Answer(True),
    Answer(False, [(1,), (2,)]),
    Answer(failure=Failure(RAISED, "broken")),
    Answer(False, [(1,)], cut=True),
]


@pytest.mark.parametrize("most_bytes", [0, 10**6])
@pytest.mark.parametrize("answer", SHARED)
def test_one_makes_the_call_and_all_get_its_answer(answer: Answer, most_bytes: int) -> None:
    crowd = Crowd(Memo(most_bytes))
    crowd.gather(lambda: answer, lambda: Answer(failure=Failure(RAISED, "made twice")))
    assert len(crowd.made) == 1
    assert sorted(given.made for given in crowd.given) == [False] * 4 + [True]
    assert {given.answer.failure for given in crowd.given} == {answer.failure}
    assert all(given.answer == answer for given in crowd.given)
    kept = bool(most_bytes) and answer.failure is None and not answer.cut
    assert crowd.memo.account()["seen"].answers == kept
    assert crowd.memo.account()["seen"].hits == 4


def test_a_failed_flight_is_tried_again_by_who_comes_later() -> None:
    crowd = Crowd(Memo())
    crowd.gather(lambda: Answer(failure=Failure(RAISED, "broken")), lambda: Answer(True))
    crowd.ask(lambda: Answer(True))
    assert crowd.given[-1] == KnownAnswer(Answer(True), True)


@pytest.mark.parametrize("problem", [KeyboardInterrupt, SystemExit, ValueError])
def test_when_one_is_interrupted_another_one_makes_the_call(problem: type[BaseException]) -> None:
    def interrupted() -> Answer:
        raise problem

    crowd = Crowd(Memo())
    crowd.gather(interrupted, lambda: Answer(True))
    assert [type(each) for each in crowd.interrupted] == [problem]
    assert len(crowd.made) == 2
    assert sorted(given.made for given in crowd.given) == [False] * 3 + [True]
    assert {given.answer for given in crowd.given if given.answer.solutions is None} == {
        Answer(True)
    }


def test_who_waits_is_late_when_its_own_call_would_be() -> None:
    memo, gate = Memo(), threading.Event()
    operator = made_operator(timeout=0.01)
    call, begun = call_of(operator, 1), threading.Event()

    def make() -> Answer:
        begun.set()
        assert gate.wait(PATIENCE_SECONDS)
        return Answer(True)

    first = in_thread(lambda: computed(shelf_of(memo, operator, 1), call, make))
    assert begun.wait(PATIENCE_SECONDS)
    late, made = computed(shelf_of(memo, operator, 1), call, lambda: Answer(False))
    assert not made
    assert late.failure is not None
    assert late.failure.kind == TIMED_OUT
    gate.set()
    join(first)
    assert get(shelf_of(memo, operator, 1), call) == Answer(True)


@pytest.mark.parametrize(
    ("how", "seconds"),
    [
        ({}, None),
        ({"timeout": 2}, 2),
        ({"timeout": 2, "concurrency": 3}, 4),
        ({"timeout": 2, "calls_per_second": 9}, None),
        ({"timeout": 2, "preparation": Preparation("p", len, inputs=())}, None),
        ({"timeout": 2, "preparation": Preparation("p", len, inputs=(), timeout=5)}, 7),
    ],
)
def test_patience_is_what_a_call_may_take(how: dict[str, Any], seconds: float | None) -> None:
    assert module._patience_seconds(made_operator(**how).specification) == seconds


def test_an_operator_that_asks_for_itself_does_not_wait_for_itself() -> None:
    memo, operator = Memo(), made_operator()
    call = call_of(operator, 1)

    def outer() -> Answer:
        inner = computed(shelf_of(memo, operator, 1), call, lambda: Answer(False, [(1,)]))
        assert inner == KnownAnswer(Answer(False, [(1,)]), True)
        return Answer(False, [(2,)])

    assert computed(shelf_of(memo, operator, 1), call, outer).answer == Answer(False, [(2,)])


def test_calls_together_are_made_once_each() -> None:
    memo, operator = Memo(), made_operator()
    calls = [call_of(operator, at) for at in (1, 2, 1, 3)]
    asked: list[Sequence[Call]] = []

    def make(own: Sequence[Call]) -> list[Answer]:
        asked.append(own)
        return [Answer(False, [call.key[1:]]) for call in own]  # type: ignore[list-item]

    shelf = shelf_of(memo, operator, 1)
    keep(shelf, calls[1], Answer(True))
    given = shelf.compute_many(calls, make)
    assert asked == [[calls[0], calls[3]]]
    assert [each.made for each in given] == [True, False, False, True]
    assert given[2].answer == given[0].answer
    assert shelf.compute_many([], make) == []
    with pytest.raises(ValueError, match="1 calls have 0 answers"):
        shelf.compute_many([call_of(operator, 9)], lambda own: [])
    assert shelf.compute_many([call_of(operator, 9)], make)[0].made


def test_crossing_batches_end_with_one_flight_each() -> None:
    memo, operator = Memo(), made_operator()
    calls = [call_of(operator, at) for at in range(30)]
    made: dict[tuple[int, object], int] = {}
    wrong: list[object] = []
    counting, start = threading.Lock(), threading.Barrier(6)

    def work(seed: int) -> None:
        chance = random.Random(seed)
        start.wait(PATIENCE_SECONDS)
        for x in range(40):
            shelf = shelf_of(memo, operator, x)

            def make(own: Sequence[Call], x: int = x) -> list[Answer]:
                with counting:
                    for call in own:
                        made[x, call.key] = made.get((x, call.key), 0) + 1
                time.sleep(0)
                return [Answer(False, [(x, str(call.key))]) for call in own]

            for _ in range(6):
                some = chance.sample(calls, chance.randrange(1, 12))
                for call, (answer, _) in zip(some, shelf.compute_many(some, make), strict=True):
                    if answer.solutions != [(x, str(call.key))]:
                        wrong.append(answer)

    join(*[in_thread(lambda seed=seed: work(seed)) for seed in range(6)])  # type: ignore[misc]
    assert not wrong
    assert set(made.values()) == {1}
    account = memo.account()["seen"]
    assert account.misses == account.answers == len(made)
    assert not memo._flights


def test_threads_share_a_small_memo_without_losing_count() -> None:
    clock = FakeClock()
    memo = Memo(20_000, 5, clock)
    operators = [made_operator("a"), made_operator("b")]
    problems: list[BaseException] = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        try:
            for _ in range(1500):
                operator, x = chance.choice(operators), chance.randrange(12)
                shelf, number = shelf_of(memo, operator, x), chance.randrange(20)
                call, answer = call_of(operator, number), Answer(False, [(x, number)])
                what = chance.randrange(100)
                if what < 70:
                    assert computed(shelf, call, lambda answer=answer: answer).answer == answer  # type: ignore[misc]
                elif what < 80:
                    assert get(shelf, call) in (None, answer)
                elif what < 90:
                    for at, found in shelf.known({call.key: number}):
                        assert (at, found) == (number, answer)
                elif what < 98:
                    assert all(found.solutions for _, found in kept(shelf))
                elif seed:
                    memo.forget(operator.specification.name)
                else:
                    clock.advance(1)
        except BaseException as problem:
            problems.append(problem)

    join(*[in_thread(lambda seed=seed: work(seed)) for seed in range(4)])  # type: ignore[misc]
    assert not problems
    assert memo.bytes <= 20_000
    sizes: Mapping[str, MemoAccount] = memo.account()
    shelves = memo._shelves.values()
    assert memo.bytes == sum(each.bytes for each in sizes.values())
    assert memo.bytes == sum(
        shelf.size + sum(kept.size for kept in shelf.by_key.values()) for shelf in shelves
    )
    assert sum(each.answers for each in sizes.values()) == sum(len(each.by_key) for each in shelves)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_waits_for_no_thread_of_its_parent() -> None:
    program = """
import os, threading
import tamis
from tamis.operators.asking import Call
from tamis.calling.digest import EventDigests
from tamis.calling.answers import Answer
from tamis.calling.memo import Memo
from tamis.event import Event

@tamis.operator(inputs=("x",), deterministic=True)
def seen(event):
    return True

memo, begun, gate = Memo(), threading.Event(), threading.Event()
call = Call(("seen",), seen, seen.specification, (), 0, "seen()")

def shelf():
    return memo.about(seen.specification, EventDigests(Event({"x": 1}, "e")))

def make():
    begun.set()
    gate.wait()
    return Answer(True)

other = threading.Thread(target=lambda: shelf().compute_many([call], lambda calls: [make()]))
other.start()
begun.wait()
child = os.fork()
if not child:
    print(shelf().compute_many([call], lambda calls: [Answer(True)])[0].made, flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
gate.set()
other.join()
assert shelf().known({call.key: 0}) == [(0, Answer(True))]
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.strip() == "True"
