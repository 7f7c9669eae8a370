"""Counts what other planners would have called for an event, by evaluating everything.

The calls that were not needed are made too, on the side: the answer is not touched, and statistics,
memo and account know nothing of it. Each planner is then run on the answers that are known, and the
bounds of `tamis.advising.bounds` are taken on them, in calls and in seconds. What operators
declared of their answers is held against all of them, and against those to what a declaration has
excluded.
Cost: every distinct call of the candidates and of what declarations exclude, a run of each planner,
and three linear programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from tamis.advising.bounds import PreparationPrices, Requirements
from tamis.advising.covering import scipy_part
from tamis.calling.answers import Answer
from tamis.calling.event_calls import EventCalls
from tamis.calling.executor import Inline
from tamis.calling.gateway import Gateway
from tamis.calling.memo import Memo
from tamis.engine.deciding import Answered, Decider, unsaid
from tamis.engine.decision import CALLED, MEMO, Decision, ImplicationError
from tamis.engine.following import PlannerHolder
from tamis.engine.problem import Skeleton
from tamis.engine.stages import StageClock
from tamis.engine.state import OPEN
from tamis.errors import PlannerError
from tamis.event import Event
from tamis.matcher import Matcher
from tamis.numeric.types import Floats
from tamis.operators.asking import Call, Test
from tamis.operators.necessary import declaration_text
from tamis.operators.specification import Preparation
from tamis.planning import UNKNOWN, Planner
from tamis.plugins.loader import installed
from tamis.result import Result


@dataclass
class Shadow:
    """The calls of one event, or of several: by planner, of everything, and of no method less."""

    events: int = 0
    every: int = 0
    """Every distinct call of the candidates that could be made."""
    calls: dict[str, int] = field(default_factory=dict)
    """The calls of each planner; one that keeps an order makes it anew."""
    seconds: dict[str, float] = field(default_factory=dict)
    """The seconds of each planner's calls and of what they need prepared, each measured once."""
    every_seconds: float = 0.0
    """The same of every distinct call."""
    clairvoyant: float | None = 0.0
    """Calls that even who knows all answers makes: a linear program's bound."""
    non_anticipative: float | None = 0.0
    """Calls that who knows all selectivities makes on average at least, if they are as expected."""
    clairvoyant_seconds: float | None = 0.0
    """Seconds that even who knows all answers needs, with each preparation once: likewise."""
    contradictions: dict[str, int] = field(default_factory=dict)
    """Pairs of answers that are not what was declared of them, and for how many events."""
    excluded: int = 0
    """Distinct predicates for whose declarations the index dropped alternatives."""
    broken: dict[str, int] = field(default_factory=dict)
    """Predicates that are true though a declaration of them is not, and for how many events."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Planners that could not be run, and why."""

    def add(self, other: Shadow) -> None:
        """Adds another one to this."""
        self.events += other.events
        self.every += other.every
        self.every_seconds += other.every_seconds
        self.excluded += other.excluded
        for mine, theirs in (
            (self.calls, other.calls),
            (self.seconds, other.seconds),
            (self.contradictions, other.contradictions),
            (self.broken, other.broken),
        ):
            for name, number in theirs.items():
                mine[name] = mine.get(name, 0) + number  # type: ignore[assignment]
        for name in ("clairvoyant", "non_anticipative", "clairvoyant_seconds"):
            known, more = getattr(self, name), getattr(other, name)
            setattr(self, name, None if known is None or more is None else known + more)
        self.left_out |= other.left_out

    def as_dict(self) -> dict[str, Any]:
        """Returns the same in plain values, ready for JSON."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def _no_time() -> float:
    return 0.0


class Shadows:
    """Runs other planners beside that of a matcher: all, but those for small problems alone."""

    def __init__(self, matcher: Matcher, planners: Iterable[str] | None = None) -> None:
        scipy_part("optimize")  # before any event is matched
        self._matcher = matcher
        records = installed().planners
        large = sorted(name for name, record in records.items() if not record.is_small)
        self._followings = {
            name: follower_of(matcher, name) for name in (large if planners is None else planners)
        }
        self._version = -1

    def _follow(self) -> None:
        """Tells the planners what is subscribed."""
        matcher = self._matcher
        with matcher._changing, matcher._lock.reading:
            if self._version != matcher._catalog.version:
                for each in self._followings.values():
                    each.reset(each.statistics)
                self._version = matcher._catalog.version

    def of(self, result: Result) -> Shadow:
        """Returns what they would have called for an event that was matched just now.

        Everything is evaluated for it; what is declared and not true is reported."""
        self._follow()
        shadow = Shadow(events=1)
        dropped = self._dropped(result)
        shadow.excluded = len(dropped)
        known = evaluated(self._matcher, result)
        shadow.broken = dict.fromkeys(self._broken(result, dropped, known), 1)
        if known is None:
            return shadow
        decision, needless = known.decision, result.needless
        shadow.every, shadow.every_seconds = len(known.answers), known.seconds(known.answers)
        found = known.contradictions()
        texts = [test.text for test in decision.skeleton.tests]
        shadow.contradictions = {f"{texts[test]} and {texts[other]}": 1 for test, other in found}
        if found:
            self._matcher._lessons.contradicted(decision, ImplicationError(*found[0]))
        for name, each in self._followings.items():
            try:
                made = known.replayed(each, needless)
            except PlannerError as problem:
                shadow.left_out[name] = str(problem)
                continue
            shadow.calls[name] = len(made)
            shadow.seconds[name] = known.seconds(made)
        shadow.clairvoyant = shadow.non_anticipative = shadow.clairvoyant_seconds = None
        if not shadow.contradictions:  # what is not true bounds nothing
            shadow.clairvoyant, shadow.non_anticipative = known.bounds(needless)
            shadow.clairvoyant_seconds = known.least_seconds(needless)
        return shadow

    def _dropped(self, result: Result) -> list[Test]:
        """Returns the tests for whose declarations alternatives are no candidates; not those whose
        inputs are absent."""
        event, matcher = result._seen.event, self._matcher
        with matcher._lock.reading:
            tests = matcher._sieve.dropped(event)
        return [test for test in tests if all(map(event.present, test.call.specification.needed))]

    def _broken(
        self, result: Result, dropped: Iterable[Test], known: Known | None
    ) -> Iterator[str]:
        """Names excluded tests that are true; the operators are asked for each of them."""
        event, decision = result._seen.event, result.decision
        tests = dict.fromkeys(dropped)
        if decision is not None:
            tests |= dict.fromkeys(decision.skeleton.tests[at] for at in decision.excluded)
        event_calls = EventCalls(event)
        answers = {} if known is None else dict(known.by_call)
        for test in tests:
            if test.call not in answers:
                answers[test.call] = self._matcher._gateway.call(test.call, event_calls)
            broken = test.necessary.broken(event)
            if broken is not None and _is_true(test, answers[test.call], event):
                yield f"{test.text}, which declares {declaration_text(broken)}"


def _is_true(test: Test, answer: Answer, event: Event) -> bool:
    if answer.failure is not None:
        return False
    if answer.solutions is None:
        return answer.truth
    return bool(test.select(answer.solutions, event))


def follower_of(matcher: Matcher, planner: str) -> PlannerHolder:
    """Returns another planner by its name, to be told of what is subscribed."""
    return PlannerHolder(installed(), planner, matcher._catalog, matcher.statistics, planner)


def evaluated(matcher: Matcher, result: Result) -> Known | None:
    """Returns all answers about an event that was matched just now, if operators were asked any.

    Calls that were not made are made now; nothing is learned from them."""
    decision = result.decision
    return None if decision is None else Known(decision, matcher._gateway)


class Known:
    """All answers about one event: those that were not given are asked for."""

    def __init__(self, decision: Decision, gateway: Gateway) -> None:
        self.decision = decision
        skeleton = decision.skeleton
        event_calls = EventCalls(decision.event)
        made = set(decision.made)
        self.answers: dict[int, Answer] = {}
        for at, call in enumerate(skeleton.calls):
            is_excluded = decision.excluded.keys() >= set(skeleton.own_tests(at))
            if at not in decision.missing and not is_excluded:
                answer = decision.answers.get(at)
                self.answers[at] = gateway.call(call, event_calls) if answer is None else answer
        self._remembered = [at for at in self.answers if at in decision.answers and at not in made]
        self._prepared: dict[Preparation, float] = {}
        for answer in self.answers.values():
            for preparation, seconds in answer.prepared:
                self._prepared.setdefault(preparation, seconds)
        self.by_call: Mapping[Call, Answer] = {
            skeleton.calls[at]: answer for at, answer in self.answers.items()
        }
        self.whole = decision.without_implications()
        self.whole.begin(())
        for at, answer in self.answers.items():
            self.whole.take(at, answer, CALLED)

    def call(self, call: Call, event_calls: EventCalls) -> Answer:
        """Returns the known answer to a call."""
        return self.by_call[call]

    def call_together(self, calls: Sequence[Call], event_calls: EventCalls) -> list[Answer]:
        """Returns the known answers to calls."""
        return [self.by_call[call] for call in calls]

    def contradictions(self) -> list[tuple[int, int]]:
        """Pairs of tests whose outcomes exclude each other by what was declared."""
        outcome = np.array(self.whole.outcome, np.int64)
        known = self.decision.outcome
        wider = [
            (self.decision.implied_by(test), test)
            for test in self.decision.skeleton.narrower
            if self.decision.implied_by(test) >= 0 and known[test] == 1 - outcome[test]
        ]
        test, truth, other, conclusion = self.decision.skeleton.problem.implications.T
        found = (test < other) & (outcome[test] == truth) & (outcome[other] == 1 - conclusion)
        return wider + list(zip(test[found].tolist(), other[found].tolist(), strict=True))

    def replayed(self, following: PlannerHolder, needless: Sequence[int]) -> list[int]:
        """Returns the calls that a planner makes."""
        known = [(at, self.answers[at], MEMO) for at in self._remembered]
        decider = Decider(self, Inline(), Memo(0), unsaid)
        return self.decided(decider, following.planner, needless, known).made

    def decided(
        self,
        decider: Decider,
        planner: Planner,
        needless: Sequence[int],
        known: Sequence[Answered] = (),
        skeleton: Skeleton | None = None,
        timer: Callable[[], float] = _no_time,
    ) -> Decision:
        """Decides the event by a planner on these answers; problems may differ in expectations."""
        before = self.decision
        problem = before.skeleton if skeleton is None else skeleton
        return decider.decide(
            planner,
            Decision(problem, before.event, before.limits, StageClock(timer)),
            EventCalls(before.event),
            needless,
            known,
        )

    def seconds(self, made: Iterable[int]) -> float:
        """Sums the seconds of calls and of what they need prepared."""
        skeleton, made = self.decision.skeleton, list(made)
        needed = {each for at in made for each in skeleton.calls[at].specification.preparations}
        return sum(self.answers[at].seconds for at in made) + sum(
            self._prepared.get(each, 0.0) for each in needed
        )

    def bounds(self, needless: Sequence[int]) -> tuple[float | None, float | None]:
        """Calls at least: of who knows all answers, and of who knows all selectivities."""
        problem = self.decision.problem
        price = np.ones(problem.calls)
        price[self._remembered] = 0.0
        free = np.zeros(len(problem.group_price))
        required = self._required(needless, price, PreparationPrices.alone(free))
        return required.clairvoyant(), required.non_anticipative()

    def least_seconds(self, needless: Sequence[int]) -> float:
        """Returns the least seconds of who knows all answers, as they were measured."""
        price = np.zeros(self.decision.problem.calls)
        for at, answer in self.answers.items():
            price[at] = 0.0 if at in self._remembered else answer.seconds
        prepared = list(self.decision.skeleton.preparations)
        for each in prepared:
            if each.after is not None and each.after not in prepared:
                prepared.append(each.after)
        place = {each: at for at, each in enumerate(prepared)}
        after = [-1 if each.after is None else place[each.after] for each in prepared]
        seconds = [self._prepared.get(each, 0.0) for each in prepared]
        prices = PreparationPrices(np.array(seconds), np.array(after, np.int64))
        return self._required(needless, price, prices).clairvoyant()

    def _required(
        self, needless: Sequence[int], price: Floats, preparations: PreparationPrices
    ) -> Requirements:
        """Returns what is required of calls of some prices."""
        skeleton, whole, problem = self.decision.skeleton, self.whole, self.decision.problem
        test_call = problem.test_call.copy()
        for test in skeleton.narrower:
            if skeleton.own_call(test) in self._remembered:  # nobody needs the wider one for it
                test_call[test] = skeleton.own_call(test)
        counted = replace(problem, test_call=test_call, call_cost=price, call_marginal=price)
        free = np.zeros(problem.alternatives, np.bool_)
        joined = [at for at, plan in skeleton.plans.items() if plan.checks]
        free[[*joined, *whole.failed_conditions, *needless]] = True
        outcomes = np.array(whole.outcome, np.int64)
        absent = np.isin(problem.test_call, list(whole.missing))
        free[problem.edge_alternative[absent[problem.edge_test]]] = True
        outcomes[outcomes == OPEN] = UNKNOWN
        # where a call failed, others may say all the same what it would have answered
        told = np.array([*skeleton.narrower, *skeleton.implicants], np.int64)
        failed = told[outcomes[told] == UNKNOWN]
        free[problem.edge_alternative[np.isin(problem.edge_test, failed)]] = True
        return Requirements(counted, outcomes, free, preparations)
