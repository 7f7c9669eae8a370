"""Says where rules of one's own are, and which attributes of events they read.

Plain values that travel to another process; the digest is of what the files hold.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tamis import OperatorError

ENVIRONMENT = "TAMIS_RULES"
HOW = f"set {ENVIRONMENT} to files of rules, or pass reasoner.operators(rules=…)"
ATTRIBUTE = ("attribute", 2)
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|%[^\n]*')
_READ = re.compile(r'\battribute\s*\(\s*(?:"((?:[^"\\\n]|\\.)*)"|([a-z][A-Za-z0-9_]*))\s*,')


@dataclass(frozen=True)
class Rules:
    """Files of rules, and the attributes that they name."""

    paths: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    digest: str = ""
    seconds: float | None = None
    """The seconds that an evaluation may take."""


def rules_of(
    rules: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None, seconds: float | None
) -> Rules:
    """Returns the rules of some files, those of the environment where none are given."""
    if rules is None:
        told = os.environ.get(ENVIRONMENT, "")
        rules = [path for path in told.split(os.pathsep) if path]
    elif isinstance(rules, (str, os.PathLike)):
        rules = [rules]
    elif not isinstance(rules, Iterable):
        raise OperatorError(f"rules are a file, or several, not {rules!r:.80}")
    paths = tuple(os.path.abspath(os.fspath(each)) for each in rules)
    texts = [_text(path) for path in paths]
    names = {
        quoted.replace('\\"', '"').replace("\\\\", "\\") or plain
        for text in texts
        for quoted, plain in _READ.findall(_COMMENT.sub(r"\1", text))
    }
    digest = hashlib.sha256(repr((texts, seconds)).encode("utf-8", "replace")).hexdigest()[:12]
    return Rules(paths, tuple(sorted(names - {"facts"})), digest, seconds)


def _text(path: str) -> str:
    """Reads a file; one that cannot be read is reported when it is needed."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def texts_in(rules: Rules) -> list[tuple[str, str]]:
    """Returns the text and the name of each file; `OperatorError` where one cannot be read."""
    try:
        return [(Path(path).read_text(encoding="utf-8"), path) for path in rules.paths]
    except (OSError, ValueError) as problem:
        raise OperatorError(f"the rules cannot be read: {problem}") from None
