"""Asks for the first call of a policy of least expected cost, found by trying all of them.

Dynamic programming over what is open: a state is the set of open alternatives, each by what it has
left to ask, and the preparations that are paid; what shares nothing is solved apart. Tests are
taken to be independent: scenes and implications are not looked at. Invariant: no planner expects to
pay less. Cost: exponential in the calls that hang together; beyond `CALLS` of them, or `STATES`, or
`STEPS` from one state to another (some seconds), a `PlannerError`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from tamis import PlannerError
from tamis.planning import FALSE, TRUE, UNKNOWN, Problem, Run

CALLS = 12
STATES = 10_000
OUTCOMES = 4_096
STEPS = 20_000
_LONE = -1

Wanted = tuple[tuple[int, int], ...]
"""Tests of one call, and the outcomes that an alternative wants."""


class Left(NamedTuple):
    """An open alternative: what it has left to ask."""

    owner: int
    """Its subscription while a sibling can make it needless or it one, else `_LONE`."""
    binds: bool
    doubtful: bool
    """True if a test of it is unknown, so that it cannot come out true."""
    needs: tuple[tuple[int, Wanted], ...]


class OpenTests(NamedTuple):
    """The tests that are left to decide, and the preparations that are paid."""

    open: frozenset[Left]
    paid: frozenset[int]


class Optimal:
    """The yardstick: exact, for small problems."""

    def __init__(self) -> None:
        self._solved: tuple[Problem, Solver] | None = None

    def begin(self, problem: Problem) -> Run:
        """Starts on the problem of one event."""
        known = self._solved
        if known is None or known[0] is not problem:
            known = self._solved = (problem, Solver(problem))
        return _OptimalRun(problem, known[1])


class Solver:
    """Expected costs of states, each found once."""

    def __init__(self, problem: Problem) -> None:
        self._cost: list[float] = problem.call_cost.tolist()
        self._marginal: list[float] = problem.call_marginal.tolist()
        self._failure: list[float] = problem.call_failure.tolist()
        self._group: list[int] = problem.call_group.tolist()
        self._price: list[float] = problem.group_price.tolist()
        self._batch: list[int] = problem.call_batch.tolist()
        self._selectivity: list[float] = problem.test_selectivity.tolist()
        self._known: dict[OpenTests, tuple[float, tuple[int, ...]]] = {}
        self._steps = 0

    def expected_cost(self, state: OpenTests) -> float:
        """Returns the expected cost of deciding all that is open, at best."""
        return sum(self._best(part)[0] for part in self._parts(state))

    def first(self, state: OpenTests) -> tuple[int, ...]:
        """Returns the calls of the first invocation of a best policy; none when nothing is open."""
        try:
            return next((self._best(part)[1] for part in self._parts(state)), ())
        except _TooLargeError:
            calls = len(calls_of(state))
            raise PlannerError(
                f"an event leaves {len(state.open):,} alternatives over {calls:,} calls, too many "
                f"that hang together to try all orders: use the planner savings"
            ) from None

    def _parts(self, state: OpenTests) -> Iterator[OpenTests]:
        """Yields the parts that share calls, subscriptions, unpaid preparations or batches."""
        apart: list[tuple[set[object], set[Left]]] = []
        for left in state.open:
            ties: set[object] = {("owner", left.owner)} if left.owner != _LONE else set()
            for call, _ in left.needs:
                ties.add(("call", call))
                if self._group[call] >= 0 and self._group[call] not in state.paid:
                    ties.add(("group", self._group[call]))
                if self._batch[call] >= 0:
                    ties.add(("batch", self._batch[call]))
            mine = {left}
            for known in [each for each in apart if not ties.isdisjoint(each[0])]:
                apart.remove(known)
                ties |= known[0]
                mine |= known[1]
            apart.append((ties, mine))
        for _, mine in sorted(apart, key=lambda each: min(each[1])):
            groups = {self._group[call] for left in mine for call, _ in left.needs}
            yield OpenTests(frozenset(mine), state.paid & groups)

    def _best(self, state: OpenTests) -> tuple[float, tuple[int, ...]]:
        found = self._known.get(state)
        if found is None:
            if len(calls_of(state)) > CALLS:
                raise _TooLargeError
            found = (math.inf, ())
            for calls in self._invocations(state):
                expected = self._expected_after(state, calls, found[0])
                if expected < found[0]:
                    found = (expected, calls)
            if len(self._known) >= STATES:
                raise _TooLargeError
            self._known[state] = found
        return found

    def _invocations(self, state: OpenTests) -> Iterator[tuple[int, ...]]:
        """Yields the possible invocations; only certain ones, where any is known."""
        calls = sorted(calls_of(state))
        for left in sorted(state.open):
            call = left.needs[0][0]
            is_certain = left.owner == _LONE or left.binds
            if is_certain and len(left.needs) == 1 and self._batch[call] < 0:
                yield (call,)
                return
        batches: dict[int, list[int]] = {}
        for call in calls:
            if self._batch[call] < 0:
                yield (call,)
            else:
                batches.setdefault(self._batch[call], []).append(call)
        for members in batches.values():
            if 1 << len(members) > OUTCOMES:
                raise _TooLargeError
            for count in range(1, len(members) + 1):
                yield from combinations(members, count)

    def _expected_after(self, state: OpenTests, calls: tuple[int, ...], ceiling: float) -> float:
        """Returns the expected cost from these calls on; infinity once it reaches a ceiling."""
        cost = sum(self._marginal[call] for call in calls)
        cost += min(self._cost[call] - self._marginal[call] for call in calls)
        groups = {self._group[call] for call in calls} - state.paid - {-1}
        cost += sum(self._price[group] for group in groups)
        paid = state.paid | groups
        tests = {
            call: sorted(
                {
                    test
                    for left in state.open
                    for at, wanted in left.needs
                    if at == call
                    for test, _ in wanted
                }
            )
            for call in calls
        }
        if 1 << sum(map(len, tests.values())) > OUTCOMES:
            raise _TooLargeError
        for together in product(*(self._outcomes(call, tests[call]) for call in calls)):
            chance = 1.0
            outcomes: dict[int, int] = {}
            for each_chance, each in together:
                chance *= each_chance
                outcomes |= each
            if cost >= ceiling:
                return math.inf
            if chance > 0.0:
                self._steps += 1
                if self._steps > STEPS:
                    raise _TooLargeError
                cost += chance * self.expected_cost(OpenTests(after(state.open, outcomes), paid))
        return cost

    def _outcomes(self, call: int, tests: list[int]) -> Iterator[tuple[float, dict[int, int]]]:
        """Yields the possible outcomes of a call, and their chances."""
        failure = self._failure[call]
        yield failure, dict.fromkeys(tests, UNKNOWN)
        for outcomes in product((FALSE, TRUE), repeat=len(tests)):
            chance = 1.0 - failure
            for test, outcome in zip(tests, outcomes, strict=True):
                share = self._selectivity[test]
                chance *= share if outcome == TRUE else 1.0 - share
            yield chance, dict(zip(tests, outcomes, strict=True))


def after(alternatives: frozenset[Left], outcomes: dict[int, int]) -> frozenset[Left]:
    """Returns the alternatives that are open after outcomes of tests."""
    matched: set[int] = set()
    still: list[Left] = []
    for left in alternatives:
        known = [
            (outcomes[test], wanted)
            for _, tests in left.needs
            for test, wanted in tests
            if test in outcomes
        ]
        if any(outcome not in (wanted, UNKNOWN) for outcome, wanted in known):
            continue
        doubtful = left.doubtful or any(outcome == UNKNOWN for outcome, _ in known)
        needs = tuple(
            (call, tests)
            for call, tests in (
                (call, tuple(each for each in tests if each[0] not in outcomes))
                for call, tests in left.needs
            )
            if tests
        )
        if needs:
            still.append(left._replace(doubtful=doubtful, needs=needs))
        elif not doubtful:
            matched.add(left.owner)
    matched.discard(_LONE)
    return settled(left for left in still if left.binds or left.owner not in matched)


def settled(alternatives: Iterator[Left] | Sequence[Left]) -> frozenset[Left]:
    """Returns alternatives; one is on its own where it and its siblings never spare each other."""
    still = list(alternatives)
    free: dict[int, int] = {}
    count: dict[int, int] = {}
    for left in still:
        count[left.owner] = count.get(left.owner, 0) + 1
        free[left.owner] = free.get(left.owner, 0) + (not left.binds)
    return frozenset(
        left
        if left.owner != _LONE and free[left.owner] and count[left.owner] > 1
        else Left(_LONE, False, False, left.needs)
        for left in still
    )


def calls_of(state: OpenTests) -> set[int]:
    """Returns the calls that are left to ask."""
    return {call for left in state.open for call, _ in left.needs}


class _TooLargeError(Exception):
    """There is too much to try."""


class _OptimalRun:
    def __init__(self, problem: Problem, solver: Solver) -> None:
        self._solver = solver
        self._group: list[int] = problem.call_group.tolist()
        self._open = dict(enumerate(alternatives_of(problem)))
        self._paid: frozenset[int] = frozenset()
        self._asked: set[int] = set()

    def next(self, limit: int) -> Sequence[int]:
        left = settled([each for each in map(self._unasked, self._open.values()) if each.needs])
        calls = self._solver.first(OpenTests(left, self._paid))
        self._asked.update(calls)
        self._paid |= {self._group[call] for call in calls} - {-1}
        return calls

    def _unasked(self, left: Left) -> Left:
        """Returns the alternative without what was asked for and never answered."""
        needs = tuple(need for need in left.needs if need[0] not in self._asked)
        return left if len(needs) == len(left.needs) else left._replace(needs=needs)

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None:
        for alternative in decided:
            self._open.pop(alternative, None)
        known = dict(zip(tests, outcomes, strict=True))
        for alternative, left in list(self._open.items()):
            if any(test in known for _, wanted in left.needs for test, _ in wanted):
                still = after(frozenset([left]), known)
                if still:
                    (new,) = still
                    doubtful = left.doubtful or any(
                        known.get(test) == UNKNOWN for _, wanted in left.needs for test, _ in wanted
                    )
                    self._open[alternative] = left._replace(needs=new.needs, doubtful=doubtful)
                else:
                    del self._open[alternative]


def alternatives_of(problem: Problem) -> list[Left]:
    """Returns the alternatives of a problem, in order."""
    tests, signs = problem.edge_test.tolist(), problem.edge_sign.tolist()
    test_call, starts = problem.test_call.tolist(), problem.alternative_start.tolist()
    found = []
    for alternative, owner in enumerate(problem.alternative_subscription.tolist()):
        needs: dict[int, set[tuple[int, int]]] = {}
        for edge in range(starts[alternative], starts[alternative + 1]):
            wanted = TRUE if signs[edge] > 0 else FALSE
            needs.setdefault(test_call[tests[edge]], set()).add((tests[edge], wanted))
        left = tuple((call, tuple(sorted(needs[call]))) for call in sorted(needs))
        found.append(Left(owner, bool(problem.alternative_binds[alternative]), False, left))
    return found
