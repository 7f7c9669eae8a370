"""The planner law: whatever a planner asks for, the answers are the same, and it never asks twice.

Random worlds (subscriptions, events, operators that fail at times, statistics, limits) go through
a matcher with the planner and through one with `naive`; a planner is judged by its calls alone.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tamis.errors import PlannerError, PluginWarning
from tamis.limits import Limits
from tamis.matcher import Matcher
from tamis.planning import DECIDED, KNOWN, Planner, Problem, Progress, Run
from tamis.plugins.loader import installed
from tamis.result import Result
from tamis.statistics import Statistics
from tamis.testing import pool
from tamis.testing.condition_strategies import subscriptions
from tamis.testing.event_strategies import events
from tamis.testing.lazily import SearchStrategy, hypothesis, law_settings, st
from tamis.testing.operators import counting

_ROUND = 3
_MEMO_BYTES = 1 << 20
_NARROW = Limits(assignments=2, solutions=3, join_steps=6)


@dataclass(frozen=True)
class PlannerWorld:
    """The subscriptions and events on which a planner is tried."""

    subscriptions: Sequence[dict[str, Any]]
    events: Sequence[dict[str, Any]]
    selectivity: dict[str, float] = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)

    def __str__(self) -> str:
        lines = [f"{each['id']}: {each['where']}" for each in self.subscriptions]
        lines += [f"event {json.dumps(event, ensure_ascii=False)}" for event in self.events]
        for name in ("selectivity", "cost"):
            if getattr(self, name):
                lines.append(f"{name} {getattr(self, name)}")
        if self.limits != Limits():
            lines.append(str(self.limits))
        return "\n".join(f"  {line}" for line in lines)


@dataclass(frozen=True)
class ObservedEvent:
    """The outcome of one event."""

    answers: dict[str, Any]
    calls: tuple[str, ...]
    result: Result


PlannerForm = str | Planner | Callable[[], Planner]


def check_planner(planner: PlannerForm, *, examples: int | None = None) -> None:
    """Raises `AssertionError` with the smallest world found in which a planner breaks the law.

    `planner` is the name of an installed one, one, or makes one when called. Without `examples`,
    as many as the active profile of hypothesis says.

    >>> check_planner("sequential", examples=5)
    """
    name = planner if isinstance(planner, str) else type(made_planner(planner)).__name__

    @law_settings(examples)
    @hypothesis.given(worlds())
    def law(world: PlannerWorld) -> None:
        problem = violation(world, planner)
        if problem is not None:  # no assert: pytest would add its own words
            raise AssertionError(f"planner {name} {problem}\n{world}")

    try:
        law()
    except hypothesis.errors.Flaky as flaky:
        raise AssertionError(
            f"planner {name} does one thing and then another in the same world: "
            f"it is random, or remembers"
        ) from flaky


def made_planner(planner: PlannerForm) -> Planner:
    """Returns a planner, in whatever form it is given; a new one where that can be."""
    if isinstance(planner, str):
        return installed().planner(planner).factory()
    if not isinstance(planner, type) and hasattr(planner, "begin"):
        return planner
    assert callable(planner)
    return planner()


def worlds() -> SearchStrategy[PlannerWorld]:
    """Worlds of a few subscriptions that share calls, and an event or two."""
    known = st.sampled_from(
        [
            *(f"{name}({key})" for name in pool.TRUTHS for key in pool.KEYS),
            *(f"{name}({key}, ?1)" for name in pool.COUNTS for key in pool.KEYS),
        ]
    )
    return st.builds(
        PlannerWorld,
        subscriptions=subscriptions(attributes=False),
        events=st.lists(events(), min_size=1, max_size=2),
        selectivity=st.dictionaries(known, st.sampled_from([0.0, 0.1, 0.5, 1.0]), max_size=4),
        cost=st.dictionaries(known, st.sampled_from([0.0, 0.001, 1.0]), max_size=4),
        limits=st.sampled_from([Limits(), Limits(), _NARROW]),
    )


def violation(world: PlannerWorld, planner: PlannerForm) -> str | None:
    """Describes how a planner breaks the law in a world, `None` if it does not."""
    right = run_world(world, made_planner("naive"))
    try:
        seen = run_world(world, _WatchedPlanner(made_planner(planner)))
        rounds = run_world(world, _WatchedPlanner(made_planner(planner), _ROUND))
        kept = run_world(world, made_planner(planner), workers=2, memo_bytes=_MEMO_BYTES)
    except (BrokenPlannerLaw, PlannerError) as broken:
        return _breach(broken)
    for at, (theirs, ours) in enumerate(zip(right, seen, strict=True)):
        event = f"event {at % len(world.events)}"
        if theirs.answers != ours.answers:
            return f"gives {ours.answers} for {event}, not {theirs.answers}"
        if len(ours.calls) > len(set(ours.calls)):
            return f"calls one predicate twice for {event}: {ours.calls}"
        if ours.result.account.needed_at_least > len(ours.calls):
            return f"makes fewer calls for {event} than every method must: {ours.calls}"
        if rounds[at].answers != theirs.answers:
            return f"gives {rounds[at].answers} for {event} in rounds, not {theirs.answers}"
        if kept[at].answers != theirs.answers:
            return f"gives {kept[at].answers} for {event} with workers, a memo and learning"
    for at in range(len(world.events)):
        first, again = seen[at].calls, seen[at + len(world.events)].calls
        if first != again:
            return f"makes the calls {first} for event {at}, and then {again}: it is random"
    return None


def run_world(
    world: PlannerWorld, planner: Planner, *, workers: int = 1, memo_bytes: int = 0
) -> list[ObservedEvent]:
    """Matches the events of a world, the same again, and the same with fewer subscriptions.

    Half of the subscriptions are cancelled before the last pass, and one comes back."""
    operators = [counting(each) for each in pool.pool_operators()]
    matcher = Matcher(
        operators=operators,
        planner=planner,
        statistics=Statistics(selectivity=world.selectivity, cost=world.cost),
        limits=world.limits,
        workers=workers,
        memo_bytes=memo_bytes,
        learning=memo_bytes > 0,
    )
    seen = []
    for number in range(3):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            if not number:
                matcher.subscribe_many(world.subscriptions)
            elif number == 2:
                _change(matcher, world)
        for warning in heard:
            if issubclass(warning.category, PluginWarning):
                raise BrokenPlannerLaw(f"does not follow: {warning.message}")
        for at, event in enumerate(world.events):
            result = matcher.match({**event, "id": f"e{at} in pass {number}"})
            calls = tuple(call.predicate for call in result.calls)
            seen.append(ObservedEvent(_answers(result), calls, result))
    for operator in operators:
        if operator.repeated:
            raise BrokenPlannerLaw(f"makes a call twice for an event: {operator.repeated[0]}")
    return seen


def _change(matcher: Matcher, world: PlannerWorld) -> None:
    cancelled = world.subscriptions[::2]
    for each in cancelled:
        matcher.unsubscribe(each["id"])
    matcher.subscribe_many(cancelled[:1])


def _answers(result: Result) -> dict[str, Any]:
    """Returns what may not depend on a planner: matches, assignments in any order, and reasons."""
    return {
        "matches": {
            match.subscription: (
                sorted(json.dumps(each, sort_keys=True) for each in match.bindings),
                match.incomplete,
                match.truncated,
            )
            for match in result.matches
        },
        "undetermined": sorted(each.subscription for each in result.undetermined),
    }


class BrokenPlannerLaw(Exception):
    """A planner that broke the law while it ran."""


def _breach(problem: Exception) -> str:
    """Describes how a run ended early: a breach of the law, or an error of the planner."""
    cause = problem.__cause__ if isinstance(problem, PlannerError) else problem
    if cause is None or isinstance(cause, BrokenPlannerLaw):
        return str(cause or problem)
    return f"raises {type(cause).__name__}: {cause}"


class _WatchedPlanner:
    """A planner under observation, asked for so many calls at a time."""

    def __init__(self, planner: Planner, limit: int = 1) -> None:
        self.planner = planner
        self.limit = limit

    def begin(self, problem: Problem) -> Run:
        for array in vars(problem).values():
            if hasattr(array, "setflags"):
                array.setflags(write=False)
        run = self.planner.begin(problem)
        watched = _WatchedReadingRun if hasattr(run, "read") else _WatchedRun
        return watched(run, problem, self.limit)

    def __getattr__(self, name: str) -> Any:
        """Returns the planner's further methods: it may follow what is subscribed."""
        method = getattr(self.planner, name)

        def watched(*arguments: Any) -> Any:
            try:
                return method(*arguments)
            except Exception as problem:
                raise BrokenPlannerLaw(f"raises {type(problem).__name__}: {problem}") from problem

        return watched


