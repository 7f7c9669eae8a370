"""How one event is decided: the planner asks, operators answer, and what follows is told to it.

Answers are taken in the order in which the planner asked, whoever was done first, so that nothing
depends on timing. What is known for nothing comes before the planner: inputs that are absent,
conditions on the event alone, answers that are remembered.
Invariant: no call is made twice for an event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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


class Caller(Protocol):
    """What makes calls; a `Gateway`, or who knows the answers already."""

    def call(self, call: Call, asking: Asking) -> Answer:
        """Makes a call about an event."""

    def call_together(self, calls: Sequence[Call], asking: Asking) -> list[Answer]:
        """Makes calls of one batch about an event as one invocation."""


class Decider:
    """Decides events: where calls run, and how many of them at once."""

    def __init__(
        self,
        gateway: Caller,
        executor: Executor,
        memo: Memo,
        contradicted: Callable[[Decision, ContradictionError], None],
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
        needless: Iterable[int],
        known: Iterable[Answered] = (),
    ) -> Decision:
        """Makes the calls that the planner asks for, then those it left over.

        Where an outcome contradicts what was declared, the event is decided again without any
        declaration, from the answers that were given."""
        course = _Course(self, planner, asking, list(needless), list(known))
        course.remember(decision)
        while True:
            try:
                course.run(decision)
            except ContradictionError as found:
                self.contradicted(decision, found)
                decision = decision.without_implications()
            else:
                return decision


class _Course:
    """One event on its way."""

    def __init__(
        self,
        decider: Decider,
        planner: Planner,
        asking: Asking,
        needless: list[int],
        known: list[Answered],
    ) -> None:
        self._decider = decider
        self._planner = planner
        self._asking = asking
        self._needless = needless
        self._answered = known
        self._shelves: dict[str, Shelf | None] = {}

    def remember(self, decision: Decision) -> None:
        """Takes the answers that are known from earlier events."""
        memo = self._decider.memo
        if not memo.most_bytes or not decision.skeleton.deterministic:
            return
        digests = EventDigests(decision.event)
        for specification, numbers in decision.skeleton.deterministic:
            shelf = self._shelves[specification.name] = memo.about(specification, digests)
            if shelf is not None:
                # in the order of the calls: which of them were made first is a matter of timing
                known = sorted(shelf.known(numbers), key=itemgetter(0))
                self._answered += [(call, answer, MEMO) for call, answer in known]
        decision.stages.end("operators")

    def run(self, decision: Decision) -> None:
        """Decides the event, from the answers that were given so far."""
        limit, stages = self._decider.round, decision.stages
        begun = decision.begin(self._needless)
        known = _together([begun, *(decision.take(*each) for each in self._answered)])
        stages.end("deciding")
        run = GuardedRun(self._planner, decision.problem)
        if known.tests or known.decided:
            run.observe(*known)
        asked: set[int] = set()
        while True:
            calls = run.next(limit)
            if not len(calls):
                left_over = decision.next_needed() if decision.open else None
                if left_over is None:
                    break
                calls = (left_over,)
            else:
                self._check(decision, calls, asked)
            calls = self._due(decision, run, calls)
            stages.end("planner")
            answers = self._answers(decision, calls)
            stages.end("operators")
            self._answered += answers
            taken = _together(decision.take(*each) for each in answers)
            stages.end("deciding")
            if calls:
                run.observe(*taken)
        stages.end("planner")

    def _check(self, decision: Decision, calls: Sequence[int], asked: set[int]) -> None:
        name = type(self._planner).__name__
        for call in calls:
            if not 0 <= call < len(decision.skeleton.calls):
                raise PlannerError(f"planner {name} asked for call {call}, which does not exist")
            if call in asked:
                raise PlannerError(f"planner {name} asked for call {call} twice")
            asked.add(call)

    def _due(self, decision: Decision, run: GuardedRun, calls: Sequence[int]) -> Sequence[int]:
        """Those of the calls that have to be made; the planner is told of the others."""
        due = []
        for call in calls:
            tests = decision.skeleton.call_tests[call]
            if call in decision.missing:
                run.observe(tests, [FALSE] * len(tests), ())
            elif decision.is_open(call):
                due.append(call)
            else:
                run.observe(tests, [decision.outcome[test] for test in tests], ())
        return due

    def _answers(self, decision: Decision, calls: Sequence[int]) -> list[Answered]:
        """The answers to calls, in their order."""
        skeleton = decision.skeleton
        if len(calls) == 1:
            return [(calls[0], *self._given([skeleton.calls[calls[0]]])[0])]
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


def _together(several: Iterable[Taken]) -> Taken:
    """What several answers decided, one after the other."""
    first, *rest = [*several] or [Taken([], [], [])]
    for taken in rest:
        for mine, theirs in zip(first, taken, strict=True):
            mine.extend(theirs)
    return first
