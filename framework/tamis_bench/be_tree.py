"""Measures BE-Tree (Sadoghi and Jacobsen 2011) beside indexes, over the codes of the scans.

A subscription goes down by one attribute after the other, the most popular of those that its node
has a directory of, and in each into the smallest bucket of halves that its predicate fits into. A
node of too many is cut in two phases: its bucket into halves, then by the attribute that most of
what is left have. An event goes down by all of its attributes, in each along the buckets of its
value, and what hangs on its way is checked, each at its first false predicate.

Invariant: a predicate lies in the bucket in which it is kept, and in every bucket around that.
"""

from __future__ import annotations

import numpy as np

from tamis_bench.coded import CodedWorkload
from tamis_bench.kernels import (
    DIFFERENT,
    RANGE,
    Codes,
    Extra,
    Ints,
    Sets,
    Starts,
    holds,
    kernel,
)
from tamis_bench.scans import Scan

CAPACITY = 20
"""Subscriptions of a node, from which on it is cut."""
_OWNER, _PARENT, _LOW, _HIGH, _LEFT, _RIGHT = range(6)
_HEAD, _COUNT, _MOST, _FIRST, _NEXT, _SCORE, _SIZE, _FIELDS = range(6, 14)
_ROOT, _NONE = 0, -1
_DEEP = 1 << 16
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def be_tree(codes: CodedWorkload, capacity: int = CAPACITY) -> Scan:
    """Returns the tree, what hangs in a node one behind the other."""
    from tamis_bench.rivals import chosen

    low, high = codes.low.astype(np.int64), codes.high.astype(np.int64)
    if codes.extra is not None:
        anything = codes.extra == DIFFERENT
        low[anything], high[anything] = 0, codes.spaces[codes.attribute[anything]]
    following = np.full(len(codes), _NONE, np.int64)
    columns = (codes.start, codes.attribute.astype(np.int64), low, high)
    spaces = codes.spaces.astype(np.int64)
    nodes, keys, children = _built(*columns, spaces, capacity, following)
    first, order = _laid_out(nodes, following)
    mine, names = chosen(codes, order), len(spaces)
    extra = np.full(len(mine.attribute), RANGE, np.int32) if mine.extra is None else mine.extra
    flat = mine.start, mine.attribute, mine.low, mine.high
    stack, found = np.empty(len(nodes) + 1, np.int64), np.empty(len(codes) + 1, np.int64)

    def scan(at: int) -> Ints:
        event = codes.events[at]
        there = np.flatnonzero(event != codes.absent)
        count = _matched(
            nodes, keys, children, first, names, *flat, extra, mine.sets,
            event, codes.absent, there, stack, found,
        )  # fmt: skip
        return np.sort(order[found[:count]])

    return scan


@kernel
def _slot(keys: Ints, key: int) -> int:
    """Returns where a key is, or could be."""
    last = np.uint64(len(keys) - 1)
    at = (np.uint64(key) * _SPREAD >> np.uint64(20)) & last
    while keys[at] != _NONE and keys[at] != key:
        at = (at + np.uint64(1)) & last
    return int(at)


@kernel
def _wider(keys: Ints, children: Ints) -> tuple[Ints, Ints]:
    """Returns the same keys in twice as many places."""
    more, values = np.full(2 * len(keys), _NONE), np.zeros(2 * len(keys), np.int64)
    for at in range(len(keys)):
        if keys[at] != _NONE:
            place = _slot(more, keys[at])
            more[place], values[place] = keys[at], children[at]
    return more, values


@kernel
def _made(nodes: Ints, at: int, owner: int, parent: int, low: int, high: int, most: int) -> None:
    """Writes a new node."""
    nodes[at, :] = _NONE
    nodes[at, _OWNER], nodes[at, _PARENT] = owner, parent
    nodes[at, _LOW], nodes[at, _HIGH] = low, high
    nodes[at, _COUNT], nodes[at, _MOST], nodes[at, _SIZE], nodes[at, _SCORE] = 0, most, 0, 0


