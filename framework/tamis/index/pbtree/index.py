"""Indexes predicates in a PB+tree (Wang, Zhang, Kitsuregawa) on disk, larger than memory.

A row hangs in the tree of one of its predicates (`entries`); what else it asks is in its entry. A
record by row says where it hangs, and its predicates where the entry does not say all of them.
Invariant: each change is a commit when it returns, and is there entirely or not at all.
Memory: the pool, and a little for each line. Cost of a match: O(log n) pages for each value of the
event, and the pages of the lists' nodes that hold for it.
"""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tamis.errors import IndexFolderError
from tamis.event import Event
from tamis.files.disk import Disk
from tamis.index.clauses import read_written, written
from tamis.index.columns import Columns
from tamis.index.pbtree.entries import (
    MOST_TERMS,
    VAGUE,
    Access,
    EntryBoxes,
    Hung,
    holding,
    hung_boxes,
    hung_row,
    window_start,
)
from tamis.index.pbtree.lines import TreeLines
from tamis.index.pbtree.names import Names
from tamis.index.pbtree.nodes import EQUAL, ListPlace, PlaceRun, joined, run_of
from tamis.index.pbtree.place import Home
from tamis.index.pbtree.records import Records
from tamis.index.pbtree.store import PAGES, PageTally
from tamis.index.pbtree.tree import Sizes, Tree
from tamis.indexing import Entry, FoundRows, Index, Rows
from tamis.language.comparison import ARRAY, PRESENCE
from tamis.language.predicate import AttributePredicate
from tamis.numeric.types import Ints

POOL_BYTES = 64 << 20
_AT_ONCE = 64
"""The nodes of lists that are checked together."""
_RECORD = struct.Struct("<IBBH")
"""The line, the width, the list, and how many keys there are."""
_BOX = np.dtype(
    [("line", "<u4"), ("width", "u1"), ("kind", "u1"), ("count", "<u2"), ("key", "<u8")]
)


