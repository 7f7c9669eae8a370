"""The log on disk: what it refuses to open, what it survives, and what it does not wait for."""

from __future__ import annotations

import contextlib
import random
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from tamis.files.disk import sync_folder
from tamis.server import database as databases
from tamis.server.batches import CommitBatch, PendingChange
from tamis.server.changes import (
    Decide,
    Expire,
    Publish,
    PublishedEvents,
    Renew,
    Replace,
    Request,
    Retain,
    Subscribe,
    Unsubscribe,
)
from tamis.server.errors import LogError, OtherContent, OtherRequest, Overload
from tamis.server.log import Log
from tests.server.follower import Follower

TICKET = bytes(32)


def event(number: int, **more: object) -> dict[str, object]:
    return {"id": f"e{number}", "level": number, **more}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A log with a subscription and events, that was closed."""
    with Log(tmp_path / "log") as log:
        log.submit(Subscribe({"where": "3"}, TICKET, "s")).result()
        log.submit(Publish([event(number) for number in range(50)])).result()
        Follower(log).decide()
    return tmp_path / "log"


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[Path]:
    """A log whose process was killed: its last commits are in the write-ahead log alone."""
    with Log(tmp_path / "running") as log:
        for number in range(20):
            log.submit(Publish([event(number)])).result()
        shutil.copytree(tmp_path / "running", tmp_path / "killed")
        yield tmp_path / "killed"


def test_a_folder_that_others_may_read_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Log(tmp_path / "own") as log:
        log.backup(tmp_path / "copy")
    assert not caplog.messages
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("own", "copy")} == {0o700}
    (tmp_path / "own").chmod(0o750)
    with Log(tmp_path / "own"):
        assert "chmod 700" in caplog.text


def test_a_folder_is_made_in_one_that_may_only_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = {tmp_path}

    def sync(folder: Path) -> None:
        if folder in refused:
            raise PermissionError(13, "Permission denied")
        sync_folder(folder)

    monkeypatch.setattr("tamis.server.log.sync_folder", sync)
    with Log(tmp_path / "outer" / "log") as log:
        assert log.state.position == 0
    refused.add(tmp_path / "other")
    with pytest.raises(LogError, match="cannot make the folder"):
        Log(tmp_path / "other")


def test_an_old_sqlite_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(LogError, match=r"3\.51\.2, which can lose commits: 3\.51\.3 or later"):
        Log(tmp_path)


def test_settings_are_those_that_promises_need(folder: Path) -> None:
    with Log(folder) as log:
        for connection in (log._database, log.reading._connect()):
            assert connection.pragma("journal_mode") == "wal"
            assert connection.pragma("synchronous") == 2
            assert connection.pragma("mmap_size") == 0
            assert connection.open_vfs == databases.checksums() == "cksmvfs"
    reader = databases.open_database(folder, reads=True)
    with pytest.raises(apsw.ReadOnlyError):
        reader.execute("DELETE FROM entries")
    reader.close()


def test_settings_that_are_not_in_force_are_refused(folder: Path) -> None:
    weak = databases.open_database(folder, synchronous="NORMAL")
    with pytest.raises(LogError, match="synchronous is 1 and has to be 2"):
        databases.check_settings(weak, folder)
    weak.close()


def test_one_process_at_a_time_uses_a_log(folder: Path) -> None:
    with Log(folder), pytest.raises(LogError, match=r"is in use by another match server \(process"):
        Log(folder)
    Log(folder).close()


def test_a_newer_format_is_refused(folder: Path) -> None:
    connection = databases.open_database(folder)
    connection.execute("UPDATE format SET format_version=99")
    connection.close()
    with pytest.raises(LogError, match="is of format 99, and this tamis reads format 3"):
        Log(folder)


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / databases.NAME))
    other.execute("CREATE TABLE recipes(name)")
    other.close()
    with pytest.raises(LogError, match=r"reserved bytes is 0|something else"):
        Log(tmp_path)


def test_a_log_that_ends_too_early_is_refused(killed: Path) -> None:
    written = (killed / "log.sqlite-wal").read_bytes()
    with open(killed / "log.sqlite-wal", "r+b") as wal:
        wal.truncate(len(written) * 2 // 3)
    with pytest.raises(LogError, match=r"ends at commit .*and commit 20 .*its end is lost"):
        Log(killed)


def test_one_flipped_bit_of_the_write_ahead_log_is_noticed(killed: Path) -> None:
    place, chance = killed / "log.sqlite-wal", random.Random(7)
    whole = place.read_bytes()
    refused = 0
    for _ in range(25):
        at = chance.randrange(len(whole))
        flipped = bytearray(whole)
        flipped[at] ^= 1 << chance.randrange(8)
        again = killed.with_name("flipped")
        shutil.copytree(killed, again)
        (again / place.name).write_bytes(flipped)
        (again / (databases.NAME + "-shm")).unlink(missing_ok=True)
        try:
            with Log(again) as log:
                entries = log.reading.entries(0, 100)
                assert [entry.body["event"]["level"] for entry in entries] == list(range(20))
        except LogError:
            refused += 1
        shutil.rmtree(again)
    assert refused > 15


def test_one_flipped_bit_of_the_database_is_noticed(folder: Path) -> None:
    whole, chance = (folder / databases.NAME).read_bytes(), random.Random(3)
    noticed = 0
    for _ in range(40):
        flipped = bytearray(whole)
        flipped[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        (folder / databases.NAME).write_bytes(flipped)
        try:
            with Log(folder) as log:
                levels = [
                    log.reading.event_of(entry)["level"]
                    for entry in log.reading.entries(0, 100)
                    if entry.kind == "publish"
                ]
                assert levels == list(range(50))
                numbers = [each.number for each in log.reading.deliveries(1, 0, 100)]
                assert numbers == list(range(1, 47))
        except (LogError, apsw.Error):
            noticed += 1
        (folder / databases.NAME).write_bytes(whole)
    assert noticed > 5


def test_a_damaged_witness_says_so(folder: Path) -> None:
    content = bytearray((folder / "witness").read_bytes())
    content[20] ^= 1
    (folder / "witness").write_bytes(content)
    Log(folder).close()  # one slot is enough
    content[20] ^= 1
    content[20], content[532] = content[20] ^ 1, content[532] ^ 1
    (folder / "witness").write_bytes(content)
    with pytest.raises(LogError, match="nothing says whether the log beside it is whole"):
        Log(folder)


def test_a_log_that_was_replaced_is_refused(folder: Path, tmp_path: Path) -> None:
    with Log(tmp_path / "other") as other:
        for number in range(100):
            other.submit(Publish([event(number, other=True)])).result()
    (folder / databases.NAME).write_bytes((tmp_path / "other" / databases.NAME).read_bytes())
    with pytest.raises(LogError, match="is not the one that was acknowledged"):
        Log(folder)


def test_the_hash_of_entries_stays_as_it_is(tmp_path: Path) -> None:
    with Log(tmp_path, clock=lambda: 1000.0) as log:
        log.submit(Publish([event(number) for number in range(40)])).result()
        with log.writer.gathering():
            log.submit(Subscribe({"where": "3"}, TICKET, "s"))
            last = log.submit(Publish([{"id": "é", "level": 1}]))
        last.result()
        found = log.state.hash.hex()
    assert found == "ff8cbc8fa43b75fe38c6271127bcc7d5d0c682877a28e9c650345d9d351a50e1"


def test_expiry_is_noticed_whatever_was_changed_before(tmp_path: Path) -> None:
    now = [0.0]
    with Log(tmp_path, clock=lambda: now[0]) as log:
        long, short, never = (
            log.submit(Subscribe({"where": "1"}, TICKET, name, validity)).result().born
            for name, validity in (("a", 50.0), ("b", 10.0), ("c", None))
        )
        log.submit(Unsubscribe(short)).result()
        log.submit(Renew(long, 100)).result()
        log.submit(Replace(never, {"where": "2"}, 20)).result()
        for at, number in ((15.0, 0), (20.0, 1)):
            now[0] = at
            log.submit(Publish([event(number)])).result()
    now[0] = 99.0
    with Log(tmp_path, clock=lambda: now[0]) as log:
        log.submit(Publish([event(2)])).result()
        now[0] = 100.0
        log.submit(Publish([event(3)])).result()
        found = [(each.kind, each.id) for each in log.reading.entries(6, 100)]
    assert found == [
        ("publish", "e0"),
        ("expire", "c"),
        ("publish", "e1"),
        ("publish", "e2"),
        ("expire", "a"),
        ("publish", "e3"),
    ]


def test_commits_of_one_change_each_refuse_what_they_would_refuse_together(tmp_path: Path) -> None:
    now = [0.0]
    with Log(tmp_path, clock=lambda: now[0]) as log:
        log.writer.most_together = 1
        log.submit(Subscribe({"where": "1"}, TICKET, "s", 10.0)).result()
        log.submit(Publish([event(0)])).result()
        with log.writer.gathering():
            handed_in: list[PendingChange[Any]] = [
                log.submit(Publish([event(1)])),
                log.submit(Publish([event(0, other=True)])),
                log.submit(Publish([{"id": "\ud800"}])),
                log.submit(Publish([event(1), event(2)])),
                log.submit(Publish([event(number) for number in range(3, 80)])),
                log.submit(Subscribe({"where": "2"}, TICKET, "t")),
                log.submit(Publish([event(80)])),
            ]
            now[0] = 20.0
            handed_in.append(log.submit(Publish([event(81)])))
        refused = [each.exception() for each in handed_in]
        assert [type(each) for each in refused[:4]] == [
            type(None),
            OtherContent,
            LogError,
            type(None),
        ]
        assert refused[4:] == [None] * 4
        assert handed_in[3].result() == PublishedEvents(["e1", "e2"], [4, 5])
        log.submit(Publish([event(82)])).result()
    with Log(tmp_path) as log:
        found = [(each.id, each.kind, each.at) for each in log.reading.entries(2, 200)]
    assert [id for id, kind, _ in found if kind == "publish"] == [f"e{at}" for at in range(1, 83)]
    assert found.index(("s", "expire", 20.0)) < found.index(("t", "subscribe", 20.0))


def test_an_entry_that_was_changed_does_not_fit_its_hash(folder: Path) -> None:
    connection = databases.open_database(folder)
    connection.execute("UPDATE entries SET body=replace(body, '7', '8') WHERE position=9")
    connection.close()
    with pytest.raises(LogError, match="of the entries 2 to 51 of the log one is damaged"):
        Log(folder)


def test_a_full_disk_refuses_and_is_left_behind(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.submit(Publish([event(0)])).result()
        pages = log._database.pragma("page_count")
        log._database.pragma("max_page_count", pages + 2)
        with pytest.raises(LogError, match="the disk is full"):
            log.submit(Publish([event(1, text="x" * 15_000)])).result()
        log._database.pragma("max_page_count", 1 << 20)
        log.submit(Publish([event(2)])).result()
    with Log(tmp_path) as log:
        assert [entry.id for entry in log.reading.entries(0, 10)] == ["e0", "e2"]


def test_a_database_that_fails_is_not_written_again(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log._witness.write = lambda mark: (_ for _ in ()).throw(OSError("gone"))  # type: ignore[method-assign]
        with pytest.raises(LogError, match="gone; restart the server"):
            log.submit(Publish([event(1)])).result()
        with pytest.raises(LogError, match="gone"):
            log.submit(Publish([event(2)]))


def test_what_cannot_be_written_harms_nobody_else(tmp_path: Path) -> None:
    with Log(tmp_path) as log, log.writer._followers:  # nothing is committed to the end meanwhile
        first = log.submit(Publish([event(0)]))
        futures = [log.submit(Publish([{"id": id}])) for id in ("a", "\ud800", "b")]
        del first
    assert isinstance(futures[1].exception(), LogError)
    assert [futures[at].result().ids for at in (0, 2)] == [["a"], ["b"]]


def test_each_of_events_that_are_committed_together_is_told_of_its_own(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.submit(Publish([event(0)])).result()
        for again in range(2):  # as events that are new, and as some that are known
            with log.writer.gathering():
                handed_in = [
                    log.submit(Publish([event(1), event(2)])),
                    log.submit(Publish([])),
                    log.submit(Publish([event(3)])),
                ]
                expired = log.submit(Expire())
                handed_in.append(log.submit(Publish([event(4), event(5 + again)])))
                if again:
                    handed_in.append(log.submit(Publish([event(4), event(0, other=True)])))
                    handed_in.append(log.submit(Publish([event(7)])))
            assert handed_in[0].result() == (["e1", "e2"], [2, 3])
            assert handed_in[1].result() == ([], [])
            assert handed_in[2].result() == (["e3"], [4])
            assert expired.result() == 0
            assert handed_in[3].result() == (["e4", f"e{5 + again}"], [5, 6 + again])
        assert isinstance(handed_in[4].exception(), OtherContent)
        assert handed_in[5].result() == (["e7"], [8])
        assert [each.id for each in log.reading.entries(0, 10)] == [f"e{at}" for at in range(8)]


def test_too_much_at_once_is_refused(tmp_path: Path) -> None:
    with Log(tmp_path, most_waiting=5) as log:
        log.submit(Publish([event(0)])).result()
        futures = []
        with log.writer._followers:  # the writer stops behind its next commit
            with contextlib.suppress(Overload):
                for number in range(1, 5_000):
                    futures.append(log.submit(Publish([event(number)])))
            with pytest.raises(Overload, match="5 changes wait for the disk"):
                log.submit(Publish([event(5_000)]))
            own = log.submit(Decide([], 0))  # its own changes find room
        accepted = [future.result().positions for future in futures]
        own.result()
        assert log.reading.state().position == len(accepted) + 1


def test_many_writers_share_their_commits(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        before = log.writer.commits
        futures = [log.submit(Publish([event(number)])) for number in range(2_000)]
        positions = [future.result().positions[0] for future in futures]
        assert positions == list(range(1, 2_001))
        assert log.writer.commits - before < 200


def test_whoever_hands_in_a_change_is_told_of_that_one(tmp_path: Path) -> None:
    others: list[PendingChange[PublishedEvents]] = []

    class Interrupted(threading.Condition):
        """Has somebody else hand in a change as soon as one is."""

        def __exit__(self, *about: object) -> None:
            super().__exit__(None, None, None)
            if not others:
                others.append(PendingChange(CommitBatch(), 0))
                others[0] = log.submit(Publish([event(2)]))

    with Log(tmp_path) as log, log.writer._followers:  # the writer stops behind its next commit
        log.writer._following = 1
        log.submit(Publish([event(0)])).result()
        log.writer._wakened = Interrupted()
        mine = log.submit(Publish([event(1)]))
    assert mine.result().ids == ["e1"]
    assert others[0].result().ids == ["e2"]


def test_the_same_request_is_answered_alike(tmp_path: Path) -> None:
    request = Request(b"key", b"one")
    with Log(tmp_path) as log:
        subscribe = Subscribe({"where": "1"}, TICKET, validity=10, sealed="…", request=request)
        first = log.submit(subscribe).result()
        assert log.submit(subscribe).result() == first
        with pytest.raises(OtherRequest):
            log.submit(Publish([event(1)], request=Request(b"key", b"two"))).result()
    with Log(tmp_path) as log:
        assert log.submit(subscribe).result() == first
        assert log.reading.state().position == 1


def test_answers_are_forgotten_after_a_day(tmp_path: Path) -> None:
    hours = [0.0]
    with Log(tmp_path, clock=lambda: hours[0] * 3600) as log:
        for number in range(3):
            log.submit(Publish([event(number)], request=Request(b"%d" % number, b"one"))).result()
            hours[0] += 10
        log.submit(Expire()).result()
        assert log.reading.rows("SELECT key FROM answers ORDER BY key") == [(b"1",), (b"2",)]


def test_events_are_published_all_or_none(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.submit(Publish([event(1)])).result()
        with pytest.raises(Exception, match="other content"):
            log.submit(Publish([event(2), {**event(1), "level": 9}])).result()
        again = log.submit(Publish([event(3), event(1), event(3), {"level": 4}])).result()
        assert again.positions == [2, 1, 2, 3]
        assert again.ids == ["e3", "e1", "e3", "event-3"]


def test_what_is_undecided_is_retained(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.submit(Publish([event(number) for number in range(10)])).result()
        assert log.submit(Retain(most_bytes=0)).result().entries == 0
        Follower(log).decide(4)
        assert log.submit(Retain(most_bytes=0)).result().entries == 4


def test_a_backup_is_taken_while_events_come(tmp_path: Path) -> None:
    with Log(tmp_path / "log") as log:
        ended = threading.Event()

        def publish() -> None:
            number = 0
            while not ended.is_set():
                number += 1
                log.submit(Publish([event(number, image=f"data:{number}" + "A" * 20_000)])).result()

        thread = threading.Thread(target=publish)
        thread.start()
        try:
            states = [log.backup(tmp_path / f"copy-{number}") for number in range(3)]
        finally:
            ended.set()
            thread.join()
    for number, state in enumerate(states):
        with Log(tmp_path / f"copy-{number}") as copy:
            assert copy.reading.state().position == state.position
            for entry in copy.reading.entries(0, 10_000):
                assert str(copy.reading.event_of(entry)["image"]).startswith(
                    f"data:{entry.id[1:]}A"
                )
            copy.submit(Publish([event(-1)])).result()
