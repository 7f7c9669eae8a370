"""The index on disk: its trees in order, its commits, its folder, and the memory it takes."""

from __future__ import annotations

import errno
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import tamis
from tamis.errors import IndexFolderError
from tamis.event import Event
from tamis.files.disk import Disk, DiskFile
from tamis.index.clauses import predicate_of
from tamis.index.pbtree.index import PBTree
from tamis.index.pbtree.nodes import PAGE_BYTES
from tamis.index.pbtree.store import LOG, PAGES, PageTally
from tamis.index.pbtree.tree import Sizes
from tamis.indexing import FoundRows
from tamis.testing import check_index
from tamis.testing.index_law import Trial
from tests.framework.index.pbtree.changes import Changes, event
from tests.framework.index.pbtree.structure import check_index_order

SMALL = Sizes(inner=4, leaf=4, run=300)


def change(index: PBTree, changes: Changes) -> None:
    added, gone = changes.next()
    if added:
        index.build([(int(id), [predicate_of(one) for one in each]) for id, each in added.items()])
    if gone:
        index.delete_many(np.array(gone, np.int64))


def compare(index: PBTree, changes: Changes, seed: int) -> None:
    document = event(random.Random(seed))
    assert set(index.match(Event.of(document, str, {})).tolist()) == changes.matching(document)


@pytest.mark.parametrize("run", [60, 300, 1_000])
def test_trees_stay_in_order_whatever_is_inserted_and_deleted(run: int) -> None:
    index, changes = PBTree(pool_bytes=0, sizes=Sizes(4, 4, run)), Changes(f"order {run}")
    for step in range(120):
        change(index, changes)
        compare(index, changes, step)
        if step % 10 == 0:
            check_index_order(index)
    index.delete_many(np.array(list(changes.rows), np.int64))
    check_index_order(index)
    assert len(index) == 0
    assert [*index._records.items()] == []
    index.close()


@pytest.mark.slow
def test_the_law_holds_with_nodes_that_split() -> None:
    check_index(lambda: PBTree(pool_bytes=0, sizes=SMALL), examples=15)


class Restarted(PBTree):
    """An index that is left, and opened again, before every answer."""

    def search(self, event: Event) -> FoundRows:
        again = Restarted.opened(self)
        found = again.find(event, PageTally())
        again.close()
        return found

    @staticmethod
    def opened(index: PBTree) -> PBTree:
        """The pages and the log as they are, opened by another one."""
        folder = index._home.folder / "again"
        folder.mkdir(exist_ok=True)
        for name in (PAGES, LOG):
            (folder / name).write_bytes((index._home.folder / name).read_bytes())
        return PBTree(folder, 0, sizes=SMALL)


def test_the_law_holds_across_restarts() -> None:
    check_index(lambda: Restarted(pool_bytes=0, sizes=SMALL), examples=10)


def test_ids_of_any_sort_are_there_when_it_is_opened_again(tmp_path: Path) -> None:
    ids: list[str | int] = ["low", 7, 0, -3, 2**40, "7"]
    index = tamis.index.build(
        "pbtree", [(id, [("a", "<", at)]) for at, id in enumerate(ids)], folder=str(tmp_path / "x")
    )
    for id in ids:
        with pytest.raises(ValueError, match="is taken"):
            index.insert(id, [])
    index.delete_many(["low", -3])
    index.close()
    index = tamis.index.open(tmp_path / "x")
    assert set(index.match({"a": -1}).tolist()) == {7, 0, 2**40, "7"}
    assert ("low" in index, "7" in index, -3 in index, None in index) == (False, True, False, False)
    with pytest.raises(KeyError):
        index.delete_many([7, "low"])
    index.insert_many([("low", []), (8, [])])
    assert len(index) == 6
    index.close()


def test_all_of_a_change_or_nothing(tmp_path: Path) -> None:
    index = tamis.index.build("pbtree", [(1, [("a", "=", 1)])], folder=str(tmp_path))
    with pytest.raises(ValueError, match="is taken"):
        index.insert_many([(2, []), ("s", []), (1, [])])
    with (
        patch("tamis.index.pbtree.records.Records.add", side_effect=RuntimeError("midway")),
        pytest.raises(RuntimeError),
    ):
        index.insert_many([(2, []), ("s", [("b", "=", 2)])])
    assert (len(index), "s" in index, index.match({"b": 2}).tolist()) == (1, False, [])
    index.insert_many([(2, []), ("s", [("b", "=", 2)])])
    assert set(index.match({"b": 2}).tolist()) == {2, "s"}
    index.close()


