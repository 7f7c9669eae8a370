"""Tests that what nothing can make needless any more is asked for at once, with the same calls."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.planning import Planner, Problem, Progress, Run
from tamis.plugins.loader import installed
from tests.borders import borders

_OPERATORS = 12


@tamis.operator(inputs=("salt",))
def answers(event: Any, number: int) -> bool:
    """Answers by chance, and at times not at all."""
    drawn = random.Random(f"{event['salt']} {number}").random()
    if drawn < 0.05:
        raise ValueError("no answer")
    return drawn < 0.5


@tamis.operator(inputs=("salt",), solve_many=lambda event, many: [True for _ in many])
def together(event: Any, number: int) -> bool:
    """Answers in batches."""
    return True


class Watched:
    """A planner whose runs are told what is known, or read it, and how many calls they ask for."""

    def __init__(self, name: str, reads: bool) -> None:
        self.planner: Planner = installed().planner(name).factory()
        self.reads = reads
        self.asked: list[int] = []

    def begin(self, problem: Problem) -> Run:
        run = self.planner.begin(problem)
        return (ReadingWatch if self.reads and hasattr(run, "read") else Watch)(run, self.asked)


class Watch:
    """A run that is told."""

    def __init__(self, run: Any, asked: list[int]) -> None:
        self.run = run
        self.asked = asked
        self.observe = run.observe

    def next(self, limit: int) -> Sequence[int]:
        calls: Sequence[int] = self.run.next(limit)
        self.asked.append(len(calls))
        return calls


class ReadingWatch(Watch):
    """A run that reads."""

    def read(self, progress: Progress) -> None:
        self.run.read(progress)


def conditions(chance: random.Random, count: int, batched: bool) -> list[str]:
    """Draws conditions: and, or, not; some share their last calls."""
    found = []
    for _ in range(count):
        parts = []
        for _ in range(chance.choice([1, 1, 1, 2])):
            calls = chance.sample(range(_OPERATORS), chance.randint(1, 3))
            texts = [f"{chance.choice(['', '', 'not '])}answers({call})" for call in calls]
            if batched and chance.random() < 0.1:
                texts.append(f"together({chance.randrange(4)})")
            parts.append(" and ".join(texts))
        found.append("(" + ") or (".join(parts) + ")")
    return found


@pytest.mark.parametrize("name", ["savings", "greedy"])
@given(seed=st.integers(0, 2**32), edges=st.sampled_from([-1, 10**9]), batched=st.booleans())
def test_certain_calls_are_asked_for_at_once(
    name: str, seed: int, edges: int, batched: bool
) -> None:
    """Of a batch it depends on what is known when it is asked for; matches are the same."""
    chance = random.Random(seed)
    texts = conditions(chance, chance.choice([3, 10, 40]), batched)
    # no two scores are equal, of which rounding would choose one
    calls = [f"answers({number})" for number in range(_OPERATORS)]
    statistics = tamis.Statistics(
        selectivity={call: 0.3 + 0.4 * chance.random() for call in calls},
        cost={call: 1.0 + chance.random() for call in calls},
    )
    watched = [Watched(name, reads) for reads in (False, True)]
    found = []
    for planner in watched:
        with borders(edges=edges):
            matcher = tamis.Matcher(
                operators=[answers, together],
                planner=planner,
                learning=False,
                statistics=statistics,
            )
            matcher.subscribe_many({"where": text} for text in texts)
            results = [matcher.match({"salt": salt}) for salt in range(5)]
        found.append(
            [
                (
                    sorted(call.predicate for call in result.calls),
                    [match.subscription for match in result.matches],
                )
                for result in results
            ]
        )
    told, read = watched
    matches = [[subscriptions for _, subscriptions in each] for each in found]
    assert matches[0] == matches[1]
    if not batched:
        assert found[0] == found[1]
        assert sum(told.asked) == sum(read.asked)
        assert len(read.asked) <= len(told.asked)
