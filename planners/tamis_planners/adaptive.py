"""Which call is next, by what every outcome so far has left to gain: planners that score calls.

What depends on a problem alone is prepared once for it, its shape even when expectations change.
Kernels are imported with the first problem. Cost: see `adaptive_run`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tamis.planning import Problem, Run

if TYPE_CHECKING:
    from tamis_planners.adaptive_run import Prepared


class Adaptive:
    """A planner that scores calls; whether alternatives have weights makes its kind."""

    weighted: bool

    def __init__(self) -> None:
        self._prepared: Prepared | None = None

    def begin(self, problem: Problem) -> Run:
        """Starts on the problem of one event."""
        known = self._prepared
        if known is None or known.problem is not problem:
            from tamis_planners.adaptive_run import Prepared

            known = self._prepared = Prepared(problem, self.weighted, known)
        return known.run()
