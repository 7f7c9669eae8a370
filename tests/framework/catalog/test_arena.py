"""Texts in one byte array: what is set is there, and garbage is given back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.catalog.arena import Arena

TEXTS = st.one_of(st.text(), st.sampled_from(["", "é", "😀", "\ud800", "a" * 30_000]))


@given(st.lists(st.tuples(st.integers(0, 20), TEXTS), max_size=60))
def test_what_is_set_is_there(steps: list[tuple[int, str]]) -> None:
    arena = Arena()
    plain: dict[int, str] = {}
    for row, text in steps:
        if row in plain:
            arena.free(row)
        arena.set(row, text)
        plain[row] = text
        assert {each: arena.get(each) for each in plain} == plain


def test_garbage_is_given_back() -> None:
    arena = Arena()
    for number in range(2_000):
        arena.set(3, str(number) * 1_000)
        assert arena.get(3) == str(number) * 1_000
        arena.free(3)
    assert arena.nbytes < 1_000_000


def test_a_freed_row_is_empty_and_its_neighbors_are_not() -> None:
    arena = Arena()
    for row in range(100):
        arena.set(row, f"{row} " * 2_000)
    for row in range(0, 100, 2):
        arena.free(row)
    assert [arena.get(row) for row in range(1, 100, 2)] == [
        f"{row} " * 2_000 for row in range(1, 100, 2)
    ]
    assert {arena.get(row) for row in range(0, 100, 2)} == {""}
