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
from tamis.engine.opening import OpeningState
from tamis.engine.state import CHECKED, NO_PLAN, PLANNED
from tamis.engine.wider import Costs, Narrower, narrower_tests
from tamis.numeric.kernels import kernels_are_loaded
from tamis.numeric.lists import lists_by_number
from tamis.numeric.types import Flags, Ints
from tamis.operators.asking import Call, EventConstraint, Test
from tamis.operators.specification import Preparation, Specification
from tamis.planning import Expectations, Problem, Standing
from tamis.statistics import Statistics

T = TypeVar("T")
_SPARSE = 32
"""So many numbers there may be for each that is used, for a table of them all to be made."""
_FIRST = np.zeros(1, np.int64)
_FEW = 32
"""Numbers that are sooner sorted one by one than as arrays."""


def standing(catalog: Catalog, rows: NDArray[Any], statistics: Statistics) -> Standing:
    """Alternatives of the catalog as planners that follow it are told of them."""
    counts = catalog.edge_count[rows]
    places = stretches(catalog.edge_start[rows], counts)
    edges = catalog.edge_test[places]
    numbers, at = np.unique(edges, return_inverse=True)
    tests = catalog.tests.things(numbers)
    return Standing(
        key=rows.astype(np.int64),
        start=_starts(counts),
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
        traits = catalog.traits
        counts = catalog.edge_count.room[rows]
        places = stretches(catalog.edge_start.room[rows], counts)
        numbers, edge_test = _dense(catalog.edge_test.room[places], len(traits.call_of))
        self.subscriptions, owner = _dense(
            catalog.alternative_subscription.room[rows], catalog.subscription_rows
        )
        calls, test_call = _by_first_use(traits.call_of.room[numbers])
        preparations, call_group = _by_first_use(traits.preparation.room[calls])
        _, call_batch = _by_first_use(traits.batch.room[calls])
        required, self._call_inputs = _by_first_use(traits.required.room[calls])
        self.requirements = [traits.inputs[at] for at in required.tolist()]
        """The inputs that calls require together."""
        self.preparations: list[Preparation] = [
            traits.preparations[at] for at in preparations.tolist()
        ]
        self.tests: list[Test] = NumberedThings(
            catalog.tests.things(numbers), numbers, traits.test_serial.room[numbers]
        )
        self.calls: list[Call] = NumberedThings(
            catalog.calls.things(calls), calls, traits.call_serial.room[calls]
        )
        self._declares: Flags = traits.declares.room[numbers]
        self._is_deterministic: Flags = traits.deterministic.room[calls]
        flags = catalog.alternative_flags.room[rows]
        self.plans: dict[int, JoinPlan] = _held(catalog.plans, rows, flags & BINDS)
        self.conditions: dict[int, tuple[EventConstraint, ...]] = _held(
            catalog.conditions, rows, flags & CONDITIONAL
        )
        expected = self._expected(statistics)
        self._test_call = test_call
        """As tests have them by themselves."""
        distrusted = catalog.implications.distrusted
        self.narrower = self._narrower(
            traits.widens.room[calls], edge_test, counts, call_batch, expected, distrusted
        )
        """The tests that a wider call answers."""
        self.problem = Problem(
            alternative_key=rows.astype(np.int64),
            alternative_subscription=owner.astype(np.int64),
            alternative_binds=(flags & BINDS) != 0,
            alternative_start=_starts(counts),
            edge_test=edge_test.astype(np.int64),
            edge_sign=catalog.edge_sign.room[places],
            test_call=self._answering_calls(),
            call_group=call_group,
            call_batch=call_batch,
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
        edge_test: Ints,
        counts: Ints,
        batch: Ints,
        expected: Expectations,
        distrusted: Collection[str],
    ) -> dict[int, Narrower]:
        if not np.count_nonzero(widens):
            return {}
        if distrusted:
            names = [call.specification.name for call in self.calls]
            widens = widens & ~np.isin(names, list(distrusted))
        first = np.cumsum(counts) - counts
        alone = self._test_call[edge_test[first[counts == 1]]]
        costs = Costs(expected.call_cost, expected.call_marginal, batch)
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
            alternative_start=_starts(counts),
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
        return OpeningState(self.problem, plans)

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
        return lists[lists[call] : lists[call + 1]]

    def own_call(self, test: int) -> int:
        """Returns the call of a test as it is written, whatever answers it."""
        return int(self._test_call[test])

    def own_tests(self, call: int) -> list[int]:
        """Returns the tests of a call, whatever answers them."""
        lists = self._own_tests
        return lists[lists[call] : lists[call + 1]]

    @cached_property
    def _own_tests(self) -> list[int]:
        if not self.narrower:
            return self.call_tests
        return self._lists(self._test_call)

    def _lists(self, numbers: Ints) -> list[int]:
        problem = self.problem
        found: list[int] = lists_by_number(numbers, problem.calls, problem.is_large).tolist()
        return found

    @cached_property
    def call_tests(self) -> list[int]:
        """The tests of each call, as `lists_by_number` has them."""
        return self._lists(self.problem.test_call)

    @cached_property
    def excludable(self) -> list[int]:
        """The tests with declarations that no alternative wants true: else it is a candidate only
        where these declarations hold."""
        problem = self.problem
        are_wanted = problem.edge_sign > 0
        if not np.count_nonzero(self._declares) or np.count_nonzero(are_wanted) == len(are_wanted):
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
        """Returns alternatives without variables of subscriptions that match without any call."""
        if not len(satisfied):
            return []
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
        last = self._last
        if last is None or not last.fits(self._catalog, rows):
            last = self._last = Skeleton(self._catalog, rows, known)
        elif last.stamp != known.stamp:
            last = self._last = last.expecting(known)
        return last

    def forget(self) -> None:
        """Makes the next problem anew."""
        self._last = None


def _starts(counts: NDArray[Any]) -> Ints:
    """Returns where stretches of these lengths begin, and where the last one ends."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def _dense(numbers: NDArray[Any], most: int) -> tuple[Ints, Ints]:
    """Returns the distinct numbers below `most`, ascending, and each number's place there."""
    count = len(numbers)
    if count and np.count_nonzero(numbers == numbers[0]) == count:
        return numbers[:1], np.zeros(count, np.int64)
    if np.count_nonzero(numbers[1:] > numbers[:-1]) >= count - 1:  # of one alternative each
        return numbers, np.arange(count)
    if count <= _FEW:
        listed = numbers.tolist()
        known = sorted(set(listed))
        place_of = {number: at for at, number in enumerate(known)}
        return np.array(known, np.int64), np.array([place_of[each] for each in listed], np.int64)
    if most > _SPARSE * count:
        return np.unique(numbers, return_inverse=True)
    is_used = np.zeros(most, np.bool_)
    is_used[numbers] = True
    distinct = np.flatnonzero(is_used)
    place = np.empty(most, np.int64)
    place[distinct] = np.arange(len(distinct))
    return distinct, place[numbers]


def _by_first_use(numbers: NDArray[Any]) -> tuple[Ints, Ints]:
    """Returns the distinct numbers in the order of their first use, and the place of each among
    them; what has no number (-1) has no place (-1)."""
    numbers, count = numbers.astype(np.int64), len(numbers)
    if count == 1:
        return (numbers, _FIRST) if numbers[0] >= 0 else (numbers[:0], numbers)
    if count and np.count_nonzero(numbers == numbers[0]) == count:  # as of what prepares nothing
        return (numbers[:1], numbers - numbers[0]) if numbers[0] >= 0 else (numbers[:0], numbers)
    if count <= _FEW:
        listed = numbers.tolist()
        known = [number for number in dict.fromkeys(listed) if number >= 0]
        place_of = {number: at for at, number in enumerate(known)}
        places = [place_of.get(number, -1) for number in listed]
        return np.array(known, np.int64), np.array(places, np.int64)
    distinct, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    if len(distinct) and distinct[0] < 0:
        distinct, first, place = distinct[1:], first[1:], place - 1
    order = np.argsort(first)
    rank = np.full(len(distinct) + 1, -1)
    rank[order] = np.arange(len(distinct))
    return distinct[order], rank[place]


def _held(things: Mapping[int, T], rows: NDArray[Any], are_held: NDArray[Any]) -> dict[int, T]:
    """Maps dense numbers of alternatives to their things, where they have one."""
    return {at: things[int(rows[at])] for at in are_held.nonzero()[0].tolist()}
