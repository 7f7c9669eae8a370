"""What indexes, planners and settings would have cost on a sample of history, and which to use."""

from __future__ import annotations

from tamis.advising.advice import Advice, Budget, advise

__all__ = ["Advice", "Budget", "advise"]
