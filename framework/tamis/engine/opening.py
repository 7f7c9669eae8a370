"""Opens the state of an event: a copy of what a problem begins with, and what runs on it.

Small problems are run by the interpreter on memory views, large ones by compiled functions on the
places of arrays: the same functions with the same results.
Cost: O(edges) a problem, a copy of its alternatives and tests an event.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tamis.engine import state
from tamis.engine.state import EventState
from tamis.numeric.kernels import view_of
from tamis.numeric.types import Ints
from tamis.planning import Problem, smallest_problem
from tamis.waiting import COMPILING, waiting_for

_ALTERNATIVE_COLUMNS, _TEST_COLUMNS, _NUMBERS = 4, 3, 2
_FIXED = 4
"""The parts of a state that never change."""


class StateForm(NamedTuple):
    """The functions that run on the state of an event, interpreted or compiled."""

    handle: Callable[[tuple[Any, ...]], Any]
    """Makes what the functions take for a state, of its arrays."""
    view: Callable[[Any], Any]
    """Makes what they take for numbers."""
    lay_out: Callable[..., None]
    settle_and_follow: Callable[[Any, int, int, int], None]
    settle_all: Callable[[Any, Any], None]
    follow: Callable[[Any, Any], None]
    reject: Callable[[Any, Any], None]
    spare_all: Callable[[Any, Any], None]


def views_of(arrays: tuple[Any, ...]) -> EventState:
    """Returns a state as the interpreter reads it: views whose items are numbers."""
    return EventState(*(view_of(each) for each in arrays))


INTERPRETED = StateForm(
    views_of,
    view_of,
    state.lay_out,
    state.settle_and_follow,
    state.settle_all,
    state.follow,
    state.reject,
    state.spare_all,
)


@cache
def form_for(is_large: bool) -> StateForm:
    """Returns the form for large or for small problems, ready to be used."""
    if not is_large:
        return INTERPRETED
    with waiting_for(COMPILING):
        from tamis.engine import state_compiled
        from tamis.numeric.views import places_of_all

        form = StateForm(
            places_of_all,
            np.asarray,
            state_compiled.lay_out,
            state_compiled.settle_and_follow,
            state_compiled.settle_all,
            state_compiled.follow,
            state_compiled.reject,
            state_compiled.spare_all,
        )
        _exercise(form)
    return form


class OpeningState:
    """The state that a problem begins with: good for every event that has the same problem."""

    def __init__(self, problem: Problem, plans: Ints, form: StateForm) -> None:
        self.form = form
        self._problem, self._plans = problem, plans
        self._first = [self._laid_out()]
        """The state of the first event: most problems are those of one event."""
        self._copied: EventState | None = None
        """The state that later events copy."""

    def _laid_out(self) -> tuple[EventState, Any]:
        """Returns a state of which nothing is known, and what the functions take for it."""
        problem, plans = self._problem, self._plans
        count, tests, edges = problem.alternatives, problem.tests, len(problem.edge_test)
        numbers = np.zeros(_NUMBERS, np.int64)
        numbers[state.IMPLYING] = len(problem.implications) > 0
        waits = numbers[state.IMPLYING] or np.count_nonzero(plans) > 0
        laid_out = EventState(
            np.empty((edges, 3), np.int32),
            problem.test_edges,
            problem.owned,
            np.empty((count, 3), np.int32),
            np.empty((count, _ALTERNATIVE_COLUMNS), np.int32),
            np.empty((tests, _TEST_COLUMNS), np.int32),
            numbers,
            np.empty(edges if waits else 0, np.int32),
            np.empty(tests, np.int32),
            np.empty(tests, np.int32),
            np.empty(count, np.int32),
            np.zeros(2, np.int64),
        )
        handle = self.form.handle(tuple(laid_out))
        given = (
            *(problem.alternative_start, problem.edge_test, problem.edge_sign),
            *(problem.alternative_subscription, problem.alternative_binds, plans),
        )
        self.form.lay_out(handle, *map(self.form.view, given))
        return laid_out, handle

    def state(self) -> tuple[EventState, Any]:
        """Returns the state of one event, and what the functions take for it."""
        try:
            return self._first.pop()
        except IndexError:
            before = self._copied = self._copied or self._laid_out()[0]
        fixed, changing = before[:_FIXED], before[_FIXED:]
        copied = *fixed, *(each.copy() for each in changing)
        return EventState._make(copied), self.form.handle(copied)


def _exercise(form: StateForm) -> None:
    """Does with a form what is ever done with it, so that it is compiled."""
    _, handle = OpeningState(smallest_problem(), np.full(1, state.NO_PLAN), form).state()
    form.settle_and_follow(handle, 0, 0, 0)
    form.settle_all(handle, form.view(np.zeros((0, 3), np.int64)))
    for each in (form.follow, form.reject, form.spare_all):
        each(handle, form.view(np.zeros(0, np.int64)))
