"""Films and cameras are events: frames, moments, places, and how a broken film ends."""

from __future__ import annotations

import functools
import http.server
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from itertools import count, islice, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Self

import numpy as np
import pytest

from .running import Tamis

cv2 = pytest.importorskip("cv2", reason="pip install 'tamis[image]'")

from tamis.files import cameras, films  # noqa: E402
from tamis.files.films import Films, Frames  # noqa: E402
from tamis.files.reading import FileLine  # noqa: E402
from tests.cli.camera import camera  # noqa: E402

MATCH = ("match", "--subscriptions", "dark.jsonl", "--keep", "frame,seconds,time,position,height")


def film(path: Path, *, seconds: int = 4, rate: int = 10, size: tuple[int, int] = (64, 48)) -> Path:
    """A film that is light, and dark in its second half."""
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), rate, size)
    for number in range(seconds * rate):
        shade = 220 if number < seconds * rate // 2 else 20
        writer.write(np.full((size[1], size[0], 3), shade, np.uint8))
    writer.release()
    return path


@pytest.fixture
def dark(folder: Path) -> Path:
    (folder / "dark.jsonl").write_text('{"id": "d", "where": "brightness(?b), ?b < 0.3"}\n')
    film(folder / "a.avi")
    return folder


def test_a_frame_so_often_is_an_event(dark: Path, tamis: Tamis) -> None:
    ended = tamis(*MATCH, "--events", "a.avi", "--every", "1s")
    assert (ended.status, ended.err) == (0, "")
    assert [each["event"] for each in ended.lines] == [
        "a.avi#0",
        "a.avi#10",
        "a.avi#20",
        "a.avi#30",
    ]
    assert [len(each["matches"]) for each in ended.lines] == [0, 0, 1, 1]
    assert ended.lines[1]["kept"] == {"frame": 10, "seconds": 1.0}
    ended = tamis(*MATCH, "--events", "a.avi", "--every", "500ms", "--frames", "3")
    assert [each["kept"]["seconds"] for each in ended.lines] == [0, 0.5, 1]


def test_a_track_says_when_and_where(dark: Path, tamis: Tamis) -> None:
    (dark / "track.csv").write_text(
        "Time,Lat,Lon,height,pilot\n"
        "2026-05-01T10:00:02Z,40.7,179.9,80,ann\n2026-05-01T10:00:00Z,40.5,-179.9,100,ann\n"
    )
    every = ("--events", "a.avi", "--every", "1s", "--track")
    lines = tamis(*MATCH, *every, "track.csv").lines
    assert [each["kept"].get("position") for each in lines] == [
        [-179.9, 40.5], [180.0, 40.6], [179.9, 40.7], None,
    ]  # fmt: skip
    assert lines[1]["kept"]["time"] == "2026-05-01T10:00:01.000+00:00"
    assert [each["kept"].get("height") for each in lines] == [100, 90, 80, None]
    later = tamis(*MATCH, *every, "track.csv", "--starts", "2026-05-01T12:00:02+02:00").lines
    assert later[0]["kept"]["position"] == [179.9, 40.7]
    (dark / "track.gpx").write_text(
        '<gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>'
        '<trkpt lat="40" lon="-74"><ele>5</ele><time>2026-05-01T10:00:00Z</time></trkpt>'
        '<trkpt lat="42" lon="-74"><ele>7</ele><time>2026-05-01T10:00:02Z</time></trkpt>'
        "</trkseg></trk></gpx>"
    )
    lines = tamis(*MATCH, *every, "track.gpx").lines
    assert lines[1]["kept"]["position"] == [-74.0, 41.0]
    (dark / "since.csv").write_text("seconds,lat,lon\n0,1,2\n4,1,6\n")
    lines = tamis(*MATCH, *every, "since.csv").lines
    assert [each["kept"]["position"] for each in lines] == [[2, 1], [3, 1], [4, 1], [5, 1]]
    assert "time" not in lines[0]["kept"]


@pytest.mark.parametrize(
    ("track", "reason"),
    [
        ("a,b\n1,2\n", "its head names lat, lon, and time or seconds"),
        ("time,lat,lon\n", "has no point with a time"),
        ("time,lat,lon\nnoon,1,2\n", "'noon' in line 2 is not a time"),
        ("time,lat,lon\n5,x,2\n", "'x' in line 2 is not a number"),
    ],
)
def test_a_track_that_is_none(dark: Path, tamis: Tamis, track: str, reason: str) -> None:
    (dark / "track.csv").write_text(track)
    ended = tamis(*MATCH, "--events", "a.avi", "--every", "1s", "--track", "track.csv")
    assert ended.status == 1
    assert reason in ended.err


