"""Decides what each kind of policy delivers: a small machine with a state for each of its keys.

A machine is told, in order, the events of a key: an item where it matched, none where it did not.
Where only matches have a key it is told those alone, and numbers say how many events came between.
Invariant: a state is made of numbers and texts alone, and is kept while it matters.
Cost: O(1) an event; O(log n) with a gap.
"""

from __future__ import annotations

import heapq
import json
import math
from abc import ABC, abstractmethod
from operator import itemgetter
from typing import Any

from tamis.language import policies as said
from tamis.language.policies import Policy
from tamis.policy.items import MATCH, Item, Key, Now

Run = tuple[int, int, bool]
"""The begin of matching, its last sight, and whether it was delivered."""


class Machine(ABC):
    """Keeps the states of a policy's keys, and delivers."""

    needs_sights = True
    """True if a late match can be told from one in time only by when its key was last seen."""

    def __init__(self, policy: Policy, *, only_matches: bool) -> None:
        self.policy = policy
        self.only_matches = only_matches
        """True if events that do not match have no key."""
        self.kept: dict[Key, Any] = {}

    @abstractmethod
    def take(self, key: Key, item: Item | None, now: Now, number: int) -> list[Item]:
        """Takes an event of a key, its item if it matched; what is delivered."""

    def is_open(self, key: Key) -> bool:
        """Returns whether an event of the key that does not match would matter."""
        return False

    def ended(self, micros: int) -> list[Key]:
        """Ends the keys that were not seen for longer than the gap, the earliest first."""
        return []

    def gone(self, key: Key, now: Now) -> list[Item]:
        """Returns the deliveries when a key has ended by the gap."""
        return []

    @property
    def next_end(self) -> float:
        """No key ends before this time."""
        return math.inf

    def drained(self) -> list[Item]:
        """Delivers what waits for a later event."""
        return []

    def restore(self, key: Key, state: Any) -> None:
        """Takes what another one of its policy kept of a key."""
        self.kept[key] = state


class Every(Machine):
    """Delivers each match."""

    needs_sights = False

    def take(self, key: Key, item: Item | None, now: Now, number: int) -> list[Item]:
        """Returns the match."""
        return [] if item is None else [item.of_key(self.policy, key)]


class Cooldown(Machine):
    """Delivers a match, then none for a while; keeps when it last did."""

    def take(self, key: Key, item: Item | None, now: Now, number: int) -> list[Item]:
        """Returns the match, unless it is too soon."""
        last = self.kept.get(key)
        if item is None or (last is not None and now.micros - last < self.policy.micros):
            return []
        self.kept[key] = now.micros
        return [item.of_key(self.policy, key)]


class Once(Machine):
    """Delivers the first match; keeps which keys had it."""

    def __init__(self, policy: Policy, *, only_matches: bool) -> None:
        super().__init__(policy, only_matches=only_matches)
        self.needs_sights = not only_matches  # before its first match, a key was not seen

    def take(self, key: Key, item: Item | None, now: Now, number: int) -> list[Item]:
        """Returns the match, if it is the first one."""
        if item is None or key in self.kept:
            return []
        self.kept[key] = 1
        return [item.of_key(self.policy, key)]


class Of(Machine):
    """Delivers a match that makes so many of the last events matches; keeps these as bits."""

    def take(self, key: Key, item: Item | None, now: Now, number: int) -> list[Item]:
        """Returns the match, if it makes enough."""
        before, bits = self.kept.pop(key, (number, 0))
        passed = number - before if self.only_matches else 1
        among = self.policy.among
        bits = (bits << passed) & ((1 << among) - 1) if passed < among else 0
        bits |= item is not None
        if item is not None and bits.bit_count() >= self.policy.needed:
            return [item.of_key(self.policy, key)]
        if bits:
            self.kept[key] = number, bits
        return []

    def is_open(self, key: Key) -> bool:
        """Returns whether some of the last events matched."""
        return key in self.kept


