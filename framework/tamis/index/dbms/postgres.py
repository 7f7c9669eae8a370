"""Speaks with PostgreSQL by its address, through psycopg of the extra `database`.

The tables are in a schema named tamis, which one session changes at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tamis.errors import DatabaseError
from tamis.index.dbms.databases import Database, EventRow, Row
from tamis.index.dbms.tables import EVENT

_OWNED = 0x7A4D15


class PostgreSQL(Database):
    """A schema of a server."""

    types = {"text": "TEXT", "integer": "BIGINT", "double": "DOUBLE PRECISION", "bytes": "BYTEA"}  # noqa: RUF012

    def _connect(self) -> None:
        import psycopg

        self._psycopg, self.name = psycopg, "PostgreSQL"  # an address may hold a password
        with self._speaking():
            self._connection = psycopg.connect(self.path or "", autocommit=True)
            self._closing.callback(self._connection.close)
            place = self._connection.info
            self.name = f"the database {place.dbname} of {place.host or 'PostgreSQL'}"
            if not self._run("SELECT pg_try_advisory_lock(?)", (_OWNED,))[0][0]:
                raise DatabaseError(f"{self.name} is locked: another matcher or index has it open")
            self._run("SET client_min_messages = warning", ())
            self._run("CREATE SCHEMA IF NOT EXISTS tamis", ())
            self._run("SET search_path = tamis", ())

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """The errors that PostgreSQL raises."""
        return (self._psycopg.Error,)

    def _run(self, statement: str, values: Sequence[Any]) -> list[Row]:
        cursor = self._connection.execute(statement.replace("?", "%s"), values or None)
        return [] if cursor.description is None else cursor.fetchall()

    def _insert(self, statement: str, table: str, rows: list[Row]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(statement.replace("?", "%s"), rows)

    def _find(self, query: str, event: list[EventRow]) -> list[Row]:
        lists = ", ".join(f"?::{self.types[kind]}[]" for _, kind in EVENT)
        names = ", ".join(name for name, _ in EVENT)
        columns = [[row[place] for row in event] for place in range(len(EVENT))]
        return self._run(
            f"WITH event ({names}) AS (SELECT * FROM unnest({lists})), {query}", columns
        )

    def _tables(self) -> set[str]:
        wanted = "SELECT tablename FROM pg_tables WHERE schemaname = 'tamis'"
        return {name for (name,) in self._run(wanted, ())}

    @property
    def nbytes(self) -> int:
        """The files of its tables and indexes."""
        found = self.execute(
            "SELECT sum(pg_total_relation_size(c.oid))::BIGINT FROM pg_class AS c"
            " WHERE c.relnamespace = 'tamis'::regnamespace AND c.relkind = 'r'"
        )
        return int(found[0][0] or 0)


def opened(path: str | None) -> Database:
    """Returns a database of PostgreSQL."""
    try:
        return PostgreSQL(path)
    except ImportError as bad:
        raise DatabaseError(
            f"psycopg, which speaks with PostgreSQL, is not there ({bad}): "
            "pip install 'tamis[database]'"
        ) from bad
