"""Compiles what adaptive planners do for every call, on views of the state that nobody counts."""

from __future__ import annotations

from tamis.kit import Ints, bare, inlined, kernel, portable_parts
from tamis_planners.adaptive_kernels import advance
from tamis_planners.adaptive_state import State, weigh_all

portable_parts()


@inlined
def _views(state: State) -> State:
    return State(
        bare(state.needs),
        bare(state.edges),
        bare(state.need_start),
        bare(state.test_edges),
        bare(state.call_needs),
        bare(state.owned),
        bare(state.call_tests),
        bare(state.implied),
        bare(state.unit_calls),
        bare(state.alternatives),
        bare(state.calls),
        bare(state.units),
        bare(state.siblings),
        bare(state.stage),
        bare(state.known),
        bare(state.numbers),
        bare(state.selectivity),
        bare(state.ends),
        bare(state.weights),
        bare(state.worth),
        bare(state.prices),
        bare(state.key),
        bare(state.best),
        bare(state.sums),
        bare(state.ordered),
        bare(state.ended),
    )


@kernel
def weigh_all_compiled(state: State) -> None:
    """Does what `weigh_all` does."""
    weigh_all(_views(state))


@kernel
def advance_compiled(state: State, told: Ints, outcomes: int, limit: int, picks: Ints) -> int:
    """Does what `advance` does."""
    return advance(_views(state), bare(told), outcomes, limit, bare(picks))
