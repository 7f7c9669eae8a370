"""Speaks for commands: data to standard output, sentences to standard error."""

from __future__ import annotations

import contextlib
import sys

from tamis.words import agreed, counted


def put(text: str) -> None:
    """Writes text for people; what could steer a terminal is shown, not sent."""
    print(_shown(text))


def put_json(value: object) -> None:
    """Writes JSON for programs, in UTF-8 whatever the terminal speaks."""
    from tamis.files.writing import json_bytes

    sys.stdout.flush()
    sys.stdout.buffer.write(json_bytes(value, indent=2))


def say(sentence: str) -> None:
    """Tells people something, whether or not they still listen."""
    with contextlib.suppress(OSError, ValueError):
        print(_shown(sentence), file=sys.stderr, flush=True)


def say_rejects(rejected: int, first: str, *, kept: bool) -> None:
    """Tells what became of lines that hold no event."""
    if rejected:
        lines = f"{counted(rejected, 'line')} {agreed(rejected, 'holds', 'hold')} no event"
        hint = "" if kept else f" (--rejects FILE keeps {agreed(rejected, 'it', 'them')})"
        say(f"note: {lines}{hint}{agreed(rejected, ':', ', the first of them')} {first}")


def _shown(text: str) -> str:
    """Returns the text with a mark for each letter that cannot be shown."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter in "\n\t" or letter.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for letter in text
    )
