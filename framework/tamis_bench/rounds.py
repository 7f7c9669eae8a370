"""Measures what it costs to make calls at once, and what it gains: rounds, calls, and waiting.

The matcher asks its planner for as many calls as there are workers; rounds are counted where the
planner answers. Time is measured with operators that do nothing but sleep, on a few events.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tamis import Operator, Planner, Problem, Run, operator
from tamis.plugins.loader import installed
from tamis_bench.goals import JUDGED
from tamis_bench.report import Row, progress
from tamis_bench.workloads import Answers, Effort, Ratio, Shape, Workload

SHAPE = Shape(5_000, 20_000)
WORKERS = (1, 8, 32, 128)
NAP_SECONDS = 0.002
_TIMED_PART = 0.02


class RoundCounter:
    """A planner whose rounds are counted."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.rounds = 0

    def begin(self, problem: Problem) -> Run:
        """Starts on the problem of one event."""
        return _CountedRun(self, self._planner.begin(problem))

    def __getattr__(self, name: str) -> Any:
        """Returns what the planner has beside: it may follow what is subscribed."""
        return getattr(self._planner, name)


class _CountedRun:
    def __init__(self, counted: RoundCounter, run: Run) -> None:
        self._counted = counted
        self._run = run
        self.observe = run.observe

    def next(self, limit: int) -> Sequence[int]:
        calls = self._run.next(limit)
        self._counted.rounds += len(calls) > 0
        return calls


def measured(effort: Effort) -> Iterator[Row]:
    """Yields rounds, calls and seconds an event, by the number of workers."""
    shape = SHAPE.scaled(effort.scale)
    rounds: dict[int, list[int]] = {workers: [] for workers in WORKERS}
    calls: dict[int, list[int]] = {workers: [] for workers in WORKERS}
    for seed, events in effort.parts():
        workload = Workload(shape, seed)
        answers = Answers(f"rounds of {shape}")
        for workers in WORKERS:
            progress(f"rounds: {shape}, {workers} workers")
            counted = RoundCounter(installed().planner(JUDGED).factory())
            matcher = workload.matcher(planner=counted, workers=workers)
            for event in workload.events(events):
                counted.rounds = 0
                result = matcher.match(event)
                answers.compare(event, result)
                rounds[workers].append(counted.rounds)
                calls[workers].append(len(result.calls))
    seconds = _waited(shape, effort)
    for workers in WORKERS:
        over = Ratio.of(calls[workers], calls[1])
        yield {
            "workload": str(shape),
            "workers": workers,
            "rounds": float(np.mean(rounds[workers])),
            "calls": float(np.mean(calls[workers])),
            "over_one": over.value,
            "error": over.error,
            "seconds": seconds[workers],
            "times_faster": seconds[1] / seconds[workers],
            "events": len(calls[workers]),
        }


def _waited(shape: Shape, effort: Effort) -> dict[int, float]:
    """Returns the seconds of an event where calls sleep, after one that does not count."""
    workload = Workload(shape, effort.parts()[0][0])
    seconds = {}
    for workers in WORKERS:
        progress(f"rounds: {shape}, {workers} workers, calls that sleep")
        matcher = workload.matcher([_napping(workload)], workers=workers)
        taken = []
        for event in workload.events(1 + effort.share(_TIMED_PART).events):
            begun = time.perf_counter()
            matcher.match(event)
            taken.append(time.perf_counter() - begun)
        seconds[workers] = float(np.mean(taken[1:]))
    return seconds


def _napping(workload: Workload) -> Operator:
    @operator(name="p", cost_seconds=NAP_SECONDS)
    def holds(event: object, number: int) -> bool:
        time.sleep(NAP_SECONDS)
        return workload.truth[number]

    return holds
