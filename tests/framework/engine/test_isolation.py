"""Calls in worker processes answer like calls in the thread, and fail alone."""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis import Limits, Matcher, OperatorError, Preparation, SubscriptionError
from tamis.engine.answers import Answer, Failure
from tamis.engine.isolation import confinement, messages
from tamis.operators import FunctionOperator, OperatorRecord
from tamis.testing import FakeClock
from tests.isolation import (
    PATIENT,
    Everything,
    above,
    children,
    descriptors,
    event_of,
    left,
    marked,
    matcher_of,
    run,
)

from .patience import PATIENCE_SECONDS, in_thread, join

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc: run it on Linux")


def isolated(**settings: Any) -> Callable[[Callable[..., Any]], FunctionOperator]:
    return tamis.operator(isolation="process", **settings)


def matcher_with(*operators: object, **settings: Any) -> Matcher:
    return Matcher(operators, **{"planner": "naive", "limits": PATIENT, **settings})


def reasons(result: tamis.Result) -> dict[str, str]:
    return {each.subscription: each.reason for each in result.undetermined}


def reason(matcher: Matcher, where: str, event: dict[str, Any] | None = None) -> str:
    matcher.subscribe(where, id="asked", replace=True)
    return reasons(matcher.match(event or {}))["asked"]


def values(matcher: Matcher, where: str, event: dict[str, Any] | None = None) -> list[Any]:
    matcher.subscribe(where, id="asked", replace=True)
    result = matcher.match(event or {})
    assert not result.undetermined, result.undetermined
    return [list(each.values()) for match in result.matches for each in match.bindings]


# the rig


@LINUX
def test_what_hangs_crashes_and_swells_changes_no_other_answer_and_leaves_nothing() -> None:
    matcher_of(isolated=False).close()
    gc.collect()
    before, others = descriptors(), children()
    with marked() as mark:
        kinds = run(60)
        assert left(mark) == []
    assert kinds["hanging timed out"] == kinds["crashing crashed"] == 60
    assert kinds["swelling swelled"] == 60
    assert kinds["stuck timed out"] > 20
    assert (descriptors(), children()) == (before, others)


# what travels


@isolated(inputs=("it",), outputs=("n",))
def told(event: Any, n: Any) -> list[Any]:
    return [event["it"], -0.0, 10**999, -math.inf, "\ud83d\ude00", "\U0001f600", "\ud800", False, 0]


def test_solutions_come_over_as_they_are() -> None:
    with matcher_with(told) as matcher:
        found = [value for (value,) in values(matcher, "told(?n)", {"it": "é"})]
    given = ["é", -0.0, 10**999, -math.inf, "\ud83d\ude00", "\U0001f600", "\ud800", False]
    assert [(type(each), each) for each in found] == [(type(each), each) for each in given]
    assert math.copysign(1, found[1]) == -1


scalars = st.one_of(
    st.booleans(),
    st.integers(-(10**900), 10**900),
    st.floats(allow_nan=False),
    st.text(st.characters()),
    st.text(st.characters(categories=["Cs"]), max_size=3),
)
failures = st.builds(
    Failure, st.sampled_from(["raised", "timed out", "nonsense"]), st.text(max_size=400)
)


@given(
    st.lists(
        st.one_of(
            st.booleans().map(Answer),
            st.tuples(st.lists(st.tuples(scalars, scalars), max_size=5), st.booleans()).map(
                lambda pair: Answer(False, pair[0], None, pair[1])
            ),
            failures.map(lambda failure: Answer(failure=failure)),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_answers_are_what_was_answered(answers: list[Answer]) -> None:
    letter, content = messages.answers_reply(answers)
    if letter == messages.FAILED:
        assert messages.read_failure(content) == answers[0].failure
    elif letter != messages.ANSWERS:
        assert len(answers) == 1
        assert (letter == messages.TRUE) == answers[0].truth
    else:
        widths = [0 if answer.solutions is None else 2 for answer in answers]
        read = messages.read_answers(content, widths, 100)
        assert [repr(each) for each in read] == [repr(each) for each in answers]


documents = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["failure", "solutions", "cut", "x"]), inner, max_size=3),
    ),
)


