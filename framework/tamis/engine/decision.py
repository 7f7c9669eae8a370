"""Decides one event: takes the answers to calls, and concludes from them.

Arrays hold what is known (`state`); Python runs where an operator answers with solutions, a join, a
failure or an implication is. Verdicts are a function of the outcomes, whatever their order.
Invariant: what is read of it as a list or a mapping is read after the last answer was taken.
Cost: O(edges) an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tamis.calling.answers import CUT, Answer, Failure
from tamis.catalog.joins import JoinPlan
from tamis.engine import state
from tamis.engine.joining import Assignments, Joins
from tamis.engine.opening import views_of
from tamis.engine.problem import Skeleton
from tamis.engine.stages import StageClock
from tamis.engine.state import (
    ALTERNATIVE,
    HOW,
    KILLER,
    LEFT,
    OPEN,
    RESCUED,
    SOURCE,
    TEST,
    VERDICT,
    WAITING,
)
from tamis.engine.wider import WiderAnswer
from tamis.event import Event
from tamis.language.predicate import AttributePredicate
from tamis.limits import Limits
from tamis.numeric.types import Ints
from tamis.operators.asking import Solution
from tamis.planning import DECIDED, FALSE, KNOWN, TRUE, UNKNOWN, Progress

CALLED, SHARED, IMPLIED, MEMO, EXCLUDED = "called", "shared", "implied", "memo", "excluded"
_HOWS = (CALLED, SHARED, IMPLIED, MEMO, EXCLUDED)
_CODES = {how: code for code, how in enumerate(_HOWS)}
TRUTHS = {TRUE: True, FALSE: False, UNKNOWN: None}


class News(NamedTuple):
    """The tests that are known since it was last asked, their outcomes, and what is decided."""

    tests: list[int]
    outcomes: list[int]
    decided: list[int]


class ImplicationError(Exception):
    """An outcome contradicts a declared implication of another outcome."""

    def __init__(self, test: int, other: int) -> None:
        super().__init__(test, other)
        self.test = test
        self.other = other


class Decision:
    """The verdicts on the alternatives of one event, as they come."""

    def __init__(
        self, skeleton: Skeleton, event: Event, limits: Limits, stages: StageClock
    ) -> None:
        self.skeleton = skeleton
        self.event = event
        self.limits = limits
        self.stages = stages
        self.problem = skeleton.problem
        """The problem that a planner begins with."""
        self.excluded: dict[int, AttributePredicate] = {}
        """The tests that are false by a declaration, and the declaration."""
        self.answers: dict[int, Answer] = {}
        self.made: list[int] = []
        """The calls that were made for this event, in order."""
        self.rows: dict[int, list[Solution]] = {}
        self.failures: dict[int, Failure] = {}
        self.cuts: dict[int, Failure] = {}
        self.missing: dict[int, str] = {}
        self.failed_conditions: dict[int, str] = {}
        self.may_know_without_calls = False
        """True if tests may have an outcome, or none to come, without a call."""
        self.stopped: str | None = None
        """Why it ended before all was decided: `budget` or `deadline`."""
        self.left_open: frozenset[int] = frozenset()
        """The alternatives that were open then."""
        self._form = skeleton.opening.form
        self._settle_and_follow = self._form.settle_and_follow
        self._state, self._handle = skeleton.opening.state()
        self._alternatives, self._tests = self._state.alternatives.data, self._state.tests.data
        self._outcome, self.counts = self._state.outcome.data, self._state.counts.data
        self._numbers = self._state.numbers.data
        self._call_tests = skeleton.call_tests
        *_, known, outcome, decided, counts = self._state
        self.progress = Progress(known, outcome, decided, counts)
        """The lists of what is known by now; they go on growing."""
        self._told = (0, 0)
        """How many known tests and decided alternatives were news already."""
        self._is_plain = not (self.problem.implications.size or skeleton.plans or skeleton.narrower)

    @cached_property
    def _joins(self) -> Joins:
        number_of = self.skeleton.test_number.__getitem__
        skeleton, answers = self.skeleton, self.answers  # not `self`, which keeps the joins
        is_cut = lambda test: _answer_of(skeleton, answers, test).cut  # noqa: E731 - used once
        return Joins(self.rows, number_of, is_cut, self.event, self.limits)

    def without_implications(self) -> Decision:
        """Returns the same event from its beginning, with nothing declared of its tests."""
        without = self.skeleton.without_implications()
        return Decision(without, self.event, self.limits, self.stages)

    # before any call

    def begin(self, needless: Sequence[int]) -> None:
        """Decides what needs no call; `needless` alternatives cannot change the result."""
        if len(needless):
            self._form.spare_all(self._handle, self._view(needless))
        self._check_conditions()
        self._check_inputs()
        self._exclude()
        self._conclude(list(self.excluded))
        for alternative in self.skeleton.untested:
            if self._is_undecided(alternative):  # a sibling may have made it needless
                self._finish(alternative)
        self.may_know_without_calls = bool(
            self.problem.implications.size or self.missing or self.excluded
        )

    def _view(self, numbers: Sequence[int]) -> Ints:
        view: Ints = self._form.view(np.array(numbers, np.int64))
        return view

    def _check_conditions(self) -> None:
        """Decides constraints without variables; each text once."""
        known: dict[str, bool] = {}
        for alternative, constraints in self.skeleton.conditions.items():
            for constraint in constraints:
                if constraint.text not in known:
                    known[constraint.text] = constraint.holds(self.event)
                if not known[constraint.text] and self._is_undecided(alternative):
                    self.failed_conditions[alternative] = constraint.text
                    self._decide(alternative, FALSE)

    def _check_inputs(self) -> None:
        """Makes calls false whose required input is absent, and their negations too."""
        skeleton = self.skeleton
        for at, inputs in enumerate(skeleton.requirements):
            absent = next((name for name in inputs if not self.event.present(name)), None)
            if absent is not None:
                calls = skeleton.calls_with(at)
                self.missing.update(dict.fromkeys(calls.tolist(), absent))
                tests = np.flatnonzero(np.isin(skeleton.problem.test_call, calls))
                self._form.reject(self._handle, self._form.view(tests))

    def _exclude(self) -> None:
        """Finds the tests that are false by what their operators declare necessary."""
        skeleton, event = self.skeleton, self.event
        call_of = skeleton.problem.test_call
        for test in skeleton.excludable:
            broken = skeleton.tests[test].necessary.broken(event)
            if broken is not None and int(call_of[test]) not in self.missing:
                self.excluded[test] = broken
                state.settle(self._views, test, FALSE, state.EXCLUDED)
        if self.excluded:
            self.problem = skeleton.after(tuple(self.excluded))

    # answers

    def take(self, call: int, answer: Answer, how: str = CALLED) -> None:
        """Takes the answer of a call, and what follows from it."""
        self.take_all([(call, answer, how)])

    def take_all(self, answered: Sequence[tuple[int, Answer, str]]) -> None:
        """Takes the answers of calls, in their order, and what follows from them."""
        is_plain, lists, excluded = self._is_plain, self._call_tests, self.excluded
        answers, made = self.answers, self.made
        plain: list[int] = []  # of each test three numbers: its own, its outcome, and how
        for call, answer, how in answered:
            answers[call] = answer
            if how == CALLED and answer.made:
                made.append(call)
            if is_plain and answer.solutions is None and answer.failure is None:
                test = lists[lists[call]]
                if test not in excluded:
                    plain += test, TRUE if answer.truth else FALSE, _CODES[how]
            else:
                self._settle_plain(plain)
                plain = []
                self._take_other(call, answer, _CODES[how])
        if len(plain) == 3:
            test, outcome, code = plain
            self._settle_and_follow(self._handle, test, outcome, code)
        else:
            self._settle_plain(plain)

    def _settle_plain(self, plain: list[int]) -> None:
        if plain:
            rows = np.array(plain, np.int64).reshape(-1, 3)
            self._form.settle_all(self._handle, self._form.view(rows))

    def _take_other(self, call: int, answer: Answer, code: int) -> None:
        """Takes an answer that has solutions, failed, or implies others."""
        skeleton, known = self.skeleton, self._outcome
        tests = asked = skeleton.tests_of_call(call)
        if skeleton.narrower:
            tests = skeleton.own_tests(call)
        narrower = [test for test in asked if known[test] == OPEN and test not in tests]
        queue: list[int] = []
        for test in tests:
            if test not in self.excluded:
                self._settle(test, self._outcome_by(test, answer), code, queue)
                code = state.SHARED if code == state.CALLED else code
        if narrower:
            wider = WiderAnswer(answer)
            for test in narrower:
                outcome = self._outcome_by(test, wider.narrowed(skeleton.narrower[test]))
                self._imply(tests[0], test, outcome, queue)
        self._conclude(queue)

    def _conclude(self, queue: list[int]) -> None:
        """Concludes from tests whose outcomes are new."""
        if not queue:
            return
        for test in queue:
            known = (test, self._outcome[test])
            for other, conclusion in self.skeleton.consequences.get(known, ()):
                self._imply(test, other, conclusion, queue)
        self._form.follow(self._handle, self._view(queue))
        self._wake()

    def _settle(self, test: int, outcome: int, how: int, queue: list[int]) -> None:
        """Records the outcome that an answer gives a test, whatever was concluded of it before."""
        known = self._outcome[test]
        if known == OPEN:
            state.settle(self._views, test, outcome, how)
            queue.append(test)
        elif outcome == UNKNOWN:
            self.failures.pop(test, None)
        elif outcome != known:
            raise ImplicationError(self._tests[test, SOURCE], test)
        else:
            self._tests[test, HOW] = how

    def _imply(self, test: int, other: int, conclusion: int, queue: list[int]) -> None:
        """Records the outcome of a test that another test implies."""
        known = self._outcome[other]
        if known in (OPEN, UNKNOWN):
            if known == OPEN:
                state.settle(self._views, other, conclusion, state.IMPLIED)
            else:
                self._outcome[other] = conclusion
                self._tests[other, HOW] = state.IMPLIED
                self._tests[other, RESCUED] = 1
            self._tests[other, SOURCE] = test
            self.failures.pop(other, None)
            queue.append(other)
        elif known != conclusion:
            raise ImplicationError(test, other)

    def _outcome_by(self, test: int, answer: Answer) -> int:
        if answer.failure is not None:
            self.failures[test] = answer.failure
            return UNKNOWN
        if answer.solutions is None:
            return TRUE if answer.truth else FALSE
        rows = self.skeleton.tests[test].select(answer.solutions, self.event)
        if rows:
            self.rows[test] = rows
            return TRUE
        if answer.cut:
            limit = self.limits.solutions
            self.failures[test] = Failure(CUT, f"none of the first {limit:,} solutions will do")
            return UNKNOWN
        return FALSE

    # verdicts

    def _wake(self) -> None:
        """Resumes the alternatives that wait for joins, or for tests that may be implied."""
        count = self._numbers[WAITING]
        if not count:
            return
        self._numbers[WAITING] = 0
        edges = self._state.edges[self._state.waiting[:count]]
        for alternative, test in edges[:, [ALTERNATIVE, TEST]].tolist():
            if not self._is_undecided(alternative):
                continue
            plan = self.skeleton.plans.get(alternative)
            if plan is not None and self._join_is_empty(alternative, plan, test):
                self._decide(alternative, FALSE)
            elif not self._alternatives[alternative, LEFT]:
                self._finish(alternative)

    def _finish(self, alternative: int) -> None:
        """Decides an alternative whose tests are all decided.

        While a test that failed may still be implied by others, it waits for them."""
        plan = self.skeleton.plans.get(alternative)
        unknown = self._unknown_tests(alternative)
        verdict = UNKNOWN if unknown else TRUE
        if plan is not None:
            verdict = self._joined(alternative, plan, verdict)
        if verdict != UNKNOWN or not unknown or self._implicant(unknown) is None:
            self._decide(alternative, verdict)

    def _unknown_tests(self, alternative: int) -> list[int]:
        if not self.failures:
            return []
        tests = self.skeleton.tests_of(alternative)
        return [test for test in tests if self._outcome[test] == UNKNOWN]

    def _implicant(self, unknown: list[int]) -> int | None:
        """Returns an undecided test that may decide one of these, directly or through others."""
        seen = set(unknown)
        queue = list(unknown)
        for test in queue:
            for other in self.skeleton.implicants.get(test, ()):
                call = int(self.skeleton.problem.test_call[other])
                if other in seen or call in self.missing:
                    continue
                seen.add(other)
                if self._outcome[other] == OPEN:
                    return other
                if self._outcome[other] == UNKNOWN:
                    queue.append(other)
        return None

    def _joined(self, alternative: int, plan: JoinPlan, verdict: int) -> int:
        """Returns the verdict once the joins of its atoms are looked at."""
        for group in plan.components:
            known = tuple(at for at in group if self._is_true(plan, at))
            if len(known) < 2:
                continue
            found = self._has_any(alternative, plan, known)
            if found is False:
                return FALSE
            if found is None and verdict == TRUE:
                verdict = UNKNOWN
                limit = self.limits.join_steps
                self.cuts[alternative] = Failure(
                    CUT, f"no assignment was found in the first {limit:,} steps of the join"
                )
        return verdict

    def _join_is_empty(self, alternative: int, plan: JoinPlan, test: int) -> bool:
        """Returns whether a join that this test completes is known to have no assignment."""
        if self._outcome[test] != TRUE or not plan.checks:
            return False
        mine = [at for at, atom in enumerate(plan.atoms) if self._number(plan, at) == test]
        checks = dict.fromkeys(check for at in mine for check in plan.checks_of[at])
        return any(
            all(self._is_true(plan, at) for at in check)
            and self._has_any(alternative, plan, check) is False
            for check in checks
        )

    def _has_any(self, alternative: int, plan: JoinPlan, group: tuple[int, ...]) -> bool | None:
        """Returns whether atoms have an assignment together; `None` when the search was cut."""
        self.stages.end("deciding")
        found = self._joins.has_any(alternative, plan, group)
        self.stages.end("joins")
        return found

    def answer_of(self, test: int) -> Answer:
        """Returns the answer that decided a test: of its own call if known, else of a wider one."""
        return _answer_of(self.skeleton, self.answers, test)

    def _number(self, plan: JoinPlan, at: int) -> int:
        return self.skeleton.test_number[plan.atoms[at].test]

    def _is_true(self, plan: JoinPlan, at: int) -> bool:
        return self._outcome[self._number(plan, at)] == TRUE

    def _is_undecided(self, alternative: int) -> bool:
        return self._alternatives[alternative, VERDICT] == OPEN

    def _decide(self, alternative: int, verdict: int) -> None:
        if verdict == TRUE:
            state.accept(self._views, alternative)
        else:
            state.decide(self._views, alternative, verdict, -1)

    @cached_property
    def _views(self) -> state.EventState:
        return views_of(self._state)

    def news(self) -> News:
        """Returns what is known since it was last asked."""
        known, outcome, decided, counts = self.progress
        (known_before, decided_before), self._told = self._told, tuple(counts.tolist())
        tests = known[known_before : self._told[KNOWN]]
        decided = decided[decided_before : self._told[DECIDED]]
        return News(tests.tolist(), outcome[tests].tolist(), decided.tolist())

    def next_needed(self) -> int | None:
        """Returns a call that an open alternative needs, and the planner has not asked for.

        An alternative that waited in vain for a failed test to be implied becomes unknown."""
        for alternative in np.flatnonzero(self._state.alternatives[:, VERDICT] == OPEN).tolist():
            if not self._is_undecided(alternative):
                continue
            tests = self.skeleton.tests_of(alternative)
            test = next((test for test in tests if self._outcome[test] == OPEN), None)
            if test is None:
                test = self._implicant(self._unknown_tests(alternative))
            if test is not None:
                return int(self.skeleton.problem.test_call[test])
            self._decide(alternative, UNKNOWN)
        return None

    def stop(self, reason: str) -> None:
        """Ends the event: open alternatives become unknown."""
        left = np.flatnonzero(self._state.alternatives[:, VERDICT] == OPEN).tolist()
        if not left:
            return
        self.stopped, self.left_open = reason, frozenset(left)
        for alternative in left:
            self._decide(alternative, UNKNOWN)

    def is_open(self, call: int) -> bool:
        """Returns whether a test of a call is undecided; excluded tests count as decided."""
        return any(self._outcome[test] == OPEN for test in self.skeleton.tests_of_call(call))

    def outcome_of(self, test: int) -> int:
        """Returns the outcome of a test as it is now."""
        return int(self._outcome[test])

    def verdict_of(self, alternative: int) -> int:
        """Returns the verdict on an alternative as it is now."""
        return int(self._alternatives[alternative, VERDICT])

    # after the last call

    @cached_property
    def verdict(self) -> list[int]:
        """The verdict on each alternative."""
        verdicts: list[int] = self._state.alternatives[:, VERDICT].tolist()
        return verdicts

    @cached_property
    def outcome(self) -> list[int]:
        """The outcome of each test."""
        outcomes: list[int] = self._state.outcome.tolist()
        return outcomes

    @cached_property
    def outcomes(self) -> dict[int, str]:
        """The way each test was decided, in the order in which they were."""
        known = self._state.known[: self.counts[KNOWN]]
        hows = self._state.tests[known, HOW].tolist()
        return {test: _HOWS[how] for test, how in zip(known.tolist(), hows, strict=True)}

    @cached_property
    def matched(self) -> set[int]:
        """The subscriptions of which an alternative is true."""
        true = self._state.alternatives[:, VERDICT] == TRUE
        return set(self.problem.alternative_subscription[true].tolist())

    @cached_property
    def unknown(self) -> list[int]:
        """The alternatives that are unknown."""
        found: list[int] = np.flatnonzero(self._state.alternatives[:, VERDICT] == UNKNOWN).tolist()
        return found

    def killer(self, alternative: int) -> int:
        """Returns the test that made a false alternative false; -1 where it was none."""
        return int(self._alternatives[alternative, KILLER])

    def implied_by(self, test: int) -> int:
        """Returns the test whose outcome implied this one's, called or not; -1 where none did."""
        return int(self._tests[test, SOURCE])

    def truth_of(self, test: int) -> bool | None:
        """Returns the outcome of a decided test as Python says it."""
        return TRUTHS[self.outcome[test]]

    def call_seconds(self) -> dict[str, float]:
        """Returns what each call that was made took, by its predicate."""
        calls, answers = self.skeleton.calls, self.answers
        return {calls[at].text: answers[at].whole_seconds for at in self.made}

    def assignments(self, alternative: int) -> Assignments:
        """Returns assignments of a true alternative up to the limit, and whether more were cut."""
        return self._joins.assignments(alternative, self.skeleton.plans[alternative])


def _answer_of(skeleton: Skeleton, answers: dict[int, Answer], test: int) -> Answer:
    own = answers.get(skeleton.own_call(test))
    return answers[int(skeleton.problem.test_call[test])] if own is None else own
