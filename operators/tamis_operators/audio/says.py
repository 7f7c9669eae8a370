"""Decides whether English words are said in a sound: `says("help")`, `says("queen of clubs")`.

The sound is written down once an event for all phrases (a preparation), and a phrase is said where
its words stand in it, in their order and next to each other. A phrase with a word that is not in
the recognizer's dictionary could never be heard and is refused. Cost: a seventh of the sound's
length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tamis import (
    ArgumentError,
    Implication,
    Operator,
    Parameter,
    Preparation,
    Sample,
    Specification,
)
from tamis.kit import STRING
from tamis_operators.audio.listening import listener, transcript
from tamis_operators.audio.sound import SOUND

_WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
TRANSCRIPT = Preparation("transcript", transcript, inputs=(), cost_seconds=1.0, after=SOUND)
"""The words of the event's sound."""


class Says(Operator):
    """`says(phrase)`."""

    specification = Specification(
        name="says",
        description="Whether English words are said in the sound, one after the other.",
        parameters=(Parameter("phrase", frozenset({STRING})),),
        inputs=("sound",),
        cost_seconds=1e-5,
        deterministic=True,
        preparation=TRANSCRIPT,
        extra="tamis[audio]",
        modules=("pocketsphinx",),
    )

    def check(self, phrase: str) -> Sequence[object] | None:
        """Refuses what can never be heard."""
        words = _words(phrase)
        if not words:
            raise ArgumentError("a phrase has at least one word, in letters")
        for word in words:
            if not listener().knows(word):
                raise ArgumentError(f"{word!r} is not a word of the recognizer's dictionary")
        return None

    def solve(self, event: Any, phrase: str) -> bool:
        """Returns whether the words stand in the transcript."""
        return _within(_words(phrase), event.prepared)

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterator[Implication]:
        """Implies the phrases within a phrase."""
        words = _words(arguments[0])
        for place, (other,) in enumerate(others):
            if _within(_words(other), words):
                yield Implication(True, place, True)

    def samples(self) -> Iterable[Sample]:
        """Returns silence: a voice would need a recording."""
        yield Sample("says(help)", {"sound": np.zeros(8_000, np.int16)}, False)
        yield Sample('says("please help")', {"sound": np.zeros(8_000, np.int16)}, False)


def _words(phrase: str) -> tuple[str, ...]:
    return tuple(word.lower().replace("’", "'") for word in _WORD.findall(phrase))


def _within(words: tuple[str, ...], said: Sequence[str]) -> bool:
    count = len(words)
    return any(tuple(said[at : at + count]) == words for at in range(len(said) - count + 1))
