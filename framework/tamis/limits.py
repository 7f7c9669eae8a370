"""How large a subscription and an answer may be; every number is a setting."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tamis.errors import TamisError


@dataclass(frozen=True)
class Limits:
    """The bounds within which nothing overflows and beyond which an error says so."""

    text_bytes: int = 64 * 1024
    set_members: int = 10_000
    pattern_letters: int = 4_096
    depth: int = 200
    terms: int = 1_000
    alternatives: int = 1_024
    integer_digits: int = 1_000
    assignments: int = 1_000
    solutions: int = 100_000
    join_steps: int = 200_000
    implications: int = 1_000_000

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise TamisError(f"the limit {limit.name} is a whole number above 0, not {value!r}")


DEFAULT_LIMITS = Limits()
