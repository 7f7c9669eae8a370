"""Measures how right the operators are: `tamis bench uav --frames 1000`.

Frames are of seeds from TEST_SEEDS on, with the light, weather and noise that those seeds have.
Nothing was tuned on them: while detectors and renderer were written, only TUNING_SEEDS were looked
at. The operators get what a subscriber's would: the encoded frame and the event, never the truth.
The seconds are of all answers to a frame, its decoding included, and not of drawing it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import tamis
from examples.uav.chance import stream
from examples.uav.operators import tamis_operators
from examples.uav.simulation import Observation, Simulation
from tamis_bench.report import progress
from tamis_bench.uav_scores import PATTERNS, ROOFS, SUBSCRIPTIONS, THRESHOLDS, QuestionScores
from tamis_operators import spatial

TUNING_SEEDS = range(1, 100)
TEST_SEEDS = range(5_000, 9_000)
_FRAMES_A_SEED = 25
_SECONDS = 900.0
_PAPER = Path(__file__).resolve().parents[1] / "surveillance" / "subscriptions.jsonl"


def matcher() -> tamis.Matcher:
    """One that asks every operator of every frame, and S1 to S5 as the paper prints them."""
    made = tamis.Matcher([*tamis_operators(), *spatial.operators()])
    for name in THRESHOLDS:
        made.subscribe(f"{name}(?n)", id=name)
    made.subscribe(f"{ROOFS}(?n)", id=ROOFS)
    for pattern in PATTERNS:
        made.subscribe(pattern, id=pattern)
    for line in _PAPER.read_text(encoding="utf-8").splitlines():
        made.subscribe_many([json.loads(line)])
    return made


def answers(asked: tamis.Matcher, observation: Observation) -> dict[str, Any]:
    """What is said of an event: a number, the largest, all of them, or whether; `None` where it is
    unknown."""
    event = {key: value for key, value in observation.event.items() if key != "facts"}
    result = asked.match(event)
    said: dict[str, Any] = {}
    for match in result.matches:
        name = match.subscription
        if name == ROOFS:
            said[name] = {int(binding["n"]) for binding in match.bindings}
        elif name in THRESHOLDS:
            said[name] = max(int(binding["n"]) for binding in match.bindings)
        else:
            said[name] = True
    for unknown in result.undetermined:
        said[unknown.subscription] = None
    return said


def chosen(frames: int, first_seed: int) -> Iterator[tuple[int, list[int]]]:
    """Seeds, and numbers of observations of each, any of a quarter of an hour."""
    seed = first_seed
    while frames > 0:
        count = min(frames, _FRAMES_A_SEED)
        every = Simulation(seed).count(_SECONDS)
        picks = stream(seed, 99).choice(every, count, replace=False)
        yield seed, sorted(int(each) for each in picks)
        frames -= count
        seed += 1


def events(frames: int, first_seed: int) -> Iterator[dict[str, Any]]:
    """Yields the events of these frames."""
    for seed, numbers in chosen(frames, first_seed):
        simulation = Simulation(seed)
        yield from (simulation.observation(number).event for number in numbers)


def scored(seed: int, numbers: list[int], misses: bool = False) -> QuestionScores:
    """The scores of some observations of a seed; on request, what went wrong goes to stderr."""
    simulation, asked, scores = Simulation(seed), matcher(), QuestionScores()
    for number in numbers:
        observation = simulation.observation(number)
        started = time.perf_counter()
        said = answers(asked, observation)
        scores.seconds += time.perf_counter() - started
        truth = observation.truth
        scores.add(said, truth)
        if misses:
            true = {name: getattr(truth, attribute) for name, attribute in PATTERNS.items()}
            true |= {name: name in truth.subscriptions for name in SUBSCRIPTIONS}
            wrong = [name for name, each in true.items() if bool(said.get(name)) != bool(each)]
            if wrong:
                print(f"seed {seed} number {number} {truth.light}: {wrong}", file=sys.stderr)
    return scores


def measured(frames: int, seed: int, workers: int, *, misses: bool) -> Iterator[dict[str, Any]]:
    """The rows of `tamis bench uav`."""
    total = QuestionScores()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures = [
            pool.submit(scored, each, numbers, misses) for each, numbers in chosen(frames, seed)
        ]
        for done, future in enumerate(futures, 1):
            total.merge(future.result())
            progress(f"{done} of {len(futures)} seeds")
    part = (
        f"Seeds from {seed} on, {'which were' if seed in TUNING_SEEDS else 'not'} tuned on: "
        f"{total.frames} frames, {total.unknown} answers unknown, "
        f"{total.seconds / max(total.frames, 1):.3f} seconds a frame"
    )
    yield from total.rows(part)
