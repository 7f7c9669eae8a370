"""Recordings of people who speak, from packages of Debian: each with the words that are said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.fetching import all_fetched

_LINE = re.compile(r"(?:<s>)?(.*?)(?:</s>)?\s*\((\S+)\)\s*")
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_OTHERS = ("today", "tomorrow", "yesterday", "dollars", "hundred", "thousand", "million", "billion")


def telephone() -> Path:
    """The folder of what a telephone exchange says, by one voice, 8,000 samples a second."""
    place = all_fetched("debian", "asterisk-core-sounds-en-wav", ".wav")
    return place / "usr/share/asterisk/sounds/en_US_f_Allison"


def single_words() -> dict[Path, str]:
    """The recordings of it that are a single word."""
    digits = telephone() / "digits"
    named = {f"day-{at}": word for at, word in enumerate(_DAYS)}
    named |= {f"mon-{at}": word for at, word in enumerate(_MONTHS)}
    named |= {word: word for word in _OTHERS}
    return {digits / f"{name}.wav": word.lower() for name, word in named.items()}


def sentences(part: str) -> Iterator[tuple[Path, list[str]]]:
    """The recordings of `cards` or `librivox`, 16,000 samples a second, with their transcripts."""
    data = all_fetched("debian", "pocketsphinx-testdata", ".wav", "transcription")
    folder = data / "usr/share/pocketsphinx/test/data" / part
    (transcript,) = folder.glob("*transcription")
    for line in transcript.read_text(encoding="utf-8").splitlines():
        found = _LINE.fullmatch(line)
        assert found is not None, line
        yield folder / f"{found[2]}.wav", found[1].lower().split()
