"""Compiles the numbering of a problem: one pass over the edges, and one over what they lead to."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.numeric.kernels import inlined, kernel
from tamis.numeric.types import Ints
from tamis.numeric.views import bare_at

_WORD, _BITS = 31, 5
"""Numbers are bits of words; a word has so many of them that its sign is never one."""


@inlined
def ascending(numbers: Ints, most: int) -> Ints:
    """Puts in the place of each number below `most` its rank; returns the numbers by their rank."""
    words = np.zeros((most >> _BITS) + 1, np.int64)
    for number in numbers:
        words[number >> _BITS] |= 1 << (number & _WORD)
    found = np.empty(min(most, len(numbers)), np.int64)
    rank = np.empty(most, np.int32)
    made = 0
    for at in range(len(words)):
        word, number = words[at], at << _BITS
        while word:
            if word & 1:
                found[made] = number
                rank[number] = made
                made += 1
            word >>= 1
            number += 1
    for at in range(len(numbers)):
        numbers[at] = rank[numbers[at]]
    return found[:made].copy()


@inlined
def by_first_use(numbers: Ints, column: Any) -> tuple[Ints, Ints]:
    """Returns what a column says of numbers, each once, and the place there of each number's, -1
    where it says nothing.

    The table of places has whatever was in memory: an entry counts if what is there leads to it."""
    count, most = len(numbers), -1
    for number in numbers:
        most = max(most, column[number])
    place_of = np.empty(most + 1, np.int32)
    found = np.empty(count, np.int64)
    places = np.empty(count, np.int64)
    made = 0
    for at in range(count):
        said = column[numbers[at]]
        if said < 0:
            places[at] = -1
            continue
        place = place_of[said]
        if place < 0 or place >= made or found[place] != said:
            place = made
            place_of[said] = made
            found[made] = said
            made += 1
        places[at] = place
    return found[:made].copy(), places


@kernel
def numbered_compiled(places: Ints, rows: Ints, tests: int, subscriptions: int) -> Any:
    """Does what `numbering.numbered` does, on the arrays of the catalog at these places."""
    edge_start, edge_count = bare_at(places, 0, np.int64), bare_at(places, 1, np.int32)
    all_tests, all_signs = bare_at(places, 2, np.int32), bare_at(places, 3, np.int8)
    subscription = bare_at(places, 4, np.int32)
    count = len(rows)
    start, owner = np.empty(count + 1, np.int64), np.empty(count, np.int64)
    start[0] = 0
    is_ascending = True
    for at in range(count):
        start[at + 1] = start[at] + edge_count[rows[at]]
        owner[at] = subscription[rows[at]]
        is_ascending = is_ascending and (at == 0 or owner[at] > owner[at - 1])
    edge_test, edge_sign = np.empty(start[count], np.int64), np.empty(start[count], np.int8)
    for at in range(count):
        shift = edge_start[rows[at]] - start[at]
        for edge in range(start[at], start[at + 1]):
            edge_test[edge] = all_tests[shift + edge]
            edge_sign[edge] = all_signs[shift + edge]
    numbers = ascending(edge_test, tests)
    if is_ascending:  # of one alternative each
        owners = owner.copy()
        for at in range(count):
            owner[at] = at
    else:
        owners = ascending(owner, subscriptions)
    calls, test_call = by_first_use(numbers, bare_at(places, 5, np.int32))
    preparations, call_group = by_first_use(calls, bare_at(places, 6, np.int32))
    inputs, call_inputs = by_first_use(calls, bare_at(places, 7, np.int32))
    _, call_batch = by_first_use(calls, bare_at(places, 8, np.int32))
    return (
        numbers, calls, preparations, inputs, owners, start, edge_test, edge_sign, owner,
        test_call, call_group, call_batch, call_inputs,
    )  # fmt: skip