@kernel
def _bucket(nodes: Ints, at: int, low: int, high: int) -> int:
    """Returns the smallest bucket that a range fits into."""
    while nodes[at, _LEFT] != _NONE:
        if high <= nodes[nodes[at, _LEFT], _HIGH]:
            at = nodes[at, _LEFT]
        elif low >= nodes[nodes[at, _RIGHT], _LOW]:
            at = nodes[at, _RIGHT]
        else:
            break
    return at


@kernel
def _placed(
    start: Starts, attribute: Ints, low: Ints, high: Ints, row: int, names: int,
    nodes: Ints, keys: Ints, children: Ints,
) -> int:  # fmt: skip
    """Returns the node where a subscription hangs."""
    at = _ROOT
    while True:
        best, place = _NONE, _NONE
        for each in range(start[row], start[row + 1]):
            key = at * names + attribute[each]
            slot = _slot(keys, key)
            if keys[slot] == key:
                child = children[slot]
                if best == _NONE or nodes[child, _SCORE] > nodes[best, _SCORE]:
                    best, place = child, each
        if best == _NONE:
            return at
        nodes[best, _SCORE] += 1
        at = _bucket(nodes, best, low[place], high[place])


@kernel
def _popular(
    start: Starts, attribute: Ints, nodes: Ints, at: int, following: Ints, tally: Ints
) -> int:
    """Returns the attribute of most subscriptions of a node that its way does not have yet."""
    best, row = _NONE, nodes[at, _HEAD]
    while row != _NONE:
        for each in range(start[row], start[row + 1]):
            tally[attribute[each]] += 1
        row = following[row]
    above = at
    while above != _ROOT:
        tally[nodes[above, _OWNER]] = 0
        above = nodes[above, _PARENT]
    for clears in (False, True):
        row = nodes[at, _HEAD]
        while row != _NONE:
            for each in range(start[row], start[row + 1]):
                name = attribute[each]
                if clears:
                    tally[name] = 0
                elif tally[name] > 0 and (best == _NONE or tally[name] > tally[best]):
                    best = name
            row = following[row]
    return best


@kernel
def _hang(nodes: Ints, at: int, row: int, following: Ints) -> None:
    following[row] = nodes[at, _HEAD]
    nodes[at, _HEAD] = row
    nodes[at, _COUNT] += 1


@kernel
def _moved(
    start: Starts, attribute: Ints, low: Ints, high: Ints,
    nodes: Ints, at: int, name: int, bucket: int, following: Ints,
) -> None:  # fmt: skip
    """Hangs what has a predicate of an attribute into its bucket, and the rest where it was."""
    row = nodes[at, _HEAD]
    nodes[at, _HEAD], nodes[at, _COUNT] = _NONE, 0
    while row != _NONE:
        after, to = following[row], at
        for each in range(start[row], start[row + 1]):
            if attribute[each] == name:
                to = _bucket(nodes, bucket, low[each], high[each])
                break
        _hang(nodes, to, row, following)
        row = after


@kernel
def _divided(
    start: Starts, attribute: Ints, low: Ints, high: Ints, spaces: Ints, capacity: int,
    nodes: Ints, used: int, at: int, keys: Ints, children: Ints, following: Ints, tally: Ints,
) -> int:  # fmt: skip
    """Cuts a node of too many; returns how many nodes there are then."""
    first, last, name = nodes[at, _LOW], nodes[at, _HIGH], nodes[at, _OWNER]
    if at != _ROOT and nodes[at, _LEFT] == _NONE and first < last:
        half, parent = (first + last) // 2, nodes[at, _PARENT]
        _made(nodes, used, name, parent, first, half, capacity)
        _made(nodes, used + 1, name, parent, half + 1, last, capacity)
        nodes[at, _LEFT], nodes[at, _RIGHT] = used, used + 1
        _moved(start, attribute, low, high, nodes, at, name, at, following)
        return used + 2
    name = _popular(start, attribute, nodes, at, following, tally)
    if name == _NONE:
        nodes[at, _MOST] = 2 * nodes[at, _COUNT]
        return used
    _made(nodes, used, name, at, 0, spaces[name], capacity)
    slot = _slot(keys, at * len(spaces) + name)
    keys[slot], children[slot] = at * len(spaces) + name, used
    nodes[used, _NEXT], nodes[at, _FIRST] = nodes[at, _FIRST], used
    nodes[at, _SIZE] += 1
    _moved(start, attribute, low, high, nodes, at, name, used, following)
    nodes[used, _SCORE] = nodes[used, _COUNT]
    return used + 1


