"""Draws workloads of numeric attribute predicates: subscriptions and events of many shapes.

Without a wanted match rate everything is drawn independently. With one, subscriptions and events
come from common prototypes (attributes with a central value each): how many prototypes there are
and how closely they are kept to (`focus`) follow from the rate. Every predicate is a closed range
of numbers. A tenth of the subscriptions are spare: they replace others while the index lives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis_bench.kernels import NO_SETS, Extra, Floats, Ints, drawn, scanned

Clause = tuple[str, str, Any]

SPARE = 0.1
"""Spare subscriptions for each of the first ones."""
_SAMPLE_SUBSCRIPTIONS, _SAMPLE_EVENTS = 20_000, 40
_STEPS = 12
_CHUNK = 200_000
_PROTOTYPES = (200, 100, 50, 20, 10, 5, 2, 1)
_COMFORTABLE = 0.9
"""The focus at which the wanted rate should be reached, so that prototypes keep their variety."""
_STRAYS, _STRAYS_UNTIL = 0.5, 0.05
"""The share of subscriptions that follow no prototype, and the match rate up to which there are."""


@dataclass(frozen=True)
class BoxShape:
    """The parameters of a workload."""

    subscriptions: int
    attributes: int = 100
    values: int | None = 100
    """The number of an attribute's values, from 0; `None` for floats between 0 and 1."""
    shortest: int = 3
    longest: int = 7
    mean_length: float | None = None
    """With a mean, lengths are geometric between shortest and longest; else uniform."""
    equality: float = 0.2
    narrowest: float = 0.45
    widest: float = 0.90
    pairs: int = 30
    zipf: float = 0.0
    prototypes: int | None = None
    """Their number where a match rate is wanted; `None`: as many as allow that rate."""
    prototype_size: int = 40
    match_ratio: float | None = None
    """The share of the subscriptions that is to match an event; `None`: as it comes."""


SHAPES = {
    "dense": BoxShape(1_000_000),
    "dense3m": BoxShape(3_000_000),
    "ads": BoxShape(
        3_000_000, attributes=122, zipf=1.0, longest=40, mean_length=8.0, pairs=20, equality=0.5
    ),
    "sparse": BoxShape(1_000_000, attributes=30_000, match_ratio=0.001, prototypes=50),
    "equality": BoxShape(1_000_000, equality=0.8, match_ratio=0.001, prototypes=20),
    "matching": BoxShape(1_000_000, match_ratio=0.02, prototypes=3),
    "continuous": BoxShape(
        1_000_000, attributes=10, values=None, longest=5, equality=0.0, narrowest=0.01,
        widest=0.30, pairs=10,
    ),
}  # fmt: skip


class Groups:
    """Groups of candidates, each candidate with a weight, from which is drawn."""

    def __init__(self, weights: list[Floats]) -> None:
        self._offset = np.concatenate([[0], np.cumsum([len(each) for each in weights])])
        cumulative = [np.cumsum(each) for each in weights]
        self._cumulative = np.concatenate([each / each[-1] for each in cumulative])

    def draw(self, chance: np.random.Generator, group: Ints, start: Ints) -> Ints:
        """Returns as many different candidates as `start` says, for each row from its group."""
        total = int(start[-1])
        return drawn(
            self._offset, self._cumulative, group, start, chance.random(total), chance.random(total)
        )