@given(documents, st.lists(st.integers(0, 2), min_size=1, max_size=3))
def test_a_reply_is_answers_or_garbled_and_nothing_else(document: Any, widths: list[int]) -> None:
    try:
        answers = messages.read_answers(messages.plain(document), widths, 100)
    except messages.GarbledError:
        return
    for answer, width in zip(answers, widths, strict=True):
        assert all(len(row) == width for row in answer.solutions or ())


@given(st.binary(max_size=60))
def test_bytes_are_answers_or_garbled_and_nothing_else(content: bytes) -> None:
    for read in (
        lambda: messages.read_answers(content, [0], 9),
        lambda: messages.read_failure(content),
    ):
        try:
            read()
        except messages.GarbledError:
            pass


def test_deep_and_long_replies_are_garbled() -> None:
    for content in (b"[" * 100_000, b"9" * 10_000):
        with pytest.raises(messages.GarbledError):
            messages.read_plain(content)
    here, there = socket.socketpair()
    with here, there:
        there.sendall(messages.HEADER.pack(messages.REPLY_BYTES + 1, messages.ANSWERS))
        replies = messages.Replies(here)
        replies.receive()
        with pytest.raises(messages.GarbledError):
            replies.taken()


def test_a_worker_that_garbles_is_ended() -> None:
    @isolated()
    def garbling(event: Any) -> bool:
        for number in range(3, 64):
            try:
                os.write(number, b"\xff\xff\xff\xff\xff garbage")
            except OSError:
                continue
        return True

    with matcher_with(garbling, above) as matcher:
        matcher.subscribe("above(1)", id="sound")
        for _ in range(3):
            assert "does not keep to the protocol" in reason(matcher, "garbling()", {"height": 3})
        assert matcher.match({"height": 3}).matches


CONTENTS: list[Any] = [
    *(0, 1.5, True, "", "\ud800", "x" * 100_000, "\ud800" * 70_000, b"", b"x" * 100_000),
    *(bytearray(b"x" * 70_000), [1, [2, {"a": b"x" * 70_000}]], {"a": {"b": [None]}}),
    *(np.arange(10), np.arange(100_000.0).reshape(100, 1000), np.arange(90_000)[::-3]),
    *(np.zeros((0, 3)), np.asfortranarray(np.arange(90_000).reshape(300, 300)), np.float32(0.5)),
    [np.arange(50_000), np.arange(3)],
]


@tamis.operator(inputs=("it",), outputs=("text",))
def described(event: Any, text: Any) -> list[str]:
    import hashlib

    def of(value: Any) -> str:
        if isinstance(value, np.ndarray):
            whole = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            return f"{value.dtype} {value.shape} {value.flags.writeable} {whole}"
        if isinstance(value, list):
            return f"{type(value).__name__} {[of(each) for each in value]}"
        if isinstance(value, dict):
            return f"{type(value).__name__} { ({name: of(each) for name, each in value.items()}) }"
        shown = repr(value).encode("utf-8", "backslashreplace")
        return f"{type(value).__name__} {hashlib.sha256(shown).hexdigest()}"

    return [of(event["it"])]


@pytest.fixture(scope="module")
def describing() -> Any:
    import dataclasses

    there = dataclasses.replace(described.specification, name="there", isolation="process")
    record = OperatorRecord(there, lambda: FunctionOperator(described.solve, there))
    with matcher_with(described, record) as matcher:
        matcher.subscribe("described(?x) and there(?x)", id="same")
        yield matcher


@pytest.mark.parametrize("content", CONTENTS, ids=lambda each: f"{type(each).__name__}")
def test_inputs_are_seen_as_inline(describing: Matcher, content: Any) -> None:
    result = describing.match({"it": content})
    assert not result.undetermined, result.undetermined
    assert result.matches, (result.explain("same"),)


