"""Learns which sorts of events there are from a sample: a mixture of independent tests.

Expectation maximization for a Bernoulli mixture with entries missing. The selectivity of a test in
a scene is drawn towards its overall one as if so many more events had been seen (`strength`). How
many scenes there are, and that strength, are what fits events best that were held back; where no
mixture fits those better than independent tests do, beyond chance, there are no scenes.
Cost: O(events · tests · scenes) a step, some hundred steps: about a second for 300 events and
5,000 tests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tamis.numeric.types import Flags, Floats, Ints, SmallFloats

FEWEST_EVENTS = 20
MOST_EVENTS = 512
SCENES = (2, 3, 4, 5, 6, 8)
STRENGTHS = (3.0, 12.0, 40.0)
_WEAKEST, _STRONGEST = 0.3, 200.0
_TELLING = 2000
"""Tests that tell scenes from each other: those that are neither nearly always true nor false."""
_LEAST_EVENTS = 4
_STEPS = 24
_ENOUGH = 1e-5
_LEAST = 1e-4
_FARTHEST = 16.0
_SMALL = 1 << 17
_HALVINGS = 24
_FOLDS = 3
_CLEAR, _LEAST_GAIN = 2.0, 0.02
"""By how much a mixture must fit better: standard errors, and log-likelihood an event."""


@dataclass(frozen=True)
class Mixture:
    """Scenes: how frequent each is, and the selectivity of each test (columns) in it."""

    weight: Floats
    selectivity: Floats
    strength: float
    gain: float
    """By how much an event that was held back is more likely (its logarithm, on average)."""

    def with_means(self, means: Floats) -> Mixture:
        """With other means over the scenes (NaN: its own), moved by as much log-odds in each.

        Counts know how often a test is true better than a sample does. Found by bisection."""
        share = np.clip(self.selectivity, _LEAST, 1 - _LEAST)
        odds = np.log(share) - np.log1p(-share)
        low, high = np.full(len(means), -_FARTHEST), np.full(len(means), _FARTHEST)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            is_high = self.weight @ (1 / (1 + np.exp(-(odds + middle)))) > means
            low, high = np.where(is_high, low, middle), np.where(is_high, middle, high)
        moved = 1 / (1 + np.exp(-(odds + (low + high) / 2)))
        return replace(self, selectivity=np.where(np.isnan(means), self.selectivity, moved))


class _TestBlocks:
    """A matrix of events and tests, cut into blocks of tests.

    Products are made block by block, each small enough that the library behind NumPy does not
    hand it to threads: these would spin for longer than the product takes."""

    def __init__(self, rows: SmallFloats) -> None:
        self._count, self._tests = rows.shape
        width = max(8, _SMALL // (max(1, self._count) * max(SCENES)))
        blocks = -(-self._tests // width)
        padded = np.zeros((self._count, blocks * width), np.float32)
        padded[:, : self._tests] = rows
        self._blocks = np.ascontiguousarray(
            padded.reshape(self._count, blocks, width).transpose(1, 0, 2)
        )

    def times(self, of_tests: SmallFloats) -> SmallFloats:
        """Returns the sum over tests, for each event and scene."""
        blocks, _, width = self._blocks.shape
        padded = np.zeros((len(of_tests), blocks * width), np.float32)
        padded[:, : self._tests] = of_tests
        cut = padded.reshape(len(of_tests), blocks, width).transpose(1, 2, 0)
        product: SmallFloats = np.matmul(self._blocks, cut).sum(axis=0)
        return product

    def sums(self, of_events: SmallFloats) -> SmallFloats:
        """Returns the sum over events, for each scene and test."""
        cut = np.matmul(of_events.T, self._blocks).transpose(1, 0, 2)
        found: SmallFloats = cut.reshape(of_events.shape[1], -1)[:, : self._tests]
        return found


class _Events:
    """Events as arrays: rows of ones where a test was true, and of what is known."""

    def __init__(self, true: Flags, known: Flags) -> None:
        self.true, self.known = true & known, known
        self.count = len(true)
        self.is_whole = bool(known.all())
        tested = known.sum(axis=0, dtype=np.float64)
        found = self.true.sum(axis=0, dtype=np.float64)
        self.share: SmallFloats = ((found + 0.5) / (tested + 1.0)).astype(np.float32)
        self._true = _TestBlocks(self.true.astype(np.float32))
        self._known = None if self.is_whole else _TestBlocks(known.astype(np.float32))

    def some(self, chosen: Flags) -> _Events:
        """Returns some of the events."""
        return _Events(self.true[chosen], self.known[chosen])

    def likelihood(self, selectivity: SmallFloats) -> Floats:
        """Returns the logarithm of each event's likelihood in each scene."""
        log, log_not = np.log(selectivity), np.log1p(-selectivity)
        found = self._true.times(log - log_not)
        found += log_not.sum(axis=1) if self._known is None else self._known.times(log_not)
        return found.astype(np.float64)

    def selectivity(self, belongs: SmallFloats, strength: float) -> SmallFloats:
        """Returns how often tests are true in scenes, given how far each event belongs to each."""
        found = self._true.sums(belongs) + strength * self.share
        seen = belongs.sum(axis=0)[:, None] if self._known is None else self._known.sums(belongs)
        selectivity: SmallFloats = np.clip(found / (seen + strength), _LEAST, 1 - _LEAST)
        return selectivity.astype(np.float32)


