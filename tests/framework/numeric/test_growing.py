"""Arrays that grow at their end."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.numeric.growing import GrowingArray


@given(st.lists(st.lists(st.integers(-100, 100), max_size=40), max_size=20))
def test_what_is_added_is_there_in_order(parts: list[list[int]]) -> None:
    array = GrowingArray(np.int32)
    plain: list[int] = []
    for part in parts:
        if len(part) == 1:
            assert array.append(part[0]) == len(plain)
        else:
            assert array.extend(part) == len(plain)
        plain += part
        assert array.view.tolist() == plain
        assert len(array) == len(plain)


def test_reserved_room_is_zero_and_may_be_set() -> None:
    array = GrowingArray(np.int64)
    array.append(7)
    assert array.reserve(100) == 1
    assert array.view.tolist() == [7, *[0] * 100]
    array[100] = 3
    assert array[100] == 3
    assert array[np.array([0, 100])].tolist() == [7, 3]


def test_it_starts_from_content() -> None:
    array = GrowingArray(np.int64, np.array([1, 2, 3]))
    assert array.append(4) == 3
    assert array.view.tolist() == [1, 2, 3, 4]


def test_growth_is_amortized() -> None:
    array = GrowingArray(np.int64)
    for number in range(10_000):
        array.append(number)
    assert array.nbytes <= 4 * 10_000 * 8
