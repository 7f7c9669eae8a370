"""Matches a stream of events against very many subscriptions with the fewest operator calls.

What needs NumPy is imported when it is first used, so that `import tamis` is light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tamis.errors import (
    ArgumentError,
    DatabaseError,
    EventError,
    IndexFolderError,
    MatcherFolderError,
    ModelError,
    NeverMatches,
    OperatorError,
    PlannerError,
    PluginError,
    PluginWarning,
    PolicyStateError,
    ServerError,
    SparkError,
    StatisticsError,
    SubscriptionError,
    SubscriptionErrors,
    SubscriptionWarning,
    TamisError,
    Transient,
    UnknownPlugin,
    WrongOption,
)
from tamis.event import DerivedAttribute, Event
from tamis.event.types import EventType
from tamis.limits import Budget, Limits
from tamis.models import ModelFile, ModelRecord
from tamis.operators import Implication, Operator, OperatorRecord, Sample, operator
from tamis.operators.specification import (
    Parameter,
    Preparation,
    Resource,
    Specification,
    Variable,
)
from tamis.plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    from tamis import index, spark, testing
    from tamis.advising.shadow import Shadows
    from tamis.engine.forecasting import Forecast
    from tamis.indexing import Index, IndexRecord
    from tamis.matcher import Matcher
    from tamis.planning import Planner, PlannerRecord, Problem, Run
    from tamis.policy import Deliveries, Delivery
    from tamis.result import Match, Result
    from tamis.result.account import Account, OperatorAccount
    from tamis.result.explain import Explanation
    from tamis.result.plan import Plan
    from tamis.server.client import Client
    from tamis.statistics import Statistics

    __version__: str

_LAZY = {
    "Account": "result.account",
    "Client": "server.client",
    "Deliveries": "policy",
    "Delivery": "policy",
    "Explanation": "result.explain",
    "Forecast": "engine.forecasting",
    "Index": "indexing",
    "IndexRecord": "indexing",
    "Match": "result",
    "Matcher": "matcher",
    "OperatorAccount": "result.account",
    "Plan": "result.plan",
    "Planner": "planning",
    "PlannerRecord": "planning",
    "Problem": "planning",
    "Result": "result",
    "Run": "planning",
    "Shadows": "advising.shadow",
    "Statistics": "statistics",
}
_SUBMODULES = ("index", "spark", "testing")

__all__ = [
    "Account",
    "ArgumentError",
    "Budget",
    "Client",
    "DatabaseError",
    "Deliveries",
    "Delivery",
    "DerivedAttribute",
    "Event",
    "EventError",
    "EventType",
    "Explanation",
    "Forecast",
    "Implication",
    "Index",
    "IndexFolderError",
    "IndexRecord",
    "Limits",
    "Match",
    "Matcher",
    "MatcherFolderError",
    "ModelError",
    "ModelFile",
    "ModelRecord",
    "NeverMatches",
    "Operator",
    "OperatorAccount",
    "OperatorError",
    "OperatorRecord",
    "Parameter",
    "Plan",
    "Planner",
    "PlannerError",
    "PlannerRecord",
    "PluginError",
    "PluginWarning",
    "PolicyStateError",
    "Preparation",
    "Problem",
    "Resource",
    "Result",
    "Run",
    "Sample",
    "ServerError",
    "Shadows",
    "SparkError",
    "Specification",
    "Statistics",
    "StatisticsError",
    "SubscriptionError",
    "SubscriptionErrors",
    "SubscriptionWarning",
    "TamisError",
    "Transient",
    "UnknownPlugin",
    "Variable",
    "WrongOption",
    "hookimpl",
    "index",
    "operator",
    "spark",
    "testing",
]


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return importlib.import_module(f"tamis.{name}")
    if name == "__version__":
        value: object = importlib.import_module("importlib.metadata").version("tamis")
    elif name in _LAZY:
        value = getattr(importlib.import_module(f"tamis.{_LAZY[name]}"), name)
    else:
        raise AttributeError(f"module 'tamis' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
