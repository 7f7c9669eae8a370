"""Checks that implications are asked for once, bounded, and dropped where they are wrong."""

from __future__ import annotations

import random
import threading
import tracemalloc
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import tamis
from tamis.catalog.implied import _chained


def larger(
    arguments: Sequence[Any], others: Sequence[Sequence[Any]]
) -> Iterator[tamis.Implication]:
    """What is over a bound is over all lower ones."""
    for place, (other,) in enumerate(others):
        if other < arguments[0]:
            yield tamis.Implication(True, place, True)


def over(**settings: Any) -> Any:
    def over(event: Any, bound: float) -> bool:
        return bool(event["v"] > bound)

    return tamis.operator(inputs=("v",), **settings)(over)


def matcher_of(operator: object, bounds: Sequence[int], **settings: Any) -> tamis.Matcher:
    matcher = tamis.Matcher([operator], **settings)
    matcher.subscribe_many([{"id": f"s{each}", "where": f"over({each})"} for each in bounds])
    return matcher


def test_many_calls_in_one_chain_take_memory_by_their_pairs() -> None:
    """All triples of 400 would take a gigabyte."""
    count = 300
    low, high = np.triu_indices(count, 1)
    one, zero = np.ones_like(low), np.zeros_like(low)
    rows = np.concatenate(
        [np.stack([high, one, low, one], axis=1), np.stack([low, zero, high, zero], axis=1)]
    )
    tracemalloc.start()
    found = _chained(rows, count)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == len(rows)
    assert peak < 25 * rows.nbytes


def test_what_follows_is_the_same_by_rows_and_by_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Implications that can be true: calls are sets of states, and some of what holds is said."""
    chance = random.Random(5)
    for _ in range(50):
        sets = [chance.sample(range(6), chance.randint(1, 5)) for _ in range(8)]
        outcomes = [
            (call, truth, {state for state in range(6) if (state in members) == truth})
            for call, members in enumerate(sets)
            for truth in (False, True)
        ]
        rows = np.array(
            [
                (one, truth, other, conclusion)
                for one, truth, states in outcomes
                for other, conclusion, more in outcomes
                if one != other and states <= more and chance.random() < 0.4
            ],
            np.int64,
        ).reshape(-1, 4)
        by_rows = _chained(rows, len(sets)).tolist()
        with monkeypatch.context() as patched:
            patched.setattr("tamis.catalog.implied._MANY", -1)
            assert sorted(_chained(rows, len(sets)).tolist()) == sorted(by_rows)


def test_hundreds_of_calls_in_one_chain_have_a_bound() -> None:
    matcher = matcher_of(over(implications=larger), range(250))
    account = matcher.match({"v": 100.5}).account
    assert 1 <= account.needed_at_least <= account.calls


def test_places_of_numpy_are_places() -> None:
    def lower(arguments: Sequence[Any], others: Sequence[Sequence[Any]]) -> Any:
        places = np.flatnonzero([other < arguments[0] for (other,) in others])
        return [(True, place, True) for place in places]

    assert (
        matcher_of(over(implications=lower), [2, 1, 0], planner="naive")
        .match({"v": 9})
        .account.calls
        == 1
    )


@pytest.mark.parametrize("place", [2, -1, "0", None])
def test_a_place_that_is_none_is_said_to_be(place: Any) -> None:
    matcher = matcher_of(over(implications=lambda mine, others: [(True, place, True)]), range(3))
    with pytest.warns(tamis.PluginWarning, match="by its place, 0 to 1, not"):
        assert len(matcher.match({"v": 9}).matches) == 3


def test_a_sound_operator_is_not_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert matcher_of(over(implications=larger), range(5)).match({"v": 3}).account.calls <= 5


def test_what_an_operator_said_before_it_failed_is_not_believed() -> None:
    def fails_later(arguments: Sequence[Any], others: Sequence[Sequence[Any]]) -> Any:
        if len(others) > 1:
            raise RuntimeError("no map")
        return larger(arguments, others)

    matcher = matcher_of(over(implications=fails_later), [1, 0], planner="naive")
    assert matcher.match({"v": 9}).account.calls == 1
    matcher.subscribe("over(2)", id="s2")
    with pytest.warns(tamis.PluginWarning, match="what it declares is not used"):
        assert matcher.match({"v": 9}).account.implied == 0


def test_no_more_implications_are_kept_of_a_bulk_than_the_limit() -> None:
    said = 0

    def counts(arguments: Sequence[Any], others: Sequence[Sequence[Any]]) -> Any:
        nonlocal said
        for each in larger(arguments, others):
            said += 1
            yield each

    limits = tamis.Limits(implications=100)
    matcher = matcher_of(over(implications=counts), range(200), limits=limits)
    assert len(matcher.match({"v": 300}).matches) == 200
    assert said < 400


def test_every_event_knows_what_is_declared_whichever_thread_asks() -> None:
    """A second event that went on without it would leave its failed call unknown."""
    asking, go_on = threading.Event(), threading.Event()

    def slow(arguments: Sequence[Any], others: Sequence[Sequence[Any]]) -> Any:
        asking.set()
        go_on.wait(10)
        return larger(arguments, others)

    @tamis.operator(inputs=("v",), implications=slow)
    def over(event: Any, bound: float) -> bool:
        if bound == 1:
            raise RuntimeError("no map")
        return bool(event["v"] > bound)

    matcher = matcher_of(over, [1, 2])
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(len(matcher.match({"v": 9}).matches)))
        for _ in range(2)
    ]
    threads[0].start()
    assert asking.wait(10)
    threads[1].start()
    threads[1].join(0.2)
    go_on.set()
    for thread in threads:
        thread.join()
    assert found == [2, 2]


def test_an_operator_is_asked_again_after_an_interrupt() -> None:
    interrupts = True

    def asked(arguments: Sequence[Any], others: Sequence[Sequence[Any]]) -> Any:
        nonlocal interrupts
        if interrupts:
            interrupts = False
            raise KeyboardInterrupt
        return larger(arguments, others)

    matcher = matcher_of(over(implications=asked), [2, 1], planner="naive")
    with pytest.raises(KeyboardInterrupt):
        matcher.match({"v": 9})
    assert matcher.match({"v": 9}).account.calls == 1
