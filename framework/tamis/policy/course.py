"""Leads what a subscription matches through its policies, one after the other.

The first policy judges by the sightings that it shares, where attributes alone make its key. Where
only matches have a key, a policy remembers when it saw each by itself.
Invariant: an event that is late or repeated for its keys at the first policy changes nothing.
Cost: that of the machines.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from tamis.language.policies import DIGEST, EVERY, Policy
from tamis.policy.items import MATCH, Bindings, Item, Key, Now
from tamis.policy.kinds import Machine, machine_of
from tamis.policy.sightings import Sight, Sightings, advanced, ids_from, ids_plain, is_newer


class Stage:
    """A policy at its place, told of matches alone: a machine, and when its keys were last seen."""

    def __init__(self, policy: Policy, *, only_matches: bool = True) -> None:
        self.machine: Machine = machine_of(policy, only_matches=only_matches)
        self.sights: dict[Key, Sight] = {}

    def judged(
        self, items: Iterable[Item], now: Now, *, repeats: bool
    ) -> list[tuple[Key, Item, bool]]:
        """Returns the items by their keys, and whether the event is newer than the key."""
        newer: dict[Key, bool] = {}
        found = []
        for item in items:
            for key in item.keys(self.machine.policy):
                if key not in newer:
                    newer[key] = not repeats and self._saw(key, now)
                found.append((key, item, newer[key]))
        return found

    def _saw(self, key: Key, now: Now) -> bool:
        """Returns whether the event is newer than the key, which from here on has seen it."""
        if not self.machine.needs_sights:
            return True
        sight = self.sights.get(key)
        newer = is_newer(sight, now)
        if newer:
            self.sights[key] = advanced(sight, now)
        return newer

    def delivered(
        self, judged: Iterable[tuple[Key, Item, bool]], now: Now, number: int, *, counts: bool
    ) -> list[Item]:
        """Returns the deliveries of items, after those of keys that end at an event that counts."""
        machine = self.machine
        found = [
            item
            for key in (machine.ended(now.micros) if counts else ())
            for item in machine.gone(key, now)
        ]
        for key, item, newer in judged:
            if newer or machine.policy.kind == EVERY:
                found += machine.take(key, item, now, number)
        return found


class PolicyCourse:
    """The policies of a subscription, with what they keep."""

    def __init__(
        self,
        id: str,
        policies: tuple[Policy, ...],
        born: tuple[int, int],
        sightings: Sightings | None,
    ) -> None:
        self.id = id
        self.policies = policies
        self.born = born
        """The turn after which it came, and a number that no other one has."""
        self.sightings = sightings
        """Those of its first policy, where events have a key that do not match."""
        self.skipped = 0
        """Events that counted for others and not for this one."""
        self.alarm: float | None = None
        """The time to look at it, for a key may have ended."""
        first, *others = policies
        self.stages = [
            Stage(first, only_matches=sightings is None),
            *(Stage(each) for each in others),
        ]

        self._with_gaps = [
            each.machine for each in self.stages if each.machine.policy.gap_micros is not None
        ]
        self.reads_bindings = any(each.has_bindings for each in policies)

    @property
    def begins_unmatched(self) -> bool:
        """True if the first event of a key matters though it does not match."""
        return self.sightings is not None and self.policies[0].kind == DIGEST

    @property
    def open_keys(self) -> list[Key]:
        """The keys of the first policy for which events that do not match matter."""
        first = self.stages[0].machine
        return [key for key in first.kept if first.is_open(key)]

    @property
    def next_end(self) -> float:
        """No key ends before this time."""
        return min(each.next_end for each in self._with_gaps) if self._with_gaps else math.inf

    def seen(self, now: Now, key: Key, bindings: Bindings | None, *, is_own: bool) -> list[Item]:
        """Returns the deliveries at an event that is newer than its key; `is_own` tells whether the
        key is one of this subscription's."""
        assert self.sightings is not None
        machine, number = self.stages[0].machine, self.sightings.counted - self.skipped
        found = []
        for ended in machine.ended(now.micros):
            self.sightings.wait(ended, self, is_open=False)
            found += machine.gone(ended, now)
        if is_own:
            item = None if bindings is None else Item(MATCH, (now.id,), now.event, bindings)
            found += machine.take(key, item, now, number)
            self.sightings.wait(key, self, is_open=machine.is_open(key))
        return self._onward(1, found, now, number, repeats=False, counts=True)

    def matched(self, now: Now, bindings: Bindings | None, counted: int) -> list[Item]:
        """Returns the deliveries at an event that has keys only where it matches."""
        repeats, first = now.repeats_for(self), self.stages[0]
        if (now.repeats or now.among is not None) and not repeats:
            self.skipped -= 1
        items = [] if bindings is None else [Item(MATCH, (now.id,), now.event, bindings)]
        judged = first.judged(items, now, repeats=repeats)
        counts = not repeats and (not judged or any(newer for *_, newer in judged))
        if not repeats and not counts:
            self.skipped += 1
        number = counted - self.skipped
        found = first.delivered(judged, now, number, counts=counts)
        return self._onward(1, found, now, number, repeats=repeats, counts=counts)

    def drained(self, now: Now, counted: int) -> list[Item]:
        """Returns the deliveries that wait for a later event, at the end of all events."""
        number = (self.sightings.counted if self.sightings else counted) - self.skipped
        waiting, found = self.open_keys, list[Item]()
        for stage in self.stages:
            judged = stage.judged(found, now, repeats=False)
            found = stage.delivered(judged, now, number, counts=False) + stage.machine.drained()
        if self.sightings is not None:
            for key in waiting:
                self.sightings.wait(key, self, is_open=self.stages[0].machine.is_open(key))
        return found

    def _onward(
        self, at: int, found: list[Item], now: Now, number: int, *, repeats: bool, counts: bool
    ) -> list[Item]:
        """Passes deliveries through the further policies."""
        for stage in self.stages[at:]:
            judged = stage.judged(found, now, repeats=repeats)
            found = stage.delivered(judged, now, number, counts=counts)
        return found

    # folders

    @property
    def text(self) -> str:
        """Its policies, equal where they are equal."""
        return json.dumps([asdict(each) for each in self.policies])

    def records(self) -> Iterator[list[Any]]:
        """Yields what its policies keep, in plain values."""
        for at, stage in enumerate(self.stages):
            for key, state in stage.machine.kept.items():
                yield ["kept", self.id, at, key, state]
            for key, (micros, ids, _) in stage.sights.items():
                yield ["saw", self.id, at, key, micros, ids_plain(ids)]

    def restore(self, what: str, at: int, key: Key, values: list[Any]) -> None:
        """Takes what a record says."""
        stage = self.stages[at]
        if what == "saw":
            stage.sights[key] = values[0], ids_from(values[1]), 0
            return
        stage.machine.restore(key, values[0])
        if at == 0 and self.sightings is not None:
            self.sightings.wait(key, self, is_open=stage.machine.is_open(key))
