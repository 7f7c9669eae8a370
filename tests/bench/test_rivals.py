"""Rivals of the papers answer what plain Python answers, whatever comes and goes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis_bench.be_tree import be_tree
from tamis_bench.boxes import Boxes, BoxShape
from tamis_bench.coded import coded
from tamis_bench.ibs_tree import IbsTree
from tamis_bench.one_dimension import OPERATORS, OneDimension, closed
from tamis_bench.red_black import RedBlackTree
from tamis_bench.scans import compiled_scan
from tamis_bench.stabbing import STABS
from tamis_bench.time_index import TimeIndex

ONE = {"red-black": RedBlackTree, "ibs-tree": IbsTree, "time-index": TimeIndex}
INTERVALS = ("ibs-tree", "time-index")

constants = st.integers(0, 12).map(float)
singles = st.tuples(st.sampled_from(OPERATORS), constants)
pairs = st.tuples(constants, constants).map(lambda ends: ("between", (min(ends), max(ends))))
asked_values = st.one_of(constants, st.floats(-1, 13), st.just(math.inf))


def oracle(alive: dict[int, tuple[float, float]], value: float) -> list[int]:
    return sorted(row for row, (low, high) in alive.items() if low <= value <= high)


def live(index: OneDimension, orders: list[tuple[str, object, int]]) -> None:
    """Inserts and deletes as ordered, and compares the answers to every value in between."""
    alive: dict[int, tuple[float, float]] = {}
    for row, (op, asked, victim) in enumerate(orders):
        index.insert(row, op, asked)  # type: ignore[arg-type]
        alive[row] = closed(op, asked)  # type: ignore[arg-type]
        gone = sorted(alive)[victim % len(alive)]
        if victim % 3 == 0:
            index.delete(gone)
            del alive[gone]
        for value in np.arange(-0.5, 13, 0.5).tolist():
            assert sorted(index.match(value)) == oracle(alive, value)
    for row in list(alive):
        index.delete(row)
    assert all(index.match(float(value)) == [] for value in range(-1, 14))


@pytest.mark.parametrize("name", ONE)
@given(st.lists(st.tuples(singles, st.integers(0, 60)), max_size=40))
@settings(max_examples=60, deadline=None)
def test_single_comparisons_come_and_go(
    name: str, orders: list[tuple[tuple[str, float], int]]
) -> None:
    live(ONE[name](), [(op, asked, victim) for (op, asked), victim in orders])


@pytest.mark.parametrize("name", INTERVALS)
@given(st.lists(st.tuples(st.one_of(singles, pairs), st.integers(0, 60)), max_size=40))
@settings(max_examples=60, deadline=None)
def test_intervals_come_and_go(name: str, orders: list[tuple[tuple[str, object], int]]) -> None:
    live(ONE[name](), [(op, asked, victim) for (op, asked), victim in orders])


@pytest.mark.parametrize("name", ONE)
def test_many_predicates_come_and_go_in_any_order(name: str) -> None:
    chance = np.random.default_rng(5)
    index, alive = ONE[name](), {}
    constants = chance.permutation(800) / 8
    for row, constant in enumerate(constants.tolist()):
        op = OPERATORS[row % len(OPERATORS)]
        index.insert(row, op, constant)
        alive[row] = closed(op, constant)
    for value in chance.uniform(-1, 101, 20).tolist():
        assert sorted(index.match(value)) == oracle(alive, value)
    for row in chance.permutation(800)[:600].tolist():
        index.delete(row)
        del alive[row]
    for value in [*chance.uniform(-1, 101, 20).tolist(), *constants[:20].tolist()]:
        assert sorted(index.match(value)) == oracle(alive, value)
    for row in list(alive):
        index.delete(row)
    assert index.cells <= 1 + 2 * 800 // 32


def test_a_red_black_tree_has_no_intervals() -> None:
    with pytest.raises(TypeError):
        RedBlackTree().insert(1, "between", (1.0, 2.0))


@pytest.mark.parametrize("name", STABS)
@given(st.lists(pairs.map(lambda pair: pair[1]), max_size=60), st.lists(asked_values, max_size=20))
@settings(max_examples=60, deadline=None)
def test_trees_of_intervals_stab(
    name: str, intervals: list[tuple[float, float]], values: list[float]
) -> None:
    ends = np.array(intervals, np.float64).reshape(-1, 2)
    stab = STABS[name](ends[:, 0].copy(), ends[:, 1].copy())
    for value in values:
        assert sorted(stab(value).tolist()) == oracle(dict(enumerate(intervals)), value)


def test_trees_of_many_intervals_stab() -> None:
    chance = np.random.default_rng(3)
    low = chance.random(5_000)
    high = low + chance.random(5_000) ** 4
    stabs = {name: make(low, high) for name, make in STABS.items()}
    for value in [*chance.uniform(-0.1, 2, 50).tolist(), *low[:20].tolist(), *high[:20].tolist()]:
        right = np.flatnonzero((low <= value) & (value <= high)).tolist()
        assert {
            name: sorted(stab(value).tolist()) for name, stab in stabs.items()
        } == dict.fromkeys(STABS, right)


@pytest.mark.parametrize("capacity", [1, 5, 60])
@pytest.mark.parametrize(
    "shape",
    [
        BoxShape(4_000, attributes=30, pairs=12, shortest=1, equality=0.5),
        BoxShape(4_000, attributes=3, values=None, pairs=3, longest=3, narrowest=0, widest=0.2),
        BoxShape(4_000, attributes=2_000, pairs=80, shortest=1, longest=2, zipf=1.0),
        BoxShape(4_000, attributes=2, values=2, pairs=2, shortest=1, longest=2),
    ],
)
def test_a_be_tree_of_any_capacity_finds_what_a_scan_finds(shape: BoxShape, capacity: int) -> None:
    boxes = Boxes("drawn", shape, 7, 12)
    codes = coded(boxes, np.arange(len(boxes)))
    tree, scan = be_tree(codes, capacity), compiled_scan(codes)
    answers = [tree(at).tolist() for at in range(12)]
    assert answers == [scan(at).tolist() for at in range(12)]
    assert sum(map(len, answers)) > 12


def grown(make: Callable[[], OneDimension], count: int) -> float:
    """Counts the nodes that a search looks at."""
    chance = np.random.default_rng(2)
    index = make()
    for row, constant in enumerate(chance.permutation(count).tolist()):
        index.insert(row, "=", float(constant))
    before = index.steps
    for value in chance.integers(0, count, 50).tolist():
        index.match(float(value))
    return (index.steps - before) / 50


@pytest.mark.parametrize("name", INTERVALS)
def test_what_is_logarithmic_hardly_grows(name: str) -> None:
    assert grown(ONE[name], 2_000) < 2 * grown(ONE[name], 250)


def test_what_is_linear_grows_with_the_constants() -> None:
    assert grown(RedBlackTree, 2_000) == 8 * grown(RedBlackTree, 250)
