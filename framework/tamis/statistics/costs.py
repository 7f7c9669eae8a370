"""Follows what something costs, one measurement after the other, while it may change.

A mean over about the last so many measurements, in which a single one can raise the mean to a few
times itself at most: a pause of the machine passes, and what stays ten or a hundred times dearer is
known for it after a handful. Cost: O(1) a measurement.
"""

from __future__ import annotations

MEMORY = 64
_STEEPEST = 8.0
_LEAST_SECONDS = 1e-6
_WARM = 4
"""Measurements after which a much cheaper one no longer says that the first ones were loading."""


class Cost:
    """The mean of the latest measurements in seconds."""

    __slots__ = ("mean", "weight")

    def __init__(self) -> None:
        self.weight = 0.0
        self.mean = 0.0

    def add(self, seconds: float) -> None:
        """Takes a measurement."""
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
        weight = self.weight = min(weight + 1.0, MEMORY)
        self.mean = mean + (seconds - mean) / weight

    def expected(self, prior: float, strength: float) -> float:
        """The cost, with a prior that counts as so many measurements."""
        weight = self.weight
        if not weight:
            return prior
        return (weight * self.mean + strength * prior) / (weight + strength)

    def after_declared(self, declared: float) -> float:
        """The cost, where somebody declared one: as good as a measurement at first, but a guess."""
        weight = self.weight
        if not weight:
            return declared
        return (weight * self.mean + declared / weight) / (weight + 1.0 / weight)


class BatchCost:
    """What an invocation costs by the calls it makes: a line, by decaying least squares."""

    __slots__ = ("_size", "_size_seconds", "_square", "seconds", "weight")

    def __init__(self) -> None:
        self.weight = self.seconds = self._size = self._square = self._size_seconds = 0.0

    def add(self, size: int, seconds: float, weight: float) -> None:
        """Takes an invocation, or the part of one that a call of it stands for."""
        if self.weight >= MEMORY:
            keep = 1.0 - weight / MEMORY
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
        """The cost of a call by itself, and of one more, where these were declared.

        The declared line is scaled to the mean of what was measured and stands for one invocation
        of one call and one of twice as many as usual: sizes that never differed say nothing of
        the slope."""
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
