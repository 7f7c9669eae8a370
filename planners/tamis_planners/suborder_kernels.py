"""Orders chains by what it saves to evaluate one before another (§4.2.4, §4.2.5).

A chain is a stretch of nodes, the most promising first; node `n` passes with probability
`passes[n]` and costs `costs[n]`. Many chains are ordered by compiled functions, few by the same
functions interpreted; the order is the same.
Cost: O(d²) a pair of chains of d nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from tamis.kit import COMPILING, Floats, Ints, compiled, portable, view_of, waiting_for

_ready: set[object] = set()


@portable
def saving(
    start: Ints, length: Ints, nodes: Ints, passes: Floats, costs: Floats, first: int, second: int
) -> float:
    """Returns the expected cost saved by `first` before `second` over the other way round (§4.2.4).

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


@portable
def savings(
    start: Ints,
    length: Ints,
    nodes: Ints,
    passes: Floats,
    costs: Floats,
    chain: int,
    others: Ints,
    saved: Floats,
) -> None:
    """Writes what it saves to evaluate a chain before each of the others."""
    for at in range(len(others)):
        saved[at] = saving(start, length, nodes, passes, costs, chain, others[at])


@portable
def weighted_edges(
    start: Ints,
    length: Ints,
    nodes: Ints,
    passes: Floats,
    costs: Floats,
    holder_start: Ints,
    holders: Ints,
    partners: int,
    chances: Floats,
    earlier: Ints,
    later: Ints,
    weight: Floats,
) -> int:
    """Writes directed edges of positive saving between chains that share a node; how many.

    Each chain is paired with at most `partners` holders of each of its nodes, by the lot of
    `chances`: as good an order as from all pairs."""
    drawn = made = 0
    for chain in range(len(start)):
        for i in range(start[chain], start[chain] + length[chain]):
            begin, end = holder_start[nodes[i]], holder_start[nodes[i] + 1]
            for number in range(min(partners, end - begin)):
                at = begin + number
                if end - begin > partners:
                    at = begin + int(chances[drawn] * (end - begin))
                    drawn += 1
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
    return made


@portable
def link(
    earlier: Ints, later: Ints, heaviest: Ints, following: Ints, preceding: Ints, leader: Ints
) -> None:
    """Links paths of the heaviest edges: in- and out-degree at most one, no cycle (§4.2.5).

    Fills in the following and the preceding chain of each chain, -1 at the ends of paths."""
    for at in range(len(heaviest)):
        before, after = earlier[heaviest[at]], later[heaviest[at]]
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


@portable
def lay_out(following: Ints, preceding: Ints, order: Ints) -> None:
    """Writes the chains path by path, paths in the order of their first chains."""
    placed = 0
    for head in range(len(following)):
        if preceding[head] >= 0:
            continue
        chain = head
        while chain >= 0:
            order[placed] = chain
            placed += 1
            chain = following[chain]


class Chains(NamedTuple):
    """Chains, and their nodes."""

    start: Ints
    length: Ints
    nodes: Ints
    passes: Floats
    costs: Floats


def saved_before(chains: Chains, chain: int, others: Ints, is_large: bool) -> Floats:
    """Returns what it saves to evaluate a chain before each of the others."""
    saved = np.empty(len(others))
    _run(savings, is_large, *chains, chain, others, saved)
    return saved


def ordered(chains: Chains, partners: int, seed: int, is_large: bool) -> Ints:
    """Returns all chains in the order of §4.2.5."""
    nodes, count = chains.nodes, len(chains.start)
    popularity = np.bincount(nodes, minlength=len(chains.passes))
    owner = np.repeat(np.arange(count), chains.length)
    holders = owner[np.argsort(nodes, kind="stable")]
    holder_start = np.concatenate([np.zeros(1, np.int64), np.cumsum(popularity)])
    pairs = np.minimum(partners, popularity[nodes])
    most, lots = int(pairs.sum()), int(pairs[popularity[nodes] > partners].sum())
    earlier, later, weight = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    chances = np.random.default_rng(seed).random(lots)
    made = _run(
        weighted_edges, is_large, *chains, holder_start, holders, partners, chances,
        earlier, later, weight,
    )  # fmt: skip
    heaviest = np.argsort(-weight[:made], kind="stable")
    following, preceding = np.full(count, -1), np.full(count, -1)
    _run(link, is_large, earlier, later, heaviest, following, preceding, np.arange(count))
    order = np.empty(count, np.int64)
    _run(lay_out, is_large, following, preceding, order)
    return order


def exercise() -> None:
    """Orders a few chains as if they were many, so that everything is compiled."""
    nodes = np.zeros(2, np.int64)
    chains = Chains(np.arange(2), np.ones(2, np.int64), nodes, np.ones(1), np.ones(1))
    saved_before(chains, 0, np.arange(1, 2), is_large=True)
    ordered(chains, 1, 0, is_large=True)


def _run(function: Callable[..., Any], is_large: bool, *arguments: Any) -> Any:
    """Runs a function compiled, or interpreted on views of the arrays."""
    if is_large:
        with nullcontext() if function in _ready else waiting_for(COMPILING):
            _ready.add(function)
            return compiled(function)(*arguments)
    return function(
        *(view_of(each) if isinstance(each, np.ndarray) else each for each in arguments)
    )
