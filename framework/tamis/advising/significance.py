"""How probable a difference at least as large is, if nothing but chance made it.

Counts are compared with Fisher's exact test where they are few, else with the likelihood ratio of
two shares (Wilks), kinds with that of several, values with the test of Kolmogorov and Smirnov.
Over many comparisons the share of false alarms is held (Benjamini and Hochberg).
Cost: O(1), but for the exact test O(smallest margin), which is small where it is used.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

_FEW = 10.0
"""Below this expected count the distribution of the likelihood ratio is not yet that of Wilks."""
_ALIKE = 1.0 + 1e-7
"""Outcomes as probable as the one that was seen count as such in spite of rounding."""
_TERMS = 10_000
_PRECISE = 1e-15


def shares_differ(part: int, whole: int, other_part: int, other_whole: int) -> float:
    """How probable it is that two shares of one chance differ so much.

    >>> f"{shares_differ(20, 100, 40, 100):.4f}", f"{shares_differ(2, 10, 0, 10):.4f}"
    ('0.0019', '0.4737')
    """
    for some, all_ in ((part, whole), (other_part, other_whole)):
        if not 0 <= some <= all_:
            raise ValueError(f"{some} is no part of {all_}")
    if not whole or not other_whole:
        return 1.0
    both, either = whole + other_whole, part + other_part
    least = min(either, both - either) * min(whole, other_whole) / both
    if least < _FEW:
        return _exactly(part, whole, other_part, other_whole)
    return kinds_differ([part, whole - part], [other_part, other_whole - other_part])


def _exactly(part: int, whole: int, other_part: int, other_whole: int) -> float:
    """Fisher's test: all ways to share out as many that are no more probable than the one seen."""
    either = part + other_part
    both = whole + other_whole

    def log_ways(hits: int) -> float:
        return _log_choose(whole, hits) + _log_choose(other_whole, either - hits)

    seen = log_ways(part) + math.log(_ALIKE)
    every = _log_choose(both, either)
    possible = range(max(0, either - other_whole), min(either, whole) + 1)
    ways = [log_ways(hits) for hits in possible]
    return min(1.0, math.fsum(math.exp(each - every) for each in ways if each <= seen))


def _log_choose(whole: int, part: int) -> float:
    return math.lgamma(whole + 1) - math.lgamma(part + 1) - math.lgamma(whole - part + 1)


def kinds_differ(counts: Sequence[int], others: Sequence[int]) -> float:
    """How probable it is that two groups are divided so differently, by the likelihood ratio."""
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
    return beyond(2.0 * max(0.0, ratio), len(pairs) - 1)


def beyond(value: float, freedom: int) -> float:
    """How probable a sum of so many squares of normal numbers is that is not smaller."""
    half, at = freedom / 2.0, value / 2.0
    if at <= 0:
        return 1.0
    if at == math.inf:
        return 0.0
    scale = math.exp(half * math.log(at) - at - math.lgamma(half))
    if at < half + 1.0:
        term = total = 1.0 / half
        for step in range(1, _TERMS):
            term *= at / (half + step)
            total += term
            if term < total * _PRECISE:
                break
        return max(0.0, 1.0 - scale * total)
    # the continued fraction of the incomplete gamma function, by Lentz
    tiny = 1e-300
    below = at + 1.0 - half
    ahead, behind = 1.0 / tiny, 1.0 / below
    fraction = behind
    for step in range(1, _TERMS):
        factor = -step * (step - half)
        below += 2.0
        behind = 1.0 / (factor * behind + below or tiny)
        ahead = below + factor / ahead or tiny
        change = behind * ahead
        fraction *= change
        if abs(change - 1.0) < _PRECISE:
            break
    return min(1.0, scale * fraction)


def values_differ(
    quantiles: Sequence[Any], count: int, others: Sequence[Any], other_count: int
) -> tuple[float, float]:
    """How far apart two distributions are at most, and how probable that is by chance.

    They are known by evenly spaced quantiles; what lies between two of these may be anywhere, which
    is held against a difference. Equal values make the test the more cautious."""
    if not count or not other_count or not quantiles or not others:
        return 0.0, 1.0
    mine, theirs = sorted(quantiles), sorted(others)
    apart = 0.0
    for value in {*mine, *theirs}:
        for place in (bisect_left, bisect_right):
            apart = max(
                apart, abs(place(mine, value) / len(mine) - place(theirs, value) / len(theirs))
            )
    unsure = sum(
        1.0 / len(known) for known, all_ in ((mine, count), (theirs, other_count))
        if all_ > len(known)
    )  # fmt: skip
    apart = max(0.0, apart - unsure)
    size = math.sqrt(count * other_count / (count + other_count))
    return apart, farther((size + 0.12 + 0.11 / size) * apart)


def farther(distance: float) -> float:
    """How probable a distance by Kolmogorov is that is not smaller, in his units."""
    if distance < 0.2:
        return 1.0
    total = math.fsum(
        (-1) ** (step - 1) * math.exp(-2.0 * step**2 * distance**2) for step in range(1, 101)
    )
    return min(1.0, max(0.0, 2.0 * total))


def adjusted(chances: Sequence[float]) -> list[float]:
    """The least share of false alarms at which each difference would be reported.

    >>> adjusted([0.01, 0.04, 0.03, 0.5])
    [0.04, 0.05333333333333334, 0.05333333333333334, 0.5]
    """
    order = sorted(range(len(chances)), key=chances.__getitem__, reverse=True)
    result = [1.0] * len(chances)
    least = 1.0
    for rank, at in zip(range(len(chances), 0, -1), order, strict=True):
        least = min(least, chances[at] * len(chances) / rank)
        result[at] = least
    return result
