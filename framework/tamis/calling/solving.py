"""What an operator answers to calls, here and now: raw answers are awaited, read and checked.

Generators are read where the operator runs, so that its time and its memory are spent there.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tamis.calling.answers import (
    Answer,
    NonsenseError,
    checked_solutions,
    failure_of,
    shown,
    truth_of,
)
from tamis.calling.lanes import awaited
from tamis.event import EventView
from tamis.operators.asking import Call


def solved(call: Call, view: EventView, most: int, seconds: float | None) -> Answer:
    """The answer to a call, with at most so many solutions; one that is `async` is cancelled."""
    raw = call.operator.solve(view, *call.arguments)
    if inspect.iscoroutine(raw):
        raw = awaited(raw, seconds)
    return _checked(call, raw, most)


def _checked(call: Call, raw: Any, most: int) -> Answer:
    if call.width == 0:
        return Answer(raw if type(raw) is bool else truth_of(raw))
    solutions, cut = checked_solutions(raw, call.width, most)
    return Answer(False, solutions, None, cut)


def solved_together(
    calls: Sequence[Call], view: EventView, most: int, seconds: float | None
) -> list[Answer]:
    """The answer to each call; an exception in its place is its failure."""
    raw: Any = calls[0].operator.solve_many(view, [call.arguments for call in calls])
    if inspect.iscoroutine(raw):
        raw = awaited(raw, seconds)
    if isinstance(raw, (str, bytes, Mapping)) or not isinstance(raw, Iterable):
        raise NonsenseError(f"expected {len(calls)} answers (a list), got {shown(raw)}")
    found = list(raw)
    if len(found) != len(calls):
        raise NonsenseError(f"expected {len(calls)} answers, got {len(found)}")
    return [_answer(call, each, most) for call, each in zip(calls, found, strict=True)]


def _answer(call: Call, raw: Any, most: int) -> Answer:
    try:
        if isinstance(raw, BaseException):
            return Answer(failure=failure_of(raw))
        return _checked(call, raw, most)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        return Answer(failure=failure_of(problem))
