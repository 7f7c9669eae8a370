"""Keeps the state of delivery policies with the log, exactly.

What policies keep follows from the verdicts in order. So it is written now and then, as a folder
that is named by its position, and what was decided since is taken again from the verdicts in the
log: no operator is called, nothing is delivered twice, and the state is that of the cursor.
Cost: writing takes at most a fiftieth of the time.
"""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tamis.errors import PolicyStateError
from tamis.event import Event
from tamis.files.disk import sync_folder
from tamis.log import log
from tamis.policy import Deliveries
from tamis.policy.saved import is_state
from tamis.result import Result

if TYPE_CHECKING:
    from tamis.matcher import Matcher

_FOLDER = "policies"
_EVENTS_BETWEEN = 1_000
_SHARE = 50
_KEPT = 2
_AGAIN_SECONDS = 60.0


class _Match(NamedTuple):
    subscription: str
    bindings: list[dict[str, Any]]


class _LoggedUndetermined(NamedTuple):
    subscription: str
    reason: str


class _LoggedEvent(NamedTuple):
    event: Event
    version: int


@dataclass
class _LoggedResult:
    """A result as far as policies read it, from a verdict in the log."""

    event: str
    matches: list[_Match]
    undetermined: list[_LoggedUndetermined]
    _seen: _LoggedEvent


def decided(event: Event, verdict: Mapping[str, Any], version: int) -> Result:
    """Returns the result that policies take again."""
    matches = [_Match(each["subscription"], each["bindings"]) for each in verdict["matches"]]
    undetermined = [_LoggedUndetermined(**each) for each in verdict["undetermined"]]
    return cast(
        Result, _LoggedResult(event.id, matches, undetermined, _LoggedEvent(event, version))
    )


class Snapshots:
    """The states that were written, by position."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / _FOLDER
        self._folder.mkdir(exist_ok=True)
        self._removing = threading.Lock()
        self._due = 0.0
        self._last = 0

    def positions(self, cursor: int) -> list[int]:
        """Returns the positions of states that are no newer than a cursor, the newest first."""
        found = [int(path.name) for path in self._folder.iterdir() if path.name.isdecimal()]
        return sorted((each for each in found if each <= cursor), reverse=True)

    def oldest(self) -> int:
        """Returns the position behind which verdicts are needed."""
        return min(self.positions(1 << 62), default=0)

    def opened(
        self, position: int, matcher: Matcher, clock: Callable[[], float]
    ) -> Deliveries | None:
        """Returns the state at a position; `None`, and said in the log, where it is damaged."""
        try:
            return Deliveries.open(self._path(position), matcher, clock=clock)
        except PolicyStateError as bad:
            log.warning("an older state of delivery policies is used: %s", bad)
            return None

    def _path(self, position: int) -> Path:
        return self._folder / str(position)

    def write_if_due(
        self, position: int, deliveries: Deliveries, *, events: int = _EVENTS_BETWEEN
    ) -> None:
        """Writes the state at a position that is committed, if it is time."""
        if position - self._last >= events and time.monotonic() >= self._due:
            self.write(position, deliveries)

    def write(self, position: int, deliveries: Deliveries) -> None:
        """Writes the state at a position that is committed, and removes old ones; where it cannot
        be written, older ones do."""
        began = time.monotonic()
        path = self._path(position)
        try:
            if not path.exists():
                deliveries.save(path)
                sync_folder(path)
                sync_folder(self._folder)
        except OSError as bad:
            shutil.rmtree(path, ignore_errors=True)
            log.error("the state of delivery policies is not saved: %s", bad)
            self._due = time.monotonic() + _AGAIN_SECONDS
            return
        if self._removing.acquire(blocking=False):  # the next time, where they stay now
            try:
                self._remove_old(position)
            finally:
                self._removing.release()
        self._last = position
        ended = time.monotonic()
        self._due = ended + _SHARE * (ended - began)

    def _remove_old(self, position: int) -> None:
        with contextlib.suppress(OSError):  # the next time, then
            kept = self.positions(position)[:_KEPT]
            for other in list(self._folder.iterdir()):
                if other.name not in map(str, kept):
                    shutil.rmtree(other)

    @contextlib.contextmanager
    def copying(self, folder: Path) -> Iterator[None]:
        """Copies the states there are to the folder of a log that is copied within.

        None is removed meanwhile: so the copy of the log does not begin behind all of them."""
        with self._removing:
            paths = [path for path in self._folder.iterdir() if is_state(path)]
            yield
            for path in paths:
                shutil.copytree(path, folder / _FOLDER / path.name)