def test_folders_and_what_is_no_film(dark: Path, tamis: Tamis) -> None:
    inner = dark / "films" / "camera=7"
    inner.mkdir(parents=True)
    film(inner / "b.avi", seconds=2)
    (inner / "notes.txt").write_text("none")
    keep = ("match", "--subscriptions", "dark.jsonl", "--keep", "camera")
    ended = tamis(*keep, "--events", "films", "--every", "1s")
    assert [each["event"] for each in ended.lines] == [
        "films/camera=7/b.avi#0", "films/camera=7/b.avi#10",
    ]  # fmt: skip
    assert ended.lines[0]["kept"] == {"camera": 7}
    ended = tamis(*MATCH, "--events", "dark.jsonl", "--every", "1s")
    assert (ended.status, ended.out) == (1, "")
    assert "OpenCV cannot open dark.jsonl as a film or a camera" in ended.err
    assert "there is no film" in tamis(*MATCH, "--events", "none.avi", "--every", "1s").err


def test_a_film_that_is_cut_off_is_said(dark: Path, tamis: Tamis) -> None:
    whole = film(dark / "whole.avi", seconds=20, size=(320, 240)).read_bytes()
    (dark / "cut.avi").write_bytes(whole[: len(whole) // 2])
    ended = tamis(*MATCH, "--events", "cut.avi", "--every", "1s", "--rejects", "bad.jsonl")
    assert ended.status == 0
    assert 5 < len(ended.lines) < 15
    assert "1 line holds no event" in ended.err
    assert "it says that it has 200 frames, and only" in (dark / "bad.jsonl").read_text()


def test_a_film_among_others_that_cannot_be_opened_is_a_line(dark: Path, tamis: Tamis) -> None:
    (dark / "films").mkdir()
    (dark / "films" / "a.avi").write_bytes(b"RIFF, and no more")
    film(dark / "films" / "b.avi", seconds=2)
    ended = tamis(*MATCH, "--events", "films", "--every", "1s", "--rejects", "bad.jsonl")
    assert [each["event"] for each in ended.lines] == ["films/b.avi#0", "films/b.avi#10"]
    assert "1 line holds no event" in ended.err
    assert "OpenCV cannot open films/a.avi as a film" in (dark / "bad.jsonl").read_text()


def test_how_often_is_asked_for(dark: Path, tamis: Tamis) -> None:
    ended = tamis(*MATCH, "--events", "a.avi")
    assert ended.status == 2
    assert "a.avi is a film or a camera: say how often" in ended.err
    ended = tamis(*MATCH, "--events", "rtsp://ann:secret@camera.example/1?key=k")
    assert ended.status == 2
    assert "rtsp://camera.example/1 is a film" in ended.err
    assert "secret" not in ended.err
    assert tamis(*MATCH, "--events", "a.avi", "--every", "1x").status == 2
    ended = tamis(*MATCH, "--events", "a.avi", "--every", "1s", "--starts", "yesterday")
    assert "--starts is a time as 2026-05-01T10:00:00Z, not 'yesterday'" in ended.err
    assert tamis(*MATCH, "--events", "dark.jsonl", "--track", "t.csv").status == 2


@pytest.fixture
def address(dark: Path) -> Iterator[str]:
    """Where the film can be had over HTTP, as a camera's stream."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

    served = functools.partial(Quiet, directory=str(dark))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), served) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/a.avi"
        server.shutdown()


def test_a_camera_is_read_until_it_ends(address: str, dark: Path, tamis: Tamis) -> None:
    ended = tamis(*MATCH, "--events", f"{address}?key=secret", "--every", "1h")
    assert ended.status == 0
    assert [each["event"] for each in ended.lines] == [f"{address}#0"]
    assert ended.lines[0]["kept"]["time"].endswith("+00:00")
    assert "it gives no more frames" in ended.err
    assert "secret" not in ended.out + ended.err
    gone = address.replace("a.avi", "none.avi")
    ended = tamis(*MATCH, "--events", gone, "--every", "1s")
    assert ended.status == 1
    assert "OpenCV cannot open" in ended.err


def test_a_camera_by_rtsp(dark: Path, tamis: Tamis, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = threading.Event()
    take = cameras.CameraFrames.__iter__

    def taken(self: cameras.CameraFrames) -> Iterator[cameras.CameraFrame]:
        for each in take(self):
            yield each
            seen.set()  # when the next one is asked for

    monkeypatch.setattr(cameras.CameraFrames, "__iter__", taken)
    with camera(lambda seconds: 20 if seen.is_set() else 200) as address:
        ended = tamis(*MATCH, "--events", address, "--every", "300ms", "--frames", "8")
    assert (ended.status, ended.err) == (0, "")
    assert len(ended.lines) == 8
    assert ended.lines[0]["event"].startswith("rtsp://127.0.0.1:")
    assert "secret" not in ended.out
    assert (ended.lines[0]["matches"], len(ended.lines[-1]["matches"])) == ([], 1)
    seconds = [each["kept"]["seconds"] for each in ended.lines]
    assert all(one < other for one, other in pairwise(seconds))
    with camera(lambda seconds: 20) as address:
        other = tamis(*MATCH, "--events", address.replace("secret", "guess"), "--every", "1s")
    assert other.status == 1
    assert "OpenCV cannot open rtsp://127.0.0.1:" in other.err
    assert "guess" not in other.err


@pytest.mark.slow
def test_matching_that_takes_longer_than_a_camera_sees_what_it_sees_now() -> None:
    """Unless the machine holds camera or reader up, each of three times."""

    def keeps_up() -> bool:
        late = []
        with camera(lambda seconds: None if seconds > 6 else int(40 * seconds)) as address:
            for line in Films([address], Frames(0.3)):
                if isinstance(line.document, dict):
                    late.append(time.monotonic() - float(line.document["image"].mean()) / 40)
                    time.sleep(0.8)
        assert "it gives no more frames" in str(line.reason)
        # one after the other, the last would be three seconds late
        return 5 <= len(late) <= 8 and max(late) - late[0] < 0.8

    assert any(keeps_up() for _ in range(3))


class Still:
    """A camera of one frame so often, which hangs for a while when it was asked to."""

    def __init__(self) -> None:
        self.hangs, self.hanging = False, threading.Event()
        self.goes_on, self.released = threading.Event(), threading.Event()

    def grab(self) -> bool:
        time.sleep(0.02)
        if not self.hangs:
            return True
        self.hanging.set()
        return not self.goes_on.wait(60)

    def retrieve(self) -> tuple[bool, object]:
        return True, np.zeros((2, 2, 3), np.uint8)

    def release(self) -> None:
        assert not self.released.is_set()
        self.released.set()


def test_frames_go_on_when_the_clock_of_the_day_is_set_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began = datetime.now(UTC)
    days = count()

    class Back(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(began.timestamp() - 86_400 * next(days), tz)

    monkeypatch.setattr(cameras, "datetime", Back)
    moments = count()
    monkeypatch.setattr(cameras, "time", SimpleNamespace(monotonic=lambda: next(moments) * 0.02))
    camera = Still()
    frames = cameras.CameraFrames(camera, 0.1)
    seen = list(islice(frames, 4))
    frames.close()
    # each the first of its tenth of a second, of those that come every 0.02 s
    places = [divmod(each.seconds + 1e-6, 0.1) for each in seen]
    assert all(one[0] < other[0] for one, other in pairwise(places))
    assert all(rest < 0.03 for _, rest in places)
    assert all(other.time < one.time for one, other in pairwise(seen))
    assert camera.released.is_set()


def test_a_camera_that_hangs_at_its_end_is_let_go_of_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cameras, "_GOODBYE_SECONDS", 0.1)
    camera = Still()
    frames = cameras.CameraFrames(camera, 0.1)
    next(iter(frames))
    camera.hangs = True
    assert camera.hanging.wait(60)
    frames.close()
    assert not camera.released.is_set()
    camera.goes_on.set()
    assert camera.released.wait(60)


@pytest.mark.slow
def test_a_camera_that_falls_silent_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(films, "_PATIENCE_MILLISECONDS", 5_000)
    lines: list[FileLine] = []
    silent = threading.Event()

    def shade(seconds: float) -> int:
        if len(lines) > 1:
            silent.wait(120)
        return 100

    with camera(shade) as address:
        began = time.monotonic()
        for each in Films([address], Frames(0.1)):
            lines.append(each)  # as they come
        silent.set()
    assert time.monotonic() - began < 60
    assert len(lines) > 2
    assert "the connection is lost" in str(lines[-1].reason)
    with camera(lambda seconds: 100) as address:
        frames = iter(Films([address], Frames(0.1, most=2)))
        assert [each.reason for each in frames] == [None, None]
    assert "tamis-camera" not in {each.name for each in threading.enumerate()}
