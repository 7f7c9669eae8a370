"""Defines what planners are told and what they answer: the planner protocol.

A planner decides which call is made next, never what is true. For one event it gets a `Problem`:
arrays over dense numbers that mean nothing outside this event. It never sees events or operators,
and whatever it asks for, in whatever order, the answers are the same; what it leaves open the
engine finishes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from tamis.numeric.kernels import kernels_are_loaded
from tamis.numeric.lists import lists_by_number
from tamis.numeric.types import Flags, Floats, Ints, SmallInts, TinyInts

__all__ = [
    "FALSE",
    "TRUE",
    "UNKNOWN",
    "Expectations",
    "FollowingPlanner",
    "Planner",
    "PlannerRecord",
    "Problem",
    "Progress",
    "ReadingRun",
    "Run",
    "Scenes",
    "Standing",
]

FALSE, TRUE, UNKNOWN = 0, 1, 2
MOST_INTERPRETED = 4_000
"""The most edges of a problem that is interpreted; `tamis bench forms` measures the cost."""
MOST_SUBSCRIBED = 2_000
"""The most alternatives for which it is: with more, indexes are compiled, too."""


@dataclass(frozen=True)
class Scenes:
    """Sorts of events: given the sort, tests are independent."""

    weight: Floats
    """The share of events of each sort."""
    selectivity: Floats
    """Of each sort (rows) and test (columns): the expected share of events that satisfy it."""


@dataclass(frozen=True)
class Problem:
    """The alternatives that the index has found for an event, and what deciding them may cost.

    Alternatives are numbered in the order in which they were subscribed, tests and calls by first
    use. `edge_*[alternative_start[a]:alternative_start[a + 1]]` are the tests of alternative `a`
    as written, with their signs: `+1` where the test must be true, `-1` where it must be false.
    A test is decided when its call returns; several tests may share a call."""

    alternative_key: Ints
    """The stable name of an alternative, for as long as it is subscribed."""
    alternative_subscription: Ints
    """Alternatives of one subscription are an `or`."""
    alternative_binds: Flags
    """True if it has variables: a true one without any makes its siblings needless."""
    alternative_start: Ints
    edge_test: Ints
    edge_sign: TinyInts
    test_call: Ints
    test_selectivity: Floats
    """The expected share of events that satisfy the test, of those where it is not unknown."""
    call_cost: Floats
    """Expected seconds of a call by itself, without its preparation."""
    call_failure: Floats
    """The expected share of events for which a call fails, so that its tests decide nothing."""
    call_group: Ints
    """The preparation a call needs, or -1; it is paid once, with the first call of the group."""
    group_price: Floats
    call_batch: Ints
    """Calls of one batch can be made together, as one invocation; -1 by itself."""
    call_marginal: Floats
    """Expected seconds of a call made together with another one of its batch."""
    implications: Ints
    """Rows `(test, outcome, other test, its outcome)`: what an outcome decides besides itself.

    Chains and contrapositions are rows of their own."""
    scenes: Scenes | None = None
    """The correlations of tests, where knowing them helps."""

    @property
    def alternatives(self) -> int:
        """The number of alternatives."""
        return len(self.alternative_subscription)

    @property
    def tests(self) -> int:
        """The number of tests."""
        return len(self.test_call)

    @property
    def calls(self) -> int:
        """The number of calls."""
        return len(self.call_cost)

    @property
    def alternative_size(self) -> Ints:
        """The number of edges of each alternative."""
        return self.alternative_start[1:] - self.alternative_start[:-1]

    @cached_property
    def edge_alternative(self) -> Ints:
        """The alternative of each edge."""
        numbers, counts = np.arange(self.alternatives), self.alternative_size
        are_single = np.count_nonzero(counts == 1) == len(counts)
        return numbers if are_single else np.repeat(numbers, counts)

    @cached_property
    def test_edges(self) -> SmallInts:
        """The edges of each test (`lists_by_number`)."""
        return lists_by_number(self.edge_test, self.tests, self.is_large)

    @cached_property
    def owned(self) -> SmallInts:
        """The alternatives of each subscription (`lists_by_number`)."""
        subscriptions = int(self.alternative_subscription.max(initial=-1)) + 1
        return lists_by_number(self.alternative_subscription, subscriptions, self.is_large)

    @cached_property
    def call_tests(self) -> SmallInts:
        """The tests of each call (`lists_by_number`)."""
        return lists_by_number(self.test_call, self.calls, self.is_large)

    @cached_property
    def alternative_calls(self) -> tuple[tuple[int, ...], ...]:
        """The calls of each alternative, as written, each once."""
        calls = self.test_call[self.edge_test].tolist()
        if len(calls) == self.alternatives and np.all(self.alternative_size == 1):
            return tuple(zip(calls, strict=True))
        starts = self.alternative_start.tolist()
        return tuple(
            tuple(dict.fromkeys(calls[start:end])) for start, end in itertools.pairwise(starts)
        )

    @cached_property
    def call_alternatives(self) -> tuple[tuple[int, ...], ...]:
        """The alternatives that hold a test of each call, each once."""
        result: list[list[int]] = [[] for _ in range(self.calls)]
        for alternative, calls in enumerate(self.alternative_calls):
            for call in calls:
                result[call].append(alternative)
        return tuple(map(tuple, result))

    @cached_property
    def is_large(self) -> bool:
        """True if compiled functions serve it."""
        return is_large_problem(len(self.edge_test), int(self.alternative_key.max(initial=-1)))

    def expecting(self, expected: Expectations) -> Problem:
        """Returns the problem with other expectations; what follows from its shape is kept."""
        other = replace(self, **vars(expected))
        for name in _FROM_SHAPE & vars(self).keys():
            vars(other)[name] = vars(self)[name]
        return other

    def __post_init__(self) -> None:
        """Makes of the arrays what functions are compiled for: contiguous and read-only."""
        own = vars(self)
        for name, dtype in _DTYPES.items():
            own[name] = given = np.ascontiguousarray(own[name], dtype)
            given.setflags(write=False)


def is_large_problem(edges: int, highest_key: int) -> bool:
    """Returns whether compiled functions serve a problem: by its size, by how many are subscribed,
    or because they are there.

    Keys are numbers that are used again, so they tell how many alternatives there have been."""
    return kernels_are_loaded() or edges > MOST_INTERPRETED or highest_key >= MOST_SUBSCRIBED


def smallest_problem() -> Problem:
    """Returns a problem of one alternative that has one test, as functions are exercised with."""
    one, none, half = np.zeros(1, np.int64), np.full(1, -1), np.full(1, 0.5)
    return Problem(
        alternative_key=one,
        alternative_subscription=one,
        alternative_binds=np.zeros(1, np.bool_),
        alternative_start=np.arange(2),
        edge_test=one,
        edge_sign=np.ones(1, np.int8),
        test_call=one,
        test_selectivity=half,
        call_cost=half,
        call_failure=np.zeros(1),
        call_group=none,
        group_price=np.zeros(0),
        call_batch=none,
        call_marginal=half,
        implications=np.zeros((0, 4), np.int64),
    )


_DTYPES: dict[str, type[np.generic]] = {
    **dict.fromkeys(("alternative_key", "alternative_subscription"), np.int64),
    "alternative_binds": np.bool_,
    **dict.fromkeys(("alternative_start", "edge_test"), np.int64),
    "edge_sign": np.int8,
    "test_call": np.int64,
    **dict.fromkeys(("test_selectivity", "call_cost", "call_failure"), np.float64),
    "call_group": np.int64,
    "group_price": np.float64,
    "call_batch": np.int64,
    "call_marginal": np.float64,
    "implications": np.int64,
}
_FROM_SHAPE = {name for name, found in vars(Problem).items() if isinstance(found, cached_property)}


@dataclass(frozen=True)
class Expectations:
    """The expectations of the tests and calls of a problem; the fields are the problem's."""

    test_selectivity: Floats
    call_cost: Floats
    call_failure: Floats
    call_marginal: Floats
    group_price: Floats
    scenes: Scenes | None = None


