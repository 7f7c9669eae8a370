"""PSTBloom (paper, section 5): a row lies under the predicate spaces of its access predicate.

In the form that measures best, a row lies there with everything that it takes to check it: the
signatures of the paper cost more than the check that they spare. The form as printed has them.
Cost of a match: a look-up for each attribute of the event, and what they lead to.
"""

from __future__ import annotations

from tamis.index.buckets.access import BLOOM
from tamis.index.buckets.index import BucketIndex
from tamis.indexing import Index


class PSTBloom(BucketIndex):
    """PSTBloom without signatures."""

    def __init__(self, *, vector: bool | None = None) -> None:
        super().__init__(BLOOM, vector=vector)


def pstbloom(signature: str | None, vector: bool | None) -> Index:
    """PSTBloom in one of its forms: `bloom` for the signatures of the paper."""
    if signature is None:
        return PSTBloom(vector=vector)
    if signature != "bloom":
        raise ValueError(f"signature is 'bloom' or None, not {signature!r}")
    if vector is not None:
        raise ValueError("the form with signatures has no vectors to choose")
    from tamis.index.printed_bloom import PrintedBloom

    return PrintedBloom()
