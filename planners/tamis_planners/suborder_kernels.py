"""What it saves to evaluate one chain before another, and the order that follows (§4.2.4, §4.2.5).

A chain is a stretch of nodes, the most promising first; node `n` passes with probability
`passes[n]` and costs `costs[n]`. All kernels share one signature each, compiled once a machine.
Cost: O(d²) a pair of chains of d nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.kernels import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def saving(
    start: Ints, length: Ints, nodes: Ints, passes: Floats, costs: Floats, first: int, second: int
) -> float:
    """The expected cost saved by `first` before `second` over the other way round (§4.2.4).

    Sum over shared nodes of (1-p)·[P_first·C'_second - P_second·C'_first], P the probability to get
    to the node, C' the expected cost above it without the shared nodes before it."""
    total = 0.0
    first_start, second_start = start[first], start[second]
    first_end, second_end = first_start + length[first], second_start + length[second]
    reach, cost, alone = 1.0, 0.0, 1.0
    for i in range(first_start, first_end):
        node = nodes[i]
        other_reach, other_cost, other_alone = 1.0, 0.0, 1.0
        shared = False
        for j in range(second_start, second_end):
            other = nodes[j]
            if other == node:
                shared = True
                break
            above = False
            for k in range(first_start, first_end):
                if nodes[k] == other:
                    above = True
                    break
            if not above:
                other_cost += other_alone * costs[other]
                other_alone *= passes[other]
            other_reach *= passes[other]
        if shared:
            total += (1.0 - passes[node]) * (reach * other_cost - other_reach * cost)
        else:
            cost += alone * costs[node]
            alone *= passes[node]
        reach *= passes[node]
    return total


@kernel
def savings(
    start: Ints, length: Ints, nodes: Ints, passes: Floats, costs: Floats, chain: int, others: Ints
) -> Floats:
    """What it saves to evaluate a chain before each of the others."""
    result = np.empty(len(others))
    for at in range(len(others)):
        result[at] = saving(start, length, nodes, passes, costs, chain, others[at])
    return result


@kernel
def weighted_edges(
    start: Ints,
    length: Ints,
    nodes: Ints,
    passes: Floats,
    costs: Floats,
    holder_start: Ints,
    holders: Ints,
    partners: int,
    seed: int,
) -> tuple[Ints, Ints, Floats]:
    """Directed edges of positive saving between chains that share a node.

    Each chain is paired with at most `partners` holders of each of its nodes, sampled: as good an
    order as from all pairs."""
    np.random.seed(seed)
    count = 0
    for chain in range(len(start)):
        for i in range(start[chain], start[chain] + length[chain]):
            count += min(partners, holder_start[nodes[i] + 1] - holder_start[nodes[i]])
    earlier, later = np.empty(count, np.int64), np.empty(count, np.int64)
    weight = np.empty(count)
    made = 0
    for chain in range(len(start)):
        for i in range(start[chain], start[chain] + length[chain]):
            begin, end = holder_start[nodes[i]], holder_start[nodes[i] + 1]
            for number in range(min(partners, end - begin)):
                at = begin + number
                if end - begin > partners:
                    at = begin + np.random.randint(0, end - begin)
                other = holders[at]
                if other == chain:
                    continue
                saved = saving(start, length, nodes, passes, costs, chain, other)
                if saved > 0.0:
                    earlier[made], later[made], weight[made] = chain, other, saved
                    made += 1
                elif saved < 0.0:
                    earlier[made], later[made], weight[made] = other, chain, -saved
                    made += 1
    return earlier[:made], later[:made], weight[:made]


@kernel
def linked(earlier: Ints, later: Ints, heaviest: Ints, chains: int) -> tuple[Ints, Ints]:
    """Paths of the heaviest edges: in- and out-degree at most one, no cycle (§4.2.5).

    The following and the preceding chain of each chain, -1 at the ends of paths."""
    following, preceding = np.full(chains, -1), np.full(chains, -1)
    leader = np.arange(chains)
    for edge in heaviest:
        before, after = earlier[edge], later[edge]
        if following[before] >= 0 or preceding[after] >= 0:
            continue
        one, other = before, after
        while leader[one] != one:
            leader[one] = leader[leader[one]]
            one = leader[one]
        while leader[other] != other:
            leader[other] = leader[leader[other]]
            other = leader[other]
        if one != other:
            leader[one] = other
            following[before] = after
            preceding[after] = before
    return following, preceding


@kernel
def laid_out(following: Ints, preceding: Ints) -> Ints:
    """The chains path by path, paths in the order of their first chains."""
    order = np.empty(len(following), np.int64)
    placed = 0
    for head in range(len(following)):
        if preceding[head] >= 0:
            continue
        chain = head
        while chain >= 0:
            order[placed] = chain
            placed += 1
            chain = following[chain]
    return order


def ordered(
    start: Ints, length: Ints, nodes: Ints, passes: Floats, costs: Floats, partners: int, seed: int
) -> Ints:
    """All chains in the order of §4.2.5."""
    popularity = np.bincount(nodes, minlength=len(passes))
    owner = np.repeat(np.arange(len(start)), length)
    holders = owner[np.argsort(nodes, kind="stable")]
    holder_start = np.concatenate([np.zeros(1, np.int64), np.cumsum(popularity)])
    earlier, later, weight = weighted_edges(
        start, length, nodes, passes, costs, holder_start, holders, partners, seed
    )
    heaviest = np.argsort(-weight, kind="stable")
    return laid_out(*linked(earlier, later, heaviest, len(start)))
