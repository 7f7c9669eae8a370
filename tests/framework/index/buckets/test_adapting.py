"""Hangs rows where what is known of events says: from history, a person, or the stream."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

import tamis
from tamis import Matcher, Statistics
from tamis.index.buckets import index as bucket_index
from tamis.index.buckets import rehanging, seen
from tamis.index.buckets.seen import FEWEST_EVENTS
from tamis.index.lanes import LanesIndex
from tamis.index.pstbloom import PSTBloom, SignedPSTBloom
from tamis.index.psthash import PSTHash
from tamis.language.comparison import Comparison
from tamis.language.predicate import AttributePredicate
from tamis.testing.index_law import index_machine
from tests.borders import borders

ROWS = 4_000


def stream(count: int, seed: int) -> list[dict[str, Any]]:
    """Nearly all have `a = 1`, hardly any `b = 1`."""
    chance = random.Random(seed)
    return [
        {"a": 1 if chance.random() < 0.95 else 5, "b": 1 if chance.random() < 0.001 else 7}
        for _ in range(count)
    ]


def checked(matcher: Matcher, documents: list[dict[str, Any]]) -> float:
    """How many rows are checked for an event."""
    return sum(matcher.match(each).account.checked for each in documents) / len(documents)


def matcher_of(index: str = "pstbloom", **settings: Any) -> Matcher:
    with borders():
        matcher = Matcher(operators=[], index=index, **settings)
    wheres = [f"a = 1 and b = 1 and c != {at}" for at in range(ROWS)]
    matcher.subscribe_many([{"where": where} for where in wheres])
    return matcher


def test_what_a_person_says_hangs_rows() -> None:
    plain = matcher_of(learning=False)
    said = matcher_of(
        learning=False, statistics=Statistics(selectivity={"a = 1": 0.95, "b = 1": 0.001})
    )
    assert checked(plain, stream(50, 1)) > 0.9 * ROWS
    assert checked(said, stream(50, 1)) < 0.01 * ROWS


def test_what_was_counted_hangs_rows() -> None:
    known = Statistics.from_events(stream(2_000, 2))
    assert checked(matcher_of(learning=False, statistics=known), stream(50, 1)) < 0.01 * ROWS


def test_what_a_matcher_sees_hangs_rows_anew() -> None:
    matcher = matcher_of()
    assert checked(matcher, stream(100, 3)) > 0.9 * ROWS
    for each in stream(600, 4):
        matcher.match(each)
    assert checked(matcher, stream(100, 5)) < 0.05 * ROWS
    hit = {"a": 1, "b": 1, "c": 17}
    assert len(matcher.match(hit).matches) == ROWS - 1


def test_a_matcher_that_does_not_learn_leaves_rows_alone() -> None:
    matcher = matcher_of(learning=False)
    for each in stream(600, 4):
        matcher.match(each)
    assert checked(matcher, stream(50, 5)) > 0.9 * ROWS


def test_elements_of_arrays_hang_rows_too() -> None:
    history = [{"tags": ["common"] + (["rare"] if at % 500 == 0 else [])} for at in range(1_000)]
    known = Statistics.from_events(history)
    with borders():
        matcher = Matcher(operators=[], learning=False, statistics=known)
    matcher.subscribe_many([{"where": "tags has common and tags has rare"} for _ in range(2_500)])
    assert checked(matcher, history[1:50]) == 0


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are hung anew for the least reason."""
    for module in (seen, bucket_index):
        monkeypatch.setattr(module, "FEWEST_EVENTS", 1)
    monkeypatch.setattr(rehanging, "LEAST_CHECKS", -1.0)
    monkeypatch.setattr(rehanging, "FEWER", 10.0)
    monkeypatch.setattr(rehanging, "ROWS", 3)
    return


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(
    "factory",
    [
        PSTBloom,
        pytest.param(lambda: SignedPSTBloom(signature="row"), marks=pytest.mark.slow),
        pytest.param(lambda: SignedPSTBloom(signature="block"), marks=pytest.mark.slow),
        LanesIndex,
        pytest.param(lambda: PSTHash(look_up_rows=0), marks=pytest.mark.slow),
        pytest.param(lambda: PSTHash(accesses=3, look_up_rows=0), marks=pytest.mark.slow),
    ],
    ids=["pstbloom", "row", "block", "lanes", "pairs", "three"],
)
def test_answers_stay_what_they_are_while_rows_move(factory: Any) -> None:
    machine = index_machine(factory)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=6,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=12))
@example([0, 1.369e-07, 2.647e-23, 2.282e-08, 2, 2.282e-08, 5.294e-23, 38.99999981746604, 0])
def test_shares_of_what_was_seen_end_at_1_however_they_are_rounded(counts: list[float]) -> None:
    index = PSTBloom()
    index.build([(0, [AttributePredicate("a", Comparison("<", 1))])])
    index._seen.events = FEWEST_EVENTS
    cuts = np.arange(len(counts) - 1.0)
    index._seen._cells = dict.fromkeys(index._dimensions.keys, (cuts, np.array(counts)))
    known = index._seen.knowledge(index._store, index._dimensions, None)
    assert known is not None
    assert len(known.before) == len(cuts) * (sum(counts) > 0)
    assert (np.diff([0, *known.before, 1]) >= 0).all()


@pytest.mark.usefixtures("hasty")
def test_rows_move_back_and_forth_as_the_stream_changes() -> None:
    chance = random.Random(9)
    index = tamis.index.build(
        "pstbloom",
        [
            (row, [("a", "=", row % 3), ("b", "between", (row % 5, row % 5 + 2)), ("c", ">", row)])
            for row in range(300)
        ],
        scan_up_to=0,
    )
    inside = index._index
    for turn in range(300):
        common = "ab"[turn // 50 % 2]
        event = {"a": chance.randrange(9), "b": chance.randrange(9), "c": chance.randrange(400)}
        event[common] = 1
        right = {
            row
            for row in range(300)
            if event["a"] == row % 3 and row % 5 <= event["b"] <= row % 5 + 2 and event["c"] > row
        }
        assert set(index.match(event).tolist()) == right
        inside.adapt()


@pytest.mark.parametrize(
    ("common", "rare"),
    [
        ('hall = "north"', 'wing starts with "s"'),
        ('hall ends with "th"', "load > 90"),
        ("exists(hall)", 'wing = "south"'),
        (f"size > {2**57}", 'wing = "south"'),
        ("lit = true", "dark = true"),
        ('hall contains "or"', 'wing contains "ou"'),
    ],
)
def test_what_is_known_of_any_kind_of_value_hangs_rows(common: str, rare: str) -> None:
    chance = random.Random(8)
    history = []
    for _ in range(1_000):
        is_rare = chance.random() < 0.02
        history.append(
            {
                "hall": "north",
                "wing": "south" if is_rare else "east",
                "load": chance.uniform(0, 91.8),
                "size": 2**60 + chance.randrange(1, 9),
                "lit": True,
                "dark": is_rare,
            }
        )
    known = Statistics.from_events(history)
    with borders():
        matcher = Matcher(operators=[], learning=False, statistics=known)
    for at, first in enumerate((f"{common} and {rare}", f"{rare} and {common}")):
        matcher.subscribe_many([{"where": first, "id": f"{at}-{n}"} for n in range(50)])
    assert checked(matcher, history[:300]) <= 0.06 * 100
