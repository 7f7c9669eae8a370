"""Keeps subscriptions where their index outlives the program, in step with its rows.

Invariant: what is kept when a change ends is what is subscribed then, with its ends; a change that
fails keeps nothing. Cost: that of the keeper, O(subscriptions that change).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tamis.catalog.catalog import Catalog
from tamis.catalog.expiry import Expiry
from tamis.catalog.intake import Intake, NewSubscription
from tamis.errors import DatabaseError
from tamis.indexing import Keeper, KeptDocument

SUBSCRIPTIONS = "subscriptions"


class KeptExpiry(Expiry):
    """The ends of subscriptions, and the subscriptions themselves where something keeps them."""

    def __init__(self, keeper: Keeper | None, catalog: Catalog) -> None:
        super().__init__()
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
        super().set(id, end)
        if self._keeper is not None:
            self._new[id] = end

    def renew(self, id: str, end: float) -> None:
        """Gives a subscription an end in the place of the one it had."""
        if self._keeper is not None:
            self._keeper.renew(id, end)
        super().set(id, end)

    def forget(self, id: str) -> None:
        """Forgets a subscription that is gone."""
        super().forget(id)
        if self._keeper is not None:
            self._gone[id] = None
            self._new.pop(id, None)

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
            return intake.accept([json.loads(each.document) for each in kept], False)
        except (ValueError, TypeError) as bad:  # a document that is none, or is refused
            raise DatabaseError(f"{keeper.name} keeps what cannot be taken: {bad}") from bad

    def close(self) -> None:
        """Releases the keeper of subscriptions."""
        if self._keeper is not None:
            self._keeper.close()