class Boxes:
    """A workload: subscriptions in columns, events as rows of values (NaN where absent)."""

    def __init__(self, name: str, shape: BoxShape, seed: int, events: int) -> None:
        self.name = name
        self.seed = seed
        self.count = shape.subscriptions
        self.prototypes, self.focus, self.shape = _calibrated(shape, seed)
        spare = max(1, round(SPARE * self.count))
        drawn = _Drawn(
            replace(self.shape, subscriptions=self.count + spare),
            self.prototypes, self.focus, seed, events,
        )  # fmt: skip
        self.start, self.attribute = drawn.start, drawn.attribute
        self.low, self.high, self.events = drawn.low, drawn.high, drawn.events
        self.names = [f"a{at}" for at in range(shape.attributes)]
        self.extra: Extra | None = None
        """What a predicate is instead of a range: `RANGE`, `DIFFERENT` (from `low`), or which of
        the sets; `None` where all are ranges."""
        self.sets = NO_SETS
        """Sets of values from 0 to 127, as bits; `low` and `high` are the least and the last."""

    def __len__(self) -> int:
        """Counts the subscriptions, spare ones included."""
        return len(self.start) - 1

    @property
    def mean_length(self) -> float:
        """Returns how many predicates a subscription has."""
        return len(self.attribute) / len(self)

    def clauses(self, rows: Sequence[int] | Ints) -> Iterator[tuple[int, list[Clause]]]:
        """Yields subscriptions as an index takes them one by one."""
        for row in rows:
            places = range(int(self.start[row]), int(self.start[row + 1]))
            yield int(row), [self._clause(at) for at in places]

    def _clause(self, at: int) -> Clause:
        name, low, high = self.names[self.attribute[at]], float(self.low[at]), float(self.high[at])
        top = None if self.shape.values is None else self.shape.values - 1
        if low == high:
            return name, "=", low
        if low == 0 and top is not None:
            return name, "<=", high
        if high == top:
            return name, ">=", low
        return name, "between", (low, high)

    def event_dicts(self) -> list[dict[str, Any]]:
        """Returns the events as they come to a user."""
        return [
            {self.names[at]: float(row[at]) for at in np.flatnonzero(~np.isnan(row)).tolist()}
            for row in self.events
        ]


