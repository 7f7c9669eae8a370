"""Draws workloads of the paper's Table 1: subscriptions over predicates of some popularity.

The lengths are uniform, predicates are drawn without replacement, and selectivities are scaled
until the wanted share of subscriptions matches an event. Everything follows from the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis import Matcher, Operator, Problem, Result, Statistics, operator
from tamis_bench.goals import JUDGED

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
    scenes: int = 1
    """Hidden sorts of events, each with selectivities of its own."""
    contrast: float = 1.0
    """The σ of the lognormal factors by which selectivities differ between scenes."""

    def scaled(self, scale: float) -> Shape:
        """Returns the same shape, smaller or larger."""
        return replace(
            self,
            predicates=max(self.longest, round(self.predicates * scale)),
            subscriptions=max(1, round(self.subscriptions * scale)),
        )

    def unguarded(self) -> Shape:
        """Returns the same shape with boolean predicates alone; its truths are drawn alike."""
        return replace(self, guarded=0.0)

    def __str__(self) -> str:
        kind = "Uniform" if self.zipf == UNIFORM else f"Zipf {self.zipf:g}"
        name = f"{kind} {_short(self.predicates)}/{_short(self.subscriptions)}/{self.longest}"
        name += f" lognormal {self.spread:g}" if self.spread else ""
        name += f" guarded {self.guarded:.0%}" if self.guarded else ""
        scenes = f" {self.scenes} scenes, contrast {self.contrast:g}"
        return name + (scenes if self.scenes > 1 else "")


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
        self.members = self._draw(np.cumsum(weights / weights.sum()))
        raw = self._chance.random(count)
        factors = np.random.default_rng((seed, 1)).normal(
            0.0, shape.contrast, (shape.scenes, count)
        )
        self.scene_passes = self._scaled(raw * np.exp(factors) if shape.scenes > 1 else raw[None])
        """Of each scene (rows) and predicate the selectivity; scenes are equally frequent."""
        self.passes = self.scene_passes.mean(axis=0)
        self.costs = np.exp(self._chance.normal(0.0, shape.spread, count))
        self.guarded = self._chance.random(count) < shape.guarded
        self.truth: list[bool] = []
        self.scene = 0

    def _draw(self, cumulative: NDArray[np.float64]) -> list[list[int]]:
        """Draws the predicates of each subscription, without replacement inside one."""
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
        """Returns selectivities `min(1, s·u)` with s such that the wanted share matches."""
        members = np.concatenate([np.array(each) for each in self.members])
        starts = np.cumsum([0, *(len(each) for each in self.members)])[:-1]
        low, high = 1e-6, 1e6
        for _ in range(100):
            middle = np.sqrt(low * high)
            logs = np.log(np.minimum(1.0, middle * raw) + 1e-300)
            if np.exp(np.add.reduceat(logs[:, members], starts, axis=1)).mean() < MATCH_RATIO:
                low = middle
            else:
                high = middle
        return np.minimum(1.0, low * raw)

    def operators(self) -> list[Operator]:
        """Returns a boolean operator and one that binds a number, both answering from `truth`."""

        @operator(name="p")
        def holds(event: object, number: int) -> bool:
            return self.truth[number]

        @operator(name="q", outputs=("found",))
        def found(event: object, number: int, found: object) -> list[int]:
            return [100 if self.truth[number] else 1]

        return [holds, found]

    def matcher(
        self,
        operators: Sequence[Operator] | None = None,
        texts: Sequence[str] | None = None,
        **settings: Any,
    ) -> Matcher:
        """Returns a matcher of all subscriptions that knows what history would have taught."""
        if "statistics" not in settings:
            settings["statistics"] = self.statistics()
        made = Matcher(
            self.operators() if operators is None else operators,
            **{"planner": JUDGED, "learning": False, **settings},
        )
        made.subscribe_many(self.subscriptions(texts))
        return made

    def events(self, count: int) -> Iterator[dict[str, str]]:
        """Draws events, always the same ones, while they are taken."""
        chance = np.random.default_rng(self.seed + 1)
        for at in range(count):
            self.draw_event(chance)
            yield {"id": str(at)}

    def subscriptions(self, texts: Sequence[str] | None = None) -> Iterator[dict[str, str]]:
        """Yields the subscriptions as text; `texts` says how each predicate is written."""
        texts = texts or [
            f"q({number}, ?n{number}), ?n{number} > 50" if guarded else f"p({number})"
            for number, guarded in enumerate(self.guarded.tolist())
        ]
        for number, members in enumerate(self.members):
            yield {"id": f"s{number}", "where": ", ".join(texts[each] for each in members)}

    def statistics(self, scene: int | None = None) -> Statistics:
        """Returns what history would have taught, of all events or of those of a scene."""
        selectivity: dict[str, float] = {}
        cost: dict[str, float] = {}
        passes = self.passes if scene is None else self.scene_passes[scene]
        rows = zip(passes.tolist(), self.costs.tolist(), self.guarded.tolist(), strict=True)
        for number, (share, seconds, guarded) in enumerate(rows):
            call = f"q({number}, ?1)" if guarded else f"p({number})"
            selectivity[f"{call}, ?1 > 50" if guarded else call] = share
            cost[call] = seconds
        return Statistics(selectivity, cost)

    def distinct(self) -> NDArray[np.int64]:
        """Returns the predicates that occur in a subscription."""
        return np.unique(np.concatenate([np.array(each) for each in self.members]))

    def problem(self) -> Problem:
        """Returns the problem of every event, as planners and bounds see it: test and call `n` are
        predicate `n`."""
        lengths = [len(each) for each in self.members]
        count, edges = self.shape.predicates, sum(lengths)
        return Problem(
            alternative_key=np.arange(len(lengths)),
            alternative_subscription=np.arange(len(lengths)),
            alternative_binds=np.array([self.guarded[each].any() for each in self.members]),
            alternative_start=np.cumsum([0, *lengths]),
            edge_test=np.concatenate([np.array(each, np.int64) for each in self.members]),
            edge_sign=np.ones(edges, np.int8),
            test_call=np.arange(count),
            test_selectivity=self.passes.copy(),
            call_cost=self.costs.copy(),
            call_failure=np.zeros(count),
            call_group=np.full(count, -1),
            group_price=np.zeros(0),
            call_batch=np.full(count, -1),
            call_marginal=self.costs.copy(),
            implications=np.zeros((0, 4), np.int64),
        )

    def draw_event(self, chance: np.random.Generator) -> None:
        """Decides what is true of the next event."""
        if self.shape.scenes > 1:
            self.scene = int(chance.integers(self.shape.scenes))
        passes = self.scene_passes[self.scene]
        self.truth = (chance.random(self.shape.predicates) < passes).tolist()


class Answers:
    """The matches of events, which must be the same whoever finds them."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._known: dict[object, list[str]] = {}

    def compare(self, event: Mapping[str, object], result: Result) -> int:
        """Raises `AssertionError` where matches differ from those found before; counts them."""
        matched = [match.subscription for match in result.matches]
        if self._known.setdefault(event["id"], matched) != matched:
            raise AssertionError(f"{self._words}: other matches of event {event['id']}")
        return len(matched)


