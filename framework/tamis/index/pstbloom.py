"""PSTBloom (paper, section 5): a row lies under the predicate spaces of its access predicate.

A row lies there with everything that it takes to check it. Signatures of rows, as in the paper, or
of blocks come before the check where they are asked for: on most workloads they cost more than the
check that they spare.
Cost of a match: a look-up for each attribute of the event, and what they lead to.
"""

from __future__ import annotations

from tamis.index.buckets.access import BLOOM
from tamis.index.buckets.index import BucketIndex
from tamis.index.buckets.store import SIGNATURES


class PSTBloom(BucketIndex):
    """PSTBloom without signatures."""

    def __init__(self, *, vector: bool | None = None) -> None:
        super().__init__(BLOOM, vector=vector)


class SignedPSTBloom(BucketIndex):
    """PSTBloom with signatures before the check, of rows or of blocks of 64 rows."""

    def __init__(self, *, signature: str, vector: bool | None = None) -> None:
        super().__init__(BLOOM, signed=SIGNATURES[signature], vector=vector)
