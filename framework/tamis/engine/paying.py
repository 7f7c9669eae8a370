"""Pays for the calls about one event, and ends it at the first call that cannot be paid.

Prices are those that are expected when the event begins; a call is paid before it is made, and its
preparation with the first call that needs it. Which calls are wanted never depends on what is left.
Invariant: calls are paid in the order in which they are asked for, and none is skipped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tamis.calling.event_calls import EventCalls
from tamis.engine.problem import Skeleton
from tamis.errors import TamisError
from tamis.limits import Budget
from tamis.operators.specification import Preparation

BUDGET, DEADLINE = "budget", "deadline"
_LONGEST_SECONDS = 1_000_000


def checked_seconds(seconds: object) -> float | None:
    """Returns a deadline in seconds, `TamisError` where it is no such number."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds >= 0:
        raise TamisError(f"deadline_seconds is a number from 0, not {seconds!r}")
    return float(seconds) if seconds < _LONGEST_SECONDS else None


def checked_budget(budget: object) -> Budget | None:
    """Returns a budget, `TamisError` where it is none."""
    if budget is not None and not isinstance(budget, Budget):
        raise TamisError(f"budget is a tamis.Budget(seconds=…, cost=…), not {budget!r:.80}")
    return budget


class Purse:
    """The rest of an event's budget, in seconds and in cost."""

    def __init__(self, skeleton: Skeleton, budget: Budget | None, event_calls: EventCalls) -> None:
        self._skeleton = skeleton
        budget = budget or Budget()
        self._seconds = math.inf if budget.seconds is None else float(budget.seconds)
        self._cost = math.inf if budget.cost is None else float(budget.cost)
        self._event_calls = event_calls
        self.prepared: set[Preparation] = set()
        """The preparations that are paid."""

    def pay(self, calls: Sequence[int]) -> tuple[Sequence[int], str | None]:
        """Pays for calls; returns those that are paid, and what ends the event before the rest."""
        if self._event_calls.seconds_left == 0.0:
            return (), DEADLINE
        batches: set[int] = set()
        for place, call in enumerate(calls):
            if not self._pay(call, batches):
                return calls[:place], BUDGET
        return calls, None

    def _pay(self, call: int, batches: set[int]) -> bool:
        seconds, cost = self.price(call, batches)
        if seconds > self._seconds or cost > self._cost:
            return False
        self._seconds -= seconds
        self._cost -= cost
        return True

    def price(self, call: int, batches: set[int]) -> tuple[float, float]:
        """Returns the expected seconds and cost of a call, with what has to be prepared for it."""
        problem, specification = self._skeleton.problem, self._skeleton.calls[call].specification
        batch, group = int(problem.call_batch[call]), int(problem.call_group[call])
        seconds, cost = float(problem.call_cost[call]), specification.cost
        if batch >= 0:
            if batch in batches:
                seconds = float(problem.call_marginal[call])
                cost = cost if specification.marginal_cost is None else specification.marginal_cost
            batches.add(batch)
        cost *= 1.0 + specification.retries * float(problem.call_failure[call])
        if group >= 0:
            chain = specification.preparations
            unpaid = [each for each in chain if each not in self.prepared]
            self.prepared.update(unpaid)
            declared = sum(each.cost_seconds for each in chain)
            part = sum(each.cost_seconds for each in unpaid) / declared if declared else 1.0
            seconds += part * float(problem.group_price[group]) if unpaid else 0.0
            cost += sum(each.cost for each in unpaid)
        return seconds, cost
