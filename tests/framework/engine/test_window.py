"""Events in flight have the answers of one by one, in order, and calls are made together."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis import Matcher, Preparation, TamisError
from tamis.testing import FakeClock

TEXTS = (
    "many(1)",
    "many(2) and alone(3)",
    "not many(3) or alone(1)",
    "prepared(1) and many(4)",
    "deep(2) or alone(5)",
    "solved(?n) and ?n > 2",
    "solved(?n) and many(2)",
    "alone(2) and prepared(3) and deep(1)",
)


def fate(value: int, number: int, seed: int) -> int:
    """What becomes of a call: mostly an answer, at times an exception or nonsense."""
    return (value * 31 + number * 17 + seed * 13 + (value * number) % 7) % 11


def answer(value: int, number: int, seed: int) -> object:
    found = fate(value, number, seed)
    if found == 9:
        raise ValueError(f"no luck with {number}")
    return "nonsense" if found == 10 else found < 5


def caught(value: int, number: int, seed: int) -> object:
    try:
        return answer(value, number, seed)
    except ValueError as problem:
        return problem


def operators(seed: int, batches: list[int], *, deterministic: bool, batch: int) -> list[Any]:
    def for_events(events: Sequence[Any], lists: Sequence[Any]) -> list[object]:
        batches.append(len(events))
        if (sum(event["v"] for event in events) + seed) % 13 == 0:
            raise RuntimeError("the whole batch")
        return [
            caught(event["v"], arguments[0], seed)
            for event, arguments in zip(events, lists, strict=True)
        ]

    @tamis.operator(
        inputs=("v",), solve_events=for_events, batch=batch, deterministic=deterministic
    )
    def many(event: Any, number: int) -> Any:
        return answer(event["v"], number, seed)

    @tamis.operator(inputs=("v",), deterministic=deterministic)
    def alone(event: Any, number: int) -> Any:
        return answer(event["v"], number + 100, seed)

    def all_solved(events: Sequence[Any], lists: Sequence[Any]) -> list[object]:
        return [list(range(event["v"] % 5)) for event in events]

    @tamis.operator(inputs=("v",), outputs=("n",), solve_events=all_solved, batch=batch)
    def solved(event: Any, n: Any) -> Any:
        return list(range(event["v"] % 5))

    def all_prepared(events: Sequence[Any]) -> list[object]:
        batches.append(len(events))
        if (sum(event["v"] for event in events) + seed) % 7 == 0:
            raise RuntimeError("the whole preparation")
        return [caught(event["v"], 50, seed) for event in events]

    first = Preparation("first", lambda event: event["v"] + 1, inputs=("v",))
    second = Preparation(
        "second",
        lambda event: answer(event["v"], 50, seed),
        inputs=("v",),
        after=first,
        prepare_events=all_prepared,
        batch=batch,
    )

    @tamis.operator(inputs=("v",), preparation=first)
    def prepared(event: Any, number: int) -> bool:
        return bool(event.prepared % 3 == number % 3)

    @tamis.operator(inputs=("v",), preparation=second)
    def deep(event: Any, number: int) -> bool:
        return event.prepared is True and number > 1

    return [many, alone, solved, prepared, deep]


@settings(deadline=None)
@given(
    values=st.lists(st.integers(0, 12), max_size=20),
    texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6),
    seed=st.integers(0, 50),
    in_flight=st.integers(1, 8),
    batch=st.integers(1, 5),
    deterministic=st.booleans(),
    workers=st.sampled_from([1, 1, 2]),
    planner=st.sampled_from(["savings", "naive", "sequential", "suborder"]),
)
def test_answers_are_those_of_one_by_one(
    values: list[int],
    texts: list[str],
    seed: int,
    in_flight: int,
    batch: int,
    deterministic: bool,
    workers: int,
    planner: str,
) -> None:
    batches: list[int] = []

    def matcher(**more: Any) -> Matcher:
        made = Matcher(
            operators(seed, batches, deterministic=deterministic, batch=batch),
            planner=planner,
            **more,
        )
        made.subscribe_many({"where": text, "id": f"s{at}"} for at, text in enumerate(texts))
        return made

    events = [{"id": f"e{at}", "v": value} for at, value in enumerate(values)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.PluginWarning)
        with matcher() as one_by_one:
            expected = [one_by_one.match(event).as_dict() for event in events]
        with matcher(in_flight=in_flight, workers=workers) as together:
            found = list(together.match_many(events))
    assert [verdicts(each.as_dict()) for each in found] == [verdicts(each) for each in expected]
    assert max(batches, default=0) <= batch
    for result in found:
        account = result.account
        assert account.batches <= account.invocations
        assert account.batched <= account.calls


def verdicts(line: dict[str, Any]) -> tuple[Any, ...]:
    """What is certain of an event, and what is not; which failure was met first may differ."""
    return line["event"], line["matches"], [each["subscription"] for each in line["undetermined"]]


def counting_batches(sizes: list[int], batch: int = 8) -> Any:
    def for_events(events: Sequence[Any], lists: Sequence[Any]) -> list[bool]:
        sizes.append(len(events))
        return [True for _ in events]

    @tamis.operator(solve_events=for_events, batch=batch)
    def seen(event: Any, number: int) -> bool:
        sizes.append(1)
        return True

    return seen


def numbered(count: int) -> Iterator[dict[str, Any]]:
    return ({"id": f"e{at}"} for at in range(count))


def test_batches_are_full_where_events_wait_and_the_account_says_so() -> None:
    sizes: list[int] = []
    matcher = Matcher([counting_batches(sizes)])
    matcher.subscribe("seen(1)")
    total = tamis.Account()
    for result in matcher.match_many(numbered(64)):
        total.add(result.account)
    assert sizes == [8] * 8
    assert (total.calls, total.invocations, total.batches, total.batched) == (64, 8, 8, 64)
    assert total.operators["seen"].batches == 8
    sizes.clear()
    matcher.match({"id": "lone"})
    assert sizes == [1]


def test_equal_deterministic_calls_in_flight_are_made_once_for_the_earlier_event() -> None:
    sizes: list[int] = []

    def for_events(events: Sequence[Any], lists: Sequence[Any]) -> list[bool]:
        sizes.append(len(events))
        return [event["v"] > 1 for event in events]

    @tamis.operator(inputs=("v",), solve_events=for_events, deterministic=True)
    def large(event: Any) -> bool:
        return bool(event["v"] > 1)

    matcher = Matcher([large])
    matcher.subscribe("large()")
    found = list(matcher.match_many({"id": f"e{at}", "v": at % 2 + 1} for at in range(6)))
    assert sizes == [2]
    assert [len(each.calls) for each in found] == [1, 1, 0, 0, 0, 0]
    assert [each.account.memoized for each in found] == [0, 0, 1, 1, 1, 1]
    assert [len(each.matches) for each in found] == [0, 1, 0, 1, 0, 1]


def test_what_is_learned_follows_the_order_of_events() -> None:
    """With a window of three, event n begins with what events up to n - 3 taught."""
    taught: list[tuple[int, int]] = []

    class Watching:
        def begin(self, problem: Any) -> Any:
            taught.append((len(taught), matcher._learned.events))  # type: ignore[union-attr]
            return self

        def next(self, limit: int) -> list[int]:
            return []

        def observe(self, tests: object, outcomes: object, decided: object) -> None:
            pass

    matcher = Matcher([counting_batches([])], planner=Watching(), in_flight=3)
    matcher.subscribe("seen(1)")
    assert [each.event for each in matcher.match_many(numbered(8))] == [f"e{n}" for n in range(8)]
    assert taught == [(n, max(0, n - 2)) for n in range(8)]


def test_at_most_so_many_events_are_read_ahead() -> None:
    read: list[str] = []

    def events() -> Iterator[dict[str, Any]]:
        for event in numbered(20):
            read.append(event["id"])
            yield event

    matcher = Matcher([counting_batches([])], in_flight=5)
    matcher.subscribe("seen(1)")
    for at, result in enumerate(matcher.match_many(events())):
        assert result.event == f"e{at}"
        assert len(read) <= at + 5


@pytest.mark.parametrize("is_asynchronous", [False, True])
def test_results_come_for_async_for(is_asynchronous: bool) -> None:
    sizes: list[int] = []
    matcher = Matcher([counting_batches(sizes, batch=4)], in_flight=6)
    matcher.subscribe("seen(1)")

    async def later() -> AsyncIterator[dict[str, Any]]:
        for event in numbered(10):
            await asyncio.sleep(0)
            yield event

    async def gathered() -> list[str]:
        events = later() if is_asynchronous else numbered(10)
        return [result.event async for result in matcher.results(events)]

    assert asyncio.run(gathered()) == [f"e{at}" for at in range(10)]
    assert sum(sizes) == 10
    assert max(sizes) <= 4


def test_a_lone_event_of_a_stream_is_not_kept_waiting() -> None:
    matcher = Matcher([counting_batches([])])
    matcher.subscribe("seen(1)")

    async def first() -> str:
        more = asyncio.Event()

        async def events() -> AsyncIterator[dict[str, Any]]:
            yield {"id": "first"}
            await more.wait()

        results = matcher.results(events())
        found = await asyncio.wait_for(anext(results), 30)
        more.set()
        with pytest.raises(StopAsyncIteration):
            await anext(results)
        return found.event

    assert asyncio.run(first()) == "first"


def test_what_is_no_event_is_raised_in_its_place() -> None:
    matcher = Matcher([counting_batches([])], in_flight=1)
    matcher.subscribe("seen(1)")
    results = matcher.match_many([{"id": "e"}, 3])  # type: ignore[list-item]
    assert next(results).event == "e"
    with pytest.raises(tamis.EventError):
        next(results)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "8", 10**9])
def test_in_flight_is_a_number_of_events(count: Any) -> None:
    with pytest.raises(TamisError, match="in_flight is a whole number from 1"):
        Matcher([], in_flight=count)


def test_what_had_begun_comes_before_what_goes_wrong() -> None:
    def events() -> Iterator[dict[str, Any]]:
        yield from numbered(2)
        raise OSError("gone")

    matcher = Matcher([counting_batches([])])
    matcher.subscribe("seen(1)")
    found: list[str] = []
    with pytest.raises(OSError, match="gone"):
        found.extend(each.event for each in matcher.match_many(events()))
    assert found == ["e0", "e1"]

    async def gathered() -> None:
        found.clear()
        async for result in matcher.results([*numbered(2), "no event"]):  # type: ignore[list-item]
            found.append(result.event)

    with pytest.raises(tamis.EventError):
        asyncio.run(gathered())
    assert found == ["e0", "e1"]


def test_a_planner_that_fails_for_one_event_keeps_the_others() -> None:
    begun: list[int] = []

    class Failing:
        def begin(self, problem: Any) -> Any:
            begun.append(1)
            return Run(len(begun))

    class Run:
        def __init__(self, number: int) -> None:
            self.number, self.calls = number, [0]

        def next(self, limit: int) -> list[int]:
            return [self.calls.pop()] if self.calls else []

        def observe(self, tests: object, outcomes: object, decided: object) -> None:
            if self.number == 3:
                raise ValueError("lost")

    matcher = Matcher([counting_batches([])], planner=Failing())
    matcher.subscribe("seen(1)")
    found: list[str] = []
    with pytest.raises(tamis.PlannerError, match="lost"):
        found.extend(each.event for each in matcher.match_many(numbered(6)))
    assert found == ["e0", "e1"]


def test_each_event_of_a_window_has_its_own_deadline() -> None:
    sizes: list[int] = []
    matcher = Matcher([counting_batches(sizes)])
    matcher.subscribe("seen(1)", id="s")
    window = matcher.window(8)
    for seconds in (0.0, None, 60.0, None):
        window.add(matcher.begin({}, deadline_seconds=seconds))
    found = [window.pop() for _ in range(4)]
    assert [len(each.matches) for each in found] == [0, 1, 1, 1]
    assert [each.reason for each in found[0].undetermined] == ["deadline"]
    assert sorted(sizes) == [1, 2]


def test_an_event_without_operators_waits_in_no_stage() -> None:
    clock = FakeClock()

    def slow(events: Sequence[Any], lists: Sequence[Any]) -> list[bool]:
        clock.advance(0.2)
        return [True for _ in events]

    @tamis.operator(solve_events=slow)
    def sleepy(event: Any) -> bool:
        return True

    matcher = Matcher([sleepy], timer=clock)
    matcher.subscribe("sleepy() and k = 1")
    matcher.subscribe("k = 2")
    late, quick, _ = matcher.match_many([{"k": 1}, {"k": 2}, {"k": 1}])
    assert sum(late.account.seconds.values()) == pytest.approx(0.1)
    assert sum(quick.account.seconds.values()) == 0
