"""The memo gives what was kept about equal inputs, within its bytes and its age, once for all."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import tamis
from tamis import Preparation
from tamis.engine import memo as module
from tamis.engine.asking import Call, Solution
from tamis.engine.digest import EventDigests
from tamis.engine.flight import Flight
from tamis.engine.gateway import CUT, RAISED, TIMED_OUT, Answer, Failure
from tamis.engine.memo import Given, Memo, MemoAccount, Shelf
from tamis.event import Event
from tamis.specification import FunctionOperator
from tamis.testing import FakeClock
from tamis.values import kind_of

PATIENCE_SECONDS = 30


def made_operator(name: str = "seen", **how: Any) -> FunctionOperator:
    """An operator that is remembered, unless said otherwise; nobody calls it."""
    settings = {"deterministic": True, "inputs": ("x",), **how}

    @tamis.operator(name=name, **settings)
    def seen(event: Any, *arguments: Any) -> bool:
        raise AssertionError("it is called through the memo")

    return seen


def call_of(operator: FunctionOperator, *arguments: Any) -> Call:
    """A call as the language makes it: constants with their kinds, `None` for variables."""
    name, width = operator.specification.name, arguments.count(None)
    key = (name, *(None if each is None else (kind_of(each), each) for each in arguments))
    return Call(key, operator, operator.specification, arguments, width, f"{name}{arguments}")


def digests_of(x: object, **more: object) -> EventDigests:
    return EventDigests(Event({"x": x, **more}, "e"))


def shelf_of(memo: Memo, operator: FunctionOperator, x: object, **more: object) -> Shelf:
    shelf = memo.about(operator.specification, digests_of(x, **more))
    assert shelf is not None
    return shelf


# the model

XS: list[Any] = [0, 1, 1.0, True, "1", "x" * 50, None]
ARGUMENTS: list[tuple[Any, ...]] = [(1,), (True,), ("1",), (None,), (2, None), ("y" * 90,)]
ANSWERS = [
    *(Answer(True, seconds=1.5), Answer(False), Answer(False, []), Answer(False, [(1,)])),
    *(Answer(False, [(2.5, "a" * 40)] * 3), Answer(False, [(True,)] * 40, seconds=2)),
    Answer(False, [("b" * 5000,)]),
    *(Answer(failure=Failure(RAISED, "broken")), Answer(False, [(1,)], cut=True)),
]
OPERATORS = [made_operator("a"), made_operator("a", version="2"), made_operator("b")]
MOST_BYTES, OLDEST_SECONDS = 4_000, 10


class ModelShelf:
    """Answers about one value of one operator: `[key, answer, since, size]`, oldest use first."""

    def __init__(self, name: tuple[str, object], size: int) -> None:
        self.name = name
        self.size = size
        self.used = 0.0
        self.answers: list[list[Any]] = []


def deep_size(value: Any) -> int:
    inner = sum(map(deep_size, value)) if isinstance(value, (tuple, list)) else 0
    return sys.getsizeof(value) + inner


def size_of(call: Call, answer: Answer) -> int:
    key = sys.getsizeof(call.key)
    for part in call.key[1:]:
        if part is not None:
            assert isinstance(part, tuple)
            key += sys.getsizeof(part) + sys.getsizeof(part[1])
    solutions = answer.solutions
    return (
        module._ANSWER_BYTES
        + key
        + (sys.getsizeof(answer) + deep_size(solutions) if solutions else 0)
    )


OPERATOR = st.integers(0, len(OPERATORS) - 1)
X = st.integers(0, len(XS) - 1)


class MemoModel(RuleBasedStateMachine):
    """A memo beside a list of shelves in the order of their use."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.memo = Memo(MOST_BYTES, OLDEST_SECONDS, self.clock)
        self.shelves: list[ModelShelf] = []
        self.accounts: dict[str, MemoAccount] = {}

    def names(self, operator: int, x: int) -> tuple[tuple[str, object], Shelf]:
        specification = OPERATORS[operator].specification
        value = XS[x]
        self.account(specification.name)
        kind = "absent" if value is None else kind_of(value)
        name = (specification.name, (specification.version, kind, value))
        return name, shelf_of(self.memo, OPERATORS[operator], value)

    def account(self, name: str) -> MemoAccount:
        return self.accounts.setdefault(name, MemoAccount())

    # what the model does

    def find_shelf(self, name: object) -> ModelShelf | None:
        return next((shelf for shelf in self.shelves if shelf.name == name), None)

    def use(self, name: object) -> ModelShelf | None:
        while self.shelves and self.clock.now - self.shelves[0].used > OLDEST_SECONDS:
            gone = self.shelves.pop(0)
            self.account(gone.name[0]).expired += len(gone.answers)
        shelf = self.find_shelf(name)
        if shelf is not None:
            self.shelves.remove(shelf)
            self.shelves.append(shelf)
            shelf.used = self.clock.now
        return shelf

    def remove(self, shelf: ModelShelf, entry: list[Any]) -> None:
        shelf.answers.remove(entry)
        if not shelf.answers:
            self.shelves.remove(shelf)

    def find(self, shelf: ModelShelf | None, call: Call) -> Answer | None:
        for entry in [] if shelf is None else shelf.answers:
            if entry[0] == call.key:
                assert shelf is not None
                if self.clock.now - entry[2] > OLDEST_SECONDS:
                    self.remove(shelf, entry)
                    self.account(shelf.name[0]).expired += 1
                    return None
                shelf.answers.remove(entry)
                shelf.answers.append(entry)
                found: Answer = entry[1]
                return found
        return None

    def remember(self, name: tuple[str, object], x: int, call: Call, answer: Answer) -> None:
        if answer.failure is not None or answer.cut:
            return
        shelf = self.use(name)
        for entry in [] if shelf is None else list(shelf.answers):
            if entry[0] == call.key:
                assert shelf is not None
                self.remove(shelf, entry)
        digest = digests_of(XS[x]).together(("x",))
        assert digest is not None
        own, size = module._SHELF_BYTES + len(digest), size_of(call, answer)
        if own + size > MOST_BYTES:
            return
        shelf = self.find_shelf(name)
        if shelf is None:
            shelf = ModelShelf(name, own)
            shelf.used = self.clock.now
            self.shelves.append(shelf)
        shelf.answers.append([call.key, answer._replace(seconds=0.0), self.clock.now, size])
        while self.bytes() > MOST_BYTES:
            oldest = self.shelves[0]
            self.account(oldest.name[0]).evictions += 1
            self.remove(oldest, oldest.answers[0])

    def bytes(self, operator: str | None = None) -> int:
        return sum(
            shelf.size + sum(entry[3] for entry in shelf.answers)
            for shelf in self.shelves
            if operator in (None, shelf.name[0])
        )

    # what both do

    @rule(
        operator=OPERATOR,
        x=X,
        arguments=st.sampled_from(ARGUMENTS),
        answer=st.sampled_from(ANSWERS),
    )
    def keep(self, operator: int, x: int, arguments: tuple[Any, ...], answer: Answer) -> None:
        name, shelf = self.names(operator, x)
        call = call_of(OPERATORS[operator], *arguments)
        shelf.keep(call, answer)
        self.remember(name, x, call, answer)

    @rule(operator=OPERATOR, x=X, arguments=st.sampled_from(ARGUMENTS))
    def get(self, operator: int, x: int, arguments: tuple[Any, ...]) -> None:
        name, shelf = self.names(operator, x)
        call = call_of(OPERATORS[operator], *arguments)
        expected = self.find(self.use(name), call)
        assert shelf.get(call) == expected
        account = self.account(name[0])
        account.hits += expected is not None
        account.misses += expected is None

    @rule(
        operator=OPERATOR,
        x=X,
        arguments=st.sampled_from(ARGUMENTS),
        answer=st.sampled_from(ANSWERS),
    )
    def compute(self, operator: int, x: int, arguments: tuple[Any, ...], answer: Answer) -> None:
        name, shelf = self.names(operator, x)
        call = call_of(OPERATORS[operator], *arguments)
        expected = self.find(self.use(name), call)
        given = shelf.compute(call, lambda: answer)
        account = self.account(name[0])
        if expected is None:
            assert given == Given(answer, True)
            account.misses += 1
            self.remember(name, x, call, answer)
        else:
            assert given == Given(expected, False)
            account.hits += 1

    @rule(operator=OPERATOR, x=X, count=st.integers(0, len(ARGUMENTS)))
    def known(self, operator: int, x: int, count: int) -> None:
        name, shelf = self.names(operator, x)
        calls = [call_of(OPERATORS[operator], *each) for each in ARGUMENTS[:count]]
        found = shelf.known({call.key: call for call in calls})
        there = self.find_shelf(name)
        expected = []
        if there is not None:
            there = self.use(name)
        if there is not None:
            if len(there.answers) < count:
                order = {entry[0]: at for at, entry in enumerate(there.answers)}
                calls = sorted(
                    (each for each in calls if each.key in order), key=lambda each: order[each.key]
                )
            for call in calls:
                answer = self.find(there, call)
                if answer is not None:
                    expected.append((call, answer))
        assert found == expected
        self.account(name[0]).hits += len(found)

    @rule(operator=OPERATOR, x=X)
    def look(self, operator: int, x: int) -> None:
        name, shelf = self.names(operator, x)
        there = self.find_shelf(name)
        entries = [] if there is None else there.answers
        assert shelf.count == len(entries)
        assert list(shelf) == [
            (entry[0], entry[1]) for entry in entries if self.clock.now - entry[2] <= OLDEST_SECONDS
        ]

    @rule(name=st.sampled_from("ab"))
    def forget(self, name: str) -> None:
        self.memo.forget(name)
        self.shelves = [shelf for shelf in self.shelves if shelf.name[0] != name]

    @rule(seconds=st.sampled_from([0.5, 4, 5, 11]))
    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @invariant()
    def the_bytes_and_the_account_are_those_of_the_model(self) -> None:
        assert self.memo.bytes == self.bytes() <= MOST_BYTES
        for name, account in self.accounts.items():
            account.bytes = self.bytes(name)
            mine = [shelf for shelf in self.shelves if shelf.name[0] == name]
            account.answers = sum(len(shelf.answers) for shelf in mine)
        assert self.memo.account() == self.accounts


