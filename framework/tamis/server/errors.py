"""Says what the log refuses, and what keeps it from being used."""

from __future__ import annotations

from tamis.errors import TamisError


class LogError(TamisError):
    """A log that cannot be opened, written or trusted."""


class NoRoom(LogError):
    """A change for which the disk has no room now, or that needs one open file too many; nothing of
    it was done."""


class EntryGone(LogError):
    """An entry that retention removed while it was read."""


class Refusal(TamisError):
    """A change that the log does not take; nothing of it was written."""


class IdTaken(Refusal):
    """A subscription of an id that another one has."""


class UnknownSubscription(Refusal):
    """A subscription that is not there, or is there no more."""


class UnknownDelivery(Refusal):
    """A delivery that was never made."""


class UnknownWebhook(Refusal):
    """A webhook that is not there."""


class OtherContent(Refusal):
    """An event of an id that another event has."""


class OtherRequest(Refusal):
    """A request of an idempotency key that another request has."""


class Overload(Refusal):
    """More changes than can wait; after so many seconds there is room."""

    def __init__(self, problem: str, after_seconds: float = 1.0) -> None:
        super().__init__(problem)
        self.after_seconds = after_seconds
