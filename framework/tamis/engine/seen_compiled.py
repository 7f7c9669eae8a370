"""Compiles what is done with each test and call of an event, on views that nobody counts."""

from __future__ import annotations

from tamis.engine.seen import (
    expect_calls,
    expect_selectivities,
    take_answers,
    take_outcomes,
)
from tamis.numeric.kernels import kernel, portable_parts
from tamis.numeric.types import Bytes, Floats, Ints, SmallInts
from tamis.numeric.views import bare

portable_parts()


@kernel
def take_outcomes_compiled(
    tests: Floats,
    calls: Floats,
    operators: Floats,
    credible: Floats,
    rows: Ints,
    numbers: SmallInts,
    outcomes: SmallInts,
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
def expect_calls_compiled(
    calls: Floats,
    operators: Floats,
    rows: Ints,
    now: int,
    costs: Floats,
    failures: Floats,
    marginal: Floats,
) -> None:
    """Does what `expect_calls` does."""
    expect_calls(
        bare(calls),
        bare(operators),
        bare(rows),
        now,
        bare(costs),
        bare(failures),
        bare(marginal),
    )