class _WatchedRun:
    def __init__(self, run: Any, problem: Problem, limit: int) -> None:
        self.run = run
        self.problem = problem
        self.limit = limit
        self.asked: set[int] = set()

    def next(self, limit: int) -> Sequence[int]:
        calls: Sequence[int] = self.run.next(self.limit)
        for call in calls:
            if not 0 <= call < self.problem.calls:
                raise BrokenPlannerLaw(f"asks for call {call} where there are {self.problem.calls}")
            if call in self.asked:
                raise BrokenPlannerLaw(f"asks for call {call} twice")
            self.asked.add(call)
        invocations = self._limited(calls)
        if invocations > self.limit:
            raise BrokenPlannerLaw(
                f"asks for {invocations} calls at once, not for {self.limit} at most"
            )
        return calls

    def observe(
        self, tests: Sequence[int], outcomes: Sequence[int], decided: Sequence[int]
    ) -> None:
        self.run.observe(tests, outcomes, decided)

    def _limited(self, calls: Sequence[int]) -> int:
        """Counts the invocations that are not to be more than the limit."""
        return _invocations(self.problem, calls)


class _WatchedReadingRun(_WatchedRun):
    def read(self, progress: Progress) -> None:
        self.progress = progress
        self.run.read(progress)

    def _limited(self, calls: Sequence[int]) -> int:
        found = super()._limited(calls)
        if found <= self.limit:
            return found
        certain = self._certain()
        return super()._limited([call for call in calls if call not in certain])

    def _certain(self) -> set[int]:
        """Returns the calls that an open alternative needs, and nothing else any more."""
        problem, (known, _, decided, counts) = self.problem, self.progress
        tests = set(known[: counts[KNOWN]].tolist())
        found = set()
        for alternative in set(range(problem.alternatives)) - set(decided[: counts[DECIDED]]):
            edges = slice(*problem.alternative_start[alternative : alternative + 2].tolist())
            left = set(problem.edge_test[edges].tolist()) - tests
            calls = {int(problem.test_call[test]) for test in left}
            found |= calls if len(calls) == 1 else set()
        return found


def _invocations(problem: Problem, calls: Sequence[int]) -> int:
    """Counts invocations: calls of one batch are one."""
    batches = [int(problem.call_batch[call]) for call in calls]
    return batches.count(-1) + len({batch for batch in batches if batch >= 0})
