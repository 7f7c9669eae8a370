"""PSTHash (paper, section 6): a row lies under the predicate spaces of several access predicates.

The fallback for small rows and events (footnote 2) needs no path of its own: a row with fewer
predicates lies under as many as it has.
Cost of a match: a look-up for each pair of the event's spaces, and what they lead to.
"""

from __future__ import annotations

from tamis.index.buckets.access import HASH
from tamis.index.buckets.index import BucketIndex
from tamis.index.buckets.store import MOST_ACCESSES


class PSTHash(BucketIndex):
    """PSTHash with up to `accesses` access predicates a row.

    One more is taken as long as those before lead to `short_list` rows or more."""

    def __init__(
        self, *, accesses: int = 2, short_list: int = 65_536, vector: bool | None = None
    ) -> None:
        if not 1 <= accesses <= MOST_ACCESSES:
            raise ValueError(f"accesses is from 1 to {MOST_ACCESSES}, not {accesses}")
        if short_list < 0:
            raise ValueError(f"short_list is 0 or more, not {short_list}")
        super().__init__(HASH, accesses, short_list, vector=vector)
