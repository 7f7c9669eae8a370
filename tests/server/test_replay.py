"""Kept answers decide again what was decided, for any subscriptions and events."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.server.replay import Replay, take_in
from tamis.server.traces import Trace
from tests.framework.engine.test_implications import PLACES, LocIn

CALLS: list[str] = []


@tamis.operator(inputs=("people",), outputs=("count",))
def peopleCount(event: Any, count: object) -> list[object]:
    CALLS.append("peopleCount")
    if event["people"] < 0:
        raise RuntimeError("the camera is broken")
    return list(range(event["people"]))


@tamis.operator(inputs=("boats",), outputs=("count",), deterministic=True)
def boatCount(event: Any, count: object) -> list[object]:
    CALLS.append("boatCount")
    return [event["boats"]]


ATOMS = (
    *(f"locIn({place})" for place in PLACES),
    *(f"not locIn({place})" for place in PLACES),
    "peopleCount(?p)", "peopleCount(2)", "boatCount(3)", "boatCount(?b) and ?b > 2",
    "peopleCount(?p) and boatCount(?b) and ?p > ?b", "a = 1", "a > 1",
)  # fmt: skip
alternatives = st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3).map(" and ".join)
texts = st.lists(alternatives, min_size=1, max_size=3).map(
    lambda several: " or ".join(f"({each})" for each in several)
)
events = st.fixed_dictionaries(
    {"at": st.integers(0, 60), "a": st.integers(0, 2)},
    optional={"people": st.integers(-1, 4), "boats": st.integers(0, 4)},
)


@pytest.mark.filterwarnings("ignore::tamis.NeverMatches")
@given(st.lists(texts, min_size=1, max_size=5), st.lists(events, min_size=1, max_size=3))
def test_it_decides_the_same_without_a_call(texts: list[str], events: list[dict[str, Any]]) -> None:
    matcher = tamis.Matcher([LocIn(), peopleCount, boatCount])
    entries = [{"id": f"s{at}", "where": text} for at, text in enumerate(texts)]
    matcher.subscribe_many(entries)
    for at, content in enumerate(events):
        event = {"id": f"e{at}", **content}
        result = matcher.match(event)
        trace = Trace() if result.decision is None else Trace.of(result.decision)
        trace = Trace.read(trace.written())
        CALLS.clear()
        for entry in entries:
            replay = Replay(matcher)
            take_in(replay, [entry])
            again = replay.decided(event, trace)
            mine = [each.as_dict() for each in result.matches if each.subscription == entry["id"]]
            assert [each.as_dict() for each in again.matches] == mine
            unsure = [each.subscription for each in again.undetermined]
            expected = [each.subscription for each in result.undetermined]
            assert unsure == [id for id in expected if id == entry["id"]]
            assert replay.recollection.lacking == 0
            explained = str(result.explain(entry["id"])).split(",")[0].splitlines()[0]
            assert str(again.explain(entry["id"])).startswith(explained)
        assert not CALLS


def test_calls_that_nobody_made_are_made_up_to_a_number() -> None:
    matcher = tamis.Matcher([peopleCount, boatCount])
    replay = Replay(matcher, most_calls=1)
    take_in(replay, [{"id": "s1", "where": "peopleCount(2) and boatCount(3)"}])
    CALLS.clear()
    result = replay.decided({"id": "e1", "people": 3, "boats": 3}, Trace())
    assert [each.subscription for each in result.undetermined] == ["s1"]
    assert "not kept: nobody asked it of this event" in result.undetermined[0].reason
    assert (len(CALLS), replay.recollection.made, replay.recollection.lacking) == (1, 1, 1)


def test_threads_take_in_repaired_texts_at_once_and_no_warning_is_said_again() -> None:
    both_are_in, one_is_done = Barrier(2, timeout=30), Barrier(2, timeout=30)

    def entries(is_last: bool) -> Iterator[dict[str, str]]:
        both_are_in.wait()
        if is_last:
            one_is_done.wait()
        yield {"id": "s1", "where": "{peopleCount(?n), ?n>250)}"}

    def first() -> None:
        take_in(Replay(tamis.Matcher([peopleCount, boatCount])), entries(is_last=False))
        one_is_done.wait()

    with ThreadPoolExecutor(2) as threads:
        done = threads.submit(first)
        take_in(Replay(tamis.Matcher([peopleCount, boatCount])), entries(is_last=True))
        done.result()
