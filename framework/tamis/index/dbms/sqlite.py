"""Speaks with SQLite, of Python's standard library.

A rollback journal, not a write-ahead log: older versions of SQLite can lose commits of the latter
when two connections write and checkpoint at once, and whoever reads here may be any program.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from tamis.index.dbms.databases import Database, EventRow, FileDatabase, Row
from tamis.index.dbms.tables import EVENT, INDEXED

_BUSY_SECONDS = 5.0


class SQLite(FileDatabase):
    """A file, or a database in memory."""

    types = {"text": "TEXT", "integer": "INTEGER", "double": "REAL", "bytes": "BLOB"}  # noqa: RUF012
    indexed = (
        *(each for each in INDEXED if each != ("ranges", "attribute, reads")),
        ("ranges", "attribute, reads, low"),
    )
    errors = (sqlite3.Error,)
    _begin = "BEGIN IMMEDIATE"
    _connection: sqlite3.Connection

    def _connect(self) -> None:
        self._own()
        with self._speaking():
            self._connection = sqlite3.connect(
                self.path or ":memory:",
                timeout=_BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            self._closing.callback(self._connection.close)
            for pragma in ("temp_store = MEMORY", "journal_mode = DELETE", "synchronous = EXTRA"):
                self._connection.execute(f"PRAGMA {pragma}")
            columns = ", ".join(f"{name} {self.types[kind]}" for name, kind in EVENT)
            self._connection.execute(f"CREATE TEMP TABLE event ({columns})")

    def _run(self, statement: str, values: Sequence[Any]) -> list[Row]:
        return self._connection.execute(statement, values).fetchall()

    def _insert(self, statement: str, table: str, rows: list[Row]) -> None:
        self._connection.executemany(statement, rows)

    def _find(self, query: str, event: list[EventRow]) -> list[Row]:
        self._connection.execute("BEGIN")
        try:
            self._connection.execute("DELETE FROM event")
            self._connection.executemany("INSERT INTO event VALUES (?, ?, ?)", event)
            return self._connection.execute(f"WITH {query}").fetchall()
        finally:
            self._connection.execute("ROLLBACK")

    def _tables(self) -> set[str]:
        found = self._run("SELECT name FROM sqlite_schema WHERE type = 'table'", ())
        return {name for (name,) in found}

    @property
    def nbytes(self) -> int:
        """The pages that it has."""
        ((pages,),), ((size,),) = (
            self.execute("PRAGMA page_count"),
            self.execute("PRAGMA page_size"),
        )
        return int(pages) * int(size)


def opened(path: str | None) -> Database:
    """Returns a database of SQLite."""
    return SQLite(path)
