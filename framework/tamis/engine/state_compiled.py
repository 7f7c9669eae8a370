"""Compiles what the state of an event does for every call, on views of arrays by their places."""

from __future__ import annotations

import numpy as np

from tamis.engine import state as plain
from tamis.engine.state import EventState
from tamis.numeric.kernels import inlined, kernel, portable_parts
from tamis.numeric.types import Flags, Ints, TinyInts
from tamis.numeric.views import bare, bare_at, bare_table_at

portable_parts()


@inlined
def _views(places: Ints) -> EventState:
    return EventState(
        bare_table_at(places, 0, np.uint32, 3),
        bare_at(places, 1, np.uint32),
        bare_at(places, 2, np.uint32),
        bare_table_at(places, 3, np.uint32, 3),
        bare_table_at(places, 4, np.int32, 4),
        bare_table_at(places, 5, np.int32, 3),
        bare_at(places, 6, np.int64),
        bare_at(places, 7, np.uint32),
        bare_at(places, 8, np.uint32),
        bare_at(places, 9, np.uint32),
        bare_at(places, 10, np.uint32),
        bare_at(places, 11, np.int64),
    )


@kernel
def lay_out(
    places: Ints,
    start: Ints,
    edge_test: Ints,
    edge_sign: TinyInts,
    subscription: Ints,
    binds: Flags,
    plans: Ints,
) -> None:
    """Does what `state.lay_out` does."""
    plain.lay_out(
        _views(places),
        bare(start),
        bare(edge_test),
        bare(edge_sign),
        bare(subscription),
        bare(binds),
        bare(plans),
    )


@kernel
def settle_and_follow(places: Ints, test: int, outcome: int, how: int) -> None:
    """Does what `state.settle_and_follow` does."""
    plain.settle_and_follow(_views(places), test, outcome, how)


@kernel
def settle_all(places: Ints, known: Ints) -> None:
    """Does what `state.settle_all` does."""
    plain.settle_all(_views(places), bare(known))


@kernel
def follow(places: Ints, tests: Ints) -> None:
    """Does what `state.follow` does."""
    plain.follow(_views(places), bare(tests))


@kernel
def reject(places: Ints, tests: Ints) -> None:
    """Does what `state.reject` does."""
    plain.reject(_views(places), bare(tests))


@kernel
def spare_all(places: Ints, alternatives: Ints) -> None:
    """Does what `state.spare_all` does."""
    plain.spare_all(_views(places), bare(alternatives))
