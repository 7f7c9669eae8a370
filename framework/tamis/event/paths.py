"""Tells what an input of an event is: the path of a file, an address, or the content itself.

Reading and remembering inputs both go by `form_of`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

SOURCES = ("image", "facts", "sound")
"""The inputs that may be the path of a file."""
CONTENT, FILE, ADDRESS = "content", "file", "address"
_RDF_FILES = (".ttl", ".nt", ".rdf", ".owl", ".xml", ".jsonld", ".json")
_NO_PATH = re.compile(r"[\r\n#<>\"]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def form_of(name: str, value: object) -> str:
    """Returns the form of an input of this name: a file's path, an address that may hold something
    else each time, or the content itself."""
    if not isinstance(value, str) or not value or name not in SOURCES:
        return CONTENT
    if value[:5].lower() == "data:" or not _MAY_BE[name](value):
        return CONTENT
    return ADDRESS if is_address(value) else FILE


def is_address(path: str) -> bool:
    """Returns whether a path is an address, with a scheme before it."""
    return _SCHEME.match(path) is not None


def is_facts_path(facts: str) -> bool:
    """Returns whether facts are the path of an RDF file, and not Turtle text.

    A path is one line that ends as RDF files do, without `#`, `<`, `>` and `"`. Turtle never is:
    but for a comment it ends in a period or in `>`."""
    return facts.lower().endswith(_RDF_FILES) and _NO_PATH.search(facts) is None


def is_sound_path(sound: str) -> bool:
    """Returns whether a sound is the path of a WAV file, and no attribute of that name."""
    return sound.lower().endswith(".wav")


_MAY_BE: dict[str, Callable[[str], bool]] = {
    "image": bool,
    "facts": is_facts_path,
    "sound": is_sound_path,
}
