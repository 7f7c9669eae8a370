"""Counts how often a word stands in the text of an event."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import tamis

WORD = re.compile(r"\w+")
SAMPLES = [
    tamis.Sample("newOperator(fire, ?n)", {"text": "Fire! A fire."}, [2]),
    tamis.Sample("newOperator(fire, ?n)", {"text": "All is quiet."}, []),
    tamis.Sample("newOperator(quiet, 1)", {"text": "All is quiet."}, True),
]


def one_word(word: Any, count: Any) -> list[object]:
    """Refuses what is no word when a subscription comes in; gives it in lower case."""
    if not WORD.fullmatch(word):
        raise tamis.ArgumentError(f"a word has letters and digits only, not {word!r}")
    return [word.casefold(), count]


@tamis.operator(
    inputs=("text",),
    outputs=("count",),
    deterministic=True,
    cost_seconds=5e-6,
    check=one_word,
    samples=SAMPLES,
)
def newOperator(
    event: Mapping[str, Any],
    word: str,
    count: tamis.Variable,
) -> list[int]:
    """Counts a word in the text of the event; no solution where it does not stand there."""
    text = event["text"]
    if not isinstance(text, str):
        raise ValueError(f"text is a string, not {text!r:.40}")
    found = WORD.findall(text.casefold()).count(word)
    return [found] if found else []
