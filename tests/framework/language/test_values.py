"""Scalars: what is one, what is absent, and how two are the same."""

from __future__ import annotations

import math
from decimal import Decimal
from enum import IntEnum
from typing import Any

import numpy as np
import pytest

from tamis.language.values import (
    as_scalar,
    canonical_number,
    distinct,
    identity,
    is_scalar,
    kind_of,
)


class Level(IntEnum):
    """An integer of a type of its own."""

    HIGH = 3


class Name(str):
    """A string of a type of its own."""

    def __str__(self) -> str:
        return "not me"


@pytest.mark.parametrize(
    ("value", "scalar"),
    [
        *((value, value) for value in (True, False, 0, -3, 2.5, "", "a", math.inf, -math.inf)),
        (10**999, 10**999),
        (-(10**999), -(10**999)),
        (10**1000 - 1, 10**1000 - 1),
        (10**1000, math.inf),
        (-(10**1000), -math.inf),
        (Level.HIGH, 3),
        (Name("a"), "a"),
        (np.int8(3), 3),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.float32(0.5), 0.5),
        (np.float64(2.5), 2.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.array(3), 3),
    ],
)
def test_scalars(value: object, scalar: object) -> None:
    found = as_scalar(value)
    assert found == scalar
    assert type(found) is type(scalar)
    assert is_scalar(found)


@pytest.mark.parametrize(
    "value",
    [
        *(None, math.nan, np.float64("nan"), np.float32("nan"), [], [1], (1,), {}, b"a", object()),
        *(np.array([1]), np.datetime64("2024-01-01"), Decimal(1), 1j, {1}),
    ],
)
def test_what_is_no_scalar_or_absent(value: Any) -> None:
    assert as_scalar(value) is None
    assert not is_scalar(value)


def test_the_kinds_are_three() -> None:
    assert kind_of(True) == kind_of(False)
    assert kind_of(1) == kind_of(1.5)
    assert len({kind_of(True), kind_of(1), kind_of("1")}) == 3


def test_numbers_are_integers_where_they_are_integral() -> None:
    assert repr(canonical_number(5000.0)) == "5000"
    assert repr(canonical_number(-0.0)) == "0"
    assert repr(canonical_number(2.5)) == "2.5"
    assert repr(canonical_number(1e22)) == str(10**22)
    assert canonical_number(math.inf) == math.inf


def test_sets_are_sorted_by_kind_then_value() -> None:
    assert repr(distinct(["b", 2, True, 1.5, "a", False, 2.0, 2**53 + 1, float(2**53)])) == (
        "(False, True, 1.5, 2, 9007199254740992.0, 9007199254740993, 'a', 'b')"
    )


def test_one_is_not_true_in_an_identity() -> None:
    assert identity((1, "a")) == identity((1.0, "a"))
    assert identity((1,)) != identity((True,))
    assert identity((0,)) != identity((False,))
    assert identity(("1",)) != identity((1,))
    assert len({identity((True,)), identity((True,)), identity((1,))}) == 2