class PBTree(Index):
    """Predicates in B+trees of disk pages, in a folder of its own unless it is given one."""

    def __init__(
        self,
        folder: str | Path | None = None,
        pool_bytes: int = POOL_BYTES,
        disk: Disk | None = None,
        sizes: Sizes | None = None,
    ) -> None:
        self._options = pool_bytes, None, sizes
        self._sizes = sizes or Sizes()
        self._home = Home(folder, pool_bytes, disk)
        self._read()

    def _read(self) -> None:
        """Takes what is committed."""
        store = self._store = self._home.store
        roots = store.meta.roots
        directory, records, names = (Tree(store, root, self._sizes) for root in roots)
        self._directory, self._records = Records(directory), Records(records)
        self._lines = TreeLines(store, self._directory, self._sizes)
        self.names = Names(store, names, self._has, self._name_of)
        """The ids of rows, for who has them kept here."""

    def _read_again(self) -> None:
        """Takes what is committed, for who holds the names too."""
        names = self.names
        self._read()
        names.tree, self.names = self.names.tree, names

    @property
    def folder(self) -> Path | None:
        """The folder in which it stays; `None` for one that ends with it."""
        return None if self._home.is_own else self._home.folder

    @property
    def has_ids(self) -> bool:
        """True if the folder is that of an index with ids."""
        return self._home.has_ids

    def beside(self) -> PBTree:
        """Returns an empty index with a folder that ends with it."""
        return PBTree(None, *self._options)

    def clear(self) -> None:
        """Removes what an earlier process left here; an index with ids is refused."""
        if self._home.has_ids:
            raise IndexFolderError(
                f"{self._home.folder} holds an index with ids, which tamis.index.open opens: "
                "a matcher needs a folder of its own"
            )
        if len(self):
            self._refill(None)

    def _refill(self, source: Path | None) -> None:
        self._home.refill(source)
        self._read()

    def close(self) -> None:
        """Closes the files, and lets another process use the folder."""
        self._home.close()

    # changing

    @contextmanager
    def _commit(self) -> Iterator[None]:
        """Commits what is changed inside, or nothing."""
        try:
            yield
            trees = self._directory.tree, self._records.tree, self.names.tree
            self._store.meta.roots = [tree.root for tree in trees]
            self._store.commit()
        except BaseException:
            self._store.roll_back()
            self._read_again()
            raise

    def build(self, entries: Iterable[Entry]) -> None:
        """Inserts many rows, in one commit."""
        with self._commit():
            self._insert(sorted(entries, key=lambda entry: entry[0]))

    def _insert(self, entries: Sequence[Entry]) -> None:
        hung: list[Hung] = []
        records: dict[int, bytes] = {}
        load: dict[tuple[int, int], int] = {}

        def weight(line: int, key: int) -> int:
            place = line, key
            if place not in load:
                load[place] = self._lines.tree(line, 0).weight(EQUAL, key)
            return load[place]

        for row, predicates in entries:
            each = hung_row(row, predicates, self._lines.number, weight)
            hung.append(each)
            access = each.access
            for key in access.keys if access.width == 0 and access.kind == EQUAL else ():
                load[access.line, key] = weight(access.line, key) + 1
            asked = [written(one) for one in predicates] if each.is_vague else None
            records[row] = _record(access, self.names.waiting.get(row), asked)
        self._hang(hung)
        self._records.add(records)
        self.names.add_waiting()
        self._store.meta.rows += len(hung)

    def _hang(self, rows: Iterable[Hung]) -> None:
        """Puts entries into the trees, list by list."""
        lists: dict[tuple[int, int, int], list[tuple[int, int, int, bytes]]] = {}
        for row, access, is_vague, payload in rows:
            there = lists.setdefault((access.line, access.width, access.kind), [])
            there.extend((key, row, VAGUE * is_vague, payload) for key in access.keys)
        for (line, width, kind), entries in lists.items():
            entries.sort()
            keys, numbers, marks, payloads = (list(column) for column in zip(*entries, strict=True))
            self._lines.tree(line, width).insert(kind, run_of(keys, numbers, marks, payloads))
            self._lines.keep(line, width)

    def build_columns(self, rows: Ints, columns: Columns) -> None:
        """Inserts boxes of numbers, in one commit."""
        counts = np.diff(columns.start)
        if (
            columns.has_large_bounds
            or (len(counts) and counts.max() > MOST_TERMS)
            or len(rows) == 1
        ):
            self.build(zip(rows.tolist(), columns.predicates(), strict=True))
            return
        with self._commit():
            boxes = hung_boxes(rows, columns, self._lines.number)
            self._hang_boxes(boxes)
            self._record_boxes(rows, boxes)
            self._store.meta.rows += len(rows)

    def _hang_boxes(self, boxes: EntryBoxes) -> None:
        order = np.lexsort(
            (boxes.payload.rows, boxes.payload.keys, boxes.kind, boxes.width, boxes.line)
        )
        which = np.stack([boxes.line, boxes.width, boxes.kind], 1)[order]
        cuts = np.flatnonzero((which[1:] != which[:-1]).any(1)) + 1
        entries = boxes.payload.ordered(order)
        bounds = [0, *cuts.tolist(), len(order)] if len(order) else []
        for start, end in itertools.pairwise(bounds):
            line, width, kind = which[start].tolist()
            self._lines.tree(line, width).insert(kind, entries.of(start, end))
            self._lines.keep(line, width)

    def _record_boxes(self, rows: Ints, boxes: EntryBoxes) -> None:
        if self.names.waiting:
            self._records.add(
                {
                    row: _record(
                        Access(int(boxes.line[at]), int(boxes.width[at]), int(boxes.kind[at]),
                               (int(boxes.payload.keys[at]),)),
                        self.names.waiting.get(row), None,
                    )
                    for at, row in sorted(enumerate(rows.tolist()), key=lambda each: each[1])
                }
            )  # fmt: skip
            self.names.add_waiting()
            return
        records = np.zeros(len(rows), _BOX)
        records["line"], records["width"], records["kind"] = boxes.line, boxes.width, boxes.kind
        records["count"], records["key"] = 1, boxes.payload.keys
        order = np.argsort(rows)
        self._records.add_alike(rows[order], records[order])

    def delete_many(self, rows: Rows) -> None:
        """Removes rows, which must be there, in one commit."""
        with self._commit():
            for row in rows.tolist():
                content = self._records.get(row, PageTally())
                if content is None:
                    raise KeyError(row)
                access, name, _ = _read_record(content)
                tree = self._lines.tree(access.line, access.width)
                for key in access.keys:
                    tree.delete(access.kind, ListPlace(key, row))
                self._lines.keep(access.line, access.width)
                self._records.remove(row)
                self.names.forget(row, name)
                self._store.meta.rows -= 1
                self._store.settle()

    # matching

    def match(self, event: Event) -> Rows:
        """Returns the rows whose predicates the event satisfies, each once, in any order."""
        return self.search(event).rows

    def search(self, event: Event) -> FoundRows:
        """Returns the same, how many entries were checked, and how many pages were read."""
        tally = PageTally()
        return self.find(event, tally)

    def find(self, event: Event, tally: PageTally) -> FoundRows:
        """Returns the same, and counts the pages that were looked at."""
        reading = self._lines.read(event)
        exact: list[Rows] = []
        vague: list[Rows] = []
        checked = 0
        waiting: list[PlaceRun] = []

        def check() -> None:
            found = holding(joined(waiting), reading.low, reading.high, reading.there)
            exact.append(found[0])
            vague.append(found[1])
            waiting.clear()

        for number, low, high in reading.found:
            for width, tree in self._lines.trees(number):
                if width:
                    runs = tree.window(window_start(width, low), high, tally)
                else:
                    runs = tree.search(low, high, tally)
                for run in runs:
                    waiting.append(run)
                    checked += len(run)
                    if len(waiting) == _AT_ONCE:
                        check()
        if waiting:
            check()
        nothing = [np.zeros(0, np.int64)]
        doubtful = np.unique(np.concatenate(vague + nothing))
        sure = [row for row in doubtful.tolist() if self._verified(row, event, tally)]
        rows = np.unique(np.concatenate([*exact, np.array(sure, np.int64)]))
        return FoundRows(rows, checked).with_reads(tally.reads)

    def _verified(self, row: int, event: Event, tally: PageTally) -> bool:
        """Returns whether the predicates of a row hold, one by one."""
        content = self._records.get(row, tally)
        assert content is not None
        _, _, predicates = _read_record(content)
        return all(_holds(each, event) for each in predicates)

    def _has(self, row: int) -> bool:
        return self._records.get(row, PageTally()) is not None

    def _name_of(self, row: int) -> str | int:
        content = self._records.get(row, PageTally())
        assert content is not None
        return _read_record(content)[1]  # type: ignore[return-value]

    def __len__(self) -> int:
        return self._store.meta.rows

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        return self._store.nbytes + self._lines.nbytes

    @property
    def disk_bytes(self) -> int:
        """The bytes of the index on disk."""
        return self._store.disk_bytes

    def save(self, folder: Path) -> None:
        """Writes its pages into an existing folder."""
        self._home.copy_to(folder)

    def load(self, folder: Path) -> None:
        """Takes, when new, a copy of what `save` wrote."""
        self._refill(folder / PAGES)


def _record(access: Access, name: str | int | None, asked: list[list[Any]] | None) -> bytes:
    head = _RECORD.pack(access.line, access.width, access.kind, len(access.keys))
    head += struct.pack(f"<{len(access.keys)}Q", *access.keys)
    return head if name is None and asked is None else head + json.dumps([name, asked]).encode()


def _read_record(content: bytes) -> tuple[Access, str | int | None, list[AttributePredicate]]:
    line, width, kind, count = _RECORD.unpack_from(content)
    end = _RECORD.size + 8 * count
    keys = struct.unpack_from(f"<{count}Q", content, _RECORD.size)
    name, asked = json.loads(content[end:]) if len(content) > end else (None, None)
    return Access(line, width, kind, keys), name, [read_written(*each) for each in asked or ()]


def _holds(predicate: AttributePredicate, event: Event) -> bool:
    """Returns whether one predicate holds."""
    name, asked = predicate.attribute, predicate.comparison
    if asked.reads == PRESENCE:
        return asked.compiled()(event.present(name))
    return asked.compiled()(event.array(name) if asked.reads == ARRAY else event.scalar(name))
