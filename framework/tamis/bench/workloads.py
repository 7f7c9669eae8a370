"""Workloads of the paper's Table 1: subscriptions over predicates of uniform or Zipf popularity.

The lengths are uniform, predicates are drawn without replacement, and selectivities are scaled
until the wanted share of subscriptions matches an event. Everything follows from the seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tamis import Operator, operator
from tamis.specification import FunctionOperator
from tamis.statistics import Statistics

MATCH_RATIO = 0.002
SHORTEST = 3
UNIFORM = 0.0


@dataclass(frozen=True)
class Shape:
    """The parameters of a workload: `zipf` is the exponent, `UNIFORM` for weights in [0, 1]."""

    predicates: int
    subscriptions: int
    longest: int = 5
    zipf: float = 1.0
    spread: float = 0.0
    """The σ of lognormal costs, 0 for costs of 1."""
    guarded: float = 0.0
    """The share of predicates that bind a variable which a constraint restricts."""

    def scaled(self, scale: float) -> Shape:
        """The same shape, smaller or larger."""
        return Shape(
            max(self.longest, round(self.predicates * scale)),
            max(1, round(self.subscriptions * scale)),
            self.longest,
            self.zipf,
            self.spread,
            self.guarded,
        )

    def __str__(self) -> str:
        kind = "Uniform" if self.zipf == UNIFORM else f"Zipf {self.zipf:g}"
        name = f"{kind} {_short(self.predicates)}/{_short(self.subscriptions)}/{self.longest}"
        name += f" lognormal {self.spread:g}" if self.spread else ""
        return name + (f" guarded {self.guarded:.0%}" if self.guarded else "")


def _short(number: int) -> str:
    return f"{number // 1000}K" if number >= 1000 and number % 1000 == 0 else f"{number:,}"


class Workload:
    """Subscriptions, what is known of their predicates, and events drawn from it."""

    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape = shape
        self.seed = seed
        self._chance = np.random.default_rng(seed)
        count = shape.predicates
        weights = (
            self._chance.random(count)
            if shape.zipf == UNIFORM
            else np.arange(1, count + 1) ** -shape.zipf
        )
        self._members = self._draw(np.cumsum(weights / weights.sum()))
        self.passes = self._scaled(self._chance.random(count))
        self.costs = np.exp(self._chance.normal(0.0, shape.spread, count))
        self.guarded = self._chance.random(count) < shape.guarded
        self.truth: list[bool] = []

    def _draw(self, cumulative: NDArray[np.float64]) -> list[list[int]]:
        """The predicates of each subscription, without replacement inside one."""
        shape = self.shape
        lengths = self._chance.integers(SHORTEST, shape.longest + 1, shape.subscriptions)
        drawn = np.full((shape.subscriptions, shape.longest), -1)
        for place in range(shape.longest):
            again = np.arange(shape.subscriptions)
            while len(again):
                fresh = np.searchsorted(cumulative, self._chance.random(len(again)), side="right")
                fresh = np.minimum(fresh, len(cumulative) - 1)
                taken = (drawn[again, :place] == fresh[:, None]).any(axis=1)
                drawn[again[~taken], place] = fresh[~taken]
                again = again[taken]
        return [row[:length].tolist() for row, length in zip(drawn, lengths, strict=True)]

    def _scaled(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Selectivities `min(1, s·u)` with s such that the wanted share matches."""
        members = np.concatenate([np.array(each) for each in self._members])
        starts = np.cumsum([0, *(len(each) for each in self._members)])[:-1]
        low, high = 1e-6, 1e6
        for _ in range(100):
            middle = np.sqrt(low * high)
            logs = np.log(np.minimum(1.0, middle * raw) + 1e-300)
            if np.exp(np.add.reduceat(logs[members], starts)).mean() < MATCH_RATIO:
                low = middle
            else:
                high = middle
        return np.minimum(1.0, low * raw)

    def operators(self) -> list[Operator]:
        """A boolean operator and one that binds a number, both answering from `truth`."""
        return [self._boolean(), self._binding()]

    def _boolean(self) -> FunctionOperator:
        @operator(name="p")
        def holds(event: object, number: int) -> bool:
            return self.truth[number]

        return holds

    def _binding(self) -> FunctionOperator:
        @operator(name="q", outputs=("found",))
        def found(event: object, number: int, found: object) -> list[int]:
            return [100 if self.truth[number] else 1]

        return found

    def subscriptions(self) -> Iterator[dict[str, str]]:
        """The subscriptions as text."""
        texts = [
            f"q({number}, ?n{number}), ?n{number} > 50" if guarded else f"p({number})"
            for number, guarded in enumerate(self.guarded.tolist())
        ]
        for number, members in enumerate(self._members):
            yield {"id": f"s{number}", "where": ", ".join(texts[each] for each in members)}

    def statistics(self) -> Statistics:
        """What history would have taught."""
        selectivity: dict[str, float] = {}
        cost: dict[str, float] = {}
        rows = zip(self.passes.tolist(), self.costs.tolist(), self.guarded.tolist(), strict=True)
        for number, (share, seconds, guarded) in enumerate(rows):
            call = f"q({number}, ?1)" if guarded else f"p({number})"
            selectivity[f"{call}, ?1 > 50" if guarded else call] = share
            cost[call] = seconds
        return Statistics(selectivity, cost)

    def distinct(self) -> NDArray[np.int64]:
        """The predicates that occur in a subscription."""
        return np.unique(np.concatenate([np.array(each) for each in self._members]))

    def at_least(self) -> int:
        """Calls that even a clairvoyant makes for the event at hand: those of matched
        subscriptions, and one of each of the unmatched whose false predicates are disjoint."""
        truth = self.truth
        spent: set[int] = set()
        unmatched: list[list[int]] = []
        for members in self._members:
            false = [each for each in members if not truth[each]]
            if false:
                unmatched.append(false)
            else:
                spent.update(members)
        count = len(spent)
        for false in sorted(unmatched, key=len):
            if spent.isdisjoint(false):
                count += 1
                spent.update(false)
        return count

    def draw_event(self, chance: np.random.Generator) -> None:
        """Decides what is true of the next event."""
        self.truth = (chance.random(self.shape.predicates) < self.passes).tolist()
