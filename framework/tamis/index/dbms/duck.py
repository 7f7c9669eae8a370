"""Speaks with DuckDB, of the extra `database`.

It reads whole columns, and has no index: a look-up in one costs it more than a scan of few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tamis.errors import DatabaseError
from tamis.index.dbms.databases import Database, EventRow, FileDatabase, Row
from tamis.index.dbms.tables import COLUMNS, EVENT


class DuckDB(FileDatabase):
    """A file, or a database in memory."""

    types = {"text": "VARCHAR", "integer": "BIGINT", "double": "DOUBLE", "bytes": "BLOB"}  # noqa: RUF012
    indexed = ()

    def _connect(self) -> None:
        import duckdb

        self._error = duckdb.Error
        self._own()
        with self._speaking():
            self._connection = duckdb.connect(self.path or ":memory:")
            self._closing.callback(self._connection.close)

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """The errors that DuckDB raises."""
        return (self._error,)

    def _run(self, statement: str, values: Sequence[Any]) -> list[Row]:
        return self._connection.execute(statement, list(values)).fetchall()

    def _insert(self, statement: str, table: str, rows: list[Row]) -> None:
        self._run(f"INSERT INTO {table} SELECT {self._lists(COLUMNS[table])}", _columns(rows))

    def _find(self, query: str, event: list[EventRow]) -> list[Row]:
        values = _columns(event) if event else [[] for _ in EVENT]
        return self._run(f"WITH event AS (SELECT {self._lists(EVENT)}), {query}", values)

    def _lists(self, columns: Sequence[tuple[str, str]]) -> str:
        """Columns, each of them a parameter that is a list."""
        return ", ".join(f"unnest(?::{self.types[kind]}[]) AS {name}" for name, kind in columns)

    def _tables(self) -> set[str]:
        return {name for (name,) in self._run("SELECT table_name FROM duckdb_tables()", ())}

    @property
    def nbytes(self) -> int:
        """The blocks that it has, and its memory."""
        found = self.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()")
        return int(found[0][0] or 0)


def _columns(rows: Sequence[Row]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def opened(path: str | None) -> Database:
    """Returns a database of DuckDB."""
    try:
        return DuckDB(path)
    except ImportError as bad:
        raise DatabaseError(
            f"DuckDB is not there ({bad}): pip install 'tamis[database]', or take sqlite"
        ) from bad
