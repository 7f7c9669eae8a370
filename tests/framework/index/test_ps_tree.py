"""PS-Trees beside an oracle that sorts bounds anew each time, and the examples of the paper."""

from __future__ import annotations

import bisect
import itertools
import math
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tamis.index.ps_tree import PSTree, PSTrees, Space

Predicate = tuple[float, float, bool]
"""Its first and last value, and whether it is what lies outside of them."""

EDGES = (
    *(math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1.0, math.nextafter(1.0, 2.0), -1.0),
    *(math.nextafter(1.0, 0.0), 2.0**53, sys.float_info.max, -sys.float_info.max, 3.0, 7.5),
)
values = st.one_of(st.sampled_from(EDGES), st.floats(allow_nan=False))
predicates = st.builds(
    lambda one, other, outside: (min(one, other), max(one, other), outside),
    *(values, values, st.booleans()),
)


def boundaries(asked: Iterable[Predicate]) -> list[float]:
    """The first values of the spaces, in order."""
    found = {-math.inf}
    for low, high, _ in asked:
        found.add(low)
        if high < math.inf:
            found.add(math.nextafter(high, math.inf))
    return sorted(found)


def holds(predicate: Predicate, value: float) -> bool:
    low, high, outside = predicate
    return (low <= value <= high) is not outside


def check(tree: PSTree, asked: list[Predicate]) -> None:
    """Compares all spaces with those that the predicates have."""
    begins = boundaries(asked)
    spaces = tree.spaces()
    assert [space.low for space in spaces] == begins
    ends = [math.nextafter(begin, -math.inf) for begin in begins[1:]]
    assert [space.high for space in spaces] == [*ends, math.inf]
    assert len(tree) == len(spaces) == len({space.leaf for space in spaces})
    change = [0] * (len(begins) + 1)
    for low, high, outside in asked:
        first, last = bisect.bisect_left(begins, low), bisect.bisect_right(begins, high)
        for at, sign in ((0, int(outside)), (first, 1 - 2 * outside), (last, 2 * outside - 1)):
            change[at] += sign
    assert [space.predicates for space in spaces] == list(itertools.accumulate(change[:-1]))


