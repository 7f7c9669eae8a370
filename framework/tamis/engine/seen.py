"""What this process keeps of an operator, a call and a test: counts, and no event.

`at` is the number of the event in which something was seen last; what was not seen for long fades
to half in so many events, and what is below it (its call, its operator, history) shows through.
"""

from __future__ import annotations

from collections import deque

from tamis.operators.asking import Solution
from tamis.statistics.costs import BatchCost, Cost
from tamis.statistics.history import PRIOR_OUTCOMES
from tamis.statistics.predicates import PredicateStatistics
from tamis.statistics.shares import DriftingShare, Share

_FAILURE_MEMORY = 32
_SURPRISING_FAILURE = 0.1
_SOUND = 4.0
"""Calls without failure that an operator is credited with."""
_FRESH = 32
_HALF_LIFE = 1024.0
_FAILURE_HALF_LIFE = 256.0


def faded(pause: int, half_life: float = _HALF_LIFE) -> float:
    """What is left of the weight of something that was not seen for so many events."""
    return 1.0 if pause <= _FRESH else float(0.5 ** ((pause - _FRESH) / half_life))


class Failing(DriftingShare):
    """How often calls fail; those before the first failure are only counted when there is one."""

    __slots__ = ("at", "made")

    def __init__(self) -> None:
        super().__init__()
        self.at = 0
        self.made = 0

    def left(self, now: int) -> float:
        """What is left of its weight: what is broken may be mended after a while."""
        return faded(now - self.at, _FAILURE_HALF_LIFE)

    def take(self, failed: bool, now: int) -> bool:
        """Counts a call; whether it shows that something broke, or was mended."""
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
    """What an operator does on average."""

    __slots__ = ("averages", "batch", "cost", "failing", "pace")

    def __init__(self, plain: float, guarded: float) -> None:
        self.averages = ((Share(), plain), (Share(), guarded))
        """The tests without and with constraints of their own, and what history says of them."""
        self.failing = Failing()
        self.cost = Cost()
        self.pace = Cost()
        """Measured costs over those that history has: the machine may be another one."""
        self.batch = BatchCost()

    def failure(self, now: int) -> float:
        """The share of its calls that fail."""
        return self.failing.mean(0.0, _SOUND, self.failing.left(now))


class SeenCall:
    """What was seen of a call."""

    __slots__ = (
        *("answers", "at", "cost", "failed", "failing", "given", "guarded", "measured"),
        *("operator", "satisfied", "seconds", "strength"),
    )

    def __init__(
        self, operator: SeenOperator, given: float | None = None, strength: float = 0.0
    ) -> None:
        self.operator = operator
        self.given = given
        """What it costs as history has it, and the measurements that this counts as."""
        self.strength = strength
        self.at = 0
        self.cost = Cost()
        self.failing = Failing()
        self.guarded = Share()
        """Of its tests with constraints."""
        self.failed = self.satisfied = self.measured = 0
        self.seconds = 0.0
        self.answers: deque[list[Solution]] | None = None
        """The latest solutions, for tests that are new."""

    def take(self, failed: bool, now: int) -> bool:
        """Counts a call; whether it shows that something broke, or was mended."""
        self.at = now
        self.failed += failed
        self.operator.failing.take(failed, now)
        return self.failing.take(failed, now)

    def failure(self, history: float, now: int) -> float:
        """The share of times that it fails."""
        prior = max(history, self.operator.failure(now))
        return self.failing.mean(prior, PRIOR_OUTCOMES, self.failing.left(now))

    def counted(self) -> PredicateStatistics:
        """All that was seen, as counts."""
        return PredicateStatistics(
            tested=self.failing.made,
            satisfied=self.satisfied,
            failed=self.failed,
            cost_seconds=self.cost_seconds,
            measured=self.measured,
        )

    @property
    def cost_seconds(self) -> float | None:
        """The mean of all that was measured."""
        return self.seconds / self.measured if self.measured else None


class SeenTest(DriftingShare):
    """What was seen of a test, and what history gives for it."""

    __slots__ = (
        *("at", "call", "failed", "given", "has_drifted", "is_guarded", "satisfied"),
        *("strength", "tested"),
    )

    def __init__(self, call: SeenCall, is_guarded: bool) -> None:
        super().__init__()
        self.call = call
        self.is_guarded = is_guarded
        self.at = 0
        self.tested = self.satisfied = self.failed = 0
        self.has_drifted = False
        self.given = 0.0
        self.strength = 0.0
        """Outcomes that `given` counts as; none where history does not know it, or was wrong."""

    def take(self, truth: int, now: int) -> bool:
        """Counts an outcome; whether it shows that the test is not what it was."""
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
        """The share of events that satisfy it."""
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
    """What to expect of a test of this call of which nothing is known."""
    share, prior = call.operator.averages[is_guarded]
    expected = share.mean(prior, PRIOR_OUTCOMES)
    return call.guarded.mean(expected, PRIOR_OUTCOMES) if is_guarded else expected
