"""Writes values as JSON that is the same for equal ones, and hashes the entries of a commit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical(value: object) -> str:
    """Returns a value as JSON that is the same for equal values."""
    return _ENCODER.encode(value)


def hash_of(
    before: bytes,
    first: int,
    at: float,
    kinds: Iterable[str],
    ids: Iterable[str],
    born: Sequence[int],
    bodies: Iterable[str],
) -> bytes:
    """Returns the hash of the entries of one commit, which holds that of all before it."""
    births = map(str, born) if any(born) else ["0"] * len(born)  # events alone have none
    columns = map("\n".join, (kinds, births, ids, bodies))
    text = "\n".join((f"{first} {at.hex()}", *columns))
    return hashlib.sha256(before + text.encode()).digest()
