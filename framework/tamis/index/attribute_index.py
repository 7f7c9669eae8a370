"""An index under the ids of its user, with the same face whatever is inside.

Several threads may match while others insert and delete. Cost: that of the index inside, and a
look-up an answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import IndexFolderError
from tamis.event import DerivedAttribute, Event
from tamis.index.clauses import Clause, predicate_of
from tamis.indexing import Index
from tamis.locks import ReaderWriterLock
from tamis.manifest import read_manifest, write_manifest
from tamis.plugins import installed
from tamis.predicate import AttributePredicate

Id = str | int
FORMAT_VERSION = 1


class AttributeIndex:
    """Which ids have all their attribute predicates satisfied by an event."""

    def __init__(self, name: str) -> None:
        plugins = installed()
        self.name = name
        self._index: Index = plugins.index(name).factory()
        self._derived: Mapping[str, DerivedAttribute] = plugins.attributes
        self._rows: dict[Id, int] = {}
        self._ids: list[Id | None] = []
        self._free: list[int] = []
        self._lock = ReaderWriterLock()
        self._only_integers = True

    def insert(self, id: Id, predicates: Iterable[Clause]) -> None:
        """Adds an id; `ValueError` if it is taken."""
        self._insert([(id, predicates)])

    def _insert(self, clauses: Iterable[tuple[Id, Iterable[Clause]]]) -> None:
        """Adds ids, all or none."""
        parsed: dict[Id, list[AttributePredicate]] = {}
        for id, predicates in clauses:
            if type(id) is not str and isinstance(id, Integral) and not isinstance(id, bool):
                id = int(id)
            if type(id) is not str and type(id) is not int:
                raise ValueError(f"an id is a string or an integer, not {id!r}")
            if id in parsed or id in self._rows:
                raise ValueError(f"the id {id!r} is taken")
            parsed[id] = [predicate_of(clause) for clause in predicates]
        with self._lock.writing():
            for id in parsed:
                if id in self._rows:
                    raise ValueError(f"the id {id!r} is taken")
            entries = [(self._row(id), predicates) for id, predicates in parsed.items()]
            if len(entries) == 1:
                self._index.insert(*entries[0])
            else:
                self._index.build(entries)

    def _row(self, id: Id) -> int:
        if self._free:
            row = self._free.pop()
            self._ids[row] = id
        else:
            row = len(self._ids)
            self._ids.append(id)
        self._rows[id] = row
        self._only_integers = self._only_integers and isinstance(id, int)
        return row

    def delete(self, id: Id) -> None:
        """Removes an id; `KeyError` if it is unknown."""
        with self._lock.writing():
            row = self._rows.pop(id)
            self._index.delete(row)
            self._ids[row] = None
            self._free.append(row)

    def match(self, event: Mapping[str, Any]) -> NDArray[Any]:
        """The ids whose predicates the event satisfies."""
        return self.match_many([event])[0]

    def match_many(self, events: Sequence[Mapping[str, Any]]) -> list[NDArray[Any]]:
        """The same for several events."""
        taken = [self._event(event) for event in events]
        with self._lock.reading():
            return [self._named(rows.tolist()) for rows in self._index.match_many(taken)]

    def _event(self, event: Mapping[str, Any]) -> Event:
        return Event.of(event, str, self._derived)

    def _named(self, rows: list[int]) -> NDArray[Any]:
        ids = [self._ids[row] for row in rows]
        if self._only_integers:
            try:
                return np.array(ids, np.int64)
            except OverflowError:
                pass
        named = np.empty(len(ids), object)
        named[:] = ids
        return named

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, id: object) -> bool:
        return id in self._rows

    @property
    def nbytes(self) -> int:
        """The memory of the index, without the ids."""
        return self._index.nbytes

    def save(self, folder: str | Path) -> None:
        """Writes the index to a folder, which is made if it is not there."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        with self._lock.reading():
            self._index.save(target)
            ids = [[row, id] for id, row in self._rows.items()]
        (target / "ids.json").write_text(json.dumps(ids), encoding="utf-8")
        write_manifest(target, FORMAT_VERSION, index=self.name, rows=len(ids))

    def _load(self, folder: Path, count: int) -> None:
        ids = json.loads((folder / "ids.json").read_text(encoding="utf-8"))
        self._ids = [None] * (1 + max((row for row, _ in ids), default=-1))
        for row, id in ids:
            self._ids[row] = id
            self._rows[id] = row
        self._only_integers = all(isinstance(id, int) for id in self._rows)
        self._free = [row for row, id in enumerate(self._ids) if id is None]
        self._index.load(folder)
        if not count == len(ids) == len(self._index):
            raise IndexFolderError(f"{folder} is damaged: its parts do not have {count} rows each")


def build(name: str, clauses: Iterable[tuple[Id, Iterable[Clause]]]) -> AttributeIndex:
    """Builds an index of `(id, [(attribute, op, value), …])`.

    >>> index = build("scan", [("low", [("altitude", "<", 400)]), ("all", [])])
    >>> sorted(index.match({"altitude": 120}))
    ['all', 'low']
    """
    index = AttributeIndex(name)
    index._insert(clauses)
    return index


def open(folder: str | Path) -> AttributeIndex:
    """Opens an index that was saved."""
    source = Path(folder)
    manifest = read_manifest(
        source, "saved index", FORMAT_VERSION, IndexFolderError, "index", "rows"
    )
    name, rows = manifest["index"], manifest["rows"]
    index = AttributeIndex(name)
    try:
        index._load(source, rows)
    except IndexFolderError:
        raise
    except Exception as bad:
        raise IndexFolderError(
            f"{source} is damaged ({type(bad).__name__}): build the index again"
        ) from bad
    return index
