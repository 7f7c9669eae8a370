"""Says what goes through policies: an event and its time, items about it, and their keys."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.event import Event
from tamis.language.policies import VARIABLE, Policy
from tamis.language.values import Scalar

if TYPE_CHECKING:
    from tamis.policy.course import PolicyCourse

MATCH = "match"
_MICROS = 1_000_000

Part = Scalar | tuple[bool] | None
Key = tuple[Part, ...]
"""The key of a policy's state: equal by value and kind; `True` is `1`, `(True,)` is not."""
Bindings = Sequence[Mapping[str, Scalar]]


class Delivery(NamedTuple):
    """A delivery to a subscriber: its kind (`match`, `enter`, `exit`, `digest`), the key that it
    is about, the ids of the events, and the time (seconds since 1970) that made it due."""

    subscription: str
    kind: str
    key: tuple[Scalar | None, ...]
    events: tuple[str, ...]
    time: int | float

    def as_dict(self) -> dict[str, Any]:
        """Returns the delivery as the command line writes it."""
        return {
            "subscription": self.subscription,
            "kind": self.kind,
            "key": list(self.key),
            "events": list(self.events),
        }


class Now(NamedTuple):
    """An event on its way through policies."""

    turn: int
    """The number of the event among all that were taken."""
    micros: int
    id: str
    event: Event | None
    repeats: int = 0
    """The turn of the event without time that it repeats; 0 where it repeats none."""
    unseen_by: Collection[PolicyCourse] = ()
    """Those to whom that event was undetermined."""
    among: Collection[PolicyCourse] | None = None
    """Those for whom alone it was evaluated again; all else have nothing to do with it."""

    def concerns(self, course: PolicyCourse) -> bool:
        """Returns whether a subscription has anything to do with it."""
        return self.among is None or course in self.among

    def repeats_for(self, course: PolicyCourse) -> bool:
        """Returns whether a subscription has seen the event that it repeats."""
        return self.repeats > course.born[0] and course not in self.unseen_by

    @property
    def seconds(self) -> int | float:
        """Its time."""
        whole, more = divmod(self.micros, _MICROS)
        return self.micros / _MICROS if more else whole


class Item(NamedTuple):
    """A delivery of one policy, to the next one or to the subscriber."""

    kind: str
    events: tuple[str, ...]
    event: Event | None
    """What attributes are read from; none where it is about several events, or about a key that
    was not seen."""
    bindings: Bindings = ({},)
    known: Mapping[str, Part] = {}
    """The keys of the policies before."""
    key: Key = ()

    def keys(self, policy: Policy) -> list[Key]:
        """Returns its keys for a policy, each once."""
        if not policy.per:
            return [()]
        bindings = (policy.has_bindings and self.bindings) or ({},)
        return list(dict.fromkeys(self._key(policy.per, each) for each in bindings))

    def _key(self, per: tuple[str, ...], bound: Mapping[str, Scalar]) -> Key:
        return tuple(
            self.known[name]
            if name in self.known
            else part(bound.get(name[1:]))
            if name.startswith(VARIABLE)
            else None
            if self.event is None
            else part(self.event.scalar(name))
            for name in per
        )

    def of_key(self, policy: Policy, key: Key) -> Item:
        """Returns the item as it is delivered to a key."""
        bindings = self.bindings
        if policy.has_bindings:
            bindings = [each for each in bindings if self._key(policy.per, each) == key]
        known = {**self.known, **dict(zip(policy.per, key, strict=True))} if key else self.known
        return Item(self.kind, self.events, self.event, bindings, known, key)

    def named(self, kind: str) -> Item:
        """Returns the same as another kind; the first one other than `match` stays."""
        kind = kind if self.kind == MATCH else self.kind
        return self._replace(kind=kind)


def part(value: Scalar | None) -> Part:
    """Returns a value as part of a key."""
    return (value,) if type(value) is bool else value


def plain(key: Key) -> tuple[Scalar | None, ...]:
    """Returns the values of a key."""
    return tuple(each[0] if isinstance(each, tuple) else each for each in key)


def key_of(event: Event, per: tuple[str, ...]) -> Key:
    """Returns the key that the attributes of an event make."""
    return tuple(part(event.scalar(name)) for name in per)


def key_from(saved: list[Any]) -> Key:
    """Returns a key as it was before it was written."""
    return tuple((bool(each[0]),) if isinstance(each, list) else each for each in saved)
