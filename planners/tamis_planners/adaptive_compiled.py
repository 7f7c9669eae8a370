"""Compiles what adaptive planners do for every call, on views of arrays by their places."""

from __future__ import annotations

import numpy as np

from tamis.kit import (
    Flags,
    Floats,
    Ints,
    SmallInts,
    TinyInts,
    bare,
    bare_at,
    bare_table_at,
    inlined,
    kernel,
    portable_parts,
)
from tamis_planners.adaptive_kernels import advance
from tamis_planners.adaptive_opening import open_all
from tamis_planners.adaptive_shape import lay_out
from tamis_planners.adaptive_state import WorthState, weigh_all

portable_parts()


@inlined
def _views(places: Ints) -> WorthState:
    return WorthState(
        bare_table_at(places, 0, np.uint32, 3),  # needs
        bare_table_at(places, 1, np.uint32, 4),  # edges
        bare_at(places, 2, np.int32),  # need_start
        bare_at(places, 3, np.uint32),  # test_edges
        bare_at(places, 4, np.uint32),  # call_needs
        bare_at(places, 5, np.uint32),  # owned
        bare_at(places, 6, np.uint32),  # call_tests
        bare_at(places, 7, np.uint32),  # implied
        bare_at(places, 8, np.uint32),  # unit_calls
        bare_table_at(places, 9, np.uint32, 8),  # alternatives
        bare_table_at(places, 10, np.int32, 8),  # calls
        bare_table_at(places, 11, np.uint32, 4),  # units
        bare_at(places, 12, np.uint32),  # siblings
        bare_at(places, 13, np.int8),  # undecided
        bare_at(places, 14, np.int8),  # stage
        bare_at(places, 15, np.int8),  # known
        bare_at(places, 16, np.int64),  # numbers
        bare_at(places, 17, np.float64),  # selectivity
        bare_at(places, 18, np.float64),  # ends
        bare_table_at(places, 19, np.float64, 5),  # weights
        bare_table_at(places, 20, np.float64, 6),  # worth
        bare_table_at(places, 21, np.float64, 2),  # prices
        bare_at(places, 22, np.float64),  # key
        bare_at(places, 23, np.float64),  # best
        bare_at(places, 24, np.float64),  # sums
        bare_table_at(places, 25, np.float64, 3),  # ordered
        bare_at(places, 26, np.float64),  # ended
        bare_at(places, 27, np.int64),  # picks
        bare_at(places, 28, np.uint32),  # progress
        bare_at(places, 29, np.uint32),
        bare_at(places, 30, np.uint32),
        bare_at(places, 31, np.int64),
    )


@kernel
def lay_out_compiled(
    needs: SmallInts,
    edges: SmallInts,
    need_start: SmallInts,
    sizes: Ints,
    seen: Ints,
    place: Ints,
    start: Ints,
    edge_test: Ints,
    edge_sign: TinyInts,
    test_call: Ints,
    group: Ints,
    batch: Ints,
) -> None:
    """Does what `lay_out` does."""
    lay_out(
        bare(needs),
        bare(edges),
        bare(need_start),
        bare(sizes),
        bare(seen),
        bare(place),
        bare(start),
        bare(edge_test),
        bare(edge_sign),
        bare(test_call),
        bare(group),
        bare(batch),
    )


@kernel
def open_all_compiled(
    places: Ints,
    subscription: Ints,
    binds: Flags,
    cost: Floats,
    failure: Floats,
    marginal: Floats,
    group: Ints,
    batch: Ints,
    group_price: Floats,
    batches: int,
) -> None:
    """Does what `open_all` does."""
    open_all(
        _views(places),
        bare(subscription),
        bare(binds),
        bare(cost),
        bare(failure),
        bare(marginal),
        bare(group),
        bare(batch),
        bare(group_price),
        batches,
    )


@kernel
def weigh_all_compiled(places: Ints) -> None:
    """Does what `weigh_all` does."""
    weigh_all(_views(places))


@kernel
def advance_compiled(places: Ints, limit: int) -> int:
    """Does what `advance` does."""
    return advance(_views(places), limit)
