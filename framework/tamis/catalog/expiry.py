"""Ends subscriptions, the next to end first.

Invariant: `next` is no later than the earliest end. Cost: O(log n) a change, amortized.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator

from tamis.errors import SubscriptionError

FOREVER = 1e18
_FEW = 64


def end_of(validity: object, now: float, id: str | None) -> float:
    """Returns when a validity of a subscription ends that begins now."""
    if validity is None:
        return math.inf
    if isinstance(validity, bool) or not isinstance(validity, (int, float)) or not validity > 0:
        raise SubscriptionError(
            f"validity is a number of seconds above 0, not {validity!r}", subscription=id
        )
    return math.inf if validity >= FOREVER else now + validity


class Expiry:
    """The ends of those subscriptions that have one, by id."""

    def __init__(self) -> None:
        self.next = math.inf
        self._ends: dict[str, float] = {}
        self._queue: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._queue)

    def set(self, id: str, end: float) -> None:
        """Gives a subscription an end in the place of the one it had; infinity is none."""
        self._ends.pop(id, None)
        if end == math.inf:
            return
        self._ends[id] = end
        heapq.heappush(self._queue, (end, id))
        if len(self._queue) > 2 * len(self._ends) + _FEW:
            self._queue = [(each, id) for id, each in self._ends.items()]
            heapq.heapify(self._queue)
        self.next = self._queue[0][0]

    def ends(self) -> dict[str, float]:
        """Returns the ends there are."""
        return dict(self._ends)

    def forget(self, id: str) -> None:
        """Forgets a subscription that is gone."""
        self._ends.pop(id, None)

    def ended(self, now: float) -> Iterator[str]:
        """Yields the subscriptions that have ended, each once."""
        while self._queue and self._queue[0][0] <= now:
            end, id = heapq.heappop(self._queue)
            if self._ends.get(id) == end:
                yield id
        self.next = self._queue[0][0] if self._queue else math.inf
