"""Draws the events that laws are tried on: with values of mixed kinds and failing answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tamis.testing import pool
from tamis.testing.clause_strategies import draw_scalar
from tamis.testing.lazily import DrawFn, SearchStrategy, one_of, several, st

_CONTENTS: tuple[Any, ...] = (None, math.nan, {}, {"speed": 1}, [], [[1]], [{"a": 1}, 2], (3, "a"))
_FAILURES: tuple[Any, ...] = ("no model", 7, [None], [[1, 2, 3]])
_SOLUTIONS = (*pool.SMALL_NUMBERS, "fire", "uav-1", True, 2**53 + 1)


def events(*, operators: bool = True) -> SearchStrategy[dict[str, Any]]:
    """Events over the pool: values of mixed kinds, absent ones, arrays, paths, times.

    With `operators`, the answers of `pool_operators()` too, failures and absent inputs included.

    >>> from hypothesis import given
    >>> from tamis import Matcher
    >>> matcher = Matcher(operators=pool.pool_operators())
    >>> _ = matcher.subscribe("seen(a) or count(b, ?n)", id="s1")
    >>> @given(events())
    ... def law(event):
    ...     assert len(matcher.match(event).matches) <= 1
    >>> law()
    """
    return st.composite(_event)(operators)


def _event(draw: DrawFn, operators: bool) -> dict[str, Any]:
    event = {}
    for _ in several(draw, 0, 7):
        name = one_of(draw, _NAMES)
        event[name] = _FORMS.get(name, _value)(draw)
    for name, answer in _ANSWERS.items() if operators else ():
        if one_of(draw, (False, *[True] * 5)):
            event[name] = {key: answer(draw) for key in pool.KEYS}
    if operators and one_of(draw, (False, *[True] * 5)):
        event["inside"] = _nested(draw)
    return event


def draw_value(draw: DrawFn) -> Any:
    """Returns a scalar, or an array of scalars."""
    return _array(draw) if one_of(draw, (False, False, True)) else draw_scalar(draw)


def _value(draw: DrawFn) -> Any:
    return draw_scalar(draw) if one_of(draw, (True, True, True, False)) else _content(draw)


def _content(draw: DrawFn) -> Any:
    """Draws a value that is no attribute, or an absent one."""
    return one_of(draw, _CONTENTS)


def _array(draw: DrawFn) -> Any:
    if one_of(draw, (False, False, False, True)):
        return _value(draw)
    return [
        draw_scalar(draw) if one_of(draw, (True, True, True, True, False)) else None
        for _ in several(draw, 0, 3)
    ]


def _meta(draw: DrawFn) -> Any:
    return {"speed": _value(draw)} if one_of(draw, (True, True, False)) else draw_scalar(draw)


def _time(draw: DrawFn) -> str:
    return one_of(draw, pool.TIMES)


# answers of operators


def _truth(draw: DrawFn) -> Any:
    return one_of(draw, (False, True, True, True, False, True, True, True, True, _FAILURES[0]))


def _nested(draw: DrawFn) -> dict[str, Any]:
    """Inside of each key from some one on; answers may fail."""
    first = one_of(draw, range(len(pool.KEYS) + 1))
    return {
        key: one_of(draw, (*[at >= first] * 4, _FAILURES[0])) for at, key in enumerate(pool.KEYS)
    }


def _values(draw: DrawFn) -> Any:
    values = [one_of(draw, _SOLUTIONS) for _ in several(draw, 0, 4)]
    return one_of(draw, (*[values] * 16, *_FAILURES))


def _pairs(draw: DrawFn) -> Any:
    pairs = [[one_of(draw, _SOLUTIONS), one_of(draw, _SOLUTIONS)] for _ in several(draw, 0, 4)]
    return one_of(draw, (*[pairs] * 16, *_FAILURES))


_FORMS: dict[str, Callable[[DrawFn], Any]] = {
    "tags": _array,
    "meta": _meta,
    "time": _time,
    "frame": lambda draw: one_of(draw, ("fine", "damaged")),
}
_ANSWERS: dict[str, Callable[[DrawFn], Any]] = {
    **dict.fromkeys(("seen", "heard"), _truth),
    **dict.fromkeys(pool.COUNTS, _values),
    **dict.fromkeys(pool.PAIRS, _pairs),
}
_NAMES = (*pool.ATTRIBUTES, "tags", "meta", "meta", "time", "time", "frame", "time.hour")
