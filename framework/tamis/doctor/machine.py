"""Says how wide the kernels of indexes are on this processor."""

from __future__ import annotations

from collections.abc import Iterator

from tamis.doctor.finding import MISSING, OK, Finding


def vectors() -> Iterator[Finding]:
    """Whether indexes can look 64 bytes up at once on this processor."""
    from tamis.index.buckets.bits import has_vectors

    if has_vectors():
        yield Finding("index", OK, "looks up 64 values at once (AVX-512 VBMI)")
    else:
        words = "looks up values one by one: the processor, or numba's settings, lack AVX-512 VBMI"
        yield Finding("index", MISSING, words, "nothing to do: answers are the same, in more time")
