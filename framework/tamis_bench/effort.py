"""How much is measured: what every section of `tamis bench planners` is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _quiet(words: str) -> None:
    """Says nothing."""


@dataclass(frozen=True)
class Effort:
    """The events of a row that has a goal, the workloads they are shared out among, and a size."""

    seed: int = 1
    scale: float = 1.0
    events: int = 100
    workloads: int = 2
    progress: Callable[[str], None] = _quiet

    def share(self, part: float) -> Effort:
        """A part of the events, in fewer workloads; at least one of each."""
        events = max(1, round(self.events * part))
        workloads = min(events, max(1, round(self.workloads * part)))
        return Effort(self.seed, self.scale, events, workloads, self.progress)

    def parts(self) -> list[tuple[int, int]]:
        """The workloads: the seed of each, and how many events it has."""
        count = min(self.workloads, self.events)
        return [
            (self.seed * 1_000 + number, self.events // count + (number < self.events % count))
            for number in range(count)
        ]
