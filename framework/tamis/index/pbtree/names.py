"""Keeps the ids of rows beside them, in the commits that change them.

An integer below 2 ** 31 is its own row, and takes nothing; any other id has a row from there on, is
in the record of the row, and in a tree by its hash.
Cost: O(log n) pages an id to add and remove, and to name a row of a string.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.index.ids import Id, checked_ids
from tamis.index.pbtree.nodes import EQUAL, ListPlace, run_of
from tamis.index.pbtree.store import PageStore, PageTally
from tamis.index.pbtree.tree import Tree
from tamis.numeric.types import Ints

_FIRST = 1 << 31


class Names:
    """The ids of an index on disk: what `tamis.index.ids.Ids` is to one in memory."""

    def __init__(
        self, store: PageStore, tree: Tree, has: Callable[[int], bool], name_of: Callable[[int], Id]
    ) -> None:
        self._store = store
        self.tree = tree
        self._has, self._name_of = has, name_of
        self.waiting: dict[int, Id] = {}
        """Ids of rows that are about to be inserted."""

    def __len__(self) -> int:
        return self._store.meta.rows

    def __contains__(self, id: object) -> bool:
        try:
            return self._row_of(checked_ids([id])[0]) is not None  # type: ignore[list-item]
        except ValueError:
            return False

    def _row_of(self, id: Id) -> int | None:
        if not isinstance(id, str) and 0 <= id < _FIRST:
            return id if self._has(id) else None
        key = _key(id)
        for run in self.tree.window(key, key, PageTally()):
            for row in run.rows.tolist():
                if self._name_of(row) == id:
                    return int(row)
        return None

    @contextmanager
    def added(self, ids: Sequence[Id] | NDArray[Any]) -> Iterator[Ints]:
        """Gives ids rows, for the insertion inside; `ValueError` if one is taken."""
        taken = checked_ids(ids)
        seen: set[Id] = set()
        for id in taken:
            if id in seen or (len(self) and self._row_of(id) is not None):
                raise ValueError(
                    f"the id {id!r} is taken; tamis.index.open reads what a folder holds"
                )
            seen.add(id)
        rows, name = [], self._store.meta.next_name
        waiting: dict[int, Id] = {}
        for id in taken:
            if not isinstance(id, str) and 0 <= id < _FIRST:
                rows.append(id)
            else:
                waiting[name] = id
                rows.append(name)
                name += 1
        self.waiting = waiting
        try:
            yield np.array(rows, np.int64)
        finally:
            self.waiting = {}

    def add_waiting(self) -> None:
        """Takes the ids of rows that are being inserted."""
        if self.waiting:
            entries = sorted((_key(id), row) for row, id in self.waiting.items())
            keys, rows = (list(column) for column in zip(*entries, strict=True))
            self.tree.insert(EQUAL, run_of(keys, rows, [0] * len(rows), [b""] * len(rows)))
            self._store.meta.next_name = max(self.waiting) + 1

    def remove(self, ids: Sequence[Id] | NDArray[Any]) -> Ints:
        """Returns the rows of ids that are about to be deleted; `KeyError` if one is unknown."""
        given = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
        rows: dict[int, None] = {}
        for id in given:
            row = self._row_of(id) if id in self else None
            if row is None or row in rows:
                raise KeyError(id)
            rows[row] = None
        return np.array(list(rows), np.int64)

    def forget(self, row: int, id: Id | None) -> None:
        """Removes the id of a row that is being deleted."""
        if id is not None:
            self.tree.delete(EQUAL, ListPlace(_key(id), row))

    def of(self, rows: Ints) -> NDArray[Any]:
        """Returns the ids of rows that are there."""
        named = np.flatnonzero(rows >= _FIRST)
        if not len(named):
            return rows
        ids = rows.astype(object)
        ids[named] = [self._name_of(row) for row in rows[named].tolist()]
        return ids

    def save(self, path: Path) -> None:
        """Does nothing: ids are saved with the rows."""

    def load(self, path: Path) -> None:
        """Does nothing, likewise."""


def _key(id: Id) -> int:
    """Returns the key of an id in the tree."""
    whole = f"{type(id).__name__}:{id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(whole, digest_size=8).digest(), "big")
