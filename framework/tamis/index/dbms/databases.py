"""Speaks with a database: SQLite, DuckDB and PostgreSQL, each with one connection.

Invariant: a transaction is committed whole or not at all. One that fails after it began leaves the
memory of its index behind what is committed: such a database is used no more, until it is opened
again. Cost: that of the statements.
"""

from __future__ import annotations

import fcntl
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tamis.errors import DatabaseError
from tamis.index.dbms.tables import ABOUT, COLUMNS, FORMAT_VERSION, INDEXED

Row = tuple[Any, ...]
EventRow = tuple[str, str, bytes]


class Database(ABC):
    """A connection, used by one thread at a time."""

    types: dict[str, str]
    """Its names for the kinds of columns."""
    indexed: tuple[tuple[str, str], ...] = INDEXED
    """The columns that it looks up by an index."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.name = path or "a database in memory"
        self._lock = threading.RLock()
        self._depth = 0
        self._is_changed = False
        """True if the transaction has a statement."""
        self._broken = ""
        """Why it is used no more."""
        self._closing = ExitStack()
        weakref.finalize(self, self._closing.close)
        try:
            self._connect()
            self._prepare()
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def _connect(self) -> None:
        """Connects, as the only one who changes what is there."""

    @abstractmethod
    def _run(self, statement: str, values: Sequence[object]) -> list[Row]: ...

    @abstractmethod
    def _insert(self, statement: str, table: str, rows: list[Row]) -> None: ...

    @abstractmethod
    def _find(self, query: str, event: list[EventRow]) -> list[Row]: ...

    @abstractmethod
    def _tables(self) -> set[str]:
        """Returns the names of the tables there are."""

    @property
    @abstractmethod
    def errors(self) -> tuple[type[Exception], ...]:
        """The errors that the database raises."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """The size of the database in bytes."""

    def _prepare(self) -> None:
        """Makes the tables, or looks whether they are those of this format."""
        with self.transaction():
            there = self._tables()
            if not there:
                self._create()
            elif ABOUT not in there:
                raise DatabaseError(
                    f"{self.name} holds tables of something else ({', '.join(sorted(there)[:3])}): "
                    "name another database"
                )
        found = self.about("format_version")
        if found != str(FORMAT_VERSION):
            raise DatabaseError(
                f"{self.name} is of format {found}, and this tamis reads {FORMAT_VERSION}: "
                "use the tamis that wrote it"
            )

    def _create(self) -> None:
        for table, columns in COLUMNS.items():
            wanted = ", ".join(f"{name} {self.types[kind]}" for name, kind in columns)
            self.execute(f"CREATE TABLE {table} ({wanted})")
        for number, (table, names) in enumerate(self.indexed):
            self.execute(f"CREATE INDEX {table}_{number} ON {table} ({names})")
        self.insert(ABOUT, [("format_version", str(FORMAT_VERSION))])

    def about(self, name: str) -> str | None:
        """Returns what the table `about` says."""
        found = self.execute(f"SELECT value FROM {ABOUT} WHERE name = ?", (name,))
        return found[0][0] if found else None

    def execute(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """Runs a statement, and returns the rows that it gives."""
        with self._speaking():
            return self._run(statement, values)

    def insert(self, table: str, rows: list[Row]) -> None:
        """Inserts rows into a table."""
        if rows:
            places = ", ".join("?" * len(COLUMNS[table]))
            with self._speaking():
                self._insert(f"INSERT INTO {table} VALUES ({places})", table, rows)

    def find(self, query: str, event: list[EventRow]) -> list[Row]:
        """Runs one of the `QUERIES` beside an event."""
        with self._speaking():
            return self._find(query, event)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commits all that is done within, or nothing; one within another is a part of it."""
        with self._lock:
            if not self._depth:
                self.execute(self._begin)
                self._is_changed = False
            self._depth += 1
            try:
                yield
                if self._depth == 1:
                    self.execute("COMMIT")
            except BaseException:
                if self._depth == 1 and not self._broken:
                    self._roll_back()
                raise
            finally:
                self._depth -= 1

    _begin = "BEGIN"

    def _roll_back(self) -> None:
        if self._is_changed:
            self._broken = "a change of it failed: open it again, it has what was committed"
        try:
            self._run("ROLLBACK", ())
        except self.errors:
            self._closing.close()  # which ends the transaction too

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Has the connection alone, and says as sentences what it raises."""
        with self._lock:
            if self._broken:
                raise DatabaseError(f"{self.name}: {self._broken}")
            self._is_changed = True
            try:
                yield
            except self.errors as bad:
                raise self._sentence(bad) from bad

    def _sentence(self, bad: Exception) -> DatabaseError:
        return DatabaseError(f"{self.name}: {' '.join(str(bad).split())[:300]}")

    def close(self) -> None:
        """Ends the connection."""
        self._broken = "it is closed: open it again"
        self._closing.close()


class FileDatabase(Database):
    """A database in a file, or in memory, which one process changes at a time."""

    def _own(self) -> None:
        """Waits for nobody: a file that another one changes is refused."""
        if self.path is None:
            return
        path = Path(self.path)
        if not path.parent.is_dir():
            raise DatabaseError(f"{self.name}: there is no folder {path.parent}")
        if path.is_dir():
            raise DatabaseError(f"{self.name} is a folder: name a file in it")
        try:
            owned = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as bad:
            raise DatabaseError(f"{self.name} cannot be written: {bad.strerror}") from bad
        self._closing.callback(os.close, owned)
        try:
            fcntl.flock(owned, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as bad:
            raise DatabaseError(
                f"{self.name} is locked: another matcher or index has it open"
            ) from bad
