"""Follows how often something is true, one outcome after the other, while it may change.

A share is a mean over about the last so many outcomes. Where the latest few are too unlikely under
what was known before, all of that is dropped at once: the stream has drifted. Kullback and Leibler:
under a share p, a share q of m outcomes has a chance of about exp(-m·KL(q, p)).
A share is two numbers of a row: its weight, and what of that was true. A row that begins with one
may drift: its next numbers are the latest outcomes.
Cost: O(1) an outcome, a few additions and a look-up.
"""

from __future__ import annotations

import numpy as np

from tamis.numeric.kernels import portable
from tamis.numeric.types import Floats, Ints

WEIGHT, TRUE, BITS, LENGTH, ONES = range(5)
"""Columns of a share that may drift: the last three are the latest outcomes, as bits, how many
there are, and how many of them were true."""
MEMORY = 256.0
"""Outcomes that a share is the mean of, at most: enough to know it to within three percent."""
WINDOW = 16
_OLDEST, _ALL, _STRIDE = WINDOW - 1, (1 << WINDOW) - 1, WINDOW + 1
_KEEP = 1.0 - 1.0 / MEMORY
_FEWEST = 4
_KEPT = 8
_SURPRISE = 12.0
"""As a negative logarithm: an alarm without a cause in 160,000 outcomes."""
_DOUBT = 3.0
"""Outcomes like the latest that those before are credited with: few of them prove little."""
_GRID, _FARTHEST = 2048, 14.0


@portable
def add_outcome(row: Floats, at: int, truth: int) -> None:
    """Takes an outcome of the share at a column."""
    if row[at] >= MEMORY:
        row[at] *= _KEEP
        row[at + 1] *= _KEEP
    row[at] += 1.0
    row[at + 1] += truth


@portable
def mean(row: Floats, at: int, prior: float, strength: float, left: float) -> float:
    """Returns the share, of which so much is left, with a prior that counts as so many outcomes."""
    weight: float = left * row[at] + strength
    if weight == 0.0:
        return prior
    share: float = (left * row[at + 1] + strength * prior) / weight
    return share


@portable
def is_surprised(row: Floats, truth: int, given: float, strength: float, credible: Floats) -> bool:
    """Takes an outcome; whether the latest refute those before and what was given as well.

    Then only the last few outcomes count, and what was given should not any more."""
    add_outcome(row, WEIGHT, truth)
    bits, length, true = int(row[BITS]), row[LENGTH], row[ONES] + truth
    if length < WINDOW:
        length += 1.0
        row[LENGTH] = length
    else:
        true -= bits >> _OLDEST
    bits = (bits << 1 | truth) & _ALL
    row[BITS] = bits
    row[ONES] = true
    if length < _FEWEST:
        return False
    before, true_before = row[WEIGHT] - length, row[TRUE] - true
    if before <= 0.0 or true_before < 0.0:
        before = true_before = 0.0
    expected = true_before + strength * given + _DOUBT * true / length
    expected /= before + strength + _DOUBT
    limits = credible[int(length * _STRIDE + true)]
    if limits[0] <= expected <= limits[1]:
        return False
    kept = min(int(length), _KEPT)
    bits &= (1 << kept) - 1
    true = 0.0
    for place in range(kept):
        true += bits >> place & 1
    row[BITS] = bits
    row[WEIGHT] = row[LENGTH] = float(kept)
    row[TRUE] = row[ONES] = true
    return True


def credible_shares() -> Floats:
    """Returns the lowest and the highest share under which the latest outcomes are no surprise.

    Its rows are `length * (WINDOW + 1) + true`, for so many outcomes of which so many are true."""
    odds = np.exp(np.linspace(-_FARTHEST, _FARTHEST, _GRID))
    shares = np.concatenate([[0.0], odds / (1 + odds), [1.0]])
    limits = np.zeros((_STRIDE**2, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        log, log_not = np.log(shares), np.log1p(-shares)
        for length in range(_FEWEST, WINDOW + 1):
            for true in range(length + 1):
                found = true / length
                expected = np.where(true > 0, found * (np.log(found) - log), 0.0)
                expected += np.where(true < length, (1 - found) * (np.log1p(-found) - log_not), 0.0)
                fine: Ints = np.flatnonzero(length * expected <= _SURPRISE)
                limits[length * _STRIDE + true] = shares[fine[[0, -1]]]
    return limits