@dataclass
class _Fit:
    weight: Floats
    selectivity: SmallFloats

    def joint(self, events: _Events) -> Floats:
        return events.likelihood(self.selectivity) + np.log(self.weight)

    def belonging(self, events: _Events) -> SmallFloats:
        joint = self.joint(events)
        return np.exp(joint - _log_sum(joint)[:, None]).astype(np.float32)


def fitted(true: Flags, known: Flags) -> Mixture | None:
    """Fits scenes to the truths of tests (columns) in events (rows); `None` if there are none."""
    true, known = true[-MOST_EVENTS:], known[-MOST_EVENTS:]
    if len(true) < FEWEST_EVENTS or not true.shape[1]:
        return None
    everything = _Events(true, known)
    telling = np.argsort(everything.share * (everything.share - 1), kind="stable")[:_TELLING]
    told = _Events(true[:, telling], known[:, telling])
    chance = np.random.default_rng(0)
    fold = chance.permutation(len(true)) % _FOLDS
    halves = [(told.some(fold != at), told.some(fold == at)) for at in range(_FOLDS)]
    searches = [_Search(seen) for seen, _ in halves]

    def likelihood(count: int, strength: float) -> Floats:
        """Returns the logarithm of the likelihood of each event that was held back."""
        fits = [search.fit(count, strength) for search in searches]
        joints = [fit.joint(held) for fit, (_, held) in zip(fits, halves, strict=True)]
        return np.concatenate([_log_sum(joint) for joint in joints])

    alone = max((likelihood(1, some) for some in STRENGTHS), key=np.mean)
    best, scenes, strength = alone, 1, 0.0
    for some in STRENGTHS:
        for count in SCENES:
            if count * _LEAST_EVENTS <= len(true):
                found = likelihood(count, some)
                if found.mean() > best.mean():
                    best, scenes, strength = found, count, some
    gain = best - alone
    if gain.mean() < max(_LEAST_GAIN, _CLEAR * gain.std() / np.sqrt(len(gain))):
        return None
    for factor in (0.5, 2.0):
        while _WEAKEST < factor * strength < _STRONGEST:
            found = likelihood(scenes, factor * strength)
            if found.mean() <= best.mean():
                break
            best, strength = found, factor * strength
    fit = _Search(told).fit(scenes, strength)
    weight, belongs = fit.weight, fit.belonging(told)
    order = np.argsort(-weight, kind="stable")
    selectivity = everything.selectivity(belongs[:, order], strength).astype(np.float64)
    return Mixture(weight[order], selectivity, strength, float((best - alone).mean()))


class _Search:
    """Looks for so many scenes among some events."""

    def __init__(self, events: _Events) -> None:
        self._events = events
        spread = np.sqrt(events.share * (1 - events.share))
        points = (events.true - events.share) / np.maximum(spread, 0.05) * events.known
        self._labels = ward(points, max(SCENES))

    def fit(self, scenes: int, strength: float) -> _Fit:
        """Scenes that begin as groups of events."""
        events, labels = self._events, self._labels[scenes]
        belongs = np.zeros((events.count, scenes), np.float32)
        belongs[np.arange(events.count), labels] = 1.0
        fit = _Fit(belongs.mean(axis=0, dtype=np.float64), events.selectivity(belongs, strength))
        return _stepped(fit, events, strength, _STEPS)


def ward(points: SmallFloats, most: int) -> dict[int, Ints]:
    """Groups of points by Ward's method: for every number of groups up to `most`, their labels."""
    count = len(points)
    squares = np.einsum("ij,ij->i", points, points)
    apart = (squares[:, None] + squares[None, :] - 2 * (points @ points.T)).astype(np.float64)
    apart /= 2.0
    np.fill_diagonal(apart, np.inf)
    size = np.ones(count)
    label = np.arange(count)
    found: dict[int, Ints] = {}
    for groups in range(count, 0, -1):
        if groups <= most:
            found[groups] = np.unique(label, return_inverse=True)[1].astype(np.int64)
        if groups == 1:
            break
        one, other = divmod(int(np.argmin(apart)), count)
        whole = size + size[one] + size[other]
        joined = (size + size[one]) * apart[one] + (size + size[other]) * apart[other]
        with np.errstate(invalid="ignore"):
            joined = (joined - size * apart[one, other]) / whole
        joined[~np.isfinite(joined)] = np.inf
        joined[one] = np.inf
        apart[one] = apart[:, one] = joined
        apart[other] = apart[:, other] = np.inf
        size[one] += size[other]
        label[label == other] = one
    return found


def _stepped(fit: _Fit, events: _Events, strength: float, steps: int) -> _Fit:
    """Returns some steps of expectation and maximization."""
    before = -np.inf
    for _ in range(steps):
        joint = fit.joint(events)
        whole = _log_sum(joint)
        now = float(whole.sum())
        if now - before < _ENOUGH * abs(now):
            break
        before = now
        belongs = np.exp(joint - whole[:, None]).astype(np.float32)
        weight = (belongs.sum(axis=0, dtype=np.float64) + 1.0) / (events.count + len(fit.weight))
        fit = _Fit(weight, events.selectivity(belongs, strength))
    return fit


def _log_sum(joint: Floats) -> Floats:
    top: Floats = joint.max(axis=1)
    whole: Floats = np.log(np.exp(joint - top[:, None]).sum(axis=1))
    return top + whole
