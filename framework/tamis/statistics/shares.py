"""Follows how often something is true, one outcome after the other, while it may change.

A share is a mean over about the last so many outcomes. Where the latest few are too unlikely under
what was known before, all of that is dropped at once: the stream has drifted. Kullback and Leibler:
under a share p, a share q of m outcomes has a chance of about exp(-m·KL(q, p)).
Cost: O(1) an outcome, a few additions and a look-up.
"""

from __future__ import annotations

from functools import cache

import numpy as np

MEMORY = 256
"""Outcomes that a share is the mean of, at most: enough to know it to within three percent."""
WINDOW = 16
_FEWEST = 4
_KEPT = 8
_SURPRISE = 12.0
"""As a negative logarithm: an alarm without a cause in 160,000 outcomes."""
_DOUBT = 3.0
"""Outcomes like the latest that those before are credited with: few of them prove little."""
_GRID, _FARTHEST = 2048, 14.0


class Share:
    """True outcomes among the latest ones, by decaying counts."""

    __slots__ = ("true", "weight")

    def __init__(self) -> None:
        self.weight = 0.0
        self.true = 0.0

    def add(self, truth: bool | int, memory: int = MEMORY) -> None:
        """Takes an outcome."""
        if self.weight >= memory:
            keep = 1.0 - 1.0 / memory
            self.weight *= keep
            self.true *= keep
        self.weight += 1.0
        self.true += truth

    def fade(self, left: float) -> None:
        """Lets it count for so much of what it did."""
        self.weight *= left
        self.true *= left

    def mean(self, prior: float, strength: float, faded: float = 1.0) -> float:
        """The share, with a prior that counts as so many outcomes."""
        weight = faded * self.weight + strength
        return (faded * self.true + strength * prior) / weight if weight else prior


class DriftingShare(Share):
    """A share that notices when it no longer is what it was."""

    __slots__ = ("_latest",)

    def __init__(self) -> None:
        super().__init__()
        self._latest = 1
        """The last outcomes as bits, below a bit that marks where they begin."""

    def is_surprised(self, truth: bool | int, given: float = 0.5, strength: float = 0.0) -> bool:
        """Takes an outcome; whether the latest refute those before and what was given as well.

        Then only the last few outcomes count, and what was given should not any more."""
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
    """For so many outcomes and so many true ones, the shares under which they are no surprise."""
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
