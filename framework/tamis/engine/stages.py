"""Divides the time of a match into stages that add up to it.

Invariant: every moment since the clock was started, up to its last `end`, is counted to one stage,
but for those before a `restart`.
Cost: one look at the timer a stage.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from tamis.log import log

STAGES = ("index", "problem", "planner", "operators", "joins", "deciding", "learning")
"""In the order in which an event meets them: reading it and finding candidates; what they leave to
decide; which call is next; answers, prepared and remembered ones too; solutions that go together;
what answers decide; and what is learned from them."""


CallSeconds = Callable[[], Mapping[str, float]]


class StageClock:
    """Counts the time of one match."""

    def __init__(self, timer: Callable[[], float]) -> None:
        self.timer = timer
        self.last = timer()
        """The end of the last stage."""
        self.seconds = dict.fromkeys(STAGES, 0.0)

    def end(self, stage: str) -> None:
        """Counts the time since the last end to a stage."""
        now = self.timer()
        self.seconds[stage] += now - self.last
        self.last = now

    def add(self, stage: str, seconds: float) -> None:
        """Counts time that passed while several events were worked on."""
        self.seconds[stage] += seconds

    def restart(self) -> None:
        """Counts the time since the last end to no stage: others were worked on."""
        self.last = self.timer()

    def close(self, event: str, slow_seconds: float, call_seconds: CallSeconds | None) -> None:
        """Counts the rest to learning, and logs an event that took long: its longest stage, and of
        its calls, if it had any, the longest one."""
        self.end("learning")
        total = sum(self.seconds.values())
        if call_seconds is None or total <= slow_seconds or not log.isEnabledFor(logging.WARNING):
            return
        stage = max(self.seconds, key=self.seconds.__getitem__)
        reason = f"{self.seconds[stage]:.1f} s in the stage {stage}"
        calls = call_seconds()
        if stage == "operators" and calls:
            slowest = max(calls, key=calls.__getitem__)
            reason += f", of it {calls[slowest]:.1f} s for {slowest}"
        log.warning("event %s took %.1f s: %s", event, total, reason)
