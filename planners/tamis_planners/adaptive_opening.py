"""Opens the state of an event for adaptive planners: nothing is known, and all is weighed.

Cost: O(edges).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.kit import Flags, Floats, Ints, portable
from tamis.planning import Problem, Progress
from tamis_planners.adaptive_shape import FIXED, ProblemShape
from tamis_planners.adaptive_state import (
    BATCH,
    BLOCK,
    COST,
    FAILURE,
    FREE,
    GROUP,
    IMPLICABLE,
    IMPLYING,
    LEFT,
    NEEDED,
    NEVER,
    OWN,
    OWNER,
    PAID,
    PRICE,
    SURVIVAL,
    UNIT,
    WEIGHTED,
    WorthState,
)

if TYPE_CHECKING:
    from tamis_planners.adaptive_form import PlannerForm

_FREE_OF_COST = 1e-9


def opened(
    problem: Problem, shape: ProblemShape, selectivity: Floats, weighted: bool, form: PlannerForm
) -> tuple[WorthState, Any]:
    """Returns the state before anything is known, and what the functions of a form take for it."""
    alternatives, tests = len(problem.alternative_key), len(problem.test_call)
    calls, units, needs = len(problem.call_cost), shape.units, len(shape.needs) - 1
    state = WorthState(
        **{name: getattr(shape, name) for name in FIXED},
        alternatives=np.zeros((alternatives, 8), np.int32),
        calls=np.zeros((calls, 8), np.int32),
        units=np.zeros((units, 4), np.int32),
        siblings=np.empty(len(problem.owned) - 1 - alternatives, np.int32),
        undecided=np.ones(alternatives, np.int8),
        stage=np.zeros(needs, np.int8),
        known=np.zeros(tests, np.int8),
        numbers=np.zeros(9, np.int64),
        selectivity=np.array(selectivity, np.float64),
        ends=np.empty(needs),
        weights=np.empty((alternatives, 5)),
        worth=np.empty((calls, 6)),
        prices=np.zeros((units, 2)),
        key=np.empty(units),
        best=np.empty(-(-units // BLOCK)),
        sums=np.zeros(2),
        ordered=np.empty((shape.widest + 1, 3)),
        ended=np.empty(2 * tests),
        picks=np.empty(calls, np.int64),
        **{f"progress_{name}": array for name, array in UNREAD._asdict().items()},
    )
    state.numbers[WEIGHTED] = weighted
    if len(problem.implications):
        state.numbers[IMPLYING] = 1
        state.calls[problem.test_call[problem.implications[:, 2]], IMPLICABLE] = 1
    given = (
        *(problem.alternative_subscription, problem.alternative_binds),
        *(problem.call_cost, problem.call_failure, problem.call_marginal),
        *(problem.call_group, problem.call_batch, problem.group_price),
    )
    handle = form.handle(tuple(state))
    form.open_all(handle, *map(form.view, given), shape.batches)
    form.weigh_all(handle)
    return state, handle


@portable
def open_all(
    state: WorthState,
    subscription: Ints,
    binds: Flags,
    cost: Floats,
    failure: Floats,
    marginal: Floats,
    group: Ints,
    batch: Ints,
    group_price: Floats,
    batches: int,
) -> None:
    """Fills in what nothing is known of; what is filled in is zero, or not yet looked at."""
    for alternative in range(len(state.alternatives)):
        state.alternatives[alternative, OWNER] = subscription[alternative]
        state.alternatives[alternative, FREE] = 0 if binds[alternative] else 1
        state.alternatives[alternative, LEFT] = (
            state.need_start[alternative + 1] - state.need_start[alternative]
        )
    for owner in range(len(state.siblings)):
        state.siblings[owner] = state.owned[owner + 1] - state.owned[owner]
    for unit in range(len(state.units)):
        state.key[unit] = NEVER
    for block in range(len(state.best)):
        state.best[block] = NEVER
    least = set_costs(state, cost, failure, group_price)
    if batches:
        set_batches(state, marginal, batch, batches, least)
    if len(state.units) > len(state.calls) + batches:
        set_groups(state, group, group_price, len(state.calls) + batches)


@portable
def set_costs(state: WorthState, cost: Floats, failure: Floats, group_price: Floats) -> float:
    """Sets what each call costs by itself; returns the least, as nothing is quite free."""
    dearest = 0.0
    for call in range(len(cost)):
        dearest = max(dearest, cost[call])
    for group in range(len(group_price)):
        dearest = max(dearest, group_price[group])
    least = _FREE_OF_COST * dearest if dearest > 0.0 else 1.0
    for call in range(len(cost)):
        state.worth[call, COST] = state.worth[call, OWN] = max(cost[call], least)
        state.worth[call, FAILURE] = failure[call]
        state.worth[call, SURVIVAL] = -1.0
        state.calls[call, NEEDED] = state.call_needs[call + 1] - state.call_needs[call]
        state.calls[call, BATCH] = state.calls[call, GROUP] = -1
        state.calls[call, UNIT] = call
    return least


@portable
def set_batches(
    state: WorthState, marginal: Floats, batch: Ints, batches: int, least: float
) -> None:
    """Makes calls parts of their batches where that saves anything."""
    calls = len(state.calls)
    for call in range(calls):
        if batch[call] >= 0 and max(marginal[call], least) < state.worth[call, COST]:
            state.units[calls + batch[call], PAID] = 1  # until all calls are looked at
    for call in range(calls):
        if batch[call] >= 0 and state.units[calls + batch[call], PAID]:
            cost = state.worth[call, COST]
            state.worth[call, OWN] = min(max(marginal[call], least), cost)
            state.calls[call, BATCH] = batch[call]
            state.calls[call, UNIT] = calls + batch[call]
    for unit in range(calls, calls + batches):
        state.units[unit, PAID] = 0


@portable
def set_groups(state: WorthState, group: Ints, group_price: Floats, first: int) -> None:
    """Sets the prices of preparations, and makes calls parts of those that have one."""
    for unit in range(first, len(state.units)):
        state.prices[unit, PRICE] = group_price[unit - first]
    for call in range(len(state.calls)):
        if group[call] >= 0 and group_price[group[call]] > 0.0:
            state.calls[call, GROUP] = state.calls[call, UNIT] = first + group[call]


def nothing_known(tests: int, alternatives: int) -> Progress:
    """Returns the progress of an event of which nothing is known."""
    known, outcome = np.empty((2, tests), np.int32)
    return Progress(known, outcome, np.empty(alternatives, np.int32), np.zeros(2, np.int64))


UNREAD = nothing_known(0, 0)
"""The progress of an event that is not read yet."""
