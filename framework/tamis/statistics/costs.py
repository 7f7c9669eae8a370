"""Follows what something costs, one measurement after the other, while it may change.

A mean over about the last so many measurements, in which a single one can raise the mean to a few
times itself at most: a pause of the machine passes, and what stays ten or a hundred times dearer is
known for it after a handful. A cost is two numbers of a row, its weight and its mean; the cost of
batches is five: weight, seconds, sizes, their squares, and sizes by seconds, all as weighted sums.
Cost: O(1) a measurement.
"""

from __future__ import annotations

from tamis.numeric.kernels import portable
from tamis.numeric.types import Floats

MEMORY = 64.0
_STEEPEST = 8.0
_LEAST_SECONDS = 1e-6
_WARM = 4.0
"""Measurements after which a much cheaper one no longer says that the first ones were loading."""


@portable
def add_cost(row: Floats, at: int, seconds: float) -> None:
    """Takes a measurement of the cost at a column."""
    weight, mean = row[at], row[at + 1]
    if weight < 1.0 or (weight <= _WARM and seconds * _STEEPEST < mean):
        row[at] = 1.0
        row[at + 1] = seconds
        return
    most = (weight if weight > _STEEPEST else _STEEPEST) * mean
    if seconds > most:
        seconds = min(seconds, max(most, weight * _LEAST_SECONDS))
    weight = weight + 1.0 if weight < MEMORY else MEMORY
    row[at] = weight
    row[at + 1] = mean + (seconds - mean) / weight


@portable
def after_declared(row: Floats, at: int, declared: float) -> float:
    """Returns the cost, where one was declared: as good as a measurement at first, but a guess."""
    weight: float = row[at]
    if weight == 0.0:
        return declared
    cost: float = (weight * row[at + 1] + declared / weight) / (weight + 1.0 / weight)
    return cost


@portable
def add_invocation(row: Floats, at: int, size: int, seconds: float, weight: float) -> None:
    """Takes an invocation of so many calls, or the part of one that a call of it stands for."""
    if row[at] >= MEMORY:
        keep = 1.0 - weight / MEMORY
        for column in range(at, at + 5):
            row[column] *= keep
    row[at] += weight
    row[at + 1] += weight * seconds
    row[at + 2] += weight * size
    row[at + 3] += weight * size * size
    row[at + 4] += weight * size * seconds


@portable
def batch_line(row: Floats, at: int, cost: float, marginal: float) -> tuple[float, float]:
    """Returns the cost of a call by itself, and of one more, where these were declared.

    Least squares. The declared line is scaled to the mean of what was measured and stands for one
    invocation of one call and one of twice as many as usual: sizes that never differed say nothing
    of the slope."""
    weight, seconds, size = row[at], row[at + 1], row[at + 2]
    square, size_seconds = row[at + 3], row[at + 4]
    if weight == 0.0:
        return cost, marginal
    usual = size / weight
    declared = cost + marginal * (usual - 1.0)
    scale = (seconds / weight) / declared if declared > 0.0 else 0.0
    for pseudo in (1.0, 2.0 * usual):
        expected = scale * (cost + marginal * (pseudo - 1.0))
        weight += 0.5
        seconds += 0.5 * expected
        size += 0.5 * pseudo
        square += 0.5 * pseudo * pseudo
        size_seconds += 0.5 * pseudo * expected
    spread = weight * square - size * size
    slope = (weight * size_seconds - size * seconds) / spread if spread > 0.0 else 0.0
    slope = max(0.0, slope)
    alone = max(0.0, (seconds - slope * size) / weight) + slope
    return alone, min(slope, alone)
