"""Keeps subscriptions in the database of their rows, in the same transaction.

Cost: a statement or two a subscription.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import AbstractContextManager

from tamis.errors import DatabaseError
from tamis.index.dbms.databases import Database
from tamis.index.dbms.predicates import label
from tamis.index.dbms.tables import ABOUT
from tamis.indexing import Keeper, KeptDocument

_HOLDS = "holds"


class DatabaseKeeper(Keeper):
    """The tables `about` and `subscriptions` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._place = 0

    @property
    def name(self) -> str:
        """The name of the database in a sentence."""
        return self._database.name

    def change(self) -> AbstractContextManager[None]:
        """Commits all that is changed within, or nothing."""
        return self._database.transaction()

    def read(self, holds: str) -> list[KeptDocument]:
        """Returns what is kept, in the order in which it came."""
        found = self._database.about(_HOLDS)
        if found not in (None, holds):
            raise DatabaseError(f"{self.name} holds {found}, not {holds}: name another database")
        if found is None:
            self._database.insert(ABOUT, [(_HOLDS, holds)])
        rows = self._database.execute(
            "SELECT place, document, expires FROM subscriptions ORDER BY place"
        )
        self._place = rows[-1][0] if rows else 0
        return [
            KeptDocument(document, math.inf if expires is None else expires)
            for _, document, expires in rows
        ]

    def put(self, id: str | int, kept: KeptDocument, rows: Iterable[int]) -> None:
        """Keeps a subscription, whose rows are in the index."""
        self._place += 1
        name = _name_of(id)
        self._database.insert(
            "subscriptions", [(self._place, name, kept.document, _end_of(kept.expires))]
        )
        self.own(id, rows)

    def own(self, id: str | int, rows: Iterable[int]) -> None:
        """Says of rows whose they are."""
        for row in rows:
            self._database.execute(
                "UPDATE alternatives SET subscription = ? WHERE alternative = ?",
                (_name_of(id), row),
            )

    def renew(self, id: str | int, expires: float) -> None:
        """Gives a subscription another end."""
        self._database.execute(
            "UPDATE subscriptions SET expires = ? WHERE id = ?", (_end_of(expires), _name_of(id))
        )

    def drop(self, id: str | int) -> None:
        """Keeps a subscription no longer."""
        self._database.execute("DELETE FROM subscriptions WHERE id = ?", (_name_of(id),))

    def close(self) -> None:
        """Lets others change what is kept; the index is used no more."""
        self._database.close()


def _name_of(id: str | int) -> str:
    """Returns the id as it stands in a table: a number behind a sign, so that it is no string's."""
    return label(id) if isinstance(id, str) else f"#{id}"


def _end_of(expires: float) -> float | None:
    return None if expires == math.inf else expires
