"""Numbers what candidates ask densely: tests ascending, calls and what goes with them by first use.

Problems that compiled functions serve are numbered by one of them, small ones by NumPy, alike.
Cost: O(edges of the candidates), and a bit for each test that is subscribed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.catalog.catalog import stretches
from tamis.numeric.types import Ints, TinyInts
from tamis.planning import is_large_problem
from tamis.waiting import COMPILING, waiting_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from tamis.catalog.catalog import Catalog

_SPARSE = 32
"""So many numbers there may be for each that is used, for a table of them all to be made."""
_FIRST = np.zeros(1, np.int64)
_FEW = 32
"""Numbers that are sooner sorted one by one than as arrays."""
_COLUMNS = (np.int64, np.int32, np.int32, np.int8, *(5 * [np.int32]))


class DenseNumbers(NamedTuple):
    """The numbers that the catalog has for what candidates ask, and dense ones in their places."""

    tests: Ints
    """Ascending; this and the others are numbers of the catalog, in the order of the dense ones."""
    calls: Ints
    preparations: Ints
    inputs: Ints
    subscriptions: Ints
    """Ascending."""
    alternative_start: Ints
    """The edges of each alternative; and by dense numbers:"""
    edge_test: Ints
    edge_sign: TinyInts
    owner: Ints
    test_call: Ints
    call_group: Ints
    call_batch: Ints
    call_inputs: Ints


def numbered(catalog: Catalog, rows: NDArray[Any]) -> DenseNumbers:
    """Returns the numbers of these alternatives, whose rows ascend."""
    if not is_large_problem(0, int(rows[-1])):
        counts = catalog.edge_count.room[rows]
        if not is_large_problem(int(counts.sum()), 0):
            return _numbered(catalog, rows, counts)
    traits = catalog.traits
    columns = (
        *(catalog.edge_start, catalog.edge_count, catalog.edge_test, catalog.edge_sign),
        *(catalog.alternative_subscription, traits.call_of, traits.preparation),
        *(traits.required, traits.batch),
    )
    found = compiled_numbering()(
        [each.room for each in columns], rows, len(traits.call_of), catalog.subscription_rows
    )
    return DenseNumbers._make(found)


@cache
def compiled_numbering() -> Callable[..., Any]:
    """Returns the compiled form, ready to be used."""
    with waiting_for(COMPILING):
        from tamis.engine.numbering_compiled import numbered_compiled
        from tamis.numeric.views import places_of

        def form(
            columns: list[NDArray[Any]], rows: NDArray[Any], tests: int, subscriptions: int
        ) -> tuple[Ints, ...]:
            rows = rows.astype(np.int64, copy=False)
            found: tuple[Ints, ...] = numbered_compiled(
                places_of(columns), rows, tests, subscriptions
            )
            return found

        form([np.zeros(1, each) for each in _COLUMNS], np.zeros(1, np.int64), 1, 1)
    return form


def _numbered(catalog: Catalog, rows: NDArray[Any], counts: NDArray[Any]) -> DenseNumbers:
    traits = catalog.traits
    places = stretches(catalog.edge_start.room[rows], counts)
    tests, edge_test = dense(catalog.edge_test.room[places], len(traits.call_of))
    subscriptions, owner = dense(
        catalog.alternative_subscription.room[rows], catalog.subscription_rows
    )
    calls, test_call = by_first_use(traits.call_of.room[tests])
    preparations, call_group = by_first_use(traits.preparation.room[calls])
    inputs, call_inputs = by_first_use(traits.required.room[calls])
    return DenseNumbers(
        *(tests, calls, preparations, inputs, subscriptions, starts(counts)),
        *(edge_test.astype(np.int64), catalog.edge_sign.room[places], owner.astype(np.int64)),
        *(test_call, call_group, by_first_use(traits.batch.room[calls])[1], call_inputs),
    )


def starts(counts: NDArray[Any]) -> Ints:
    """Returns where stretches of these lengths begin, and where the last one ends."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def dense(numbers: NDArray[Any], most: int) -> tuple[Ints, Ints]:
    """Returns the distinct numbers below `most`, ascending, and each number's place there."""
    count = len(numbers)
    if count and np.count_nonzero(numbers == numbers[0]) == count:
        return numbers[:1], np.zeros(count, np.int64)
    if np.count_nonzero(numbers[1:] > numbers[:-1]) >= count - 1:  # of one alternative each
        return numbers, np.arange(count)
    if count <= _FEW:
        listed = numbers.tolist()
        known = sorted(set(listed))
        place_of = {number: at for at, number in enumerate(known)}
        return np.array(known, np.int64), np.array([place_of[each] for each in listed], np.int64)
    if most > _SPARSE * count:
        return np.unique(numbers, return_inverse=True)
    is_used = np.zeros(most, np.bool_)
    is_used[numbers] = True
    distinct = np.flatnonzero(is_used)
    place = np.empty(most, np.int64)
    place[distinct] = np.arange(len(distinct))
    return distinct, place[numbers]


def by_first_use(numbers: NDArray[Any]) -> tuple[Ints, Ints]:
    """Returns the distinct numbers in the order of their first use, and the place of each among
    them; what has no number (-1) has no place (-1)."""
    numbers, count = numbers.astype(np.int64), len(numbers)
    if count == 1:
        return (numbers, _FIRST) if numbers[0] >= 0 else (numbers[:0], numbers)
    if count and np.count_nonzero(numbers == numbers[0]) == count:  # as of what prepares nothing
        return (numbers[:1], numbers - numbers[0]) if numbers[0] >= 0 else (numbers[:0], numbers)
    if count <= _FEW:
        listed = numbers.tolist()
        known = [number for number in dict.fromkeys(listed) if number >= 0]
        place_of = {number: at for at, number in enumerate(known)}
        places = [place_of.get(number, -1) for number in listed]
        return np.array(known, np.int64), np.array(places, np.int64)
    distinct, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    if len(distinct) and distinct[0] < 0:
        distinct, first, place = distinct[1:], first[1:], place - 1
    order = np.argsort(first)
    rank = np.full(len(distinct) + 1, -1)
    rank[order] = np.arange(len(distinct))
    return distinct[order], rank[place]
