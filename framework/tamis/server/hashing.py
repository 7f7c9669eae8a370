"""Writes values as JSON that is the same for equal ones, and hashes the entries of a commit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical(value: object) -> str:
    """Returns a value as JSON that is the same for equal values."""
    return _ENCODER.encode(value)


def hash_of(
    before: bytes,
    first: int,
    at: float,
    kinds: Iterable[str],
    births: Iterable[str],
    ids: Iterable[str],
    bodies: Iterable[str],
) -> bytes:
    """Returns the hash of the entries of one commit, which holds that of all before it."""
    text = "\n".join([f"{first} {at.hex()}", *kinds, *births, *ids, *bodies])
    return hashlib.sha256(before + text.encode()).digest()
