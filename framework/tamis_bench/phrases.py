"""What `mentions` costs by the number of phrases, beside one regular expression a phrase.

`tamis bench phrases [--seed N]`: both ways read the same texts in one run, in
turns, and the least of several passes counts; that they agree is checked.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections.abc import Callable, Sequence

from tamis_operators.text.folding import folded, marked
from tamis_operators.text.phrases import Phrases

_SIZES = (10, 100, 1_000, 10_000)
_WORDS, _LONG, _TEXTS, _PASSES = 5_000, 60, 20, 5


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a line for each number of phrases."""
    parser = argparse.ArgumentParser(prog="tamis bench phrases", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args(arguments).seed
    print(f"texts of {_LONG} words, µs each: the least of {_PASSES} passes over {_TEXTS}")
    print(f"{'phrases':>8} {'found':>6} {'mentions':>9} {'expressions':>12} {'times':>7}")
    for size in _SIZES:
        found, ours, theirs = measured(size, random.Random(seed))
        print(f"{size:>8,} {found:>6.2f} {ours:>9.0f} {theirs:>12.0f} {theirs / ours:>7.1f}")


def measured(size: int, random: random.Random) -> tuple[float, float, float]:
    """Phrases found in a text, and the microseconds of both ways."""
    words = [f"w{at}" for at in range(_WORDS)]
    phrases = sorted({" ".join(random.choices(words, k=1 + at % 2)) for at in range(size)})
    texts = [" ".join(random.choices(words, k=_LONG)) for _ in range(_TEXTS)]
    known = Phrases("text")
    for phrase in phrases:
        known.learn(marked(folded(phrase)))
    expressions = [re.compile(rf"\b{re.escape(each)}\b", re.IGNORECASE) for each in phrases]

    def ours(text: str) -> int:
        return len(known.read({"text": text}).found)

    def theirs(text: str) -> int:
        return sum(each.search(text) is not None for each in expressions)

    counts = [ours(text) for text in texts]
    assert counts == [theirs(text) for text in texts]
    best = [float("inf"), float("inf")]
    for _ in range(_PASSES):
        for place, way in enumerate((ours, theirs)):
            best[place] = min(best[place], _seconds(way, texts))
    scale = 1e6 / len(texts)
    return sum(counts) / len(texts), best[0] * scale, best[1] * scale


def _seconds(way: Callable[[str], int], texts: Sequence[str]) -> float:
    started = time.perf_counter()
    for text in texts:
        way(text)
    return time.perf_counter() - started
