"""Says how probable a difference at least as large is, if nothing but chance made it.

Counts are compared with Fisher's exact test where they are few, else with the likelihood ratio of
two shares (Wilks), kinds with that of several, values with the test of Kolmogorov and Smirnov.
Over many comparisons the share of false alarms is held (Benjamini and Hochberg).
SciPy computes them. Cost: microseconds each, but for the exact test a millisecond.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from tamis.advising.covering import scipy_part

_FEW = 10.0
"""Below this expected count the distribution of the likelihood ratio is not yet that of Wilks."""


def shares_differ(part: int, whole: int, other_part: int, other_whole: int) -> float:
    """Returns how probable it is that two shares of one chance differ so much.

    >>> f"{shares_differ(20, 100, 40, 100):.4f}", f"{shares_differ(2, 10, 0, 10):.4f}"
    ('0.0019', '0.4737')
    """
    for some, all_ in ((part, whole), (other_part, other_whole)):
        if not 0 <= some <= all_:
            raise ValueError(f"{some} is not part of {all_}")
    if not whole or not other_whole:
        return 1.0
    both, either = whole + other_whole, part + other_part
    least = min(either, both - either) * min(whole, other_whole) / both
    if least < _FEW:
        table = [[part, whole - part], [other_part, other_whole - other_part]]
        return float(scipy_part("stats").fisher_exact(table).pvalue)
    return kinds_differ([part, whole - part], [other_part, other_whole - other_part])


def kinds_differ(counts: Sequence[int], others: Sequence[int]) -> float:
    """Returns how probable it is that two groups are divided so differently (likelihood ratio)."""
    pairs = [pair for pair in zip(counts, others, strict=True) if sum(pair)]
    sums = [sum(side) for side in zip(*pairs, strict=True)]
    if len(pairs) < 2 or not all(sums):
        return 1.0
    both = sum(sums)
    ratio = math.fsum(
        seen * math.log(seen * both / (sum(pair) * whole))
        for pair in pairs
        for seen, whole in zip(pair, sums, strict=True)
        if seen
    )
    return float(scipy_part("special").chdtrc(len(pairs) - 1, 2.0 * max(0.0, ratio)))


def values_differ(
    quantiles: Sequence[Any], count: int, others: Sequence[Any], other_count: int
) -> tuple[float, float]:
    """Returns how far apart two distributions are at most, and how probable that is by chance.

    They are known by evenly spaced quantiles; what lies between two of these may be anywhere, which
    is held against a difference. Equal values make the test the more cautious."""
    if not count or not other_count or not quantiles or not others:
        return 0.0, 1.0
    mine, theirs = sorted(quantiles), sorted(others)
    apart = max(
        abs(bisect_right(mine, value) / len(mine) - bisect_right(theirs, value) / len(theirs))
        for value in {*mine, *theirs}
    )
    unsure = sum(
        1.0 / len(known) for known, all_ in ((mine, count), (theirs, other_count))
        if all_ > len(known)
    )  # fmt: skip
    apart = max(0.0, apart - unsure)
    size = math.sqrt(count * other_count / (count + other_count))
    distance = (size + 0.12 + 0.11 / size) * apart
    return apart, float(scipy_part("special").kolmogorov(distance))


def adjusted(chances: Sequence[float]) -> list[float]:
    """Returns the least share of false alarms at which each difference would be reported.

    >>> [round(share, 3) for share in adjusted([0.01, 0.04, 0.03, 0.5])]
    [0.04, 0.053, 0.053, 0.5]
    """
    if not chances:
        return []
    found: list[float] = scipy_part("stats").false_discovery_control(chances).tolist()
    return found
