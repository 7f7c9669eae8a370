"""Reads films and cameras as events: every so often a frame, with its time, number and place.

An event is `{"id": "FILM#300", "film": "FILM", "frame": 300, "seconds": 12.0, "image": pixels}`,
with `time` where the film's beginning is known (a camera's frames have that of the clock) and what
a track says of that moment. Frames between are passed over undecoded. A film is read to its end or
to `most` events, a camera until it is interrupted; what cannot be read on is a line with the
reason. Films are decoded by OpenCV, which is imported when the first one is opened. Cost: one frame
is held.
"""

from __future__ import annotations

import glob
import math
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tamis.files.cameras import CameraFrames
from tamis.files.naming import Renamed, namings_of
from tamis.files.reading import FileLine, ReadingError
from tamis.files.tracks import Track

SUFFIXES = (".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ogv", ".ts", ".webm", ".wmv")
_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://(?:[^/@]*@)?(?P<rest>[^?#]*)")
_CAMERA = re.compile(r"camera:(\d{1,3})")
_MOST_PIXELS = 40_000_000
_PATIENCE_MILLISECONDS = 15_000
_MOST_A_SECOND = 1_000.0
_MISSING = 0.02
"""The share of the frames that a film says it has which may be missing at its end: some count
those that are not shown."""


@dataclass(frozen=True)
class Frames:
    """Selects the frames of films that become events, and tells when and where they were taken."""

    every_seconds: float
    starts: datetime | None = None
    track: str | None = None
    most: int | None = None
    """The most frames of a film or camera."""


class Films:
    """The frames of films, folders of them, patterns and cameras, in order."""

    def __init__(self, places: Sequence[str], frames: Frames, renamed: Renamed = ()) -> None:
        self.files = [film for place in places for film in _films(place)]
        self.live = any(is_address(each) for each in self.files)
        """True if somebody may be waiting for the answer to each frame."""
        self._frames = frames
        self._track = None if frames.track is None else Track.of(frames.track)
        self._namings = namings_of({file: file for file in self.files}, renamed)
        self._done, self._share = 0, 0.0

    @property
    def share(self) -> float | None:
        """The share of all films that has been read, from 0 to 1; `None` for a camera."""
        return None if self.live else min(1.0, (self._done + self._share) / len(self.files))

    def __iter__(self) -> Iterator[FileLine]:
        for self._done, file in enumerate(self.files):  # noqa: B020 (read while it counts)
            yield from self._namings[file].lines(self._lines(file))
            self._share = 0.0
        self._done = len(self.files)

    def _lines(self, file: str) -> Iterator[FileLine]:
        """Yields the events of one film, and the reason why it ends before it should."""
        shown = shown_film(file)
        film = _opened(file, shown)
        if not film.isOpened():
            problem = f"OpenCV cannot open {shown} as a film or a camera"
            if len(self.files) == 1:
                raise ReadingError(problem)
            yield FileLine(shown, 0, None, problem, shown)
            return
        live, number, given = is_address(file), -1, 0
        frames = None
        try:
            too_large = _too_large(film)
            if too_large is not None:
                yield FileLine(shown, 0, None, too_large, shown)
                return
            frames = (CameraFrames if live else FilmFrames)(film, self._frames.every_seconds)
            for number, time, seconds, image in frames:
                if image is None:
                    yield FileLine(shown, number, None, f"frame {number} cannot be decoded", shown)
                    continue
                self._share = 0.0 if live else _share_of(film, number)
                event = self._event(shown, number, time, seconds)
                yield FileLine(shown, number, {**event, "image": image}, None, None)
                given += 1
                if given == self._frames.most:
                    return
            if (reason := _reason_of_end(film, live)) is not None:
                yield FileLine(shown, max(0, number), None, reason, shown)
        finally:
            (film.release if frames is None else frames.close)()

    def _event(
        self, film: str, number: int, time: datetime | None, seconds: float
    ) -> dict[str, Any]:
        """Returns the attributes of a frame besides its pixels; a camera's frame has its time."""
        event: dict[str, Any] = {
            "id": f"{film}#{number}",
            "film": film,
            "frame": number,
            "seconds": round(seconds, 3),
        }
        if time is None:
            starts = self._frames.starts or (self._track.starts if self._track else None)
            time = None if starts is None else starts + timedelta(seconds=seconds)
        if time is not None:
            event["time"] = time.isoformat(timespec="milliseconds")
        if self._track is not None:
            moment = seconds if time is None or not self._track.timed else time.timestamp()
            return {**self._track.at(moment), **event}
        return event


