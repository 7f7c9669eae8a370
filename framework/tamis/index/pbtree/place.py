"""Holds the folder of an index: its own while it lives, or one that is there to stay.

A folder belongs to one process at a time. What is in it is an index, and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from pathlib import Path

from tamis.errors import IndexFolderError
from tamis.files.disk import Disk, FolderLock, ScratchDisk
from tamis.files.manifest import is_manifest_of
from tamis.index.pbtree.store import LOG, PAGES, PageStore

LIVES = "lives"
"""The field of a manifest of a folder in which an index works, and is not only saved."""
_OURS = {PAGES, LOG, f"{PAGES}.new", "lock", "manifest.json"}


class Home:
    """A folder with the store in it."""

    def __init__(self, folder: str | Path | None, pool_bytes: int, disk: Disk | None) -> None:
        self.is_own = folder is None
        self._pool_bytes = pool_bytes
        self._disk = disk or (ScratchDisk() if folder is None else Disk())
        self._lock: FolderLock | None = None
        if folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="tamis-pbtree-"))
        else:
            self.folder = Path(folder)
            self._enter()
        try:
            self.store = PageStore(self.folder, self._disk, pool_bytes)
        except BaseException:
            if self._lock is not None:
                self._lock.close()
            if self.is_own:
                shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self._end()

    def _end(self) -> None:
        """Sees to it that files are closed when nobody holds the index any more."""
        left = self.folder if self.is_own else None
        self.close = weakref.finalize(self, _leave, self.store, self._lock, left, os.getpid())

    def _enter(self) -> None:
        folder = self.folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            others = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
            if not others <= _OURS and not (folder / PAGES).exists():
                raise IndexFolderError(f"{folder} is there already, and holds no pbtree index")
            if self.has_ids and not (folder / PAGES).exists():  # which come before the manifest
                raise IndexFolderError(
                    f"{folder} is damaged: it has no {PAGES}. "
                    "Restore a copy, or build the index again"
                )
            self._lock = FolderLock(folder, "index", IndexFolderError)
        except OSError as failure:
            raise IndexFolderError(f"{folder} cannot be used: {failure.strerror}") from failure

    @property
    def has_ids(self) -> bool:
        """True if the folder is that of an index with ids, which `tamis.index.open` opens."""
        return is_manifest_of(self.folder, LIVES)

    def refill(self, source: Path | None) -> None:
        """Takes pages that were saved, or none, in the place of those that are there."""
        self.store.write_back()
        self.store.close()
        self.close.detach()
        pages = self.folder / PAGES
        try:
            if source is None:
                pages.unlink()
            else:
                fresh = self.folder / f"{PAGES}.new"
                shutil.copyfile(source, fresh)
                copied = self._disk.open(fresh)
                copied.sync()
                copied.close()
                self._disk.replace(fresh, pages)
            self._disk.sync_folder(self.folder)
        except OSError as failure:
            raise IndexFolderError(f"{pages} cannot be written: {failure.strerror}") from failure
        finally:
            self.store = PageStore(self.folder, self._disk, self._pool_bytes)
            self._end()

    def copy_to(self, folder: Path) -> None:
        """Writes a copy of the pages, which are those of the last commit."""
        self.store.write_back()
        shutil.copyfile(self.folder / PAGES, folder / PAGES)


def _leave(store: PageStore, lock: FolderLock | None, own: Path | None, process: int) -> None:
    """Closes the files of an index, and removes a folder of its own."""
    if process != os.getpid():  # a fork leaves to its parent what is its parent's
        return
    with contextlib.suppress(OSError):
        store.close()
    if lock is not None:
        lock.close()
    if own is not None:
        shutil.rmtree(own, ignore_errors=True)
