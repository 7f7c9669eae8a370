"""Rivals of other papers to measure indexes against, over the codes of the scans.

- *Propagation* (Fabret and others 2001): a subscription is in the cluster of its access predicate,
  here its most selective equality; an event checks the clusters of its values, and all
  subscriptions without an equality.
- *k-index* (Whang and others 2009): subscriptions of one size at a time; a posting list for each
  value of an attribute, where a range is written out as its values; lists are run through side by
  side, the one that is behind skips to where a match can be.

Invariant: a rival gives the positions of the matching subscriptions, ascending.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tamis_bench.coded import CodedWorkload
from tamis_bench.kernels import RANGE, Codes, Extra, Ints, Sets, Starts, holds, kernel, scanned
from tamis_bench.scans import Scan


def propagation(codes: CodedWorkload) -> Scan:
    """Returns the clusters, each with its subscriptions one behind the other."""
    counts = np.diff(codes.start)
    owner = np.repeat(np.arange(len(codes)), counts)
    spaces = int(codes.spaces.max(initial=1)) + 1
    is_equality = codes.low == codes.high
    if codes.extra is not None:
        is_equality &= codes.extra == RANGE
    places = np.flatnonzero(is_equality)
    owners, first = np.unique(owner[places], return_index=True)
    key = np.zeros(len(codes), np.int64)
    access = places[first]
    key[owners] = 1 + codes.attribute[access].astype(np.int64) * spaces + codes.low[access]
    order = np.argsort(key, kind="stable")
    clusters = np.searchsorted(key[order], np.arange(len(codes.spaces) * spaces + 2))
    mine = chosen(codes, order)
    columns = (mine.start, mine.attribute, mine.low, mine.high, mine.extra, mine.sets)
    found = np.empty(len(codes) + 1, np.int64)

    def scan(at: int) -> Ints:
        event = codes.events[at]
        there = np.flatnonzero(event != codes.absent)
        keys = np.append(0, 1 + there * spaces + np.minimum(event[there], spaces - 1))
        spans = zip(clusters[keys].tolist(), clusters[keys + 1].tolist(), strict=True)
        rows = np.concatenate([np.arange(begin, end) for begin, end in spans])
        return np.sort(order[found[: scanned(*columns, event, codes.absent, rows, found)]])

    return scan


def chosen(codes: CodedWorkload, order: Ints) -> CodedWorkload:
    """Returns the same subscriptions in another order."""
    counts = np.diff(codes.start)[order]
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    places = np.repeat(codes.start[order] - start[:-1], counts) + np.arange(start[-1])
    return replace(
        codes,
        start=start,
        attribute=codes.attribute[places],
        low=codes.low[places],
        high=codes.high[places],
        extra=None if codes.extra is None else codes.extra[places],
    )


@kernel
def _posted(
    start: Starts, attribute: Codes, low: Codes, high: Codes, extra: Extra, sets: Sets,
    rows: Ints, base: Ints, spaces: Ints, absent: int, ends: Ints, posts: Starts, writes: bool,
) -> None:  # fmt: skip
    """Counts the postings of some subscriptions by value, or writes them down."""
    for row in rows:
        for at in range(start[row], start[row + 1]):
            name = attribute[at]
            for value in range(spaces[name]):
                if holds(low[at], high[at], extra[at], sets, value, absent):
                    place = base[name] + value
                    if writes:
                        posts[ends[place]] = row
                    ends[place] += 1


@kernel
def _run_through(at: Ints, ends: Ints, posts: Starts, size: int, found: Ints, count: int) -> int:
    """Appends what is in `size` of the posting lists that begin and end here."""
    lists = len(at)
    while True:
        left = 0
        for each in range(lists):  # lists that are through are left out
            if at[each] < ends[each]:
                at[left], ends[left] = at[each], ends[each]
                left += 1
        lists = left
        if lists < size:
            return count
        for each in range(1, lists):  # by where they are; nearly sorted
            here, end, place = at[each], ends[each], each
            while place and posts[at[place - 1]] > posts[here]:
                at[place], ends[place] = at[place - 1], ends[place - 1]
                place -= 1
            at[place], ends[place] = here, end
        wanted = posts[at[size - 1]]
        if posts[at[0]] == wanted:
            found[count] = wanted
            count += 1
            wanted += 1
        for each in range(size):
            step = 1
            while at[each] + step < ends[each] and posts[at[each] + step] < wanted:
                step *= 2
            first, last = at[each] + step // 2, min(at[each] + step, ends[each])
            while first < last:
                half = (first + last) // 2
                if posts[half] < wanted:
                    first = half + 1
                else:
                    last = half
            at[each] = first if posts[at[each]] < wanted else at[each]


def k_index(codes: CodedWorkload) -> Scan:
    """Returns posting lists by size, attribute and value.

    Subscriptions with two predicates of one attribute are no subscriptions of its paper: here they
    are checked one by one."""
    counts = np.diff(codes.start)
    owner = np.repeat(np.arange(len(codes)), counts)
    names = np.unique(owner * np.int64(len(codes.spaces)) + codes.attribute)
    plain = np.bincount(names // len(codes.spaces), minlength=len(codes)) == counts
    others = np.flatnonzero(~plain)
    spaces = codes.spaces.astype(np.int64)
    base = np.cumsum(spaces) - spaces
    extra = np.full(len(owner), RANGE, np.int32) if codes.extra is None else codes.extra
    columns = (codes.start, codes.attribute, codes.low, codes.high, extra, codes.sets)
    sizes: dict[int, tuple[Ints, Starts]] = {}
    for size in np.unique(counts[plain]).tolist():
        rows = np.flatnonzero(plain & (counts == size))
        ends = np.zeros(int(spaces.sum()), np.int64)
        more = (rows, base, spaces, codes.absent)
        _posted(*columns, *more, ends, np.zeros(0, np.int32), False)
        begins, posts = np.append(0, np.cumsum(ends)), np.zeros(int(ends.sum()), np.int32)
        _posted(*columns, *more, begins[:-1].copy(), posts, True)
        sizes[size] = begins, posts
    found = np.empty(2 * len(codes) + 1, np.int64)

    def scan(at: int) -> Ints:
        event = codes.events[at]
        there = np.flatnonzero(event != codes.absent)
        there = there[event[there] < spaces[there]]
        places = base[there] + event[there]
        count = scanned(*columns, event, codes.absent, others, found)
        for size, (begins, posts) in sizes.items():
            if size == 0:
                count = _with(found, count, np.flatnonzero(counts == 0))
            elif size <= len(places):
                lists = begins[places].copy(), begins[places + 1].copy()
                count = _run_through(*lists, posts, size, found, count)
        return np.sort(found[:count])

    return scan


def _with(found: Ints, count: int, rows: Ints) -> int:
    found[count : count + len(rows)] = rows
    return count + len(rows)
