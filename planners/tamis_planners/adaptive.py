"""Chooses the next call by what every outcome so far has left to gain: planners that score calls.

What depends on a problem alone is prepared once for it, its shape even when expectations change.
Small problems of few subscriptions are solved by the interpreter, others by compiled functions,
with the same calls in the same order. Cost: see `adaptive_run`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tamis.kit import COMPILING, waiting_for
from tamis.planning import Problem, Run

if TYPE_CHECKING:
    from tamis_planners.adaptive_form import PlannerForm
    from tamis_planners.adaptive_run import PreparedProblem


class Adaptive:
    """A planner that scores calls; whether alternatives have weights makes its kind."""

    weighted: bool

    def __init__(self) -> None:
        self._prepared: PreparedProblem | None = None
        self._is_large = False

    def begin(self, problem: Problem) -> Run:
        """Starts on the problem of one event."""
        known = self._prepared
        if known is None or known.problem is not problem:
            from tamis_planners.adaptive_run import PreparedProblem

            self._is_large = self._is_large or problem.is_large
            form = form_for(self._is_large)
            known = self._prepared = PreparedProblem(problem, self.weighted, form, known)
        return known.run()


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
