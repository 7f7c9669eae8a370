"""Keeps pages in two files so that a commit is there entirely or not at all.

`pages` holds the pages at their places, `log` what commits changed since. Log or shadow pages:

    a log: a changed page keeps its place, so that lists of pages may point at each other;
    a commit is one append and one sync; the second write of a page is put off, and often spared.
    Shadow pages: nothing is written twice, and recovery is nothing at all; but a page that moves
    changes all that point at it, its neighbors in the lists and theirs, or takes a table of
    pages that is itself a tree; a commit is two syncs, pages first and then the root.
    The lists of the PB+tree run both ways, and most commits are small: a log.

Invariants, each by a sync between the two writes: a page that something committed points at is
written to `pages` only when the log has it; new pages go there at once, beyond all that was
committed, and before the commit that points at them; the log begins anew when `pages` has all.
A frame of the log holds the checksum of all before it. After each commit a witness is written
into the log's head, never synced for its own sake: it tells a damaged end from an unfinished one.
Cost: a commit writes the pages it changed; opening reads the log, at most about `_LOG_BYTES`.
"""

from __future__ import annotations

import secrets
import struct
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from tamis.errors import IndexFolderError
from tamis.files.disk import Disk, DiskFile
from tamis.index.pbtree.nodes import CONTENT_BYTES, PAGE_BYTES, Node, node_of
from tamis.log import log

FORMAT_VERSION = 1
PAGES, LOG = "pages", "log"
_MAGIC = b"tamispbt"
_SEAL = struct.Struct("<II")
"""Before the content of a page: the checksum of the rest, and its number."""
_META = struct.Struct("<8sIIIIQQQ3I")
_HEAD = struct.Struct("<8sIIQI")
_WITNESS = struct.Struct("<QQI")
_FRAME = struct.Struct("<IIQI")
"""Before a page in the log: its number, whether the commit ends, its commit, the checksum."""
_WITNESS_AT, _FRAMES_AT = 512, 1_024
_FRAME_BYTES = _FRAME.size + PAGE_BYTES
_LOG_BYTES = 4 << 20
_MANY = 64
"""New pages beyond so many go to their places at once, which takes a sync more."""
_KEPT_BYTES = PAGE_BYTES + 1_024
"""The bytes of a page in the pool."""
_LEAST_POOL = 16


@dataclass
class PageTally:
    """Counts the pages that were looked at, and how many of them were read from disk."""

    pages: int = 0
    reads: int = 0


@dataclass
class Meta:
    """The content of page 0."""

    pages: int = 1
    free: int = 0
    commits: int = 0
    rows: int = 0
    next_name: int = 1 << 31
    roots: list[int] = field(default_factory=lambda: [0, 0, 0])
    """Of the trees that each index has: directory, records, names."""

    def packed(self) -> bytes:
        """Returns the content of the page."""
        fields = self.pages, self.free, self.commits, self.rows, self.next_name
        return _META.pack(_MAGIC, FORMAT_VERSION, PAGE_BYTES, *fields, *self.roots)

    def copy(self) -> Meta:
        """Returns one that may be changed alone."""
        return replace(self, roots=list(self.roots))


