"""Measures forecasts against another day: `tamis bench uav --forecast`.

What is learned is of frames of some seeds, what is matched of others. Some subscriptions of the
example are left out, forecast one by one, and then added one by one: what each adds to the calls is
counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tamis
from examples.uav.operators import DETECTOR
from examples.uav.quality import chosen
from examples.uav.simulation import Simulation
from tamis.learning.learner import Learner
from tamis.learning.lesson import Lesson
from tamis_bench.report import progress
from tamis_operators import image, reasoner, spatial

_SUBSCRIPTIONS = Path(__file__).with_name("subscriptions.jsonl")
_EVERY = 40
_ANOTHER_DAY = 500


def measured(frames: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yields a row for each text that is left out, and one for all of them."""
    lines = _SUBSCRIPTIONS.read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    asked = entries[_EVERY // 2 :: _EVERY]
    others = [each for each in entries if each not in asked]
    operators = [*image.operators(DETECTOR), *spatial.operators(), *reasoner.operators()]
    progress("learning from a day")
    lesson = Lesson(entries, operators)
    learner = Learner(lesson.task)
    for event in _events(frames, seed):
        learner.document(event)
    known = lesson.statistics(learner.finish())
    progress("another day")
    day = list(_events(frames, seed + _ANOTHER_DAY))

    def calls(texts: list[dict[str, Any]]) -> int:
        matcher = tamis.Matcher(operators, statistics=known, learning=False)
        matcher.subscribe_many(texts)
        return sum(len(matcher.match(event).calls) for event in day)

    matcher = tamis.Matcher(operators, statistics=known, learning=False)
    matcher.subscribe_many(others)
    before, total = calls(others), 0.0
    counted = 0
    for entry in asked:
        progress(f"forecast {entry['id']}")
        forecast = matcher.forecast(entry["where"]).calls_per_event
        added = calls([*others, entry]) - before
        total, counted = total + forecast, counted + added
        yield _row(entry["where"], forecast, added / len(day))
    yield _row(f"all {len(asked)}, each by itself", total, counted / len(day))


def _row(text: str, forecast: float, actual: float) -> dict[str, Any]:
    return {"part": "Calls that a text adds", "text": text, "forecast": forecast, "added": actual}


def _events(frames: int, seed: int) -> Iterator[dict[str, Any]]:
    for each, numbers in chosen(frames, seed):
        simulation = Simulation(each)
        for number in numbers:
            yield simulation.observation(number).event
