"""Reads a camera in a thread of its own: whoever asks gets what it saw a moment ago.

A camera does not wait. Frames that nobody took were older by the time that matching takes, each
time by more, until the camera breaks off: so all are grabbed as they come, one so often is decoded,
and the newest of these takes the place of one that nobody took. Cost: a frame is held; what is not
shown is not decoded.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Any, NamedTuple

_GOODBYE_SECONDS = 1.0


class CameraFrame(NamedTuple):
    """A frame of a camera, and when it came."""

    number: int
    time: datetime
    seconds: float
    """Since the camera was opened."""
    image: Any
    """`None` where it could not be decoded."""


class CameraFrames:
    """The frames of an opened camera, one so often, until it gives none or is closed."""

    def __init__(self, camera: Any, every_seconds: float) -> None:
        self._camera, self._every_seconds = camera, every_seconds
        self._changed = threading.Condition()
        self._newest: CameraFrame | None = None
        self._failure: Exception | None = None
        self._ended = self._closed = False
        self._thread = threading.Thread(target=self._read, name="tamis-camera", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[CameraFrame]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._newest is not None or self._ended)
                newest, self._newest = self._newest, None
            if newest is not None:
                yield newest
            elif self._failure is not None:
                raise self._failure
            else:
                return

    def close(self) -> None:
        """Ends the thread, which lets go of the camera, at once or when it hangs no longer."""
        self._closed = True
        self._thread.join(_GOODBYE_SECONDS)

    def _read(self) -> None:
        try:
            began, due = time.monotonic(), 0.0
            for number in count():
                if self._closed or not self._camera.grab():
                    break
                came, seconds = datetime.now(UTC), time.monotonic() - began
                if seconds < due:
                    continue
                there, image = self._camera.retrieve()
                due = (math.floor(seconds / self._every_seconds) + 1) * self._every_seconds
                with self._changed:
                    self._newest = CameraFrame(number, came, seconds, image if there else None)
                    self._changed.notify()
        except Exception as failure:  # of OpenCV: said to whoever reads
            self._failure = failure
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify()
            self._camera.release()
