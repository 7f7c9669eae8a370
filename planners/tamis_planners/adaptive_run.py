"""Prepares a problem for an adaptive planner, and leads it through one event.

Every run but the first copies what outcomes change. What is known is read with the next question,
so that a call takes one kernel. Invariant: no two runs write the same arrays.
Cost: O(edges) to prepare a problem, a copy to begin an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tamis.kit import Floats
from tamis.planning import DECIDED, KNOWN, Problem, Progress, Scenes
from tamis_planners.adaptive_form import CHANGING, INTERPRETED, PlannerForm, views_again
from tamis_planners.adaptive_scenes import Belief, Likelihood
from tamis_planners.adaptive_shape import FIXED, ProblemShape, has_same_shape, shape_of
from tamis_planners.adaptive_state import (
    AT_ONCE,
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
    OPEN,
    OWN,
    OWNER,
    PRICE,
    SURVIVAL,
    UNIT,
    WEIGHTED,
    WorthState,
    benefit,
)

_FREE_OF_COST = 1e-9


class PreparedProblem:
    """A problem made ready: good for every event that has the same problem."""

    def __init__(
        self, problem: Problem, weighted: bool, form: PlannerForm, before: PreparedProblem | None
    ) -> None:
        self.problem = problem
        self._form = form
        is_known = before is not None and has_same_shape(before.problem, problem)
        self.shape: ProblemShape = before.shape if before and is_known else shape_of(problem, form)
        self._likelihood = None if problem.scenes is None else Likelihood(problem.scenes)
        expected = problem.test_selectivity
        if self._likelihood is not None:
            expected = self._likelihood.mixture
        self._expected, self._weighted = expected, weighted
        self._first = [self._opened()]
        """The state of the first run: most problems are those of one event."""
        self._copied: tuple[WorthState, Any] | None = None
        """The state that later runs copy."""

    def _opened(self) -> tuple[WorthState, Any]:
        state = opened(self.problem, self.shape, self._expected, self._weighted)
        handle = self._form.handle(state)
        self._form.weigh_all(handle)
        return state, handle

    def run(self) -> AdaptiveRun:
        """Returns a run for one event."""
        try:
            state, handle = self._first.pop()
        except IndexError:
            state, handle = self._copy()
        return AdaptiveRun(state, handle, self._likelihood, self._form)

    def _copy(self) -> tuple[WorthState, Any]:
        """Returns the state before anything is known of an event, once more."""
        before, handle = self._copied = self._copied or self._opened()
        arrays: list[Any] = [*before]
        for at in CHANGING:
            arrays[at] = arrays[at].copy()
        state = WorthState._make(arrays)
        form = self._form
        return state, form.handle(state) if form.is_compiled else views_again(handle, state)


def opened(
    problem: Problem, shape: ProblemShape, selectivity: Floats, weighted: bool
) -> WorthState:
    """Returns the state before anything is known, without weights."""
    alternatives, tests = len(problem.alternative_key), len(problem.test_call)
    calls, units = len(problem.call_cost), shape.units
    state = WorthState(
        **{name: getattr(shape, name) for name in FIXED},
        alternatives=np.zeros((alternatives, 9), np.int32),
        calls=np.zeros((calls, 8), np.int32),
        units=np.zeros((units, 4), np.int32),
        siblings=np.bincount(problem.alternative_subscription).astype(np.int32),
        stage=np.zeros(len(shape.needs) - 1, np.int8),
        known=np.zeros(tests, np.int8),
        numbers=np.zeros(9, np.int64),
        selectivity=np.array(selectivity, np.float64),
        ends=np.zeros(len(shape.needs) - 1),
        weights=np.zeros((alternatives, 5)),
        worth=np.zeros((calls, 6)),
        prices=np.zeros((units, 2)),
        key=np.full(units, NEVER),
        best=np.full(-(-units // BLOCK), NEVER),
        sums=np.zeros(2),
        ordered=np.zeros((shape.widest + 1, 3)),
        ended=np.zeros(2 * tests),
        picks=np.empty(calls, np.int64),
        **_named(_nothing_known(0, 0)),
    )
    state.numbers[WEIGHTED] = weighted
    state.numbers[IMPLYING] = len(problem.implications) > 0
    state.calls[problem.test_call[problem.implications[:, 2]], IMPLICABLE] = 1
    state.alternatives[:, OWNER] = problem.alternative_subscription
    state.alternatives[:, FREE] = ~problem.alternative_binds
    state.alternatives[:, OPEN] = 1
    state.alternatives[:, LEFT] = np.diff(shape.need_start)
    state.calls[:, NEEDED] = np.diff(shape.call_needs[: calls + 1])
    _set_costs(problem, shape, state)
    return state


def _nothing_known(tests: int, alternatives: int) -> Progress:
    """Returns the progress of an event of which nothing is known."""
    known, outcome = np.empty((2, tests), np.int32)
    return Progress(known, outcome, np.empty(alternatives, np.int32), np.zeros(2, np.int64))


def _named(progress: Progress) -> dict[str, Any]:
    """Returns progress as the fields of a state."""
    return {f"progress_{name}": array for name, array in progress._asdict().items()}


def _set_costs(problem: Problem, shape: ProblemShape, state: WorthState) -> None:
    """Costs of calls and prices of units; what is paid together only where that saves."""
    calls, batches = len(state.calls), shape.batches
    dearest = max(problem.call_cost.max(initial=0.0), problem.group_price.max(initial=0.0))
    least = _FREE_OF_COST * dearest if dearest > 0.0 else 1.0
    cost = np.maximum(problem.call_cost, least)
    state.worth[:, COST] = state.worth[:, OWN] = cost
    state.worth[:, SURVIVAL] = -1.0
    state.worth[:, FAILURE] = problem.call_failure
    state.calls[:, BATCH] = state.calls[:, GROUP] = -1
    state.calls[:, UNIT] = np.arange(calls)
    if batches:
        marginal = np.clip(problem.call_marginal, least, cost)
        batched = np.flatnonzero(problem.call_batch >= 0)
        batch = problem.call_batch[batched]
        saves = np.bincount(batch, (marginal < cost)[batched], batches) > 0
        worthwhile, batch = batched[saves[batch]], batch[saves[batch]]
        state.worth[worthwhile, OWN] = marginal[worthwhile]
        state.calls[worthwhile, BATCH] = batch
        state.calls[worthwhile, UNIT] = calls + batch
    if len(state.units) > calls + batches:
        prices: Floats = problem.group_price[: len(state.units) - calls - batches]
        state.prices[calls + batches :, PRICE] = prices
        grouped = np.flatnonzero(problem.call_group >= 0)
        priced = grouped[prices[problem.call_group[grouped]] > 0.0]
        state.calls[priced, GROUP] = calls + batches + problem.call_group[priced]
        state.calls[priced, UNIT] = state.calls[priced, GROUP]


class AdaptiveRun:
    """One event being decided."""

    def __init__(
        self, state: WorthState, handle: Any, likelihood: Likelihood | None, form: PlannerForm
    ) -> None:
        self._form = form
        self._state = state
        self._handle = handle
        self._picks = state.picks.data
        self._belief = None if likelihood is None else Belief(likelihood, form)
        self._told: ToldProgress | None = None

    def next(self, limit: int) -> Sequence[int]:
        if self._belief is not None:
            self._belief.hear(self._state, self._handle)
        picked = self._form.advance(self._handle, limit)
        return self._picks[:picked].tolist()

    def read(self, progress: Progress) -> None:
        self._state.numbers[AT_ONCE] = 1
        self._read(progress)

    def _read(self, progress: Progress) -> None:
        self._state = self._state._replace(**_named(progress))
        self._handle = self._form.reading(self._handle, progress)

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None:
        if self._told is None:
            self._told = ToldProgress(len(self._state.known), len(self._state.alternatives))
            self._read(self._told.progress)
        self._told.take(tests, outcomes, decided)

    def score(self, call: int) -> float:
        """Returns the benefit of a call for its cost, as it is now."""
        state = INTERPRETED.handle(self._state)
        return benefit(state, call) / float(state.worth[call, COST])


class ToldProgress:
    """Lists what a run is told by who has no lists for it to read."""

    def __init__(self, tests: int, alternatives: int) -> None:
        self.progress = _nothing_known(tests, alternatives)
        self._tests: set[int] = set()
        self._alternatives: set[int] = set()

    def take(self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]) -> None:
        """Takes what is new; of a test the first outcome counts."""
        known, outcome_of, ended, counts = self.progress
        for test, outcome in zip(tests, outcomes, strict=True):
            if test not in self._tests:
                known[len(self._tests)], outcome_of[test] = test, outcome
                self._tests.add(test)
        for alternative in decided:
            if alternative not in self._alternatives:
                ended[len(self._alternatives)] = alternative
                self._alternatives.add(alternative)
        counts[KNOWN], counts[DECIDED] = len(self._tests), len(self._alternatives)


def exercise(form: PlannerForm) -> None:
    """Does with a form what is ever done with it, so that it is compiled."""
    one, none, half = np.zeros(1, np.int64), np.full(1, -1), np.full(1, 0.5)
    problem = Problem(
        alternative_key=one,
        alternative_subscription=one,
        alternative_binds=np.zeros(1, np.bool_),
        alternative_start=np.arange(2),
        edge_test=one,
        edge_sign=np.ones(1, np.int8),
        test_call=one,
        test_selectivity=half,
        call_cost=half,
        call_failure=np.zeros(1),
        call_group=none,
        group_price=np.zeros(0),
        call_batch=none,
        call_marginal=half,
        implications=np.zeros((0, 4), np.int64),
        scenes=Scenes(np.ones(1), np.full((1, 1), 0.5)),
    )
    run = PreparedProblem(problem, True, form, None).run()
    run.next(1)
    run.observe([0], [1], [])
    run.next(1)
