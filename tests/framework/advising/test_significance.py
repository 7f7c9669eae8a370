"""The tests of significance against those of SciPy's statistics that they do not use."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tamis.advising.significance import (
    adjusted,
    kinds_differ,
    shares_differ,
    values_differ,
)

stats = pytest.importorskip("scipy.stats", reason="pip install 'tamis[bench]' brings SciPy")

COUNTS = st.tuples(st.integers(0, 60), st.integers(0, 60))


@given(COUNTS, COUNTS)
def test_few_counts_are_compared_exactly(one: tuple[int, int], other: tuple[int, int]) -> None:
    (part, rest), (part_2, rest_2) = one, other
    whole, whole_2 = part + rest, part_2 + rest_2
    assume(whole and whole_2)
    least = min(part + part_2, rest + rest_2) * min(whole, whole_2) / (whole + whole_2)
    assume(least < 10)
    expected = stats.fisher_exact([[part, rest], [part_2, rest_2]]).pvalue
    assert shares_differ(part, whole, part_2, whole_2) == pytest.approx(expected, abs=1e-9)


@given(*[st.integers(100, 100_000)] * 4)
def test_many_counts_are_compared_by_their_likelihood(
    part: int, rest: int, part_2: int, rest_2: int
) -> None:
    expected = stats.chi2_contingency(
        [[part, rest], [part_2, rest_2]], correction=False, lambda_="log-likelihood"
    ).pvalue
    found = shares_differ(part, part + rest, part_2, part_2 + rest_2)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(st.lists(st.tuples(st.integers(1, 5_000), st.integers(1, 5_000)), min_size=2, max_size=6))
def test_kinds_are_compared_by_their_likelihood(pairs: list[tuple[int, int]]) -> None:
    counts, others = map(list, zip(*pairs, strict=True))
    expected = stats.chi2_contingency(
        [counts, others], correction=False, lambda_="log-likelihood"
    ).pvalue
    assert kinds_differ(counts, others) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(st.integers(0, 10_000), st.integers(20, 257), st.integers(20, 257), st.floats(0, 1))
def test_values_are_compared_as_samples_are(seed: int, one: int, two: int, moved: float) -> None:
    chance = random.Random(seed)
    mine = sorted(chance.random() for _ in range(one))
    theirs = sorted(chance.random() + moved for _ in range(two))
    expected = stats.ks_2samp(mine, theirs, method="exact")
    apart, found = values_differ(mine, one, theirs, two)
    assert apart == pytest.approx(expected.statistic)
    assert found == pytest.approx(expected.pvalue, rel=0.35, abs=0.05)


def test_quantiles_of_many_values_are_held_against_a_difference() -> None:
    values = [float(each) for each in range(257)]
    assert values_differ(values, 257, [each + 1 for each in values], 257)[0] > 0
    apart, chance = values_differ(values, 10**6, [each + 1 for each in values], 10**6)
    assert (apart, chance) == (0.0, 1.0)
    assert values_differ(values, 10**6, [each + 20 for each in values], 10**6)[1] < 1e-9


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_adjusted_as_benjamini_and_hochberg_have_it(chances: list[float]) -> None:
    assert adjusted(chances) == pytest.approx(list(stats.false_discovery_control(chances)))


def test_nothing_to_compare() -> None:
    assert shares_differ(0, 0, 5, 10) == 1.0
    assert kinds_differ([3, 0], [5, 0]) == 1.0
    assert kinds_differ([0, 0], [5, 1]) == 1.0
    assert adjusted([]) == []
    assert values_differ([], 0, [1.0], 1) == (0.0, 1.0)
    with pytest.raises(ValueError, match="11 is not part of 10"):
        shares_differ(11, 10, 0, 10)
