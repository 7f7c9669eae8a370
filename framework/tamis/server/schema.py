"""Lays out the tables of the log.

A text of a subscription is live from the position `since` on until before `until`; `born` is the
position at which a subscription came, its key for ever. Its deliveries are numbered from 1 without
gaps, so that what is due, acknowledged, lost and pending are differences of few numbers. `total` is
how many bytes all entries up to one have, and all traces that were written up to one. The last
entry of a commit has the `hash` of all of it, and of what came before. Of a
subscription with a webhook the acknowledged are those that were sent; `retries` has those among
them that were not taken, to be sent again `at` a time, or dead where there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tamis.server.errors import LogError

if TYPE_CHECKING:
    import apsw

FORMAT_VERSION = 3
NO_HASH = bytes(32)

_TABLES = """
CREATE TABLE format(format_version INTEGER NOT NULL) STRICT;
CREATE TABLE state(
    commits INTEGER NOT NULL, position INTEGER NOT NULL, hash BLOB NOT NULL,
    cursor INTEGER NOT NULL, floor INTEGER NOT NULL, total INTEGER NOT NULL, clock REAL NOT NULL
) STRICT;
CREATE TABLE entries(
    position INTEGER PRIMARY KEY, kind TEXT NOT NULL, at REAL NOT NULL, id TEXT NOT NULL,
    born INTEGER NOT NULL, body TEXT NOT NULL, total INTEGER NOT NULL, hash BLOB
) STRICT;
CREATE TABLE events(id TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE payloads(
    digest TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY(digest, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX payloads_by_position ON payloads(position);
CREATE TABLE subscriptions(
    born INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL,
    ticket BLOB NOT NULL, expires REAL, ended INTEGER, matched INTEGER NOT NULL DEFAULT 0,
    last INTEGER NOT NULL DEFAULT 0, acknowledged INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0, floor INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX subscriptions_by_expiry ON subscriptions(expires) WHERE ended IS NULL;
CREATE TABLE texts(
    born INTEGER NOT NULL, since INTEGER NOT NULL, until INTEGER, id TEXT NOT NULL,
    document TEXT NOT NULL, PRIMARY KEY(born, since)
) STRICT, WITHOUT ROWID;
CREATE TABLE deliveries(
    born INTEGER NOT NULL, number INTEGER NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY(born, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_by_position ON deliveries(position);
CREATE TABLE webhooks(
    born INTEGER PRIMARY KEY, url TEXT NOT NULL, secrets TEXT NOT NULL,
    failures INTEGER NOT NULL DEFAULT 0, since REAL, reason TEXT, paused REAL NOT NULL DEFAULT 0.0,
    disabled INTEGER NOT NULL DEFAULT FALSE
) STRICT;
CREATE TABLE retries(
    born INTEGER NOT NULL, number INTEGER NOT NULL, tries INTEGER NOT NULL, first REAL NOT NULL,
    at REAL, reason TEXT NOT NULL, PRIMARY KEY(born, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE verdicts(position INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE undetermined(
    position INTEGER NOT NULL, born INTEGER NOT NULL, operators TEXT NOT NULL,
    tries INTEGER NOT NULL, PRIMARY KEY(position, born)
) STRICT, WITHOUT ROWID;
CREATE INDEX undetermined_by_subscription ON undetermined(born, position);
CREATE TABLE traces(
    position INTEGER PRIMARY KEY, total INTEGER NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX traces_by_total ON traces(total);
CREATE TABLE answers(
    key BLOB PRIMARY KEY, digest BLOB NOT NULL, at REAL NOT NULL, answer TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_by_time ON answers(at);
"""


def lay_out(database: apsw.Connection) -> None:
    """Makes the tables where there are none; `LogError` for those of another format."""
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_schema")}
    if not tables:
        with database:
            database.execute(_TABLES)
            database.execute("INSERT INTO format VALUES(?)", (FORMAT_VERSION,))
            database.execute("INSERT INTO state VALUES(0, 0, ?, 0, 1, 0, 0.0)", (NO_HASH,))
        return
    if "format" not in tables:
        raise LogError(f"{database.filename} is a database of something else")
    version = database.execute("SELECT format_version FROM format").get
    if version != FORMAT_VERSION:
        raise LogError(
            f"{database.filename} is of format {version!r}, and this tamis reads format "
            f"{FORMAT_VERSION}: use the tamis that wrote it, or a newer one"
        )
