"""Opens the database of the log, with the settings that its promises need, and verifies them.

SQLite by apsw, in a write-ahead log with `synchronous=FULL`, so that what is committed is on disk;
no mapped memory; a checksum on each page (`cksumvfs`), which is verified whenever one is read.
SQLite from 3.7.0 to 3.51.2 can lose commits when two connections write and checkpoint at once.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from tamis.log import log
from tamis.server.errors import LogError, NoRoom

if TYPE_CHECKING:
    import apsw

NAME = "log.sqlite"
LOWEST = (3, 51, 3)
_CHECKSUMS = "cksmvfs"
_CHECKSUM_BYTES = 8
_BUSY_MILLISECONDS = 10_000
_FULL = 2


def sqlite_version() -> tuple[int, ...]:
    """Returns the version of SQLite inside of apsw; `LogError` where it is none, or loses
    commits."""
    try:
        import apsw
    except ImportError:
        raise LogError("the match server needs apsw: pip install 'tamis[server]'") from None
    version = tuple(map(int, apsw.sqlite_lib_version().split(".")))
    if version < LOWEST:
        raise LogError(
            f"apsw brings SQLite {apsw.sqlite_lib_version()}, which can lose commits: "
            f"{'.'.join(map(str, LOWEST))} or later is needed (pip install -U apsw)"
        )
    return version


@functools.cache
def checksums() -> str | None:
    """Returns the name of what keeps page checksums; `None`, and said in the log, where apsw lacks
    it."""
    import apsw

    try:
        from apsw import sqlite_extra

        carrier = apsw.Connection(":memory:")
        sqlite_extra.load(carrier, "cksumvfs")
        carrier.close()
    except (ImportError, LookupError, sqlite_extra.NotAvailable, apsw.Error) as lacking:
        log.warning("this apsw keeps no page checksums (cksumvfs): %s", lacking)
        return None
    return _CHECKSUMS


def open_database(
    folder: Path, *, reads: bool = False, synchronous: str = "FULL"
) -> apsw.Connection:
    """Opens the database of a folder, made where there is none; `reads` for a reader.

    `synchronous` is another one only in tests of what would be lost."""
    sqlite_version()
    import apsw

    path = folder / NAME
    vfs = checksums()
    try:
        database = apsw.Connection(str(path), vfs=vfs)
        database.set_busy_timeout(_BUSY_MILLISECONDS)
        if reads:
            database.pragma("query_only", True)
        elif vfs is not None and not database.pragma("page_count"):  # also one half made
            database.reserve_bytes("main", _CHECKSUM_BYTES)
        database.pragma("mmap_size", 0)
        database.pragma("journal_mode", "wal")
        database.pragma("synchronous", synchronous)
        database.pragma("foreign_keys", False)
    except apsw.CantOpenError as bad:
        raise NoRoom(f"cannot open {path}: {bad}, or too many files are open") from bad
    except (apsw.Error, OSError) as bad:
        raise LogError(f"cannot open {path}: {bad}") from bad
    return database


def check_settings(database: apsw.Connection, path: Path) -> None:
    """Verifies that the settings are in force; `LogError` names the one that is not."""
    wanted: dict[str, tuple[object, object]] = {
        "journal_mode": (database.pragma("journal_mode"), "wal"),
        "synchronous": (database.pragma("synchronous"), _FULL),
        "mmap_size": (database.pragma("mmap_size"), 0),
    }
    if database.open_vfs == _CHECKSUMS:
        wanted["reserved bytes"] = (database.reserve_bytes("main"), _CHECKSUM_BYTES)
        wanted["checksum_verification"] = (database.pragma("checksum_verification"), "1")
    for name, (found, needed) in wanted.items():
        if found != needed:
            raise LogError(f"{path}: {name} is {found!r} and has to be {needed!r}")