TestMemoModel = MemoModel.TestCase
TestMemoModel.settings = settings(deadline=None, max_examples=80, stateful_step_count=60)


# what is remembered


def test_calls_of_the_language_are_told_apart_by_value_and_kind() -> None:
    operator = made_operator()
    matcher = tamis.Matcher([operator])
    texts = ["1", "1.0", "true", '"1"', "?x", "2"]
    matcher.subscribe_many({"where": f"seen({text})"} for text in texts)
    calls = [matcher._catalog.calls.thing(at) for at in range(len(matcher._catalog.calls))]
    assert len(calls) == 5
    shelf = shelf_of(Memo(), operator, 3)
    for at, call in enumerate(calls):
        shelf.keep(call, Answer(False, [(at,)]))
    for at, call in enumerate(calls):
        assert shelf.get(call) == Answer(False, [(at,)])
    for call, arguments in zip(calls, [(1.0,), (True,), ("1",), (None,), (2,)], strict=True):
        assert call_of(operator, *arguments).key == call.key


@pytest.mark.parametrize(
    "how",
    [
        {"deterministic": False},
        {"inputs": None},
        {"preparation": Preparation("frame", lambda event: 1)},
        {"optional_inputs": ("thing",)},
    ],
)
def test_what_cannot_be_remembered(how: dict[str, Any]) -> None:
    operator = made_operator(**how)
    digests = digests_of(1, thing=object())
    assert Memo().about(operator.specification, digests) is None


