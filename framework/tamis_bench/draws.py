"""Draws without replacement by weight: which attributes a subscription or an event has.

Several groups of candidates lie one behind the other, each with the cumulative weights of its
candidates. Nothing is drawn again: what is taken leaves a gap that later draws step over, so that
Zipf(5) costs what uniform weights cost. Cost: O(k^2 + k log n) for k of n candidates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.numeric.kernels import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def _drawn(
    offset: Ints,
    cumulative: Floats,
    group: Ints,
    start: Ints,
    chance: Floats,
    order: Floats,
) -> Ints:
    """For each row the places of its candidates in its group, in any order."""
    result = np.empty(len(chance), np.int64)
    taken = np.empty(len(chance), np.int64)
    for row in range(len(group)):
        first, last = offset[group[row]], offset[group[row] + 1]
        begin, gone = start[row], 0.0
        for at in range(begin, start[row + 1]):
            level = chance[at] * (cumulative[last - 1] - gone)
            for before in range(begin, at):
                each = taken[before]
                below = cumulative[each - 1] if each > first else 0.0
                if level < below:
                    break
                level += cumulative[each] - below
            found = first + np.searchsorted(cumulative[first:last], level, side="right")
            found = min(found, last - 1)
            while _is_among(taken, begin, at, found):
                found = first if found == last - 1 else found + 1
            place = at
            while place > begin and taken[place - 1] > found:
                taken[place] = taken[place - 1]
                place -= 1
            taken[place] = found
            gone += cumulative[found] - (cumulative[found - 1] if found > first else 0.0)
            other = begin + int(order[at] * (at + 1 - begin))
            result[at] = result[other]
            result[other] = found - first
    return result


@kernel
def _is_among(taken: Ints, begin: int, end: int, found: int) -> bool:
    among = False
    for at in range(begin, end):
        among = among or taken[at] == found
    return among


class Groups:
    """Groups of candidates, each candidate with a weight."""

    def __init__(self, weights: list[Floats]) -> None:
        self._offset = np.concatenate([[0], np.cumsum([len(each) for each in weights])])
        cumulative = [np.cumsum(each) for each in weights]
        self._cumulative = np.concatenate([each / each[-1] for each in cumulative])

    def draw(self, chance: np.random.Generator, group: Ints, start: Ints) -> Ints:
        """As many different candidates as `start` says, for each row from its group."""
        total = int(start[-1])
        return _drawn(
            self._offset, self._cumulative, group, start, chance.random(total), chance.random(total)
        )