class _Drawn:
    """One draw of subscriptions and events."""

    def __init__(
        self, shape: BoxShape, prototypes: int, focus: float, seed: int, events: int
    ) -> None:
        self._shape, self._focus, self._prototypes = shape, focus, prototypes
        self._chance = chance = np.random.default_rng(seed)
        weights = np.arange(1.0, shape.attributes + 1) ** -shape.zipf
        size = min(max(shape.prototype_size, shape.pairs), shape.attributes)
        every = Groups([weights])
        members = every.draw(
            chance, np.zeros(prototypes, np.int64), size * np.arange(prototypes + 1)
        ).reshape(prototypes, size)
        self._members = members
        self._centers = self._values((prototypes, size))
        self._groups = Groups([*(weights[each] for each in members), weights])
        self._own = Groups([weights[each] for each in members]) if prototypes else every
        lengths = self._lengths()
        self._group = np.full(shape.subscriptions, prototypes)
        if prototypes:
            self._group = chance.integers(0, prototypes, shape.subscriptions)
            self._group[chance.random(shape.subscriptions) < strays(shape)] = prototypes
            lengths = np.minimum(lengths, np.where(self._group < prototypes, size, lengths))
        self.start: Ints = np.concatenate([[0], np.cumsum(lengths)])
        total = int(self.start[-1])
        self.attribute = np.empty(total, np.int32)
        self.low, self.high = np.empty(total), np.empty(total)
        for first in range(0, shape.subscriptions, _CHUNK):
            self._draw_subscriptions(first, min(first + _CHUNK, shape.subscriptions))
        self.events: Floats = np.stack([self._event(weights) for _ in range(events)])

    def _values(self, size: int | tuple[int, ...]) -> Floats:
        shape, chance = self._shape, self._chance
        if shape.values is None:
            return chance.random(size)
        return chance.integers(0, shape.values, size).astype(np.float64)

    def _lengths(self) -> Ints:
        shape, chance = self._shape, self._chance
        longest, count = min(shape.longest, shape.attributes), shape.subscriptions
        shortest = min(shape.shortest, longest)
        if shape.mean_length is None:
            return chance.integers(shortest, longest + 1, count)
        extra = chance.geometric(1 / (shape.mean_length - shortest + 1), count) - 1
        return np.minimum(shortest + extra, longest)

    def _draw_subscriptions(self, first: int, last: int) -> None:
        """Draws a stretch of subscriptions into the columns."""
        shape, chance, group = self._shape, self._chance, self._group[first:last]
        start = self.start[first : last + 1] - self.start[first]
        each = np.repeat(group, np.diff(start))
        drawn = self._groups.draw(chance, group, start)
        value = self._values(len(drawn))
        near = np.zeros(len(drawn), np.bool_)
        attribute = drawn.astype(np.int32)
        follows = np.flatnonzero(each < self._prototypes)
        if len(follows):
            prototype, place = each[follows], drawn[follows]
            attribute[follows] = self._members[prototype, place]
            near[follows] = chance.random(len(follows)) < self._focus
            centers = self._centers[prototype, place]
            value[follows] = np.where(near[follows], centers, value[follows])
        low, high = self._ranges(value, near)
        point = chance.random(len(drawn)) < shape.equality
        span = slice(int(self.start[first]), int(self.start[last]))
        self.attribute[span] = attribute
        self.low[span] = np.where(point, value, low)
        self.high[span] = np.where(point, value, high)

    def _ranges(self, value: Floats, near: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Returns ranges of the wanted widths around values; on floats no two bounds are alike."""
        shape, chance = self._shape, self._chance
        width = chance.uniform(shape.narrowest, shape.widest, len(value))
        share = chance.random(len(value))
        if shape.values is None:
            anywhere = share * (1 - width)
            low = np.where(near, np.clip(value - share * width, 0, 1 - width), anywhere)
            return low, low + width
        domain = shape.values - 1
        width = np.clip(np.floor(width * domain), min(1, domain), max(1, domain - 1))
        low = np.clip(value - np.floor(share * (width + 1)), 0, np.maximum(0, domain - width))
        return low, np.minimum(low + width, domain)

    def _event(self, weights: Floats) -> Floats:
        """Draws an event: pairs of its prototype, as many as the focus says, and others."""
        shape, chance = self._shape, self._chance
        row: Floats = np.full(shape.attributes, np.nan)
        pairs = min(shape.pairs, shape.attributes)
        own = 0
        weights = weights.copy()
        if self._prototypes:
            prototype = int(chance.integers(0, self._prototypes))
            members, centers = self._members[prototype], self._centers[prototype]
            own = round(pairs * max(self._focus, len(members) / shape.attributes))
            own = max(min(own, len(members)), pairs - (shape.attributes - len(members)))
            chosen = self._own.draw(chance, np.array([prototype]), np.array([0, own]))
            near = chance.random(own) < self._focus
            row[members[chosen]] = np.where(near, centers[chosen], self._values(own))
            weights[members] = 0
        if own < pairs:
            others = np.flatnonzero(weights)
            drawn = Groups([weights[others]]).draw(
                chance, np.zeros(1, np.int64), np.array([0, pairs - own])
            )
            row[others[drawn]] = self._values(pairs - own)
        return row

    def match_ratio(self) -> float:
        """Returns the share of subscriptions that match an event, on average."""
        start, found = self.start.astype(np.int32), np.empty(len(self.start), np.int64)
        columns = (start, self.attribute, self.low, self.high, None, NO_SETS)
        counts = [scanned(*columns, event, 0, None, found) for event in self.events]
        return float(np.mean([count / (len(self.start) - 1) for count in counts]))


def strays(shape: BoxShape) -> float:
    """Returns the share of the subscriptions that follow no prototype."""
    wanted = shape.match_ratio
    return _STRAYS if wanted is not None and wanted <= _STRAYS_UNTIL else 0.0


def _calibrated(shape: BoxShape, seed: int) -> tuple[int, float, BoxShape]:
    """Finds prototypes, focus and shape with which about the wanted share of subscriptions matches.

    The shape is another one only where even unrelated subscriptions would match too often: then
    its ranges are narrower."""
    wanted = shape.match_ratio
    if wanted is None:
        return 0, 0.0, shape
    small = replace(shape, subscriptions=min(shape.subscriptions, _SAMPLE_SUBSCRIPTIONS))

    def ratio(prototypes: int, focus: float, narrower: float = 1.0) -> float:
        drawn = _Drawn(_narrower(small, narrower), prototypes, focus, seed, _SAMPLE_EVENTS)
        return drawn.match_ratio()

    prototypes = shape.prototypes
    if prototypes is None:
        if ratio(0, 0.0) > wanted:
            least = _rising(lambda share: ratio(0, 0.0, share), wanted)
            return 0, 0.0, _narrower(shape, least)
        allowing = (each for each in _PROTOTYPES if ratio(each, _COMFORTABLE) >= wanted)
        prototypes = next(allowing, _PROTOTYPES[-1])
    return prototypes, _rising(lambda focus: ratio(prototypes, focus), wanted), shape


def _narrower(shape: BoxShape, share: float) -> BoxShape:
    return replace(shape, narrowest=shape.narrowest * share, widest=shape.widest * share)


def _rising(ratio: Any, wanted: float) -> float:
    """Finds where a function that rises between 0 and 1 reaches what is wanted."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if ratio(middle) < wanted else (low, middle)
    return (low + high) / 2
