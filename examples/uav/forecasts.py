"""Measures forecasts against another day: `tamis bench uav --forecast`.

What is learned is of frames of some seeds, what is matched of others. Some subscriptions of the
example are forecast one by one, each alone, and then matched: the calls of an event are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tamis
from examples.uav import subscribers
from examples.uav.operators import tamis_operators
from examples.uav.quality import chosen
from examples.uav.simulation import Simulation
from tamis.learning.learner import Learner
from tamis.learning.lesson import Lesson
from tamis_bench.report import progress
from tamis_operators import reasoner, spatial

_TEXTS = 40
_ANOTHER_DAY = 500


def measured(frames: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yields a row for each text, and one for all of them."""
    entries = list(subscribers.made())
    operators = [*tamis_operators(), *spatial.operators(), *reasoner.operators()]
    progress("learning from a day")
    lesson = Lesson(entries, operators)
    learner = Learner(lesson.task)
    for event in _events(frames, seed):
        learner.document(event)
    known = lesson.statistics(learner.finish())
    progress("another day")
    day = list(_events(frames, seed + _ANOTHER_DAY))
    forecasts, made = [], []
    for entry in entries[:: max(1, len(entries) // _TEXTS)]:
        progress(f"forecast {entry['id']}")
        matcher = tamis.Matcher(operators, statistics=known, learning=False)
        forecasts.append(matcher.forecast(entry["where"]).calls_per_event)
        matcher.subscribe(entry["where"])
        made.append(sum(len(matcher.match(event).calls) for event in day) / len(day))
        yield _row(entry["where"], forecasts[-1], made[-1])
    yield _row(f"all {len(made)}", sum(forecasts), sum(made))


def _row(text: str, forecast: float, actual: float) -> dict[str, Any]:
    part = "Calls of an event on another day"
    over = forecast / actual if actual else None
    return {"part": part, "text": text, "forecast": forecast, "calls": actual, "over": over}


def _events(frames: int, seed: int) -> Iterator[dict[str, Any]]:
    for each, numbers in chosen(frames, seed):
        simulation = Simulation(each)
        for number in numbers:
            yield simulation.observation(number).event
