"""Match a stream of events against very many subscriptions with the fewest operator calls."""

from tamis import index
from tamis.account import Account, OperatorAccount
from tamis.errors import (
    ArgumentError,
    EventError,
    IndexFolderError,
    NeverMatches,
    OperatorError,
    PlannerError,
    PluginError,
    PluginWarning,
    StatisticsError,
    SubscriptionError,
    SubscriptionErrors,
    SubscriptionWarning,
    TamisError,
    UnknownPlugin,
)
from tamis.event import DerivedAttribute, Event
from tamis.explain import Explanation
from tamis.hookspecs import hookimpl
from tamis.index.protocol import Index, IndexRecord
from tamis.limits import Limits
from tamis.matcher import Matcher
from tamis.planning import Planner, PlannerRecord, Problem, Run
from tamis.result import Match, Result
from tamis.specification import (
    Implication,
    Operator,
    OperatorRecord,
    Parameter,
    Preparation,
    Specification,
    Variable,
    operator,
)
from tamis.statistics import Statistics

__all__ = [
    "Account",
    "ArgumentError",
    "DerivedAttribute",
    "Event",
    "EventError",
    "Explanation",
    "Implication",
    "Index",
    "IndexFolderError",
    "IndexRecord",
    "Limits",
    "Match",
    "Matcher",
    "NeverMatches",
    "Operator",
    "OperatorAccount",
    "OperatorError",
    "OperatorRecord",
    "Parameter",
    "Planner",
    "PlannerError",
    "PlannerRecord",
    "PluginError",
    "PluginWarning",
    "Preparation",
    "Problem",
    "Result",
    "Run",
    "Specification",
    "Statistics",
    "StatisticsError",
    "SubscriptionError",
    "SubscriptionErrors",
    "SubscriptionWarning",
    "TamisError",
    "UnknownPlugin",
    "Variable",
    "hookimpl",
    "index",
    "operator",
]