def test_only_what_is_declared_is_seen_and_all_of_it_without_declaration() -> None:
    @isolated(inputs=("a",), optional_inputs=("time.hour", "meta.x", "image"), outputs=("it",))
    def some(event: Any, it: Any) -> list[Any]:
        names = ["a", "b", "time.hour", "meta.x", "image"]
        return [json.dumps({name: event.get(name) for name in names} | {"id": event.id})]

    @isolated(outputs=("it",))
    def every(event: Any, it: Any) -> list[Any]:
        derived = {name: event.get(name) for name in ("time.hour", "meta.x")}
        return [json.dumps(dict(event) | derived)]

    content = {
        "id": "e1",
        "a": 1,
        "b": 2,
        "time": "2026-01-01T07:00:00Z",
        "meta": {"x": 5},
        "image": "a.png",
        "none": None,
    }
    with matcher_with(some, every) as matcher:
        matcher.subscribe("some(?x) and every(?y)", id="s")
        (match,) = matcher.match(content, folder="/frames").matches
    (both,) = match.bindings
    seen = json.loads(str(both["x"]))
    assert seen == {
        "a": 1,
        "b": None,
        "time.hour": 7,
        "meta.x": 5,
        "image": "/frames/a.png",
        "id": "e1",
    }
    whole = json.loads(str(both["y"]))
    assert whole == {
        **{name: value for name, value in content.items() if value is not None},
        "image": "/frames/a.png",
        "time.hour": 7,
        "meta.x": 5,
    }


def test_what_cannot_be_sent_is_unknown_and_the_next_event_is_not() -> None:
    @isolated(inputs=("it",))
    def takes(event: Any) -> bool:
        return event["it"] == 1

    with matcher_with(takes) as matcher:
        said = reason(matcher, "takes()", {"it": threading.Lock()})
        assert "the event cannot be sent to a worker: TypeError" in said
        assert values(matcher, "takes()", {"it": 1}) == [[]]


def test_operators_and_arguments_that_cannot_travel_are_refused() -> None:
    lock = threading.Lock()

    @isolated()
    def locked(event: Any) -> bool:
        return lock.locked()

    @isolated(check=lambda level: [lock])
    def checked(event: Any, level: int) -> bool:
        return True

    @isolated(check=lambda level: [lambda height: height > level], inputs=("height",))
    def compiled(event: Any, level: Any) -> bool:
        return bool(level(event["height"]))

    for operator, where in ((locked, "locked()"), (checked, "checked(3)")):
        with matcher_with(operator) as matcher, pytest.raises(SubscriptionError, match="be sent"):
            matcher.subscribe(where)
    with matcher_with(compiled) as matcher:
        matcher.subscribe("compiled(3) and not compiled(7)", id="s")
        assert matcher.match({"height": 5}).matches


