"""Holds an event that is being matched, until it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tamis.engine.deciding import Underway
from tamis.engine.decision import Decision
from tamis.engine.stages import StageClock
from tamis.result.result import Result, ResultParts


@dataclass
class PendingResult:
    """An event that is being matched."""

    ended: Callable[[ResultParts, StageClock, Decision | None], Result]
    seen: ResultParts
    stages: StageClock
    underway: Underway | None
    """`None` where no operator is asked."""

    def resume(self) -> None:
        """Counts time for this event again, after work on others."""
        self.stages.restart()

    def end(self) -> Result:
        """Learns from it once it is decided, and makes its result."""
        decision = None if self.underway is None else self.underway.decision
        return self.ended(self.seen, self.stages, decision)
