"""Workloads of attribute predicates: subscriptions and events drawn from common prototypes.

A prototype is a set of attributes with a central value each. Subscriptions and events keep to
their prototype as far as `focus` says, which is set so that the wanted share matches. Every
predicate is a closed range of numbers, in columns for the scans and as clauses for indexes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.bench.scans import flat_scan

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_SAMPLE_SUBSCRIPTIONS, _SAMPLE_EVENTS = 20_000, 40
_CHUNK = 200_000


@dataclass(frozen=True)
class BoxShape:
    """The parameters of a workload."""

    subscriptions: int
    attributes: int = 100
    values: int | None = 100
    """How many values an attribute has, from 0; `None` for floats between 0 and 1."""
    shortest: int = 3
    longest: int = 7
    mean_length: float | None = None
    """With a mean, lengths are geometric between shortest and longest; else uniform."""
    equality: float = 0.2
    narrowest: float = 0.45
    widest: float = 0.90
    pairs: int = 30
    zipf: float = 0.0
    prototypes: int = 20
    prototype_size: int = 40
    match_ratio: float = 0.001


SHAPES = {
    "dense": BoxShape(1_000_000),
    "ads": BoxShape(
        3_000_000, attributes=122, zipf=1.0, longest=40, mean_length=8.0, pairs=20, equality=0.5
    ),
    "sparse": BoxShape(1_000_000, attributes=30_000, prototypes=300),
    "equality": BoxShape(1_000_000, equality=0.8),
    "matching": BoxShape(1_000_000, match_ratio=0.02, prototypes=10),
    "continuous": BoxShape(
        1_000_000, attributes=10, values=None, longest=5, equality=0.0, narrowest=0.01,
        widest=0.27, pairs=10, prototypes=20, prototype_size=10,
    ),
}  # fmt: skip


class Boxes:
    """A workload: subscriptions in columns, events as rows of values (NaN where absent)."""

    def __init__(self, shape: BoxShape, seed: int, events: int) -> None:
        self.shape = shape
        self.seed = seed
        self.focus = self._calibrated()
        self._draw(shape, self.focus, seed, events)

    def _calibrated(self) -> float:
        """The focus at which about the wanted share of subscriptions matches an event."""
        small = replace(
            self.shape, subscriptions=min(self.shape.subscriptions, _SAMPLE_SUBSCRIPTIONS)
        )
        low, high = 0.0, 1.0
        for _ in range(12):
            focus = (low + high) / 2
            self._draw(small, focus, self.seed, _SAMPLE_EVENTS)
            if self.match_ratio() < self.shape.match_ratio:
                low = focus
            else:
                high = focus
        return (low + high) / 2

    def _draw(self, shape: BoxShape, focus: float, seed: int, events: int) -> None:
        chance = np.random.default_rng(seed)
        weights = np.arange(1, shape.attributes + 1) ** -shape.zipf
        size = min(shape.prototype_size, shape.attributes)
        keys = chance.random((shape.prototypes, shape.attributes)) ** (1 / weights)
        self._members: Ints = np.argpartition(-keys, size - 1, axis=1)[:, :size]
        self._centers: Floats = self._values(chance, shape, (shape.prototypes, size))
        lengths = self._lengths(chance, shape, size)
        self.start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        total = int(self.start[-1])
        self.attribute = np.empty(total, np.int32)
        self.low, self.high = np.empty(total), np.empty(total)
        for first in range(0, shape.subscriptions, _CHUNK):
            self._draw_subscriptions(chance, shape, focus, lengths[first : first + _CHUNK], first)
        self.events = self._draw_events(chance, shape, focus, events)

    @staticmethod
    def _values(chance: np.random.Generator, shape: BoxShape, size: Any) -> Floats:
        drawn: Floats = (
            chance.random(size)
            if shape.values is None
            else chance.integers(0, shape.values, size).astype(np.float64)
        )
        return drawn

    @staticmethod
    def _lengths(chance: np.random.Generator, shape: BoxShape, most: int) -> Ints:
        longest, count = min(shape.longest, most), shape.subscriptions
        if shape.mean_length is None:
            return chance.integers(shape.shortest, longest + 1, count)
        extra = chance.geometric(1 / (shape.mean_length - shape.shortest + 1), count) - 1
        return np.minimum(shape.shortest + extra, longest)

    def _draw_subscriptions(
        self, chance: np.random.Generator, shape: BoxShape, focus: float, lengths: Ints, first: int
    ) -> None:
        """A stretch of subscriptions into the columns."""
        size = self._members.shape[1]
        count, longest = len(lengths), int(lengths.max())
        prototype = chance.integers(0, shape.prototypes, count)
        order = np.argpartition(chance.random((count, size)), longest - 1, axis=1)[:, :longest]
        used = np.arange(longest) < lengths[:, None]
        attribute = np.take_along_axis(self._members[prototype], order, 1)[used]
        center = np.take_along_axis(self._centers[prototype], order, 1)[used]
        near = chance.random(len(center)) < focus
        value = np.where(near, center, self._values(chance, shape, len(center)))
        domain = 1.0 if shape.values is None else float(shape.values - 1)
        width = chance.uniform(shape.narrowest, shape.widest, len(center)) * domain
        left = value - chance.random(len(center)) * width
        left = np.clip(left, 0.0, np.maximum(0.0, domain - width))
        if shape.values is not None:
            left, width = np.floor(left), np.floor(width)
        point = chance.random(len(center)) < shape.equality
        span = slice(int(self.start[first]), int(self.start[first + count]))
        self.attribute[span] = attribute
        self.low[span] = np.where(point, value, left)
        self.high[span] = np.where(point, value, left + width)

    def _draw_events(
        self, chance: np.random.Generator, shape: BoxShape, focus: float, events: int
    ) -> Floats:
        rows = np.full((events, shape.attributes), np.nan)
        pairs = min(shape.pairs, shape.attributes)
        for row in rows:
            prototype = int(chance.integers(0, shape.prototypes))
            members, centers = self._members[prototype], self._centers[prototype]
            own = min(len(members), round(pairs * max(focus, len(members) / shape.attributes)))
            chosen = chance.permutation(len(members))[:own]
            others = chance.permutation(shape.attributes)
            others = others[~np.isin(others, members)][: pairs - own]
            row[others] = self._values(chance, shape, len(others))
            near = chance.random(own) < focus
            drawn = self._values(chance, shape, own)
            row[members[chosen]] = np.where(near, centers[chosen], drawn)
        return rows

    def match_ratio(self) -> float:
        """The share of subscriptions that match an event, on average."""
        counts = [
            flat_scan(self.start, self.attribute, self.low, self.high, row).sum()
            for row in self.events
        ]
        return float(np.mean(counts)) / (len(self.start) - 1)

    def clauses(self) -> Iterator[tuple[int, list[tuple[str, str, Any]]]]:
        """The subscriptions as an index takes them."""
        starts, attributes = self.start.tolist(), self.attribute.tolist()
        lows, highs = self.low.tolist(), self.high.tolist()
        top = None if self.shape.values is None else self.shape.values - 1
        for number in range(len(starts) - 1):
            span = range(starts[number], starts[number + 1])
            yield number, [_clause(attributes[at], lows[at], highs[at], top) for at in span]

    def event_dicts(self) -> list[dict[str, float]]:
        """The events as they come to a user."""
        return [
            {f"a{at}": float(row[at]) for at in np.flatnonzero(~np.isnan(row)).tolist()}
            for row in self.events
        ]


def _clause(attribute: int, low: float, high: float, top: int | None) -> tuple[str, str, Any]:
    name = f"a{attribute}"
    if low == high:
        return name, "=", low
    if low == 0 and top is not None:
        return name, "<=", high
    if high == top:
        return name, ">=", low
    return name, "between", (low, high)