@kernel
def _built(
    start: Starts, attribute: Ints, low: Ints, high: Ints, spaces: Ints, capacity: int,
    following: Ints,
) -> tuple[Ints, Ints, Ints]:  # fmt: skip
    """Inserts the subscriptions one by one."""
    nodes, used, keyed = np.empty((64, _FIELDS), np.int64), 1, 0
    keys, children = np.full(64, _NONE), np.zeros(64, np.int64)
    stack, tally = np.empty(_DEEP, np.int64), np.zeros(len(spaces), np.int64)
    _made(nodes, _ROOT, _NONE, _NONE, 0, 0, capacity)
    for row in range(len(start) - 1):
        stack[0], depth = (
            _placed(start, attribute, low, high, row, len(spaces), nodes, keys, children),
            1,
        )
        _hang(nodes, stack[0], row, following)
        while depth:
            depth -= 1
            at = stack[depth]
            if nodes[at, _COUNT] <= nodes[at, _MOST]:
                continue
            if used + 2 > len(nodes):
                more = np.empty((2 * len(nodes), _FIELDS), np.int64)
                more[:used] = nodes[:used]
                nodes = more
            if 2 * keyed >= len(keys):
                keys, children = _wider(keys, children)
            before = used
            used = _divided(
                start, attribute, low, high, spaces, capacity,
                nodes, used, at, keys, children, following, tally,
            )  # fmt: skip
            keyed += used == before + 1
            for each in range(before, used):
                stack[depth] = each
                depth += 1
            stack[depth] = at
            depth += used > before
    return nodes[:used].copy(), keys, children


@kernel
def _laid_out(nodes: Ints, following: Ints) -> tuple[Ints, Ints]:
    """Returns the subscriptions node by node, and where each node's begin."""
    first, order, at = np.empty(len(nodes) + 1, np.int64), np.empty_like(following), 0
    for node in range(len(nodes)):
        first[node] = at
        row = nodes[node, _HEAD]
        while row != _NONE:
            order[at] = row
            at += 1
            row = following[row]
    first[len(nodes)] = at
    return first, order


@kernel
def _stabbed(nodes: Ints, at: int, value: int, stack: Ints, depth: int) -> int:
    """Appends the buckets of a value that have anything."""
    while True:
        if nodes[at, _COUNT] or nodes[at, _SIZE]:
            stack[depth] = at
            depth += 1
        if nodes[at, _LEFT] == _NONE:
            return depth
        left = nodes[at, _LEFT]
        at = left if value <= nodes[left, _HIGH] else nodes[at, _RIGHT]


@kernel
def _matched(
    nodes: Ints, keys: Ints, children: Ints, first: Ints, names: int,
    start: Starts, attribute: Codes, low: Codes, high: Codes, extra: Extra, sets: Sets,
    event: Codes, absent: int, there: Ints, stack: Ints, found: Ints,
) -> int:  # fmt: skip
    """Writes which places of the layout match, and returns how many."""
    count, depth = 0, 1
    stack[0] = _ROOT
    while depth:
        depth -= 1
        at = stack[depth]
        for row in range(first[at], first[at + 1]):
            true = True
            for each in range(start[row], start[row + 1]):
                value = event[attribute[each]]
                if not holds(low[each], high[each], extra[each], sets, value, absent):
                    true = False
                    break
            found[count] = row
            count += true
        if nodes[at, _SIZE] < len(there):
            child = nodes[at, _FIRST]
            while child != _NONE:
                value = event[nodes[child, _OWNER]]
                if value != absent:
                    depth = _stabbed(nodes, child, value, stack, depth)
                child = nodes[child, _NEXT]
        else:
            for name in there:
                slot = _slot(keys, at * names + name)
                if keys[slot] == at * names + name:
                    depth = _stabbed(nodes, children[slot], event[name], stack, depth)
    return count
