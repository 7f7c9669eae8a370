"""Measures `mentions` by the number of phrases, compared with one regular expression a phrase.

Both read the same texts in turns; the fastest of several passes counts, and they must agree.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Annotated

from tamis_bench.options import Passes, Seed, several
from tamis_bench.report import Row, progress
from tamis_bench.timing import alternating
from tamis_operators.text.folding import folded, marked
from tamis_operators.text.phrases import Phrases

_WORDS, _LONG, _TEXTS = 5_000, 60, 20


def measured(
    *,
    sizes: Annotated[list[int] | None, several("How many phrases: 10, 100, 1,000, 10,000.")] = None,
    passes: Passes = 5,
    seed: Seed = 1,
) -> Iterator[Row]:
    """Yields a row for each number of phrases."""
    for size in sizes or (10, 100, 1_000, 10_000):
        progress(f"{size:,} phrases")
        row = _measured(size, random.Random(seed), passes)
        yield {"part": f"Phrases in texts of {_LONG} words", **row}


def _measured(size: int, chance: random.Random, passes: int) -> Row:
    words = [f"w{at}" for at in range(_WORDS)]
    phrases = sorted({" ".join(chance.choices(words, k=1 + at % 2)) for at in range(size)})
    texts = [" ".join(chance.choices(words, k=_LONG)) for _ in range(_TEXTS)]
    known = Phrases("text")
    for phrase in phrases:
        known.learn(marked(folded(phrase)))
    expressions = [re.compile(rf"\b{re.escape(each)}\b", re.IGNORECASE) for each in phrases]

    def mentions() -> list[int]:
        return [len(known.read({"text": text}).found) for text in texts]

    def searched() -> list[int]:
        return [sum(each.search(text) is not None for each in expressions) for text in texts]

    timed = alternating({"mentions": mentions, "expressions": searched}, passes)
    ours, theirs = timed["mentions"], timed["expressions"]
    if ours.result != theirs.result:
        raise AssertionError("mentions and regular expressions differ")
    return {
        "phrases": size,
        "found": sum(ours.result) / _TEXTS,
        "mentions_us": 1e6 * ours.least / _TEXTS,
        "expressions_us": 1e6 * theirs.least / _TEXTS,
        "times": theirs.least / ours.least,
    }
