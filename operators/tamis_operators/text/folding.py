"""Folds texts, so that case, width and spacing say nothing, and finds where words begin and end.

Texts are folded by Unicode's compatibility caseless matching (NFKC and case folding), without
invisible characters, runs of white space as one space. A word is a run of letters, digits and
underscores with their marks; every other character stands by itself with its marks, and so do the
letters of scripts that are written without spaces. `marked` puts a sign between all of these, so
that one text holds another one, from the beginning of a word to the end of one, exactly when its
marked form contains the other's: what parts two letters is seen from the letters beside it.
Cost: O(text); the classes of characters are made once, in about 30 ms.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Iterable

SIGN = "\x1f"
"""White space to Python, so that no folded text has it."""
_WITHOUT_SPACES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3038, 0x303B),
    (0x3041, 0x30FF),  # Hiragana, Katakana
    (0x3105, 0x312F),  # Bopomofo
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA980, 0xA9FF),  # Javanese, Myanmar
    (0xAA60, 0xAADF),  # Myanmar, Tai Viet
    (0xF900, 0xFAFF),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFF),
)
_VARIATIONS = ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))


def folded(text: str) -> str:
    """Returns the text as it is compared."""
    if not text.isascii():
        text = unicodedata.normalize("NFD", _invisible().sub("", text)).casefold()
        text = unicodedata.normalize("NFKC", text).casefold()
        text = unicodedata.normalize("NFKC", text)
        return " ".join(_invisible().sub("", text).split())
    return " ".join(text.lower().split())


def marked(text: str) -> str:
    """Returns a folded text with the sign before, between and after its words."""
    return SIGN + SIGN.join(_words().findall(text)) + SIGN if text else SIGN


@functools.cache
def _words() -> re.Pattern[str]:
    alone = _class_of(_WITHOUT_SPACES)
    marks = _class_of(_runs("Mn", "Mc", "Me"))
    joined = rf"(?:(?![{alone}])\w[{marks}]*)+"
    return re.compile(rf"{joined}|.[{marks}]*", re.DOTALL)


@functools.cache
def _invisible() -> re.Pattern[str]:
    return re.compile(f"[{_class_of((*_runs('Cf'), *_VARIATIONS))}]")


def _runs(*categories: str) -> list[tuple[int, int]]:
    """Returns the ranges of the characters of some categories."""
    runs: list[tuple[int, int]] = []
    for code in (*range(0x20000), *range(0xE0000, 0xE0200)):
        if unicodedata.category(chr(code)) in categories:
            if runs and runs[-1][1] == code - 1:
                runs[-1] = (runs[-1][0], code)
            else:
                runs.append((code, code))
    return runs


def _class_of(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"\\U{first:08x}-\\U{min(last, sys.maxunicode):08x}" for first, last in ranges)