class Run(Protocol):
    """Solves one problem, call by call."""

    def next(self, limit: int) -> Sequence[int]:
        """Returns the calls to make now; none when nothing more is needed.

        At most `limit` invocations: calls of one batch are one. With a limit of one the outcomes
        are observed after each; a larger limit asks for a round in which few calls are wasted."""

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None:
        """Takes outcomes (`FALSE`, `TRUE`, `UNKNOWN`) of tests, and the decided alternatives."""


class Progress(NamedTuple):
    """The lists of what is known of an event by now, in arrays that are long enough for all."""

    known: SmallInts
    """The tests that have an outcome, in the order in which they got it."""
    outcome: SmallInts
    """By test, once it is known."""
    decided: SmallInts
    """The alternatives that are decided, in that order."""
    counts: Ints
    """How many tests are known and alternatives decided (`KNOWN`, `DECIDED`)."""


KNOWN, DECIDED = range(2)
"""Places of `Progress.counts`."""


class ReadingRun(Run, Protocol):
    """A run that looks itself at what is known when it is asked, and is not told of it then; it is
    not asked any more when all alternatives are decided.

    Beyond the limit it may ask for calls that every planner must make: each is the last that some
    open alternative needs, whatever the others answer."""

    def read(self, progress: Progress) -> None:
        """Takes what is known of the event; the arrays change until it is decided."""


class Planner(Protocol):
    """Orders the calls of any event."""

    def begin(self, problem: Problem) -> Run:
        """Starts on the problem of one event."""


@dataclass(frozen=True)
class Standing:
    """Alternatives as they stand subscribed, for planners that keep an order of their own.

    `test[start[i]:start[i + 1]]` are the tests of the alternative named `key[i]`, as written, with
    their signs, their selectivities and the costs of their calls; tests have stable names too."""

    key: Ints
    start: Ints
    test: Ints
    sign: TinyInts
    selectivity: Floats
    cost: Floats


class FollowingPlanner(Planner, Protocol):
    """A planner that is told of every change to what is subscribed, one change at a time.

    It hears of a change before any event is matched with it; events may be begun meanwhile."""

    def reset(self, standing: Standing) -> None:
        """Takes everything that is subscribed, at the start and when statistics change."""

    def subscribed(self, standing: Standing) -> None:
        """Takes what was subscribed."""

    def unsubscribed(self, keys: Sequence[int]) -> None:
        """Forgets the alternatives of these keys."""

    def in_order(self) -> Sequence[int]:
        """Returns the keys of what is subscribed, the first to be evaluated first."""


@dataclass(frozen=True)
class PlannerRecord:
    """The name of a planner, and where its code comes from when first needed."""

    name: str
    factory: Callable[[], Planner]
    description: str = ""
    is_small: bool = False
    """True if it is for small problems alone, and left out where all planners are run."""
    compile: Callable[[], object] | None = None
    """Compiles what it needs for large problems, for `tamis doctor --compile`."""
