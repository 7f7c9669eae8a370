"""Workloads are what their shapes and the parameters of Table 1 say, and follow from the seed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest

from tamis_bench import begen, clauses, mixed
from tamis_bench.boxes import SHAPES, SPARE, Boxes, Groups
from tamis_bench.coded import coded
from tamis_bench.index import WORKLOADS, plans
from tamis_bench.scans import compiled_scan

SMALL = 4_000


def small(name: str, seed: int = 2, events: int = 40) -> Boxes:
    """A named workload with few subscriptions."""
    (drawn,) = plans([name], {}, 1.0)
    return replace(drawn, shape=replace(drawn.shape, subscriptions=SMALL)).draw(seed, events)


def match_ratio(boxes: Boxes) -> float:
    scan = compiled_scan(coded(boxes, np.arange(len(boxes))))
    return float(np.mean([len(scan(at)) for at in range(len(boxes.events))])) / len(boxes)


def test_draws_without_replacement_follow_the_weights() -> None:
    weights = np.array([4.0, 2.0, 1.0, 1.0])
    rows = 40_000
    drawn = Groups([weights]).draw(
        np.random.default_rng(1), np.zeros(rows, np.int64), 2 * np.arange(rows + 1)
    )
    pairs = np.sort(drawn.reshape(rows, 2), axis=1)
    share = weights / weights.sum()
    expected: dict[tuple[int, int], float] = {}
    for first, second in permutations(range(4), 2):
        key = (min(first, second), max(first, second))
        expected[key] = expected.get(key, 0.0) + share[first] * share[second] / (1 - share[first])
    for (first, second), chance in expected.items():
        found = ((pairs[:, 0] == first) & (pairs[:, 1] == second)).mean()
        assert found == pytest.approx(chance, abs=0.01)
    assert (drawn[::2] == 0).mean() == pytest.approx((drawn[1::2] == 0).mean(), abs=0.02)


def test_draws_from_steep_weights_are_distinct_and_soon_over() -> None:
    steep = np.arange(1.0, 30_001) ** -5.0
    groups = Groups([np.ones(40), steep])
    drawn = groups.draw(np.random.default_rng(1), np.array([1, 0, 1]), np.array([0, 30, 70, 100]))
    for first, last in pairwise([0, 30, 70, 100]):
        assert len(set(drawn[first:last].tolist())) == last - first
    assert sorted(drawn[30:70].tolist()) == list(range(40))


@pytest.mark.parametrize("name", [each for each in WORKLOADS if each != clauses.NAME])
def test_subscriptions_and_events_are_what_the_shape_says(name: str) -> None:
    boxes = small(name)
    shape = boxes.shape
    assert len(boxes) == SMALL + round(SPARE * SMALL)
    lengths = np.diff(boxes.start)
    assert shape.shortest <= lengths.min()
    assert lengths.max() <= shape.longest
    assert lengths.mean() == pytest.approx(
        shape.mean_length or (shape.shortest + shape.longest) / 2, abs=0.3
    )
    assert all(len(set(boxes.attribute[a:b])) == b - a for a, b in pairwise(boxes.start))
    assert (boxes.low <= boxes.high).all()
    if name != mixed.NAME:
        assert (boxes.low == boxes.high).mean() == pytest.approx(shape.equality, abs=0.03)
    assert set((~np.isnan(boxes.events)).sum(axis=1)) == {shape.pairs}
    wanted = shape.match_ratio or 0.001
    assert wanted / 3 < match_ratio(boxes) < 3 * wanted


@pytest.mark.parametrize("name", ["sparse", mixed.NAME])
def test_the_same_seed_gives_the_same_workload(name: str) -> None:
    first, second, other = (small(name, seed, events=3) for seed in (5, 5, 6))
    rows = range(0, SMALL, 100)
    assert list(first.clauses(rows)) == list(second.clauses(rows))
    assert first.event_dicts() == second.event_dicts()
    assert list(first.clauses(rows)) != list(other.clauses(rows))


def test_no_bounds_of_the_continuous_workload_are_alike() -> None:
    boxes = small("continuous")
    bounds = np.concatenate([boxes.low, boxes.high])
    assert len(np.unique(bounds)) == len(bounds)
    assert ((boxes.high - boxes.low > 0.009) & (boxes.high - boxes.low < 0.301)).all()


def test_ads_use_few_attributes_most() -> None:
    popularity = np.bincount(small("ads").attribute, minlength=122)
    assert (np.diff(popularity[[0, 3, 10, 40, 121]]) < 0).all()
    assert popularity[0] > 0.6 * SMALL


def test_sparse_subscriptions_use_all_sorts_of_attributes() -> None:
    boxes = small("sparse")
    assert len(np.unique(boxes.attribute)) > 6_000
    assert len(SHAPES) == 7


def test_the_mixed_workload_has_its_shares_of_predicates() -> None:
    boxes = small(mixed.NAME)
    ops = [
        (op, isinstance(constant, str))
        for _, clauses in boxes.clauses(range(len(boxes)))
        for _, op, constant in clauses
    ]
    count = len(ops)
    strings = sum(op == "starts with" or (op == "=" and word) for op, word in ops)
    assert strings / count == pytest.approx(0.15, abs=0.02)
    assert sum(op == "in" for op, _ in ops) / count == pytest.approx(0.10, abs=0.01)
    assert sum(op == "!=" for op, _ in ops) / count == pytest.approx(0.05, abs=0.01)
    assert {op for op, _ in ops} == {"=", "!=", "in", "starts with", "<=", ">=", "between"}
    kinds = {type(value) for event in boxes.event_dicts() for value in event.values()}
    assert kinds == {str, float}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"zipf": 1.0},
        {"zipf": 5.0, "dimensions": 1_000},
        {"dimensions": 30_000},
        {"cardinality": 3},
        {"subscription_size": 20},
        {"event_size": 90},
        {"matching": 0.5},
        {"equality": 1.0},
    ],
)
def test_parameters_of_table_1_are_kept(given: dict[str, float]) -> None:
    ((_, table),) = begen.combinations(
        {"subscriptions": [SMALL], **{name: [value] for name, value in given.items()}}
    )
    boxes = Boxes(begen.NAME, begen.shape_of(table), 3, 40)
    assert match_ratio(boxes) == pytest.approx(table["matching"], rel=0.6)
    assert boxes.mean_length == pytest.approx(table["subscription_size"], rel=0.1)
    assert (boxes.low == boxes.high).mean() == pytest.approx(table["equality"], abs=0.03)
    assert set((~np.isnan(boxes.events)).sum(axis=1)) == {table["event_size"]}
    assert boxes.high.max() == table["cardinality"] - 1
    popularity = np.bincount(boxes.attribute, minlength=int(table["dimensions"]))
    if table["zipf"]:
        assert popularity[0] > 3 * popularity[9]


def test_values_of_a_parameter_make_workloads_of_their_own() -> None:
    tables = list(begen.combinations({"zipf": [0.0, 1.0], "dimensions": [100, 1_000]}))
    assert [title for title, _ in tables] == [
        "begen",
        "begen dimensions 1,000",
        "begen zipf 1.0",
        "begen zipf 1.0 dimensions 1,000",
    ]
    assert tables[-1][1] == begen.DEFAULTS | {"zipf": 1.0, "dimensions": 1_000}
    assert list(begen.combinations({"zipf": None})) == [("begen", begen.DEFAULTS)]
