"""Tells what indexes, planners and settings would have cost on a sample of history.

Others may import what stands here, and from `advice`, `chosen`, `drift` and `shadow`.
"""

from __future__ import annotations

from tamis.advising.advice import Advice, AdviceBounds, advise

__all__ = ["Advice", "AdviceBounds", "advise"]
