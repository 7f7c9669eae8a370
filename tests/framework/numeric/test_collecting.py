"""Garbage is looked for seldom while somebody asks for that, and as before afterwards."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

import pytest

from tamis.numeric.collecting import SELDOM, seldom_collected


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize("first", [700, 2_000])
def test_it_is_as_before_afterwards(first: int) -> None:
    gc.set_threshold(first, 11, 12)
    with contextlib.suppress(ZeroDivisionError), seldom_collected():
        with seldom_collected():
            assert gc.get_threshold() == (SELDOM, 11, 12)
        assert gc.get_threshold() == (SELDOM, 11, 12)
        raise ZeroDivisionError
    assert gc.get_threshold() == (first, 11, 12)


@pytest.mark.parametrize("first", [0, SELDOM, 1_000_000])
def test_who_looks_more_seldom_is_left_alone(first: int) -> None:
    gc.set_threshold(first, 10, 10)
    with seldom_collected():
        assert gc.get_threshold() == (first, 10, 10)
    assert gc.get_threshold() == (first, 10, 10)
