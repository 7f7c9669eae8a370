"""Says what a text would have matched over the log, and what its policy would have delivered.

Events are decided again by the answers that were kept of them; what nobody was asked then is asked
now, so many times at most as is said, else the event is undetermined. Nothing is written. It begins
as a new subscription does, at the time that is said, and ends with the log, or when its time is
over: then it says how far it came.
Invariant: one at a time. Cost: that of a match of one subscription for each event.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.event import Event, itself
from tamis.policy import Deliveries
from tamis.server import changes
from tamis.server.checks import forecast_of
from tamis.server.errors import EntryGone
from tamis.server.matching import entry_of, shown_time
from tamis.server.problems import HttpProblem, overloaded
from tamis.server.replay import Replay, take_in
from tamis.server.traces import Trace

if TYPE_CHECKING:
    from tamis.result import Result
    from tamis.server.checks import CheckedSubscription
    from tamis.server.reading import LogEntry, LogReaders
    from tamis.server.service import Service

MOST_CALLS = 1_000
MOST_LISTED = 1_000
MOST_SECONDS = 20.0
_TOGETHER = 500
_ID = "dry run"
_EPOCH = itself("time.epoch")


class BacktestBounds(NamedTuple):
    """Over what a text is tried, and how much may be asked and listed."""

    since: float | None
    most_calls: int
    most_listed: int


def time_of(service: Service, text: str) -> float:
    """Returns the seconds of a time as events may have it; a problem where it is none."""
    written: object = text
    if text.isascii() and text.replace(".", "", 1).isdecimal():
        written = float(text)
    found = Event.of({"time": written}, str, service.matching.matcher._derived).scalar(_EPOCH)
    if not isinstance(found, (int, float)):
        raise HttpProblem("malformed", f"since is a time as 2026-01-15T12:00:00Z, not {text!r:.80}")
    return found


class Backtests:
    """Tries texts over the log of a service, one at a time."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._busy = threading.Lock()

    def tried(self, wanted: CheckedSubscription, stretch: BacktestBounds) -> dict[str, Any]:
        """Returns what a text would have matched and delivered, and what it would add."""
        if not self._busy.acquire(blocking=False):
            raise overloaded("another dry run is under way: try again")
        try:
            matcher = self._service.matching.matcher
            forecast = forecast_of(matcher, wanted.document["where"])
            trial = _Trial(Replay(matcher, stretch.most_calls), wanted, stretch.most_listed)
            said: dict[str, Any] = {"forecast": forecast.as_dict()}
            said |= {"warnings": wanted.warnings} if wanted.warnings else {}
            return trial.over(self._service, stretch.since) | said
        finally:
            self._busy.release()


class _Trial:
    """A text that is tried, event by event."""

    def __init__(self, replay: Replay, wanted: CheckedSubscription, most_listed: int) -> None:
        self._replay = replay
        self._most = most_listed
        self._arrival = 0.0
        take_in(replay, [entry_of(_ID, wanted.document)])
        self._deliveries = Deliveries(replay, clock=lambda: self._arrival)
        self._counts: Counter[str] = Counter()
        self._failure: str | None = None
        self._lacks_some = False
        self._listed: dict[str, list[dict[str, Any]]] = {
            "matches": [], "deliveries": [], "undetermined": [],
        }  # fmt: skip

    def over(self, service: Service, since: float | None) -> dict[str, Any]:
        """Tries the events of the log since a time."""
        reading, state = service.log.reading, service.log.state
        ends = time.monotonic() + MOST_SECONDS
        first = state.floor if since is None else _first_since(reading, since, state.floor)
        until, is_complete = first - 1, True
        for entry, content, trace in self._events(reading, first - 1, state.cursor):
            if time.monotonic() > ends:
                is_complete = False
                break
            self._arrival, until = entry.at, entry.position
            self._take(entry, content, trace or Trace())
        is_cut = 1 < state.floor == first and (since is None or since <= state.clock)
        recollection = self._replay.recollection
        return {
            "dry_run": True,
            "since": None if since is None else shown_time(since),
            "until": shown_time(self._arrival) if until >= first else None,
            "complete": is_complete,
            "gap": is_cut or self._lacks_some,
            **{name: self._counts[name] for name in ("events", "matched", "delivered", "failed")},
            "open": self._counts["open"],
            "calls": {
                "kept": recollection.kept,
                "made": recollection.made,
                "lacking": recollection.lacking,
            },
            **self._listed,
        } | ({} if self._failure is None else {"failure": self._failure})

    def _events(
        self, reading: LogReaders, after: int, last: int
    ) -> Iterator[tuple[LogEntry, dict[str, Any], Trace | None]]:
        """Yields the events between two positions, with what was said of them; retention may remove
        some meanwhile."""
        while after < last:
            entries = reading.entries(after, min(_TOGETHER, last - after))
            self._lacks_some |= not entries or entries[0].position > after + 1
            if not entries:
                return
            traces = reading.traces(entries[0].position, entries[-1].position)
            for entry in entries:
                if entry.kind == changes.PUBLISH:
                    try:
                        content = reading.event_of(entry)
                    except EntryGone:
                        self._lacks_some = True
                        continue
                    yield entry, content, traces.get(entry.position)
            after = entries[-1].position

    def _take(self, entry: LogEntry, content: dict[str, Any], trace: Trace) -> None:
        """Tries one event."""
        self._counts["events"] += 1
        try:
            result = self._replay.decided(content, trace)
        except Exception as failure:  # an event that no planner can take stops nothing
            self._counts["failed"] += 1
            self._failure = f"{entry.id}: {type(failure).__name__}: {failure}"
            return
        self._tell(entry, result)
        for delivery in self._deliveries.take(result):
            said = {"event": entry.id, "type": delivery.kind, "events": list(delivery.events)}
            said |= {"time": shown_time(delivery.time)}
            self._list("delivered", "deliveries", said)

    def _tell(self, entry: LogEntry, result: Result) -> None:
        at = {"event": entry.id, "time": shown_time(entry.at)}
        for match in result.matches:
            self._list("matched", "matches", {**at, "bindings": match.bindings})
        for each in result.undetermined:
            self._list("open", "undetermined", {**at, "reason": each.reason})

    def _list(self, count: str, name: str, record: dict[str, Any]) -> None:
        self._counts[count] += 1
        if len(self._listed[name]) < self._most:
            self._listed[name].append(record)


def _first_since(reading: LogReaders, since: float, floor: int) -> int:
    """Returns the first position whose entry came at a time or later: times never go back."""
    low, high = floor, reading.state().position + 1
    while low < high:
        middle = (low + high) // 2
        found = reading.entries(middle - 1, 1)
        if not found or found[0].at >= since:
            high = middle
        else:
            low = found[0].position + 1
    return low
