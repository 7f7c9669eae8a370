"""A plain model of the log, in lists and dictionaries; it shares no code with it."""

from __future__ import annotations

from dataclasses import dataclass, field

Number = int


@dataclass
class Subscriber:
    id: str
    born: int
    threshold: int
    expires: float
    ended: bool = False
    deliveries: list[tuple[int, int]] = field(default_factory=list)
    """The position of the event, and its level."""
    acknowledged: int = 0
    lost: int = 0
    floor: int = 1
    has_webhook: bool = False
    retrying: set[int] = field(default_factory=set)
    dead: set[int] = field(default_factory=set)

    @property
    def upcoming(self) -> set[int]:
        """What may be sent to the webhook next; a gap is its last number."""
        first = max(self.acknowledged + 1, self.floor - 1, 1)
        is_there = self.acknowledged < len(self.deliveries)
        return self.retrying | ({first} if is_there else set())


@dataclass
class Model:
    """Who matches an event is known at once, and delivered when it is decided."""

    clock: float = 0.0
    position: int = 0
    cursor: int = 0
    floor: int = 1
    live: dict[str, Subscriber] = field(default_factory=dict)
    kept: dict[int, Subscriber] = field(default_factory=dict)
    events: dict[str, tuple[int, int]] = field(default_factory=dict)
    undecided: list[tuple[int, int, list[Subscriber]]] = field(default_factory=list)
    ends: list[tuple[int, Subscriber]] = field(default_factory=list)

    def expire(self) -> None:
        over = [each for each in self.live.values() if each.expires <= self.clock]
        for each in sorted(over, key=lambda each: (each.expires, each.born)):
            self.position += 1
            each.ended = True
            self.ends.append((self.position, each))
            del self.live[each.id]

    def subscribe(
        self, id: str, threshold: int, validity: float, has_webhook: bool
    ) -> Subscriber | None:
        self.expire()
        if id in self.live:
            return None
        self.kept = {born: each for born, each in self.kept.items() if each.id != id}
        self.position += 1
        new = Subscriber(id, self.position, threshold, self.clock + validity)
        new.has_webhook = has_webhook
        self.live[id] = self.kept[new.born] = new
        return new

    def replace(self, born: int, threshold: int, has_webhook: bool) -> bool:
        self.expire()
        if born not in self.kept or self.kept[born].ended:
            return False
        self.position += 1
        each = self.kept[born]
        each.threshold, each.has_webhook = threshold, has_webhook
        if not has_webhook:
            each.dead |= each.retrying
            each.retrying = set()
        return True

    def attempt(self, born: int, number: int, outcome: str) -> None:
        """A delivery was `taken`, is tried `again`, or is `dead`."""
        self.expire()
        each = self.kept.get(born)
        if each is None or not each.has_webhook:
            return
        is_new = each.acknowledged < number and each.floor <= number
        if outcome == "taken":
            each.retrying.discard(number)
            each.dead.discard(number)
            each.acknowledged = max(each.acknowledged, number)
        elif is_new or number in each.retrying | each.dead:
            each.retrying.discard(number)
            each.dead.discard(number)
            (each.retrying if outcome == "again" else each.dead).add(number)
            each.acknowledged = max(each.acknowledged, number)

    def redeliver(self, born: int, number: int) -> bool:
        self.expire()
        each = self.kept.get(born)
        if each is None or not each.has_webhook or number not in each.dead:
            return False
        each.dead.remove(number)
        each.retrying.add(number)
        return True

    def renew(self, born: int, validity: float) -> bool:
        self.expire()
        if born not in self.kept or self.kept[born].ended:
            return False
        self.position += 1
        self.kept[born].expires = self.clock + validity
        return True

    def unsubscribe(self, born: int) -> bool:
        self.expire()
        if born not in self.kept:
            return False
        self.position += 1
        gone = self.kept.pop(born)
        if not gone.ended:
            del self.live[gone.id]
        return True

    def publish(self, id: str, level: int) -> int | None:
        self.expire()
        if id in self.events:
            position, known = self.events[id]
            return position if known == level else None
        self.position += 1
        self.events[id] = self.position, level
        matching = [each for each in self.live.values() if level > each.threshold]
        self.undecided.append((self.position, level, matching))
        return self.position

    def decide(self, cursor: int) -> None:
        self.expire()
        while self.undecided and self.undecided[0][0] <= cursor:
            position, level, matching = self.undecided.pop(0)
            for each in matching:
                if each.born in self.kept:
                    each.deliveries.append((position, level))
        self.cursor = cursor

    def acknowledge(self, born: int, number: int) -> bool:
        self.expire()
        each = self.kept.get(born)
        if each is None or number > len(each.deliveries):
            return False
        each.acknowledged = max(each.acknowledged, number)
        each.retrying = {one for one in each.retrying if one > number}
        each.dead = {one for one in each.dead if one > number}
        return True

    def retain(self, until: int) -> None:
        """Forgets all before a position."""
        for each in self.kept.values():
            below = sum(position < until for position, _ in each.deliveries)
            if below >= each.floor:
                settled = max(each.acknowledged, each.floor - 1)
                each.lost += max(0, below - settled)
                sent = each.retrying | each.dead
                each.lost += sum(number <= below for number in sent)
                each.retrying = {number for number in each.retrying if number > below}
                each.dead = {number for number in each.dead if number > below}
                each.floor = below + 1
        over = {each.born for position, each in self.ends if position < until}
        self.kept = {born: each for born, each in self.kept.items() if born not in over}
        self.events = {id: each for id, each in self.events.items() if each[0] >= until}
        self.floor = max(self.floor, until)
