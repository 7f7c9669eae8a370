"""Counts satisfied predicates by row, each decided once (Ashayer, Leung, Jacobsen 2002).

Every distinct predicate has a number, which is used again when nobody asks for it. An attribute of
few values has a *predicate table* (section 3.2): one look-up finds all its predicates that a value
satisfies, and that is what the value says of all others. Values are declared, or discovered as
events have them; an attribute of more values than a table may have, or of too long lines, has its
predicates decided by lists, as a scan decides them. Which rows then have all theirs, an association
says (section 3.3).
Invariant: a table holds, for each of its values, exactly the satisfied predicates.
Cost of a match: a look-up for each attribute, and that of the association.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.event import Event
from tamis.index.associations import BEST, FORMS, Association, best_form
from tamis.index.scan import Column, Scan
from tamis.indexing import Rows
from tamis.language.comparison import SCALAR, Comparison
from tamis.language.values import Scalar, as_scalar
from tamis.numeric.growing import GrowingArray
from tamis.numeric.types import Flags

MOST_VALUES = 4_096
_MOST_NUMBERS = 1 << 23
"""A discovered table that holds more numbers of predicates is given up for lists."""
_SMALL = 64

Key = tuple[bool, Scalar]


class TableColumn(Column):
    """The predicates of one attribute, in a table while it has few values."""

    def __init__(self, most: int, declared: Iterable[Scalar] | None) -> None:
        super().__init__()
        self._most = most
        self._declared = None if declared is None else {_key(value) for value in declared}
        self.rows: dict[Key, GrowingArray] | None = {} if most else None
        """By value, the numbers of the predicates that it satisfies; none of very many values."""
        self._live: set[int] = set()
        """The predicates that a scalar may satisfy: what is dropped may be marked still."""

    def add(self, number: int, comparison: Comparison) -> None:
        """Takes a predicate by its number."""
        super().add(number, comparison)
        if comparison.reads == SCALAR:
            self._live.add(number)
            for row in self._rows_with(comparison):
                row.append(number)

    def drop(self, number: int, comparison: Comparison) -> None:
        """Forgets a predicate."""
        super().drop(number, comparison)
        if comparison.reads == SCALAR:
            self._live.discard(number)
            for row in self._rows_with(comparison):
                row[int(np.flatnonzero(row.view == number)[0])] = row[row.size - 1]
                row.size -= 1

    def _rows_with(self, comparison: Comparison) -> Iterator[GrowingArray]:
        """Yields the rows of the values that satisfy a comparison."""
        if self.rows:
            holds = comparison.compiled()
            yield from (row for (_, value), row in self.rows.items() if holds(value))

    def decide_scalar(self, value: Scalar, truth: Flags) -> None:
        """Marks the predicates that a value satisfies."""
        key, rows = _key(value), self.rows
        row = None if rows is None else rows.get(key)
        if row is not None:
            truth[row.view] = True
        elif rows is None or (self._declared is not None and key not in self._declared):
            super().decide_scalar(value, truth)
        else:
            mine = np.zeros_like(truth)
            super().decide_scalar(value, mine)
            truth |= mine
            numbers = [each for each in np.flatnonzero(mine).tolist() if each in self._live]
            # several threads may come here: each makes the row that the others make
            rows[key] = GrowingArray(np.int32, np.array(numbers, np.int32))
            is_large = self._declared is None and len(rows) * len(numbers) > _MOST_NUMBERS
            if is_large or len(rows) > self._most:
                self.rows = None

    @property
    def nbytes(self) -> int:
        """The memory of the table."""
        return sum(100 + row.nbytes for row in (self.rows or {}).values())


def _key(value: Scalar) -> Key:
    return type(value) is bool, value


def _values(name: str, domain: Iterable[Any]) -> list[Scalar]:
    """Returns the values of a declared domain."""
    values = list(domain)
    scalars = [scalar for value in values if (scalar := as_scalar(value)) is not None]
    if len(scalars) < len(values) or not values:
        raise ValueError(f"the domain of {name} is a list of its values, not {domain!r:.80}")
    return scalars


class CountingIndex(Scan):
    """Predicate tables, and counts of satisfied predicates by row."""

    def __init__(
        self,
        form: str = BEST,
        most_values: int = MOST_VALUES,
        domains: Mapping[str, Iterable[Any]] | None = None,
    ) -> None:
        super().__init__()
        self._form = form
        self._most_values = most_values
        self._domains = {name: _values(name, each) for name, each in (domains or {}).items()}
        self._chosen_for = _SMALL
        self._association: Association = FORMS[best_form(0, 0, 0) if form == BEST else form]()

    def _new_column(self, name: str) -> Column:
        declared = self._domains.get(name)
        return TableColumn(self._most_values if declared is None else len(declared), declared)

    def _add(self, rows: NDArray[Any], counts: NDArray[Any], numbers: list[int]) -> None:
        super()._add(rows, counts, numbers)
        if self._form == BEST and len(self) > self._chosen_for:
            self._choose()
        else:
            self._association.add(np.repeat(rows, counts), np.array(numbers, np.int64))

    def _choose(self) -> None:
        """Associates all rows anew, in the form that is best for them now."""
        self._chosen_for = 2 * len(self)
        rows, numbers = self.pairs()
        self._association = FORMS[best_form(len(self), len(self._numbers), len(rows))]()
        self._association.add(rows, numbers)

    def delete(self, row: int) -> None:
        """Removes a row, which must be there."""
        first = int(self._first[row])
        numbers = self._entry_number[first : first + int(self._needed[row])].copy()
        super().delete(row)
        self._association.remove(row, numbers)

    def match(self, event: Event) -> Rows:
        """Returns the rows whose predicates the event satisfies, each once, in any order."""
        satisfied = np.flatnonzero(self._truth(event))
        return self._association.matching(satisfied, self._needed.view)

    @property
    def form(self) -> str:
        """The name of the association."""
        return self._association.name

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        tables = sum(column.nbytes for column in self._columns.values())
        return super().nbytes + self._association.nbytes + tables
