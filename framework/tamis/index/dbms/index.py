"""Matches in a database (Ashayer, Leung, Jacobsen 2002, section 4).

Subscriptions are rows of the database's own tables, and the rows that an event satisfies are the
answer to a query: by *sequential* search of all conditions, or by *grouping*, in which each
distinct predicate is decided once and the alternatives that have it are counted.
Invariant: what the tables hold when a transaction is committed is what the index answers by.
Cost of a match: a query; a join of the event with all conditions, or with the ranges of its
attributes and with what holds of each alternative.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tamis.errors import DatabaseError
from tamis.event import Event
from tamis.index.clauses import read_written, written
from tamis.index.dbms import duck, postgres, sqlite
from tamis.index.dbms.databases import Database, Row
from tamis.index.dbms.keeping import DatabaseKeeper
from tamis.index.dbms.keys import ranges_of
from tamis.index.dbms.predicates import Predicates, label, value_text
from tamis.index.dbms.tables import GROUPING, QUERIES, ROWS
from tamis.indexing import Entry, Index, Rows
from tamis.language.predicate import AttributePredicate, Disjunction, parts_of

DATABASES = {"sqlite": sqlite.opened, "duckdb": duck.opened, "postgresql": postgres.opened}
METHODS = tuple(QUERIES)
_SAVED = "rows.jsonl"
_NEXT = -1
"""Between the clauses of a row."""


class DatabaseIndex(Index):
    """An index whose rows are in a database."""

    takes_disjunctions = True

    def __init__(self, database: Database, method: str = GROUPING) -> None:
        self._database = database
        self._is_grouped = method == GROUPING
        self._query = QUERIES[method]
        self._predicates = Predicates()
        self._rows: dict[int, tuple[int, ...]] = {}
        """By row, the numbers of the predicates of its clauses."""
        self._is_new = database.path is not None
        """True if rows may be there that an index before this one made."""
        self.keeper = None if database.path is None else DatabaseKeeper(database)

    def beside(self) -> Index | None:
        """Returns an index in memory, for what it has to know and not to keep."""
        return None if self._database.path is None else DatabaseIndex(sqlite.opened(None))

    def build(self, entries: Iterable[Entry]) -> None:
        """Inserts many rows at once, as one transaction."""
        tables: dict[str, list[Row]] = {table: [] for table in ROWS}
        entries = list(entries)
        with self._database.transaction():
            self._clear()
            for row, predicates in entries:
                self._put(tables, row, predicates)
            for table, rows in tables.items():
                self._database.insert(table, rows)

    def _clear(self) -> None:
        """Removes rows of an index before this one, whose subscriptions are inserted again."""
        if self._is_new:
            for table in ROWS:
                self._database.execute(f"DELETE FROM {table}")
            self._is_new = False

    def _put(
        self, tables: dict[str, list[Row]], row: int, predicates: Sequence[AttributePredicate]
    ) -> None:
        """Notes what the tables have to say of a row."""
        numbers: list[int] = []
        clauses = list(map(parts_of, predicates))
        tables["alternatives"].append((row, None, len(clauses)))
        for clause, parts in enumerate(clauses):
            numbers += [_NEXT] if clause else []
            for part in parts:
                number, is_new = self._predicates.take(part)
                numbers.append(number)
                if self._is_grouped:
                    tables["alternative_predicates"].append((row, clause, number))
                    if is_new:
                        self._describe(tables, number, part)
                else:
                    tables["conditions"] += [
                        (row, len(clauses), clause, *words, *stretch)
                        for words, stretch in _described(part)
                    ]
        self._rows[row] = tuple(numbers)

    def _describe(
        self, tables: dict[str, list[Row]], number: int, predicate: AttributePredicate
    ) -> None:
        """Notes a predicate that is new."""
        for place, (words, stretch) in enumerate(_described(predicate)):
            attribute, operator, value, reads = words
            if not place:
                tables["predicates"].append((number, attribute, operator, value))
            tables["ranges"].append((number, attribute, reads, *stretch))

    def delete(self, row: int) -> None:
        """Removes a row, which must be there."""
        with self._database.transaction():
            self._clear()
            numbers = [number for number in self._rows.pop(row) if number != _NEXT]
            wanted = ("alternative_predicates",) if self._is_grouped else ("conditions",)
            for table in ("alternatives", *wanted):
                self._database.execute(f"DELETE FROM {table} WHERE alternative = ?", (row,))
            for number in filter(self._predicates.leave, numbers):
                for table in ("predicates", "ranges") if self._is_grouped else ():
                    self._database.execute(f"DELETE FROM {table} WHERE predicate = ?", (number,))

    def delete_many(self, rows: Rows) -> None:
        """Removes rows, which must be there, as one transaction."""
        with self._database.transaction():
            super().delete_many(rows)

    def match(self, event: Event) -> Rows:
        """Returns the rows whose predicates the event satisfies, each once, in any order."""
        if not self._rows:
            return np.zeros(0, np.int64)
        found = self._database.find(self._query, self._predicates.said(event))
        return np.fromiter((row for (row,) in found), np.int64, len(found))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """The size of the database in bytes."""
        return self._database.nbytes

    def save(self, folder: Path) -> None:
        """Writes its rows into an existing folder, unless a database keeps them."""
        if self._database.path is not None:
            raise DatabaseError(
                f"{self._database.name} has what is subscribed: open it again by its path"
            )
        lines = (json.dumps([row, self._written(row)]) + "\n" for row in self._rows)
        with (folder / _SAVED).open("w", encoding="utf-8") as file:
            file.writelines(lines)

    def _written(self, row: int) -> list[list[list[object]]]:
        clauses: list[list[list[object]]] = [[]] if self._rows[row] else []
        for number in self._rows[row]:
            if number == _NEXT:
                clauses.append([])
                continue
            clauses[-1].append(written(self._predicates[number]))
        return clauses

    def load(self, folder: Path) -> None:
        """Takes, when new, what `save` wrote."""
        with (folder / _SAVED).open(encoding="utf-8") as file:
            self.build((row, list(map(_clause, clauses))) for row, clauses in map(json.loads, file))


def _described(
    predicate: AttributePredicate,
) -> Iterator[tuple[tuple[str, str, str, str], tuple[bytes, bytes]]]:
    """Yields the words of a predicate (attribute, operator, value, reads), once for each range.

    A predicate that nothing satisfies has one that is empty, so that it can be read."""
    reads, stretches = ranges_of(predicate.comparison)
    words = label(predicate.attribute), predicate.comparison.op, value_text(predicate), reads
    for stretch in stretches or [(b"", b"")]:
        yield words, stretch


def _clause(parts: list[list[Any]]) -> AttributePredicate:
    predicates = tuple(read_written(*part) for part in parts)
    return predicates[0] if len(predicates) == 1 else Disjunction.of(predicates)