def test_all_that_an_answer_depends_on_is_looked_at() -> None:
    prepared = Preparation("frame", lambda event: 1, inputs=("image",))
    operator = made_operator(optional_inputs=("zoom",), preparation=prepared)
    memo, call = Memo(), call_of(operator, 1)
    events: list[dict[str, Any]] = [
        {"x": 1, "image": b"i"},
        {"x": 2, "image": b"i"},
        {"x": 1, "image": b"j"},
        {"x": 1, "image": b"i", "zoom": 2},
    ]
    for at, event in enumerate(events):
        shelf = shelf_of(memo, operator, **event)
        assert shelf.get(call) is None
        shelf.keep(call, Answer(False, [(at,)]))
    for at, event in enumerate(events):
        assert shelf_of(memo, operator, **event, other=at).get(call) == Answer(False, [(at,)])


def test_versions_inputs_and_preparations_are_other_operators() -> None:
    prepared = Preparation("frame", lambda event: 1, inputs=())
    operators = [
        made_operator(),
        made_operator(version="2"),
        made_operator(inputs=("x", "y")),
        made_operator(preparation=prepared),
        made_operator("other"),
    ]
    memo = Memo()
    for operator in operators:
        shelf = shelf_of(memo, operator, 1)
        assert not shelf.count
        shelf.keep(call_of(operator, 1), Answer(True))
    again = shelf_of(memo, made_operator(), 1)
    assert again.get(call_of(operators[0], 1)) == Answer(True)
    assert [each.answers for each in memo.account().values()] == [4, 1]


def test_answers_that_were_forgotten_meanwhile_are_not_kept() -> None:
    memo, operator = Memo(), made_operator()
    call, shelf = call_of(operator, 1), shelf_of(memo, operator, 1)

    def make() -> Answer:
        memo.forget("seen")
        return Answer(True)

    assert shelf.compute(call, make) == Given(Answer(True), True)
    shelf.keep(call, Answer(True))
    assert memo.bytes == shelf.count == shelf_of(memo, operator, 1).count == 0


