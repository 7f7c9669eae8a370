"""Prepares a problem for an adaptive planner, and leads it through one event.

Every run but the first copies what outcomes change. What is known is read with the next question,
so that a call takes one kernel. Invariant: no two runs write the same arrays.
Cost: O(edges) to prepare a problem, a copy to begin an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tamis.planning import DECIDED, KNOWN, Problem, Progress, Scenes, smallest_problem
from tamis_planners.adaptive_form import CHANGING, INTERPRETED, PlannerForm, views_again
from tamis_planners.adaptive_opening import UNREAD, nothing_known, opened
from tamis_planners.adaptive_scenes import Belief, Likelihood
from tamis_planners.adaptive_shape import ProblemShape, has_same_shape, shape_of
from tamis_planners.adaptive_state import AT_ONCE, COST, WorthState, benefit


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
        return opened(self.problem, self.shape, self._expected, self._weighted, self._form)

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
        return state, form.handle(tuple(state)) if form.is_compiled else views_again(handle, state)


class AdaptiveRun:
    """One event being decided."""

    def __init__(
        self, state: WorthState, handle: Any, likelihood: Likelihood | None, form: PlannerForm
    ) -> None:
        self._form = form
        self._state = state
        self._handle = handle
        self._advance, self._picks = form.advance, state.picks.data
        self._belief = None if likelihood is None else Belief(likelihood, form)
        self._progress = UNREAD
        self._told: ToldProgress | None = None

    def next(self, limit: int) -> Sequence[int]:
        if self._belief is not None:
            self._belief.hear(self._state, self._progress, self._handle)
        picked = self._advance(self._handle, limit)
        return (self._picks[0],) if picked == 1 else self._picks[:picked].tolist()

    def read(self, progress: Progress) -> None:
        self._state.numbers[AT_ONCE] = 1
        self._read(progress)

    def _read(self, progress: Progress) -> None:
        self._progress = progress
        form, count = self._form, len(progress)
        if form.is_compiled:
            self._handle[-count:] = form.handle(tuple(progress))
        else:
            views = map(form.view, progress)
            self._handle = WorthState._make([*self._handle[:-count], *views])

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
        self.progress = nothing_known(tests, alternatives)
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
    problem = replace(smallest_problem(), scenes=Scenes(np.ones(1), np.full((1, 1), 0.5)))
    run = PreparedProblem(problem, True, form, None).run()
    run.next(1)
    run.observe([0], [1], [])
    run.next(1)
