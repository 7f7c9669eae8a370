"""Counts the candidates that statistics spare an index of buckets, on skewed data."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tamis
from tamis import Matcher, Statistics
from tamis.learning.learner import Learner
from tamis.learning.lesson import Lesson
from tests.borders import borders

Document = dict[str, Any]


@pytest.mark.parametrize("name", ["lanes", "pstbloom", "psthash"])
def test_statistics_spare_candidates(name: str) -> None:
    """All events have `common`, which says little; few have what subscriptions name more often."""
    chance = random.Random(3)
    rows = {
        number: [("common", "=", number % 3), ("rare", "between", (0, 90))]
        + ([("rarer", "<", 5)] if number % 2 else [])
        for number in range(4_000)
    }
    history = [
        {"common": chance.randrange(3), **({"rare": 50} if chance.random() < 0.02 else {})}
        for _ in range(200)
    ]
    tested = []
    for statistics in (None, tamis.Statistics.from_events(history)):
        index = tamis.index.build(name, rows.items(), statistics=statistics, scan_up_to=0)
        inside: Any = index._index
        index.match_many(history)
        tested.append(inside.checked)
    assert tested[1] < 0.8 * tested[0]


def learned(history: list[Document], asked: list[str]) -> Statistics:
    lesson = Lesson(asked, [])
    learner = Learner(lesson.task)
    for document in history:
        learner.document(document)
    return lesson.statistics(learner.finish())


def positions(count: int, seed: int) -> list[Document]:
    """Nearly all in a small corner of the values that subscriptions ask for."""
    chance = random.Random(seed)
    return [
        {
            "district": chance.gauss(50, 2),
            "height": chance.expovariate(1 / 40),
            "wind": chance.random(),
        }
        for _ in range(count)
    ]


def checked_by(
    index: str, asked: list[str], history: list[Document], stream: list[Document]
) -> tuple[int, int]:
    """How many entries the index tests without statistics, and with them; answers are equal."""
    checked, matched = [], []
    for statistics in (None, learned(history, asked)):
        with borders():
            matcher = Matcher(operators=[], index=index, statistics=statistics)
        matcher.subscribe_many([{"where": text} for text in asked])
        results = [matcher.match(event) for event in stream]
        matched.append([[each.subscription for each in result.matches] for result in results])
        checked.append(matcher._sieve._all._index.checked)  # type: ignore[attr-defined]
    assert matched[0] == matched[1]
    assert any(matched[0])
    return checked[0], checked[1]


@pytest.mark.long
@pytest.mark.parametrize("index", ["pstbloom"])
def test_an_index_checks_a_fifth_less_at_least_where_values_are_skewed(index: str) -> None:
    chance = random.Random(5)
    asked = []
    for _ in range(3_000):
        # narrow, but where the events are; wide, but where they seldom are
        district, height = chance.uniform(45, 53), chance.uniform(60, 400)
        asked.append(
            f"district in [{district:.3f}, {district + 2:.3f}] and height > {height:.3f} "
            f"and wind < {chance.uniform(0.3, 0.9):.3f}"
        )
    without, with_ = checked_by(index, asked, positions(2_000, 1), positions(300, 2))
    assert with_ <= 0.8 * without, (without, with_)


def sightings(count: int, seed: int) -> list[Document]:
    """The attributes that subscriptions name seldom are those that events have mostly."""
    chance = random.Random(seed)
    return [
        {f"a{at}": chance.randrange(100) for at in range(40) if chance.random() < (at + 1) / 40}
        for _ in range(count)
    ]


@pytest.mark.long
@pytest.mark.parametrize("index", ["pstbloom", "lanes"])
def test_an_index_checks_a_fifth_less_at_least_where_attributes_are_skewed(index: str) -> None:
    chance = random.Random(5)
    asked = []
    for _ in range(4_000):
        names = {min(int(chance.expovariate(1 / 12)), 39) for _ in range(4)}
        asked.append(" and ".join(f"a{at} > {chance.randrange(20, 70)}" for at in sorted(names)))
    without, with_ = checked_by(index, asked, sightings(1_000, 1), sightings(300, 2))
    assert with_ <= 0.8 * without, (without, with_)