class Trees(RuleBasedStateMachine):
    """Predicates come and go, one by one and many at once; lists hang on the leaves."""

    def __init__(self) -> None:
        super().__init__()
        self.trees = PSTrees(3)
        self.tree = self.trees[1]
        self.asked: dict[int, Predicate] = {}
        self.hung: dict[int, set[int]] = {self.tree.locate(0.0): set()}
        self.numbers = itertools.count()
        self.events = 0

    def hang_anew(self) -> None:
        self.hung = {
            space.leaf: {n for n, asked in self.asked.items() if holds(asked, space.low)}
            for space in self.tree.spaces()
        }

    @rule(predicate=predicates)
    def insert(self, predicate: Predicate) -> None:
        low, high, outside = predicate
        number = next(self.numbers)
        for stays, other in self.tree.insert(low, high, outside=outside):
            self.hung[other] = set(self.hung[stays])
        for leaf in self.tree.leaves(low, high, outside=outside).tolist():
            self.hung[leaf].add(number)
        self.asked[number] = predicate

    @rule(start=values.filter(math.isfinite), step=st.sampled_from((1e-3, 1.0, 1e300)),
          many=st.integers(2, 150), outside=st.booleans(), seed=st.integers(0, 3))  # fmt: skip
    def insert_a_row(self, start: float, step: float, many: int, outside: bool, seed: int) -> None:
        """Enough for several blocks: ascending, descending or shuffled, one by one."""
        steps = list(range(many))
        if seed:
            np.random.default_rng(seed).shuffle(steps)
        with np.errstate(over="ignore"):
            bounds = [(start + at * step, start + (at + 2) * step) for at in steps]
        for low, high in bounds:
            self.tree.insert(low, high, outside=outside)
            self.asked[next(self.numbers)] = (low, high, outside)
        self.hang_anew()

    @rule(many=st.lists(predicates, max_size=20))
    def build(self, many: list[Predicate]) -> None:
        low, high, outside = zip(*many, strict=True) if many else ((), (), ())
        self.trees.build(1, low, high, np.array(outside, np.bool_))
        self.asked |= dict(zip(self.numbers, many, strict=False))
        self.hang_anew()

    @precondition(lambda self: self.asked)
    @rule(place=st.integers(0, 10**6))
    def delete(self, place: int) -> None:
        self._delete(list(self.asked)[place % len(self.asked)])

    @precondition(lambda self: self.asked)
    @rule(share=st.sampled_from((0.5, 0.9, 1.0)), seed=st.integers(0, 3))
    def delete_many(self, share: float, seed: int) -> None:
        chosen = np.random.default_rng(seed).permutation(list(self.asked))
        for number in chosen[: round(share * len(chosen))].tolist():
            self._delete(number)

    def _delete(self, number: int) -> None:
        low, high, outside = self.asked.pop(number)
        for each in self.hung.values():
            each.discard(number)
        for stays, other in self.tree.delete(low, high, outside=outside):
            assert self.hung[stays] == self.hung.pop(other)

    @rule(predicate=predicates)
    def delete_what_is_not_there(self, predicate: Predicate) -> None:
        low, high, outside = predicate
        mine = boundaries([predicate])
        if not {each for each in mine if each > -math.inf} <= set(boundaries(self.asked.values())):
            with pytest.raises(KeyError):
                self.tree.delete(low, high, outside=outside)

    @rule(seen=st.lists(values, max_size=20))
    def count(self, seen: list[float]) -> None:
        self.tree.count(seen)
        self.events += len(seen)

    @rule(predicate=predicates, middle=values)
    def events_add_up(self, predicate: Predicate, middle: float) -> None:
        low, high, _ = predicate
        within = self.tree.events_in(low, high)
        beside = self.tree.events_in(low, high, outside=True)
        assert 0 <= within <= self.events * (1 + 1e-9)
        assert within + beside == pytest.approx(self.events)
        if low <= middle < high:
            left = self.tree.events_in(low, middle)
            right = self.tree.events_in(math.nextafter(middle, math.inf), high)
            assert left + right == pytest.approx(within, abs=1e-9 * self.events)

    @rule(asked=st.lists(values, max_size=20))
    def locate(self, asked: list[float]) -> None:
        found = self.tree.locate_many(asked).tolist()
        assert found == [self.tree.locate(value) for value in asked]
        spaces = {space.leaf: space for space in self.tree.spaces()}
        for leaf, value in zip(found, asked, strict=True):
            assert spaces[leaf].low <= value <= spaces[leaf].high

    @invariant()
    def spaces(self) -> None:
        check(self.tree, list(self.asked.values()))
        spaces = self.tree.spaces()
        assert sum(space.events for space in spaces) == pytest.approx(self.events)
        assert self.tree.events_in(-math.inf, math.inf) == pytest.approx(self.events)
        assert self.hung.keys() == {space.leaf for space in spaces}
        for space in spaces[:: 1 + len(spaces) // 40]:
            right = {n for n, asked in self.asked.items() if holds(asked, space.low)}
            assert self.hung[space.leaf] == right
        assert [len(self.trees[dimension]) for dimension in (0, 2)] == [1, 1]


TestTrees = pytest.mark.long(Trees.TestCase)
TestTrees.settings = settings(stateful_step_count=20)


def intervals(tree: PSTree) -> list[tuple[float, float, int]]:
    return [(space.low, space.high, space.predicates) for space in tree.spaces()]


def below(value: float) -> float:
    return math.nextafter(value, -math.inf)


def above(value: float) -> float:
    return math.nextafter(value, math.inf)


def test_the_bytes_of_section_4_1() -> None:
    """[-128, -5) [-5, -1] (-1, 1) [1, 5] (5, 127], of which the second and fourth are covered."""
    tree = PSTree()
    for low, high in ((-5, -1), (1, 5)):
        tree.insert(low, high)
    assert intervals(tree) == [
        (-math.inf, below(-5), 0),
        (-5, -1, 1),
        (above(-1), below(1), 0),
        (1, 5, 1),
        (above(5), math.inf, 0),
    ]
    assert tree.leaves(1, 5).tolist() == [tree.locate(2)]


def test_the_ages_of_section_4_4() -> None:
    """[1, 20) [20, 30) [30, 60] (60, 80] (80, 100] as algorithms.md reads them; then without S2."""
    tree = PSTree()
    tree.insert(20, 60)
    tree.insert(30, 80)
    assert intervals(tree) == [
        (-math.inf, below(20), 0),
        (20, below(30), 1),
        (30, 60, 2),
        (above(60), 80, 1),
        (above(80), math.inf, 0),
    ]
    tree.delete(30, 80)
    assert intervals(tree) == [
        (-math.inf, below(20), 0),
        (20, 60, 1),
        (above(60), math.inf, 0),
    ]


def test_equally_many_predicates_are_no_reason_to_merge() -> None:
    tree = PSTree()
    tree.insert(1, 2)
    tree.insert(above(2), 3)
    tree.insert(0, 9)
    tree.delete(0, 9)
    assert intervals(tree) == [
        (-math.inf, below(1), 0),
        (1, 2, 1),
        (above(2), 3, 1),
        (above(3), math.inf, 0),
    ]


def test_both_zeros_are_one_boundary() -> None:
    tree = PSTree()
    tree.insert(0.0, 1.0)
    assert tree.insert(-0.0, 1.0) == []
    assert tree.locate(-0.0) == tree.locate(0.0) != tree.locate(-5e-324)
    tree.delete(-0.0, 1.0)
    tree.delete(0.0, 1.0)
    assert len(tree) == 1


def test_bounds_that_are_infinite() -> None:
    tree = PSTree()
    tree.insert(-math.inf, -math.inf)
    tree.insert(math.inf, math.inf)
    tree.insert(-math.inf, math.inf)
    assert intervals(tree) == [
        (-math.inf, -math.inf, 2),
        (-sys.float_info.max, sys.float_info.max, 1),
        (math.inf, math.inf, 2),
    ]


@pytest.mark.parametrize(("low", "high"), [(2.0, 1.0), (math.nan, 1.0), (1.0, math.nan)])
def test_what_is_no_range_is_refused(low: float, high: float) -> None:
    tree = PSTree()
    for refuse in (
        lambda: tree.insert(low, high),
        lambda: tree.delete(low, high),
        lambda: tree.build([low], [high]),
    ):
        with pytest.raises(ValueError, match="range"):
            refuse()
    assert len(tree) == 1
    assert tree.events_in(low, high) == 0.0


def test_nan_is_nowhere() -> None:
    tree = PSTree()
    tree.insert(0, 1)
    tree.count([math.nan, 0.5])
    assert tree.locate_many([math.nan, -math.nan]).tolist() == [-1, -1]
    assert tree.events_in(-math.inf, math.inf) == 1.0


@given(st.lists(st.tuples(st.integers(0, 4), predicates), max_size=60), st.integers(0, 60))
def test_many_at_once_are_as_one_by_one(many: list[tuple[int, Predicate]], first: int) -> None:
    single = [PSTree() for _ in range(5)]
    together = PSTrees(5)
    for part in (many[:first], many[first:]):
        for dimension, (low, high, outside) in part:
            single[dimension].insert(low, high, outside=outside)
        together.build(
            [dimension for dimension, _ in part],
            [asked[0] for _, asked in part],
            [asked[1] for _, asked in part],
            np.array([asked[2] for _, asked in part], np.bool_),
        )
    for dimension, tree in enumerate(single):
        assert intervals(together[dimension]) == intervals(tree)


@pytest.mark.parametrize("build_first", [True, False])
def test_a_long_life(build_first: bool) -> None:
    """Thousands of boundaries, so that directories grow and shrink too."""
    chance = np.random.default_rng(7)
    low = chance.integers(0, 40_000, 12_000) / 8
    high = low + chance.integers(0, 100, len(low)) / 8
    tree = PSTree()
    half = len(low) // 2 if build_first else 0
    tree.build(low[:half], high[:half])
    seen = chance.random(500) * 5_000
    tree.count(seen)
    for begin, end in zip(low[half:].tolist(), high[half:].tolist(), strict=True):
        tree.insert(begin, end)
    check(tree, [(*bounds, False) for bounds in zip(low.tolist(), high.tolist(), strict=True)])
    size = tree.nbytes
    order = chance.permutation(len(low))
    for at in order[:-5].tolist():
        tree.delete(low[at], high[at])
    left = order[-5:]
    check(tree, [(float(low[at]), float(high[at]), False) for at in left])
    assert tree.events_in(-math.inf, math.inf) == pytest.approx(len(seen))
    tree.build(low[order[:-5]], high[order[:-5]])
    assert tree.nbytes <= 1.2 * size


def test_events_are_exact_between_boundaries() -> None:
    chance = np.random.default_rng(3)
    low = np.sort(chance.random(500))
    high = low + 0.1
    tree = PSTree()
    tree.build(low, high)
    seen = chance.random(3_000)
    tree.count(seen)
    for begin, end in zip(low.tolist(), high.tolist(), strict=True):
        right = int(((seen >= begin) & (seen <= end)).sum())
        assert tree.events_in(begin, end) == right
        assert tree.events_in(begin, end, outside=True) == len(seen) - right
        assert tree.selectivity(begin, end) == right / len(seen)


def test_events_are_shared_out_and_added_up() -> None:
    tree = PSTree()
    assert tree.selectivity(0, 1) is None
    tree.count([0.5, *range(101)])
    assert tree.events_in(-math.inf, 25) == pytest.approx(102 * 0.25)
    tree.insert(75, math.inf)
    left, right = tree.spaces()
    assert (left.events, right.events) == pytest.approx((76.5, 25.5))
    tree.count([80.0] * 20)
    tree.delete(75, math.inf)
    (space,) = tree.spaces()
    assert space.events == pytest.approx(122)


def test_events_of_integers_lie_on_integers() -> None:
    tree = PSTree()
    tree.count(list(range(10)) * 3)
    assert tree.events_in(4, 4) == pytest.approx(3)
    assert tree.events_in(4.5, 4.5) == 0
    tree.insert(2, 3)
    assert [space.events for space in tree.spaces()] == pytest.approx([6, 6, 18])


def test_one_value_seen_often_is_exact_for_any_range() -> None:
    tree = PSTree()
    tree.count([2.5] * 8)
    assert [tree.events_in(0, 2), tree.events_in(2, 2.5), tree.events_in(2.5, 9)] == [0, 8, 8]


def test_events_at_infinity_are_halved() -> None:
    tree = PSTree()
    tree.count([0.0, math.inf])
    assert tree.events_in(5, 9e300) == 0.0
    assert tree.events_in(5, math.inf) == 1.0


def test_what_is_saved_goes_on(tmp_path: Path) -> None:
    trees = PSTrees(2)
    trees.build([0, 0, 1], [1, 2, 3], [5, 6, 7])
    trees.count(1, [4.0, 9.0], times=[1, 3])
    for name, array in trees.used().items():
        np.save(tmp_path / f"{name}.npy", array)

    def opened() -> PSTrees:
        taken = PSTrees()
        taken.adopt({name: np.load(tmp_path / f"{name}.npy") for name in trees.used()})
        return taken

    other = opened()
    assert [other[at].spaces() for at in range(2)] == [trees[at].spaces() for at in range(2)]
    for low in range(50):
        other[0].insert(low, low + 0.5)
    other[1].delete(3, 7)
    assert other[1].spaces()[0].events == 4
    again = opened()
    assert [again[at].spaces() for at in range(2)] == [trees[at].spaces() for at in range(2)]


def test_there_are_as_many_trees_as_were_opened() -> None:
    trees = PSTrees(1)
    trees.open(3)
    assert len(trees) == 3
    assert [trees[at].spaces()[0][1:] for at in range(3)] == [(-math.inf, math.inf, 0, 0.0)] * 3
    with pytest.raises(IndexError, match="3 dimensions"):
        trees[3]


def test_a_space_says_what_it_is() -> None:
    assert Space._fields == ("leaf", "low", "high", "predicates", "events")