def test_a_system_that_cannot_fork_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with matcher_with(above) as matcher, pytest.raises(SubscriptionError, match="that can fork"):
        matcher.subscribe("above(3)")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"isolation": "process", "memory_bytes": 0}, "memory_bytes of f is a whole number"),
        ({"isolation": "process", "memory_bytes": 1.5}, "memory_bytes of f is a whole number"),
        ({"memory_bytes": 10**9}, 'set isolation="process" too'),
    ],
)
def test_memory_is_bounded_in_bytes(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(OperatorError, match=says):
        tamis.operator(name="f", **settings)(lambda event: True)


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

    with matcher_with(meeting, planner=Everything(), workers=3) as matcher:
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
        assert "timed out: no place" in reasons(matcher.match({"who": 2}))["s"]
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


# preparations


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
        return len(event.prepared) > event["least"]

    with matcher_with(counted, shows, longer, planner=Everything(), workers=3) as matcher:
        matcher.subscribe("counted(?n) and shows(a) and not shows(z) and longer()", id="s")
        for at, shot in enumerate(["abc", "ad", "aef"]):
            result = matcher.match({"shot": shot, "least": 1})
            assert [each.bindings for each in result.matches] == [[{"n": len(shot)}]]
            made = (tmp_path / "made").read_text().split("\n")[:-1][2 * at :]
            assert [each.split()[0] for each in made] == ["decode", "detect"]
            assert len({each.split()[1] for each in made}) == 1
            prepared = matcher._learned
            assert prepared is not None
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
    two = Preparation("two", second, inputs=(), after=one, timeout=0.05)

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


# kinds of operators


def test_async_operators_run_on_a_loop_in_the_worker() -> None:
    @isolated(timeout=0.05, outputs=("pid",))
    async def quick(event: Any, pid: Any) -> list[int]:
        await asyncio.sleep(0)
        return [os.getpid()]

    @isolated(timeout=0.05, outputs=("pid",))
    async def slow(event: Any, seconds: float, pid: Any) -> list[int]:
        await asyncio.sleep(seconds)
        return [os.getpid()]

    with matcher_with(quick, slow) as matcher:
        assert values(matcher, "quick(?p)")
        before = values(matcher, "slow(0, ?p)")
        assert reason(matcher, "slow(1000, ?p)").endswith("timed out: no answer within 0.05 s")
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
        (lambda: 1, "nonsense: expected a bool, got 1"),
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

    import dataclasses

    specification = dataclasses.replace(above.specification, name="modelled")
    with matcher_with(OperatorRecord(specification, factory), above) as matcher:
        for _ in range(2):
            said = reason(matcher, "modelled(3)", {"height": 4})
            assert said == "modelled(3): raised: cannot be made: ValueError: no model"
        assert values(matcher, "above(3)", {"height": 4})


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


# the network


def test_a_worker_has_no_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]

        @isolated(outputs=("said",))
        def calls_home(event: Any, said: Any) -> list[str]:
            found = []
            for attempt in (
                lambda: socket.create_connection(("127.0.0.1", port), 1),
                lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
                lambda: subprocess.run(
                    [
                        sys.executable,
                        "-c",
                        f"import socket; socket.create_connection(('127.0.0.1', {port}))",
                    ],
                    check=True,
                    capture_output=True,
                ),
                lambda: socket.socketpair()[0].close(),
            ):
                try:
                    attempt()
                    found.append("done")
                except Exception as problem:
                    found.append(type(problem).__name__)
            return [" ".join(found)]

        with matcher_with(calls_home) as matcher:
            ((said,),) = values(matcher, "calls_home(?x)")
        assert said == "OSError OSError CalledProcessError done"
        with pytest.raises(BlockingIOError):
            server.accept()


HOOK = """
import errno, socket, sys
from tamis.engine.isolation import confinement
confinement._filtered = lambda: False
assert confinement.no_network() == "hook"
for attempt in (
    lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1]))),
    lambda: socket.getaddrinfo("localhost", 80),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)),
):
    try:
        attempt()
    except OSError as problem:
        assert problem.errno == errno.ENETUNREACH, problem
    else:
        raise SystemExit("reached")
pair = socket.socketpair()
pair[0].send(b"x")
"""


def test_where_there_is_no_filter_a_hook_refuses_pythons_sockets() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", HOOK, str(server.getsockname()[1])], check=True
        )
        with pytest.raises(BlockingIOError):
            server.accept()


