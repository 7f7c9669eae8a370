"""Asks an operator, here and now: raw answers are awaited, read and checked.

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
from tamis.operators.specification import Preparation


def solved(call: Call, view: EventView, most: int, seconds: float | None) -> Answer:
    """Answers a call, with at most so many solutions; cancels one that is `async`."""
    return checked(call, call.operator.solve(view, *call.arguments), most, seconds)


def checked(call: Call, raw: Any, most: int, seconds: float | None) -> Answer:
    """Returns a raw answer, awaited and read."""
    if inspect.iscoroutine(raw):
        raw = awaited(raw, seconds)
    if call.width == 0:
        return Answer(raw if type(raw) is bool else truth_of(raw))
    solutions, cut = checked_solutions(raw, call.width, most)
    return Answer(False, solutions, None, cut)


def solved_alone(
    calls: Sequence[Call], views: Sequence[EventView], most: int, seconds: float | None
) -> list[Answer]:
    """Returns the answer to one call about its event."""
    return [solved(calls[0], views[0], most, seconds)]


def solved_together(
    calls: Sequence[Call], views: Sequence[EventView], most: int, seconds: float | None
) -> list[Answer]:
    """Returns the answer to each call about one event; an exception in its place is its failure."""
    raw = calls[0].operator.solve_many(views[0], [call.arguments for call in calls])
    return _each(calls, raw, most, seconds)


def solved_for_events(
    calls: Sequence[Call], views: Sequence[EventView], most: int, seconds: float | None
) -> list[Answer]:
    """Answers each call about its own event; an exception in its place is its failure."""
    raw = calls[0].operator.solve_events(views, [call.arguments for call in calls])
    return _each(calls, raw, most, seconds)


def prepared_together(preparation: Preparation, views: Sequence[EventView]) -> list[object]:
    """Prepares several events together; an exception in the place of a value is the failure of
    that event."""
    assert preparation.prepare_events is not None
    found = _listed(preparation.prepare_events(views), len(views), "values")
    return [failure_of(each) if isinstance(each, BaseException) else each for each in found]


def _each(calls: Sequence[Call], raw: Any, most: int, seconds: float | None) -> list[Answer]:
    if inspect.iscoroutine(raw):
        raw = awaited(raw, seconds)
    found = _listed(raw, len(calls), "answers")
    return [_answer(call, each, most) for call, each in zip(calls, found, strict=True)]


def _listed(raw: object, count: int, what: str) -> list[Any]:
    """Returns a list of so many things; `NonsenseError` where it is none."""
    if isinstance(raw, (str, bytes, Mapping)) or not isinstance(raw, Iterable):
        raise NonsenseError(f"expected {count} {what} (a list), got {shown(raw)}")
    found = list(raw)
    if len(found) != count:
        raise NonsenseError(f"expected {count} {what}, got {len(found)}")
    return found


def _answer(call: Call, raw: Any, most: int) -> Answer:
    try:
        if isinstance(raw, BaseException):
            return Answer(failure=failure_of(raw))
        return checked(call, raw, most, None)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        return Answer(failure=failure_of(problem))
