"""How large a subscription and an answer may be; every number is a setting."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The bounds within which nothing overflows and beyond which an error says so."""

    text_bytes: int = 64 * 1024
    set_members: int = 10_000
    depth: int = 200
    terms: int = 1_000
    alternatives: int = 1_024
    integer_digits: int = 1_000
    assignments: int = 1_000
    solutions: int = 100_000
    join_steps: int = 200_000


DEFAULT_LIMITS = Limits()