@LINUX
def test_the_filter_is_there_on_this_machine() -> None:
    program = (
        "from tamis.engine.isolation import confinement\n"
        "print(confinement.no_network())\n"
        "import socket\n"
        "try: socket.socket()\n"
        "except OSError as problem: print(problem.errno)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    said = run.stdout.split()
    if os.uname().machine in confinement._MACHINES:
        assert said == ["filter", str(errno.ENETUNREACH)]


# breakers


@isolated(inputs=("how",), timeout=0.05)
def moody(event: Any, number: int) -> bool:
    if event["how"] == "exits":
        os._exit(1)
    if event["how"] == "hangs":
        time.sleep(1_000)
    if event["how"] == "raises":
        raise ValueError("no")
    return True


def test_a_breaker_opens_says_until_when_and_probes_after_pauses_that_double() -> None:
    clock = FakeClock(1_000_000_000.0)
    limits = Limits(failures_in_a_row=3, pause_seconds=10, longest_pause_seconds=25)
    with matcher_with(moody, clock=clock, limits=limits) as matcher:
        matcher.subscribe("moody(1)", id="s")

        def said(how: str) -> str:
            result = matcher.match({"how": how})
            return reasons(result).get("s", "matched")

        for how in ("exits", "raises", "hangs", "exits"):
            said(how)
        assert "crashed" in said("exits")
        assert "crashed" in said("exits")  # the third in a row: one raised in between
        opened = "moody(1): not called: the last {} calls crashed; it is tried again at {}"
        for failures, pause in ((3, 10), (4, 20), (5, 25), (6, 25)):
            until = clock.now + pause
            moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(until))
            assert said("well") == opened.format(failures, moment)
            assert matcher.match({"how": "well"}).account.calls == 0
            clock.advance(pause - 0.5)
            assert "not called" in said("well")
            clock.advance(0.5)
            assert "crashed" in said("exits")
        clock.advance(25)
        assert said("well") == "matched"
        for how in ("exits", "exits"):
            assert "crashed" in said(how)
        assert said("well") == "matched"


def test_exceptions_of_single_events_open_no_breaker() -> None:
    with matcher_with(moody, limits=Limits(failures_in_a_row=1)) as matcher:
        matcher.subscribe("moody(1)", id="s")
        for _ in range(5):
            assert "ValueError" in reasons(matcher.match({"how": "raises"}))["s"]
        assert matcher.match({"how": "well"}).matches


def test_a_breaker_opens_for_late_threads_too() -> None:
    clock, released = FakeClock(), threading.Event()

    @tamis.operator(timeout=0.01)
    def late(event: Any) -> bool:
        return released.wait(PATIENCE_SECONDS)

    with matcher_with(late, clock=clock, limits=Limits(failures_in_a_row=2)) as matcher:
        matcher.subscribe("late()", id="s")
        said = [reasons(matcher.match({}))["s"] for _ in range(3)]
        assert said[1] == "late(): timed out: no answer within 0.01 s"
        opened = "the last 2 calls were late; it is tried again at 1970-01-01T00:00:01.000Z"
        assert said[2] == f"late(): not called: {opened}"
        released.set()
        clock.advance(1)
        assert matcher.match({}).matches


@pytest.mark.parametrize("isolation", ["inline", "process"])
def test_the_breaker_of_a_preparation_spares_who_does_without_it(isolation: str) -> None:
    def one(event: Any) -> int:
        return 1

    def never(event: Any) -> int:
        time.sleep(0.5)
        return 2

    first = Preparation("first", one, inputs=())
    second = Preparation("second", never, inputs=(), after=first, timeout=0.02)

    @tamis.operator(preparation=second, inputs=(), isolation=isolation)
    def needs(event: Any) -> bool:
        return True

    @tamis.operator(preparation=first, inputs=(), isolation=isolation)
    def does_not(event: Any) -> bool:
        return True

    clock = FakeClock()
    limits = Limits(failures_in_a_row=2)
    with matcher_with(needs, does_not, clock=clock, limits=limits) as matcher:
        matcher.subscribe("needs()", id="s1")
        matcher.subscribe("does_not()", id="s2")
        said = []
        for _ in range(4):
            result = matcher.match({})
            said.append(reasons(result)["s1"].split(": ")[1])
            assert [each.subscription for each in result.matches] == ["s2"]
        assert said == ["timed out", "timed out", "not called", "not called"]


# ends

PROGRAM = """
import os, signal, sys, threading, time, gc
from tests.isolation import *
matcher = matcher_of(isolated=True, workers=2)
matcher.match(event_of(5))
print("ready", flush=True)
"""

