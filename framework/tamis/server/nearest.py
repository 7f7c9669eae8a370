"""Finds the subscriptions that an event of the log missed by least.

How many attribute predicates do not hold is counted for all that is live. A subscription on
attributes alone missed by as many; of those that ask operators, the first few are decided again,
each alone: what others ask would tell more of it, and how far it was is not to depend on them.
Invariant: what came after the event, or went since, is counted and not looked at; nor is what no
event can match.
Cost: that of a scan, during which nobody subscribes, and of explaining a few.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamis.catalog import Catalog
from tamis.event import Event
from tamis.numeric.types import Flags, Ints
from tamis.result.explain import MATCHED
from tamis.server.matching import shown_time
from tamis.server.replay import Replay, take_in, without_others

if TYPE_CHECKING:
    from tamis.result import Result
    from tamis.server.service import Service
    from tamis.server.why import Past

_ROOM = 3
"""Times as many as are wanted are decided again, as attributes alone do not say who is closest."""
_NOT_LIVE = np.iinfo(np.int64).max


class _Misses(NamedTuple):
    """Tells by how much an event missed what is live, by the rows of subscriptions."""

    lacking: Ints
    """How many attribute predicates of the closest alternative do not hold."""
    asks: Flags
    """Whether it asks more than attributes."""
    is_candidate: Flags
    """Whether an alternative that asks more lacks nothing."""
    stood: Flags
    """Whether it stood when the event came."""
    later: int
    """How many came later."""
    gone: int
    """How many went since."""

    def first(self, catalog: Catalog, which: Flags, most: int) -> list[str]:
        """Returns the ids of those of some that lack least; equal ones by their ids."""
        rows = np.flatnonzero(which)
        if len(rows) > most:
            lacking = self.lacking[rows]
            rows = rows[lacking <= np.partition(lacking, most - 1)[most - 1]]
        ids = map(catalog.id_of, rows.tolist())
        found = nsmallest(most, zip(self.lacking[rows].tolist(), ids, strict=True))
        return [id for _, id in found]


def closest(service: Service, past: Past, most: int) -> dict[str, Any]:
    """Returns the subscriptions that an event did not match, the closest misses first."""
    catalog = service.matching.matcher._catalog
    matched = [each["subscription"] for each in past.verdict["matches"]]
    with service.matching.matcher._lock.reading:
        misses = _misses(service, past)
        is_missed = misses.stood
        is_missed[_rows(catalog, matched)] = False
        ids = misses.first(catalog, is_missed & misses.asks, _ROOM * most)
        ids += misses.first(catalog, is_missed & ~misses.asks & (misses.lacking > 0), most)
        texts = {id: catalog.text_of(catalog.rows[id]) for id in ids}
        asking = {id for id in ids if misses.is_candidate[catalog.rows[id]]}
    parts = [{id: texts[id]} for id in asking]
    parts.append({id: text for id, text in texts.items() if id not in asking})
    found = [each for part in parts for each in _explained(service, past, part)]
    found = [each for each in found if each["verdict"] != MATCHED]
    found.sort(key=lambda each: (_distance(each), each["subscription"]))
    return {
        "event": past.entry.id,
        "time": shown_time(past.entry.at),
        "matched": len(matched),
        "closest": found[:most],
        "came_later": misses.later,
        "gone_since": misses.gone,
    }


def _explained(service: Service, past: Past, texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """Returns why each of some texts did or did not match, decided together."""
    result = _decided(service, past, texts)
    return [without_others(result.explain(id).data) for id in texts]


def candidates(service: Service, past: Past) -> tuple[Result, Container[str]]:
    """Decides an event again for what is live, stood then, and asks operators of it; which that
    is."""
    catalog = service.matching.matcher._catalog
    with service.matching.matcher._lock.reading:
        misses = _misses(service, past)
        rows = np.flatnonzero(misses.is_candidate & misses.stood).tolist()
        texts = {catalog.id_of(row): catalog.text_of(row) for row in rows}
    return _decided(service, past, texts), texts.keys()


def _misses(service: Service, past: Past) -> _Misses:
    """Counts what does not hold of an event, while nobody subscribes: the log has all texts of the
    matcher then, and may have ended some of them, which the matcher does later."""
    matcher = service.matching.matcher
    catalog = matcher._catalog
    event = Event.of(past.content, str, matcher._derived)
    alternatives, lacking = matcher._sieve.misses(event)
    owners = catalog.alternative_subscription.view[alternatives]
    asks = catalog.alternative_flags.view[alternatives] != 0
    fewest = np.full(catalog.subscription_rows, _NOT_LIVE)
    np.minimum.at(fewest, owners, lacking)
    is_asking, is_candidate = (np.zeros(len(fewest), np.bool_) for _ in range(2))
    is_asking[owners[asks]] = True
    is_candidate[owners[asks & (lacking == 0)]] = True
    changed, later, gone = service.log.reading.changed_since(past.entry.position)
    stood = fewest != _NOT_LIVE
    stood[_rows(catalog, changed)] = False
    return _Misses(fewest, is_asking, is_candidate, stood, later, gone)


def _rows(catalog: Catalog, ids: Iterable[str]) -> list[int]:
    """Returns the rows of those subscriptions that are live."""
    return [catalog.rows[id] for id in ids if id in catalog.rows]


def _decided(service: Service, past: Past, texts: Mapping[str, str]) -> Result:
    """Decides an event again for some texts, by ids."""
    replay = Replay(service.matching.matcher)
    take_in(replay, ({"id": id, "where": where} for id, where in texts.items()))
    return past.decided_by(replay)


def _distance(data: dict[str, Any]) -> tuple[int, int]:
    """Returns how far it was: what is false of its closest alternative, and what is not known."""
    distances = []
    for alternative in data["alternatives"]:
        truths = [each.get("truth") for each in alternative["predicates"] if "how" in each]
        distances.append((truths.count(False), truths.count(None)))
    return min(distances, default=(0, 0))