class OrderedRun:
    """A run that asks for calls in a given order, whatever comes out."""

    def __init__(self, calls: list[int]) -> None:
        self.left = calls

    def next(self, limit: int) -> list[int]:
        """Returns the next ones, as many as may be."""
        now, self.left = self.left[:limit], self.left[limit:]
        return now

    def observe(self, tests: object, outcomes: object, decided: object) -> None:
        """Does nothing: nothing changes the order."""


@dataclass(frozen=True)
class Effort:
    """The events of a row that has a goal, the workloads they are shared out among, and a size."""

    seed: int = 1
    scale: float = 1.0
    events: int = 100
    workloads: int = 2
    bounded: int = 100
    """The most events of a row that get bounds, each by two linear programs."""

    def share(self, part: float) -> Effort:
        """Returns a part of the events, in fewer workloads; at least one of each."""
        events = max(1, round(self.events * part))
        workloads = min(events, max(1, round(self.workloads * part)))
        return replace(self, events=events, workloads=workloads)

    def parts(self) -> list[tuple[int, int]]:
        """Returns the workloads: the seed of each, and how many events it has."""
        count = min(self.workloads, self.events)
        return [
            (self.seed * 1_000 + number, self.events // count + (number < self.events % count))
            for number in range(count)
        ]


@dataclass(frozen=True)
class Ratio:
    """A sum over another one of the same events, and its standard error."""

    value: float | None
    error: float | None

    @classmethod
    def of(cls, above: ArrayLike, below: ArrayLike) -> Ratio:
        """Returns the ratio of the sums; nothing where the lower one is nothing."""
        over, under = np.asarray(above, np.float64), np.asarray(below, np.float64)
        if not under.sum():
            return cls(None, None)
        value = float(over.sum() / under.sum())
        if len(over) < 2:
            return cls(value, None)
        spread = float((over - value * under).std(ddof=1))
        return cls(value, spread / (float(under.mean()) * len(over) ** 0.5))