ENDS = {
    "with the program": "",
    "with the matcher": """
del matcher
gc.collect()
assert left(os.environ[MARK]) == []
assert children() == []
""",
    "with close": """
matcher.close()
assert left(os.environ[MARK]) == []
assert matcher.match(event_of(6)).matches
""",
    "with an exception": "raise SystemExit(0)",
    "at the end of modules": "import builtins; builtins.last = matcher",
    "with an interrupted call": """
matcher.subscribe("waits()", id="interrupted") if False else None
@tamis.operator(isolation="process")
def waits(event):
    time.sleep(1000)
other = Matcher([waits])
other.subscribe("waits()", id="s")
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    other.match({})
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    raise SystemExit("not interrupted")
""",
    "with a fork": """
child = os.fork()
if not child:
    assert matcher.match(event_of(6)).matches
    matcher.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert matcher.match(event_of(6)).matches
""",
    "with a fork that lives on": """
if not os.fork():
    os.environ[MARK] = ""
    os.execlp("sleep", "sleep", "3")
os.kill(os.getpid(), signal.SIGKILL)
""",
    "with an idle fork that lives on": """
if not os.fork():
    time.sleep(1)
    os._exit(0)
os.kill(os.getpid(), signal.SIGKILL)
""",
    "with kill -9": "os.kill(os.getpid(), signal.SIGKILL)",
    "with kill -9 in a call": """
@tamis.operator(isolation="process")
def waits(event):
    time.sleep(1000)
other = Matcher([waits])
other.subscribe("waits()", id="s")
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
other.match({})
""",
    "with a server that was killed": """
server, = children()
os.kill(server, signal.SIGKILL)
for number in range(4):
    result = matcher.match(event_of(number))
matcher.close()
""",
}


@LINUX
@pytest.mark.parametrize("how", ENDS)
def test_processes_end(how: str) -> None:
    root = Path(__file__).parents[3]
    with marked() as mark:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM + ENDS[how]],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=root,
        )
        assert left(mark) == []
    killed = "kill -9" in how or "lives on" in how
    assert done.returncode == (-signal.SIGKILL if killed else 0), done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("ready\n")


@LINUX
def test_an_interrupt_of_the_terminal_reaches_no_worker() -> None:
    """The whole group of the program is interrupted, as a terminal does."""
    program = PROGRAM + "try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    pass\n"
    program += "assert matcher.match(event_of(6)).matches\n"
    with marked() as mark:
        begun = subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=Path(__file__).parents[3],
        )
        with begun:
            assert begun.stdout is not None
            assert begun.stdout.readline() == "ready\n"
            time.sleep(0.1)
            os.killpg(begun.pid, signal.SIGINT)
            said, problems = begun.communicate(timeout=60)
        assert (begun.returncode, said, problems) == (0, "", "")
        assert left(mark) == []


def test_what_operators_print_does_not_come_between_the_data() -> None:
    program = """
import tamis
@tamis.operator(isolation="process")
def prints(event):
    print("said by the operator")
    return True
with tamis.Matcher([prints]) as matcher:
    matcher.subscribe("prints()", id="s")
    print(len(matcher.match({}).matches))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("1\n", "said by the operator\n")


def test_a_worker_that_was_killed_while_idle_is_replaced_unnoticed() -> None:
    with matcher_with(process) as matcher:
        for _ in range(3):
            ((pid,),) = values(matcher, "process(?p)")
            os.kill(pid, signal.SIGKILL)
            while (
                Path(f"/proc/{pid}/stat").exists()
                and "Z" not in (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0])
            ):
                time.sleep(0.002)
        assert values(matcher, "process(?p)") != [[pid]]


def test_a_matcher_can_be_used_after_it_was_closed() -> None:
    matcher = matcher_with(above)
    matcher.subscribe("above(3)", id="s")
    for _ in range(3):
        assert matcher.match({"height": 5}).matches
        matcher.close()
        matcher.close()
    assert event_of(1)["id"] == "e1"
