"""Ends subscriptions, the next to end first, and keeps them where their index outlives the program.

Invariant: `next` is no later than the earliest end. What is kept when a change ends is what is
subscribed then, with its ends; a change that fails keeps nothing.
Cost: O(log n) a change, amortized, and that of the keeper.
"""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tamis.catalog.catalog import Catalog
from tamis.catalog.intake import Intake, NewSubscription
from tamis.errors import DatabaseError, SubscriptionError
from tamis.indexing import Keeper, KeptDocument

SUBSCRIPTIONS = "subscriptions"
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
    """The ends of those subscriptions that have one, by id, and what keeps subscriptions."""

    def __init__(self, keeper: Keeper | None, catalog: Catalog) -> None:
        self.next = math.inf
        self._ends: dict[str, float] = {}
        self._queue: list[tuple[float, str]] = []
        self._keeper = keeper
        self._catalog = catalog
        self._is_opening = False
        self._new: dict[str, float] = {}
        self._gone: dict[str, None] = {}

    @contextmanager
    def change(self) -> Iterator[None]:
        """Keeps what is set and forgotten within, or nothing."""
        if self._keeper is None:
            yield
            return
        with self._keeper.change():
            try:
                yield
                self._keep(self._keeper)
            finally:
                self._new, self._gone = {}, {}

    def _keep(self, keeper: Keeper) -> None:
        for id in self._gone:
            keeper.drop(id)
        for id, end in self._new.items():
            known = self._catalog.subscribed(id)
            rows = self._catalog.alternatives_of(self._catalog.rows[id])
            if self._is_opening:
                keeper.own(id, rows)
                continue
            named = {} if known.deliver is None else {"deliver": known.deliver}
            document = {"id": id, "where": known.text, **named, **known.data}
            keeper.put(id, KeptDocument(json.dumps(document), end), rows)

    def set(self, id: str, end: float) -> None:
        """Gives a new subscription an end; infinity is none."""
        self._set(id, end)
        if self._keeper is not None:
            self._new[id] = end

    def _set(self, id: str, end: float) -> None:
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

    def renew(self, id: str, end: float) -> None:
        """Gives a subscription an end in the place of the one it had."""
        if self._keeper is not None:
            self._keeper.renew(id, end)
        self._set(id, end)

    def forget(self, id: str) -> None:
        """Forgets a subscription that is gone."""
        self._ends.pop(id, None)
        if self._keeper is not None:
            self._gone[id] = None
            self._new.pop(id, None)

    def ended(self, now: float) -> Iterator[str]:
        """Yields the subscriptions that have ended, each once."""
        while self._queue and self._queue[0][0] <= now:
            end, id = heapq.heappop(self._queue)
            if self._ends.get(id) == end:
                yield id
        self.next = self._queue[0][0] if self._queue else math.inf

    @contextmanager
    def opening(self, intake: Intake) -> Iterator[tuple[list[NewSubscription], list[float]]]:
        """Gives what was kept before and when each ends, to be subscribed within."""
        if self._keeper is None:
            yield [], []
            return
        try:
            with self.change():
                kept = self._keeper.read(SUBSCRIPTIONS)
                self._is_opening = True
                yield self._accepted(self._keeper, kept, intake), [each.expires for each in kept]
        except BaseException:
            self._keeper.close()
            raise
        finally:
            self._is_opening = False

    def _accepted(
        self, keeper: Keeper, kept: Sequence[KeptDocument], intake: Intake
    ) -> list[NewSubscription]:
        try:
            documents = [json.loads(each.document) for each in kept]
            return intake.accept(documents, False, intake.resolver_again())
        except (ValueError, TypeError) as bad:  # a document that is none, or is refused
            raise DatabaseError(f"{keeper.name} keeps what cannot be taken: {bad}") from bad

    def close(self) -> None:
        """Releases the keeper of subscriptions."""
        if self._keeper is not None:
            self._keeper.close()
