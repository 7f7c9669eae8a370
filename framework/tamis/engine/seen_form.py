"""Keeps rows of numbers by text, and chooses the form of what computes with them.

The interpreter works on lists. Once a problem was large, rows are of an array, and compiled
functions work on them: the same functions on the same numbers. Which form runs depends on the sizes
of problems alone. Cost: O(1) a row; O(rows) when a form is changed or rows are forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from tamis.catalog.interned import NumberedThings
from tamis.engine import seen
from tamis.numeric.types import Floats, Ints
from tamis.statistics.shares import credible_shares
from tamis.waiting import COMPILING, waiting_for


class RowForm(NamedTuple):
    """The functions of `seen` in one form, and what makes the sequences that they take."""

    rows: Callable[[Any], Any]
    numbers: Callable[[Collection[int]], Any]
    flags: Callable[[Sequence[int]], Any]
    seconds: Callable[[Sequence[float]], Any]
    given: Callable[[Any], Any]
    """Makes what they take of an array."""
    room: Callable[[int], Any]
    unseen: Callable[[Any, Any], list[int]]
    """Finds which of some rows are of what was only asked for."""
    take_outcomes: Callable[..., bool]
    take_answers: Callable[..., bool]
    expect_selectivities: Callable[..., None]
    expect_calls: Callable[..., None]


class Table:
    """Rows of numbers by text."""

    def __init__(self, form: RowForm, width: int) -> None:
        self.places: dict[str, int] = {}
        self._width, self._size = width, 0
        self.rows: Any = form.rows(np.zeros((0, width)))
        self._numbered: Ints = np.zeros(0, np.int64)
        """The row of each number, and the serial that had the number then."""
        self._serials: Ints = np.zeros(0, np.int64)

    def add_all(
        self, texts: Collection[str], row: Floats, columns: Mapping[int, Sequence[float]]
    ) -> int:
        """Adds rows like this one under texts that have none, with columns of their own; returns
        where they begin."""
        start, self._size = self._size, self._size + len(texts)
        self.places.update(zip(texts, range(start, self._size), strict=True))
        if isinstance(self.rows, list):
            self.rows += [row.tolist() for _ in texts]
            for column, values in columns.items():
                for at, value in enumerate(values, start):
                    self.rows[at][column] = float(value)
        elif texts:
            if self._size > len(self.rows):
                more = np.zeros((3 * self._size // 2 + 16 - len(self.rows), self._width))
                self.rows = np.concatenate([self.rows, more])
            self.rows[start : self._size] = row
            for column, values in columns.items():
                self.rows[start : self._size, column] = values
        return start

    def places_of(
        self, things: NumberedThings[Any], place: Callable[[Sequence[Any]], list[int]]
    ) -> Ints:
        """Returns where the rows of numbered things are; `place` is asked for those not known.

        A number says where, as long as its serial is the one that had it."""
        numbers, serials = things.numbers, things.serials
        try:
            known = self._serials[numbers]
        except IndexError:
            more = np.zeros(int(numbers.max()) + 16, np.int64)
            self._serials = np.concatenate([self._serials, more])
            self._numbered = np.concatenate([self._numbered, more])
            known = self._serials[numbers]
        places: Ints = self._numbered[numbers]
        unknown = np.flatnonzero(known != serials)
        if len(unknown):
            places[unknown] = place([things[at] for at in unknown.tolist()])
            self._numbered[numbers] = places
            self._serials[numbers] = serials
        return places

    def change(self, form: RowForm) -> None:
        """Makes the rows what another form takes."""
        self.rows = form.rows(np.array(self.rows, np.float64).reshape(-1, self._width))

    def latest(self, capacity: int) -> list[int]:
        """Returns the places of what was seen; of more rows than there may be, the latest half."""
        places = sorted(self.places.values(), key=lambda place: float(self.rows[place][seen.AT]))
        half = places[len(places) // 2 :] if len(places) > capacity else places
        return [place for place in half if self.rows[place][seen.AT] >= 0.0]

    def keep(self, named: Collection[int], others: Collection[int] = ()) -> dict[int, int]:
        """Forgets all rows but these, and the texts of those others; says where each is now."""
        moved = {place: at for at, place in enumerate(sorted({*named, *others}))}
        wanted = set(named)
        self.places = {text: moved[place] for text, place in self.places.items() if place in wanted}
        kept = [self.rows[place] for place in moved]
        is_list = isinstance(self.rows, list)
        self.rows = kept if is_list else np.array(kept).reshape(-1, self._width)
        self._size = len(kept)
        self._serials[:] = 0
        return moved


def _given(values: Any) -> Any:
    return values


def _unseen(table: list[list[float]], rows: list[int]) -> list[int]:
    return [at for at, row in enumerate(rows) if table[row][seen.AT] < 0.0]


INTERPRETED = RowForm(
    lambda array: array.tolist(),
    _given,
    _given,
    _given,
    lambda array: array.tolist(),
    lambda size: [0.0] * size,
    _unseen,
    seen.take_outcomes,
    seen.take_answers,
    seen.expect_selectivities,
    seen.expect_calls,
)


def _unseen_of_array(table: Floats, rows: Ints) -> list[int]:
    found: list[int] = np.flatnonzero(table[rows, seen.AT] < 0.0).tolist()
    return found


@cache
def compiled_form() -> RowForm:
    """Returns the compiled form, ready to be used."""
    from tamis.engine import seen_compiled as made

    form = RowForm(
        _given,
        partial(np.fromiter, dtype=np.int64),
        partial(np.fromiter, dtype=np.uint8),
        partial(np.fromiter, dtype=np.float64),
        partial(np.ascontiguousarray, dtype=np.int32),
        np.empty,
        _unseen_of_array,
        made.take_outcomes_compiled,
        made.take_answers_compiled,
        made.expect_selectivities_compiled,
        made.expect_calls_compiled,
    )
    with waiting_for(COMPILING):
        _exercise(form)
    return form


def _exercise(form: RowForm) -> None:
    """Calls each function of a form, so that it is compiled."""
    widths = (seen.TEST_WIDTH, seen.CALL_WIDTH, seen.OPERATOR_WIDTH)
    tests, calls, operators = (form.rows(np.zeros((1, width))) for width in widths)
    numbers, flags, seconds = form.numbers([0]), form.flags([1]), form.seconds([0.0])
    limits, now, room = credible(form), 1, form.room(1)
    given = form.given(np.zeros(1, np.int32))
    form.take_outcomes(tests, calls, operators, limits, numbers, given, given, now)
    form.take_answers(
        *(calls, operators, limits, numbers, numbers, flags, flags, seconds, numbers, now)
    )
    form.expect_selectivities(tests, calls, operators, numbers, now, room)
    form.expect_calls(calls, operators, numbers, now, room, room, room)


@cache
def credible(form: RowForm) -> Any:
    """Returns the credible shares as a form takes them."""
    return form.rows(credible_shares())
