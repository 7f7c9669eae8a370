"""PSTBloom (paper, section 5): a row lies under the predicate spaces of its access predicate.

A row lies there with everything that it takes to check it: the signatures of the paper, measured
beside, cost more than the check that they spare.
Cost of a match: a look-up for each attribute of the event, and what they lead to.
"""

from __future__ import annotations

from tamis.index.buckets.access import BLOOM
from tamis.index.buckets.index import BucketIndex


class PSTBloom(BucketIndex):
    """PSTBloom without signatures."""

    def __init__(self, *, vector: bool | None = None) -> None:
        super().__init__(BLOOM, vector=vector)
