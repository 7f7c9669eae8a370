"""What it costs to make calls at once, and what it gains: rounds, calls, and time that calls wait.

The matcher asks its planner for as many calls as there are workers; rounds are counted where the
planner answers. Time is measured with operators that do nothing but sleep, on a few events.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tamis.matcher import Matcher
from tamis.operators import FunctionOperator, operator
from tamis.planning import Planner, Problem, Run
from tamis.plugins.loader import installed
from tamis_bench.effort import Effort
from tamis_bench.planner_goals import (
    JUDGED,
    ONE_AT_A_TIME,
    OVER_ONE_AT_A_TIME,
    ROUNDS,
    Ratio,
    goal,
)
from tamis_bench.workloads import Shape, Workload

SHAPE = Shape(5_000, 20_000)
WORKERS = (1, 8, 32, 128)
NAP_SECONDS = 0.002
_TIMED_PART = 0.02


class Counted:
    """A planner whose rounds are counted."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.rounds = 0

    def begin(self, problem: Problem) -> Run:
        """Starts on the problem of one event."""
        return _CountedRun(self, self._planner.begin(problem))

    def __getattr__(self, name: str) -> Any:
        """What the planner has beside: it may follow what is subscribed."""
        return getattr(self._planner, name)


class _CountedRun:
    def __init__(self, counted: Counted, run: Run) -> None:
        self._counted = counted
        self._run = run
        self.observe = run.observe

    def next(self, limit: int) -> Sequence[int]:
        calls = self._run.next(limit)
        self._counted.rounds += len(calls) > 0
        return calls


def _napping(workload: Workload) -> FunctionOperator:
    @operator(name="p", cost_seconds=NAP_SECONDS)
    def holds(event: object, number: int) -> bool:
        time.sleep(NAP_SECONDS)
        return workload.truth[number]

    return holds


def run(effort: Effort) -> Iterator[dict[str, Any]]:
    """The row of the workload: rounds, calls and seconds an event, by the number of workers."""
    shape = SHAPE.scaled(effort.scale)
    rounds: dict[int, list[int]] = {workers: [] for workers in WORKERS}
    calls: dict[int, list[int]] = {workers: [] for workers in WORKERS}
    seconds: dict[int, list[float]] = {workers: [] for workers in WORKERS}
    parts = effort.parts()
    for seed, events in parts:
        workload = Workload(shape, seed)
        answers: list[list[str]] = []
        for workers in WORKERS:
            effort.progress(f"rounds: {shape}, {workers} workers")
            counted = Counted(installed().planner(JUDGED).factory())
            matcher = _matcher(workload, workload.operators(), counted, workers)
            chance = np.random.default_rng(seed + 1)
            for at in range(events):
                workload.draw_event(chance)
                counted.rounds = 0
                result = matcher.match({"id": str(at)})
                rounds[workers].append(counted.rounds)
                calls[workers].append(len(result.calls))
                matched = [match.subscription for match in result.matches]
                if workers == 1:
                    answers.append(matched)
                elif matched != answers[at]:
                    raise AssertionError(f"rounds change the matches of event {at} of {shape}")
    timed = effort.share(_TIMED_PART).events
    workload = Workload(shape, parts[0][0])
    for workers in WORKERS:
        effort.progress(f"rounds: {shape}, {workers} workers, calls that sleep")
        planner = installed().planner(JUDGED).factory()
        matcher = _matcher(workload, [_napping(workload)], planner, workers)
        seconds[workers] = _timed(workload, matcher, timed)
    yield _row(shape, rounds, calls, seconds)


def _matcher(
    workload: Workload, operators: Sequence[object], planner: Planner, workers: int
) -> Matcher:
    matcher = Matcher(
        operators,
        planner=planner,
        statistics=workload.statistics(),
        learning=False,
        workers=workers,
    )
    matcher.subscribe_many(workload.subscriptions())
    return matcher


def _timed(workload: Workload, matcher: Matcher, events: int) -> list[float]:
    """The seconds of each event, after one that does not count."""
    chance = np.random.default_rng(workload.seed + 1)
    took = []
    for at in range(events + 1):
        if at < 2:
            workload.draw_event(chance)
        begun = time.perf_counter()
        matcher.match({"id": str(at)})
        took.append(time.perf_counter() - begun)
    return took[1:]


def _row(
    shape: Shape,
    rounds: dict[int, list[int]],
    calls: dict[int, list[int]],
    seconds: dict[int, list[float]],
) -> dict[str, Any]:
    table: list[dict[str, Any]] = []
    goals = []
    for workers in WORKERS:
        over = Ratio.of(calls[workers], calls[1])
        table.append(
            {
                "workers": workers,
                "rounds": float(np.mean(rounds[workers])),
                "calls": float(np.mean(calls[workers])),
                "over_one": over and over.value,
                "error": over and over.error,
                "seconds": float(np.mean(seconds[workers])),
                "times_faster": float(np.mean(seconds[1]) / np.mean(seconds[workers])),
            }
        )
    if str(shape) == ONE_AT_A_TIME:
        most = table[-1]
        where = f"{most['workers']} workers"
        what = f"calls over one at a time, {where}"
        goals = [
            goal(str(shape), JUDGED, f"rounds an event, {where}", most["rounds"], ROUNDS),
            goal(str(shape), JUDGED, what, most["over_one"], OVER_ONE_AT_A_TIME),
        ]
    return {
        "figure": "rounds",
        "workload": str(shape),
        "events": len(calls[1]),
        "timed_events": len(seconds[1]),
        "planner": JUDGED,
        "table": table,
        "goals": goals,
    }
