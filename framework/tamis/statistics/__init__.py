"""Knows selectivities and costs of predicates, from history and from the stream.

Others may import what stands here, and from `answers`, `averages`, `costs`, `counting`, `folder`,
`follower`, `gathering`, `history`, `predicates`, `sample`, `shares`, `tables` and `values`.
"""

from __future__ import annotations

from tamis.statistics.history import PRIOR_SELECTIVITY, Statistics, checked_statistics
from tamis.statistics.predicates import PredicateStatistics

__all__ = ["PRIOR_SELECTIVITY", "PredicateStatistics", "Statistics", "checked_statistics"]
