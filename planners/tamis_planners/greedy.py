"""Asks for the call that is expected to end most alternatives for its cost.

The adaptive greedy rule for shared filters (Munagala, Srivastava, Widom, PODS 2007): the largest
(1-p)·(open alternatives that need it)/cost. Cost: see `adaptive_run`.
"""

from __future__ import annotations

from tamis_planners.adaptive import Adaptive


class Greedy(Adaptive):
    """Counts alternatives, whatever they would cost."""

    weighted = False
