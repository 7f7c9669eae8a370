"""What an event leaves to decide: the candidates of the index as a problem for planners.

Made from the catalog under its reader lock, it owns all its arrays and needs the catalog no more.
Cost: O(edges of the candidates), and nothing when the candidates are those of the event before.
"""

from __future__ import annotations

import itertools
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.catalog.catalog import BINDS, Catalog, stretches
from tamis.catalog.joins import JoinPlan
from tamis.engine.learned import Learned
from tamis.numeric.types import Ints
from tamis.operators.asking import Call, EventConstraint, Test
from tamis.operators.specification import Preparation, Specification
from tamis.planning import Expected, Problem, Standing
from tamis.statistics import Statistics


def standing(catalog: Catalog, rows: NDArray[Any], statistics: Statistics) -> Standing:
    """Alternatives of the catalog as planners that follow it are told of them."""
    counts = catalog.edge_count[rows]
    places = stretches(catalog.edge_start[rows], counts)
    edges = catalog.edge_test[places]
    numbers, at = np.unique(edges, return_inverse=True)
    tests = [catalog.tests.thing(number) for number in numbers.tolist()]
    return Standing(
        key=rows.astype(np.int64),
        start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        test=edges.astype(np.int64),
        sign=catalog.edge_sign[places],
        selectivity=statistics.selectivities(tests)[at],
        cost=statistics.costs([test.call for test in tests])[at],
    )


