"""What is known of predicates, from history and from what this process has seen."""

from __future__ import annotations

from tamis.statistics.history import PRIOR_SELECTIVITY, Statistics
from tamis.statistics.predicates import PredicateStatistics

__all__ = ["PRIOR_SELECTIVITY", "PredicateStatistics", "Statistics"]
