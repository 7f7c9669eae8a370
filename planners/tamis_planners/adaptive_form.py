"""Chooses the form in which adaptive planners compute: interpreted, or compiled for large problems.

Both forms run the same functions on the same numbers, and so ask for the same calls in the same
order. Which one runs depends on the size of problems alone. Compiled functions take arrays, and of
a state where its arrays lie; interpreted ones take views, whose items are plain numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tamis.kit import compiled, view_of
from tamis_planners.adaptive_kernels import advance
from tamis_planners.adaptive_opening import open_all
from tamis_planners.adaptive_scenes import learn_scene
from tamis_planners.adaptive_shape import FIXED, lay_out
from tamis_planners.adaptive_state import WorthState, weigh_all


class PlannerForm(NamedTuple):
    """The functions of adaptive planners in one form."""

    view: Callable[[Any], Any]
    """Makes what the functions take of an array; both share the memory."""
    handle: Callable[[tuple[Any, ...]], Any]
    """Makes what they take of the arrays of a state."""
    lay_out: Callable[..., None]
    open_all: Callable[..., None]
    weigh_all: Callable[..., Any]
    learn_scene: Callable[..., Any]
    advance: Callable[..., Any]
    is_compiled: bool


CHANGING = tuple(at for at, name in enumerate(WorthState._fields) if name not in FIXED)
"""The places of the arrays of a state that outcomes change."""


def _views(arrays: tuple[Any, ...]) -> WorthState:
    return WorthState(*(view_of(each) for each in arrays))


def views_again(views: WorthState, state: WorthState) -> WorthState:
    """Returns the views of a state which shares what never changes with another one."""
    found = [*views]
    for at in CHANGING:
        found[at] = view_of(state[at])
    return WorthState._make(found)


INTERPRETED = PlannerForm(
    view_of,
    _views,
    lay_out,
    open_all,
    weigh_all,
    learn_scene,
    advance,
    is_compiled=False,
)


def compiled_form() -> PlannerForm:
    """Returns the compiled form; each function is compiled with its first call."""
    from tamis.kit import places_of_all
    from tamis_planners.adaptive_compiled import (
        advance_compiled,
        lay_out_compiled,
        open_all_compiled,
        weigh_all_compiled,
    )

    return PlannerForm(
        np.asarray,
        places_of_all,
        lay_out_compiled,
        open_all_compiled,
        weigh_all_compiled,
        compiled(learn_scene),
        advance_compiled,
        is_compiled=True,
    )
