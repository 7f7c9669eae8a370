"""Says counts, times, lists and long texts in words, for whoever reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PASSWORD = re.compile(r"(://[^/@:\s]*:)[^@\s]+(?=@)|(password=)[^\s;,&]+")


def a(noun: str) -> str:
    """Returns the noun with its article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def plural(noun: str) -> str:
    """Returns the noun of several things."""
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def agreed(number: float, one: str, several: str) -> str:
    """Returns the word that agrees with a number of things: `was` or `were`."""
    return one if number == 1 else several


def counted(number: int, noun: str) -> str:
    """Returns a number of things: `1 error`, `2 errors`."""
    return f"{number:,} {agreed(number, noun, plural(noun))}"


def shortened(words: str, length: int) -> str:
    """Returns the words, cut where they are longer."""
    return words if len(words) <= length else words[: length - 1] + "…"


def listed(names: Sequence[str], most: int, between: str = ", ") -> str:
    """Returns the first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return between.join(names[:most]) + more


def duration(seconds: float) -> str:
    """Seconds in the unit that reads best."""
    if not 0 < seconds < 1:
        return f"{seconds:,.3g} s" if seconds < 1000 else f"{seconds:,.0f} s"
    for factor, unit in ((1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def without_passwords(text: str) -> str:
    """Returns a text without the passwords of the addresses in it.

    >>> without_passwords("dbms:path=postgresql://me:secret@host/db")
    'dbms:path=postgresql://me:…@host/db'
    >>> without_passwords("dbms:path=host=here password=secret user=me")
    'dbms:path=host=here password=… user=me'
    """
    return _PASSWORD.sub(lambda found: f"{found[1] or found[2]}…", text)
