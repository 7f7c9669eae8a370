"""Makes a problem for planners of what an event leaves to decide: the candidates of the index.

Arrays and things are taken from the catalog under its reader lock; the rest is made of them
afterwards and needs the catalog no more.
Cost: O(edges of the candidates), and nothing when the candidates are those of the event before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis.catalog.catalog import BINDS, CONDITIONAL, Catalog, stretches
from tamis.catalog.interned import NumberedThings
from tamis.catalog.joins import JoinPlan
from tamis.engine.learned import OnlineStatistics
from tamis.engine.numbering import DenseNumbers, numbered, starts
from tamis.engine.opening import OpeningState, form_for
from tamis.engine.state import CHECKED, NO_PLAN, PLANNED
from tamis.engine.wider import Costs, Narrower, narrower_tests
from tamis.numeric.kernels import kernels_are_loaded, view_of
from tamis.numeric.lists import lists_by_number
from tamis.numeric.types import Flags, Ints
from tamis.operators.asking import Call, EventConstraint, Test
from tamis.operators.specification import Preparation, Specification
from tamis.planning import Expectations, Problem, Standing
from tamis.statistics import Statistics

T = TypeVar("T")
_SPARSE = 32
"""So many rows there may be for each that is sorted, for a table of them all to be made."""


def standing(catalog: Catalog, rows: NDArray[Any], statistics: Statistics) -> Standing:
    """Alternatives of the catalog as planners that follow it are told of them."""
    counts = catalog.edge_count[rows]
    places = stretches(catalog.edge_start[rows], counts)
    edges = catalog.edge_test[places]
    numbers, at = np.unique(edges, return_inverse=True)
    tests = catalog.tests.things(numbers)
    return Standing(
        key=rows.astype(np.int64),
        start=starts(counts),
        test=edges.astype(np.int64),
        sign=catalog.edge_sign[places],
        selectivity=statistics.selectivities(tests)[at],
        cost=statistics.costs([test.call for test in tests])[at],
    )


class Skeleton:
    """The alternatives that need operators or conditions, by dense numbers."""

    def __init__(
        self, catalog: Catalog, rows: NDArray[Any], statistics: Statistics | OnlineStatistics
    ) -> None:
        self._after: tuple[tuple[int, ...], Problem] | None = None
        self.version = catalog.version
        self.stamp = statistics.stamp
        self.rows = rows
        traits, found = catalog.traits, numbered(catalog, rows)
        tests, calls = found.tests, found.calls
        self.subscriptions, self._call_inputs = found.subscriptions, found.call_inputs
        self.requirements = [traits.inputs[at] for at in found.inputs.tolist()]
        """The inputs that calls require together."""
        self.preparations: list[Preparation] = [
            traits.preparations[at] for at in found.preparations.tolist()
        ]
        self.tests: list[Test] = NumberedThings(
            catalog.tests.things(tests), tests, traits.test_serial.room[tests]
        )
        self.calls: list[Call] = NumberedThings(
            catalog.calls.things(calls), calls, traits.call_serial.room[calls]
        )
        self._declares: Flags = traits.declares.room[tests]
        self._is_deterministic: Flags = traits.deterministic.room[calls]
        flags = catalog.alternative_flags.room[rows]
        self.plans: dict[int, JoinPlan] = _held(catalog.plans, rows, flags & BINDS)
        self.conditions: dict[int, tuple[EventConstraint, ...]] = _held(
            catalog.conditions, rows, flags & CONDITIONAL
        )
        expected = self._expected(statistics)
        self._test_call = found.test_call
        """As tests have them by themselves."""
        distrusted = catalog.implications.distrusted
        self.narrower = self._narrower(traits.widens.room[calls], found, expected, distrusted)
        """The tests that a wider call answers."""
        self.problem = Problem(
            alternative_key=rows.astype(np.int64),
            alternative_subscription=found.owner,
            alternative_binds=(flags & BINDS) != 0,
            alternative_start=found.alternative_start,
            edge_test=found.edge_test,
            edge_sign=found.edge_sign,
            test_call=self._answering_calls(),
            call_group=found.call_group,
            call_batch=found.call_batch,
            implications=self._implications(catalog),
            **vars(expected),
        )

    def _implications(self, catalog: Catalog) -> Ints:
        found = catalog.implications.among(self.calls)
        if len(found):
            test_of = np.zeros(len(self.calls), np.int64)
            test_of[self._test_call] = np.arange(len(self.tests))  # each of these has one test
            found[:, [0, 2]] = test_of[found[:, [0, 2]]]
        return found

    def _answering_calls(self) -> Ints:
        """Returns the call that answers each test: its own, or a wider one."""
        if not self.narrower:
            return self._test_call
        calls = self._test_call.copy()
        calls[list(self.narrower)] = [each.wider for each in self.narrower.values()]
        return calls

    def _narrower(
        self,
        widens: Flags,
        found: DenseNumbers,
        expected: Expectations,
        distrusted: Collection[str],
    ) -> dict[int, Narrower]:
        if not np.count_nonzero(widens):
            return {}
        if distrusted:
            names = [call.specification.name for call in self.calls]
            widens = widens & ~np.isin(names, list(distrusted))
        first, counts = found.alternative_start[:-1], np.diff(found.alternative_start)
        alone = self._test_call[found.edge_test[first[counts == 1]]]
        costs = Costs(expected.call_cost, expected.call_marginal, found.call_batch)
        return narrower_tests(self.calls, widens, self._test_call, costs, alone.tolist())

    def without_wider(self) -> Skeleton:
        """Returns the same with each test asked of its own call."""
        if not self.narrower:
            return self
        other = copy(self)
        for name in ("opening", "call_tests", "_own_tests"):
            vars(other).pop(name, None)
        other._after = None
        other.narrower = {}
        other.problem = replace(self.problem, test_call=self._test_call)
        return other

    def expecting(self, statistics: Statistics | OnlineStatistics) -> Skeleton:
        """Returns it with the present expectations; events being decided keep the old ones."""
        other = copy(self)
        other._after = None
        other.stamp = statistics.stamp
        other.problem = self.problem.expecting(self._expected(statistics))
        return other

    def _expected(self, statistics: Statistics | OnlineStatistics) -> Expectations:
        if isinstance(statistics, OnlineStatistics):
            return statistics.expected(self.tests, self.calls, self.preparations)
        return Expectations(
            test_selectivity=statistics.selectivities(self.tests),
            call_cost=statistics.costs(self.calls),
            call_failure=statistics.failures(self.calls),
            call_marginal=statistics.marginal_costs(self.calls),
            group_price=statistics.prices(self.preparations),
            scenes=statistics.scenes(self.tests),
        )

    def without_implications(self) -> Skeleton:
        """Returns the same with nothing declared of the tests."""
        other = copy(self.without_wider())
        for name in ("consequences", "implicants"):
            vars(other).pop(name, None)
        other._after = None
        other.problem = replace(other.problem, implications=self.problem.implications[:0])
        return other

    def without_joins(self) -> Skeleton:
        """Returns it with alternatives that hold where each of their tests does, without joins."""
        other = copy(self)
        other.plans = {}
        vars(other).pop("opening", None)
        return other

    def after(self, excluded: tuple[int, ...]) -> Problem:
        """Returns the problem of an event for which these tests are false without a call.

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
            alternative_start=starts(counts),
            edge_test=problem.edge_test[kept],
            edge_sign=problem.edge_sign[kept],
        )

    def fits(self, catalog: Catalog, rows: NDArray[Any]) -> bool:
        """Returns whether it is the problem of these candidates too."""
        if self.version != catalog.version or len(self.rows) != len(rows):
            return False
        if kernels_are_loaded() and not self.problem.is_large:  # it was made before
            return False
        return not np.count_nonzero(self.rows != rows)

    @cached_property
    def opening(self) -> OpeningState:
        """The state of an event before anything is known of it."""
        plans = np.full(len(self.rows), NO_PLAN)
        for at, plan in self.plans.items():
            plans[at] = CHECKED if plan.checks else PLANNED
        return OpeningState(self.problem, plans, form_for(self.problem.is_large))

    @cached_property
    def untested(self) -> list[int]:
        """The alternatives that ask for no test."""
        sizes = self.problem.alternative_size
        found: list[int] = [] if sizes.all() else np.flatnonzero(sizes == 0).tolist()
        return found

    @cached_property
    def batches(self) -> list[int]:
        """The batch of each call."""
        batches: list[int] = self.problem.call_batch.tolist()
        return batches

    @cached_property
    def has_batches(self) -> bool:
        """True if calls may be made together."""
        return bool(np.count_nonzero(self.problem.call_batch >= 0))

    @cached_property
    def deterministic(self) -> list[tuple[Specification, dict[tuple[object, ...], int]]]:
        """The operators whose answers may be kept, and the numbers of their calls by key."""
        found: dict[str, tuple[Specification, dict[tuple[object, ...], int]]] = {}
        for at in self._is_deterministic.nonzero()[0].tolist():
            call = self.calls[at]
            specification = call.specification
            found.setdefault(specification.name, (specification, {}))[1][call.key] = at
        return list(found.values())

    def tests_of_call(self, call: int) -> list[int]:
        """Returns the tests that a call decides, ascending."""
        lists = self.call_tests
        tests: list[int] = lists[lists[call] : lists[call + 1]].tolist()
        return tests

    def own_call(self, test: int) -> int:
        """Returns the call of a test as it is written, whatever answers it."""
        return int(self._test_call[test])

    def own_tests(self, call: int) -> list[int]:
        """Returns the tests of a call, whatever answers them."""
        if not self.narrower:
            return self.tests_of_call(call)
        lists = self._own_tests
        tests: list[int] = lists[lists[call] : lists[call + 1]].tolist()
        return tests

    @cached_property
    def _own_tests(self) -> Any:
        problem = self.problem
        return view_of(lists_by_number(self._test_call, problem.calls, problem.is_large))

    @cached_property
    def call_tests(self) -> Any:
        """The tests of each call, as `lists_by_number` has them, to be read one by one."""
        return view_of(self.problem.call_tests)

    @cached_property
    def excludable(self) -> list[int]:
        """The tests with declarations that no alternative wants true: else it is a candidate only
        where these declarations hold."""
        if not np.count_nonzero(self._declares):
            return []
        problem = self.problem
        are_wanted = problem.edge_sign > 0
        if np.count_nonzero(are_wanted) == len(are_wanted):  # every test is somebody's
            return []
        wanted = np.bincount(problem.edge_test[are_wanted], minlength=problem.tests)
        found: list[int] = np.flatnonzero(self._declares & (wanted == 0)).tolist()
        return found

    @cached_property
    def consequences(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """The outcomes that a test's outcome implies: `(other test, its outcome)`."""
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

    def tests_of(self, alternative: int) -> list[int]:
        """Returns the tests of an alternative, as written."""
        problem = self.problem
        start, end = problem.alternative_start[alternative : alternative + 2].tolist()
        tests: list[int] = problem.edge_test[start:end].tolist()
        return tests

    @cached_property
    def siblings(self) -> frozenset[int]:
        """The subscriptions that have several alternatives."""
        problem = self.problem
        owners = problem.alternative_subscription
        several = np.bincount(owners, minlength=len(self.subscriptions)) > 1
        return frozenset(np.flatnonzero(several).tolist())

    def needless(self, satisfied: NDArray[Any]) -> list[int]:
        """Returns alternatives without variables of subscriptions that match without any call, of
        which there is one at least."""
        at = np.searchsorted(satisfied, self.subscriptions)  # both ascend
        owned = satisfied.take(at, mode="clip") == self.subscriptions
        owned = owned[self.problem.alternative_subscription]
        found: list[int] = np.flatnonzero(owned & ~self.problem.alternative_binds).tolist()
        return found

    def alternatives_of(self, owner: int) -> list[int]:
        """Returns the alternatives of a subscription."""
        mine: list[int] = np.flatnonzero(self.problem.alternative_subscription == owner).tolist()
        return mine

    @cached_property
    def owners(self) -> list[int]:
        """The subscription of each alternative."""
        owners: list[int] = self.problem.alternative_subscription.tolist()
        return owners

    @cached_property
    def binds(self) -> list[bool]:
        """For each alternative, whether it has variables."""
        binds: list[bool] = self.problem.alternative_binds.tolist()
        return binds

    @cached_property
    def test_number(self) -> dict[Test, int]:
        """The number of each test."""
        return {test: at for at, test in enumerate(self.tests)}

    def calls_with(self, requirement: int) -> Ints:
        """Returns the calls that have one of the `requirements`."""
        return np.flatnonzero(self._call_inputs == requirement)


class Problems:
    """Makes the problem of each event; the last one serves again for the same candidates."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._last: Skeleton | None = None

    def of(self, rows: NDArray[Any], known: Statistics | OnlineStatistics) -> Skeleton:
        """Returns the problem of these alternatives, with what is expected by now."""
        rows, last = _ascending(rows, len(self._catalog.edge_count.room)), self._last
        if last is None or not last.fits(self._catalog, rows):
            last = self._last = Skeleton(self._catalog, rows, known)
        elif last.stamp != known.stamp:
            last = self._last = last.expecting(known)
        return last

    def forget(self) -> None:
        """Makes the next problem anew."""
        self._last = None


def _ascending(numbers: Ints, most: int) -> Ints:
    """Returns distinct numbers below `most` in their order."""
    if most > _SPARSE * len(numbers):
        return np.sort(numbers)
    is_used = np.zeros(most, np.bool_)
    is_used[numbers] = True
    return np.flatnonzero(is_used)


def _held(things: Mapping[int, T], rows: NDArray[Any], are_held: NDArray[Any]) -> dict[int, T]:
    """Maps dense numbers of alternatives to their things, where they have one."""
    if not np.count_nonzero(are_held):
        return {}
    return {at: things[int(rows[at])] for at in are_held.nonzero()[0].tolist()}
