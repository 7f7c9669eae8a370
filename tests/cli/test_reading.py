"""Reads what files hold: events of JSON lines, packed or not, of folders, patterns and tables."""

from __future__ import annotations

import datetime
import decimal
import gzip
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from tamis.files.reading import Events, FileLine, ReadingError, read_whole

from .running import write_lines


def documents(*places: str) -> list[Any]:
    return [line.document for line in Events(places)]


@pytest.fixture
def day(folder: Path) -> Path:
    """A folder of events and of other things."""
    day = folder / "day"
    (day / "hour=2").mkdir(parents=True)
    (day / "_temporary").mkdir()
    write_lines(day / "b.jsonl", {"n": 3})
    write_lines(day / "hour=2" / "c.jsonl", {"n": 4})
    (day / "a.jsonl.gz").write_bytes(gzip.compress(b'{"n": 1}\n\n{"n": 2}\n'))
    for name in (".b.jsonl.crc", "_SUCCESS", "notes.txt", ".hidden.jsonl", "_temporary/x.jsonl"):
        (day / name).write_text("no event\n")
    return day


def test_a_folder_is_its_files_by_name(day: Path) -> None:
    assert documents("day") == [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4, "hour": 2}]


def test_a_pattern_is_the_files_it_matches(day: Path) -> None:
    assert documents("day/*.jsonl") == [{"n": 3}]
    assert documents("day/[ab].jsonl*") == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert documents("day/**") == [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4, "hour": 2}]
    assert documents("day/no*.txt") == [None]
    with pytest.raises(ReadingError, match=r"no file, folder or pattern day/no\*"):
        documents("day/no*")
    assert documents("day/hour=*") == [{"n": 4, "hour": 2}]
    assert documents("day/b.jsonl", "day/hour=2") == [{"n": 3}, {"n": 4, "hour": 2}]


def test_a_file_is_what_it_is_named_whatever_its_name(folder: Path) -> None:
    write_lines(folder / "events[1].txt", {"n": 1})
    assert documents("events[1].txt") == [{"n": 1}]


def test_packed_or_not_is_told_by_the_content(folder: Path) -> None:
    write_lines(folder / "plain.jsonl.gz", {"n": 1})
    (folder / "packed.jsonl").write_bytes(gzip.compress(b'{"n": 2}'))
    (folder / "empty.jsonl.gz").write_bytes(b"")
    assert documents("plain.jsonl.gz", "packed.jsonl", "empty.jsonl.gz") == [{"n": 1}, {"n": 2}]


def test_standard_input_may_be_packed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = io.BytesIO(gzip.compress(b'{"n": 2}'))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(packed))
    events = Events(["-"])
    assert events.live
    assert list(events) == [FileLine("standard input", 1, {"n": 2}, None, '{"n": 2}')]
    assert events.share is None


def test_lines_are_counted_blank_ones_too_and_spaces_kept(folder: Path) -> None:
    (folder / "E.jsonl").write_bytes(b'\r\n  {"n": 1}\r\n \t\n  {"n": }\n\n')
    first, second = Events(["E.jsonl"])
    assert (first.number, first.document) == (2, {"n": 1})
    assert (second.number, second.reason) == (4, "not valid JSON: Expecting value at column 9")


def test_numbers_too_large_for_python_are_read(folder: Path) -> None:
    write_lines(folder / "E.jsonl", '{"n": 1' + "0" * 5000 + ', "m": NaN}')
    (line,) = Events(["E.jsonl"])
    assert isinstance(line.document, dict)
    assert line.document["n"] == float("inf")


def test_damaged_data_is_a_sentence(folder: Path) -> None:
    packed = gzip.compress(b'{"n": 1}\n' * 10)
    (folder / "cut.gz").write_bytes(packed[:-4])
    (folder / "bent.gz").write_bytes(packed[:12] + b"\xff" + packed[13:])
    for name in ("cut.gz", "bent.gz"):
        with pytest.raises(ReadingError, match=f"{name} cannot be read.*data is damaged"):
            documents(name)


def test_the_share_that_is_read_grows_to_the_whole(day: Path) -> None:
    events = Events(["day"])
    shares = [events.share for _ in events]
    assert all(isinstance(share, float) for share in shares)
    assert shares == sorted(shares, key=lambda share: share or 0.0)
    assert events.share == 1.0


def test_a_whole_file_is_text(folder: Path) -> None:
    (folder / "event.json").write_bytes(b'\xef\xbb\xbf{\n"n": 1}')
    assert read_whole("event.json") == '{\n"n": 1}'
    (folder / "event.json").write_bytes(b"\xff")
    with pytest.raises(ReadingError, match=r"event\.json is not UTF-8: byte 1 is 0xff"):
        read_whole("event.json")


def test_rows_of_tables_are_events(folder: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    utc = datetime.UTC
    noon = datetime.datetime(2026, 5, 2, 12, 0, 0, 250_000, utc)
    (folder / "tables").mkdir()
    table = arrow.table(
        {
            "id": arrow.array([1, 2]),
            "time": arrow.array([noon, None], arrow.timestamp("ns", "UTC")),
            "local": arrow.array([noon.replace(tzinfo=None)] * 2, arrow.timestamp("us")),
            "day": arrow.array([noon.date()] * 2),
            "took": arrow.array([datetime.timedelta(seconds=90)] * 2, arrow.duration("ns")),
            "price": arrow.array([decimal.Decimal("1.50"), decimal.Decimal("2.00")]),
            "tags": arrow.array([["fire"], None]),
            "meta": arrow.array([{"speed": 3}, {"speed": 4}]),
            "map": arrow.array([[("a", 1)], []], arrow.map_(arrow.string(), arrow.int64())),
            "image": arrow.array(["a.jpg", None]),
            "bytes": arrow.array([b"\xff", b""]),
        }
    )
    pyarrow.parquet.write_table(table, folder / "tables" / "part-0.parquet")
    events = Events(["tables"])
    first, second = events
    assert (first.file, first.number, first.text) == ("tables/part-0.parquet", 1, None)
    assert first.document == {
        "id": 1,
        "time": "2026-05-02T12:00:00.250000+00:00",
        "local": "2026-05-02T12:00:00.250000",
        "day": "2026-05-02",
        "took": 90.0,
        "price": 1.5,
        "tags": ["fire"],
        "meta": {"speed": 3},
        "map": {"a": 1},
        "image": "a.jpg",
        "bytes": b"\xff",
    }
    assert isinstance(second.document, dict)
    assert second.document["price"] == 2
    assert second.document["time"] is None
    assert second.rejected("why")["text"].startswith('{"id": 2, "time": null')
    assert events.share == 1.0


def test_a_table_that_is_none_is_a_sentence(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    (folder / "E.parquet").write_text("no table")
    with pytest.raises(ReadingError, match=r"E\.parquet cannot be read as Parquet"):
        documents("E.parquet")


def test_tables_without_pyarrow_say_how_to_get_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (folder / "E.parquet").write_text("no table")
    with pytest.raises(ReadingError, match=r"need pyarrow: pip install 'tamis\[parquet\]'"):
        Events(["E.parquet"])
