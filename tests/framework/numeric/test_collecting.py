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


@pytest.mark.slow
def test_who_makes_very_much_looks_through_it() -> None:
    gc.set_threshold(700, 10, 10)
    gc.collect()
    before = gc.get_stats()
    with seldom_collected():
        made: list[object] = [[] for _ in range(SELDOM // 2)]
    assert gc.get_count()[0] < SELDOM // 10
    assert len(made) == SELDOM // 2
    assert gc.get_stats()[2]["collections"] + gc.get_stats()[1]["collections"] > (
        before[2]["collections"] + before[1]["collections"]
    )


def test_who_looks_for_no_garbage_is_given_no_look() -> None:
    gc.set_threshold(700, 10, 10)
    before = gc.get_stats()
    gc.disable()
    try:
        with seldom_collected():
            made: list[object] = [[] for _ in range(SELDOM // 2)]
    finally:
        gc.enable()
    assert len(made) == SELDOM // 2
    assert gc.get_stats() == before


@pytest.mark.slow
def test_what_is_given_up_may_ask_for_it_too() -> None:
    class Last:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            with seldom_collected():
                ended.append(True)

    ended: list[bool] = []
    gc.set_threshold(700, 10, 10)
    with seldom_collected():
        made: list[object] = [[] for _ in range(SELDOM // 2)]
        Last()
    assert len(made) == SELDOM // 2
    assert ended == [True]


@pytest.mark.slow
def test_who_makes_little_does_not_look() -> None:
    gc.set_threshold(700, 10, 10)
    gc.collect()
    before = gc.get_stats()
    with seldom_collected():
        made: list[object] = [[] for _ in range(100)]
    assert len(made) == 100
    assert gc.get_stats() == before


@pytest.mark.slow
def test_all_is_looked_through_whenever_it_has_grown_by_a_quarter() -> None:
    gc.set_threshold(700, 10, 10)
    kept: list[object] = []
    looks = []
    for _ in range(24):
        with seldom_collected():
            kept += [[] for _ in range(SELDOM // 5)]
        looks.append(gc.get_stats()[2]["collections"])
    assert looks[-1] - looks[0] < 16
    assert len(kept) == 24 * (SELDOM // 5)
