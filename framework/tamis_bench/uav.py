"""Measures how right the operators are on drawn frames, by `examples/uav` of a checkout.

A count is asked as subscriptions ask it, `> n`, for several n, each a question of yes or no, and
for all of them together; how often the number itself is right, and right within a tenth, is printed
too. Seconds are those of all answers to a frame, with its decoding.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from tamis.errors import TamisError
from tamis_bench.options import count
from tamis_bench.report import Row, progress

_MODULE = "examples.uav.quality"
_TEXTS = 40
_ANOTHER_DAY = 500


def measured(
    *,
    frames: Annotated[int, count("Frames, moments of any flight of a quarter of an hour.")] = 1_000,
    seed: Annotated[int, count("The first seed, of 25 frames each.")] = 5_000,
    workers: Annotated[int, count("Processes.")] = 1,
    misses: Annotated[bool, typer.Option("--misses", help="Say which frames went wrong.")] = False,
    forecast: Annotated[
        bool, typer.Option("--forecast", help="Measure forecasts on other frames instead.")
    ] = False,
    checkout: Annotated[
        str, typer.Option(metavar="DIR", help="Where tamis was checked out to.")
    ] = ".",
) -> Iterator[Row]:
    """Yields a row for each question."""
    place = Path(checkout).resolve()
    if not place.joinpath(*_MODULE.split(".")).with_suffix(".py").is_file():
        raise TamisError(f"{place} is no checkout of tamis: run it in one, or name it: --checkout")
    sys.path.insert(0, str(place))
    if forecast:
        yield from _forecasts(frames, seed)
        return
    yield from import_module(_MODULE).measured(frames, seed, workers, misses=misses)


def _forecasts(frames: int, seed: int) -> Iterator[Row]:
    """Yields a row for each text, and one for all of them: what is learned is of frames of some
    seeds, what is matched of others; each text is forecast and matched alone."""
    from tamis.learning.learner import Learner
    from tamis.learning.lesson import Lesson
    from tamis.matcher import Matcher

    quality, comparison = import_module(_MODULE), import_module("examples.uav.comparison")
    entries = list(import_module("examples.uav.subscribers").made())
    operators = comparison.indexed_operators()
    progress("learning from a day")
    lesson = Lesson(entries, operators)
    learner = Learner(lesson.task)
    for event in quality.events(frames, seed):
        learner.document(event)
    known = lesson.statistics(learner.finish())
    progress("another day")
    day = list(quality.events(frames, seed + _ANOTHER_DAY))
    forecasts, made = [], []
    for entry in entries[:: max(1, len(entries) // _TEXTS)]:
        progress(f"forecast {entry['id']}")
        matcher = Matcher(operators, statistics=known, learning=False)
        forecasts.append(matcher.forecast(entry["where"]).calls_per_event)
        matcher.subscribe(entry["where"])
        made.append(sum(len(matcher.match(event).calls) for event in day) / len(day))
        yield _row(entry["where"], forecasts[-1], made[-1])
    yield _row(f"all {len(made)}", sum(forecasts), sum(made))


def _row(text: str, forecast: float, actual: float) -> Row:
    over = forecast / actual if actual else None
    part = "Calls of an event on another day"
    return {"part": part, "text": text, "forecast": forecast, "calls": actual, "over": over}