class Skeleton:
    """The alternatives that need operators or conditions, by dense numbers."""

    def __init__(
        self, catalog: Catalog, rows: NDArray[Any], statistics: Statistics | Learned
    ) -> None:
        self._after: tuple[tuple[int, ...], Problem] | None = None
        self.version = catalog.version
        self.stamp = statistics.stamp
        self.rows = rows
        counts = catalog.edge_count[rows]
        places = stretches(catalog.edge_start[rows], counts)
        numbers, edge_test = np.unique(catalog.edge_test[places], return_inverse=True)
        subscriptions, owner = np.unique(
            catalog.alternative_subscription[rows], return_inverse=True
        )
        self.subscriptions = subscriptions
        self.tests: list[Test] = [catalog.tests.thing(at) for at in numbers.tolist()]
        calls = {test.call: None for test in self.tests}
        self.calls: list[Call] = list(calls)
        call_number = {call: at for at, call in enumerate(self.calls)}
        row_list = rows.tolist()
        self.plans: dict[int, JoinPlan] = {
            at: catalog.plans[row] for at, row in enumerate(row_list) if row in catalog.plans
        }
        self.conditions: dict[int, tuple[EventConstraint, ...]] = {
            at: catalog.conditions[row]
            for at, row in enumerate(row_list)
            if row in catalog.conditions
        }
        self.preparations: dict[Preparation, int] = {}
        for call in self.calls:
            if call.specification.preparation is not None:
                self.preparations.setdefault(call.specification.preparation, len(self.preparations))
        self.problem = Problem(
            alternative_key=rows.astype(np.int64),
            alternative_subscription=owner.astype(np.int64),
            alternative_binds=(catalog.alternative_flags[rows] & BINDS) != 0,
            alternative_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            edge_test=edge_test.astype(np.int64),
            edge_sign=catalog.edge_sign[places],
            test_call=np.array([call_number[test.call] for test in self.tests], np.int64),
            call_group=np.array(
                [
                    -1
                    if call.specification.preparation is None
                    else self.preparations[call.specification.preparation]
                    for call in self.calls
                ],
                np.int64,
            ),
            call_batch=self._batches(),
            implications=self._implications(catalog),
            **vars(self._expected(statistics)),
        )

    def _implications(self, catalog: Catalog) -> Ints:
        """The rows of the catalog about these calls, each of which has one test."""
        rows = catalog.implications.among(self.calls)
        if len(rows):
            test_of = np.array([tests[0] for tests in self.call_tests], np.int64)
            rows[:, [0, 2]] = test_of[rows[:, [0, 2]]]
        return rows

    def _batches(self) -> Ints:
        """The batch of each call: its operator's, where it answers several calls at once."""
        numbers: dict[str, int] = {}
        return np.array(
            [
                numbers.setdefault(call.specification.name, len(numbers)) if call.batched else -1
                for call in self.calls
            ],
            np.int64,
        )

    def expecting(self, statistics: Statistics | Learned) -> Skeleton:
        """The same with what is expected by now; events that are being decided keep the old one."""
        other = copy(self)
        other._after = None
        other.stamp = statistics.stamp
        other.problem = self.problem.expecting(self._expected(statistics))
        return other

    def _expected(self, statistics: Statistics | Learned) -> Expected:
        return Expected(
            test_selectivity=statistics.selectivities(self.tests),
            call_cost=statistics.costs(self.calls),
            call_failure=statistics.failures(self.calls),
            call_marginal=statistics.marginal_costs(self.calls),
            group_price=statistics.prices(list(self.preparations)),
            scenes=statistics.scenes(self.tests),
        )

    def without_implications(self) -> Skeleton:
        """The same with nothing declared of the tests."""
        other = copy(self)
        for name in ("consequences", "implicants"):
            vars(other).pop(name, None)
        other._after = None
        other.problem = replace(self.problem, implications=self.problem.implications[:0])
        return other

    def after(self, excluded: tuple[int, ...]) -> Problem:
        """The problem of an event for which these tests are false without a call.

        Nothing asks for them any more; all numbers stay what they are."""
        known = self._after
        if known is None or known[0] != excluded:
            known = self._after = excluded, self._without(excluded)
        return known[1]

    def _without(self, excluded: tuple[int, ...]) -> Problem:
        problem = self.problem
        gone = np.zeros(problem.tests, np.bool_)
        gone[list(excluded)] = True
        kept = ~gone[problem.edge_test]
        counts = np.bincount(problem.edge_alternative[kept], minlength=problem.alternatives)
        return replace(
            problem,
            alternative_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            edge_test=problem.edge_test[kept],
            edge_sign=problem.edge_sign[kept],
        )

    @cached_property
    def batches(self) -> list[int]:
        """The batch of each call."""
        batches: list[int] = self.problem.call_batch.tolist()
        return batches

    @cached_property
    def deterministic(self) -> list[tuple[Specification, dict[tuple[object, ...], int]]]:
        """The operators whose answers may be kept, and the numbers of their calls by key."""
        found: dict[str, tuple[Specification, dict[tuple[object, ...], int]]] = {}
        for at, call in enumerate(self.calls):
            specification = call.specification
            if specification.deterministic:
                found.setdefault(specification.name, (specification, {}))[1][call.key] = at
        return list(found.values())

    def fits(self, catalog: Catalog, rows: NDArray[Any]) -> bool:
        """Whether it is the problem of these candidates too."""
        return self.version == catalog.version and np.array_equal(self.rows, rows)

    @cached_property
    def left(self) -> list[int]:
        """How many tests each alternative has."""
        counts: list[int] = np.diff(self.problem.alternative_start).tolist()
        return counts

    @cached_property
    def wants(self) -> tuple[list[list[int]], list[list[int]]]:
        """For each test, the alternatives that want it true, and those that want it false."""
        positive: list[list[int]] = [[] for _ in self.tests]
        negative: list[list[int]] = [[] for _ in self.tests]
        problem = self.problem
        for alternative, test, sign in zip(
            problem.edge_alternative.tolist(),
            problem.edge_test.tolist(),
            problem.edge_sign.tolist(),
            strict=True,
        ):
            (positive if sign > 0 else negative)[test].append(alternative)
        return positive, negative

    @cached_property
    def call_tests(self) -> list[list[int]]:
        """The tests that each call decides."""
        number = {call: at for at, call in enumerate(self.calls)}
        result: list[list[int]] = [[] for _ in self.calls]
        for at, test in enumerate(self.tests):
            result[number[test.call]].append(at)
        return result

    @cached_property
    def excludable(self) -> list[int]:
        """The tests with declarations that no alternative wants true: else it is a candidate only
        where these declarations hold."""
        positive, _ = self.wants
        return [at for at, test in enumerate(self.tests) if test.necessary and not positive[at]]

    @cached_property
    def consequences(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """What the outcome of a test says of other tests: `(other test, its outcome)`."""
        result: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for test, outcome, other, conclusion in self.problem.implications.tolist():
            result.setdefault((test, outcome), []).append((other, conclusion))
        return result

    @cached_property
    def implicants(self) -> dict[int, list[int]]:
        """The tests whose outcome may decide each test."""
        result: dict[int, list[int]] = {}
        for test, other in np.unique(self.problem.implications[:, [0, 2]], axis=0).tolist():
            result.setdefault(other, []).append(test)
        return result

    @cached_property
    def alternative_tests(self) -> list[list[int]]:
        """The tests of each alternative, as written."""
        tests = self.problem.edge_test.tolist()
        starts = self.problem.alternative_start.tolist()
        return [tests[start:end] for start, end in itertools.pairwise(starts)]

    @cached_property
    def siblings(self) -> dict[int, list[int]]:
        """The alternatives without variables of subscriptions that have several."""
        owners = self.problem.alternative_subscription
        several = np.flatnonzero(np.bincount(owners, minlength=len(self.subscriptions)) > 1)
        result: dict[int, list[int]] = {owner: [] for owner in several.tolist()}
        free = ~self.problem.alternative_binds
        for alternative in np.flatnonzero(free & np.isin(owners, several)).tolist():
            result[int(owners[alternative])].append(alternative)
        return result

    def needless(self, satisfied: NDArray[Any]) -> list[int]:
        """The alternatives without variables of subscriptions that match without any call."""
        owned = np.isin(self.subscriptions, satisfied)[self.problem.alternative_subscription]
        return np.flatnonzero(owned & ~self.problem.alternative_binds).tolist()

    def alternatives_of(self, owner: int) -> list[int]:
        """The alternatives of a subscription."""
        mine: list[int] = np.flatnonzero(self.problem.alternative_subscription == owner).tolist()
        return mine

    @cached_property
    def owners(self) -> list[int]:
        """The subscription of each alternative."""
        owners: list[int] = self.problem.alternative_subscription.tolist()
        return owners

    @cached_property
    def binds(self) -> list[bool]:
        """Whether each alternative has variables."""
        binds: list[bool] = self.problem.alternative_binds.tolist()
        return binds

    @cached_property
    def test_number(self) -> dict[Test, int]:
        """The number of each test."""
        return {test: at for at, test in enumerate(self.tests)}

    @cached_property
    def requirements(self) -> dict[tuple[str, ...], list[int]]:
        """The inputs that calls require, and the calls that require them."""
        result: dict[tuple[str, ...], list[int]] = {}
        for at, call in enumerate(self.calls):
            inputs = call.specification.needed
            if inputs:
                result.setdefault(inputs, []).append(at)
        return result
