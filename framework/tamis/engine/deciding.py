"""Decides events: planners say which calls are wanted, operators answer, and planners are told.

The course of one event holds no thread: it yields the calls that it wants and takes their answers,
in the order in which the planner asked, so that nothing depends on timing. What needs no call comes
before the planner: absent inputs, conditions on the event alone, remembered answers.
Invariant: no call is made twice for an event.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import index, itemgetter
from typing import Protocol

from tamis.calling.answers import Answer
from tamis.calling.digest import EventDigests
from tamis.calling.event_calls import EventCalls
from tamis.calling.executor import Executor
from tamis.calling.memo import Memo, Shelf
from tamis.engine.decision import CALLED, MEMO, Decision, ImplicationError
from tamis.engine.guarded import GuardedRun
from tamis.engine.paying import DEADLINE, Purse
from tamis.engine.rehearsal import Rehearsal
from tamis.engine.wider import WiderError
from tamis.errors import PlannerError
from tamis.limits import Budget
from tamis.operators.asking import Call
from tamis.operators.specification import PROCESS, Preparation, Specification
from tamis.planning import DECIDED, FALSE, Planner

ROUND = 256
"""Invocations that a planner may ask for at once, where there are workers."""
_IN_TURNS = ("planner", "operators", "deciding")
"""The stages of each call."""


Answered = tuple[int, Answer, str]
"""A call, its answer, and how it came about."""
Contradicted = Callable[[Decision, ImplicationError], None]


class Caller(Protocol):
    """Makes calls; a `Gateway`, or one that knows the answers already."""

    def call(self, call: Call, event_calls: EventCalls) -> Answer:
        """Makes a call about an event."""

    def call_together(self, calls: Sequence[Call], event_calls: EventCalls) -> list[Answer]:
        """Makes calls of one batch about an event as one invocation."""


class Decider:
    """Decides events: where calls run, and how many of them at once."""

    def __init__(
        self,
        gateway: Caller,
        executor: Executor,
        memo: Memo,
        contradicted: Contradicted,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.gateway = gateway
        self.executor = executor
        self.memo = memo
        self.contradicted = contradicted
        self.timer = timer
        self.round = ROUND if executor.at_once > 1 else 1

    def decide(
        self,
        planner: Planner,
        decision: Decision,
        event_calls: EventCalls,
        needless: Sequence[int],
        known: Iterable[Answered] = (),
    ) -> Decision:
        """Makes the calls that the planner asks for, then those it left over."""
        return self.begin(planner, decision, event_calls, needless, known).finish()

    def begin(
        self,
        planner: Planner,
        decision: Decision,
        event_calls: EventCalls,
        needless: Sequence[int],
        known: Iterable[Answered] = (),
        budget: Budget | None = None,
    ) -> Underway:
        """Decides an event until it wants calls; what it took to make the problem is over."""
        decision.stages.end("problem")
        calls = EventAnswers(self, event_calls)
        answered = [*known, *calls.remembered(decision)]
        is_bounded = budget is not None or event_calls.deadline is not None
        purse = Purse(decision.skeleton, budget, event_calls) if is_bounded else None
        course = DecisionCourse(
            planner, decision, needless, answered, self.round, self.contradicted, purse
        )
        return Underway(course, calls)


class Underway:
    """An event that is being decided: the calls that it wants, and their answers so far."""

    def __init__(self, course: DecisionCourse, calls: EventAnswers) -> None:
        self.calls = calls
        self._course = course
        self._steps = course.steps()
        self._given: dict[int, Answered] = {}
        self._problem: Exception | None = None
        self.due: Sequence[int] | None = next(self._steps, None)
        """The calls that it wants next; nothing when it is decided."""

    @property
    def decision(self) -> Decision:
        """The decision as it is now."""
        return self._course.decision

    def finish(self) -> Decision:
        """Makes the calls that the event wants until it is decided."""
        course, answers = self._course, self.calls.answers
        if self.due is not None:
            course.given = answers(course.decision, self.due)
            for due in self._steps:
                course.given = answers(course.decision, due)
        return course.decision

    def take(self, answers: list[Answered]) -> None:
        """Goes on with the answers to the calls that are due, in their order."""
        self._course.given = answers
        try:
            self.due = next(self._steps, None)
        except Exception as problem:
            self.due, self._problem = None, problem

    def check(self) -> None:
        """Raises what ended the event before it was decided, if anything did."""
        if self._problem is not None:
            raise self._problem

    def rehearsal(self) -> Rehearsal:
        """Rehearses the event from its beginning, without a call."""
        return self._course.rehearsal()

    # among other events

    def call(self, place: int) -> Call:
        """Returns a call by its number."""
        return self.decision.skeleton.calls[place]

    def wanted(self) -> Iterator[tuple[int, Preparation | Specification | None]]:
        """Yields the calls that are still wanted, each with what can be made for several events at
        once: the next preparation, or the operator; `None` for a call that is made by itself, as
        those about an event with a deadline are."""
        has_deadline = self.calls.event_calls.deadline is not None
        for place in self.due or ():
            if place not in self._given and has_deadline:
                yield place, None
            elif place not in self._given:
                call = self.call(place)
                preparation = self._next_preparation(call.specification)
                if preparation is not None:
                    yield place, preparation
                else:
                    yield place, call.specification if call.answers_events else None

    def _next_preparation(self, specification: Specification) -> Preparation | None:
        """Returns the next preparation if it or a later one is made for several events at once;
        workers prepare for themselves."""
        chain = specification.preparations
        if specification.isolation == PROCESS or not any(each.prepare_events for each in chain):
            return None
        following = self.calls.event_calls.next_preparation(specification)
        if following is None or not any(
            each.prepare_events for each in chain[chain.index(following) :]
        ):
            return None
        return following

    def make(
        self, places: Sequence[int], timer: Callable[[], float]
    ) -> tuple[list[Answered], float]:
        """Makes some calls for this event alone; returns the answers, and how long it took."""
        began = timer()
        return self.calls.answers(self.decision, places), timer() - began

    def give(self, answers: Iterable[Answered], seconds: float) -> None:
        """Takes some answers, and goes on when all are there."""
        stages = self.decision.stages
        stages.add("operators", seconds)
        self._given.update((each[0], each) for each in answers)
        due = self.due or ()
        if len(self._given) == len(due):
            given, self._given = [self._given[place] for place in due], {}
            stages.restart()
            self.take(given)


class DecisionCourse:
    """Decides one event.

    Where an outcome contradicts a declaration, the event is decided again without any
    declarations, from the answers so far."""

    def __init__(
        self,
        planner: Planner,
        decision: Decision,
        needless: Sequence[int],
        answered: list[Answered],
        most: int,
        contradicted: Contradicted,
        purse: Purse | None,
    ) -> None:
        self._purse = purse
        self._asked: set[int] = set()
        self._later: list[int] = []
        """The calls that the planner has asked for with others, and that are paid after these."""
        self.decision = decision
        self.given: list[Answered] = []
        """The answers to the calls that it wanted last, given before it is asked for the next."""
        self._planner = planner
        self._needless = needless
        self._answered = answered
        self._most = most
        self._contradicted = contradicted

    def rehearsal(self) -> Rehearsal:
        """Rehearses the event from its beginning, without a call."""
        now = self.decision
        decision = Decision(now.skeleton, now.event, now.limits, now.stages)
        self._begin(decision)
        return Rehearsal(self._planner, decision)

    def _begin(self, decision: Decision) -> None:
        """Decides what needs no call, or no more than the answers that were given so far."""
        decision.begin(self._needless)
        if self._answered:
            decision.take_all(self._answered)

    def steps(self) -> Iterator[Sequence[int]]:
        """Yields the calls to make next."""
        while True:
            try:
                yield from self._attempt(self.decision)
                return
            except ImplicationError as found:
                self._contradicted(self.decision, found)
                self.decision = self.decision.without_implications()
            except WiderError:
                now = self.decision
                skeleton = now.skeleton.without_wider()
                self.decision = Decision(skeleton, now.event, now.limits, now.stages)

    def _attempt(self, decision: Decision) -> Iterator[Sequence[int]]:
        """Decides the event, from the answers that were given so far."""
        stages, seconds, purse = decision.stages, decision.stages.seconds, self._purse
        timer, answered, take_all = stages.timer, self._answered, decision.take_all
        counts, count = decision.counts, len(decision.skeleton.rows)
        self._begin(decision)
        now = timer()
        seconds["deciding"] += now - stages.last
        stages.last = now
        run = GuardedRun(self._planner, decision.problem, decision)
        self._asked, self._later = set(), []
        are_all_due = not (answered or decision.may_know_without_calls)
        planner = operators = deciding = 0.0
        try:
            while (run.is_told or counts[DECIDED] < count) and (
                calls := self._wanted(run, decision)
            ):
                due: Sequence[int] = calls if are_all_due else self._due(decision, run, calls)
                ends = None
                if purse is not None:
                    due, ends = purse.pay(due)
                if due:
                    now = timer()
                    planner += now - stages.last
                    stages.last = now
                    yield due
                    answers = self.given
                    now = timer()
                    operators += now - stages.last
                    stages.last = now
                    if purse is not None:
                        answers, ends = _in_time(answers, ends)
                    answered += answers
                    take_all(answers)
                    now = timer()
                    deciding += now - stages.last
                    stages.last = now
                    if run.is_told:
                        run.observe(*decision.news())
                if ends is not None:
                    decision.stop(ends)
                    break
        finally:
            for stage, spent in zip(_IN_TURNS, (planner, operators, deciding), strict=True):
                seconds[stage] += spent
        now = timer()
        seconds["planner"] += now - stages.last
        stages.last = now

    def _wanted(self, run: GuardedRun, decision: Decision) -> list[int]:
        """Returns the calls to make now: what the planner asks for, or one that it left over.

        What is paid one by one is asked for one by one."""
        if self._later:
            calls = self._later
        else:
            asked, count = self._asked, run.calls
            try:
                calls = [*map(index, run.unguarded_next(self._most))]
            except Exception as failure:
                raise run.error("next", failure) from failure
            for call in calls:
                if call in asked or not 0 <= call < count:
                    problem = " twice" if call in asked else ", which does not exist"
                    name = type(self._planner).__name__
                    raise PlannerError(f"planner {name} asked for call {call}{problem}")
                asked.add(call)
            if not calls:
                left_over = decision.next_needed()
                return [] if left_over is None else [left_over]
        if self._purse is not None and self._most == 1:
            first = _first_invocation(decision.skeleton.batches, calls)
            calls, self._later = calls[:first], calls[first:]
        return calls

    def _due(self, decision: Decision, run: GuardedRun, calls: Sequence[int]) -> list[int]:
        """Returns those of the calls that have to be made; a planner that does not read is told of
        the others."""
        due = []
        for call in calls:
            is_missing = call in decision.missing
            if not is_missing and decision.is_open(call):
                due.append(call)
            elif run.is_told:
                tests = decision.skeleton.tests_of_call(call)
                outcomes = [FALSE if is_missing else decision.outcome_of(test) for test in tests]
                run.observe(tests, outcomes, ())
        return due


class EventAnswers:
    """Makes the calls about one event, or remembers their answers."""

    def __init__(self, decider: Decider, event_calls: EventCalls) -> None:
        self.decider = decider
        self.event_calls = event_calls
        self._call = decider.gateway.call
        self._shelves: dict[str, Shelf | None] = {}

    def remembered(self, decision: Decision) -> list[Answered]:
        """Returns the answers that are known from earlier events."""
        memo = self.decider.memo
        if not memo.most_bytes or not decision.skeleton.deterministic:
            return []
        digests = EventDigests(decision.event)
        found: list[Answered] = []
        for specification, numbers in decision.skeleton.deterministic:
            shelf = self._shelves[specification.name] = memo.about(specification, digests)
            if shelf is not None:
                # in the order of the calls: which of them were made first is a matter of timing
                known = sorted(shelf.known(numbers), key=itemgetter(0))
                found += [(call, answer, MEMO) for call, answer in known]
        decision.stages.end("operators")
        return found

    def answers(self, decision: Decision, calls: Sequence[int]) -> list[Answered]:
        """Returns the answers to calls, in their order."""
        skeleton, shelves = decision.skeleton, self._shelves
        if len(calls) == 1 or (self.decider.executor.at_once == 1 and not skeleton.has_batches):
            answered: list[Answered] = []
            for number in calls:
                asked = skeleton.calls[number]
                if shelves and shelves.get(asked.specification.name) is not None:
                    answered.append((number, *self._given([asked])[0]))
                else:
                    answered.append((number, self._call(asked, self.event_calls), CALLED))
            return answered
        invocations: dict[tuple[int, int], list[int]] = {}
        for call in calls:
            batch = skeleton.batches[call]
            invocations.setdefault((batch, -1 if batch >= 0 else call), []).append(call)
        works = [
            partial(self._given, [skeleton.calls[call] for call in together])
            for together in invocations.values()
        ]
        found: dict[int, tuple[Answer, str]] = {}
        for together, given in zip(
            invocations.values(), self.decider.executor.run(works), strict=True
        ):
            found.update(zip(together, given, strict=True))
        return [(call, *found[call]) for call in calls]

    def shelf_of(self, name: str) -> Shelf | None:
        """Returns the memo's shelf for an operator's answers about the event, if they are kept."""
        return self._shelves.get(name)

    def _given(self, calls: Sequence[Call]) -> list[tuple[Answer, str]]:
        """Returns the answers to the calls of one invocation, and whether this event made them."""
        gateway, event_calls = self.decider.gateway, self.event_calls
        shelf = self._shelves.get(calls[0].specification.name)
        if shelf is not None:
            given = shelf.compute_many(
                calls,
                lambda mine: gateway.call_together(mine, event_calls),
                event_calls.deadline,
            )
            return [(answer, CALLED if made else MEMO) for answer, made in given]
        if len(calls) == 1:
            return [(gateway.call(calls[0], event_calls), CALLED)]
        return [(answer, CALLED) for answer in gateway.call_together(calls, event_calls)]


def unsaid(decision: Decision, found: ImplicationError) -> None:
    """Does not report a contradiction: it is reported elsewhere, or only imagined."""


def _first_invocation(batches: Sequence[int], calls: Sequence[int]) -> int:
    """Returns how many of the calls are made first: one, or those of one batch."""
    batch = batches[calls[0]]
    others = (at for at, call in enumerate(calls) if batches[call] != batch)
    return 1 if batch < 0 else next(others, len(calls))


def _in_time(answers: list[Answered], ends: str | None) -> tuple[list[Answered], str | None]:
    """Returns the answers that came before the deadline, and what ends the event."""
    found = [each for each in answers if not _is_late(each[1])]
    return found, ends if len(found) == len(answers) else DEADLINE


def _is_late(answer: Answer) -> bool:
    return answer.failure is not None and answer.failure.kind == DEADLINE
