"""Cuts subscriptions into shards, and keeps those together that share calls.

A call is made once in every shard that asks it, so a cut is good when calls have few shards and the
shards are of one size. Subscriptions are placed one after the other where most of their calls are
already, dearest first where there is a choice, and are then moved as long as that helps (the
paper's future work; greedy placement as in streaming graph partitioning).
Invariant: every subscription is in one shard, and no shard holds more than its share and a
twentieth. Cost: O(edges × shards) a pass, a few passes.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tamis.catalog.catalog import Catalog
from tamis.numeric.types import Ints, SmallInts

_SLACK_PERCENT = 105
_PASSES = 4


class Sharding(NamedTuple):
    """Subscriptions in shards, and what that costs."""

    ids: list[list[str]]
    calls: int
    """Distinct calls."""
    copies: int
    """Calls, counted in every shard that asks them."""
    hashed: int
    """The same had subscriptions been dealt out by a hash of their ids."""

    def __str__(self) -> str:
        sizes = [len(each) for each in self.ids]
        words = f"{len(sizes)} shards of {min(sizes):,} to {max(sizes):,} subscriptions"
        if not self.calls:
            return f"{words}, no calls"
        return (
            f"{words}: each of {self.calls:,} calls is in {self.copies / self.calls:.2f} shards, "
            f"by hash of ids it would be in {self.hashed / self.calls:.2f}"
        )


def cut_of(catalog: Catalog, shards: int) -> Sharding:
    """Cuts what is subscribed into so many shards at most."""
    ids = list(catalog.rows)
    held = []
    for row in catalog.rows.values():
        mine: set[int] = set()
        for alternative in catalog.alternatives_of(row):
            start, count = (
                int(catalog.edge_start[alternative]),
                int(catalog.edge_count[alternative]),
            )
            for test in catalog.edge_test[start : start + count].tolist():
                mine.add(catalog.tests.thing(test).call.number)
        held.append(sorted(mine))
    shards = max(1, min(shards, len(ids)))
    place = placed(held, shards)
    by_hash = np.array(
        [zlib.crc32(id.encode("utf-8", "surrogatepass")) % shards for id in ids], np.int64
    )
    found: list[list[str]] = [[] for _ in range(shards)]
    for id, shard in zip(ids, place.tolist(), strict=True):
        found[shard].append(id)
    calls = len({call for mine in held for call in mine})
    return Sharding(found, calls, copies(held, place), copies(held, by_hash))


def copies(held: Sequence[Sequence[int]], place: Ints) -> int:
    """Counts the pairs of a call and a shard that asks for it."""
    return len(
        {(call, shard) for mine, shard in zip(held, place.tolist(), strict=True) for call in mine}
    )


def placed(held: Sequence[Sequence[int]], shards: int) -> Ints:
    """Returns the shard of each subscription, of which the calls are known."""
    most = max(1, -(-len(held) * _SLACK_PERCENT // (100 * shards)))
    width = 1 + max((call for mine in held for call in mine), default=-1)
    asked = np.zeros((max(1, width), shards), np.int32)
    """Subscriptions of each shard that ask each call."""
    size = np.zeros(shards, np.int64)
    place = np.full(len(held), -1, np.int64)
    calls = [np.array(mine, np.int64) for mine in held]
    for at in _in_order(held, width):
        _put(at, calls[at], asked, size, place, most)
    for _ in range(_PASSES):
        moved = 0
        for at, mine in enumerate(calls):
            if len(mine):
                before = int(place[at])
                asked[mine, before] -= 1
                size[before] -= 1
                _put(at, mine, asked, size, place, most, before)
                moved += int(place[at]) != before
        if not moved:
            break
    return place


def _put(
    at: int,
    mine: Ints,
    asked: SmallInts,
    size: Ints,
    place: Ints,
    most: int,
    before: int = -1,
) -> None:
    """Puts one where most of its calls are; among equals where it was, else where most room is."""
    there = (asked[mine] > 0).sum(axis=0).astype(np.float64)
    there -= size / (2.0 * most)  # never outweighs a call
    if before >= 0:
        there[before] += 0.25
    there[size >= most] = -np.inf
    shard = int(there.argmax())
    asked[mine, shard] += 1
    size[shard] += 1
    place[at] = shard


def _in_order(held: Sequence[Sequence[int]], width: int) -> list[int]:
    """Neighbors one after the other: by breadth over shared calls; those without calls last."""
    holders: list[list[int]] = [[] for _ in range(width)]
    for at, mine in enumerate(held):
        for call in mine:
            holders[call].append(at)
    seen = [not mine for mine in held]
    opened = [False] * width
    order: list[int] = []
    for first in range(len(held)):
        if seen[first]:
            continue
        seen[first] = True
        queue = [first]
        for at in queue:  # grows while it is read
            for call in sorted(held[at], key=lambda each: len(holders[each])):
                if not opened[call]:
                    opened[call] = True
                    for other in holders[call]:
                        if not seen[other]:
                            seen[other] = True
                            queue.append(other)
        order += queue
    return order + [at for at, mine in enumerate(held) if not mine]
