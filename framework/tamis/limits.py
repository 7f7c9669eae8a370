"""Bounds subscriptions, answers and waiting times, all as settings."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tamis.errors import TamisError


@dataclass(frozen=True)
class Limits:
    """The limits of subscriptions, answers and waiting; an error says which one is exceeded."""

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
    start_seconds: int = 60
    """The time for a worker process to start and to make an operator."""
    queue_seconds: int = 60
    """The time for a call to wait for a free worker process."""
    failures_in_a_row: int = 5
    """Calls that are late, crash or use too much memory before an operator is paused."""
    pause_seconds: int = 1
    longest_pause_seconds: int = 300
    """The longest pause; each one is twice as long as the last."""
    slow_event_seconds: int = 1
    """An event that takes longer is logged, with its slowest part."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise TamisError(f"the limit {limit.name} is a whole number above 0, not {value!r}")


@dataclass(frozen=True)
class Budget:
    """Bounds the spending on an event: expected seconds of operators, and their `cost`."""

    seconds: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        for what in fields(self):
            value = getattr(self, what.name)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if value is not None and not (is_number and value >= 0):
                raise TamisError(f"{what.name} of a budget is a number from 0, not {value!r}")


DEFAULT_LIMITS = Limits()


def checked_limits(limits: object) -> Limits:
    """Returns the limits, or raises `TamisError`."""
    if not isinstance(limits, Limits):
        raise TamisError(f"limits are a tamis.Limits, not {limits!r:.80}")
    return limits
