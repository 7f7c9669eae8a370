"""Gives an index the ids of its user, with the same interface for every index.

Several threads may match while others insert and delete. Cost: that of the index inside, and a
look-up an answer.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from numpy.typing import NDArray

from tamis.errors import DatabaseError, IndexFolderError, UnknownPlugin
from tamis.event import DerivedAttribute, Event
from tamis.files.disk import write_synced
from tamis.files.manifest import NAME as MANIFEST
from tamis.files.manifest import (
    is_manifest_of,
    read_manifest,
    remove_manifest,
    write_manifest,
)
from tamis.index.clauses import Clause, predicate_of, written
from tamis.index.columns import Columns
from tamis.index.ids import Id, Ids
from tamis.indexing import Index, KeptDocument
from tamis.language.predicate import AttributePredicate
from tamis.numeric.locks import ReaderWriterLock
from tamis.numeric.types import Ints
from tamis.plugins.loader import installed
from tamis.statistics import Statistics
from tamis.words import counted

Clauses = Iterable[tuple[Id, Iterable[Clause]]] | Columns
FORMAT_VERSION = 4
_CLAUSES = "clauses"
_IDS = "ids.json"
_PART = 1 << 20
_FOLDER, _LIVES = "folder", "lives"
"""The option of an index that lives in a folder, and the field of the manifest that says so."""


class AttributeIndex:
    """Finds the ids whose attribute predicates all hold for an event."""

    def __init__(
        self, name: str, *, statistics: Statistics | None = None, **options: object
    ) -> None:
        plugins = installed()
        self.name = name
        self.options = options
        self._index: Index = plugins.index(name).made(options)
        self._derived: Mapping[str, DerivedAttribute] = plugins.attributes
        self._ids = Ids() if self._index.names is None else self._index.names
        self._lock = ReaderWriterLock()
        if self._index.folder is not None:
            self._settle_in(self._index.folder)
        if statistics is not None:
            self._index.inform(statistics)
        self._open()

    def _open(self) -> None:
        """Takes the ids that the index keeps from before."""
        keeper = self._index.keeper
        if keeper is None:
            return
        try:
            with keeper.change():
                documents = keeper.read(_CLAUSES)
                try:
                    kept = [json.loads(each.document) for each in documents]
                    rows = self._ids.add([id for id, _ in kept])
                    asked = [list(map(predicate_of, clauses)) for _, clauses in kept]
                except (ValueError, TypeError) as bad:
                    raise DatabaseError(f"{keeper.name} keeps what cannot be taken: {bad}") from bad
                self._index.build(zip(rows.tolist(), asked, strict=True))
                for (id, _), row in zip(kept, rows.tolist(), strict=True):
                    keeper.own(id, [row])
        except BaseException:
            keeper.close()
            raise

    def close(self) -> None:
        """Closes a database or a folder that keeps the ids; the index is used no more."""
        self._index.close()
        if self._index.keeper is not None:
            self._index.keeper.close()

    def _change(self) -> AbstractContextManager[None]:
        """Keeps all that is changed within, or nothing, where the index keeps anything."""
        keeper = self._index.keeper
        return nullcontext() if keeper is None else keeper.change()

    def _keep(self, rows: Ints, asked: Iterable[Sequence[AttributePredicate]]) -> None:
        keeper = self._index.keeper
        if keeper is not None:
            ids = self._ids.of(rows).tolist()
            for id, row, predicates in zip(ids, rows.tolist(), asked, strict=True):
                clauses = [written(predicate) for predicate in predicates]
                keeper.put(id, KeptDocument(json.dumps([id, clauses]), math.inf), [row])

    def _settle_in(self, folder: Path) -> None:
        """Says in the folder of an index that it is opened by `open`."""
        if is_manifest_of(folder, _LIVES):
            return
        if len(self._index):
            self._index.close()
            raise IndexFolderError(f"{folder} holds the index of a matcher, which has no ids")
        manifest = {
            "format_version": FORMAT_VERSION, "index": self.name, "rows": None,
            "options": self._saved_options, "files": {}, _LIVES: True,
        }  # fmt: skip
        write_synced(folder / MANIFEST, json.dumps(manifest, indent=1).encode())

    @property
    def _saved_options(self) -> dict[str, object]:
        """The options without the folder, which is no part of what is saved."""
        return {name: each for name, each in self.options.items() if name != _FOLDER}

    def insert(self, id: Id, predicates: Iterable[Clause]) -> None:
        """Adds an id; `ValueError` if it is taken."""
        self.insert_many([(id, predicates)])

    def insert_many(self, clauses: Clauses) -> None:
        """Adds ids, all or none; `ValueError` if one is taken."""
        if isinstance(clauses, Columns):
            with self._lock.writing(), self._ids.added(clauses.ids) as rows, self._change():
                self._index.build_columns(rows, clauses)
                self._keep(rows, clauses.predicates())
            return
        ids: list[Id] = []
        asked: list[list[AttributePredicate]] = []
        for id, predicates in clauses:
            ids.append(id)
            asked.append([predicate_of(clause) for clause in predicates])
        with self._lock.writing(), self._ids.added(ids) as rows, self._change():
            entries = zip(rows.tolist(), asked, strict=True)
            if len(ids) == 1:
                self._index.insert(*next(entries))
            else:
                self._index.build(entries)
            self._keep(rows, asked)

    def delete(self, id: Id) -> None:
        """Removes an id; `KeyError` if it is unknown."""
        self.delete_many([id])

    def delete_many(self, ids: Sequence[Id] | NDArray[Any]) -> None:
        """Removes ids, all or none; `KeyError` if one is unknown."""
        with self._lock.writing(), self._change():
            self._index.delete_many(self._ids.remove(ids))
            if self._index.keeper is not None:
                for id in ids:
                    self._index.keeper.drop(id)

    def inform(self, statistics: Statistics) -> None:
        """Lets the index choose by what is known of events; answers stay what they are."""
        with self._lock.writing():
            self._index.inform(statistics)

    def match(self, event: Mapping[str, Any]) -> NDArray[Any]:
        """Returns the ids whose predicates the event satisfies."""
        taken = Event.of(event, str, self._derived)
        with self._lock.reading:
            return self._ids.of(self._index.match(taken))

    def match_many(self, events: Sequence[Mapping[str, Any]]) -> list[NDArray[Any]]:
        """Returns the same for several events."""
        taken = [Event.of(event, str, self._derived) for event in events]
        with self._lock.reading:
            return [self._ids.of(rows) for rows in self._index.match_many(taken)]

    def kernel(self, events: Sequence[Mapping[str, Any]]) -> Callable[[int], Ints]:
        """Returns the rows (numbers of ids, in the order of insertion) for an event by its place.

        Events are read beforehand: what is left is the index alone, for benches. It holds until
        the index changes."""
        return self._index.reader([Event.of(event, str, self._derived) for event in events])

    def __len__(self) -> int:
        return len(self._ids)

    def __repr__(self) -> str:
        return f"<index {self.name}: {counted(len(self), 'id')}, {self.nbytes:,} bytes>"

    def __contains__(self, id: object) -> bool:
        with self._lock.reading:
            return id in self._ids

    @property
    def nbytes(self) -> int:
        """The memory of the index, without the ids."""
        return self._index.nbytes

    def save(self, folder: str | Path) -> None:
        """Writes the index to a folder, which is made if it is not there.

        Files are replaced, never written over: whoever has mapped the old ones keeps them. A folder
        of other things is refused."""
        target = Path(folder)
        if target.is_dir() and not _is_replaceable(target):
            raise IndexFolderError(f"{target} is there already, and is not a saved index")
        target.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".saving-", dir=target) as beside, self._lock.reading:
            self._index.save(Path(beside))
            self._ids.save(Path(beside) / _IDS)
            rows = len(self._ids)
            files = {path.name: _checksum(path) for path in Path(beside).iterdir()}
            remove_manifest(target)
            for name in files:
                os.replace(Path(beside) / name, target / name)
        write_manifest(
            target,
            FORMAT_VERSION,
            index=self.name,
            rows=rows,
            options=self._saved_options,
            files=files,
        )

    def _load(self, folder: Path, count: int) -> None:
        self._ids.load(folder / _IDS)
        self._index.load(folder)
        if self._index.names is not None:
            self._ids = self._index.names
        if not count == len(self._ids) == len(self._index):
            raise IndexFolderError(f"{folder} is damaged: its parts do not have {count} rows each")


def build(
    name: str, clauses: Clauses, *, statistics: Statistics | None = None, **options: object
) -> AttributeIndex:
    """Builds an index of `(id, [(attribute, op, value), …])`, or of `Columns`.

    `statistics` tell it what events are like; `options` are its own.

    >>> index = build("scan", [("low", [("altitude", "<", 400)]), ("all", [])])
    >>> sorted(index.match({"altitude": 120}))
    ['all', 'low']
    """
    index = AttributeIndex(name, statistics=statistics, **options)
    index.insert_many(clauses)
    return index


def open(folder: str | Path) -> AttributeIndex:
    """Opens an index that was saved."""
    source = Path(folder)
    manifest = read_manifest(
        source, "saved index", FORMAT_VERSION, IndexFolderError, "index", "rows", "options", "files"
    )
    if manifest.get(_LIVES):
        return AttributeIndex(manifest["index"], **{**manifest["options"], _FOLDER: str(source)})
    try:
        for name, checksum in manifest["files"].items():
            if _checksum(source / name) != checksum:
                raise IndexFolderError(f"{source / name} is damaged: build the index again")
        index = AttributeIndex(manifest["index"], **manifest["options"])
        index._load(source, manifest["rows"])
    except (IndexFolderError, UnknownPlugin):
        raise
    except Exception as bad:
        raise IndexFolderError(
            f"{source} is damaged ({type(bad).__name__}): build the index again"
        ) from bad
    return index


def _is_replaceable(folder: Path) -> bool:
    """Returns whether a folder is empty, or a saved index, or one whose saving was interrupted."""
    if is_manifest_of(folder, "index", "rows", "files"):
        return not is_manifest_of(folder, _LIVES)
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".saving-")}
    return not names or (_IDS in names and "manifest.json" not in names)


def _checksum(path: Path) -> int:
    """Returns the checksum of a file."""
    checksum = 0
    with path.open("rb") as content:
        while part := content.read(_PART):
            checksum = zlib.crc32(part, checksum)
    return checksum
