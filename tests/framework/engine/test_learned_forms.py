"""Rows of numbers, interpreted and compiled, say what a plain model with an object each says."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis import Preparation, Statistics
from tamis.calling.answers import Answer, Failure, PreparationSeconds
from tamis.catalog.interned import NumberedThings
from tamis.engine.decision import Decision
from tamis.engine.learned import OnlineStatistics
from tamis.engine.seen_form import Table, compiled_form
from tamis.operators.asking import Call, Solution, Test
from tamis.planning import FALSE, UNKNOWN
from tamis.statistics import PredicateStatistics
from tamis.testing import TableOperator

from .plain_learned import PlainLearned
from .test_learned import call_of, called, decided, plain, progress_of

DECODE = Preparation("decode", lambda event: None, cost_seconds=0.01)
CONDITIONS = (
    *("count(a, ?n)", "count(a, ?n) and ?n > 3", "count(a, ?n) and ?n > 11"),
    *("count(a, 5)", "count(a, ?n) and ?n > $limit", "count(b, ?n) and ?n > 3"),
    *("count(c, ?n) and ?n < 2", "count(c, ?n) and count(b, ?n)"),
)


def all_kinds_of_tests() -> list[Test]:
    matcher = tamis.Matcher([TableOperator("count", outputs=("n",), cost_seconds=0.02)])
    for condition in CONDITIONS:
        matcher.subscribe(condition)
    decision = matcher.match({"count": {}, "limit": 3})._seen.decision
    assert decision is not None
    tests = list(decision.skeleton.tests)
    tests += [plain(call_of("seen", key, cost_seconds=0.25)) for key in "abc"]
    tests += [plain(call_of("shown", key, preparation=DECODE)) for key in "ab"]
    tests += [
        plain(call_of("heard", key, cost_seconds=0.1, marginal_cost_seconds=0.01)) for key in "abcd"
    ]
    for test in tests[-4:]:
        test.call.batched = True
    return tests


TESTS = all_kinds_of_tests()
CALLS: list[Call] = list(dict.fromkeys(test.call for test in TESTS))


def history_of(chance: Random) -> Statistics:
    """What may be known of these tests: counts, opinions, costs, answers of calls, or nothing."""
    known = Statistics()
    if chance.random() < 0.3:
        return known
    texts = [*(test.text for test in TESTS), *(call.text for call in CALLS)]
    for text in dict.fromkeys(texts):
        tested = chance.choice([None, 0, 3, 50, 5000])
        counts = chance.random() < 0.5 and tested is not None
        if chance.random() < 0.4:
            known.predicates[text] = PredicateStatistics(
                tested=tested,
                satisfied=chance.randrange(tested // 2 + 1) if counts and tested else None,
                failed=chance.randrange(tested // 2 + 1) if tested else None,
                selectivity=chance.choice([None, 0.0, 0.3, 1.0]),
                cost_seconds=chance.choice([None, 0.0, 0.004, 2.0]),
                measured=chance.choice([None, 2, 100]),
            )
    return known


def answer_of(call: Call, chance: Random, seconds: float) -> Answer:
    """What a call may give, at whatever cost."""
    prepared: tuple[PreparationSeconds, ...] = ()
    if call.specification.preparation is not None and chance.random() < 0.5:
        prepared = (PreparationSeconds(DECODE, chance.random()),)
    together = chance.choice([1, 1, 2, 7]) if call.batched else 1
    seconds *= chance.choice([1.0, 1.0, 1.0, 0.01, 50.0])
    given: dict[str, Any] = {"seconds": seconds, "prepared": prepared, "together": together}
    if chance.random() < 0.1:
        return Answer(failure=Failure("raised", "no model"), **given)
    if call.width:
        counts: list[Solution] = [
            (chance.randrange(16),) for _ in range(chance.choice([0, 1, 1, 80]))
        ]
        return Answer(solutions=counts, cut=chance.random() < 0.1, **given)
    return Answer(chance.random() < 0.5, **given)


def event_of(
    tests: list[Test], calls: list[Call], chance: Random, likely: float, *, is_large: bool
) -> Decision:
    """An event in which some of the tests came out, whether their calls were made or not."""
    numbers = [at for at in range(len(tests)) if chance.random() < 0.7]
    chance.shuffle(numbers)
    of_calls = [at for at in range(len(calls)) if chance.random() < 0.7]
    outcome = [3] * len(tests)
    for at in numbers:
        outcome[at] = UNKNOWN if chance.random() < 0.1 else int(chance.random() < likely)
    decision = SimpleNamespace(
        skeleton=SimpleNamespace(
            tests=tests, calls=calls, problem=SimpleNamespace(is_large=is_large)
        ),
        excluded={at: None for at in numbers if chance.random() < 0.05},
        outcomes=dict.fromkeys(numbers, "called"),
        outcome=outcome,
        progress=progress_of(numbers, outcome),
        made=[at for at in of_calls if chance.random() < 0.8],
        answers={at: answer_of(calls[at], chance, 0.002) for at in of_calls},
    )
    return cast(Decision, decision)


def numbers_of(
    learned: OnlineStatistics | PlainLearned, tests: list[Test], calls: list[Call]
) -> object:
    """All that it says of tests and calls, to the last bit."""
    return (
        learned.stamp,
        learned.selectivities(tests).tolist(),
        learned.costs(calls).tolist(),
        learned.marginal_costs(calls).tolist(),
        learned.failures(calls).tolist(),
        learned.prices([DECODE]).tolist(),
    )


def compare(large: float, chance: Random) -> None:
    """Compares rows with the plain model on a random stream, of which so many events are large."""
    history = history_of(chance)
    model, rows = PlainLearned(history), OnlineStatistics(history)
    whole, likely = (TESTS, CALLS), 0.3
    stranger = called(plain(call_of("stranger", "a")), FALSE)
    for _ in range(chance.randrange(60)):
        if chance.random() < 0.1:
            likely = chance.random()
        tests = chance.sample(TESTS, chance.randrange(1, len(TESTS) + 1))
        some = tests, list(dict.fromkeys(test.call for test in tests))
        tests, calls = chance.choice([whole, whole, some])
        if chance.random() < 0.3:
            assert numbers_of(rows, tests, calls) == numbers_of(model, tests, calls)
        many = [
            event_of(tests, calls, chance, likely, is_large=chance.random() < large)
        ] * chance.choice([1, 1, 3, 20])
        pause = chance.choice([0, 0, 0, 40, 900]) * (chance.random() < 0.1)
        for event in [*many, *[decided(stranger)] * pause]:
            rows.observe(event)
            model.observe(event)
    assert numbers_of(rows, *whole) == numbers_of(model, *whole)
    assert rows.statistics().predicates == model.statistics().predicates


@pytest.mark.parametrize("large", [0.0, 1.0, 0.1], ids=["interpreted", "compiled", "growing"])
@given(st.integers(0, 2**32))
def test_rows_say_what_the_plain_model_says(large: float, seed: int) -> None:
    compare(large, Random(seed))


@pytest.mark.parametrize("is_large", [False, True], ids=["interpreted", "compiled"])
@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(2, 12))
def test_what_is_forgotten_is_what_the_plain_model_forgets(
    is_large: bool, seed: int, capacity: int
) -> None:
    """One test is seen an event: of several that were seen together, none is the older one."""
    chance = Random(seed)
    model, rows = PlainLearned(capacity=capacity), OnlineStatistics(capacity=capacity)
    for _ in range(chance.randrange(100)):
        test = chance.choice(TESTS)
        event = event_of([test], [test.call], chance, 0.3, is_large=is_large)
        event.excluded.clear()
        rows.observe(event)
        model.observe(event)
    assert rows.statistics().predicates == model.statistics().predicates
    assert rows.stamp == model.stamp


def test_a_number_that_is_given_anew_leads_to_another_row() -> None:
    table = Table(compiled_form(), 2)

    def place(texts: Sequence[str]) -> list[int]:
        new = dict.fromkeys(text for text in texts if text not in table.places)
        table.add_all(new, np.zeros(2), {})
        return [table.places[text] for text in texts]

    def places(*things: tuple[str, int, int]) -> list[int]:
        texts, numbers, serials = zip(*things, strict=True)
        numbered = NumberedThings(texts, np.array(numbers), np.array(serials))
        found: list[int] = table.places_of(numbered, place).tolist()
        return found

    assert places(("a", 0, 1), ("b", 7, 2)) == [0, 1]
    assert places(("c", 0, 3), ("b", 7, 2)) == [2, 1]
    assert places(("a", 7, 4)) == [0]
    table.keep([2, 0])
    assert places(("c", 0, 3), ("a", 7, 4)) == [1, 0]
    assert places(("b", 7, 5)) == [2]
