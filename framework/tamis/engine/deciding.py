"""Decides events: planners say which calls are wanted, operators answer, and planners are told.

The course of one event holds no thread: it yields the calls that it wants and takes their answers,
in the order in which the planner asked, whoever was done first, so that nothing depends on timing.
What is known for nothing comes before the planner: inputs that are absent, conditions on the event
alone, answers that are remembered.
Invariant: no call is made twice for an event.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import Protocol

from tamis.calling.answers import Answer
from tamis.calling.digest import EventDigests
from tamis.calling.executor import Executor
from tamis.calling.gateway import Asking
from tamis.calling.memo import Memo, Shelf
from tamis.engine.decision import CALLED, MEMO, ContradictionError, Decision, Taken
from tamis.engine.guarded import GuardedRun
from tamis.errors import PlannerError
from tamis.operators.asking import Call
from tamis.planning import FALSE, Planner

ROUND = 256
"""Invocations that a planner may ask for at once, where there are workers."""


Answered = tuple[int, Answer, str]
"""A call, its answer, and how it came about."""
Contradicted = Callable[[Decision, ContradictionError], None]


class Caller(Protocol):
    """What makes calls; a `Gateway`, or who knows the answers already."""

    def call(self, call: Call, asking: Asking) -> Answer:
        """Makes a call about an event."""

    def call_together(self, calls: Sequence[Call], asking: Asking) -> list[Answer]:
        """Makes calls of one batch about an event as one invocation."""


class Decider:
    """Decides events: where calls run, and how many of them at once."""

    def __init__(
        self, gateway: Caller, executor: Executor, memo: Memo, contradicted: Contradicted
    ) -> None:
        self.gateway = gateway
        self.executor = executor
        self.memo = memo
        self.contradicted = contradicted
        self.round = ROUND if executor.at_once > 1 else 1

    def decide(
        self,
        planner: Planner,
        decision: Decision,
        asking: Asking,
        needless: Sequence[int],
        known: Iterable[Answered] = (),
    ) -> Decision:
        """Makes the calls that the planner asks for, then those it left over."""
        event_calls = EventCalls(self, asking)
        answered = [*known, *event_calls.remembered(decision)]
        course = Course(planner, decision, needless, answered, self.round, self.contradicted)
        steps = course.steps()
        try:
            calls = next(steps)
            while True:
                calls = steps.send(event_calls.answers(course.decision, calls))
        except StopIteration:
            return course.decision


class Course:
    """One event being decided.

    Where an outcome contradicts what was declared, the event is decided again without any
    declaration, from the answers that were given."""

    def __init__(
        self,
        planner: Planner,
        decision: Decision,
        needless: Sequence[int],
        answered: list[Answered],
        most: int,
        contradicted: Contradicted,
    ) -> None:
        self.decision = decision
        self._planner = planner
        self._needless = needless
        self._answered = answered
        self._most = most
        self._contradicted = contradicted

    def steps(self) -> Generator[Sequence[int], list[Answered], None]:
        """Yields the calls to make next, and is sent their answers."""
        while True:
            try:
                yield from self._attempt(self.decision)
                return
            except ContradictionError as found:
                self._contradicted(self.decision, found)
                self.decision = self.decision.without_implications()

    def _attempt(self, decision: Decision) -> Generator[Sequence[int], list[Answered], None]:
        """Decides the event, from the answers that were given so far."""
        stages = decision.stages
        begun = decision.begin(self._needless)
        known = _together([begun, *(decision.take(*each) for each in self._answered)])
        stages.end("deciding")
        run = GuardedRun(self._planner, decision.problem)
        if known.tests or known.decided:
            run.observe(*known)
        asked: set[int] = set()
        are_all_due = not (self._answered or decision.may_know_without_calls)
        while True:
            calls = run.next(self._most)
            if calls:
                self._check(calls, asked, len(decision.skeleton.calls))
            else:
                left_over = decision.next_needed() if decision.open else None
                if left_over is None:
                    break
                calls = [left_over]
            due = calls if are_all_due else self._due(decision, run, calls)
            if due:
                stages.end("planner")
                answers = yield due
                stages.end("operators")
                self._answered += answers
                taken = _together([decision.take(*each) for each in answers])
                stages.end("deciding")
                run.observe(*taken)
        stages.end("planner")

    def _check(self, calls: Sequence[int], asked: set[int], count: int) -> None:
        for call in calls:
            if not 0 <= call < count:
                raise self._error(f"asked for call {call}, which does not exist")
            if call in asked:
                raise self._error(f"asked for call {call} twice")
            asked.add(call)

    def _error(self, problem: str) -> PlannerError:
        return PlannerError(f"planner {type(self._planner).__name__} {problem}")

    def _due(self, decision: Decision, run: GuardedRun, calls: Sequence[int]) -> list[int]:
        """Those of the calls that have to be made; the planner is told of the others."""
        due = []
        for call in calls:
            if call in decision.missing:
                tests = decision.skeleton.tests_of_call(call)
                run.observe(tests, [FALSE] * len(tests), ())
            elif decision.is_open(call):
                due.append(call)
            else:
                tests = decision.skeleton.tests_of_call(call)
                run.observe(tests, [decision.outcome_of(test) for test in tests], ())
        return due


class EventCalls:
    """The calls about one event: made, or remembered."""

    def __init__(self, decider: Decider, asking: Asking) -> None:
        self._decider = decider
        self._asking = asking
        self._shelves: dict[str, Shelf | None] = {}

    def remembered(self, decision: Decision) -> list[Answered]:
        """Returns the answers that are known from earlier events."""
        memo = self._decider.memo
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
        skeleton = decision.skeleton
        if len(calls) == 1:
            only = skeleton.calls[calls[0]]
            if self._shelves.get(only.specification.name) is None:
                return [(calls[0], self._decider.gateway.call(only, self._asking), CALLED)]
            return [(calls[0], *self._given([only])[0])]
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
            invocations.values(), self._decider.executor.run(works), strict=True
        ):
            found.update(zip(together, given, strict=True))
        return [(call, *found[call]) for call in calls]

    def _given(self, calls: Sequence[Call]) -> list[tuple[Answer, str]]:
        """The answers to the calls of one invocation, and whether this event made them."""
        gateway, asking = self._decider.gateway, self._asking
        shelf = self._shelves.get(calls[0].specification.name)
        if shelf is not None:
            given = shelf.compute_many(calls, lambda mine: gateway.call_together(mine, asking))
            return [(answer, CALLED if made else MEMO) for answer, made in given]
        if len(calls) == 1:
            return [(gateway.call(calls[0], asking), CALLED)]
        return [(answer, CALLED) for answer in gateway.call_together(calls, asking)]


def _together(several: Sequence[Taken]) -> Taken:
    """What several answers decided, one after the other."""
    if len(several) == 1:
        return several[0]
    first = Taken([], [], [])
    for taken in several:
        for mine, theirs in zip(first, taken, strict=True):
            mine.extend(theirs)
    return first
