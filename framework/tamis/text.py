"""How names, strings and numbers are written in canonical text."""

from __future__ import annotations

import json
import re

from tamis.values import Scalar, canonical_number

RESERVED = frozenset(
    {"and", "or", "not", "in", "between", "starts", "ends", "with", "contains", "matches"}
    | {"has", "any", "all", "none", "exists", "true", "false", "null"}
)
NAME = r"[^\W\d][\w.]*"
WORD = r"\w[\w.]*"
_NAME = re.compile(NAME)
_WORD = re.compile(WORD)


def is_bare_name(letters: str) -> bool:
    """Whether the letters can stand as a name without backticks or quotes."""
    return _NAME.fullmatch(letters) is not None and letters.lower() not in RESERVED


def marked_text(sigil: str, name: str) -> str:
    """A variable (`?name`) or a marked attribute (`$name`); keywords need no backticks there."""
    plain = (_WORD if sigil == "?" else _NAME).fullmatch(name) is not None
    return sigil + (name if plain else _in_backticks(name))


def name_text(name: str) -> str:
    """A name, in backticks where it needs them."""
    if is_bare_name(name):
        return name
    return _in_backticks(name)


def _in_backticks(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def quoted(value: str) -> str:
    """A string in double quotes."""
    return json.dumps(value, ensure_ascii=False)


def constant_text(value: Scalar, *, bare: bool = False) -> str:
    """A constant; with `bare`, a string whose letters are a name stands without quotes."""
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return value if bare and is_bare_name(value) else quoted(value)
    return repr(canonical_number(value))
