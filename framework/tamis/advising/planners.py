"""Measures what each planner costs on events of which all answers are known, and its answers.

No operator is called: planners are run on what is known, with what a matcher would expect by then.
A call costs what was learned of it over the whole sample, so that no planner is lucky with the
time of a single call; a preparation is paid once an event, one more call of a batch its margin.
Planners for small problems are run while events are small, and are left out once one is not.
Cost: a run of each planner an event, and of the default one for each setting.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tamis.advising.shadow import Known, follower_of
from tamis.calling.answers import Answer
from tamis.calling.event_calls import EventCalls
from tamis.calling.executor import Inline
from tamis.calling.memo import DEFAULT_BYTES, Memo
from tamis.engine.deciding import Decider, unsaid
from tamis.engine.decision import Decision
from tamis.engine.following import PlannerHolder
from tamis.errors import TamisError
from tamis.matcher import DEFAULT_PLANNER, Matcher
from tamis.operators.asking import Call
from tamis.operators.specification import Preparation
from tamis.planning import Planner
from tamis.plugins.loader import Plugins
from tamis.result import Result
from tamis.statistics import Statistics

T = TypeVar("T")

SMALL_CALLS = 12
_SMALL_SECONDS = 5.0
"""The seconds that planners for small problems may take altogether."""
EXPECTED_OF_NOTHING, REMEMBERED, AT_ONCE = "unlearned", "memo", "workers"
GIVEN = "given"


@dataclass
class PlannerCost:
    """The cost of a planner."""

    planner: str
    is_small: bool = False
    events: int = 0
    calls: int = 0
    invocations: int = 0
    expected_seconds: float = 0.0
    """Of its calls, by what was learned."""
    own_seconds: float = 0.0
    """Its own seconds."""
    wrong: int = 0
    """Events for which the answers were others."""
    trouble: str = ""
    """Why it was left out."""
    broken: bool = False
    made: Counter[Call] = field(default_factory=Counter, repr=False)
    together: Counter[Call] = field(default_factory=Counter, repr=False)
    """Calls that were not the first of their invocation."""
    prepared: Counter[Preparation] = field(default_factory=Counter, repr=False)

    @property
    def seconds(self) -> float:
        """Of its calls, and its own."""
        return self.expected_seconds + self.own_seconds

    @property
    def is_whole(self) -> bool:
        """True if it gave the answers of all events."""
        return not self.broken and not self.trouble

    def take(self, decision: Decision, invocations: Sequence[Sequence[Call]]) -> None:
        """Adds an event."""
        self.events += 1
        self.own_seconds += decision.stages.seconds["planner"]
        self.calls += len(decision.made)
        self.invocations += len(invocations)
        prepared: set[Preparation] = set()
        for calls in invocations:
            for at, call in enumerate(calls):
                (self.together if at else self.made)[call] += 1
                prepared.update(call.specification.preparations)
        self.prepared.update(prepared)

    def settle(self, costs: AnswerCosts) -> None:
        """Counts its calls at what was learned of them."""
        self.expected_seconds = (
            sum(number * costs.alone[call] for call, number in self.made.items())
            + sum(number * costs.margin[call] for call, number in self.together.items())
            + sum(number * costs.price[each] for each, number in self.prepared.items())
        )


class AnswerCosts:
    """The learned costs of calls and preparations."""

    def __init__(self, matcher: Matcher, calls: Iterable[Call]) -> None:
        known = matcher._learned or matcher.statistics
        listed = list(calls)
        self.alone = dict(zip(listed, known.costs(listed).tolist(), strict=True))
        self.margin = dict(zip(listed, known.marginal_costs(listed).tolist(), strict=True))
        every = {each for call in listed for each in call.specification.preparations}
        self.price = {
            each: float(
                known.prices([each])[0]
                - (known.prices([each.after])[0] if each.after is not None else 0.0)
            )
            for each in every
        }


class PlannerTrial:
    """Events on which planners are tried, one after the other."""

    def __init__(
        self, matcher: Matcher, plugins: Plugins, planners: Sequence[str], workers: int
    ) -> None:
        self._matcher = matcher
        self.costs = {name: PlannerCost(name, plugins.planners[name].is_small) for name in planners}
        names = [EXPECTED_OF_NOTHING, REMEMBERED, AT_ONCE]
        names += [GIVEN] if matcher.statistics else []
        self.settings = {name: PlannerCost(DEFAULT_PLANNER) for name in names}
        """The default planner otherwise: knowing nothing, with a memo, with workers."""
        self.seconds_in_turn = 0.0
        self.seconds_at_once = 0.0
        """The seconds of its rounds with workers, by the times of their calls."""
        self._followings: dict[str, PlannerHolder] = {}
        self._memo = Memo(DEFAULT_BYTES)
        self._rounds = Rounds(workers)
        self._nothing = Statistics()
        self._calls: set[Call] = set()
        self._events = 0

    def begin(self) -> None:
        """Makes the planners, and tells those that follow what is subscribed."""
        for name in [*self.costs, DEFAULT_PLANNER]:
            cost = self.costs.get(name)
            try:
                self._followings[name] = each = follower_of(self._matcher, name)
                with self._matcher._changing, self._matcher._lock.reading:
                    each.reset(each.statistics)
            except TamisError as problem:
                if cost is None:
                    raise
                cost.trouble, cost.broken = str(problem), True

    def take(self, known: Known, result: Result, needless: Sequence[int]) -> None:
        """Runs all planners on an event of which all is known."""
        expected = answers_of(result)
        self._tell()
        if self._events == 1:
            self._warm(known, needless)
        self._calls.update(known.decision.skeleton.calls)
        for name, cost in self.costs.items():
            if not cost.is_whole:
                continue
            if cost.is_small:
                hard = len(known.answers) > SMALL_CALLS
                if hard or cost.own_seconds > _SMALL_SECONDS:
                    cost.trouble = "for small problems only: an event leaves too many calls"
                    continue
            try:
                self._run(cost, self._followings[name].planner, known, needless, result, expected)
            except TamisError as problem:
                cost.trouble = str(problem)
                cost.broken = not cost.is_small
        self._try_settings(known, needless)

    def _warm(self, known: Known, needless: Sequence[int]) -> None:
        """Runs planners once for nothing: kernels are made when first used."""
        for name, following in self._followings.items():
            if name in self.costs and self.costs[name].is_small:
                continue
            with contextlib.suppress(TamisError):  # raised again, and taken down, when it counts
                known.decided(_decider(AnswerRecord(known)), following.planner, needless)

    def _tell(self) -> None:
        """Tells planners that follow what was learned, as seldom as a matcher does."""
        self._events += 1
        due = [each for each in self._followings.values() if self._events >= each.next_telling]
        learned = self._matcher.learned() if due else None
        for following in due:
            assert learned is not None
            following.learned(learned)
            following.warn_of_troubles()

    def _try_settings(self, known: Known, needless: Sequence[int]) -> None:
        planner = self._followings[DEFAULT_PLANNER].planner
        skeleton = known.decision.skeleton
        for name, cost in self.settings.items():
            decider = None
            problem = skeleton
            if name == EXPECTED_OF_NOTHING:
                problem = skeleton.expecting(self._nothing)
            elif name == GIVEN:
                problem = skeleton.expecting(self._matcher.statistics)
            caller = AnswerRecord(known)
            if name == REMEMBERED:
                decider = _decider(caller, memo=self._memo)
            elif name == AT_ONCE:
                self._rounds.caller = caller
                decider = _decider(caller, executor=self._rounds)
            decider = decider or _decider(caller)
            decision = known.decided(
                decider, planner, needless, skeleton=problem, timer=time.thread_time
            )
            cost.take(decision, caller.invocations)
            if name == AT_ONCE:
                self.seconds_in_turn += caller.seconds
                self.seconds_at_once += caller.seconds - self._rounds.take_saved()

    def _run(
        self,
        cost: PlannerCost,
        planner: Planner,
        known: Known,
        needless: Sequence[int],
        result: Result,
        expected: object,
    ) -> None:
        caller = AnswerRecord(known)
        decision = known.decided(_decider(caller), planner, needless, timer=time.thread_time)
        cost.take(decision, caller.invocations)
        if answers_of(result.decided_as(decision)) != expected:
            cost.wrong += 1
            cost.broken = True
            cost.trouble = f"answers otherwise, first for the event {result.event}"

    def finish(self) -> AnswerCosts:
        """Counts all calls at what was learned of them."""
        costs = AnswerCosts(self._matcher, self._calls)
        for cost in (*self.costs.values(), *self.settings.values()):
            cost.settle(costs)
        return costs


class AnswerRecord:
    """Answers that are known, and a list of what was asked for."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self.invocations: list[Sequence[Call]] = []
        self.seconds = 0.0

    def call(self, call: Call, event_calls: EventCalls) -> Answer:
        """Returns the known answer to a call."""
        return self.call_together([call], event_calls)[0]

    def call_together(self, calls: Sequence[Call], event_calls: EventCalls) -> list[Answer]:
        """Returns the known answers to calls."""
        self.invocations.append(list(calls))
        answers = self._known.call_together(calls, event_calls)
        self.seconds += sum(each.whole_seconds for each in answers)
        return answers


