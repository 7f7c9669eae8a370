"""Maps ids, the users' names for rows (strings or integers), to rows.

Integers that come in an array and ascend from all before, as columns mostly have them, are found in
an array; all others take an entry in a dictionary.
Cost: O(1) an id, O(log n) one of the array.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.numeric.growing import GrowingArray
from tamis.numeric.types import Ints

Id = str | int
_NOBODY = -1
_SMALL = 1_024
_NO_ID = -(2**63)
_CACHED, _FEW = 1 << 15, 16
"""So many strings a cache holds; and so few are not worth being asked for ahead."""


class Ids:
    """The ids of rows. Rows of ids that were removed are used again."""

    def __init__(self) -> None:
        self._forget_all()

    def _forget_all(self) -> None:
        self._rows: dict[Id, int] = {}
        self._sorted = GrowingArray(np.int64)
        self._sorted_rows = GrowingArray(np.int64)
        self._is_gapless = True
        self._integers = GrowingArray(np.int64)
        self._names = GrowingArray(object)
        self._name_count = 0
        self._fetch: Callable[[Ints], None] | None = None
        self._named = GrowingArray(np.bool_)
        self._alive = GrowingArray(np.bool_)
        self._free = GrowingArray(np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, id: object) -> bool:
        return self._rows_of([id])[0] != _NOBODY  # type: ignore[list-item]

    def _rows_of(self, ids: list[Id]) -> list[int]:
        """Returns the rows of ids, `_NOBODY` for each that is unknown."""
        rows = [
            self._rows.get(id, _NOBODY) if type(id) in (str, int) or _is_integer(id) else _NOBODY
            for id in ids
        ]
        if len(self._sorted) and _NOBODY in rows:
            places = [place for place, row in enumerate(rows) if row == _NOBODY]
            wanted = [ids[place] if _is_integer(ids[place]) else _NO_ID for place in places]
            found = self._in_block(np.array(wanted, np.int64))
            for place, row, id in zip(places, found.tolist(), wanted, strict=True):
                if row != _NOBODY and id == ids[place]:
                    rows[place] = row
        return rows

    def _any_known(self, ids: Sequence[Id] | NDArray[Any], distinct: set[Id]) -> bool:
        """Returns whether any of the ids may have a row."""
        if not self._rows.keys().isdisjoint(distinct):
            return True
        if not len(self._sorted):
            return False
        return not _are_integers(ids) or bool((self._in_block(_as_array(ids)) != _NOBODY).any())

    def _rows_of_integers(self, ids: Ints) -> Ints:
        """Returns the rows of integers, `_NOBODY` for each that is unknown."""
        rows = self._in_block(ids) if len(self._sorted) else np.full(len(ids), _NOBODY)
        others = np.flatnonzero(rows == _NOBODY)
        if len(others):
            rows[others] = [self._rows.get(id, _NOBODY) for id in ids[others].tolist()]
        return rows

    def _in_block(self, ids: Ints) -> Ints:
        """Returns the rows of integers that still have the rows they began with."""
        last = len(self._sorted) - 1
        if self._is_gapless:
            places = np.minimum(np.maximum(ids - self._sorted[0], 0), last)
        else:
            places = np.minimum(np.searchsorted(self._sorted.view, ids), last)
        rows: Ints = self._sorted_rows[places]
        holds = (self._sorted[places] == ids) & self._alive.view[rows]
        holds &= self._integers.view[rows] == ids
        holds &= ~self._named.view[rows]
        return np.where(holds, rows, _NOBODY)

    def add(self, ids: Sequence[Id] | NDArray[Any]) -> Ints:
        """Adds rows for new ids, all or none; `ValueError` if one is taken."""
        ids = np.asarray(ids, np.int64) if self._goes_on(ids) else self._untaken(ids)
        reused = max(0, len(self._free) - len(ids))
        rows = self._free[reused : len(self._free)]
        self._free.size = reused
        first = self._integers.reserve(len(ids) - len(rows))
        for column in (self._alive, self._named):
            column.reserve(len(ids) - len(rows))
        rows = np.append(rows, np.arange(first, len(self._integers)))
        if isinstance(ids, np.ndarray):
            self._take_block(ids, rows)
        else:
            self._rows.update(zip(ids, rows.tolist(), strict=True))
        self._name(rows, ids)
        self._alive[rows] = True
        self._count += len(rows)
        return rows

    def _goes_on(self, ids: Sequence[Id] | NDArray[Any]) -> bool:
        """Returns whether ids are integers that ascend from the last of those that did."""
        if not len(ids) or not _ascends(ids):
            return False
        if not self._count:
            self._forget_all()
        if len(self._sorted) and ids[0] <= self._sorted[len(self._sorted) - 1]:
            return False
        return not self._rows or self._rows.keys().isdisjoint(np.asarray(ids).tolist())

    def _untaken(self, ids: Sequence[Id] | NDArray[Any]) -> list[Id]:
        """Returns ids one by one; `ValueError` if one is taken."""
        taken = checked_ids(ids)
        known = set(taken)
        if len(known) < len(taken):
            raise ValueError(f"the id {_twice(taken)!r} is taken")
        if self._any_known(ids, known):
            for id, row in zip(taken, self._rows_of(taken), strict=True):
                if row != _NOBODY:
                    raise ValueError(f"the id {id!r} is taken")
        return taken

    def _take_block(self, ids: NDArray[Any], rows: Ints) -> None:
        """Takes ids that go on, and forgets those of the block that are gone once they are most."""
        if len(self._sorted) > _SMALL + 2 * self._count:
            kept = self._in_block(self._sorted.view) != _NOBODY
            self._sorted_rows = GrowingArray(np.int64, self._sorted_rows.view[kept])
            self._sorted = GrowingArray(np.int64, self._sorted.view[kept])
        self._sorted.extend(ids)
        self._sorted_rows.extend(rows)
        reach = int(self._sorted[len(self._sorted) - 1]) - int(self._sorted[0])
        self._is_gapless = reach + 1 == len(self._sorted)

    @contextmanager
    def added(self, ids: Sequence[Id] | NDArray[Any]) -> Iterator[Ints]:
        """Adds ids for as long as nothing fails that is done with their rows."""
        rows = self.add(ids)
        try:
            yield rows
        except BaseException:
            self.remove(ids)
            raise

    def _name(self, rows: Ints, ids: Sequence[Id] | NDArray[Any]) -> None:
        """Notes what rows are called: in an array where that can hold it."""
        named = not (_are_integers(ids) or _only_integers(ids))
        try:
            self._integers[rows] = 0 if named else _as_array(ids)
        except OverflowError:
            named = True
        self._named[rows] = named
        if named:
            self._fetch = None
            self._names.reserve(max(0, len(self._integers) - len(self._names)))
            self._names[rows] = np.array(ids, object)
            self._name_count += len(rows)

    def remove(self, ids: Sequence[Id] | NDArray[Any]) -> Ints:
        """Returns the rows of ids, which have them no longer; `KeyError` if one is unknown."""
        taken: list[Id] = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
        found = (
            self._rows_of_integers(_as_array(ids))
            if _are_integers(ids)
            else np.array(self._rows_of(taken), np.int64)
        )
        unknown = np.flatnonzero(found == _NOBODY)
        if len(unknown):
            raise KeyError(taken[int(unknown[0])])
        if len(np.unique(found)) < len(found):
            raise KeyError(_twice(taken))
        if self._rows:
            for id in taken:
                self._rows.pop(id, None)
        if self._name_count:
            named = found[self._named.view[found]]
            self._names[named] = None
            self._name_count -= len(named)
        self._alive[found] = False
        self._free.extend(found)
        self._count -= len(found)
        return found

    def of(self, rows: Ints) -> NDArray[Any]:
        """Returns the ids of rows that are there."""
        if not self._name_count:
            return self._integers.view[rows]
        if self._name_count == self._count:
            names = self._names.view
            if len(names) > _CACHED and len(rows) > _FEW:
                if self._fetch is None:
                    self._fetch = _fetching(names)
                self._fetch(rows)
            return names[rows]
        ids = self._integers.view[rows].astype(object)
        named = np.flatnonzero(self._named.view[rows])
        ids[named] = self._names.view[rows[named]]
        return ids

    def save(self, path: Path) -> None:
        """Writes a file of JSON."""
        alive = np.flatnonzero(self._alive.view)
        path.write_text(json.dumps([alive.tolist(), self.of(alive).tolist()]), encoding="utf-8")

    def load(self, path: Path) -> None:
        """Takes, when new, what `save` wrote."""
        rows, ids = json.loads(path.read_text(encoding="utf-8"))
        if rows == list(range(len(rows))):
            self.add(ids)
            return
        last = max(rows) + 1
        for column in (self._integers, self._alive, self._named):
            column.reserve(last)
        self._free.extend(np.setdiff1d(np.arange(last), rows))
        self._free.extend(rows)
        self.add(ids)


def _fetching(names: NDArray[Any]) -> Callable[[Ints], None]:
    """Returns what asks memory for the names of rows, until names are added."""
    from tamis.index.buckets.names import fetch_names
    from tamis.numeric.views import places_of

    return partial(fetch_names, places_of([names]))


def _is_integer(id: object) -> bool:
    return isinstance(id, Integral) and not isinstance(id, bool) and -(2**63) <= int(id) < 2**63


def _are_integers(ids: Sequence[Id] | NDArray[Any]) -> bool:
    """Returns whether ids are an array of integers of 64 bits."""
    return isinstance(ids, np.ndarray) and (
        ids.dtype.kind == "i" or (ids.dtype.kind == "u" and ids.dtype.itemsize < 8)
    )


def _as_array(ids: Sequence[Id] | NDArray[Any]) -> Ints:
    return np.asarray(ids, np.int64)


def _ascends(ids: Sequence[Id] | NDArray[Any]) -> bool:
    """Returns whether ids are an array of integers, each greater than the one before."""
    if not isinstance(ids, np.ndarray) or ids.dtype.kind not in "iu":
        return False
    return bool((ids[1:] > ids[:-1]).all()) and bool(len(ids) == 0 or ids.max() < 2**63)


def _only_integers(ids: Sequence[Id] | NDArray[Any]) -> bool:
    return not any(type(id) is str for id in ids)


def _twice(ids: list[Id]) -> Id:
    """Returns the first id that is there twice."""
    seen: set[Id] = set()
    return next(id for id in ids if id in seen or seen.add(id))  # type: ignore[func-returns-value]


def checked_ids(ids: Sequence[Id] | NDArray[Any]) -> list[Id]:
    """Returns ids as Python's strings and integers; `ValueError` names one that is neither."""
    taken: list[Id] = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    if _are_integers(ids):
        return taken
    for place, id in enumerate(taken):
        if type(id) is not str and type(id) is not int:
            if not isinstance(id, Integral) or isinstance(id, bool):
                raise ValueError(f"an id is a string or an integer, not {id!r}")
            taken[place] = int(id)
    return taken
