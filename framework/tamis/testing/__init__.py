"""Offers clocks, operators, strategies and laws, for tamis and its plugins.

Others may import what stands here, and from `conformance`.
"""

from tamis.testing.clause_strategies import clauses
from tamis.testing.clock import FakeClock
from tamis.testing.condition_strategies import conditions, subscriptions
from tamis.testing.conformance import OperatorConformance, check_operator
from tamis.testing.direct import satisfies
from tamis.testing.event_strategies import events
from tamis.testing.index_law import check_index, index_machine
from tamis.testing.lazily import hypothesis_profile
from tamis.testing.operators import (
    CountingOperator,
    TableOperator,
    counting,
    nonsense,
    raising,
    slow,
    truth_table,
)
from tamis.testing.planner_law import check_planner
from tamis.testing.pool import pool_operators

__all__ = [
    "CountingOperator",
    "FakeClock",
    "OperatorConformance",
    "TableOperator",
    "check_index",
    "check_operator",
    "check_planner",
    "clauses",
    "conditions",
    "counting",
    "events",
    "hypothesis_profile",
    "index_machine",
    "nonsense",
    "pool_operators",
    "raising",
    "satisfies",
    "slow",
    "subscriptions",
    "truth_table",
]