class Rounds:
    """Runs works one after the other, and counts what it saves when several run at once."""

    def __init__(self, workers: int) -> None:
        self.at_once = workers
        self.caller: AnswerRecord | None = None
        self._saved = 0.0

    def run(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Returns the results of the works; each goes to the worker that is free first."""
        assert self.caller is not None
        results, busy = [], [0.0] * self.at_once
        for work in works:
            before = self.caller.seconds
            results.append(work())
            busy[busy.index(min(busy))] += self.caller.seconds - before
        self._saved += sum(busy) - max(busy)
        return results

    def take_saved(self) -> float:
        """Returns the seconds that were saved since this was asked last."""
        saved, self._saved = self._saved, 0.0
        return saved

    def close(self) -> None:
        """Does nothing: there is nothing to release."""


def answers_of(result: Result) -> Mapping[str, Any]:
    """Returns what may not depend on a planner: matches, assignments, and the undetermined."""
    decision = result.decision
    bound: dict[int, tuple[list[str], bool, bool]] = {}
    if decision is not None:
        skeleton = decision.skeleton
        binding = {
            owner for owner, binds in zip(skeleton.owners, skeleton.binds, strict=True) if binds
        }
        for owner in sorted(binding & decision.matched):
            row = int(skeleton.subscriptions[owner])
            match = result.matches.of_row(row)
            assert match is not None
            assignments = sorted(repr(sorted(each.items())) for each in match.bindings)
            bound[row] = assignments, match.incomplete, match.truncated
    return {
        "matches": result.matches.rows.tolist(),
        "bound": bound,
        "undetermined": [each.subscription for each in result.undetermined],
    }


def _decider(caller: AnswerRecord, *, memo: Memo | None = None, executor: Any = None) -> Decider:
    return Decider(caller, executor or Inline(), memo or Memo(0), unsaid)
