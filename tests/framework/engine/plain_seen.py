"""Follows shares and costs by an object each, as plainly as can be: what rows are compared with."""

from __future__ import annotations

from collections import deque
from functools import cache

import numpy as np

from tamis.operators.asking import Solution
from tamis.statistics import PredicateStatistics

MEMORY, WINDOW, COST_MEMORY = 256, 16, 64
_FEWEST, _KEPT, _SURPRISE, _DOUBT = 4, 8, 12.0, 3.0
_GRID, _FARTHEST = 2048, 14.0
_STEEPEST, _LEAST_SECONDS, _WARM = 8.0, 1e-6, 4
_FAILURE_MEMORY, _SURPRISING_FAILURE, _SOUND = 32, 0.1, 4.0
_FRESH, _HALF_LIFE, _FAILURE_HALF_LIFE = 32, 1024.0, 256.0
PRIOR_OUTCOMES = 2.0


class Share:
    def __init__(self) -> None:
        self.weight = 0.0
        self.true = 0.0

    def add(self, truth: bool | int, memory: int = MEMORY) -> None:
        if self.weight >= memory:
            keep = 1.0 - 1.0 / memory
            self.weight *= keep
            self.true *= keep
        self.weight += 1.0
        self.true += truth

    def fade(self, left: float) -> None:
        self.weight *= left
        self.true *= left

    def mean(self, prior: float, strength: float, faded: float = 1.0) -> float:
        weight = faded * self.weight + strength
        return (faded * self.true + strength * prior) / weight if weight else prior


class DriftingShare(Share):
    def __init__(self) -> None:
        super().__init__()
        self._latest = 1

    def is_surprised(self, truth: bool | int, given: float = 0.5, strength: float = 0.0) -> bool:
        self.add(truth)
        latest = self._latest << 1 | truth
        if latest >> WINDOW + 1:
            latest = latest & (1 << WINDOW) - 1 | 1 << WINDOW
        self._latest = latest
        length = latest.bit_length() - 1
        if length < _FEWEST:
            return False
        true = latest.bit_count() - 1
        before, true_before = self.weight - length, self.true - true
        if before <= 0.0 or true_before < 0.0:
            before = true_before = 0.0
        expected = true_before + strength * given + _DOUBT * true / length
        expected /= before + strength + _DOUBT
        low, high = _credible()[length][true]
        if low <= expected <= high:
            return False
        kept = min(length, _KEPT)
        self._latest = latest & (1 << kept) - 1 | 1 << kept
        self.weight = float(kept)
        self.true = float(self._latest.bit_count() - 1)
        return True


@cache
def _credible() -> list[list[tuple[float, float]]]:
    odds = np.exp(np.linspace(-_FARTHEST, _FARTHEST, _GRID))
    shares = np.concatenate([[0.0], odds / (1 + odds), [1.0]])
    table: list[list[tuple[float, float]]] = [[] for _ in range(_FEWEST)]
    with np.errstate(divide="ignore", invalid="ignore"):
        log, log_not = np.log(shares), np.log1p(-shares)
        for length in range(_FEWEST, WINDOW + 1):
            row = []
            for true in range(length + 1):
                found = true / length
                expected = np.where(true > 0, found * (np.log(found) - log), 0.0)
                expected += np.where(true < length, (1 - found) * (np.log1p(-found) - log_not), 0.0)
                fine = np.flatnonzero(length * expected <= _SURPRISE)
                row.append((float(shares[fine[0]]), float(shares[fine[-1]])))
            table.append(row)
    return table


class Cost:
    def __init__(self) -> None:
        self.weight = 0.0
        self.mean = 0.0

    def add(self, seconds: float) -> None:
        weight, mean = self.weight, self.mean
        if weight < 1.0:
            self.weight, self.mean = 1.0, seconds
            return
        if weight <= _WARM and seconds * _STEEPEST < mean:
            self.weight, self.mean = 1.0, seconds
            return
        most = (weight if weight > _STEEPEST else _STEEPEST) * mean
        if seconds > most:
            seconds = min(seconds, max(most, weight * _LEAST_SECONDS))
        weight = self.weight = min(weight + 1.0, COST_MEMORY)
        self.mean = mean + (seconds - mean) / weight

    def expected(self, prior: float, strength: float) -> float:
        weight = self.weight
        if not weight:
            return prior
        return (weight * self.mean + strength * prior) / (weight + strength)

    def after_declared(self, declared: float) -> float:
        weight = self.weight
        if not weight:
            return declared
        return (weight * self.mean + declared / weight) / (weight + 1.0 / weight)


