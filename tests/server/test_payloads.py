"""Large texts lie beside the log, as long as something names them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tamis.server.changes import Publish, Retain
from tamis.server.errors import LogError
from tamis.server.log import Log
from tests.server.follower import Follower
from tests.server.test_log import event


def test_large_texts_are_files_as_long_as_something_names_them(tmp_path: Path) -> None:
    picture = "data:image/png;base64," + "A" * 50_000
    with Log(tmp_path) as log:
        log.submit(Publish([event(1, image=picture), event(2, image=picture), event(3)])).result()
        files = [path for path in (tmp_path / "payloads").rglob("*") if path.is_file()]
        assert len(files) == 1
        entry = log.reading.entries(0, 1)[0]
        assert len(json.dumps(entry.body)) < 500
        assert log.reading.event_of(entry)["image"] == picture
        Follower(log).decide()
        first = log.reading.rows("SELECT total FROM entries WHERE position=1")[0][0]
        assert log.submit(Retain(most_bytes=log.state.total - first)).result().entries == 1
        assert files[0].exists()
        assert log.submit(Retain(most_bytes=0)).result().entries == 2
        assert not files[0].exists()
        stray = files[0].with_name("f" * 64)
        stray.write_bytes(b"of a commit that never was")
    Log(tmp_path).close()
    assert not stray.exists()


def test_a_payload_that_cannot_be_removed_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Log(tmp_path) as log:
        log.submit(Publish([event(1, image="data:" + "A" * 50_000)])).result()
        (file,) = [path for path in (tmp_path / "payloads").rglob("*") if path.is_file()]
        Follower(log).decide()
        file.unlink()
        file.mkdir()  # which nobody can unlink, whoever asks
        assert log.submit(Retain(most_bytes=0)).result(20).entries == 1
        assert log.submit(Publish([event(2)])).result(20).positions == [2]
    with Log(tmp_path) as log:
        assert log.submit(Publish([event(3)])).result(20).positions == [3]
    assert caplog.text.count("cannot be removed") == 2
    file.rmdir()


def test_a_damaged_payload_is_noticed(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.submit(Publish([event(1, image="data:" + "A" * 50_000)])).result()
        next(path for path in (tmp_path / "payloads").rglob("*/*")).write_bytes(b"other")
        with pytest.raises(LogError, match="its content is not its name"):
            log.reading.event_of(log.reading.entries(0, 1)[0])
