"""Compiles what is done with each test and call of an event, on views that nobody counts."""

from __future__ import annotations

from tamis.engine.seen import (
    expect_costs,
    expect_failures,
    expect_selectivities,
    take_answers,
    take_outcomes,
)
from tamis.numeric.kernels import kernel, portable_parts
from tamis.numeric.types import Bytes, Floats, Ints
from tamis.numeric.views import bare

portable_parts()


@kernel
def take_outcomes_compiled(
    tests: Floats,
    calls: Floats,
    operators: Floats,
    credible: Floats,
    rows: Ints,
    numbers: Ints,
    outcomes: Bytes,
    now: int,
) -> bool:
    """Does what `take_outcomes` does."""
    return take_outcomes(
        bare(tests),
        bare(calls),
        bare(operators),
        bare(credible),
        bare(rows),
        bare(numbers),
        bare(outcomes),
        now,
    )


@kernel
def take_answers_compiled(
    calls: Floats,
    operators: Floats,
    credible: Floats,
    rows: Ints,
    numbers: Ints,
    truths: Bytes,
    failures: Bytes,
    seconds: Floats,
    together: Ints,
    now: int,
) -> bool:
    """Does what `take_answers` does."""
    return take_answers(
        bare(calls),
        bare(operators),
        bare(credible),
        bare(rows),
        bare(numbers),
        bare(truths),
        bare(failures),
        bare(seconds),
        bare(together),
        now,
    )


@kernel
def expect_selectivities_compiled(
    tests: Floats, calls: Floats, operators: Floats, rows: Ints, now: int, expected: Floats
) -> None:
    """Does what `expect_selectivities` does."""
    expect_selectivities(bare(tests), bare(calls), bare(operators), bare(rows), now, bare(expected))


@kernel
def expect_costs_compiled(
    calls: Floats, operators: Floats, rows: Ints, is_marginal: bool, expected: Floats
) -> None:
    """Does what `expect_costs` does."""
    expect_costs(bare(calls), bare(operators), bare(rows), is_marginal, bare(expected))


@kernel
def expect_failures_compiled(
    calls: Floats, operators: Floats, rows: Ints, now: int, expected: Floats
) -> None:
    """Does what `expect_failures` does."""
    expect_failures(bare(calls), bare(operators), bare(rows), now, bare(expected))
