"""Things are sorted into lists by their numbers, alike however many they are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.numeric.lists import lists_by_counting, lists_by_number

numbers = st.lists(st.integers(0, 9), max_size=40)


@given(numbers, st.integers(10, 12))
def test_lists_hold_the_places_of_each_number(given_numbers: list[int], count: int) -> None:
    array = np.array(given_numbers, np.int64)
    for lists in (lists_by_number(array, count), lists_by_counting(array, count)):
        found = [lists[lists[number] : lists[number + 1]].tolist() for number in range(count)]
        assert found == [
            [at for at, each in enumerate(given_numbers) if each == number]
            for number in range(count)
        ]
        assert lists.dtype == np.int32


def test_many_things_are_sorted_alike() -> None:
    chance = np.random.default_rng(3)
    for count, size in ((1, 5_000), (70_000, 9_000), (300, 40_000)):
        many = chance.integers(0, count, size)
        strided = np.stack([many, many], axis=1)[:, 1]
        wanted = lists_by_counting(many, count).tolist()
        assert lists_by_number(many, count).tolist() == wanted
        assert lists_by_number(strided, count).tolist() == wanted
