"""Asks for the call that spares most of what deciding each alternative alone would cost.

The score of a call is the sum, over the open alternatives that need it, of the chance that it ends
one · R^1.6 · 0.75^(left - 1) for its cost, R the expected cost of deciding that alternative alone
from here and `left` how many of its calls are left. Cost: see `adaptive_run`.
"""

from __future__ import annotations

from tamis_planners.adaptive import Adaptive


class Savings(Adaptive):
    """Weighs alternatives by what they would cost alone."""

    weighted = True
