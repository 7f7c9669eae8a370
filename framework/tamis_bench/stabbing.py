"""Measures trees of intervals beside indexes: which of the intervals have a value in them?

- *Segment tree*: between the ends of all intervals the line falls into elementary pieces, over
  which stands a balanced tree; an interval is written to the fewest nodes that cover it. A value's
  intervals are those of the nodes on its way. Static, O(n log n) places.
- *Interval tree* (Edelsbrunner): a node has a center and the intervals around it, by their lower
  and by their upper ends, what lies left and right of it hangs below. A value left of the center
  takes intervals by their lower ends until one begins behind it. O(n) places.
- *Scan*: every interval is compared.

Intervals are closed. Invariant: a tree gives the numbers of the intervals of a value, in any order.
Cost: O(log n + found).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tamis_bench.kernels import Floats, Ints, kernel

Stab = Callable[[float], Ints]


def scan(low: Floats, high: Floats) -> Stab:
    """Returns the loop over all intervals."""
    found = np.empty(len(low), np.int64)
    return lambda value: found[: _compared(low, high, value, found)].copy()


def segment_tree(low: Floats, high: Floats) -> Stab:
    """Returns the tree over elementary pieces: every other one is an end itself."""
    cuts = np.unique(np.concatenate([low, high]))
    first, last = 2 * np.searchsorted(cuts, low) + 1, 2 * np.searchsorted(cuts, high) + 1
    size = 1 << max(1, int(2 * len(cuts)).bit_length())
    counts = np.zeros(2 * size + 1, np.int64)
    _covered(first, last, size, counts, np.zeros(0, np.int64), False)
    begins = np.append(0, np.cumsum(counts[:-1]))
    posts = np.empty(int(begins[-1]), np.int64)
    _covered(first, last, size, begins[:-1].copy(), posts, True)
    found = np.empty(len(low), np.int64)
    return lambda value: found[: _climbed(cuts, value, size, begins, posts, found)].copy()


def interval_tree(low: Floats, high: Floats) -> Stab:
    """Returns the tree of centers, which stand in order: the center of most zeros at its end, of
    those that an interval covers, is the one that has it."""
    cuts = np.unique(np.concatenate([low, high]))
    first, last = np.searchsorted(cuts, low) + 1, np.searchsorted(cuts, high) + 1
    kept = np.frexp(((first - 1) ^ last).astype(np.float64))[1].astype(np.int64) - 1
    center = (last >> kept) << kept
    root = 1 << max(0, len(cuts).bit_length() - 1)
    begins = np.searchsorted(np.sort(center), np.arange(2 * root + 1))
    by_low, by_high = np.lexsort((low, center)), np.lexsort((-high, center))
    ends = by_low, low[by_low], by_high, high[by_high]
    found = np.empty(len(low), np.int64)
    return lambda value: found[: _descended(cuts, root, begins, *ends, value, found)].copy()


STABS: dict[str, Callable[[Floats, Floats], Stab]] = {
    "scan": scan,
    "interval-tree": interval_tree,
    "segment-tree": segment_tree,
}


@kernel
def _compared(low: Floats, high: Floats, value: float, found: Ints) -> int:
    count = 0
    for row in range(len(low)):
        found[count] = row
        count += low[row] <= value <= high[row]
    return count


@kernel
def _covered(first: Ints, last: Ints, size: int, ends: Ints, posts: Ints, writes: bool) -> None:
    """Counts the intervals of every node, or writes them down."""
    for row in range(len(first)):
        left, right = first[row] + size, last[row] + size + 1
        while left < right:
            if left & 1:
                if writes:
                    posts[ends[left]] = row
                ends[left] += 1
                left += 1
            if right & 1:
                right -= 1
                if writes:
                    posts[ends[right]] = row
                ends[right] += 1
            left, right = left >> 1, right >> 1


@kernel
def _climbed(cuts: Floats, value: float, size: int, begins: Ints, posts: Ints, found: Ints) -> int:
    """Writes what the nodes above an elementary piece have."""
    place = np.searchsorted(cuts, value)
    is_end = place < len(cuts) and cuts[place] == value
    node, count = 2 * place + is_end + size, 0
    while node:
        for at in range(begins[node], begins[node + 1]):
            found[count] = posts[at]
            count += 1
        node >>= 1
    return count


@kernel
def _descended(
    cuts: Floats, root: int, begins: Ints,
    by_low: Ints, lows: Floats, by_high: Ints, highs: Floats, value: float, found: Ints,
) -> int:  # fmt: skip
    """Writes what the nodes on the way of a value have."""
    node, step, count = root, root, 0
    while step:
        step >>= 1
        is_right = node <= len(cuts) and value > cuts[node - 1]
        for at in range(begins[node], begins[node + 1]):
            if highs[at] < value if is_right else lows[at] > value:
                break
            found[count] = by_high[at] if is_right else by_low[at]
            count += 1
        node += step if is_right else -step
    return count
