"""Finds the subscriptions that an event of the log missed by least.

Invariant: it holds what is live now, and follows the log when it is asked; what came after the
event, or went since, is counted and not looked at.
Cost: the first time that of subscribing all; then that of a scan, and of explaining a few.
"""

from __future__ import annotations

import threading
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sortedcontainers import SortedList

from tamis.index.scan import Scan
from tamis.result.explain import MATCHED
from tamis.server.matching import entry_of, shown_time
from tamis.server.replay import Replay, without_others

if TYPE_CHECKING:
    from tamis.result import Result
    from tamis.server.reading import LiveText
    from tamis.server.service import Service
    from tamis.server.why import Past

_ROOM = 3
"""Times as many as are wanted are looked at, as attributes alone do not say who is closest."""


class _StoodAt(Container[str]):
    """The subscriptions that stood at a position, by their ids."""

    def __init__(self, since: Mapping[str, int], position: int) -> None:
        self._since = since
        self._position = position

    def __contains__(self, id: object) -> bool:
        since = self._since.get(str(id))
        return since is not None and since <= self._position


class LiveSubscriptions:
    """Holds what is live, ready to be held against events of the log."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._replay: Replay | None = None
        self._since: dict[str, int] = {}
        self._positions = SortedList()
        """Those at which they came."""
        self._position = 0
        self._lock = threading.Lock()

    @contextmanager
    def decided(self, past: Past) -> Iterator[tuple[Result, Container[str]]]:
        """Holds what is live against an event; which of it stood then."""
        with self._lock:
            replay, position = self._follow(), past.entry.position
            yield past.decided_by(replay), _StoodAt(self._since, position)

    def closest(self, past: Past, most: int) -> dict[str, Any]:
        """Returns the subscriptions that an event did not match, the closest misses first."""
        with self.decided(past) as (result, stood):
            later = len(self._since) - self._positions.bisect_right(past.entry.position)
            ids = self._candidates(result, stood, _ROOM * most)
            found = [without_others(result.explain(id).data) for id in ids]
        found = [each for each in found if each["verdict"] != MATCHED]
        found.sort(key=lambda each: (_distance(each), each["subscription"]))
        gone = self._service.log.reading.gone_since(past.entry.position)
        return {
            "event": past.entry.id,
            "time": shown_time(past.entry.at),
            "matched": len(past.verdict["matches"]),
            "closest": found[:most],
            "came_later": later,
            "gone_since": gone,
        }

    def _follow(self) -> Replay:
        """Brings what is held to where the log is decided."""
        service = self._service
        if self._replay is None:
            self._replay = Replay(service.matching.matcher)
        replay, cursor = self._replay, service.log.state.cursor
        came: dict[str, LiveText] = {}
        for text in service.log.reading.texts_changed(self._position):
            is_here = self._since.get(text.id) == text.since
            if text.is_live_at(cursor) and not is_here:
                came[text.id] = text
            elif is_here and not text.is_live_at(cursor):
                self._positions.remove(self._since.pop(text.id))
                replay.unsubscribe(text.id)
        replay.take_in(entry_of(id, {"where": each.document["where"]}) for id, each in came.items())
        self._since.update((id, each.since) for id, each in came.items())
        self._positions.update(each.since for each in came.values())
        self._position = cursor
        return replay

    def _candidates(self, result: Result, stood: Container[str], most: int) -> list[str]:
        """Returns those that stood and did not match, by how many attribute predicates were
        false."""
        assert self._replay is not None
        catalog, index = self._replay._catalog, self._replay._sieve.index
        assert isinstance(index, Scan)
        matched = set(result.matches.rows.tolist())
        found: dict[str, None] = {}
        for alternative in index.misses(result._seen.event)[0].tolist():
            row = int(catalog.alternative_subscription[alternative])
            id = catalog.id_of(row)
            if row not in matched and id in stood:
                found[id] = None
                if len(found) == most:
                    break
        return list(found)


def _distance(data: dict[str, Any]) -> tuple[int, int]:
    """Returns how far it was: what is false of its closest alternative, and what is not known."""
    distances = []
    for alternative in data["alternatives"]:
        truths = [each.get("truth") for each in alternative["predicates"] if "how" in each]
        distances.append((truths.count(False), truths.count(None)))
    return min(distances, default=(0, 0))
