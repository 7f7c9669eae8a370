"""Lists what can happen to the log; each happens whole, in one transaction, or not at all."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from tamis.server.hashing import canonical
from tamis.server.payloads import LARGE_LETTERS, digest_of, split
from tamis.server.traces import MOST_BYTES

SUBSCRIBE, REPLACE, RENEW = "subscribe", "replace", "renew"
UNSUBSCRIBE, EXPIRE, PUBLISH = "unsubscribe", "expire", "publish"
EVALUATE = "evaluate"
Outcome = TypeVar("Outcome")


class Request(NamedTuple):
    """Identifies a request the same as another: an idempotency key, and what it asks."""

    key: bytes
    digest: bytes


class Webhook(NamedTuple):
    """Tells where deliveries are sent, and the secret that signs them."""

    url: str
    secret: str
    is_made: bool = False
    """Whether the secret is of the server, and gives way to one that is there."""


@dataclass(frozen=True)
class Change(Generic[Outcome]):
    """Something that can happen to the log; it becomes an outcome, or is refused."""

    request: Request | None = field(default=None, kw_only=True)
    """Who asks for it; where the same asks again, it happens once."""


@dataclass(frozen=True)
class Subscribe(Change["LoggedSubscription"]):
    """A subscription comes; its ticket is known by a hash alone.

    `sealed` is what the answer holds beside what the log knows, kept for the same request."""

    document: Mapping[str, Any]
    ticket: bytes
    id: str | None = None
    validity: float | None = None
    sealed: str | None = None
    webhook: Webhook | None = None
    has_room: bool = True
    """Whether the server takes another one, if it was not answered before."""


@dataclass(frozen=True)
class Replace(Change["LoggedSubscription"]):
    """A subscription gets another text or policy; cursor and ticket stay."""

    born: int
    document: Mapping[str, Any]
    validity: float | None = None
    webhook: Webhook | None = None


@dataclass(frozen=True)
class Renew(Change["LoggedSubscription"]):
    """A subscription lives for so many seconds from now; `None` is for ever."""

    born: int
    validity: float | None


@dataclass(frozen=True)
class Unsubscribe(Change[None]):
    """A subscription goes, with what was not delivered."""

    born: int


@dataclass(frozen=True)
class Publish(Change["PublishedEvents"]):
    """Events come, all or none; those without an id get one."""

    events: Sequence[Mapping[str, Any]]

    @cached_property
    def ready(self) -> list[Ready]:
        """Returns what can be made of them before their turn comes."""
        return [ready_event(event) for event in self.events]

    @cached_property
    def is_plain(self) -> bool:
        """Returns whether they are written without a question: no request, ids, nothing large.
        What cannot be written at all is not plain."""
        with contextlib.suppress(ValueError, TypeError):
            return self.request is None and all(each.id and not each.large for each in self.ready)
        return False

    def prepare(self) -> None:
        """Makes what can be made before its turn comes, however long that takes."""
        self.is_plain  # noqa: B018


class EventRun:
    """Plain events of changes that follow each other, column by column: nothing else is kept of
    them while they wait."""

    __slots__ = ("bodies", "ids", "starts")

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.bodies: list[str] = []
        self.starts: list[int] = []
        """Where the events of each change begin."""

    def append(self, change: Publish) -> int:
        """Appends the events of a plain change; its number in the run."""
        self.starts.append(len(self.ids))
        for id, body, _ in change.ready:
            self.ids.append(id or "")
            self.bodies.append(body)
        return len(self.starts) - 1

    def published(self, number: int, position: int) -> PublishedEvents:
        """Returns what a change is answered when the entries of the run begin at a position."""
        start, *rest = self.starts[number : number + 2]
        ids = self.ids[start : rest[0] if rest else None]
        return PublishedEvents(ids, list(range(position + start, position + start + len(ids))))

    def changes(self) -> list[Publish]:
        """Returns its changes as they were handed in."""
        events = [json.loads(body)["event"] for body in self.bodies]
        return [
            Publish(events[start:stop]) for start, stop in pairwise([*self.starts, len(events)])
        ]


class Ready(NamedTuple):
    """Holds what is made of an event: the body of its entry, by which its content is known, and
    what is large of it, by digest."""

    id: str | None
    body: str
    large: Mapping[str, bytes]


def ready_event(event: Mapping[str, Any]) -> Ready:
    """Makes what can be made of an event before its turn comes."""
    text, large, named = canonical(event), {}, "{}"
    if len(text) > LARGE_LETTERS:
        small, contents = split(event)
        digests = {name: digest_of(content) for name, content in contents.items()}
        large = {digests[name]: content for name, content in contents.items()}
        text, named = canonical(small), canonical(digests)
    return Ready(event.get("id"), f'{{"event":{text},"payloads":{named}}}', large)


@dataclass(frozen=True)
class Acknowledge(Change[int]):
    """Acknowledges all deliveries up to one; a second time changes nothing."""

    born: int
    number: int


@dataclass(frozen=True)
class Evaluate(Change[list[str]]):
    """Events of which a verdict is open are evaluated again, for one subscription or all."""

    positions: Sequence[int]
    born: int | None = None


class Open(NamedTuple):
    """A verdict that stayed open: of which subscription, why, and how often it was tried again."""

    born: int
    operators: Sequence[str]
    """Those that failed."""
    tries: int = 0


@dataclass(frozen=True)
class Attempt(Change[None]):
    """A delivery was sent to a webhook; it was taken where there is no reason why not."""

    born: int
    number: int
    url: str
    """Where to: another webhook, that came meanwhile, is not judged by it."""
    reason: str | None = None
    again: float | None = None
    """When it is sent again; one that is not is dead."""
    pause: float = 0.0
    """Until when nothing is sent there."""
    disables: bool = False
    """Whether nothing is sent there any more."""


@dataclass(frozen=True)
class Rotate(Change[list[Any]]):
    """A webhook gets another secret; the one before signs as well until a time."""

    born: int
    secret: str
    until: float


@dataclass(frozen=True)
class Enable(Change[list[Any]]):
    """A webhook is sent to again, at once."""

    born: int


@dataclass(frozen=True)
class Redeliver(Change[list[Any]]):
    """A dead delivery is sent again."""

    born: int
    number: int


class Due(NamedTuple):
    """A delivery that is due to a subscription."""

    born: int
    kind: str
    body: str


class Verdict(NamedTuple):
    """Holds what was decided of the event at a position."""

    position: int
    body: str
    matched: Sequence[int]
    """The subscriptions that it matched, by birth."""
    due: Sequence[Due]
    trace: str | None = None
    """What operators said, where any was asked."""
    open: Sequence[Open] = ()
    of: int | None = None
    """The position of the event, where it was evaluated again."""
    evaluated: Sequence[int] = ()
    """The subscriptions for which it was, by birth."""


@dataclass(frozen=True)
class Decide(Change[None]):
    """Verdicts, their deliveries and the cursor, behind which all is decided."""

    verdicts: Sequence[Verdict]
    cursor: int
    trace_bytes: int = MOST_BYTES
    """So much is kept of what operators said."""
    last: Sequence[tuple[int, Due]] = ()
    """What is due to subscriptions that end, with the positions at which they do."""


@dataclass(frozen=True)
class Retain(Change["RemovedEntries"]):
    """Removes what is older or beyond so many bytes, a part at a time; never what is undecided."""

    older_than: float | None = None
    most_bytes: int | None = None
    up_to: int | None = None
    """What is beyond this position stays whatever else."""


@dataclass(frozen=True)
class Expire(Change[int]):
    """Ends what is over now, which every other change does first, and forgets old answers."""


class LoggedSubscription(NamedTuple):
    """A subscription that is in the log."""

    id: str
    born: int
    expires: float | None
    sealed: str | None = None
    secret: str | None = None
    """The secret of its webhook, where the server made it now."""


class PublishedEvents(NamedTuple):
    """Events that are in the log: their ids, and their positions in it."""

    ids: list[str]
    positions: list[int]


@dataclass
class RemovedEntries:
    """Counts what retention removed: how many entries, whether there is more, and the files."""

    entries: int = 0
    is_more: bool = False
    payloads: list[str] = field(default_factory=list)
