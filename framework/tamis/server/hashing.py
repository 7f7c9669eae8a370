"""Writes values as JSON that is the same for equal ones, and hashes the entries of a commit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from itertools import chain

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical(value: object) -> str:
    """A value as JSON that is the same for equal values."""
    return _ENCODER.encode(value)


def hash_of(
    before: bytes,
    first: int,
    at: float,
    kinds: Iterable[str],
    ids: Iterable[str],
    born: Iterable[int],
    bodies: Iterable[str],
) -> bytes:
    """The hash of the entries of one commit, which holds that of all before it."""
    columns = "\n".join(chain((f"{first} {at.hex()}",), kinds, map(str, born), ids, bodies))
    return hashlib.sha256(before + columns.encode()).digest()
