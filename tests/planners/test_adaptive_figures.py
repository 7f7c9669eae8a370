"""`savings` on the workload of the paper: what preparations, batches, rounds and scenes save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.planning import FALSE, TRUE, Problem, Scenes

from .exact import made, problem_of

Bools = NDArray[np.bool_]


@cache
def zipf(predicates: int, alternatives: int) -> Problem:
    """Alternatives of 3 to 5 tests, drawn with weights 1/rank; one in 500 is true of an event."""
    chance = np.random.default_rng(1)
    weight = 1.0 / np.arange(1, predicates + 1)
    drawn = [
        chance.choice(predicates, size, replace=False, p=weight / weight.sum()).tolist()
        for size in chance.integers(3, 6, alternatives)
    ]
    used = sorted({test for tests in drawn for test in tests})
    number = {test: at for at, test in enumerate(used)}
    held = [[(number[test], 1) for test in tests] for tests in drawn]
    share = chance.random(len(used)) * 0.3
    return problem_of(held, share.tolist(), [1.0] * len(used))


def rounds(problem: Problem, truth: Bools, limit: int = 1) -> list[list[int]]:
    """What `savings` asks for when this is true; every test has its own call and wants truth."""
    run = made("savings", problem).begin(problem)
    holders = problem.call_alternatives
    left = np.diff(problem.alternative_start).tolist()
    asked: list[list[int]] = []
    while calls := list(run.next(limit)):
        asked.append(calls)
        for call in calls:
            decided = []
            for alternative in holders[call]:
                if left[alternative] > 0:
                    left[alternative] = left[alternative] - 1 if truth[call] else 0
                    if not left[alternative]:
                        decided.append(alternative)
            run.observe([call], [TRUE if truth[call] else FALSE], decided)
    assert not any(left)
    return asked


def events(problem: Problem, count: int) -> list[Bools]:
    chance = np.random.default_rng(2)
    return [chance.random(problem.calls) < problem.test_selectivity for _ in range(count)]


def test_operators_that_answer_sixteen_predicates() -> None:
    """Through preparations and through batches alike."""
    plain = zipf(5_000, 20_000)
    calls = plain.calls
    group = (np.random.default_rng(3).permutation(calls) // 16).astype(np.int64)
    cheap: dict[str, Any] = {"call_marginal": np.full(calls, 1e-3)}
    prepared = replace(
        plain,
        call_group=group,
        group_price=np.ones(group.max() + 1),
        call_cost=cheap["call_marginal"],
        **cheap,
    )
    batched = replace(plain, call_batch=group, **cheap)
    made_alone = paid = invoked = 0
    for truth in events(plain, 3):
        made_alone += len(rounds(plain, truth))
        paid += len({int(group[call]) for calls in rounds(prepared, truth) for call in calls})
        batches = rounds(batched, truth)
        invoked += len(batches)
        assert all(len({int(group[call]) for call in calls}) == 1 for calls in batches)
    assert paid <= 0.29 * made_alone
    assert invoked <= 0.29 * made_alone


def test_rounds_are_few_and_waste_little() -> None:
    problem = zipf(5_000, 20_000)
    some = events(problem, 4)
    alone = sum(len(rounds(problem, truth)) for truth in some)
    for limit in (128, 100_000):
        seen = [rounds(problem, truth, limit) for truth in some]
        assert sum(map(len, seen)) <= 20 * len(some)
        assert sum(len(calls) for each in seen for calls in each) <= 1.005 * alone


def test_scenes_are_recognized_on_the_way() -> None:
    """What knowing the scene would save, outcomes tell almost all of."""
    plain = zipf(2_000, 8_000)
    chance = np.random.default_rng(4)
    odds = np.log(plain.test_selectivity / (1.0 - plain.test_selectivity))
    shares = 1.0 / (1.0 + np.exp(-(odds + chance.normal(0.0, 3.0, (6, plain.calls)))))
    scenes = Scenes(np.full(6, 1.0 / 6.0), shares)
    mean = replace(plain, test_selectivity=shares.mean(axis=0))
    told = [replace(plain, test_selectivity=share) for share in shares]

    def cost(problems: Sequence[Problem]) -> int:
        return sum(
            len(rounds(problem, truth)) for problem, truth in zip(problems, truths, strict=True)
        )

    kinds = chance.integers(0, 6, 18).tolist()
    truths = [chance.random(plain.calls) < shares[kind] for kind in kinds]
    blind = cost([mean] * len(kinds))
    knowing = cost([told[kind] for kind in kinds])
    learning = cost([replace(mean, scenes=scenes)] * len(kinds))
    assert knowing < 0.97 * blind
    assert blind - learning >= 0.8 * (blind - knowing)
