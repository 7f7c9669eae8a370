"""PSTHash (paper, section 6): a row lies under the predicate spaces of several access predicates.

A further predicate is taken where the rows that it spares cost more than looking up its pairs; with
`look_up_rows=0` always, as in the paper. The fallback for small rows and events (footnote 2) needs
no path of its own: a row with fewer predicates lies under as many as it has.
Cost of a match: a look-up for each pair of the event's spaces, and what they lead to.
"""

from __future__ import annotations

from tamis.index.buckets.access import HASH
from tamis.index.buckets.index import BucketIndex


class PSTHash(BucketIndex):
    """Hangs a row by up to `accesses` predicates.

    Looking up a pair takes as long as checking `look_up_rows` rows."""

    def __init__(
        self, *, accesses: int = 2, look_up_rows: float, vector: bool | None = None
    ) -> None:
        super().__init__(HASH, accesses, look_up_rows, vector=vector)