class FilmFrames:
    """The frames of an opened film, one so often; those between are passed over undecoded."""

    def __init__(self, film: Any, every_seconds: float) -> None:
        self._film, self._every_seconds = film, every_seconds

    def __iter__(self) -> Iterator[tuple[int, None, float, Any]]:
        import cv2

        film, every_seconds = self._film, self._every_seconds
        rate = film.get(cv2.CAP_PROP_FPS)
        step = 1 / rate if math.isfinite(rate) and 0 < rate <= _MOST_A_SECOND else 0.0
        due, last, number = 0.0, -1.0, -1
        while film.grab():
            number += 1
            seconds = film.get(cv2.CAP_PROP_POS_MSEC) / 1000
            if not (math.isfinite(seconds) and seconds > last):
                seconds = max(0.0, last) + (step if number else 0.0)
            last = seconds
            if seconds + step / 2 >= due:
                there, image = film.retrieve()
                yield number, None, seconds, image if there else None
                due = (math.floor((seconds + step / 2) / every_seconds) + 1) * every_seconds

    def close(self) -> None:
        """Lets go of the film."""
        self._film.release()


def is_film(place: str) -> bool:
    """Returns whether a place is that of a film or a camera, by its name."""
    return place.lower().endswith(SUFFIXES) or is_address(place)


def is_address(place: str) -> bool:
    """Returns whether a place is a camera's."""
    return _ADDRESS.match(place) is not None or _CAMERA.fullmatch(place) is not None


def shown_film(place: str) -> str:
    """Returns the place without what opens it: names and keys of an address are not shown."""
    address = _ADDRESS.match(place)
    return place if address is None else f"{address['scheme']}://{address['rest']}"


def _films(place: str) -> list[str]:
    """Returns the films that a place stands for, sorted by name."""
    if is_address(place):
        return [place]
    if os.path.isdir(place):
        found = [
            os.path.join(path, name)
            for path, _, names in sorted(os.walk(place))
            for name in sorted(names)
            if name.lower().endswith(SUFFIXES) and name[0] not in "._"
        ]
        if not found:
            raise ReadingError(f"the folder {place} holds no film ({', '.join(SUFFIXES)})")
        return found
    if os.path.exists(place):
        return [place]
    found = sorted(name for name in glob.glob(place, recursive=True) if is_film(name))
    if not found:
        raise ReadingError(f"there is no film, folder or pattern {shown_film(place)}")
    return found


def _opened(file: str, shown: str) -> Any:
    """Returns the film, opened if OpenCV can; `ReadingError` where that cannot be tried."""
    try:
        import cv2
    except ImportError:
        raise ReadingError("reading films needs OpenCV: pip install 'tamis[image]'") from None
    camera = _CAMERA.fullmatch(file)
    if camera is not None:
        film = cv2.VideoCapture(int(camera[1]))
    elif is_address(file):
        patience = [
            *(cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, _PATIENCE_MILLISECONDS),
            *(cv2.CAP_PROP_READ_TIMEOUT_MSEC, _PATIENCE_MILLISECONDS),
        ]
        film = cv2.VideoCapture(file, cv2.CAP_FFMPEG, patience)
    else:
        if not stat.S_ISREG(os.stat(file).st_mode):
            raise ReadingError(f"{shown} is not a plain file")
        film = cv2.VideoCapture(file)
    return film


def _too_large(film: Any) -> str | None:
    """Tells why no frame of the film is decoded."""
    import cv2

    width, height = film.get(cv2.CAP_PROP_FRAME_WIDTH), film.get(cv2.CAP_PROP_FRAME_HEIGHT)
    if width * height <= _MOST_PIXELS:
        return None
    return (
        f"its frames have {width:,.0f} by {height:,.0f} pixels: "
        f"{_MOST_PIXELS // 1_000_000} megapixels are allowed"
    )


def _share_of(film: Any, number: int) -> float:
    import cv2

    count = film.get(cv2.CAP_PROP_FRAME_COUNT)
    return min(1.0, number / count) if count > 0 else 0.0


def _reason_of_end(film: Any, live: bool) -> str | None:
    """Tells why a film ended before its last frame, `None` where it did not."""
    import cv2

    if live:
        return "it gives no more frames: the stream has ended, or the connection is lost"
    said, read = film.get(cv2.CAP_PROP_FRAME_COUNT), film.get(cv2.CAP_PROP_POS_FRAMES)
    if not math.isfinite(said) or said - read <= max(2.0, _MISSING * said):
        return None
    return f"it says that it has {said:,.0f} frames, and only {read:,.0f} of them can be read"


def films_among(places: Iterable[str]) -> list[str]:
    """Returns the places that are films by their names, as people may read them."""
    return [shown_film(place) for place in places if is_film(place)]
