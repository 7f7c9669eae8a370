"""Draws the workloads of the papers that BE-Gen's parameters do not describe.

Attributes are drawn by their popularity, events and subscriptions each by one of its own; operands
are uniform or follow Zipf; a predicate is `=`, bounded on one side, an interval, or a set. What the
papers draw from data that is not to be had (queries, articles, products) is drawn like it: as long,
over as many attributes, as skewed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis_bench.boxes import Boxes, BoxShape, Clause, Groups
from tamis_bench.kernels import NO_SETS, RANGE, Floats, Ints

ONE_SIDED, INTERVAL, SET = "one-sided", "interval", "set"
_BITS = 128


@dataclass(frozen=True)
class Drawn:
    """The parameters of a workload."""

    subscriptions: int
    attributes: int
    values: int = 200
    shortest: int = 1
    longest: int = 8
    mean_length: float | None = None
    pairs: float = 60.0
    """Pairs an event on average; lengths are around it where `spread` is said."""
    spread: float = 0.0
    equality: float = 1.0
    other: str = ONE_SIDED
    """The kind of predicates other than `=`."""
    asked: float = 0.0
    """The exponent of the popularity of attributes in subscriptions."""
    held: float = 0.0
    """The same in events."""
    operands: float = 0.0
    """The exponent of the popularity of values."""
    width: int = 5
    """Half the width of intervals, members of sets."""


class GivenBoxes(Boxes):
    """A workload of arrays that are there, without spare subscriptions."""

    def __init__(self, name: str, drawn: Drawn, seed: int, events: int) -> None:
        self.name, self.seed, self.count = name, seed, drawn.subscriptions
        self.prototypes, self.focus = 0, 0.0
        self.shape = BoxShape(
            drawn.subscriptions, drawn.attributes, drawn.values, drawn.shortest, drawn.longest
        )
        self._drawn, self._chance = drawn, np.random.default_rng(seed)
        self.names = [f"a{at}" for at in range(drawn.attributes)]
        lengths = self._lengths(drawn.subscriptions)
        self.start = np.concatenate([[0], np.cumsum(lengths)])
        self.attribute = self._attributes(drawn.asked, self.start).astype(np.int32)
        self.extra, self.sets = None, NO_SETS
        self._draw_predicates(len(self.attribute))
        self.events = self._events(events)

    def _lengths(self, count: int) -> Ints:
        drawn, longest = self._drawn, min(self._drawn.longest, self._drawn.attributes)
        if drawn.mean_length is None:
            return self._chance.integers(drawn.shortest, longest + 1, count)
        share = 1 / max(1.0, drawn.mean_length - drawn.shortest + 1)
        more = self._chance.geometric(share, count) - 1
        return np.minimum(drawn.shortest + more, longest)

    def _attributes(self, exponent: float, start: Ints) -> Ints:
        weights = np.arange(1.0, self._drawn.attributes + 1) ** -exponent
        return Groups([weights]).draw(self._chance, np.zeros(len(start) - 1, np.int64), start)

    def _values(self, count: int) -> Floats:
        drawn = self._drawn
        if not drawn.operands:
            return self._chance.integers(0, drawn.values, count).astype(np.float64)
        weights = np.arange(1.0, drawn.values + 1) ** -drawn.operands
        return self._chance.choice(drawn.values, count, p=weights / weights.sum()).astype(float)

    def _draw_predicates(self, total: int) -> None:
        drawn, chance, top = self._drawn, self._chance, self._drawn.values - 1.0
        value, point = self._values(total), chance.random(total) < drawn.equality
        self.low, self.high = value.copy(), value.copy()
        other = np.flatnonzero(~point)
        if drawn.other == ONE_SIDED:
            below = chance.random(len(other)) < 0.5
            self.low[other[below]], self.high[other[~below]] = 0.0, top
        elif drawn.other == INTERVAL:
            self.low[other] = np.maximum(0, value[other] - drawn.width)
            self.high[other] = np.minimum(top, value[other] + drawn.width)
        else:
            self._draw_sets(other)

    def _draw_sets(self, at: Ints) -> None:
        drawn, bits = self._drawn, np.zeros((len(at), _BITS), np.bool_)
        for _ in range(drawn.width):
            bits[np.arange(len(at)), self._values(len(at)).astype(np.int64) % _BITS] = True
        self.sets = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
        self.low[at] = bits.argmax(axis=1)
        self.high[at] = _BITS - 1 - bits[:, ::-1].argmax(axis=1)
        self.extra = np.full(len(self.attribute), RANGE, np.int32)
        self.extra[at] = np.arange(len(at))

    def _events(self, count: int) -> Floats:
        drawn = self._drawn
        spread = np.exp(self._chance.normal(0, drawn.spread, count)) if drawn.spread else 1.0
        pairs = np.clip(np.round(drawn.pairs * spread * np.ones(count)), 1, drawn.attributes)
        start = np.concatenate([[0], np.cumsum(pairs)]).astype(np.int64)
        there = self._attributes(drawn.held, start)
        rows: Floats = np.full((count, drawn.attributes), np.nan)
        at = np.repeat(np.arange(count), np.diff(start))
        rows[at, there] = self._values(len(there))
        return rows

    def _clause(self, at: int) -> Clause:
        if self.extra is None or self.extra[at] == RANGE:
            return super()._clause(at)
        words = self.sets[self.extra[at]]
        members = [bit for bit in range(_BITS) if int(words[bit // 64]) >> (bit % 64) & 1]
        return self.names[self.attribute[at]], "in", tuple(map(float, members))

    def share_true(self) -> float:
        """Returns the share of the predicates that a value of their attribute satisfies."""
        value = self._values(len(self.attribute))
        return float(np.mean((self.low <= value) & (value <= self.high)))
