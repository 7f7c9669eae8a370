"""Holds the log: one order for all that happens, on disk before it is acknowledged.

A folder of one process: the database, the witness of where it ended, and the payloads. It is
opened only when its format is known, its settings are in force, it reaches as far as its witness
saw, and the hashes of its last entries fit. Cost of opening: O(the last entries).
"""

from __future__ import annotations

import contextlib
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.files.disk import FolderLock, sync_folder
from tamis.log import log
from tamis.server.batches import PendingChange
from tamis.server.changes import Change, Outcome
from tamis.server.database import NAME, check_settings, checksums, open_database
from tamis.server.entries import LogState
from tamis.server.errors import LogError
from tamis.server.hashing import hash_of
from tamis.server.ledger import read_state
from tamis.server.payloads import Payloads
from tamis.server.reading import LogReaders
from tamis.server.schema import NO_HASH, lay_out
from tamis.server.witness import Mark, Witness
from tamis.server.writer import MOST_WAITING, LogWriter

if TYPE_CHECKING:
    import apsw

_LAST = 10_000


class Log:
    """The log in a folder, made where there is none."""

    def __init__(
        self,
        folder: str | Path,
        *,
        clock: Callable[[], float] = time.time,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self.folder = Path(folder)
        self.clock = clock
        try:
            made = [each for each in (self.folder, *self.folder.parents) if not each.exists()]
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # secrets of webhooks
            for each in made:
                _sync_made(each)
        except OSError as bad:
            raise LogError(f"cannot make the folder {folder}: {bad.strerror or bad}") from bad
        if self.folder.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            log.warning("others may look into %s, which has secrets of webhooks: chmod 700", folder)
        self._lock = FolderLock(self.folder, "match server", LogError)
        try:
            self._open(most_waiting)
        except BaseException:
            self._lock.close()
            raise

    def _open(self, most_waiting: int) -> None:
        import apsw

        self._payloads = Payloads(self.folder)
        self._witness = Witness(self.folder)
        try:
            database = open_database(self.folder)
            try:
                check_settings(database, self.folder / NAME)
                lay_out(database)
                sync_folder(self.folder)
                state = read_state(database)
                _check_end(database, state, self._witness.read(), self.folder)
                check_hashes(database, max(state.floor, state.position - _LAST + 1))
                self._sweep(database)
            except BaseException:
                database.close()
                raise
        except apsw.Error as bad:
            self._witness.close()
            raise LogError(f"{self.folder / NAME} is damaged: {bad}. Restore a backup") from bad
        except BaseException:
            self._witness.close()
            raise
        self._database = database
        self.reading = LogReaders(lambda: open_database(self.folder, reads=True), self._payloads)
        self.writer = LogWriter(
            database, self._payloads, self._witness, self.clock, state, most_waiting
        )

    def _sweep(self, database: apsw.Connection) -> None:
        left = self._payloads.sweep(_named_payloads(database))
        if left:
            log.info("%d payloads that no entry names were removed", left)

    @property
    def state(self) -> LogState:
        """Returns how far the log has come."""
        return self.writer.state

    def submit(self, change: Change[Outcome]) -> PendingChange[Outcome]:
        """Hands in a change; what became of it is known when it is on disk, or refused."""
        return self.writer.submit(change)

    def backup(self, folder: str | Path) -> LogState:
        """Copies the log as it is now to a new folder, while it is read and written on.

        What is copied opens like the log itself. How far it goes."""
        target = Path(folder)
        target.mkdir(parents=True, mode=0o700)
        copied = Payloads(target)
        with self._payloads.staying:
            with self.reading.database() as source:
                copy = open_database(target)
                try:
                    with copy.backup("main", source, "main") as copying:
                        copying.step()
                    copy.pragma("journal_mode", "wal")
                    state = read_state(copy)
                    named = _named_payloads(copy)
                finally:
                    copy.close()
            for digest in named:
                copied.write(self._payloads.read(digest))
        witness = Witness(target)
        witness.write(Mark(state.commits, state.position, state.hash))
        witness.close()
        sync_folder(target)
        return state

    def close(self) -> None:
        """Commits what waits, and lets another process use the folder."""
        self.writer.close()
        self.reading.close()
        self._database.close()
        self._witness.close()
        self._lock.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<log {self.folder}: position {self.state.position}, format with {checksums()}>"


def _sync_made(folder: Path) -> None:
    """Sees to it that a folder that was made is on disk, and its name.

    A parent that one may only write to cannot be synced. File systems with a journal have the name
    on disk with the folder itself."""
    sync_folder(folder)
    with contextlib.suppress(PermissionError):
        sync_folder(folder.parent)


def _named_payloads(database: apsw.Connection) -> set[str]:
    rows = database.execute("SELECT DISTINCT digest FROM payloads")
    return {str(digest) for (digest,) in rows}


def _check_end(database: apsw.Connection, state: LogState, mark: Mark | None, folder: Path) -> None:
    """Refuses a log that ends before what its witness saw, or is another one."""
    if mark is None:
        if state.commits > 1:
            log.warning("%s has no witness: nothing says whether its log is whole", folder)
        return
    if state.commits < mark.commits:
        raise LogError(
            f"the log in {folder} ends at commit {state.commits:,} (position {state.position:,}), "
            f"and commit {mark.commits:,} (position {mark.position:,}) was acknowledged: its end "
            f"is lost. Restore a backup, or remove {folder / 'witness'} to go on without it"
        )
    hash = database.execute("SELECT hash FROM entries WHERE position=?", (mark.position,)).get
    if hash is not None and hash != mark.hash:
        raise LogError(
            f"entry {mark.position:,} of the log in {folder} is not the one that was "
            f"acknowledged. Restore a backup"
        )


def check_hashes(database: apsw.Connection, first: int) -> None:
    """Verifies the hashes of the commits from that of a position on; `LogError` names the entries
    of the first that does not fit the one before it."""
    before: bytes | None = NO_HASH
    found = database.execute(
        "SELECT position, hash FROM entries WHERE position<? AND hash IS NOT NULL "
        "ORDER BY position DESC LIMIT 1",
        (first,),
    ).fetchone()
    if found is not None:
        first, before = found[0] + 1, found[1]
    elif first > 1:
        before = None  # what begins a commit is kept no longer
    rows = database.execute(
        "SELECT at, kind, CAST(born AS TEXT), id, body, position, hash FROM entries "
        "WHERE position>=? ORDER BY position",
        (first,),
    )
    together: list[Any] = []
    for row in rows:
        together.append(row)
        if row[-1] is not None:
            times, *columns, positions, hashes = zip(*together, strict=True)
            fits = before is None or hash_of(before, first, times[0], *columns) == hashes[-1]
            if not fits or len(set(times)) > 1 or positions[-1] != first + len(positions) - 1:
                break
            first, before, together = positions[-1] + 1, hashes[-1], []
    if together:
        raise LogError(
            f"of the entries {first:,} to {together[-1][5]:,} of the log one is damaged or gone. "
            "Restore a backup"
        )
