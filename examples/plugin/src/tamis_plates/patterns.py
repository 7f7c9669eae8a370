"""Decides whether a plate that was read may be one that is looked for.

Cameras take O for 0 and B for 8: what is easily taken for one another is folded into one letter,
and spaces and hyphens do not count. In a pattern `?` is any one letter or digit, `*` any number.
Cost: the product of both lengths.
"""

from __future__ import annotations

ALIKE = str.maketrans("OQDILZSBG", "000112586")
LETTERS = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
LEAST_KNOWN = 2


class PatternError(ValueError):
    """A pattern that says too little, or has what no plate has, with the reason in one line."""


def folded(text: str) -> str:
    """What a plate, or a pattern, is compared by."""
    return "".join(text.upper().replace("-", " ").split()).translate(ALIKE)


def pattern_of(text: str) -> str:
    """A pattern as it is compared; `PatternError` where it is none."""
    pattern = folded(text)
    while "**" in pattern:
        pattern = pattern.replace("**", "*")
    odd = sorted(set(pattern) - LETTERS - {"?", "*"})
    if odd:
        raise PatternError(f"a plate has letters A to Z and digits, ? and *, not {odd[0]!r}")
    if sum(letter in LETTERS for letter in pattern) < LEAST_KNOWN:
        raise PatternError(f"a plate to look for has {LEAST_KNOWN} letters or digits at least")
    return pattern


def covers(pattern: str, other: str) -> bool:
    """Whether a pattern takes all that another one takes; a plate is a pattern that takes itself.

    Said only where it is certain: `?*` takes what `*?` takes, which this does not find."""
    at = mine = 0
    star, resumed = -1, 0  # the last * of the pattern, and where what it takes ends
    while at < len(other):
        if mine < len(pattern) and pattern[mine] == "*":
            star, resumed = mine, at
            mine += 1
        elif mine < len(pattern) and _takes(pattern[mine], other[at]):
            mine += 1
            at += 1
        elif star >= 0:
            resumed += 1
            mine, at = star + 1, resumed
        else:
            return False
    return all(letter == "*" for letter in pattern[mine:])


def _takes(letter: str, other: str) -> bool:
    return letter == other != "*" or (letter == "?" and other != "*")
