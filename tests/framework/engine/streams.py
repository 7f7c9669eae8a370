"""Streams for tests: operators that answer and take time as told, and a planner that minds both."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

import tamis
from tamis.operators import Operator
from tamis.operators.specification import Parameter, Specification
from tamis.testing import FakeClock


@dataclass
class Behavior:
    """What an operator does from now on."""

    share: float = 0.5
    seconds: float = 0.001
    fails: bool = False


class Acting(Operator):
    """A boolean operator `name(key)` that acts as told, and says when it was called."""

    def __init__(self, name: str, behavior: Behavior, clock: FakeClock, seed: int = 0) -> None:
        self.specification = Specification(name=name, parameters=(Parameter("key"),))
        self.behavior = behavior
        self.calls = 0
        self._clock = clock
        self._chance = random.Random(f"{name} {seed}")

    def solve(self, event: object, *arguments: object) -> bool:
        self.calls += 1
        self._clock.advance(self.behavior.seconds)
        if self.behavior.fails:
            raise RuntimeError("out of memory")
        return self._chance.random() < self.behavior.share


class Promising:
    """The planner that asks first for what kills most for its cost."""

    def begin(self, problem: tamis.Problem) -> tamis.Run:
        return _PromisingRun(problem)


class _PromisingRun:
    def __init__(self, problem: tamis.Problem) -> None:
        self._problem = problem
        self._open = np.ones(problem.alternatives, bool)
        self._asked = np.zeros(problem.calls, bool)

    def next(self, limit: int) -> Sequence[int]:
        problem = self._problem
        share = problem.test_selectivity[problem.edge_test]
        kills = np.where(problem.edge_sign > 0, 1 - share, share)
        call = problem.test_call[problem.edge_test]
        held = self._open[problem.edge_alternative]
        worth = np.bincount(call, kills * held, problem.calls) * (1 - problem.call_failure)
        score = (worth + 1e-9) / np.maximum(problem.call_cost, 1e-12)
        score[self._asked | (np.bincount(call, held, problem.calls) == 0)] = -1.0
        best = int(np.argmax(score))
        if score[best] < 0:
            return []
        self._asked[best] = True
        return [best]

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None:
        self._open[list(decided)] = False


@dataclass
class Stream:
    """A matcher with some acting operators, and which of them came first in each event."""

    behaviors: dict[str, Behavior]
    where: str
    statistics: tamis.Statistics | None = None
    learning: bool = True
    seed: int = 0
    clock: FakeClock = field(default_factory=FakeClock)
    first: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.operators = {
            name: Acting(name, behavior, self.clock, self.seed)
            for name, behavior in self.behaviors.items()
        }
        self.matcher = tamis.Matcher(
            operators=list(self.operators.values()),
            planner=Promising(),
            statistics=self.statistics,
            learning=self.learning,
            timer=self.clock,
        )
        self.matcher.subscribe(self.where, id="s")

    def run(self, events: int) -> None:
        """Lets events pass."""
        for _ in range(events):
            result = self.matcher.match({})
            self.first.append(result.calls[0].predicate)