class BatchCost:
    def __init__(self) -> None:
        self.weight = self.seconds = self._size = self._square = self._size_seconds = 0.0

    def add(self, size: int, seconds: float, weight: float) -> None:
        if self.weight >= COST_MEMORY:
            keep = 1.0 - weight / COST_MEMORY
            self.weight *= keep
            self.seconds *= keep
            self._size *= keep
            self._square *= keep
            self._size_seconds *= keep
        self.weight += weight
        self.seconds += weight * seconds
        self._size += weight * size
        self._square += weight * size * size
        self._size_seconds += weight * size * seconds

    def line(self, cost: float, marginal: float) -> tuple[float, float]:
        if not self.weight:
            return cost, marginal
        usual = self._size / self.weight
        mean = self.seconds / self.weight
        declared = cost + marginal * (usual - 1.0)
        scale = mean / declared if declared > 0 else 0.0
        weight, seconds, size = self.weight, self.seconds, self._size
        square, size_seconds = self._square, self._size_seconds
        for pseudo in (1.0, 2.0 * usual):
            expected = scale * (cost + marginal * (pseudo - 1.0))
            weight += 0.5
            seconds += 0.5 * expected
            size += 0.5 * pseudo
            square += 0.5 * pseudo * pseudo
            size_seconds += 0.5 * pseudo * expected
        spread = weight * square - size * size
        slope = (weight * size_seconds - size * seconds) / spread if spread > 0 else 0.0
        slope = max(0.0, slope)
        alone = max(0.0, (seconds - slope * size) / weight) + slope
        return alone, min(slope, alone)


def faded(pause: int, half_life: float = _HALF_LIFE) -> float:
    return 1.0 if pause <= _FRESH else float(0.5 ** ((pause - _FRESH) / half_life))


class Failing(DriftingShare):
    def __init__(self) -> None:
        super().__init__()
        self.at = 0
        self.made = 0

    def left(self, now: int) -> float:
        return faded(now - self.at, _FAILURE_HALF_LIFE)

    def take(self, failed: bool, now: int) -> bool:
        if self.weight and now - self.at > _FRESH:
            self.fade(self.left(now))
        self.at = now
        made = self.made
        self.made = made + 1
        if not self.weight:
            if not failed:
                return False
            self.weight = float(min(made, _FAILURE_MEMORY - 1))
        is_new = failed and self.true < _SURPRISING_FAILURE * self.weight
        return self.is_surprised(failed) or is_new


class SeenOperator:
    def __init__(self, plain: float, guarded: float) -> None:
        self.averages = ((Share(), plain), (Share(), guarded))
        self.failing = Failing()
        self.cost = Cost()
        self.pace = Cost()
        self.batch = BatchCost()

    def failure(self, now: int) -> float:
        return self.failing.mean(0.0, _SOUND, self.failing.left(now))


class SeenCall:
    def __init__(
        self, operator: SeenOperator, given: float | None = None, strength: float = 0.0
    ) -> None:
        self.operator = operator
        self.given = given
        self.strength = strength
        self.at = 0
        self.cost = Cost()
        self.failing = Failing()
        self.guarded = Share()
        self.failed = self.satisfied = self.measured = 0
        self.seconds = 0.0
        self.answers: deque[list[Solution]] | None = None

    def take(self, failed: bool, now: int) -> bool:
        self.at = now
        self.failed += failed
        self.operator.failing.take(failed, now)
        return self.failing.take(failed, now)

    def failure(self, history: float, now: int) -> float:
        prior = max(history, self.operator.failure(now))
        return self.failing.mean(prior, PRIOR_OUTCOMES, self.failing.left(now))

    def counted(self) -> PredicateStatistics:
        return PredicateStatistics(
            tested=self.failing.made,
            satisfied=self.satisfied,
            failed=self.failed,
            cost_seconds=self.cost_seconds,
            measured=self.measured,
        )

    @property
    def cost_seconds(self) -> float | None:
        return self.seconds / self.measured if self.measured else None


class SeenTest(DriftingShare):
    def __init__(self, call: SeenCall, is_guarded: bool) -> None:
        super().__init__()
        self.call = call
        self.is_guarded = is_guarded
        self.at = 0
        self.tested = self.satisfied = self.failed = 0
        self.has_drifted = False
        self.given = 0.0
        self.strength = 0.0

    def take(self, truth: int, now: int) -> bool:
        if now - self.at > _FRESH:
            self.fade(faded(now - self.at))
        self.at = now
        self.satisfied += truth
        has_drifted = self.is_surprised(truth, self.given, self.strength)
        if has_drifted:
            self.has_drifted = True
            self.strength = 0.0
        self.call.operator.averages[self.is_guarded][0].add(truth)
        if self.is_guarded:
            self.call.guarded.add(truth)
        return has_drifted

    def expected(self, now: int) -> float:
        weight, true = self.weight, self.true
        if now - self.at > _FRESH:
            left = faded(now - self.at)
            weight, true = left * weight, left * true
        strength = self.strength
        if strength:
            return (true + strength * self.given) / (weight + strength)
        prior = inherited(self.call, self.is_guarded)
        return (true + PRIOR_OUTCOMES * prior) / (weight + PRIOR_OUTCOMES)


def inherited(call: SeenCall, is_guarded: bool) -> float:
    share, prior = call.operator.averages[is_guarded]
    expected = share.mean(prior, PRIOR_OUTCOMES)
    return call.guarded.mean(expected, PRIOR_OUTCOMES) if is_guarded else expected