def test_folders_that_are_something_else_are_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(IndexFolderError, match="is there already, and holds no pbtree index"):
        PBTree(tmp_path)
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / PAGES).write_bytes(b"x" * PAGE_BYTES)
    with pytest.raises(IndexFolderError, match="holds no pages of a pbtree index"):
        PBTree(tmp_path / "file")
    PBTree(tmp_path / "new").close()
    content = bytearray((tmp_path / "new" / PAGES).read_bytes())
    content[16] = 9
    (tmp_path / "new" / PAGES).write_bytes(content)
    with pytest.raises(IndexFolderError, match="is of format 9"):
        PBTree(tmp_path / "new")
    with pytest.raises(IndexFolderError, match="cannot be used"):
        PBTree(tmp_path / "notes.txt")


def test_a_folder_is_of_one_process(tmp_path: Path) -> None:
    index = PBTree(tmp_path)
    other = subprocess.run(
        [sys.executable, "-c", f"import tamis; tamis.index.open({str(tmp_path)!r})"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert "holds no saved index" in other.stderr, "it has no ids"
    with pytest.raises(IndexFolderError, match="in use by another index"):
        PBTree(tmp_path)
    index.close()
    PBTree(tmp_path).close()


def test_a_matcher_has_a_folder_of_its_own_and_begins_anew(tmp_path: Path) -> None:
    options = {"folder": str(tmp_path / "m")}
    for _ in range(2):
        matcher = tamis.Matcher(index="pbtree", index_options=options)
        matcher.subscribe("a > 3 and time.hour < 30", id="s")
        found = matcher.match({"a": 5, "time": "2026-01-01T00:00:00Z"})
        assert [each.subscription for each in found.matches] == ["s"]
        matcher.close()
    with pytest.raises(IndexFolderError, match="holds the index of a matcher"):
        tamis.index.build("pbtree", [], folder=options["folder"])
    tamis.index.build("pbtree", [(1, [])], folder=str(tmp_path / "ids")).close()
    with pytest.raises(IndexFolderError, match="holds an index with ids"):
        tamis.Matcher(index="pbtree", index_options={"folder": str(tmp_path / "ids")})


def test_an_index_without_its_pages_is_refused(tmp_path: Path) -> None:
    tamis.index.build("pbtree", [("low", [("a", "<", 4)])], folder=str(tmp_path / "ids")).close()
    log = (tmp_path / "ids" / LOG).read_bytes()
    (tmp_path / "ids" / PAGES).unlink()
    with pytest.raises(IndexFolderError, match="is damaged: it has no pages"):
        tamis.index.open(tmp_path / "ids")
    assert (tmp_path / "ids" / LOG).read_bytes() == log


def test_an_index_without_its_log_is_refused(tmp_path: Path) -> None:
    """What was committed since the log was emptied last is in nothing else."""
    tamis.index.build("pbtree", [("low", [("a", "<", 4)])], folder=str(tmp_path / "ids")).close()
    (tmp_path / "ids" / LOG).unlink()
    with pytest.raises(IndexFolderError, match="log is damaged: it is not there"):
        tamis.index.open(tmp_path / "ids")
    assert not (tmp_path / "ids" / LOG).exists()


@pytest.fixture
def left(tmp_path: Path) -> tuple[Path, Changes]:
    """A folder as a killed process leaves it, with a log, and what is in it."""
    index, changes = PBTree(tmp_path / "left", sizes=SMALL), Changes("left")
    for _ in range(20):
        change(index, changes)
    index._store.write_back()
    for _ in range(6):
        change(index, changes)
    index.close()
    return tmp_path / "left", changes


@pytest.mark.parametrize("name", [PAGES, LOG])
def test_a_flipped_bit_is_found_or_does_no_harm(left: tuple[Path, Changes], name: str) -> None:
    folder, changes = left
    whole = (folder / name).read_bytes()
    other = (folder / (LOG if name == PAGES else PAGES)).read_bytes()
    chance, said = random.Random(3), list[str]()
    for _ in range(150):
        bit = chance.randrange(8 * len(whole))
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        (folder / name).write_bytes(content)
        (folder / (LOG if name == PAGES else PAGES)).write_bytes(other)
        try:
            index = PBTree(folder, sizes=SMALL)
            try:
                check_index_order(index)
                assert {row for row, _ in index._records.items()} == set(changes.rows)
                compare(index, changes, bit)
            finally:
                index.close()
        except IndexFolderError as failure:
            said.append(str(failure))
    assert all("is damaged: " in each or "is of format" in each for each in said)
    assert len(said) > 40, "others are in pages that the log has anew, or that are free"


class FullDisk(Disk):
    """A disk on which so many bytes may still be written."""

    def __init__(self, room: int) -> None:
        self.room = room

    def open(self, path: Path) -> DiskFile:
        return _FullFile(path, self)


class _FullFile(DiskFile):
    def __init__(self, path: Path, disk: FullDisk) -> None:
        super().__init__(path)
        self._disk = disk

    def write(self, offset: int, content: bytes) -> None:
        super().write(offset, content[: self._disk.room])
        self._disk.room -= len(content)
        if self._disk.room < 0:
            self._disk.room = 0
            raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("log_bytes", [1, 1 << 22])
def test_a_full_disk_loses_nothing_and_is_said(tmp_path: Path, log_bytes: int) -> None:
    disk = FullDisk(1 << 20)
    index, changes = PBTree(tmp_path, 0, disk, SMALL), Changes("full")
    said: list[str] = []
    with patch("tamis.index.pbtree.store._LOG_BYTES", log_bytes):
        for step in range(60):
            before = dict(changes.rows)
            disk.room = random.Random(step).choice([10, 30_000, 200_000, 1 << 22])
            try:
                change(index, changes)
            except IndexFolderError as failure:
                said.append(str(failure))
                changes.rows = before
            disk.room = 1 << 22
            assert {row for row, _ in index._records.items()} == set(changes.rows)
            compare(index, changes, step)
    index.close()
    assert 5 < len(said) < 55
    assert all("No space left on device. What was committed is whole" in each for each in said)
    index = PBTree(tmp_path, sizes=SMALL)
    check_index_order(index)
    compare(index, changes, 1)
    index.close()


def grown(count: int) -> Iterator[tuple[int, list[tuple[str, str, object]]]]:
    chance = random.Random(count)
    for id in range(count):
        key = chance.randrange(count)
        width = chance.choice([0, 1, 3])
        yield id, [("key", "between", (key, key + width)), ("other", "<", chance.randrange(100))]


def test_page_reads_grow_with_the_logarithm_and_memory_not_at_all(tmp_path: Path) -> None:
    looked_at = {}
    for count in (1_000, 30_000):
        folder = tmp_path / str(count)
        entries = [(id, [predicate_of(one) for one in asked]) for id, asked in grown(count)]
        index = PBTree(folder, 1 << 20)
        index.build(entries)
        assert index.nbytes < 2 << 20, "a pool of a megabyte"
        pages = []
        for key in random.Random(5).choices(range(count), k=40):
            tally = PageTally()
            index.find(Event.of({"key": key, "other": 50}, str, {}), tally)
            pages.append(tally.pages)
        looked_at[count] = sum(pages) / len(pages)
        index.close()
    assert looked_at[30_000] < 2.5 * looked_at[1_000]
    matcher = tamis.Matcher(index="pbtree", index_options={"folder": str(tmp_path / "matcher")})
    matcher.subscribe_many([{"where": f"key = {key}"} for key in range(2_000)])
    matcher._sieve._all._index._store._pool.clear()  # type: ignore[attr-defined]
    first, again = (matcher.match({"key": 7}).account.page_reads for _ in range(2))
    assert (first > 0, again) == (True, 0)


def test_trials_of_the_law_save_and_load() -> None:
    trial = Trial(lambda: PBTree(sizes=SMALL))
    trial.build([[("a", "=", at)] for at in range(30)])
    trial.save_and_load()
    trial.delete(3)
    trial.match([{"a": 3}, {"a": 4}])
    trial.folders.close()
