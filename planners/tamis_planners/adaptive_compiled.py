"""Compiles what adaptive planners do for every call, on views of arrays by their places."""

from __future__ import annotations

import numpy as np

from tamis.kit import Ints, bare_at, bare_table_at, inlined, kernel, portable_parts
from tamis_planners.adaptive_kernels import advance
from tamis_planners.adaptive_state import WorthState, weigh_all

portable_parts()


@inlined
def _views(places: Ints) -> WorthState:
    return WorthState(
        bare_table_at(places, 0, np.int32),  # needs
        bare_table_at(places, 1, np.int32),  # edges
        bare_at(places, 2, np.int32),  # need_start
        bare_at(places, 3, np.int32),  # test_edges
        bare_at(places, 4, np.int32),  # call_needs
        bare_at(places, 5, np.int32),  # owned
        bare_at(places, 6, np.int32),  # call_tests
        bare_at(places, 7, np.int32),  # implied
        bare_at(places, 8, np.int32),  # unit_calls
        bare_table_at(places, 9, np.int32),  # alternatives
        bare_table_at(places, 10, np.int32),  # calls
        bare_table_at(places, 11, np.int32),  # units
        bare_at(places, 12, np.int32),  # siblings
        bare_at(places, 13, np.int8),  # stage
        bare_at(places, 14, np.int8),  # known
        bare_at(places, 15, np.int64),  # numbers
        bare_at(places, 16, np.float64),  # selectivity
        bare_at(places, 17, np.float64),  # ends
        bare_table_at(places, 18, np.float64),  # weights
        bare_table_at(places, 19, np.float64),  # worth
        bare_table_at(places, 20, np.float64),  # prices
        bare_at(places, 21, np.float64),  # key
        bare_at(places, 22, np.float64),  # best
        bare_at(places, 23, np.float64),  # sums
        bare_table_at(places, 24, np.float64),  # ordered
        bare_at(places, 25, np.float64),  # ended
        bare_at(places, 26, np.int64),  # picks
        bare_at(places, 27, np.int32),  # progress
        bare_at(places, 28, np.int32),
        bare_at(places, 29, np.int32),
        bare_at(places, 30, np.int64),
    )


@kernel
def weigh_all_compiled(places: Ints) -> None:
    """Does what `weigh_all` does."""
    weigh_all(_views(places))


@kernel
def advance_compiled(places: Ints, limit: int) -> int:
    """Does what `advance` does."""
    return advance(_views(places), limit)