class PageStore:
    """The pages of one folder; one thread changes them, while no other reads."""

    def __init__(self, folder: Path, disk: Disk, pool_bytes: int) -> None:
        self.folder = folder
        self._disk = disk
        self._most = max(_LEAST_POOL, pool_bytes // _KEPT_BYTES)
        self._lock = Lock()
        self._pool: OrderedDict[int, Node] = OrderedDict()
        self._changed: dict[int, Node] = {}
        self._logged: dict[int, int] = {}
        """The places of committed pages in the log."""
        self._spilled: dict[int, int] = {}
        """The same of pages that were changed since, for which there was no room in the pool."""
        self._is_ahead = False
        """True if new pages were written to their places since the last commit."""
        self._broken: str | None = None
        self._files: list[DiskFile] = []
        try:
            with self._said():
                self._open()
        except BaseException:
            self.close()
            raise

    # opening

    def _open(self) -> None:
        path = self.folder / PAGES
        is_new = not path.exists()
        if not is_new:
            self._pages = self._opened(path)
            self._check_format(path)
            if not (self.folder / LOG).exists():
                raise self._damaged(self.folder / LOG, "it is not there")
        self._log = self._opened(self.folder / LOG)
        if is_new:
            self._begin_log()
            self._disk.sync_folder(self.folder)  # so that no pages are there without a log
            fresh = self.folder / f"{PAGES}.new"
            pages = self._disk.open(fresh)
            pages.truncate(0)
            pages.write(0, _sealed(0, Meta().packed()))
            pages.sync()
            pages.close()
            self._disk.replace(fresh, path)
            self._disk.sync_folder(self.folder)
            self._pages = self._opened(path)
        else:
            self._recover()
        self.meta = self._read_meta()
        self._committed = self.meta.copy()
        self._wanted = self._end, self._chain

    def _opened(self, path: Path) -> DiskFile:
        file = self._disk.open(path)
        self._files.append(file)
        return file

    def _check_format(self, path: Path) -> None:
        """Refuses what no index of this format wrote."""
        head = self._pages.read(_SEAL.size, _META.size)
        if len(head) < _META.size or not head.startswith(_MAGIC):
            raise IndexFolderError(f"{path} holds no pages of a pbtree index")
        _, version, page_bytes, *_ = _META.unpack(head)
        if (version, page_bytes) != (FORMAT_VERSION, PAGE_BYTES):
            raise IndexFolderError(
                f"{path} is of format {version} with pages of {page_bytes} bytes, and this tamis "
                f"reads format {FORMAT_VERSION} with {PAGE_BYTES}: build the index again"
            )

    def _read_meta(self) -> Meta:
        _, _, _, pages, free, commits, rows, name, *roots = _META.unpack_from(self._read(0))
        return Meta(pages, free, commits, rows, name, roots)

    def _begin_log(self) -> None:
        """Empties the log, under a new salt."""
        self._salt = secrets.randbits(63)
        head = _HEAD.pack(_MAGIC, FORMAT_VERSION, PAGE_BYTES, self._salt, 0)
        head = head[:-4] + zlib.crc32(head[:-4]).to_bytes(4, "little")
        self._log.truncate(0)
        self._log.write(0, head.ljust(_FRAMES_AT, b"\0"))
        self._log.sync()
        self._logged, self._end = {}, _FRAMES_AT
        self._chain = zlib.crc32(self._salt.to_bytes(8, "little"))
        self._wanted = self._end, self._chain

    def _recover(self) -> None:
        """Brings what the log has committed to its places."""
        head = self._log.read(0, _HEAD.size)
        if not head.strip(b"\0"):  # it was being emptied, after all was at its place
            self._begin_log()
            return
        if len(head) < _HEAD.size or zlib.crc32(head[:-4]) != int.from_bytes(head[-4:], "little"):
            raise self._damaged(self.folder / LOG, "its head has a wrong checksum")
        self._salt = _HEAD.unpack(head)[3]
        self._end = _FRAMES_AT
        self._chain = zlib.crc32(self._salt.to_bytes(8, "little"))
        while self._recover_commit():
            continue
        self._check_witness()
        if self._logged:
            self._write_back()

    def _recover_commit(self) -> bool:
        """Takes the next commit of the log; returns whether there is a whole one."""
        end, chain, found = self._end, self._chain, {}
        while True:
            frame = self._log.read(end, _FRAME_BYTES)
            if len(frame) < _FRAME_BYTES:
                return False
            number, is_last, commit, checksum = _FRAME.unpack_from(frame)
            head = _FRAME.pack(number, is_last, commit, 0)
            chain = zlib.crc32(frame[_FRAME.size :], zlib.crc32(head, chain))
            if chain != checksum:
                return False
            found[number] = end
            end += _FRAME_BYTES
            if is_last:
                break
        self._end, self._chain = end, chain
        self._logged |= found
        return True

    def _check_witness(self) -> None:
        """Refuses a log that lacks a commit that was once on disk, before it is emptied."""
        there = self._read_meta().commits
        witness = self._log.read(_WITNESS_AT, _WITNESS.size)
        if len(witness) < _WITNESS.size:
            return
        salt, commits, checksum = _WITNESS.unpack(witness)
        is_whole = zlib.crc32(witness[:-4]) == checksum and salt == self._salt
        if is_whole and commits > there:
            raise self._damaged(self.folder / LOG, f"commit {commits} is not whole in it")

    # reading

    def page(self, number: int, tally: PageTally) -> Node:
        """Returns a page."""
        with self._lock:
            tally.pages += 1
            node = self._changed.get(number)
            if node is not None:
                return node
            node = self._pool.get(number)
            if node is not None:
                self._pool.move_to_end(number)
                return node
            with self._said():
                node = node_of(number, self._read(number))
            tally.reads += 1
            self._pool[number] = node
            if not self._changed:
                self._shrink()
            return node

    def _read(self, number: int) -> bytes:
        """Reads the content of a page, and verifies its checksum."""
        at = self._spilled.get(number, self._logged.get(number))
        if at is None:
            path, content = PAGES, self._pages.read(number * PAGE_BYTES, PAGE_BYTES)
        else:
            path, content = LOG, self._log.read(at + _FRAME.size, PAGE_BYTES)
        content = content.ljust(_SEAL.size, b"\0")
        checksum, named = _SEAL.unpack_from(content)
        if zlib.crc32(content[4:]) != checksum or named != number:
            raise self._damaged(self.folder / path, f"page {number} has a wrong checksum")
        return content[_SEAL.size :]

    def _damaged(self, path: Path, why: str) -> IndexFolderError:
        return IndexFolderError(
            f"{path} is damaged: {why}. Restore a copy, or build the index again"
        )

    def _shrink(self) -> None:
        while len(self._pool) > self._most:
            self._pool.popitem(last=False)

    # changing

    def change(self, node: Node) -> None:
        """Notes that a page is changed."""
        if node.number not in self._changed:
            self._pool.pop(node.number, None)
            self._changed[node.number] = node

    def add(self, node: Node) -> int:
        """Gives a new page a number."""
        if self.meta.free:
            node.number = self.meta.free
            self.meta.free = self.page(node.number, PageTally()).after
            self._changed.pop(node.number, None)
        else:
            node.number = self.meta.pages
            self.meta.pages += 1
        self.change(node)
        return node.number

    def drop(self, node: Node) -> None:
        """Frees a page, which nothing points at any more."""
        free = Node(node.number)
        free.after, self.meta.free = self.meta.free, node.number
        self._changed.pop(node.number, None)
        self.change(free)

    def settle(self) -> None:
        """Makes room in the pool: to be called where no changed page is held."""
        with self._lock, self._said():
            if self._broken is None and len(self._changed) > self._most // 2:
                self._spill(self._changed.values())
                self._pool.update(self._changed)
                self._changed.clear()
            self._shrink()

    def _spill(self, nodes: Iterable[Node]) -> None:
        """Writes pages where nothing that is committed is."""
        for node in sorted(nodes, key=lambda node: node.number):
            content = _sealed(node.number, node.encoded())
            if node.number >= self._committed.pages:
                self._pages.write(node.number * PAGE_BYTES, content)
                self._is_ahead = True
            else:
                at = self._end
                self._log.write(at, self._frame(node.number, content, is_last=False))
                self._spilled[node.number] = at

    def _frame(self, number: int, content: bytes, *, is_last: bool) -> bytes:
        """Returns the next frame of the log."""
        head = _FRAME.pack(number, is_last, self.meta.commits, 0)
        self._chain = zlib.crc32(content, zlib.crc32(head, self._chain))
        self._end += _FRAME_BYTES
        return head[:-4] + self._chain.to_bytes(4, "little") + content

    def commit(self) -> None:
        """Brings all changes to disk, before it returns."""
        if self._broken is not None:
            raise IndexFolderError(self._broken)
        with self._lock, self._said():
            self.meta.commits += 1
            new = [node for at, node in self._changed.items() if at >= self._committed.pages]
            if self._is_ahead or len(new) > _MANY:
                self._spill(new)
                self._sync_pages()
            else:
                new = []
            start, there = self._end, dict(self._spilled)
            frames = []
            for number in sorted(self._changed.keys() - {node.number for node in new}):
                there[number] = self._end
                content = _sealed(number, self._changed[number].encoded())
                frames.append(self._frame(number, content, is_last=False))
            there[0] = self._end
            frames.append(self._frame(0, _sealed(0, self.meta.packed()), is_last=True))
            self._log.write(start, b"".join(frames))
            self._sync_log()
            self._logged |= there
            self._end_change()
            self._committed, self._wanted = self.meta.copy(), (self._end, self._chain)
            witness = _WITNESS.pack(self._salt, self.meta.commits, 0)[:-4]
            witness += zlib.crc32(witness).to_bytes(4, "little")
        with self._lock:
            self._put_off(witness)

    def _put_off(self, witness: bytes) -> None:
        """Does what a commit, which is on disk, does not depend on."""
        try:
            self._log.write(_WITNESS_AT, witness)
            if self._end > _LOG_BYTES:
                self._write_back()
        except OSError as failure:
            log.warning("%s: the log is not emptied: %s", self.folder, failure)

    def _end_change(self) -> None:
        self._pool.update(self._changed)
        self._changed, self._spilled, self._is_ahead = {}, {}, False
        self._shrink()

    def roll_back(self) -> None:
        """Forgets what was changed since the last commit."""
        with self._lock:
            if self._spilled or self._is_ahead:
                self._pool.clear()
            self._changed, self._spilled, self._is_ahead = {}, {}, False
            self.meta = self._committed.copy()
            self._end, self._chain = self._wanted

    def write_back(self) -> None:
        """Brings what the log has to its place."""
        with self._lock, self._said():
            if self._logged:
                self._write_back()

    def _write_back(self) -> None:
        for number, at in sorted(self._logged.items()):
            self._pages.write(number * PAGE_BYTES, self._log.read(at + _FRAME.size, PAGE_BYTES))
        self._sync_pages()
        self._begin_log()

    def _sync_pages(self) -> None:
        self._sync(self._pages.sync)

    def _sync_log(self) -> None:
        self._sync(self._log.sync)

    def _sync(self, sync: Callable[[], None]) -> None:
        """Syncs; when that fails, what is on disk is unknown until the folder is opened again."""
        try:
            sync()
        except OSError as failure:
            self._broken = (
                f"{self.folder} could not be synced ({failure.strerror}): open the index again"
            )
            raise

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Says in a sentence what a disk refuses."""
        try:
            yield
        except OSError as failure:
            raise IndexFolderError(
                f"{self.folder} cannot be used: {failure.strerror}. "
                "What was committed is whole, and nothing else was kept"
            ) from failure

    @property
    def nbytes(self) -> int:
        """The memory that the pool takes."""
        return (len(self._pool) + len(self._changed)) * _KEPT_BYTES

    @property
    def disk_bytes(self) -> int:
        """The size of the files in bytes."""
        return self._pages.size + self._log.size

    def close(self) -> None:
        """Closes the files; what was not committed is gone."""
        while self._files:
            self._files.pop().close()


def _sealed(number: int, content: bytes) -> bytes:
    """Returns a page as it is on disk."""
    rest = number.to_bytes(4, "little") + content.ljust(CONTENT_BYTES, b"\0")
    return zlib.crc32(rest).to_bytes(4, "little") + rest
