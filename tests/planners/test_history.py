"""Counts the cost that statistics spare planners, on skewed data."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tamis
from tamis import Matcher, Statistics
from tamis.learning.learner import Learner
from tamis.learning.lesson import Lesson
from tamis.operators.asking import Operators
from tamis.testing import FakeClock

Document = dict[str, Any]
CLOCK = FakeClock()
"""What calls take: exactly as long as they say."""
SECONDS = {"seen": 0.02, "heard": 0.015, "smelled": 0.03}


def _asked(name: str) -> Any:
    @tamis.operator(name=name, inputs=(name,))
    def asked(event: Any, key: int) -> bool:
        CLOCK.advance(SECONDS[name])
        return key in event[name]

    return asked


OPERATORS = [_asked(name) for name in SECONDS]


def learned(history: list[Document], asked: list[str]) -> Statistics:
    lesson = Lesson(asked, OPERATORS)
    learner = Learner(lesson.task, operators=Operators(lesson.operators), timer=CLOCK)
    for document in history:
        learner.document(document)
    return lesson.statistics(learner.finish())


def senses(count: int, seed: int) -> list[Document]:
    """Events in which every fourth of the things asked for is seldom there, the others mostly."""
    chance = random.Random(seed)
    return [
        {
            name: [key for key in range(600) if chance.random() < (0.03 if key % 4 == 1 else 0.95)]
            for name in SECONDS
        }
        for _ in range(count)
    ]


@pytest.mark.long
@pytest.mark.parametrize("planner", ["savings", "suborder"])
def test_calls_cost_a_fifth_less_at_least_where_history_is_known(planner: str) -> None:
    chance = random.Random(6)
    asked = [
        " and ".join(f"{chance.choice(list(SECONDS))}({4 * at + each})" for each in range(4))
        for at in range(150)
    ]
    known = learned(senses(200, 1), asked)
    cost, matched = [], []
    for statistics in (None, known):
        matcher = Matcher(operators=OPERATORS, planner=planner, statistics=statistics, timer=CLOCK)
        matcher.subscribe_many([{"where": text} for text in asked])
        before = CLOCK()
        results = [matcher.match(event) for event in senses(4, 2)]
        cost.append(CLOCK() - before)
        matched.append([[each.subscription for each in result.matches] for result in results])
    assert matched[0] == matched[1]
    assert any(matched[0])
    assert cost[1] <= 0.8 * cost[0], cost