def test_without_bytes_nothing_is_kept() -> None:
    operator = made_operator()
    memo = Memo(0)
    shelf = shelf_of(memo, operator, 1)
    for _ in range(2):
        assert shelf.compute(call_of(operator, 1), lambda: Answer(True)).made
    assert memo.bytes == 0


@pytest.mark.parametrize("how", [{"most_bytes": -1}, {"most_bytes": 1.5}, {"oldest_seconds": 0}])
def test_bounds_are_sensible(how: dict[str, Any]) -> None:
    with pytest.raises(tamis.TamisError, match=next(iter(how))):
        Memo(**how)


@pytest.mark.parametrize(
    ("shelves", "answers", "solutions"),
    [(3000, 1, 0), (3000, 1, 2), (600, 5, 0), (30, 300, 0), (1, 9000, 0), (500, 4, 5), (40, 9, 50)],
)
def test_bytes_are_an_honest_estimate(shelves: int, answers: int, solutions: int) -> None:
    memo, operator = Memo(2**30), made_operator()
    xs = [f"a place of some length, number {at}" for at in range(shelves)]
    template = call_of(operator, 1)

    def fresh(at: int) -> Call:
        key = ("seen", (1, at + 0.5), None)
        return Call(key, operator, template.specification, (), 1, "")

    def filled() -> None:
        for x in xs:
            shelf = shelf_of(memo, operator, x)
            for at in range(answers):
                found: list[Solution] = [
                    (at + each + 0.5, f"{at} {each}") for each in range(solutions)
                ]
                shelf.keep(fresh(at), Answer(False, found))

    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    filled()
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert taken / 1.35 < memo.bytes < taken * 1.35


# one flight


def in_thread(target: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def join(*threads: threading.Thread) -> None:
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()


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
        self.given: list[Given] = []
        self.interrupted: list[BaseException] = []
        self.size = size

    def ask(self, make: Callable[[], Answer]) -> None:
        def counted() -> Answer:
            self.made.append(1)
            return make()

        try:
            self.given.append(shelf_of(self.memo, self.operator, 7).compute(self.call, counted))
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
    assert crowd.given[-1] == Given(Answer(True), True)


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

    first = in_thread(lambda: shelf_of(memo, operator, 1).compute(call, make))
    assert begun.wait(PATIENCE_SECONDS)
    late, made = shelf_of(memo, operator, 1).compute(call, lambda: Answer(False))
    assert not made
    assert late.failure is not None
    assert late.failure.kind == TIMED_OUT
    gate.set()
    join(first)
    assert shelf_of(memo, operator, 1).get(call) == Answer(True)


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
        inner = shelf_of(memo, operator, 1).compute(call, lambda: Answer(False, [(1,)]))
        assert inner == Given(Answer(False, [(1,)]), True)
        return Answer(False, [(2,)])

    assert shelf_of(memo, operator, 1).compute(call, outer).answer == Answer(False, [(2,)])


def test_calls_together_are_made_once_each() -> None:
    memo, operator = Memo(), made_operator()
    calls = [call_of(operator, at) for at in (1, 2, 1, 3)]
    asked: list[Sequence[Call]] = []

    def make(own: Sequence[Call]) -> list[Answer]:
        asked.append(own)
        return [Answer(False, [call.key[1:]]) for call in own]  # type: ignore[list-item]

    shelf = shelf_of(memo, operator, 1)
    shelf.keep(calls[1], Answer(True))
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
                    assert shelf.compute(call, lambda answer=answer: answer).answer == answer  # type: ignore[misc]
                elif what < 80:
                    assert shelf.get(call) in (None, answer)
                elif what < 90:
                    for at, found in shelf.known({call.key: number}):
                        assert (at, found) == (number, answer)
                elif what < 98:
                    assert all(found.solutions for _, found in shelf)
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
from tamis.engine.asking import Call
from tamis.engine.digest import EventDigests
from tamis.engine.gateway import Answer
from tamis.engine.memo import Memo
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

other = threading.Thread(target=lambda: shelf().compute(call, make))
other.start()
begun.wait()
child = os.fork()
if not child:
    print(shelf().compute(call, lambda: Answer(True)).made, flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
gate.set()
other.join()
assert shelf().get(call) == Answer(True)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.strip() == "True"


def test_cut_is_what_the_engine_calls_it() -> None:
    shelf = shelf_of(Memo(), made_operator(), 1)
    call = call_of(made_operator(), 1)
    for answer in (Answer(False, [(1,)], cut=True), Answer(failure=Failure(CUT, "many"))):
        shelf.keep(call, answer)
        assert shelf.get(call) is None
