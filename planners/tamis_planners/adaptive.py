"""Chooses the next call by what every outcome so far has left to gain: planners that score calls.

What depends on a problem alone is prepared once for it, its shape even when expectations change.
Small problems of few subscriptions are solved by the interpreter, others by compiled functions,
with the same calls in the same order. Cost: see `adaptive_run`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from tamis.kit import COMPILING, waiting_for
from tamis.planning import Problem, Run

if TYPE_CHECKING:
    from tamis_planners.adaptive_form import PlannerForm
    from tamis_planners.adaptive_run import AdaptiveRun, PreparedProblem


class Adaptive:
    """A planner that scores calls; whether alternatives have weights makes its kind."""

    weighted: bool

    def __init__(self) -> None:
        self._prepared: PreparedProblem | None = None
        self._is_large = False

    def begin(self, problem: Problem) -> Run:
        """Starts on the problem of one event."""
        if len(problem.test_call) == 1 and len(problem.edge_test) == problem.alternatives:
            return OnlyTest(problem, self._begin)
        return self._begin(problem)

    def _begin(self, problem: Problem) -> AdaptiveRun:
        known = self._prepared
        if known is None or known.problem is not problem:
            from tamis_planners.adaptive_run import PreparedProblem

            self._is_large = self._is_large or problem.is_large
            form = form_for(self._is_large)
            known = self._prepared = PreparedProblem(problem, self.weighted, form, known)
        return known.run()


class OnlyTest:
    """Asks for the call of a test that every alternative needs: there is nothing to choose."""

    def __init__(self, problem: Problem, begin: Callable[[Problem], AdaptiveRun]) -> None:
        self._problem = problem
        self._begin = begin
        self._open = problem.alternatives
        self._is_asked = False

    def next(self, limit: int) -> Sequence[int]:
        """Returns the call, once, while an alternative is open."""
        if self._is_asked or not self._open:
            return ()
        self._is_asked = True
        return (0,)

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None:
        """Takes that the test is known, or alternatives are decided."""
        self._is_asked = self._is_asked or bool(tests)
        self._open -= len(decided)

    def score(self, call: int) -> float:
        """Returns the benefit of the call for its cost, before anything is known."""
        return self._begin(self._problem).score(call)


@cache
def form_for(is_large: bool) -> PlannerForm:
    """Returns the form for large or for small problems, ready to be used."""
    from tamis_planners.adaptive_form import INTERPRETED, compiled_form
    from tamis_planners.adaptive_run import exercise

    if not is_large:
        return INTERPRETED
    with waiting_for(COMPILING):
        form = compiled_form()
        exercise(form)
    return form
