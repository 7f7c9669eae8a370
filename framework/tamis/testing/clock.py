"""Offers a clock that tests move."""

from __future__ import annotations


class FakeClock:
    """A clock that moves when it is told to, for `Matcher(clock=…, timer=…)`.

    >>> from tamis import Matcher
    >>> clock = FakeClock()
    >>> matcher = Matcher(clock=clock)
    >>> matcher.subscribe("altitude < 400", id="s1", validity=60)
    's1'
    >>> clock.advance(60)
    >>> len(matcher)
    0

    An operator that advances the clock of `timer` has taken that long.
    """

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Returns the time."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Lets time pass; a clock never goes back."""
        if not seconds >= 0:
            raise ValueError(f"a clock advances by seconds of 0 or more, not {seconds!r}")
        self.now += seconds

    def __repr__(self) -> str:
        return f"<clock at {self.now}>"
