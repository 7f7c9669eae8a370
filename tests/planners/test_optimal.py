"""`optimal` is the optimum, nobody expects to pay less, and `savings` little more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import PlannerError
from tamis.planning import Problem
from tamis.plugins.loader import installed

from .exact import expected_cost, least_expected_cost, made, problem_of, random_problem

PLANNERS = sorted(installed().planners)
FEATURES = ("costs", "signs", "shared", "siblings", "failures", "groups", "batches")


@st.composite
def problems(draw: st.DrawFn, calls: int) -> Problem:
    """Small problems with any features."""
    features = draw(st.sets(st.sampled_from(FEATURES)))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    return random_problem(chance, calls, **dict.fromkeys(features, True))


@given(problems(3))
def test_it_is_the_optimum(problem: Problem) -> None:
    assert expected_cost("optimal", problem) == pytest.approx(least_expected_cost(problem))


@given(problems(4))
def test_nobody_expects_to_pay_less(problem: Problem) -> None:
    least = expected_cost("optimal", problem)
    for planner in PLANNERS:
        assert expected_cost(planner, problem) >= least - 1e-9 * (1.0 + least)


@given(problems(3), st.integers(2, 4))
def test_rounds_decide_all_and_ask_nothing_twice(problem: Problem, limit: int) -> None:
    least = expected_cost("optimal", problem)
    for planner in PLANNERS:
        assert expected_cost(planner, problem, limit) >= least - 1e-9 * (1.0 + least)


@pytest.mark.parametrize(
    ("features", "mean", "rarely_more"),
    [
        ((), 1.01, 1.10),
        (("costs",), 1.01, 1.10),
        (("costs", "signs", "shared"), 1.01, 1.15),
        (("costs", "siblings"), 1.01, 1.15),
        (("costs", "groups"), 1.01, 1.15),
        (("costs", "batches"), 1.02, 1.20),
    ],
)
def test_savings_expects_to_pay_little_more(
    features: tuple[str, ...], mean: float, rarely_more: float
) -> None:
    """On average, and in 98 of 100 problems."""
    chance = np.random.default_rng(11)
    ratios = []
    for _ in range(350):
        problem = random_problem(chance, 5, **dict.fromkeys(features, True))
        ratios.append(expected_cost("savings", problem) / expected_cost("optimal", problem))
    assert np.mean(ratios) <= mean
    assert np.quantile(ratios, 0.98) <= rarely_more


def test_what_is_too_large_is_an_error() -> None:
    chance = np.random.default_rng(1)
    alternatives = [
        [(test, 1) for test in chance.choice(40, 4, replace=False).tolist()] for _ in range(60)
    ]
    problem = problem_of(alternatives, [0.5] * 40, [1.0] * 40)
    with pytest.raises(PlannerError, match="60 alternatives over 40 calls, too many"):
        made("optimal", problem).begin(problem).next(1)


def test_what_would_take_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches have as many sets as states: it took minutes."""
    chance = np.random.default_rng(1)
    alternatives = [
        [(test, 1) for test in chance.choice(12, 4, replace=False).tolist()] for _ in range(12)
    ]
    problem = problem_of(alternatives, [0.5] * 12, [1.0] * 12)
    together = replace(problem, call_batch=np.zeros(12, np.int64), call_marginal=np.full(12, 0.1))
    monkeypatch.setattr("tamis_planners.optimal.STEPS", 2_000)
    with pytest.raises(PlannerError, match="12 alternatives over 12 calls, too many"):
        made("optimal", together).begin(together).next(1)
