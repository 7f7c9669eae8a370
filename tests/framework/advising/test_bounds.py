"""Bounds are below what the best method pays: beside a search over all methods on tiny problems."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.advising.bounds import PreparationPrices, Requirements
from tamis.advising.covering import SERVES_NONE, CoverProblem
from tamis.planning import FALSE, TRUE, UNKNOWN, Problem, Run
from tamis_planners.optimal import Optimal

NOTHING = -1
Answer = tuple[int, ...]
"""The outcomes of the tests of a call."""


@dataclass(frozen=True)
class Tiny:
    """A problem small enough to look at every method; calls are independent of each other."""

    alternatives: tuple[tuple[tuple[int, int], ...], ...]
    """Of each alternative the tests with their signs."""
    owner: tuple[int, ...]
    binds: tuple[bool, ...]
    answers: tuple[tuple[tuple[float, Answer], ...], ...]
    """Of each call its answers with their probabilities."""
    cost: tuple[float, ...]
    group: tuple[int, ...]
    price: tuple[float, ...]
    batch: tuple[int, ...]
    marginal: tuple[float, ...]
    implications: tuple[tuple[int, int, int, int], ...] = ()
    after: tuple[int, ...] = (NOTHING, NOTHING)
    """The preparation that each builds on."""

    @property
    def tests_of(self) -> list[list[int]]:
        numbers = itertools.count()
        return [[next(numbers) for _ in answers[0][1]] for answers in self.answers]

    def problem(self) -> Problem:
        test_call = [call for call, tests in enumerate(self.tests_of) for _ in tests]
        share, failure = [], []
        for answers in self.answers:
            failed = sum(chance for chance, answer in answers if answer[0] == UNKNOWN)
            failure.append(failed)
            for at in range(len(answers[0][1])):
                true = sum(chance for chance, answer in answers if answer[at] == TRUE)
                share.append(true / (1 - failed) if failed < 1 else 0.5)
        flat = [edge for edges in self.alternatives for edge in edges]
        return Problem(
            alternative_key=np.arange(len(self.alternatives)),
            alternative_subscription=np.array(self.owner, np.int64),
            alternative_binds=np.array(self.binds, np.bool_),
            alternative_start=np.cumsum([0, *map(len, self.alternatives)]),
            edge_test=np.array([test for test, _ in flat], np.int64),
            edge_sign=np.array([sign for _, sign in flat], np.int8),
            test_call=np.array(test_call, np.int64),
            test_selectivity=np.clip(np.array(share), 0.0, 1.0),
            call_cost=np.array(self.cost),
            call_failure=np.array(failure),
            call_group=np.array(self.group, np.int64),
            group_price=np.array([self.price_of(self.chain(each)) for each in (0, 1)]),
            call_batch=np.array(self.batch, np.int64),
            call_marginal=np.array(self.marginal),
            implications=np.array(self.implications, np.int64).reshape(-1, 4),
        )

    def chain(self, group: int) -> set[int]:
        """A preparation, with all that it builds on."""
        return {group} | (self.chain(self.after[group]) if self.after[group] >= 0 else set())

    def price_of(self, groups: set[int]) -> float:
        """What preparations cost."""
        return sum(self.price[each] for each in groups)

    def prepared(self, calls: frozenset[int]) -> set[int]:
        """What is prepared once these calls are made."""
        return set().union(
            *(self.chain(self.group[call]) for call in calls if self.group[call] >= 0)
        )

    def worlds(self) -> Iterator[tuple[float, list[int]]]:
        """All that may be true of an event: its probability, and the outcomes of all tests."""
        for picked in itertools.product(*self.answers):
            chance = math.prod(chance for chance, _ in picked)
            if chance:
                yield chance, [outcome for _, answer in picked for outcome in answer]

    def is_decided(self, seen: list[int]) -> bool:
        """Whether the outcomes that were seen (`NOTHING` where none was) decide everything."""
        return len(self.decided(seen)) == len(self.alternatives)

    def decided(self, seen: list[int]) -> list[int]:
        """The alternatives that the outcomes decide."""
        seen, found = list(seen), []
        for test, outcome, other, conclusion in self.implications:
            if seen[test] == outcome and seen[other] == NOTHING:
                seen[other] = conclusion
        true = [self._is_true(edges, seen) for edges in self.alternatives]
        for at, edges in enumerate(self.alternatives):
            killed = any(seen[test] == (FALSE if sign > 0 else TRUE) for test, sign in edges)
            complete = all(seen[test] != NOTHING for test, _ in edges)
            by_sibling = not self.binds[at] and any(
                true[other] for other in range(len(true)) if self.owner[other] == self.owner[at]
            )
            if killed or complete or by_sibling:
                found.append(at)
        return found

    @staticmethod
    def _is_true(edges: tuple[tuple[int, int], ...], seen: list[int]) -> bool:
        return all(seen[test] == (TRUE if sign > 0 else FALSE) for test, sign in edges)

    def to_pay(self, calls: frozenset[int], made: frozenset[int]) -> float:
        """What calls cost that are made at once: one of each batch in full, the cheapest way."""
        total = self.price_of(self.prepared(calls) - self.prepared(made))
        for batch in {self.batch[call] for call in calls}:
            mine = [call for call in calls if self.batch[call] == batch]
            if batch < 0:
                total += sum(self.cost[call] for call in mine)
            else:
                rest = sum(self.marginal[call] for call in mine)
                total += rest + min(self.cost[call] - self.marginal[call] for call in mine)
        return total

    def clairvoyant(self, outcomes: list[int]) -> float:
        """The least that a set of calls costs which decides everything."""
        best = math.inf
        for calls in subsets(range(len(self.cost))):
            seen = [NOTHING] * len(outcomes)
            for call in calls:
                for test in self.tests_of[call]:
                    seen[test] = outcomes[test]
            if self.is_decided(seen):
                best = min(best, self.to_pay(calls, frozenset()))
        return best

    def invocations(self, left: frozenset[int]) -> Iterator[frozenset[int]]:
        """What may be made next at once: a call, or several of a batch."""
        for calls in subsets(sorted(left)):
            batches = {self.batch[call] for call in calls}
            if len(calls) == 1 or (len(batches) == 1 and -1 not in batches):
                yield calls

    def best_method(self) -> float:
        """The expected cost of the best adaptive method, by looking at all."""
        tests_of = self.tests_of

        @cache
        def least(seen: tuple[int, ...], made: frozenset[int]) -> float:
            if self.is_decided(list(seen)):
                return 0.0
            best = math.inf
            for calls in self.invocations(frozenset(range(len(self.cost))) - made):
                expected = self.to_pay(calls, made)
                for picked in itertools.product(*(self.answers[call] for call in calls)):
                    after = list(seen)
                    for call, (_, answer) in zip(calls, picked, strict=True):
                        for test, outcome in zip(tests_of[call], answer, strict=True):
                            after[test] = outcome
                    chance = math.prod(chance for chance, _ in picked)
                    expected += chance * least(tuple(after), made | calls)
                best = min(best, expected)
            return best

        return least((NOTHING,) * sum(map(len, tests_of)), frozenset())


def subsets(calls: Sequence[int]) -> Iterator[frozenset[int]]:
    """All of them, the empty one too."""
    for size in range(len(calls) + 1):
        yield from map(frozenset, itertools.combinations(calls, size))


@st.composite
def tiny(draw: st.DrawFn, *, plain: bool = False) -> Tiny:
    """Up to four calls; without `plain` with signs, siblings, failures, preparations, batches."""
    calls = draw(st.integers(1, 4))
    answers: list[tuple[tuple[float, Answer], ...]] = []
    for _ in range(calls):
        tests = 1 if plain else draw(st.integers(1, 2))
        possible = draw(
            st.lists(
                st.tuples(*[st.sampled_from([FALSE, TRUE])] * tests),
                min_size=1,
                max_size=3,
                unique=True,
            )
        )
        if not plain and draw(st.integers(0, 3)) == 0:
            possible.append((UNKNOWN,) * tests)
        weights = [draw(st.integers(1, 9)) for _ in possible]
        answers.append(
            tuple((w / sum(weights), each) for w, each in zip(weights, possible, strict=True))
        )
    tests = sum(len(each[0][1]) for each in answers)
    sign = st.just(1) if plain else st.sampled_from([1, 1, -1])
    edges = st.dictionaries(st.integers(0, tests - 1), sign, min_size=1, max_size=3)
    alternatives = draw(st.lists(edges.map(lambda each: tuple(each.items())), max_size=5))
    count = len(alternatives)
    owners = (
        list(range(count))
        if plain
        else sorted(draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)))
    )
    dense = {owner: at for at, owner in enumerate(dict.fromkeys(owners))}
    cost = [draw(st.sampled_from([0.0, 1.0, 1.0, 2.5])) for _ in range(calls)]
    return Tiny(
        alternatives=tuple(alternatives),
        owner=tuple(dense[owner] for owner in owners),
        binds=tuple(not plain and draw(st.booleans()) for _ in range(count)),
        answers=tuple(answers),
        cost=tuple(cost),
        group=tuple(-1 if plain else draw(st.sampled_from([-1, 0, 1])) for _ in range(calls)),
        price=(1.0, 3.0),
        batch=tuple(-1 if plain else draw(st.sampled_from([-1, -1, 0])) for _ in range(calls)),
        marginal=tuple(each * draw(st.sampled_from([0.0, 0.3, 1.0])) for each in cost),
    )


@st.composite
def implying(draw: st.DrawFn) -> Tiny:
    """Calls of which the first two tell of each other: the second is true where the first is."""
    made = draw(tiny(plain=True).filter(lambda each: len(each.cost) >= 2))
    first, second = ((0.3, (FALSE,)), (0.7, (TRUE,))), ((0.6, (FALSE,)), (0.4, (TRUE,)))
    return replace(
        made,
        answers=(first, second, *made.answers[2:]),
        implications=((1, TRUE, 0, TRUE), (0, FALSE, 1, FALSE)),
    )


@given(tiny())
def test_bounds_are_below_every_method_and_chosen_calls_suffice(each: Tiny) -> None:
    problem = each.problem()
    clairvoyant = anticipating_nothing = 0.0
    for chance, outcomes in each.worlds():
        requirements = Requirements(problem, np.array(outcomes))
        best = each.clairvoyant(outcomes)
        assert requirements.packing() <= requirements.clairvoyant() + 1e-6
        assert requirements.clairvoyant() <= best + 1e-6
        assert best <= requirements.clairvoyant_reached() + 1e-6
        clairvoyant += chance * best
        anticipating_nothing += chance * requirements.non_anticipative()
    method = each.best_method()
    assert clairvoyant <= method + 1e-6
    assert anticipating_nothing <= method + 1e-6


@given(tiny().map(lambda each: replace(each, price=(1.0, 3.0, 2.0), after=(2, 2, NOTHING))))
def test_a_preparation_that_others_build_on_is_paid_once(each: Tiny) -> None:
    """By the bound, beside all sets of calls, and beside what the planner `optimal` pays."""
    problem, planner = each.problem(), Optimal()
    preparations = PreparationPrices(np.array(each.price), np.array(each.after))
    expected = 0.0
    for chance, outcomes in each.worlds():
        required = Requirements(problem, np.array(outcomes), preparations=preparations)
        least = required.clairvoyant()
        assert required.packing() <= least + 1e-6
        assert least <= each.clairvoyant(outcomes) + 1e-6
        assert least <= paid(each, planner.begin(problem), outcomes) + 1e-6
        expected += chance * required.non_anticipative()
    assert expected <= each.best_method() + 1e-6


def paid(each: Tiny, run: Run, outcomes: list[int]) -> float:
    """What a method pays for an event."""
    seen, made, total = [NOTHING] * len(outcomes), frozenset[int](), 0.0
    while calls := frozenset(run.next(1)):
        total += each.to_pay(calls, made)
        tests = [test for call in sorted(calls) for test in each.tests_of[call]]
        before = set(each.decided(seen))
        for test in tests:
            seen[test] = outcomes[test]
        run.observe(
            tests, [outcomes[test] for test in tests], sorted({*each.decided(seen)} - before)
        )
        made |= calls
    assert each.is_decided(seen)
    return total


@given(tiny(plain=True))
def test_charges_in_any_case_have_the_mean_of_charges_at_times(each: Tiny) -> None:
    """The form of the docstring beside E[LP hitting set with weights c_f/(1-p_f)]."""
    problem = each.problem()
    passes = [sum(chance for chance, (truth,) in call if truth == TRUE) for call in each.answers]
    ours = other = 0.0
    for chance, outcomes in each.worlds():
        ours += chance * Requirements(problem, np.array(outcomes)).non_anticipative()
        rows = [{test for test, _ in edges if not outcomes[test]} for edges in each.alternatives]
        weight = np.array(
            [c / (1 - p) if p < 1 else c for c, p in zip(each.cost, passes, strict=True)]
        )
        pairs = [(at, test) for at, row in enumerate(filter(None, rows)) for test in row]
        row, column = np.array(pairs, np.int64).reshape(-1, 2).T
        none = np.full(len([row for row in rows if row]), SERVES_NONE)
        other += chance * CoverProblem.of(weight, row, column, none).at_least()
    sure = {test for edges in each.alternatives for test, _ in edges if passes[test] == 1}
    if not sure:
        assert ours == pytest.approx(other, abs=1e-6)
    assert ours <= each.best_method() + 1e-6


@given(implying())
def test_what_implications_tell_of_needs_no_call(each: Tiny) -> None:
    problem = each.problem()
    for _, outcomes in each.worlds():
        if (outcomes[1], outcomes[0]) == (TRUE, FALSE):
            continue
        requirements = Requirements(problem, np.array(outcomes))
        best = each.clairvoyant(outcomes)
        assert requirements.clairvoyant() <= best + 1e-6
        assert best <= requirements.clairvoyant_reached() + 1e-6


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_large_programs_are_solved_by_interior_points(
    spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = np.random.default_rng(5)
    rows, columns, length = 3_000, 1_500, 3
    covering = CoverProblem.of(
        np.exp(chance.normal(0, spread, columns)),
        np.repeat(np.arange(rows), length),
        chance.integers(0, columns, rows * length),
        np.full(rows, SERVES_NONE),
    )
    exact = covering.at_least()
    monkeypatch.setattr("tamis.advising.covering.SIMPLEX_ROWS", 100)
    assert covering.at_least() == pytest.approx(exact, rel=1e-6)
    assert covering.packed() <= exact
    chosen = set(covering.chosen())
    assert all(chosen.intersection(covering._row(at)) for at in range(covering.rows))
    assert exact <= covering.weight[list(chosen)].sum() < 1.5 * exact


def test_without_scipy_a_bound_says_what_is_missing() -> None:
    program = (
        "import sys\n"
        "sys.modules['scipy'] = None\n"
        "import numpy, tamis\n"
        "from tamis.advising.covering import CoverProblem\n"
        "one = numpy.ones(2)\n"
        "rows = numpy.array([0, 0])\n"
        "try:\n"
        "    CoverProblem.of(one, rows, numpy.array([0, 1]), numpy.array([-1])).at_least()\n"
        "except tamis.TamisError as missing:\n"
        "    assert \"pip install 'tamis[bench]'\" in str(missing)\n"
        "else:\n"
        "    raise SystemExit('solved without SciPy')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
