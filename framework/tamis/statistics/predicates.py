"""Counts what was seen of one predicate, and says what the counts mean.

Counts add up; what somebody gave without counts is an opinion, which any count outweighs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from tamis.errors import SubscriptionError
from tamis.language.predicate import AttributePredicate

if TYPE_CHECKING:
    from tamis.language.condition import Language

CERTAINTY = 1.96
"""Standard errors to either side of an interval that holds the share 19 times in 20."""


@dataclass(frozen=True, slots=True)
class PredicateStatistics:
    """The counts of one predicate (or test); `None` where it was not counted or measured."""

    kind: str = "operator"
    tested: int | None = None
    satisfied: int | None = None
    failed: int | None = None
    selectivity: float | None = None
    cost_seconds: float | None = None
    measured: int | None = None
    """The number of calls of which `cost_seconds` is the mean."""

    def __post_init__(self) -> None:
        if self.known:
            object.__setattr__(self, "selectivity", (self.satisfied or 0) / self.known)

    @property
    def known(self) -> int:
        """The number of times it was true or false."""
        if self.tested is None or self.satisfied is None:
            return 0
        return max(0, self.tested - (self.failed or 0))

    @property
    def counts(self) -> tuple[int | None, int | None, int | None]:
        """The numbers of times it was tested, satisfied and failed."""
        return self.tested, self.satisfied, self.failed

    @property
    def share(self) -> float | None:
        """The selectivity, from counts where there are counts."""
        return self.selectivity

    @property
    def interval(self) -> tuple[float, float] | None:
        """The bounds of the selectivity with a confidence of 95%, by Wilson's score.

        >>> low, high = PredicateStatistics(tested=10, satisfied=2).interval
        >>> f"{low:.2f} to {high:.2f}"
        '0.06 to 0.51'
        """
        known, share = self.known, self.share
        if not known or share is None:
            return None
        square = CERTAINTY**2
        middle = share + square / (2 * known)
        reach = CERTAINTY * math.sqrt(share * (1 - share) / known + square / (4 * known**2))
        below, above = (middle - reach, middle + reach)
        whole = 1 + square / known
        return max(0.0, below / whole), min(1.0, above / whole)

    def merged(self, other: PredicateStatistics) -> PredicateStatistics:
        """Adds up the counts of both. Of two opinions the more cautious one stays."""
        known = self.known + other.known
        measured = (self.measured or 0) + (other.measured or 0)
        seconds = [each for each in (self, other) if each.cost_seconds is not None]
        cost: float | None = max((each.cost_seconds or 0.0 for each in seconds), default=None)
        if measured:
            cost = math.fsum((e.cost_seconds or 0.0) * (e.measured or 0) for e in seconds)
            cost /= measured
        opinions = [e.selectivity for e in (self, other) if e.selectivity is not None]
        return PredicateStatistics(
            kind=min(self.kind, other.kind),
            tested=_sum(self.tested, other.tested),
            satisfied=_sum(self.satisfied, other.satisfied),
            failed=_sum(self.failed, other.failed),
            selectivity=None if known else min(opinions, key=_certainty, default=None),
            cost_seconds=cost,
            measured=_sum(self.measured, other.measured),
        )

    def decayed(self, factor: float) -> PredicateStatistics:
        """Returns them as if it had been seen so much less often; opinions stay."""
        failed = round(factor * (self.failed or 0))
        satisfied = round(factor * (self.satisfied or 0))
        false = round(factor * (self.known - (self.satisfied or 0))) if self.known else 0
        tested = round(factor * self.tested) if self.tested is not None else None
        if self.satisfied is not None and tested is not None:
            tested = satisfied + false + failed
        return replace(
            self,
            tested=tested,
            satisfied=None if self.satisfied is None else satisfied,
            failed=None if self.failed is None else failed,
            measured=None if self.measured is None else round(factor * self.measured),
            selectivity=None if self.known else self.selectivity,
        )


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


def _certainty(share: float) -> tuple[float, float]:
    return abs(share - 0.5), share


def attribute_predicate(text: str) -> AttributePredicate | None:
    """Returns the attribute predicate that a canonical text is, if it is one."""
    try:
        [[leaf]] = _language().parse(text).alternatives
    except (SubscriptionError, ValueError):
        return None
    return leaf.atom if isinstance(leaf.atom, AttributePredicate) else None


@cache
def _language() -> Language:
    from tamis.language.condition import Language

    return Language()


def given_shares(predicates: Mapping[str, PredicateStatistics]) -> dict[AttributePredicate, float]:
    """Returns the selectivities of attribute predicates that somebody gave without counts."""
    found = {}
    for text, each in predicates.items():
        if each.tested is None and each.selectivity is not None:
            predicate = attribute_predicate(text)
            if predicate is not None:
                found[predicate] = each.selectivity
    return found
