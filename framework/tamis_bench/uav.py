"""Measures how right the operators are on drawn frames, by `examples/uav` of a checkout.

Frames have the light, weather and noise of their seeds; while the detector and the renderer were
written, only TUNING_SEEDS were looked at. The operators get what a subscriber's would: the encoded
frame and the event, never the truth. Seconds are those of all answers to a frame, its decoding
included, and not of drawing it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import typer

from tamis import Matcher
from tamis.errors import TamisError
from tamis_bench.options import count
from tamis_bench.report import Row, progress
from tamis_bench.uav_scores import PATTERNS, ROOFS, SUBSCRIPTIONS, THRESHOLDS, QuestionScores
from tamis_operators import spatial

_FLIGHTS = "examples.uav.simulation"
TUNING_SEEDS, TEST_SEEDS = range(1, 100), range(5_000, 9_000)
_A_SEED = 25
_TEXTS = 40
_ANOTHER_DAY = 500


def measured(
    *,
    frames: Annotated[int, count("Frames, moments of any flight of a quarter of an hour.")] = 1_000,
    seed: Annotated[int, count("The first seed, of 25 frames each.")] = TEST_SEEDS.start,
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
    if not place.joinpath(*_FLIGHTS.split(".")).with_suffix(".py").is_file():
        raise TamisError(f"{place} is no checkout of tamis: run it in one, or name it: --checkout")
    sys.path.insert(0, str(place))
    yield from _forecasts(frames, seed) if forecast else _quality(frames, seed, workers, misses)


def _quality(frames: int, seed: int, workers: int, misses: bool) -> Iterator[Row]:
    """Yields a row for each question, of frames that processes score."""
    total = QuestionScores()
    parts = [(seed + at // _A_SEED, min(_A_SEED, frames - at)) for at in range(0, frames, _A_SEED)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(scored, *part, misses) for part in parts]
        for done, future in enumerate(futures, 1):
            total.merge(future.result())
            progress(f"{done} of {len(futures)} seeds")
    part = (
        f"Seeds from {seed} on, {'which were' if seed in TUNING_SEEDS else 'not'} tuned on: "
        f"{total.frames} frames, {total.unknown} answers unknown, "
        f"{total.seconds / max(total.frames, 1):.3f} seconds a frame"
    )
    yield from total.rows(part)


def asking() -> Matcher:
    """Makes a matcher that asks every operator of every frame, and S1 to S5 as printed."""
    example = import_module("examples.uav.operators").tamis_operators()
    made = Matcher([*example, *spatial.operators()])
    for name in (*THRESHOLDS, ROOFS):
        made.subscribe(f"{name}(?n)", id=name)
    for pattern in PATTERNS:
        made.subscribe(pattern, id=pattern)
    made.subscribe_many(import_module("examples.uav.subscribers").made(count=0))
    return made


def answers(asked: Matcher, observation: Any) -> dict[str, Any]:
    """Returns what is said of an event: a number, the largest, all of them, or whether; `None`
    where it is unknown."""
    event = {key: value for key, value in observation.event.items() if key != "facts"}
    result = asked.match(event)
    said: dict[str, Any] = {}
    for match in result.matches:
        numbers = {int(each["n"]) for each in match.bindings if "n" in each}
        name = match.subscription
        said[name] = numbers if name == ROOFS else max(numbers) if name in THRESHOLDS else True
    return said | dict.fromkeys(unknown.subscription for unknown in result.undetermined)


def scored(seed: int, frames: int, misses: bool = False) -> QuestionScores:
    """Scores some moments of a seed; on request, what went wrong goes to stderr."""
    asked, scores = asking(), QuestionScores()
    for flights, number in import_module(_FLIGHTS).moments(frames, seed):
        observation = flights.observation(number)
        started = time.perf_counter()
        said = answers(asked, observation)
        scores.seconds += time.perf_counter() - started
        truth = observation.truth
        scores.add(said, truth)
        true = {name: getattr(truth, attribute) for name, attribute in PATTERNS.items()}
        true |= {name: name in truth.subscriptions for name in SUBSCRIPTIONS}
        wrong = [name for name, each in true.items() if bool(said.get(name)) != bool(each)]
        if misses and wrong:
            print(f"seed {seed} number {number} {truth.light}: {wrong}", file=sys.stderr)
    return scores


def _forecasts(frames: int, seed: int) -> Iterator[Row]:
    """Yields a row for each text, and one for all of them: what is learned is of frames of some
    seeds, what is matched of others; each text is forecast and matched alone."""
    from tamis.learning.learner import Learner
    from tamis.learning.lesson import Lesson

    flights, comparison = import_module(_FLIGHTS), import_module("examples.uav.comparison")
    entries = list(import_module("examples.uav.subscribers").made())
    operators = comparison.indexed_operators()
    progress("learning from a day")
    lesson = Lesson(entries, operators)
    learner = Learner(lesson.task)
    for simulation, number in flights.moments(frames, seed):
        learner.document(simulation.observation(number).event)
    known = lesson.statistics(learner.finish())
    progress("another day")
    moments = flights.moments(frames, seed + _ANOTHER_DAY)
    day = [simulation.observation(number).event for simulation, number in moments]
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