class Runs(Machine):
    """Keeps since when a key has matched, until an event that does not match or a gap ends it."""

    def __init__(self, policy: Policy, *, only_matches: bool) -> None:
        super().__init__(policy, only_matches=only_matches)
        self.kept: dict[Key, Run] = {}
        self._queue: list[tuple[int, int, Key]] = []
        self._queued: set[Key] = set()
        self._pushed = 0

    def take(self, key: Key, item: Item | None, now: Now, number: int) -> list[Item]:
        """Begins, goes on or ends."""
        run = self.kept.get(key)
        if item is None:
            if run is None:
                return []
            del self.kept[key]
            return self.left(Item(MATCH, (now.id,), now.event).of_key(self.policy, key))
        start, _, done = run or (now.micros, 0, False)
        found = self.held(item, now.micros - start, is_first=run is None, done=done)
        self.kept[key] = start, now.micros, done or bool(found)
        self._queue_end(key)
        return [each.of_key(self.policy, key) for each in found]

    @abstractmethod
    def held(self, item: Item, micros: int, *, is_first: bool, done: bool) -> list[Item]:
        """Returns the deliveries at a match, when the key has matched for so long."""

    def left(self, item: Item) -> list[Item]:
        """Returns the deliveries when the key has ended."""
        return []

    def is_open(self, key: Key) -> bool:
        """Returns whether it matches."""
        return key in self.kept

    def _queue_end(self, key: Key) -> None:
        if self.policy.gap_micros is not None and key not in self._queued:
            self._queued.add(key)
            self._pushed += 1
            end = self.kept[key][1] + self.policy.gap_micros
            heapq.heappush(self._queue, (end, self._pushed, key))

    def ended(self, micros: int) -> list[Key]:
        """Ends the keys that were not seen for longer than the gap, the earliest first."""
        gap, ended = self.policy.gap_micros, []
        while gap is not None and self._queue and self._queue[0][0] < micros:
            key = heapq.heappop(self._queue)[2]
            self._queued.discard(key)
            if key not in self.kept:
                continue
            end = self.kept[key][1] + gap
            if end < micros:
                ended.append((end, json.dumps(key), key))
                del self.kept[key]
            else:
                self._queue_end(key)
        return [key for *_, key in sorted(ended, key=itemgetter(0, 1))]

    def gone(self, key: Key, now: Now) -> list[Item]:
        """Returns the deliveries when a key has ended by the gap: of no event of the key."""
        return self.left(Item(MATCH, (now.id,), None).of_key(self.policy, key))

    @property
    def next_end(self) -> float:
        """No key ends before this time."""
        return self._queue[0][0] if self._queue else math.inf

    def restore(self, key: Key, state: Any) -> None:
        """Takes what another one of its policy kept of a key."""
        start, last, done = state
        self.kept[key] = start, last, done
        self._queue_end(key)


class For(Runs):
    """Delivers the first match at which matching has held for so long."""

    def held(self, item: Item, micros: int, *, is_first: bool, done: bool) -> list[Item]:
        """Returns the match, if it is long enough and the first one."""
        return [] if done or micros < self.policy.micros else [item]


class On(Runs):
    """Delivers when matching begins, ends, or both."""

    def held(self, item: Item, micros: int, *, is_first: bool, done: bool) -> list[Item]:
        """Returns the first match."""
        return (
            [item.named(said.ENTER)]
            if is_first and self.policy.edge in (said.ENTER, said.BOTH)
            else []
        )

    def left(self, item: Item) -> list[Item]:
        """Returns the event that tells that matching has ended."""
        return [item.named(said.EXIT)] if self.policy.edge in (said.EXIT, said.BOTH) else []


class Digest(Machine):
    """Delivers the matches of an hour together, at the first event of a later one; hours, or what
    else lasts, are counted from the first event of a key. Keeps that, which hour it is, and what
    waits."""

    def take(self, key: Key, item: Item | None, now: Now, number: int) -> list[Item]:
        """Adds a match, after what is delivered of an earlier hour."""
        state = self.kept.setdefault(key, [now.micros, 0, said.DIGEST, []])
        at, waiting = (now.micros - state[0]) // self.policy.micros, []
        if at != state[1]:
            waiting, state[1] = self._waiting(key), at
        if item is not None:
            if not state[3]:
                state[2] = said.DIGEST if item.kind == MATCH else item.kind
            state[3] += [each for each in item.events if each not in state[3][-1:]]
        return waiting

    def _waiting(self, key: Key) -> list[Item]:
        state = self.kept[key]
        if not state[3]:
            return []
        item = Item(state[2], tuple(state[3]), None).of_key(self.policy, key)
        state[3] = []
        return [item]

    def is_open(self, key: Key) -> bool:
        """Returns whether something waits."""
        return key in self.kept and bool(self.kept[key][3])

    def drained(self) -> list[Item]:
        """Delivers what waits, of all keys in the order in which they came."""
        return [item for key in self.kept for item in self._waiting(key)]


_MACHINES: dict[str, type[Machine]] = {
    said.EVERY: Every,
    said.COOLDOWN: Cooldown,
    said.ONCE: Once,
    said.OF: Of,
    said.FOR: For,
    said.ON: On,
    said.DIGEST: Digest,
}


def machine_of(policy: Policy, *, only_matches: bool) -> Machine:
    """Returns the machine of a policy."""
    return _MACHINES[policy.kind](policy, only_matches=only_matches)
