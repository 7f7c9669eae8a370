"""Writes names, strings and numbers in canonical text."""

from __future__ import annotations

import json
import re

from tamis.language.values import Scalar, canonical_number

BOOLEANS = {"true": True, "false": False}
RESERVED = frozenset(
    {"and", "or", "not", "in", "between", "starts", "ends", "with", "contains", "matches"}
    | {"has", "any", "all", "none", "exists", "null", *BOOLEANS}
)
# Vowel signs and accents that no letter contains (categories Mn and Mc): `re` does not count them.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7"
    r"\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3"
    r"\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0963\u0981-\u09e3\u09fe-\u0a75"
    r"\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d"
    r"\u0d57-\u0d63\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u0f18-\u0f19\u0f35"
    r"\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f"
    r"\u1712-\u1734\u1752-\u17d3\u17dd\u180b-\u180d\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f"
    r"\u1ab0-\u1abd\u1abf-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2"
    r"\u1cd4-\u1dff\u20d0-\u20dc\u20e1\u20e5-\u20f0\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f"
    r"\u3099-\u309a\ua66f\ua674-\ua67d\ua69e-\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5"
    r"\ua8e0-\ua8f1\ua8ff-\ua92d\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1"
    r"\uaaeb-\uaaef\uaaf5-\uaaf6\uabe3-\uabea\uabec-\uabed\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f"
)
LETTER = rf"[\w.{_MARKS}]"
NAME = rf"[^\W\d]{LETTER}*+"
WORD = rf"\w{LETTER}*+"
_NAME = re.compile(NAME)
_WORD = re.compile(WORD)


def is_bare_name(letters: str) -> bool:
    """Returns whether the letters can stand as a name without backticks or quotes."""
    return _NAME.fullmatch(letters) is not None and letters.lower() not in RESERVED


def marked_text(sigil: str, name: str) -> str:
    """Writes a variable (`?name`) or marked attribute (`$name`), keywords without backticks."""
    plain = (_WORD if sigil == "?" else _NAME).fullmatch(name) is not None
    return sigil + (name if plain else _in_backticks(name))


def name_text(name: str) -> str:
    """Returns a name, in backticks where it needs them."""
    if is_bare_name(name):
        return name
    return _in_backticks(name)


def _in_backticks(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def quoted(value: str) -> str:
    """Returns a string in double quotes."""
    return json.dumps(value, ensure_ascii=False)


def constant_text(value: Scalar, *, bare: bool = False) -> str:
    """Returns a constant; with `bare`, a string whose letters are a name stands without quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if bare and is_bare_name(value) else quoted(value)
    return repr(canonical_number(value))
