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
from tamis.engine.state import (
    IS_FREE,
    LEFT,
    OPEN,
    OWNER,
    PLAN,
    SOURCE,
    VERDICT,
    EventState,
)
from tamis.numeric.kernels import view_of
from tamis.numeric.lists import lists_by_number
from tamis.numeric.types import Ints
from tamis.planning import Problem
from tamis.waiting import COMPILING, waiting_for

_ALTERNATIVE_COLUMNS, _TEST_COLUMNS, _NUMBERS = 4, 3, 2
_FIXED = 4
"""The parts of a state that never change."""


class StateForm(NamedTuple):
    """The functions that run on the state of an event, interpreted or compiled."""

    handle: Callable[[EventState], Any]
    """Makes what the functions take for a state."""
    view: Callable[[Ints], Any]
    """Makes what they take for numbers."""
    settle_and_follow: Callable[[Any, int, int, int], None]
    settle_all: Callable[[Any, Any], None]
    follow: Callable[[Any, Any], None]
    reject: Callable[[Any, Any], None]
    spare_all: Callable[[Any, Any], None]


def views_of(arrays: EventState) -> EventState:
    """Returns a state as the interpreter reads it: views whose items are numbers."""
    return EventState(*(view_of(each) for each in arrays))


INTERPRETED = StateForm(
    views_of,
    view_of,
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
        from tamis.numeric.views import places_of

        form = StateForm(
            places_of,
            np.asarray,
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

    def __init__(self, problem: Problem, plans: Ints) -> None:
        self.form = form_for(problem.is_large)
        count, tests = problem.alternatives, problem.tests
        edges = np.empty((len(problem.edge_test), 3), np.int32)
        edges[:, state.ALTERNATIVE] = problem.edge_alternative
        edges[:, state.TEST] = problem.edge_test
        edges[:, state.WANTED] = problem.edge_sign > 0
        fixed = np.empty((count, 3), np.int32)
        fixed[:, OWNER] = problem.alternative_subscription
        fixed[:, IS_FREE] = ~problem.alternative_binds
        fixed[:, PLAN] = plans
        alternatives = np.zeros((count, _ALTERNATIVE_COLUMNS), np.int32)
        alternatives[:, VERDICT] = OPEN
        alternatives[:, LEFT] = problem.alternative_size
        causes = np.zeros((tests, _TEST_COLUMNS), np.int32)
        causes[:, SOURCE] = -1
        numbers = np.zeros(_NUMBERS, np.int64)
        numbers[state.IMPLYING] = len(problem.implications) > 0
        waits = np.count_nonzero(plans) > 0 or numbers[state.IMPLYING]
        self._state = EventState(
            edges,
            problem.test_edges,
            problem.owned,
            fixed,
            alternatives,
            causes,
            numbers,
            np.empty(len(edges) if waits else 0, np.int32),
            np.empty(tests, np.int32),
            np.full(tests, OPEN, np.int32),
            np.empty(count, np.int32),
            np.zeros(2, np.int64),
        )

    def state(self) -> EventState:
        """Returns the state of one event."""
        fixed, changing = self._state[:_FIXED], self._state[_FIXED:]
        return EventState._make([*fixed, *(each.copy() for each in changing)])


def _exercise(form: StateForm) -> None:
    """Does with a form what is ever done with it, so that it is compiled."""
    one = np.zeros(1, np.int64)
    table = np.zeros((1, 4), np.int32)
    lists = lists_by_number(one, 1)
    fixed, row = table[:, :3], table[0]
    numbers = np.zeros(_NUMBERS, np.int64)
    parts: tuple[Any, ...] = (
        *(fixed, lists, lists, fixed, table, fixed, numbers),
        *(row, row, row, row, numbers),
    )
    whole = EventState(*(each.copy() for each in parts))
    handle = form.handle(whole)
    form.settle_and_follow(handle, 0, 0, 0)
    form.settle_all(handle, form.view(np.zeros((0, 3), np.int64)))
    for each in (form.follow, form.reject, form.spare_all):
        each(handle, form.view(one[:0]))
