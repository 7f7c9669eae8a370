"""What moved between two statistics, and whether chance alone would have moved it as far."""

from __future__ import annotations

from tamis.drifting.drift import Drift, Moved, drift

__all__ = ["Drift", "Moved", "drift"]
