"""Delivery policies as the contract words them, by looking at all that ever happened.

Nothing is shared with what it is compared with: no parser, no states, no common sightings. Each
subscription keeps a history of everything it was told, and every answer is read off that history.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

SECONDS = {"2s": 2, "PT5S": 5, "10s": 10, "1min": 60, 3: 3, 0.5: 0.5}


@dataclass
class PlainEvent:
    """An event as a subscription sees it."""

    id: str
    time: float
    timed: bool
    attributes: dict[str, Any]


@dataclass
class PlainItem:
    """What a policy lets through."""

    kind: str
    events: list[str]
    attributes: dict[str, Any] | None
    bindings: list[dict[str, Any]]
    known: dict[str, Any]
    key: tuple[Any, ...] = ()


Told = tuple[str, float, str, int]
"""Of a key: `match`, `no` or `end` (by the gap), when, of which event, and its number."""


@dataclass
class PlainKey:
    """All that happened to a key."""

    told: list[Told] = field(default_factory=list)
    delivered: list[int] = field(default_factory=list)
    """How much was told before each delivery."""
    waiting: list[PlainItem] = field(default_factory=list)

    @property
    def run(self) -> list[Told]:
        """The matches since the last event that did not match."""
        run: list[Told] = []
        for each in reversed(self.told):
            if each[0] != "match":
                break
            run.insert(0, each)
        return run


def same(value: Any) -> str:
    """A value of a key as text that is equal when kind and value are."""
    number = isinstance(value, float) and value.is_integer()
    return json.dumps(int(value) if number else value)


class PlainStage:
    """One policy."""

    def __init__(self, policy: dict[str, Any], *, behind: bool) -> None:
        self.policy = policy
        self.per = list(policy.get("per", []))
        [self.kind] = [name for name in policy if name not in ("per", "gap")]
        self.keys: dict[str, tuple[tuple[Any, ...], PlainKey]] = {}
        self.only_matches = (
            behind or self.kind == "every" or any(name.startswith("?") for name in self.per)
        )

    def seconds(self, name: str) -> float:
        return SECONDS[self.policy[name]]

    def find(self, values: tuple[Any, ...]) -> PlainKey:
        text = ",".join(map(same, values))
        return self.keys.setdefault(text, (values, PlainKey()))[1]

    def keys_of(self, item: PlainItem) -> list[tuple[Any, ...]]:
        found: dict[str, tuple[Any, ...]] = {}
        for bound in item.bindings or [{}]:
            values = []
            for name in self.per:
                if name in item.known:
                    values.append(item.known[name])
                elif name.startswith("?"):
                    values.append(bound.get(name[1:]))
                else:
                    values.append(None if item.attributes is None else item.attributes.get(name))
            found.setdefault(",".join(map(same, values)), tuple(values))
        return list(found.values())

    def let(self, item: PlainItem, key: tuple[Any, ...], kind: str = "match") -> PlainItem:
        """The item as it leaves."""
        bindings = [
            bound
            for bound in item.bindings
            if all(
                name in item.known
                or not name.startswith("?")
                or same(bound.get(name[1:])) == same(value)
                for name, value in zip(self.per, key, strict=True)
            )
        ]
        known = {**item.known, **dict(zip(self.per, key, strict=True))}
        kind = item.kind if item.kind != "match" else kind
        return PlainItem(kind, item.events, item.attributes, bindings, known, key)

    def newer(self, values: tuple[Any, ...], event: PlainEvent) -> bool:
        _, key = self.keys.get(",".join(map(same, values)), (values, PlainKey()))
        times = [(time, id) for what, time, id, _ in key.told if what != "end"]
        if not times:
            return True
        last = max(time for time, _ in times)
        return event.time > last or (
            event.time == last and event.id not in [id for time, id in times if time == last]
        )

    def end_gaps(self, event: PlainEvent) -> list[PlainItem]:
        """Ends what was not seen for longer than the gap."""
        if "gap" not in self.policy:
            return []
        ended = []
        for text, (values, key) in self.keys.items():
            if key.run and key.run[-1][1] + self.seconds("gap") < event.time:
                parts = [[each] if isinstance(each, bool) else each for each in values]
                end = key.run[-1][1]
                ended.append((end, json.dumps(parts), text))
        found = []
        for _, _, text in sorted(ended):
            values, key = self.keys[text]
            key.told.append(("end", event.time, "", 0))
            if self.policy.get("on") in ("exit", "both"):
                found.append(self.let(PlainItem("match", [event.id], None, [], {}), values, "exit"))
        return found

    def tell(
        self, values: tuple[Any, ...], item: PlainItem | None, event: PlainEvent, number: int
    ) -> list[PlainItem]:
        """Tells of an event of a key that is neither late nor repeated."""
        key = self.find(values)
        before = key.run
        key.told.append(("no" if item is None else "match", event.time, event.id, number))
        found: list[PlainItem] = getattr(self, f"tell_{self.kind}")(
            key, values, item, event, before
        )
        return found

    def deliver(self, key: PlainKey, item: PlainItem) -> list[PlainItem]:
        key.delivered.append(len(key.told))
        return [item]

    def tell_every(self, key: PlainKey, values: Any, item: Any, event: Any, before: Any) -> Any:
        return [self.let(item, values)]

    def tell_cooldown(self, key: PlainKey, values: Any, item: Any, event: Any, before: Any) -> Any:
        if item is None:
            return []
        for count in key.delivered:
            if event.time - key.told[count - 1][1] < self.seconds("cooldown"):
                return []
        return self.deliver(key, self.let(item, values))

    def tell_once(self, key: PlainKey, values: Any, item: Any, event: Any, before: Any) -> Any:
        if item is None or key.delivered:
            return []
        return self.deliver(key, self.let(item, values))

    def tell_of(self, key: PlainKey, values: Any, item: Any, event: Any, before: Any) -> Any:
        if item is None:
            return []
        needed, among = self.policy["of"]
        since = key.told[key.delivered[-1] if key.delivered else 0 :]
        if self.only_matches:
            numbers = {number for what, _, _, number in since if number > since[-1][3] - among}
        else:
            numbers = {number for what, _, _, number in since[-among:] if what == "match"}
        return self.deliver(key, self.let(item, values)) if len(numbers) >= needed else []

    def tell_for(self, key: PlainKey, values: Any, item: Any, event: Any, before: Any) -> Any:
        if item is None or event.time - key.run[0][1] < self.seconds("for"):
            return []
        if any(count > len(key.told) - len(key.run) for count in key.delivered):
            return []
        return self.deliver(key, self.let(item, values))

    def tell_on(self, key: PlainKey, values: Any, item: Any, event: Any, before: Any) -> Any:
        edge = self.policy["on"]
        if item is not None:
            return [self.let(item, values, "enter")] if not before and edge != "exit" else []
        if before and edge != "enter":
            left = PlainItem("match", [event.id], event.attributes, [], {})
            return [self.let(left, values, "exit")]
        return []

    def tell_digest(self, key: PlainKey, values: Any, item: Any, event: Any, before: Any) -> Any:
        found = []
        first, hour = key.told[0][1], self.seconds("digest")
        if len(key.told) > 1:
            last = [time for what, time, _, _ in key.told if what != "end"][-2]
            if (event.time - first) // hour > (last - first) // hour:
                found = self.empty(key, values)
        if item is not None:
            key.waiting.append(item)
        return found

    def empty(self, key: PlainKey, values: tuple[Any, ...]) -> list[PlainItem]:
        """The digest of what waits."""
        waiting, key.waiting = key.waiting, []
        if not waiting:
            return []
        kind = "digest" if waiting[0].kind == "match" else waiting[0].kind
        events: list[str] = []
        for item in waiting:
            events += [id for id in item.events if id not in events[-1:]]
        return [self.let(PlainItem(kind, events, None, [], {}), values)]

    def through(
        self,
        items: list[PlainItem],
        event: PlainEvent,
        number: int,
        *,
        repeated: bool,
        counts: bool,
    ) -> list[PlainItem]:
        """What it lets through where only matches have a key."""
        pairs = [(key, item) for item in items for key in self.keys_of(item)]
        newer = {
            str(list(map(same, key))): not repeated and self.newer(key, event) for key, _ in pairs
        }
        found = self.end_gaps(event) if counts else []
        for key, item in pairs:
            if self.kind == "every":
                found.append(self.let(item, key))
            elif newer[str(list(map(same, key)))]:
                found += self.tell(key, item, event, number)
        return found


class PlainSubscription:
    """The policies of one subscription."""

    def __init__(self, id: str, deliver: Any) -> None:
        self.id = id
        self.deliver = deliver
        self.policies = deliver if isinstance(deliver, list) else [deliver]
        self.stages = [PlainStage(each, behind=at > 0) for at, each in enumerate(self.policies)]
        self.number = 0
        self.timeless: set[str] = set()

    def take(
        self, event: PlainEvent, bindings: list[dict[str, Any]] | None, remembered: list[str]
    ) -> list[tuple[Any, ...]]:
        """An event that is determined, with its bindings where it matched."""
        repeated = not event.timed and event.id in self.timeless and event.id in remembered
        if not event.timed:
            self.timeless.add(event.id)
        first, *others = self.stages
        item = None
        if bindings is not None:
            item = PlainItem("match", [event.id], event.attributes, bindings, {})
        if first.only_matches:
            keys = [] if item is None else first.keys_of(item)
            newer = [first.kind == "every" or first.newer(key, event) for key in keys]
            counts = not repeated and (not keys or any(newer))
            self.number += counts
            found = first.through(
                [item] if item else [], event, self.number, repeated=repeated, counts=counts
            )
        else:
            [key] = first.keys_of(PlainItem("", [], event.attributes, [], {}))
            if repeated or not first.newer(key, event):
                return []
            counts = True
            self.number += 1
            found = first.end_gaps(event) + first.tell(key, item, event, self.number)
        for stage in others:
            found = stage.through(found, event, self.number, repeated=repeated, counts=counts)
        return [(self.id, each.kind, each.key, tuple(each.events), event.time) for each in found]

    def finish(self, time: float) -> list[tuple[Any, ...]]:
        """The digests that are open at the end."""
        event, found = PlainEvent("", time, True, {}), list[PlainItem]()
        for stage in self.stages:
            found = stage.through(found, event, self.number, repeated=False, counts=False)
            for values, key in stage.keys.values():
                found += stage.empty(key, values)
        return [(self.id, each.kind, each.key, tuple(each.events), time) for each in found]
